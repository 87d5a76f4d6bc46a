//! PostgreSQL, MySQL and MariaDB.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use uidring::StorageError;
#[cfg(feature = "mysql")]
use uidring::segment::MySqlSegments;
#[cfg(feature = "postgres")]
use uidring::segment::PostgresSegments;
use uidring::segment::{Number, SegmentGenerator, Segments, TagRecord, TinyIdSegments};

use super::*;
use crate::databases::{Database, OwnServer, Server, TABLES, has_mysql_itself};

/// What has to happen happens within this time, on a busy machine, too.
const PATIENCE: Duration = Duration::from_secs(60);

fn open(url: &str, table: Table) -> Box<dyn SegmentAdmin> {
    on_table(url, table, Duration::from_secs(60))
}

struct OnServer {
    server: Server,
    database: Database,
}

impl OnServer {
    fn new(server: Server) -> OnServer {
        OnServer { server, database: server.database() }
    }

    fn with_others(server: Server) -> OnServer {
        let place = OnServer::new(server);
        for table in others::tables(server) {
            place.run(&table);
        }
        place
    }

    fn name(&self) -> String {
        uidring::store::without_password(&self.database.url)
    }
}

impl Place for OnServer {
    fn open(&self, table: Table) -> Box<dyn SegmentAdmin> {
        open(&self.database.url, table)
    }

    fn run(&self, sql: &str) {
        self.database.run(sql);
    }

    fn others(&self, table: Table, takes: usize) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        while ranges.len() < takes {
            let script = others::script(self.server, other(table), takes - ranges.len());
            ranges.extend(others::printed(&self.database.script(&script)));
        }
        ranges
    }
}

/// The same test on each kind of server.
macro_rules! on_servers {
    ($(fn $name:ident($server:ident) $body:block)*) => { $(
        mod $name {
            use super::*;

            fn test($server: Server) $body

            #[cfg(feature = "postgres")]
            #[test]
            #[ignore = "needs a PostgreSQL server"]
            fn postgres() {
                test(Server::Postgres);
            }

            #[cfg(feature = "mysql")]
            #[test]
            #[ignore = "needs a MySQL or MariaDB server"]
            fn mysql() {
                test(Server::MySql);
            }
        }
    )* };
}

#[cfg(feature = "contract")]
on_servers! {
    fn own_tables_keep_the_contract(server) {
        uidring::segment::contract::check(|_| {
            let place = OnServer::new(server);
            move || place.open(Table::Own)
        });
    }

    fn leafs_tables_keep_the_contract(server) {
        uidring::segment::contract::check(|_| {
            let place = OnServer::with_others(server);
            move || place.open(Table::Leaf)
        });
    }

    fn tinyids_tables_keep_the_contract(server) {
        uidring::segment::contract::check(|_| {
            let place = OnServer::with_others(server);
            move || place.open(Table::TinyId)
        });
    }
}

on_servers! {
    fn takes_go_on_while_one_of_tinyids_databases_is_away(server) {
        takes_go_on_without_one_database(server);
    }
}

on_servers! {
    fn leaf_may_go_on_beside(server) {
        let place = OnServer::with_others(server);
        nothing_is_given_twice_or_left_out_beside_others(&place, Table::Leaf);
    }

    fn tinyid_may_go_on_beside(server) {
        let place = OnServer::with_others(server);
        nothing_is_given_twice_or_left_out_beside_others(&place, Table::TinyId);
    }

    fn rows_that_give_no_numbers_are_refused(server) {
        let place = OnServer::with_others(server);
        bad_rows_are_refused(&place, &place.name());
    }

    fn a_tag_is_created_again_only_as_it_is(server) {
        let place = OnServer::with_others(server);
        a_tag_that_is_there_is_created_again_only_as_it_is(&place, &place.name());
    }

    fn a_row_ends(server) {
        let place = OnServer::with_others(server);
        a_row_at_its_end_gives_the_rest(&place, &place.name());
    }

    fn samples_of_others(server) {
        first_numbers_are_those_of_leaf_and_tinyid(&OnServer::with_others(server));
    }

    fn tokens(server) {
        let place = OnServer::with_others(server);
        let url = &place.database.url;
        let read = || Store::open(url).unwrap().tinyid_tokens();
        tokens_are_read(&place, &read);
        if server == Server::MySql {
            // A column of bytes may hold what is no text, and it may be a secret.
            place.run("ALTER TABLE tiny_id_token MODIFY token VARBINARY(255)");
            place.run("UPDATE tiny_id_token SET token = CONCAT(x'ff', 'secret')");
            let error = text(read());
            assert!(error.contains("its column token has a value that is"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    fn beside_others(server) {
        let place = OnServer::with_others(server);
        numbers_that_another_table_has_given_are_not_given_again(&place, &place.name());
    }

    fn beside_other_databases(server) {
        let place = OnServer::with_others(server);
        no_tag_with_all_numbers_is_made_beside_those_that_are_shared(&place);
    }

    fn operators_change_tags(server) {
        let place = OnServer::with_others(server);
        tags_are_changed_and_removed(&place, &place.name());
    }

    fn a_step_has_room_in_its_column(server) {
        a_step_beyond_its_column_is_refused(&OnServer::with_others(server));
    }

    fn names(server) {
        names_that_cannot_be_are_refused(&OnServer::with_others(server));
    }

    fn missing_and_other_tables(server) {
        let place = OnServer::new(server);
        tables_that_are_missing_or_others_are_told(&place, &place.name());
    }

    fn reading_makes_no_tables_and_the_first_tag_does(server) {
        let place = OnServer::new(server);
        let source = place.open(Table::Own);
        assert_eq!(source.tags().unwrap(), []);
        let tables = format!(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{}'",
            place.database.name()
        );
        assert_eq!(place.database.run(&tables), "0");
        source.create("orders", &Tag::new()).unwrap();
        assert_eq!(place.database.run(&tables), "9");
        // Those of another version are told.
        place.run("UPDATE uidring_layout SET version = 99");
        for error in [text(source.load("orders", None)), text(source.tags())] {
            assert!(error.contains("its schema has the version 99, and this uidring"), "{error}");
        }
    }

    fn rights_that_are_missing_are_told(server) {
        let place = OnServer::new(server);
        let (name, database) = (place.database.name().to_owned(), &place.database);
        let user = format!("{name}:pass@");
        let url = database.url.replace("postgres@", &user).replace("root@", &user);
        database.run(&match server {
            Server::Postgres => format!(
                "CREATE ROLE {name} LOGIN PASSWORD 'pass'; GRANT USAGE ON SCHEMA {name} TO {name}"
            ),
            Server::MySql => format!(
                "CREATE USER {name} IDENTIFIED BY 'pass'; GRANT SELECT ON {name}.* TO {name}"
            ),
        });
        let error = text(open(&url, Table::Own).create("orders", &Tag::new()));
        let lacking = "its tables are not there, and this user may not make them; have somebody \
                       who may run this:";
        assert!(error.contains(lacking), "{error}");
        database.run(error.split("run this:").nth(1).unwrap());
        let error = text(open(&url, Table::Own).create("orders", &Tag::new()));
        let rights = "give this user the rights to select and update in its table uidring_segment \
                      and to select in uidring_layout, and to insert and delete";
        assert!(error.contains(rights), "{error}");
        let on = |table: &str| match server {
            Server::Postgres => table.to_owned(),
            Server::MySql => format!("{name}.{table}"),
        };
        database.run(&format!(
            "GRANT SELECT, UPDATE ON {} TO {name}; GRANT SELECT ON {} TO {name}",
            on("uidring_segment"),
            on("uidring_layout")
        ));
        place.open(Table::Own).create("orders", &Tag::new()).unwrap();
        // The minimum of rights that a program needs.
        assert_eq!(open(&url, Table::Own).load("orders", None).unwrap().first, 1);
        let error = text(open(&url, Table::Own).create("invoices", &Tag::new()));
        assert!(error.contains(rights), "{error}");
        database.run(&others::tables(server)[0]);
        if server == Server::Postgres {
            let error = text(open(&url, Table::Leaf).load("orders", None));
            let rights = "give this user the rights to select and update in its table leaf_alloc";
            assert!(error.contains(rights), "{error}");
        }
        database.run(&match server {
            Server::Postgres => format!("DROP OWNED BY {name}; DROP ROLE {name}"),
            Server::MySql => format!("DROP USER {name}"),
        });
    }

    fn a_row_that_is_there_twice_gives_nothing(server) {
        let place = OnServer::new(server);
        let source = place.open(Table::Own);
        source.create("orders", &Tag::new()).unwrap();
        place.run(match server {
            Server::Postgres => {
                "CREATE TABLE copy () INHERITS (uidring_segment); \
                 INSERT INTO copy SELECT * FROM ONLY uidring_segment"
            }
            Server::MySql => {
                "ALTER TABLE uidring_segment DROP PRIMARY KEY; \
                 INSERT INTO uidring_segment SELECT * FROM uidring_segment"
            }
        });
        let error = text(source.load("orders", None));
        let told = "its table uidring_segment has several rows with one key";
        assert!(error.contains(told), "{error}");
    }

    fn a_table_that_is_gone_is_not_made_anew(server) {
        let place = OnServer::new(server);
        let source = place.open(Table::Own);
        source.create("orders", &Tag::new()).unwrap();
        assert_eq!(source.load("orders", None).unwrap().first, 1);
        let tables = format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = '{}' AND table_name LIKE 'uidring%'",
            place.database.name()
        );
        let gone = |source: &dyn SegmentAdmin, what: &str| {
            for error in [
                text(source.load("orders", None)),
                text(source.create("orders", &Tag::new())),
                text(source.create("new", &Tag::new())),
                text(source.set("orders", &TagChange::new().step(7))),
                text(source.remove("orders", None)),
                text(source.tags()),
            ] {
                let gone = format!("{what} gone, the only memory of what has been given, so");
                assert!(error.contains(&gone), "{error}");
            }
        };
        for table in ["uidring_segment", "uidring_layout"] {
            place.run(&format!("ALTER TABLE {table} RENAME TO away"));
            gone(&*source, &format!("its table {table} is"));
            // Nor does whoever starts make it, as the others are there.
            gone(&*place.open(Table::Own), &format!("its table {table} is"));
            assert_eq!(place.database.run(&tables), "8");
            place.run(&format!("ALTER TABLE away RENAME TO {table}"));
        }
        for table in TABLES {
            place.run(&format!("ALTER TABLE {table} RENAME TO away_{table}"));
        }
        gone(&*source, "its tables uidring_layout and uidring_segment are");
        // Whoever has not seen them takes it for a database that was never used.
        let new = place.open(Table::Own);
        assert_eq!(new.tags().unwrap(), []);
        let error = new.load("orders", None).unwrap_err();
        assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
        assert_eq!(place.database.run(&tables), "0");
        for table in TABLES {
            place.run(&format!("ALTER TABLE away_{table} RENAME TO {table}"));
        }
        assert_eq!(source.load("orders", None).unwrap().first, 1001);
    }

    fn a_row_made_anew(server) {
        let place = OnServer::new(server);
        a_row_made_anew_gives_nothing_to_those_who_took_before(&place);
    }

    fn a_removed_row_of_leaf(server) {
        a_removed_row_of_leaf_gives_its_numbers_to_none(&OnServer::with_others(server));
    }

    fn a_row_with_another_delta(server) {
        a_row_with_another_delta_takes_nothing_back(&OnServer::with_others(server));
    }

    fn what_is_behind_the_name_of_a_table_is_looked_at(server) {
        let place = OnServer::with_others(server);
        place.open(Table::Own).create("orders", &Tag::new()).unwrap();
        place.run("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)");
        place.open(Table::TinyId).create("orders", &Tag::new()).unwrap();
        let kept = match server {
            Server::Postgres => "CREATE UNLOGGED TABLE kept AS SELECT * FROM away",
            Server::MySql => {
                "CREATE TABLE kept LIKE away; INSERT INTO kept SELECT * FROM away; \
                 ALTER TABLE kept ENGINE = MyISAM"
            },
        };
        for (table, name) in [
            (Table::Own, "uidring_segment"),
            (Table::Leaf, "leaf_alloc"),
            (Table::TinyId, "tiny_id_info"),
        ] {
            place.run(&format!(
                "ALTER TABLE {name} RENAME TO away; {kept}; \
                 CREATE VIEW {name} AS SELECT * FROM kept"
            ));
            let error = text(place.open(table).load("orders", None));
            let view = format!("its {name} is no table but a view, behind which anything");
            assert!(error.contains(&view), "{error}");
            place.run(&format!(
                "DROP VIEW {name}; DROP TABLE kept; ALTER TABLE away RENAME TO {name}"
            ));
            assert_eq!(place.open(table).load("orders", None).unwrap().first, 1);
        }
        let (name, key) = ("uidring_segment", "tag");
        if server == Server::Postgres {
            place.run(&format!(
                "ALTER TABLE {name} RENAME TO away; \
                 CREATE TABLE {name} (LIKE away INCLUDING ALL) PARTITION BY LIST ({key}); \
                 CREATE UNLOGGED TABLE part PARTITION OF {name} DEFAULT; \
                 INSERT INTO {name} SELECT * FROM away"
            ));
            let error = text(place.open(Table::Own).load("orders", None));
            assert!(error.contains("its table part is not logged, so that a crash"), "{error}");
            place.run("ALTER TABLE part SET LOGGED");
        } else {
            // All partitions have one engine.
            let (engine, parts) = if has_mysql_itself() {
                ("MyISAM", String::new())
            } else {
                ("Aria", format!("; ALTER TABLE {name} PARTITION BY KEY ({key})"))
            };
            place.run(&format!("ALTER TABLE {name} ENGINE = {engine}{parts}"));
            let error = text(place.open(Table::Own).load("orders", None));
            let told = format!("its table uidring_segment has the engine {engine}");
            assert!(error.contains(&told), "{error}");
            place.run(&format!("ALTER TABLE {name} ENGINE = InnoDB"));
        }
        assert_eq!(place.open(Table::Own).load("orders", None).unwrap().first, 1001);
    }

    fn a_server_that_takes_no_writes_is_told(server) {
        let (error, what_to_do) = match server {
            Server::Postgres => {
                let place = OnServer::with_others(server);
                place.run("INSERT INTO leaf_alloc (biz_tag, step) VALUES ('orders', 10)");
                let url = format!("{}%20-cdefault_transaction_read_only=on", place.database.url);
                let only_reads = "its transactions only read, as default_transaction_read_only is \
                                  on; if it may be written again, set that to off where it was";
                (open(&url, Table::Leaf).load("orders", None).unwrap_err(), only_reads)
            }
            Server::MySql => {
                let server = OwnServer::start(server);
                server.run("CREATE USER me; GRANT ALL ON ids.* TO me");
                server.run(&others::tables(Server::MySql)[0]);
                server.run("INSERT INTO leaf_alloc (biz_tag, step) VALUES ('orders', 10)");
                // MariaDB has both names since 11.1 alone.
                let transactions = if has_mysql_itself() { "transaction" } else { "tx" };
                let reads = format!("{transactions}_read_only");
                server.run(&format!("SET GLOBAL {reads} = ON"));
                let error = text(open(&server.url(), Table::Leaf).load("orders", None));
                assert!(error.contains("its transactions only read, as transaction_"), "{error}");
                server.run(&format!("SET GLOBAL {reads} = OFF; SET GLOBAL read_only = ON"));
                let read_only = "its read_only is on; if it is the primary and may be written \
                                 again, run SET GLOBAL read_only = OFF";
                let url = server.url().replace("root@", "me@");
                assert_eq!(open(&url, Table::Leaf).tags().unwrap().len(), 1);
                let error = text(open(&url, Table::Leaf).load("orders", None));
                assert!(error.contains(read_only), "{error}");
                // The server itself would let root write.
                let url = server.url();
                assert_eq!(open(&url, Table::Leaf).tags().unwrap().len(), 1);
                (open(&url, Table::Leaf).load("orders", None).unwrap_err(), read_only)
            }
        };
        assert!(error.is_transient(), "{error}");
        let text = with_causes(&error);
        assert!(text.contains(what_to_do), "{text}");
    }

    fn a_row_that_others_lock_is_told(server) {
        let place = OnServer::new(server);
        place.open(Table::Own).create("orders", &Tag::new()).unwrap();
        let locked = place.database.lock("SELECT * FROM uidring_segment FOR UPDATE");
        let url = &place.database.url;
        let error = on_table(url, Table::Own, Duration::from_secs(3)).load("orders", None);
        let error = error.unwrap_err();
        assert!(matches!(error, SegmentError::Storage(StorageError::Locked { .. })), "{error}");
        drop(locked);
        assert_eq!(place.open(Table::Own).load("orders", None).unwrap().first, 1);
    }

    fn what_was_taken_outlasts_a_crash_of_the_server(server) {
        let mut server = OwnServer::start(server);
        let mut source = open(&server.url(), Table::Own);
        source.create("orders", &Tag::new().step(10)).unwrap();
        let mut all = BTreeSet::new();
        for round in 0..4 {
            for _ in 0..5 {
                for number in numbers(&source.load("orders", None).unwrap()) {
                    assert!(all.insert(number), "{number} came twice, in round {round}");
                }
            }
            server.crash();
            let error = text(source.load("orders", None));
            assert!(error.contains("see that the server runs and can be reached"), "{error}");
            server.crash_and_restart();
            source = open(&server.url(), Table::Own);
        }
        assert_eq!(all, (1..=200).collect());
    }
}

/// Leaf's table in an engine without transactions: nothing would last, or be locked.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_table_of_leafs_without_transactions_is_refused_on_mysql() {
    let place = OnServer::with_others(Server::MySql);
    place.run("ALTER TABLE leaf_alloc ENGINE = MyISAM");
    let error = text(place.open(Table::Leaf).load("orders", None));
    let what = "its table leaf_alloc has the engine MyISAM, which need not keep a commit as InnoDB \
                does; run ALTER TABLE leaf_alloc ENGINE = InnoDB";
    assert!(error.ends_with(what), "{error}");
}

/// Tags are compared exactly, whatever the column's collation takes for the same.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn capitals_and_spaces_make_another_tag_on_mysql() {
    let place = OnServer::with_others(Server::MySql);
    place.run("ALTER TABLE leaf_alloc CONVERT TO CHARACTER SET utf8 COLLATE utf8_general_ci");
    for (table, first) in [(Table::Own, 1), (Table::Leaf, 5001)] {
        let source = place.open(table);
        source.create("orders", &Tag::new().first(first)).unwrap();
        for other in ["Orders", "orders "] {
            let error = text(source.load(other, None));
            let start = format!("{} has no tag {other:?}; did you mean \"orders\"?", place.name());
            assert!(error.starts_with(&start), "{error}");
        }
        assert_eq!(source.load("orders", None).unwrap().first, first);
    }
    let error = text(place.open(Table::Leaf).create("Orders", &Tag::new()));
    let same = "the tag \"Orders\" cannot be used: leaf_alloc does not tell it from \"orders\"";
    assert_eq!(error, same);
    assert_eq!(place.open(Table::Own).create("Orders", &Tag::new()).unwrap().next, 1);
}

/// A narrow column ends before the largest number does.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_column_that_is_too_narrow_is_told_on_postgres() {
    let place = OnServer::with_others(Server::Postgres);
    place.run(
        "ALTER TABLE leaf_alloc ALTER max_id TYPE INT; \
         INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 2147483640, 5)",
    );
    let source = place.open(Table::Leaf);
    assert_eq!(source.load("orders", None).unwrap().first, 2_147_483_640);
    let error = text(source.load("orders", None));
    assert!(error.contains("integer out of range"), "{error}");
    assert!(error.contains("does not have the columns of Leaf's, with these types"), "{error}");
}

fn urls(port: u16) -> Vec<String> {
    let mut urls = Vec::new();
    if cfg!(feature = "postgres") {
        urls.push(format!("postgres://me:secret@127.0.0.1:{port}/ids"));
    }
    if cfg!(feature = "mysql") {
        urls.push(format!("mysql://me:secret@127.0.0.1:{port}/ids"));
    }
    urls
}

#[test]
fn a_server_that_hangs_or_is_away_is_told() {
    // The system accepts, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for table in [Table::Own, Table::Leaf, Table::TinyId] {
        for url in urls(port) {
            let place = url.replace(":secret", "");
            let error = on_table(&url, table, Duration::from_millis(200)).load("orders", None);
            let error = error.unwrap_err();
            assert!(error.is_transient());
            assert_eq!(
                with_causes(&error),
                format!(
                    "cannot reach the tags in {place}: it did not answer for 200 ms; see that the \
                     server runs, is not overloaded, and can be reached from here"
                )
            );
        }
    }
    drop(silent);
    for url in urls(port) {
        let error = open(&url, Table::Own).load("orders", None).unwrap_err();
        assert!(error.is_transient());
        let text = with_causes(&error);
        assert!(text.contains("see that the server runs and can be reached from here: "), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

/// The segments that a source has loaded.
type Loads = Arc<Mutex<Vec<Segment>>>;

/// Notes what it loads.
struct Noted<S> {
    source: S,
    loads: Loads,
}

impl<S: SegmentSource> SegmentSource for Noted<S> {
    fn name(&self) -> String {
        self.source.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let segment = self.source.load(tag, count)?;
        self.loads.lock().unwrap().push(segment.clone());
        Ok(segment)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        self.source.give_back(tag, unused)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.source.tags()
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.source.create(tag, new)
    }
}

fn two_databases(server: Server, urls: [&str; 2]) -> TinyIdSegments {
    // That of a server which is away passes in each call to it, and one that is there has to answer
    // within it on a busy machine.
    let timeout = Duration::from_secs(2);
    match server {
        #[cfg(feature = "postgres")]
        Server::Postgres => TinyIdSegments::new(
            urls.map(|url| PostgresSegments::open(url).unwrap().with_timeout(timeout).tinyid()),
        ),
        #[cfg(feature = "mysql")]
        Server::MySql => TinyIdSegments::new(
            urls.map(|url| MySqlSegments::open(url).unwrap().with_timeout(timeout).tinyid()),
        ),
        #[allow(unreachable_patterns)] // with both features
        _ => panic!("no feature for {server:?}, {urls:?}, {timeout:?}"),
    }
}

/// Takes until what was loaded meanwhile is enough, by the databases it came from. No take fails.
/// Returns these databases.
fn take_until_loaded(
    orders: &SegmentGenerator,
    (loads, all): (&Loads, &mut BTreeSet<u64>),
    is_enough: impl Fn(&[usize]) -> bool,
) -> Vec<usize> {
    let (since, before) = (Instant::now(), loads.lock().unwrap().len());
    loop {
        let mut buffer = [Number::MIN; 100];
        orders.fill(&mut buffer).unwrap();
        for number in buffer {
            assert!(all.insert(number.get()), "{number} came twice");
        }
        let new: Vec<usize> =
            loads.lock().unwrap()[before..].iter().map(|segment| segment.database).collect();
        if is_enough(&new) {
            return new;
        }
        assert!(since.elapsed() < PATIENCE, "{new:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn takes_go_on_without_one_database(server: Server) {
    let mut servers = [OwnServer::start(server), OwnServer::start(server)];
    for own in &servers {
        own.run(&others::tables(server)[1]);
    }
    let [a, b] = servers.each_ref().map(OwnServer::url);
    let loads = Loads::default();
    let source = Noted { source: two_databases(server, [&a, &b]), loads: Arc::clone(&loads) };
    let segments = Segments::builder().source(source).max_step(1000).max_wait(PATIENCE);
    let segments = segments.build().unwrap();
    let orders = segments.create("orders", Tag::new().step(1000)).unwrap();
    let mut all = BTreeSet::new();
    let both = |loaded: &[usize]| loaded.contains(&0) && loaded.contains(&1);
    take_until_loaded(&orders, (&loads, &mut all), both);
    servers[1].pause();
    // One may have been on its way.
    let loaded = take_until_loaded(&orders, (&loads, &mut all), |loaded| loaded.len() > 10);
    assert!(loaded[1..].iter().all(|database| *database == 0), "{loaded:?}");
    servers[1].resume();
    take_until_loaded(&orders, (&loads, &mut all), both);
    servers[1].crash();
    let loaded = take_until_loaded(&orders, (&loads, &mut all), |loaded| loaded.len() > 10);
    assert!(loaded[1..].iter().all(|database| *database == 0), "{loaded:?}");
    servers[1].restart();
    take_until_loaded(&orders, (&loads, &mut all), both);

    let remainders = servers
        .each_ref()
        .map(|own| own.run("SELECT remainder FROM tiny_id_info").parse().unwrap());
    assert_ne!(remainders[0], remainders[1]);
    let loads = loads.lock().unwrap();
    for Segment { first, count, delta, database, .. } in loads.iter() {
        assert_eq!((*delta, first % 2), (2, remainders[*database]), "of the database {database}");
        for index in 0..*count {
            all.remove(&(first + index * delta));
        }
    }
    assert_eq!(all.len(), 0, "numbers that nobody loaded: {all:?}");
}
