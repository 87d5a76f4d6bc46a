//! The door to all stores, as programs meet it: an address goes in, and worker ids and numbers come
//! out.

use proptest::prelude::*;
use uidring::Store;
use uidring::store::StoreError;

use crate::causes::with_causes;

/// The error of an address that is not one. Neither it nor its causes show a secret.
fn refused(address: &str) -> String {
    let error = Store::open(address).unwrap_err();
    let text = with_causes(&error);
    assert!(!text.contains("secret") && !format!("{error:?}").contains("secret"), "{error:?}");
    text
}

#[test]
fn an_unknown_scheme_is_told_which_there_are() {
    let all = "a store is a file, or an address that begins with sqlite://, postgres://, \
               postgresql://, mysql://, etcd://, etcds://, zookeeper://, zookeepers://, \
               redis:// or rediss://";
    for scheme in ["oracle", "consul", "mongodb", "POSTGRES"] {
        let text = refused(&format!("{scheme}://me:secret@db/ids?password=secret"));
        assert_eq!(text, format!("{all}, and not with {scheme}://"));
    }
    for keys in ["host=db password=secret dbname=ids", "file:secret.db", "password=secret://x"] {
        let text = refused(keys);
        assert!(text.starts_with(&format!("{all}; write keys and values as such an")), "{text}");
        assert!(text.ends_with("begin the path of a file that looks like one with ./"), "{text}");
    }
}

#[test]
fn a_kind_that_is_not_built_in_names_its_feature() {
    let kinds = [
        ("ids.db", "ids.db", "SQLite", "sqlite", cfg!(feature = "sqlite")),
        ("sqlite:ids.db", "ids.db", "SQLite", "sqlite", cfg!(feature = "sqlite")),
        (
            "postgres://me:secret@db/ids",
            "postgres://me@db/ids",
            "PostgreSQL",
            "postgres",
            cfg!(feature = "postgres"),
        ),
        (
            "postgresql://me:secret@db/ids?a=secret",
            "postgresql://me@db/ids",
            "PostgreSQL",
            "postgres",
            cfg!(feature = "postgres"),
        ),
        (
            "mysql://me:secret@db/ids",
            "mysql://me@db/ids",
            "MySQL and MariaDB",
            "mysql",
            cfg!(feature = "mysql"),
        ),
    ];
    for (address, shown, name, feature, is_built_in) in kinds {
        if is_built_in {
            continue;
        }
        assert_eq!(
            refused(address),
            format!(
                "cannot open the store {shown}: this program was built without {name}; build it \
                 with the feature `{feature}` of uidring"
            )
        );
        let error = Store::open(address).unwrap_err();
        assert!(matches!(error, StoreError::NotBuiltIn { .. }));
    }
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
#[test]
fn an_address_of_a_server_is_read_without_the_server() {
    for (address, scheme, shown, is_built_in) in [
        (
            "postgres://me:secret@nowhere.invalid:5433/ids?sslmode=require",
            "postgres",
            "postgres://me@nowhere.invalid:5433/ids",
            cfg!(feature = "postgres"),
        ),
        (
            "postgresql://me:secret@nowhere.invalid/ids",
            "postgres",
            "postgresql://me@nowhere.invalid/ids",
            cfg!(feature = "postgres"),
        ),
        (
            "mysql://me:secret@nowhere.invalid/ids",
            "mysql",
            "mysql://me@nowhere.invalid/ids",
            cfg!(feature = "mysql"),
        ),
    ] {
        if !is_built_in {
            continue;
        }
        let store = Store::open(address).unwrap();
        assert_eq!((store.to_string().as_str(), store.scheme()), (shown, scheme));
        assert_eq!(format!("{store:?}"), format!("Store({shown:?})"));
        assert_eq!(store.file(), None);
        let shown_by = [
            format!("{:?}", store.registry().unwrap()),
            format!("{:?}", store.segments().unwrap()),
        ];
        assert!(!shown_by.concat().contains("secret"), "{shown_by:?}");
    }
}

#[test]
fn a_wrong_address_of_a_server_is_told_what_is_wrong() {
    for (address, problem, is_built_in) in [
        ("postgres:///ids", "names no host", cfg!(feature = "postgres")),
        ("postgres://me:secret@db/ids?nonsense=secret", "", cfg!(feature = "postgres")),
        (
            "postgres://me:secret@db/ids?sslrootcert=/nowhere.pem",
            "/nowhere.pem",
            cfg!(feature = "postgres"),
        ),
        ("mysql://", "names no host", cfg!(feature = "mysql")),
        ("mysql://me:secret@db", "names no database", cfg!(feature = "mysql")),
        ("mysql://me:secret@db/ids?ssl-ca=/nowhere.pem", "/nowhere.pem", cfg!(feature = "mysql")),
    ] {
        if is_built_in {
            let text = refused(address);
            assert!(text.starts_with("cannot use the store "), "{text}");
            assert!(text.contains(problem), "{text}");
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::fs;
    use std::time::Duration;

    use tempfile::TempDir;
    use uidring::registry::{Lease, RegistryAdmin, Request, WorkerRegistry};
    use uidring::segment::{SegmentAdmin, SegmentSource, Segments, Tag, TagChange};
    use uidring::store::StorageError;
    use uidring::{BuildError, Layout, RegistryError, RegistryOptions, Store, Table, UidGenerator};

    use super::{refused, with_causes};

    fn folder() -> (TempDir, String) {
        let folder = crate::folder::folder();
        let path = folder.path().join("ids.db");
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    /// Runs statements in the file `path`.
    fn run(path: &str, sql: &str) {
        rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    }

    #[test]
    fn each_form_of_a_path_names_the_file() {
        let (_folder, path) = folder();
        for address in [path.clone(), format!("sqlite:{path}"), format!("sqlite:///{path}")] {
            let store = Store::open(&address).unwrap();
            assert_eq!(store.to_string(), path);
            assert_eq!(store.file().unwrap().to_str(), Some(path.as_str()));
            assert_eq!(store.scheme(), "sqlite");
        }
        assert_eq!(Store::open(std::path::Path::new(&path)).unwrap().to_string(), path);
        // Absolute, so that a program may change its folder.
        assert!(Store::open("ids.db").unwrap().file().unwrap().is_absolute());
        assert!(Store::open("./mysql://x").unwrap().to_string().contains("mysql:"));
    }

    #[test]
    fn parameters_of_a_file_are_refused() {
        let error = refused("sqlite:ids.db?key=secret");
        assert!(error.contains("without parameters and escapes"), "{error}");
        let (folder, _) = folder();
        let path = folder.path().join("my%20ids.db?x=1#2");
        assert_eq!(Store::open(&path).unwrap().file(), Some(path.as_path()));
    }

    /// Whoever takes ids or numbers from a store knows the tables again, so that no other handle of
    /// the same store makes new ones in their place, which would begin with the first id again.
    #[test]
    fn a_file_that_was_lost_is_not_made_anew() {
        let gives_an_id = |store: &Store| {
            let registry = store.registry().unwrap();
            assert_eq!(UidGenerator::builder().registry(registry).build().unwrap().worker_id(), 1);
        };
        let gives_a_number = |store: &Store| {
            store.segments().unwrap().create("orders", &Tag::new()).unwrap();
        };
        for gives in [&gives_an_id as &dyn Fn(&Store), &gives_a_number] {
            let (_folder, path) = folder();
            let store = Store::open(&path).unwrap();
            gives(&store);
            fs::remove_file(&path).unwrap();
            let store = store.clone();
            let part = RegistryOptions::new().partition(1, 2);
            for error in [
                with_causes(&store.registry().unwrap_err()),
                with_causes(&store.registry_with(part).unwrap_err()),
                with_causes(&store.segments().unwrap_err()),
            ] {
                assert!(error.contains("there is no such file"), "{error}");
            }
            assert!(!store.file().unwrap().exists());
        }
    }

    #[test]
    fn what_is_no_file_is_told() {
        assert!(refused("").starts_with("the address of the store is empty: give the path of"));
        assert!(refused("sqlite:").starts_with("the address of the store is empty"));
        let jdbc = refused("jdbc:mysql:replication://db/ids?user=me&password=secret");
        assert_eq!(
            jdbc,
            "an address that begins with jdbc:mysql: is one of another client; a store is a file, \
             or an address such as mysql://user:password@host/database, without the parameters \
             that are meant for that client"
        );
        let unknown = refused("jdbc:mysql://db/ids?keyStore=secret&user=me");
        assert_eq!(
            unknown,
            "an address that begins with jdbc:mysql: is read where each of its parameters is \
             known, and keyStore is not, or not with this value; leave it out, or write the \
             address as mysql://user:password@host/database"
        );
        assert!(refused(":memory:").contains("a store in memory forgets what it gave"));
        assert!(refused("sqlite::memory:").contains("a store in memory forgets what it gave"));
    }

    #[test]
    fn one_address_gives_worker_ids_and_numbers() {
        let (_folder, path) = folder();
        let store = Store::open(&path).unwrap();
        assert!(!store.file().unwrap().exists(), "opening makes nothing");
        let uids = UidGenerator::builder().registry(store.registry().unwrap()).build().unwrap();
        assert_eq!(uids.worker_id(), 1);
        assert_eq!(uids.layout().parts(uids.take().unwrap()).worker, 1);
        let segments = Segments::builder().source(store.segments().unwrap()).build().unwrap();
        let orders = segments.create("orders", Tag::new().first(7)).unwrap();
        assert_eq!(orders.take().unwrap().get(), 7);
        assert_eq!(segments.tag("orders").unwrap().take().unwrap().get(), 8);
        assert_eq!(store.registry().unwrap().workers().unwrap().len(), 1);
    }

    #[test]
    fn all_tables_of_a_file_give_numbers() {
        let (_folder, path) = folder();
        run(
            &path,
            "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT, step INT, \
             description VARCHAR(256), update_time TIMESTAMP); \
             CREATE TABLE tiny_id_info (id INTEGER PRIMARY KEY, biz_type VARCHAR(63), \
             begin_id BIGINT, max_id BIGINT, step INT, delta INT, remainder INT, \
             create_time TIMESTAMP, update_time TIMESTAMP, version BIGINT); \
             CREATE TABLE tiny_id_token (id INTEGER, token VARCHAR(255), biz_type VARCHAR(63)); \
             INSERT INTO tiny_id_token VALUES (1, 'secret', 'orders'); \
             INSERT INTO leaf_alloc VALUES ('orders', 1, 10, NULL, NULL); \
             INSERT INTO tiny_id_info VALUES (1, 'orders', 0, 20, 10, 1, 0, \
             CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1);",
        );
        let store = Store::open(&path).unwrap();
        let first = |table| {
            let source = store.segments_in(table).unwrap();
            source.load("orders", None).unwrap().first
        };
        assert_eq!((first(Table::Leaf), first(Table::TinyId)), (1, 21));
        let tokens = store.tinyid_tokens().unwrap();
        assert_eq!((tokens[0].token.as_str(), tokens[0].tag.as_str()), ("secret", "orders"));
        // Tags of uidring's own are not put beside those, and worker ids are.
        let error = store.segments().unwrap().create("orders", &Tag::new()).unwrap_err();
        assert!(with_causes(&error).contains("another program"), "{error}");
        store.registry().unwrap();

        let (_folder, path) = folder();
        let own = Store::open(&path).unwrap().segments_in(Table::Own).unwrap();
        own.create("orders", &Tag::new().step(10)).unwrap();
        assert_eq!(own.set("orders", &TagChange::new().next(500)).unwrap().next, 500);
        assert_eq!(own.load("orders", None).unwrap().first, 500);
    }

    #[test]
    fn the_tables_of_others_make_no_file() {
        let (_folder, path) = folder();
        let store = Store::open(&path).unwrap();
        for table in [Table::Leaf, Table::TinyId] {
            let error = store.segments_in(table).unwrap_err();
            assert!(error.to_string().contains("there is no such file"), "{error}");
        }
        assert!(store.tinyid_tokens().is_err());
        assert!(!store.file().unwrap().exists());
    }

    #[test]
    fn an_existing_file_is_opened_and_none_is_made() {
        let (_folder, path) = folder();
        let store = Store::open_existing(&path).unwrap();
        let errors =
            [store.registry().unwrap_err().to_string(), store.segments().unwrap_err().to_string()];
        assert_eq!(errors[0].split(": ").next(), Some(&*format!("cannot use the registry {path}")));
        assert_eq!(errors[1].split(": ").next(), Some(&*format!("cannot use the tags in {path}")));
        assert!(!fs::exists(&path).unwrap());
        Store::open(&path).unwrap().registry().unwrap();
        assert_eq!(store.registry().unwrap().largest_given().unwrap(), 0);
        assert!(store.segments().unwrap().tags().unwrap().is_empty());
    }

    #[test]
    fn options_say_how_ids_are_given() {
        let worker = |options: RegistryOptions| {
            let (_folder, path) = folder();
            let registry = Store::open(path).unwrap().registry_with(options).unwrap();
            let uids = UidGenerator::builder().registry(registry).build().unwrap();
            let status = uids.status();
            assert_eq!(status.worker_ids_left, status.worker_ids.map(|all| all - 1));
            status.worker_id
        };
        let hour = Duration::from_secs(3600);
        let half = Layout::DEFAULT.max_worker() / 2 + 1;
        assert_eq!(worker(RegistryOptions::new().leased(hour).worker_ids(32..=1023)), 32);
        assert_eq!(worker(RegistryOptions::new().partition(1, 2)), half);
        // Both: the ids of the part that are in the range.
        let both = RegistryOptions::new().worker_ids(32..=half + 5);
        assert_eq!(worker(both.clone().partition(0, 2)), 32);
        assert_eq!(worker(both.partition(1, 2)), half);
        let (_folder, path) = folder();
        let store = Store::open(path).unwrap();
        let registry = RegistryOptions::new().leased(hour).host("orders-3", "8080");
        let uids = UidGenerator::builder().registry(store.registry_with(registry).unwrap());
        let uids = uids.build().unwrap();
        let worker = store.registry().unwrap().workers().unwrap().pop().unwrap();
        assert_eq!((worker.host_name.as_str(), worker.port.as_str()), ("orders-3", "8080"));
        assert!(worker.lease.is_some());
        drop(uids);
    }

    /// The layout is read at the start, too, when the store may not be there yet.
    #[test]
    fn a_build_waits_for_the_layout_that_is_remembered() {
        struct Late(u32);

        impl WorkerRegistry for Late {
            fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
                Ok(Lease::permanent(7, &request.layout))
            }

            fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
                self.0 -= 1;
                if self.0 == 0 {
                    return Ok(Some(Layout::TWITTER));
                }
                let (what, problem) = ("the registry".to_owned(), "it is not there".to_owned());
                Err(StorageError::Unreachable { what, problem, source: None }.into())
            }
        }

        let build = |late, deadline| {
            let builder = UidGenerator::builder().registry(Late(late)).remembered_layout();
            builder.start_deadline(Duration::from_millis(deadline)).build()
        };
        assert_eq!(*build(3, 60_000).unwrap().layout(), Layout::TWITTER);
        let error = build(u32::MAX, 200).unwrap_err();
        assert!(matches!(error, BuildError::StartDeadline { tries: 2.., .. }), "{error}");
        assert!(matches!(build(2, 0).unwrap_err(), BuildError::Registry(_)));
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let (_folder, path) = folder();
        let store = Store::open(path).unwrap();
        let refused = |options| store.registry_with(options).unwrap_err();
        let parts = refused(RegistryOptions::new().partition(3, 3));
        assert!(matches!(parts, RegistryError::Partition { index: 3, of: 3 }));
        let ids = refused(RegistryOptions::new().worker_ids(0..=0));
        assert!(matches!(ids, RegistryError::WorkerIds { .. }));
        let table = refused(RegistryOptions::new().uid_generator());
        assert!(table.to_string().contains("only MySQL and MariaDB have the table WORKER_NODE"));
        // No id is in both.
        let registry = RegistryOptions::new().partition(1, 2).worker_ids(32..=1023);
        let registry = store.registry_with(registry).unwrap();
        let error = UidGenerator::builder().registry(registry).build().unwrap_err();
        let text = with_causes(&error);
        assert!(text.contains("the worker ids 32 to 1023 of the partition 1 of 2"), "{text}");
        assert_eq!(store.registry().unwrap().layout().unwrap(), None, "and nothing is used");
    }

    #[test]
    fn the_time_of_calls_can_be_set() {
        let (_folder, path) = folder();
        let store = Store::open(&path).unwrap().with_timeout(Duration::from_millis(50));
        let mut registry = store.registry().unwrap();
        let source = store.segments().unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let layout = Layout::DEFAULT;
        let error = registry.assign(&Request::new(layout, 1, layout.max_tick())).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("others had the registry"), "{text}");
        assert!(text.contains("locked for 50 ms"), "{text}");
        let error = source.create("orders", &Tag::new()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("others had the tags in"), "{text}");
        assert!(text.contains("locked for 50 ms"), "{text}");
    }
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
mod servers {
    use uidring::registry::RegistryAdmin;
    use uidring::segment::{SegmentAdmin, SegmentSource, Segments, Tag};
    #[cfg(feature = "series")]
    use uidring::series::{Series, SeriesDefinition};
    use uidring::{RegistryOptions, Store, UidGenerator};

    use super::with_causes;
    use crate::databases::{Database, Server, TABLES};

    type Maker = fn(&Store) -> Result<(), String>;

    /// What makes the tables of a store, each by itself.
    const MAKERS: &[Maker] = &[
        |store| {
            let registry = store.registry().unwrap();
            let built = UidGenerator::builder().registry(registry).build();
            built.map(drop).map_err(|error| with_causes(&error))
        },
        |store| {
            let created = store.segments().unwrap().create("orders", &Tag::new());
            created.map(drop).map_err(|error| with_causes(&error))
        },
        #[cfg(feature = "series")]
        |store| {
            let series = Series::builder().store(store).build().unwrap();
            let definition = SeriesDefinition::new("B{yyyy}-{n:6}").unwrap();
            series.create("bookings", definition).map(drop).map_err(|error| with_causes(&error))
        },
    ];

    fn tables(database: &Database) -> String {
        let names = TABLES.join("', '");
        database.run(&format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = '{}' AND table_name IN ('{names}')",
            database.name()
        ))
    }

    /// As after the first step of many a restore. New tables would give the first id again.
    fn what_one_part_has_seen_no_other_makes_anew(server: Server) {
        for (first, make) in MAKERS.iter().enumerate() {
            let database = server.database();
            let store = Store::open(&database.url).unwrap();
            make(&store).unwrap();
            database.script(&format!("DROP TABLE {}", TABLES.join(", ")));
            for (second, make) in MAKERS.iter().enumerate() {
                let error = make(&store.clone()).unwrap_err();
                assert!(error.contains("are gone"), "{second} after {first}: {error}");
            }
            assert_eq!(tables(&database), "0");
        }
    }

    fn a_store_that_has_to_exist_makes_no_tables(server: Server) {
        let database = server.database();
        let store = Store::open_existing(&database.url).unwrap();
        for make in MAKERS {
            let error = make(&store).unwrap_err();
            assert!(error.contains("tables"), "{error}");
        }
        assert_eq!(tables(&database), "0");
        MAKERS[0](&Store::open(&database.url).unwrap()).unwrap();
        for make in MAKERS {
            make(&store).unwrap();
        }
    }

    fn one_address_gives_worker_ids_and_numbers(server: Server) {
        let database = server.database();
        let store = Store::open(&database.url).unwrap();
        let options = RegistryOptions::new().worker_ids(32..=1023);
        let registry = store.registry_with(options).unwrap();
        let uids = UidGenerator::builder().registry(registry).build().unwrap();
        assert_eq!(uids.worker_id(), 32);
        assert_eq!(store.registry().unwrap().largest_given().unwrap(), 32);
        let segments = Segments::builder().source(store.segments().unwrap()).build().unwrap();
        assert_eq!(segments.create("orders", Tag::new()).unwrap().take().unwrap().get(), 1);
        drop(segments);
        store.segments().unwrap().remove("orders", None).unwrap();
    }

    #[cfg(feature = "postgres")]
    #[test]
    #[ignore = "needs a PostgreSQL server"]
    fn postgres() {
        one_address_gives_worker_ids_and_numbers(Server::Postgres);
        what_one_part_has_seen_no_other_makes_anew(Server::Postgres);
        a_store_that_has_to_exist_makes_no_tables(Server::Postgres);
    }

    #[cfg(feature = "mysql")]
    #[test]
    #[ignore = "needs a MySQL or MariaDB server"]
    fn mysql() {
        one_address_gives_worker_ids_and_numbers(Server::MySql);
        what_one_part_has_seen_no_other_makes_anew(Server::MySql);
        a_store_that_has_to_exist_makes_no_tables(Server::MySql);
    }
}

proptest! {
    /// Also where it looks like an address: it is a store or an error, and shows no password.
    #[test]
    fn any_text_is_a_store_or_an_error(
        text in prop_oneof![
            any::<String>(),
            "(sqlite:|postgres://|postgresql://|mysql://|etcd://|[a-z]:)?[ -~]{0,40}",
            "(postgres|mysql)://[a-z]{0,3}(:[ -~]{0,4})?@?[a-z]{0,3}(:[0-9]{0,6})?/?[ -~]{0,20}",
        ],
    ) {
        match Store::open(&text) {
            Ok(store) => prop_assert!(!store.to_string().is_empty()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn no_password_is_shown(
        scheme in "(postgres|postgresql|mysql|etcd|redis|zookeeper|x)",
        (one, other) in ("[A-Za-z0-9:@/?#&=%._-]{0,8}", "[A-Za-z0-9:@/?#&=%._-]{0,8}"),
        rest in "(/ids|/|)(\\?[a-z]{1,8}=[a-z]{0,3})?",
    ) {
        let address = format!("{scheme}://me:SECRET{one}SECRET{other}SECRET@db{rest}");
        let shown = match Store::open(&address) {
            Ok(store) => format!("{store} {store:?}"),
            Err(error) => with_causes(&error),
        };
        prop_assert!(!shown.contains("SECRET"), "{shown}");
    }
}
