//! Numbers without gaps, in transactions of rusqlite.

use std::fs;

use rusqlite::{Connection, TransactionBehavior};
use uidring::series::SeriesError;

use super::{clock, definition, file, series, time};

#[test]
fn a_rollback_leaves_no_gap() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let definition = definition("{yyyy}-{n:5}{check:damm}").gapless();
    let invoices = series.create("invoices", definition).unwrap();
    let mut db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let mut kept = Vec::new();
    for round in 0..10 {
        let mut transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let number = invoices.take_in(&mut transaction).unwrap();
        assert!(invoices.pattern().parse(number.as_str()).is_ok());
        if round % 3 == 1 {
            transaction.rollback().unwrap();
        } else {
            transaction.commit().unwrap();
            kept.push(number.value());
        }
    }
    assert_eq!(kept, (1..=7).collect::<Vec<_>>());
}

#[test]
fn a_series_is_fast_or_gapless_and_never_both() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let invoices = series.create("invoices", definition("{yyyy}-{n}").gapless()).unwrap();
    let orders = series.create("orders", definition("{yyyy}-{n}")).unwrap();
    let today = "2026-11-24".parse().unwrap();
    for error in [
        invoices.take().unwrap_err(),
        invoices.try_take().unwrap_err(),
        invoices.take_for(today).unwrap_err(),
        pollster::block_on(invoices.take_async()).unwrap_err(),
    ] {
        assert!(matches!(error, SeriesError::Gapless { .. }), "{error:?}");
    }
    let mut db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let mut transaction = db.transaction().unwrap();
    let error = orders.take_in(&mut transaction).unwrap_err();
    assert!(matches!(error, SeriesError::NotGapless { .. }), "{error:?}");
    // Nothing was written.
    drop(transaction);
    assert!(orders.counters().unwrap().is_empty() && invoices.counters().unwrap().is_empty());
}

#[test]
fn periods_scopes_dates_and_ends_are_those_of_a_fast_series() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let definition_of = |pattern| definition(pattern).gapless().first(8);
    let invoices = series.create("invoices", definition_of("{yyyy}-{n:1}")).unwrap();
    let mut db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let mut take = |generator: &uidring::series::SeriesGenerator, date: Option<&str>| {
        let mut transaction = db.transaction().unwrap();
        let number = match date {
            None => generator.take_in(&mut transaction)?,
            Some(date) => generator.take_in_for(&mut transaction, date.parse().unwrap())?,
        };
        transaction.commit().unwrap();
        Ok::<_, SeriesError>(number.to_string())
    };
    assert_eq!(take(&invoices, None).unwrap(), "2026-8");
    assert_eq!(take(&invoices, Some("2025-01-01")).unwrap(), "2025-8");
    assert_eq!(take(&invoices.scope("shop"), None).unwrap(), "2026-8");
    assert_eq!(take(&invoices, None).unwrap(), "2026-9");
    for _ in 0..2 {
        let error = take(&invoices, None).unwrap_err();
        assert!(matches!(error, SeriesError::Full { largest: 9, .. }), "{error:?}");
    }
    series.close("invoices", "2025".parse().unwrap()).unwrap();
    let error = take(&invoices, Some("2025-01-01")).unwrap_err();
    assert!(matches!(error, SeriesError::Closed { .. }), "{error:?}");

    // Another process changes the pattern.
    let other = super::series(&store, &clock);
    let begins = "2027-01-01".parse().unwrap();
    other.change("invoices", definition_of("{yyyy}-{n:3}"), begins).unwrap();
    clock.set(time("2027-01-01T00:00:00Z"));
    assert_eq!(take(&invoices, None).unwrap(), "2027-008");
}

#[test]
fn a_transaction_of_another_database_counts_nothing() {
    let (_folder, store) = file();
    let (other_folder, other_store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let invoices = series.create("invoices", definition("{yyyy}-{n}").gapless()).unwrap();
    let mut db = Connection::open_in_memory().unwrap();
    let error = invoices.take_in(&mut db.transaction().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::Transaction { .. }), "{error:?}");
    // It has tables of this library, and no such series.
    let others = super::series(&other_store, &clock);
    others.create("orders", definition("{yyyy}-{n}")).unwrap();
    let mut db = Connection::open(other_folder.path().join("uidring.db")).unwrap();
    let error = invoices.take_in(&mut db.transaction().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::OtherDatabase { .. }), "{error:?}");
    // Nor are those of another series of this name its own, such as in another schema.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let theirs = others.create("invoices", definition("{yyyy}-{n}").gapless()).unwrap();
    let error = invoices.take_in(&mut db.transaction().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::OtherDatabase { .. }), "{error:?}");
    assert!(theirs.take_in(&mut db.transaction().unwrap()).is_ok());
    let said = "the transaction's database does not have the series \"invoices\"";
    assert!(error.to_string().starts_with(said), "{error}");
}

/// Others have the file locked, or have written to it since the transaction read.
#[test]
fn a_transaction_that_others_stand_in_the_way_of_is_worth_another_try() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n}").gapless()).unwrap();
    let path = folder.path().join("uidring.db");
    for mode in ["DELETE", "WAL"] {
        let [mut db, mut other] = [(); 2].map(|()| {
            let db = Connection::open(&path).unwrap();
            db.execute_batch(&format!("PRAGMA journal_mode = {mode}; PRAGMA busy_timeout = 10"))
                .unwrap();
            db
        });
        let mut transaction = db.transaction().unwrap();
        let look = "SELECT count(*) FROM uidring_series_counter";
        transaction.query_row(look, [], |row| row.get::<_, i64>(0)).unwrap();
        let mut theirs = other.transaction().unwrap();
        invoices.take_in(&mut theirs).unwrap();
        if mode == "WAL" {
            theirs.commit().unwrap();
        }
        let error = invoices.take_in(&mut transaction).unwrap_err();
        assert!(matches!(error, SeriesError::Transaction { .. }), "{error:?}");
        assert!(error.is_transient(), "{mode}: {error:?}");
        assert!(error.to_string().ends_with("roll it back, and try again in a new one"), "{error}");
    }
    // Not so what no other transaction mends.
    let mut db = Connection::open(&path).unwrap();
    db.execute_batch("ALTER TABLE uidring_series_counter RENAME TO gone").unwrap();
    let error = invoices.take_in(&mut db.transaction().unwrap()).unwrap_err();
    assert!(!error.is_transient() && error.to_string().ends_with("roll it back"), "{error}");
}

/// An operator puts an old copy in the place of a store, from before a change that the process has
/// learned. The number after it is written by what the copy has, or by what has followed in it.
#[test]
fn a_change_that_is_lost_again_writes_no_number() {
    for follows in [None, Some("S{yyyy}-{n:5}")] {
        let (folder, store) = file();
        let clock = clock("2026-11-24T12:00:00Z");
        let [here, there] = [(); 2].map(|()| series(&store, &clock));
        let definition_of = |pattern| definition(pattern).gapless();
        let begins = "2027-01-01".parse().unwrap();
        let invoices = here.create("invoices", definition_of("{yyyy}-{n:5}")).unwrap();
        let [file, copy] = ["uidring.db", "copy.db"].map(|name| folder.path().join(name));
        fs::copy(&file, &copy).unwrap();
        here.change("invoices", definition_of("R{yyyy}-{n:5}"), begins).unwrap();
        fs::copy(&copy, &file).unwrap();
        if let Some(pattern) = follows {
            there.change("invoices", definition_of(pattern), begins).unwrap();
        }
        let mut db = Connection::open(&file).unwrap();
        let mut take = || {
            let mut transaction = db.transaction().unwrap();
            let number = invoices.take_in_for(&mut transaction, begins)?;
            transaction.commit().unwrap();
            Ok::<_, SeriesError>(number.to_string())
        };
        let number = take().or_else(|error| {
            assert!(matches!(error, SeriesError::Changed { .. }), "{error:?}");
            take()
        });
        let expected = if follows.is_some() { "S2027-00001" } else { "2027-00001" };
        assert_eq!(number.unwrap(), expected);
    }
}
