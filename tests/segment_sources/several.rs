//! Several databases of tinyid, in SQLite files.

use std::fs;

use uidring::segment::{Segments, TinyIdSegments};

use super::*;
use crate::others::TINYID_IN_FILE as TINYID;
use crate::sqlite::File;

fn tinyids<const N: usize>(rows: [&str; N]) -> [File; N] {
    rows.map(|row| {
        let file = File::new();
        file.run(TINYID);
        file.run(&format!(
            "INSERT INTO tiny_id_info (biz_type, max_id, step, delta, remainder) \
             VALUES ('orders', {row})"
        ));
        file
    })
}

#[test]
fn databases_of_tinyid_are_taken_by_turns_and_another_when_one_is_away() {
    let files = tinyids(["0, 10, 3, 0", "0, 10, 3, 1", "0, 10, 3, 2"]);
    let [a, b, c] = files.each_ref().map(|file| file.own().tinyid());
    let source = TinyIdSegments::new([a, b]).and(c);
    let load = || source.load("orders", None).unwrap();
    let taken: BTreeSet<_> = (0..3).map(|_| load().database).collect();
    assert_eq!(taken, BTreeSet::from([0, 1, 2]), "by turns");
    let mut all = BTreeSet::new();
    let mut note = |segment: &Segment| {
        for number in numbers(segment) {
            assert!(all.insert(number), "{number} came twice");
            assert_eq!(number % 3, segment.database as u64);
        }
    };
    (0..9).for_each(|_| note(&load()));
    let hidden = files[1].path.with_extension("away");
    fs::rename(&files[1].path, &hidden).unwrap();
    for _ in 0..9 {
        let segment = load();
        assert_ne!(segment.database, 1, "another one");
        note(&segment);
    }
    fs::rename(&hidden, &files[1].path).unwrap();
    let back: BTreeSet<_> = (0..3).map(|_| load().database).collect();
    assert!(back.contains(&1), "it is back");
    // It goes back to where it came from.
    let segment = load();
    assert!(source.give_back("orders", &segment).unwrap());
    let before = files[segment.database].own().tinyid().tags().unwrap()[0].next;
    assert_eq!(before, segment.first);
    for file in &files {
        fs::remove_file(&file.path).unwrap();
    }
    let error = text(source.load("orders", None));
    assert!(error.contains("there is no such file"), "{error}");
    let nothing = [File::new().own().tinyid()].into_iter().take(0);
    assert_eq!(
        text(TinyIdSegments::new(nothing).load("orders", None)),
        "cannot use the tags in no database: TinyIdSegments was given none; give it one or more"
    );
}

#[test]
fn at_a_clean_end_each_database_of_tinyid_gets_its_numbers_back() {
    for taken in [0, 1, 7, 20, 33, 50] {
        let files = tinyids(["0, 10, 2, 0", "0, 10, 2, 1"]);
        let next = || files.each_ref().map(|file| file.own().tinyid().tags().unwrap()[0].next);
        let mut expected = next();
        let source = TinyIdSegments::new(files.each_ref().map(|file| file.own().tinyid()));
        let segments = Segments::builder().source(source).build().unwrap();
        let tag = segments.tag("orders").unwrap();
        for _ in 0..taken {
            let number = tag.take().unwrap().get();
            let database = usize::try_from(number % 2).unwrap();
            assert_eq!(number, expected[database]);
            expected[database] += 2;
        }
        segments.shutdown().unwrap();
        assert_eq!(next(), expected, "after {taken} numbers");
    }
}

#[test]
fn databases_of_tinyid_that_would_give_the_same_numbers_are_refused() {
    for (rows, found) in [
        (["0, 10, 2, 1", "0, 10, 2, 1"], "2 and its remainder 1, and in {} they are 2 and 1"),
        (["0, 10, 2, 0", "0, 10, 3, 1"], "3 and its remainder 1, and in {} they are 2 and 0"),
        (["0, 10, 1, 0", "0, 10, 1, 0"], "1 and its remainder 0, and in {} they are 1 and 0"),
    ] {
        let files = tinyids(rows);
        let source = TinyIdSegments::new(files.each_ref().map(|file| file.own().tinyid()));
        let tags = || files.each_ref().map(|file| file.own().tinyid().tags().unwrap()[0].next);
        let before = tags();
        let error = text(source.load("orders", None));
        assert_eq!(tags(), before, "the row has its numbers back");
        assert!(error.contains(&found.replace("{}", &files[0].name())), "{error}");
        assert!(error.contains("set the same delta in all databases, and in each a remainder of"));
    }
}

#[test]
fn a_tag_is_created_in_all_databases_of_tinyid() {
    let files = [TINYID; 3].map(|sql| {
        let file = File::new();
        file.run(sql);
        file
    });
    let open = || TinyIdSegments::new(files.each_ref().map(|file| file.own().tinyid()));
    // One row is there already.
    files[0].run(
        "INSERT INTO tiny_id_info (biz_type, max_id, step, delta, remainder) \
         VALUES ('orders', 0, 10, 3, 2)",
    );
    for _ in 0..2 {
        let record = open().create("orders", &Tag::new().step(10)).unwrap();
        assert_eq!((record.next, record.delta), (1, 3));
    }
    // Where one has another step, none is made in the others.
    files[2].run(
        "INSERT INTO tiny_id_info (biz_type, max_id, step, delta, remainder) \
         VALUES ('invoices', 0, 20, 3, 2)",
    );
    let differs = text(open().create("invoices", &Tag::new().step(10)));
    assert!(differs.contains("its step is 20, and 10 was asked for"), "{differs}");
    assert_eq!(files[0].own().tinyid().tags().unwrap().len(), 1);
    files[2].run("DELETE FROM tiny_id_info WHERE biz_type = 'invoices'");
    let source = open();
    let mut all = BTreeSet::new();
    (0..9).for_each(|_| all.extend(numbers(&source.load("orders", None).unwrap())));
    assert_eq!(all, (1..=30).collect(), "ten of each database");
    assert_eq!(open().tags().unwrap().len(), 1);
}
