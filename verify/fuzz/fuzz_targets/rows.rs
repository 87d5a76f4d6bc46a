//! Rows of tags as a database may answer them: of our own table, of Leaf's and of tinyid's, with
//! any values. What is loaded lies within the row, is positive, and never comes twice.

#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use uidring::segment::{Segment, SegmentSource, Tag};
use uidring::{Store, Table};
use uidring_fuzz::{File, number, unsigned};

const TAG: &str = "orders";

thread_local! {
    static FILE: File = start();
}

fn start() -> File {
    let file = File::new(|store| drop(store.segments().unwrap()));
    file.db
        .execute_batch(
            "CREATE TABLE leaf_alloc (biz_tag, max_id, step, description, update_time);
             CREATE TABLE tiny_id_info (id, biz_type, begin_id, max_id, step, delta, remainder,
                                        create_time, update_time, version);",
        )
        .unwrap();
    file
}

fuzz_target!(|data: &[u8]| {
    FILE.with(|file| {
        let _ = check(file, &mut Unstructured::new(data));
    });
});

fn check(file: &File, input: &mut Unstructured<'_>) -> Result<()> {
    let table = *input.choose(&[Table::Own, Table::Leaf, Table::TinyId])?;
    write(&file.db, table, input)?;
    let source = Store::open(&file.path).unwrap().segments_in(table).unwrap();
    let _ = source.tags();
    if input.ratio(1, 8)? {
        let _ = source.create(TAG, &Tag::new().first(unsigned(input)?));
    }
    let mut given: Vec<Segment> = Vec::new();
    for _ in 0..input.int_in_range(1..=4)? {
        let count = if input.arbitrary()? { Some(unsigned(input)?) } else { None };
        let before = end(&file.db, table);
        let Ok(segment) = source.load(TAG, count) else {
            assert_eq!(end(&file.db, table), before, "a load that failed changed the row");
            return Ok(());
        };
        within(&file.db, table, &segment, before);
        for other in &given {
            assert!(last(other) < i128::from(segment.first), "{segment:?} after {other:?}");
        }
        given.push(segment);
        if input.ratio(1, 4)? {
            give_back(&source, &mut given, input)?;
        }
    }
    Ok(())
}

fn value(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=15)? {
        0 => Value::Null,
        1 => Value::Text(number(input)?.to_string()),
        2 => Value::Real(input.arbitrary()?),
        3 => Value::Blob(number(input)?.to_string().into_bytes()),
        _ => Value::Integer(number(input)?),
    })
}

/// Puts one row into the table.
fn write(db: &Connection, table: Table, input: &mut Unstructured<'_>) -> Result<()> {
    db.execute(&format!("DELETE FROM {}", table.name()), []).unwrap();
    let mut next = || value(input);
    let row = match table {
        Table::Leaf => db.execute(
            "INSERT INTO leaf_alloc VALUES (?, ?, ?, ?, ?)",
            params![TAG, next()?, next()?, next()?, next()?],
        ),
        Table::TinyId => db.execute(
            "INSERT INTO tiny_id_info VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                next()?,
                TAG,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?
            ],
        ),
        _ => db.execute(
            "INSERT OR IGNORE INTO uidring_segment \
             (tag, last_number, step, max_step, description, modified, created) \
             VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![TAG, next()?, next()?, next()?, next()?, next()?, next()?],
        ),
    };
    row.unwrap();
    Ok(())
}

/// The end that the row has, if it is a number.
fn end(db: &Connection, table: Table) -> Option<i64> {
    let column = if table == Table::Own { "last_number" } else { "max_id" };
    let sql = format!("SELECT {column} FROM {}", table.name());
    db.query_row(&sql, [], |row| row.get(0)).ok()
}

fn last(segment: &Segment) -> i128 {
    i128::from(segment.first) + (i128::from(segment.count) - 1) * i128::from(segment.delta)
}

/// The numbers lie between the end that the row had and the one that it has.
fn within(db: &Connection, table: Table, segment: &Segment, before: Option<i64>) {
    assert!(segment.first >= 1 && segment.count >= 1 && segment.delta >= 1, "{segment:?}");
    assert!(last(segment) <= i128::from(i64::MAX), "{segment:?}");
    let (Some(before), Some(after)) = (before, end(db, table)) else {
        panic!("numbers from a row without an end: {segment:?}");
    };
    // Leaf's column holds the next number.
    let ahead = i128::from(table == Table::Leaf);
    assert!(i128::from(segment.first) >= i128::from(before) + 1 - ahead, "{segment:?} of {before}");
    assert!(last(segment) <= i128::from(after) - ahead, "{segment:?} until {after}");
    assert!(after > before, "{after} after {before}");
    let ends = (i64::try_from(segment.row_start), i64::try_from(segment.row_end));
    assert_eq!(ends, (Ok(before), Ok(after)), "{segment:?}");
    if table == Table::TinyId {
        let sql = "SELECT delta, remainder FROM tiny_id_info";
        let (delta, remainder): (i64, i64) =
            db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(i64::try_from(segment.delta), Ok(delta));
        assert_eq!(i64::try_from(segment.first % segment.delta), Ok(remainder), "{segment:?}");
    }
}

/// Gives the end of the last segment back. What is kept must not come again.
fn give_back(
    source: &impl SegmentSource,
    given: &mut Vec<Segment>,
    input: &mut Unstructured<'_>,
) -> Result<()> {
    let Some(segment) = given.last_mut() else { return Ok(()) };
    let kept = unsigned(input)?.min(segment.count - 1);
    let mut unused = segment.clone();
    unused.first += kept * unused.delta;
    unused.count -= kept;
    let _ = source.give_back(TAG, &unused);
    if kept == 0 {
        given.pop();
    } else {
        segment.count = kept;
    }
    Ok(())
}
