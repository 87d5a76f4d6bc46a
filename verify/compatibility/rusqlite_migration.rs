//! A program's migrations, which rusqlite_migration counts in `user_version`, in the file that the
//! program shares with its series.

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};
use uidring::Store;
use uidring::series::{Series, SeriesDefinition};

/// Each makes a table.
const ALL: [&str; 6] = ["customer", "invoice", "item", "payment", "reminder", "note"];

fn migrate(db: &mut Connection, most: usize) {
    let made: Vec<String> =
        ALL[..most].iter().map(|name| format!("CREATE TABLE {name} (number TEXT)")).collect();
    let all = made.iter().map(|sql| M::up(sql)).collect();
    Migrations::new(all).to_latest(db).unwrap();
}

#[test]
fn migrations_run_before_and_after() {
    // How many have run before uidring makes its tables.
    for before in [0, 1, 4, 5] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.db");
        let mut db = Connection::open(&file).unwrap();
        if before > 0 {
            migrate(&mut db, before);
        }
        let store = Store::open(&file).unwrap();
        store.registry().unwrap();
        store.segments().unwrap();
        let series = Series::builder().store(&store).build().unwrap();
        let definition = SeriesDefinition::new("{n:5}").unwrap().gapless();
        let invoices = series.create("invoices", definition).unwrap();
        for (most, number) in [(before.max(2), 1), (ALL.len(), 2)] {
            migrate(&mut db, most);
            for table in &ALL[..most] {
                let count = format!("SELECT count(*) FROM {table}");
                db.query_row(&count, [], |row| row.get::<_, i64>(0)).unwrap();
            }
            let mut transaction = db.transaction().unwrap();
            let taken = invoices.take_in(&mut transaction).unwrap();
            transaction.execute("INSERT INTO invoice VALUES (?)", [taken.as_str()]).unwrap();
            transaction.commit().unwrap();
            assert_eq!(taken.value(), number, "{before} before");
        }
        let again = Store::open(&file).unwrap();
        assert!(again.registry().is_ok());
        let series = Series::builder().store(&again).build().unwrap();
        assert_eq!(series.list().unwrap().len(), 1);
        let version = "SELECT user_version FROM pragma_user_version";
        let version: i64 = db.query_row(version, [], |row| row.get(0)).unwrap();
        assert_eq!(version, 6);
    }
}
