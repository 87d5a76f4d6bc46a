//! The SQLite registry as its users meet it: real files, real processes, errors read as text.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use tempfile::TempDir;
use uidring::clock::ManualClock;
use uidring::registry::{
    RegistryAdmin, Request, SqliteRegistry, WorkerKind, WorkerRecord, WorkerRegistry,
};
use uidring::{Layout, RegistryError, UidGenerator};

use crate::folder::folder;

const SCHEMA: &str = include_str!("../../schema.sql");

/// A directory for one test, and the path of a registry in it.
fn place() -> (TempDir, PathBuf) {
    let dir = folder();
    let path = dir.path().join("uidring.db");
    (dir, path)
}

/// The id alone, for a generator that begins now.
trait AssignId {
    fn assign_id(&mut self, layout: &Layout) -> Result<u64, RegistryError>;
}

impl AssignId for SqliteRegistry {
    fn assign_id(&mut self, layout: &Layout) -> Result<u64, RegistryError> {
        Ok(self.assign(&Request::new(*layout, 1, layout.max_tick()))?.worker)
    }
}

/// The result of a start with this file.
fn start(path: &Path) -> Result<u64, RegistryError> {
    SqliteRegistry::open(path)?.assign_id(&Layout::DEFAULT)
}

/// The sentence after the path of the file.
fn problem(error: &RegistryError, path: &Path) -> String {
    let text = error.to_string();
    let start = format!("cannot use the registry {}: ", path.display());
    text.strip_prefix(&start)
        .unwrap_or_else(|| panic!("{text:?} does not begin with {start:?}"))
        .to_owned()
}

fn text<T>(result: Result<T, RegistryError>) -> String {
    match result {
        Ok(_) => panic!("this must fail"),
        Err(error) => error.to_string(),
    }
}

// ------------------------------------------------------------------------------------------------
// Ids and rows

#[test]
fn ids_count_from_one_and_every_start_has_a_row() {
    let (_dir, path) = place();
    let before = SystemTime::now();
    assert_eq!([start(&path).unwrap(), start(&path).unwrap(), start(&path).unwrap()], [1, 2, 3]);

    let registry = SqliteRegistry::open_existing(&path).unwrap();
    let workers = registry.workers().unwrap();
    assert_eq!(workers.iter().map(|worker| worker.id).collect::<Vec<_>>(), [1, 2, 3]);
    let own_pid = std::process::id().to_string();
    for WorkerRecord { host_name, port, launched, .. } in workers {
        assert!(!host_name.is_empty());
        assert_eq!(port, own_pid);
        // SQLite rounds to milliseconds.
        let (from, to) =
            (before - Duration::from_millis(1), SystemTime::now() + Duration::from_millis(1));
        assert!(from <= launched && launched <= to, "{launched:?} is not in {from:?}..={to:?}");
    }
}

#[test]
fn two_generators_of_one_registry_have_two_worker_ids() {
    let (_dir, path) = place();
    let registry = SqliteRegistry::open(&path).unwrap();
    let build = || UidGenerator::builder().registry(registry.clone()).build().unwrap();
    let (one, other) = (build(), build());
    assert_eq!((one.worker_id(), other.worker_id()), (1, 2));
    assert_eq!(one.layout().parts(one.take().unwrap()).worker, 1);
    assert_eq!(other.layout().parts(other.take().unwrap()).worker, 2);
}

#[test]
fn given_host_and_port_are_what_the_row_shows() {
    let (_dir, path) = place();
    let mut registry = SqliteRegistry::open(&path).unwrap().with_host("db7.example", "8080");
    registry.assign_id(&Layout::DEFAULT).unwrap();
    // Neither may keep a start from its id.
    let long = "x".repeat(1000);
    registry = registry.with_host("", &long);
    registry.assign_id(&Layout::DEFAULT).unwrap();
    registry = registry.with_host("a\0b\nc", "ü");
    registry.assign_id(&Layout::DEFAULT).unwrap();

    let rows = registry.workers().unwrap();
    let shown: Vec<_> =
        rows.iter().map(|row| (row.host_name.as_str(), row.port.as_str())).collect();
    assert_eq!(shown, [("db7.example", "8080"), ("unknown", &long[..255]), ("abc", "ü")]);
}

#[test]
fn the_environment_tells_containers() {
    let (_dir, path) = place();
    let mut child = child(&this_program(), &path);
    child.env("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    assert_eq!(answer(&mut child), "worker 1");

    let worker = SqliteRegistry::open_existing(&path).unwrap().workers().unwrap().pop().unwrap();
    assert_eq!(worker.kind, WorkerKind::Container);
    let port = worker.port.parse::<u32>().unwrap();
    assert_ne!(port, std::process::id(), "it is the child's process id: {worker:?}");
    assert_eq!(WorkerKind::Container.to_string(), "container");
    assert_eq!(format!("{:<9}|", WorkerKind::Actual), "actual   |");
}

#[test]
fn ids_of_deleted_rows_are_not_given_again() {
    let (_dir, path) = place();
    for id in 1..=5 {
        assert_eq!(start(&path).unwrap(), id);
    }
    let delete = |rows: &str| {
        let db = Connection::open(&path).unwrap();
        db.execute(&format!("DELETE FROM worker_node WHERE {rows}"), []).unwrap()
    };
    assert_eq!(delete("id = 5"), 1);
    assert_eq!(start(&path).unwrap(), 6);
    assert_eq!(delete("true"), 5);
    Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    assert_eq!(start(&path).unwrap(), 7);
}

#[test]
fn ids_run_out_at_the_last_one_that_fits() {
    let (_dir, path) = place();
    let small = Layout::new(30, 3, 13).unwrap();
    let mut registry = SqliteRegistry::open(&path).unwrap();
    for id in 1..=7 {
        assert_eq!(registry.assign_id(&small).unwrap(), id);
    }
    for _ in 0..3 {
        assert_eq!(
            text(registry.assign_id(&small)),
            "worker ids ran out: 7 of 7 used; those that are not leased never come back: start a \
             new registry with other ids, or for a layout with more worker bits whose UIDs exceed \
             those in use"
        );
    }
    // The refused starts have used nothing up, and old rows do not come back by being deleted.
    let db = Connection::open(&path).unwrap();
    assert_eq!(db.query_row("SELECT seq FROM sqlite_sequence", [], |row| row.get(0)), Ok(7));
    assert_eq!(registry.workers().unwrap().len(), 7);
    db.execute("DELETE FROM worker_node", []).unwrap();
    assert!(matches!(
        registry.assign_id(&small),
        Err(RegistryError::Exhausted { used: 7, capacity: 7, .. })
    ));
}

#[test]
fn a_counter_beyond_the_layout_is_no_worker_id() {
    let (_dir, path) = place();
    assert_eq!(start(&path).unwrap(), 1);
    let set = |seq: i64| {
        let db = Connection::open(&path).unwrap();
        db.execute("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'worker_node'", [seq])
            .unwrap();
    };
    let last = i64::try_from(Layout::DEFAULT.max_worker()).unwrap();
    set(last - 1);
    assert_eq!(start(&path).unwrap(), 1_048_575);
    for beyond in [last, last + 1, (1 << 42) - 1, i64::MAX] {
        set(beyond);
        assert!(text(start(&path)).starts_with("worker ids ran out: 1048575 of 1048575 used; "));
    }
}

// ------------------------------------------------------------------------------------------------
// The layout

#[test]
fn another_layout_is_refused_and_both_are_named() {
    let (_dir, path) = place();
    let mut registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(registry.layout().unwrap(), None);

    let first = Layout::new(41, 10, 12).unwrap().with_tick(Duration::from_millis(1)).unwrap();
    let first = first
        .with_epoch(SystemTime::UNIX_EPOCH + Duration::from_millis(1_288_834_974_657))
        .unwrap();
    assert_eq!(registry.assign_id(&first).unwrap(), 1);
    assert_eq!(registry.layout().unwrap(), Some(first));
    assert_eq!(registry.assign_id(&first).unwrap(), 2);

    let others = [
        Layout::DEFAULT,
        Layout::new(41, 11, 11)
            .unwrap()
            .with_tick(first.tick())
            .unwrap()
            .with_epoch(first.epoch())
            .unwrap(),
        first.with_tick(Duration::from_millis(10)).unwrap(),
        first.with_epoch(first.epoch() + Duration::from_millis(1)).unwrap(),
    ];
    for other in others {
        assert_eq!(
            text(registry.assign_id(&other)),
            format!(
                "the registry was first used with the layout 41 | 10 | 12 in milliseconds from \
                 2010-11-04T01:42:54.657Z and cannot serve {other}: worker ids of one layout say \
                 nothing about another; use that layout, or a registry of its own for this one"
            )
        );
    }
    assert_eq!(registry.layout().unwrap(), Some(first));
    assert_eq!(registry.assign_id(&first).unwrap(), 3);
}

#[test]
fn layouts_of_every_shape_are_remembered_exactly() {
    let early = SystemTime::UNIX_EPOCH - Duration::from_millis(86_400_123);
    for layout in [
        Layout::DEFAULT,
        Layout::new(61, 1, 1).unwrap(),
        Layout::new(20, 42, 1).unwrap(),
        Layout::new(20, 1, 42).unwrap(),
        Layout::new(30, 3, 3)
            .unwrap()
            .with_epoch(early)
            .unwrap()
            .with_tick(Duration::from_millis(999))
            .unwrap(),
        Layout::new(30, 20, 13).unwrap().with_epoch(SystemTime::UNIX_EPOCH).unwrap(),
    ] {
        let (_dir, path) = place();
        assert_eq!(SqliteRegistry::open(&path).unwrap().assign_id(&layout).unwrap(), 1);
        assert_eq!(SqliteRegistry::open_existing(&path).unwrap().layout().unwrap(), Some(layout));
        match SqliteRegistry::open(&path).unwrap().assign_id(&layout) {
            Ok(id) => assert_eq!(id, 2),
            Err(error) => assert!(
                matches!(error, RegistryError::Exhausted { used: 1, capacity: 1, .. }),
                "{error}"
            ),
        }
    }
}

#[test]
fn numbers_that_are_no_layout_are_refused() {
    let (_dir, path) = place();
    start(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    // The table's checks refuse this; someone has turned them off.
    db.execute_batch(
        "PRAGMA ignore_check_constraints = ON; UPDATE uidring_layout SET time_bits = 3",
    )
    .unwrap();
    assert_eq!(
        problem(&start(&path).unwrap_err(), &path),
        "its table uidring_layout holds numbers that are no layout; put back what was there"
    );
}

// ------------------------------------------------------------------------------------------------
// The file

/// All that SQLite keeps about the tables.
fn schema_of(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let number =
        |pragma: &str| db.query_row(pragma, [], |row| row.get::<_, i64>(0)).unwrap().to_string();
    let mut all = vec![number("PRAGMA application_id"), number("PRAGMA user_version")];
    let mut query = db
        .prepare("SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema")
        .unwrap();
    all.extend(query.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap));
    all
}

#[test]
fn the_schema_by_hand_is_the_schema_by_itself() {
    let (_dir, path) = place();
    let by_hand = path.with_file_name("by_hand.db");
    Connection::open(&by_hand).unwrap().execute_batch(SCHEMA).unwrap();
    SqliteRegistry::open(&path).unwrap();
    let schema = schema_of(&path);
    assert_eq!(schema, schema_of(&by_hand));
    assert!(
        schema.iter().any(|line| line.contains("table worker_node CREATE TABLE")),
        "{schema:?}"
    );

    // A file made by hand serves, also where `open` never sees it; applying the schema again
    // changes nothing.
    let mut registry = SqliteRegistry::open_existing(&by_hand).unwrap();
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 1);
    Connection::open(&by_hand).unwrap().execute_batch(SCHEMA).unwrap();
    assert_eq!(schema, schema_of(&by_hand));
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 2);
    assert_eq!(registry.workers().unwrap().len(), 2);
}

#[test]
fn the_tables_refuse_rows_that_make_no_sense() {
    let (_dir, path) = place();
    start(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    let rows = "INSERT INTO worker_node (id, host_name, port, type) VALUES";
    db.execute_batch(&format!("{rows} (9, 'a', '1', 1)")).unwrap();
    for values in [
        "(0, 'a', '1', 1)",
        "(-1, 'a', '1', 1)",
        "(4398046511104, 'a', '1', 1)",
        "(NULL, '', '1', 1)",
        "(NULL, 'a', '1', 3)",
    ] {
        let refused = db.execute_batch(&format!("{rows} {values}")).unwrap_err().to_string();
        assert!(refused.starts_with("CHECK constraint failed"), "{values}: {refused}");
    }
    for change in [
        "id = 2",
        "time_bits = 19",
        "worker_bits = 31",
        "worker_first = 2",
        "tick_ms = 0",
        "epoch_ms = 'then'",
    ] {
        let refused = db
            .execute_batch(&format!("UPDATE uidring_layout SET {change}"))
            .unwrap_err()
            .to_string();
        assert!(refused.starts_with("CHECK constraint failed"), "{change}: {refused}");
    }
    assert_eq!(start(&path).unwrap(), 10);
}

#[test]
fn one_file_is_left_and_none_is_open() {
    let (dir, path) = place();
    let registry = SqliteRegistry::open(&path).unwrap();
    let _uids = UidGenerator::builder().registry(registry).build().unwrap();
    let names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["uidring.db"]);
    if cfg!(unix)
        && let Ok(open) = fs::read_dir("/proc/self/fd")
    {
        let open: Vec<_> =
            open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok()).collect();
        assert!(!open.is_empty() && !open.contains(&path), "{open:?}");
    }
}

#[test]
fn threads_that_open_a_new_file_at_once_all_get_an_id() {
    const THREADS: usize = 16;
    for round in 0..10 {
        let (_dir, path) = place();
        // In every other round a file that someone has set to a write-ahead log.
        if round % 2 == 1 {
            let db = Connection::open(&path).unwrap();
            let mode: String =
                db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).unwrap();
            assert_eq!(mode, "wal");
        }
        let barrier = Barrier::new(THREADS);
        let ids: BTreeSet<u64> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        start(&path).unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(ids, (1..=THREADS as u64).collect());
    }
}

#[test]
fn a_lock_is_waited_for() {
    let (_dir, path) = place();
    let registry = SqliteRegistry::open(&path).unwrap();
    // Of a writer, and of a reader: the one delays the beginning of a start, the other its end.
    for (lock, id) in [("BEGIN EXCLUSIVE", 1), ("BEGIN; SELECT count(*) FROM worker_node", 2)] {
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch(lock).unwrap();
        // Without a wait it fails, so the lock is one.
        let error = text(registry.clone().with_timeout(Duration::ZERO).assign_id(&Layout::DEFAULT));
        assert_eq!(error, locked(&path, "0 s"), "{lock}");
        let (sender, asked) = mpsc::channel();
        thread::scope(|scope| {
            let mut registry = registry.clone();
            let starter = scope.spawn(move || {
                sender.send(()).unwrap();
                registry.assign_id(&Layout::DEFAULT).unwrap()
            });
            asked.recv().unwrap();
            thread::sleep(Duration::from_millis(30));
            holder.execute_batch("COMMIT").unwrap();
            assert_eq!(starter.join().unwrap(), id, "{lock}");
        });
    }
}

fn locked(path: &Path, waited: &str) -> String {
    let path = path.display();
    format!(
        "others had the registry {path} locked for {waited}; see who holds the lock, or wait longer"
    )
}

#[test]
fn a_lock_that_lasts_is_an_error_after_the_timeout() {
    let (_dir, path) = place();
    let mut registry = SqliteRegistry::open(&path).unwrap().with_timeout(Duration::from_millis(50));
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(text(registry.assign_id(&Layout::DEFAULT)), locked(&path, "50 ms"));
    assert_eq!(text(registry.workers()), locked(&path, "50 ms"));
    assert_eq!(text(registry.layout()), locked(&path, "50 ms"));
    holder.execute_batch("COMMIT").unwrap();
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 1);
    // A timeout beyond what SQLite can count is a long one, and no panic.
    assert_eq!(registry.with_timeout(Duration::MAX).assign_id(&Layout::DEFAULT).unwrap(), 2);
}

/// What a second copy of the library does in the same process, whose SQLite would get the locks of
/// the first one: it locks a file beside the database, by whichever link it came.
#[test]
#[cfg(unix)]
fn another_copy_of_the_library_is_waited_for() {
    let (dir, path) = place();
    let registry = SqliteRegistry::open(&path).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let beside = dir.path().join("uidring.db-lock");
    for (id, path) in [(1, &path), (2, &link)] {
        let mut brief = SqliteRegistry::open(path).unwrap().with_timeout(Duration::from_millis(50));
        let other = fs::File::create(&beside).unwrap();
        other.lock().unwrap();
        assert_eq!(text(brief.assign_id(&Layout::DEFAULT)), locked(path, "50 ms"));
        assert_eq!(text(brief.workers()), locked(path, "50 ms"));
        let (sender, asked) = mpsc::channel();
        thread::scope(|scope| {
            let starter = scope.spawn(move || {
                sender.send(()).unwrap();
                brief.with_timeout(Duration::from_secs(60)).assign_id(&Layout::DEFAULT).unwrap()
            });
            asked.recv().unwrap();
            thread::sleep(Duration::from_millis(30));
            assert!(!starter.is_finished());
            other.unlock().unwrap();
            assert_eq!(starter.join().unwrap(), id);
        });
        assert!(!beside.exists());
    }
    // One that was killed leaves it, and nobody waits for it.
    fs::write(&beside, "").unwrap();
    assert_eq!(registry.clone().assign_id(&Layout::DEFAULT).unwrap(), 3);
    assert!(!beside.exists());
}

// ------------------------------------------------------------------------------------------------
// Files that are no registry

/// SQLite keeps the journal beside the name by which a program came. A crash leaves it there, where
/// nobody sees it who comes by the other name, and the next start by the first one undoes what was
/// given meanwhile.
#[test]
#[cfg(any(unix, windows))]
fn a_file_with_two_names_is_refused() {
    let (dir, path) = place();
    let mut registry = SqliteRegistry::open(&path).unwrap();
    let mut assign = || registry.assign_id(&Layout::DEFAULT);
    assert_eq!(assign().unwrap(), 1);
    let other = dir.path().join("other.db");
    fs::hard_link(&path, &other).unwrap();
    for name in [&path, &other] {
        let error = start(name).unwrap_err();
        assert!(problem(&error, name).starts_with("it has a second name"), "{error}");
    }
    // So is a process that has been running.
    assert!(assign().is_err());
    fs::remove_file(&other).unwrap();
    assert_eq!(assign().unwrap(), 2);
}

/// It is no other name on a Unix: SQLite follows it first.
#[test]
#[cfg(unix)]
fn a_symbolic_link_leads_to_the_file() {
    let (dir, path) = place();
    assert_eq!(start(&path).unwrap(), 1);
    let link = dir.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(start(&link).unwrap(), 2);
}

/// On Windows SQLite takes the link for the file, and keeps its journal beside it.
#[test]
#[cfg(windows)]
#[ignore = "needs the right to make symbolic links, which Wine does not have"]
fn a_symbolic_link_is_refused() {
    let (dir, path) = place();
    assert_eq!(start(&path).unwrap(), 1);
    let link = dir.path().join("link.db");
    std::os::windows::fs::symlink_file(&path, &link).unwrap();
    let error = start(&link).unwrap_err();
    assert!(problem(&error, &link).starts_with("it is a symbolic link"), "{error}");
    assert_eq!(start(&path).unwrap(), 2);
}

#[test]
fn paths_that_lead_to_no_file_are_explained() {
    let (dir, path) = place();
    let open = |path: &Path| problem(&SqliteRegistry::open(path).unwrap_err(), path);

    let missing = dir.path().join("not").join("there");
    let lost = missing.join("uidring.db");
    assert_eq!(
        open(&lost),
        format!("the directory {} does not exist; make it first", missing.display())
    );
    assert_eq!(open(dir.path()), "it is a directory; give the path of a file");
    assert_eq!(open(Path::new("")), "the path is empty; give the path of a file");
    assert_eq!(
        open(Path::new(":memory:")),
        "a store in memory forgets what it gave; give the path of a file"
    );
    if cfg!(unix) {
        // SQLite itself would be content with it, and give the same id to every start.
        assert_eq!(open(Path::new("/dev/null")), "it is not a regular file; give the path of one");
        let below_file = dir.path().join("file").join("uidring.db");
        fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(
            open(&below_file),
            "Not a directory (os error 20); see that the path is right and that this user may \
             follow it"
        );
    }
    let error = SqliteRegistry::open_existing(&path).unwrap_err();
    let gone = "there is no such file; see that the path is right and that nobody has removed it";
    assert_eq!(problem(&error, &path), gone);
    assert!(!path.exists());

    // A name that SQLite would read as a URI is the name of a file. Windows has no such names.
    if cfg!(unix) {
        let odd = dir.path().join("file:odd?mode=memory");
        assert_eq!([start(&odd).unwrap(), start(&odd).unwrap()], [1, 2]);
        assert!(odd.exists());
    }
}

#[test]
fn a_file_that_vanishes_is_not_made_anew() {
    let (_dir, path) = place();
    let mut registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 1);
    fs::remove_file(&path).unwrap();
    // In a new file this would be worker id 1 again.
    assert_eq!(
        problem(&registry.assign_id(&Layout::DEFAULT).unwrap_err(), &path),
        "there is no such file; see that the path is right and that nobody has removed it"
    );
    fs::write(&path, "").unwrap();
    assert_eq!(
        problem(&registry.assign_id(&Layout::DEFAULT).unwrap_err(), &path),
        "it is empty; if it has just been put there, start a generator with it, otherwise find \
         out who emptied it"
    );
}

/// A file that has been put in the place of the one that gave the ids, and an old copy of it.
#[test]
fn another_file_in_its_place_is_noticed() {
    let (dir, path) = place();
    let away = dir.path().join("away.db");
    let mut registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 1);
    fs::copy(&path, &away).unwrap();
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 2);
    let other = |registry: &mut SqliteRegistry, problem_of: &str| {
        let error = registry.assign_id(&Layout::DEFAULT).unwrap_err();
        let said = problem(&error, &path);
        assert!(said.contains("its tables are not those that gave worker id 2"), "{said}");
        assert!(said.contains(problem_of), "{said}");
    };
    let current = dir.path().join("current.db");
    fs::rename(&path, &current).unwrap();
    fs::rename(&away, &path).unwrap();
    other(&mut registry, "or an old copy of them, and would give ids again");
    fs::remove_file(&path).unwrap();
    for id in 1..=3 {
        assert_eq!(start(&path).unwrap(), id);
        other(&mut registry, "put back what was there, and this process goes on");
    }
    fs::rename(&current, &path).unwrap();
    assert_eq!(registry.assign_id(&Layout::DEFAULT).unwrap(), 3);
}

#[test]
fn a_lost_layout_is_not_begun_anew() {
    let (_dir, path) = place();
    assert_eq!(start(&path).unwrap(), 1);
    Connection::open(&path).unwrap().execute_batch("DELETE FROM uidring_layout").unwrap();
    let other = Layout::new(40, 10, 13).unwrap();
    let error = SqliteRegistry::open(&path).unwrap().assign_id(&other).unwrap_err();
    assert!(
        problem(&error, &path).contains("its table uidring_layout has lost its row"),
        "{error}"
    );
}

/// A trigger that drops a row lets its statement succeed.
#[test]
fn an_id_whose_row_is_dropped_is_not_given() {
    let (_dir, path) = place();
    assert_eq!(start(&path).unwrap(), 1);
    let db = Connection::open(&path).unwrap();
    let begin = SqliteRegistry::open(&path).unwrap().leased(Duration::from_secs(60));
    let drop_each = |event: &str| {
        db.execute_batch(&format!(
            "CREATE TRIGGER drops BEFORE {event} ON worker_node BEGIN SELECT RAISE(IGNORE); END"
        ))
        .unwrap();
    };
    for event in ["INSERT", "UPDATE"] {
        drop_each(event);
        let dropped = "its tables did not take what was written: something there drops or moves \
                       it, such as a trigger; see what, and remove it";
        let error = begin.clone().assign_id(&Layout::DEFAULT).unwrap_err();
        assert_eq!(problem(&error, &path), dropped);
        if event == "INSERT" {
            assert_eq!(problem(&start(&path).unwrap_err(), &path), dropped);
        }
        db.execute_batch("DROP TRIGGER drops").unwrap();
    }
    // Nor one that is given again.
    let mut holder = begin.clone();
    let now = Layout::DEFAULT.tick_at(SystemTime::now()).unwrap();
    let request = Request::new(Layout::DEFAULT, now, Layout::DEFAULT.max_tick());
    let lease = holder.assign(&request).unwrap();
    holder.release(&lease, lease.first).unwrap();
    drop_each("UPDATE");
    let error = begin.clone().assign(&request).unwrap_err();
    assert!(error.to_string().contains("its tables did not take what was written"), "{error}");
    db.execute_batch("DROP TRIGGER drops").unwrap();
    assert_eq!(start(&path).unwrap(), lease.worker + 1);
}

/// With a log, what was given while another program had the file open would not be in the file.
#[test]
fn a_file_in_wal_mode_alone_knows_all_ids() {
    let (dir, path) = place();
    let copy = dir.path().join("copy.db");
    let mut registry =
        SqliteRegistry::open(&path).unwrap().with_timeout(Duration::from_millis(100));
    let set_mode = |db: &Connection, mode: &str| {
        db.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get::<_, String>(0))
            .unwrap()
    };
    let mut given = 0;
    for is_open in [false, true, false, true] {
        let db = Connection::open(&path).unwrap();
        assert_eq!(set_mode(&db, "WAL"), "wal");
        let open = if is_open {
            Some(db)
        } else {
            drop(db);
            None
        };
        match registry.assign_id(&Layout::DEFAULT) {
            Ok(id) => given = id,
            Err(error) => {
                let said = problem(&error, &path);
                assert!(open.is_some() && said.contains("a program that has it open"), "{said}");
            }
        }
        // All that the ids rest on, as after a crash that took the log.
        fs::copy(&path, &copy).unwrap();
        assert_eq!(start(&copy).unwrap(), given + 1, "the copy of the file alone");
        drop(open);
        assert_eq!(start(&path).unwrap(), given + 1);
        given += 1;
    }
    // All of them at once.
    let db = Connection::open(&path).unwrap();
    set_mode(&db, "WAL");
    drop(db);
    let ids: BTreeSet<u64> = thread::scope(|scope| {
        let starts: Vec<_> = (0..16).map(|_| scope.spawn(|| start(&path).unwrap())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(ids, (given + 1..=given + 16).collect());
}

#[test]
fn a_relative_path_stays_the_same_file() {
    let (dir, path) = place();
    let mut child = child(&this_program(), Path::new("uidring.db"));
    child.current_dir(dir.path()).env("UIDRING_TEST_THEN_GO_TO", "/");
    assert_eq!(answer(&mut child), "worker 1");
    assert_eq!(start(&path).unwrap(), 2);
}

#[test]
fn tables_of_others_are_refused_and_left_alone() {
    let foreign_tables =
        "its tables are not those of schema.sql; give the registry a file of its own";
    let marks = "PRAGMA application_id = 1969841266; PRAGMA user_version = 4";
    let newer = "its schema has the version 5, and this uidring knows version 4; use the uidring \
                 that made it";
    let lost_row = "its table uidring_schema has lost its row; put back what was there";
    let theirs = "CREATE TABLE worker_node (id INTEGER PRIMARY KEY AUTOINCREMENT, host_name, \
                  port, type, launch_date, modified, created);";
    let cases = [
        (format!("{SCHEMA}; UPDATE uidring_schema SET version = 5"), newer),
        (format!("{SCHEMA}; DELETE FROM uidring_schema"), lost_row),
        // What is left of a file of an earlier uidring that has lost its tables.
        (marks.to_owned(), foreign_tables),
        // Nothing would keep ids from being given again.
        (theirs.replace("AUTOINCREMENT", ""), foreign_tables),
        (format!("{} {SCHEMA}", theirs.replace("AUTOINCREMENT", "")), foreign_tables),
        // The table of another program.
        (theirs.to_owned(), foreign_tables),
        (format!("{theirs} {SCHEMA}"), foreign_tables),
        (format!("{SCHEMA}; DROP TABLE worker_node"), foreign_tables),
    ];
    for (made, sentence) in cases {
        let (_dir, path) = place();
        Connection::open(&path).unwrap().execute_batch(&made).unwrap();
        let before = fs::read(&path).unwrap();
        assert_eq!(problem(&SqliteRegistry::open(&path).unwrap_err(), &path), sentence, "{made}");
        let error = SqliteRegistry::open_existing(&path).unwrap_err();
        // It may have none of ours, as well.
        let is_told = problem(&error, &path) == sentence || made.starts_with("CREATE");
        assert!(is_told, "{made}: {error}");
        assert!(fs::read(&path).unwrap() == before, "{made}");
    }
}

/// What another program has in the file is its own, also the numbers that SQLite sets aside.
#[test]
fn a_registry_lies_beside_what_others_have_in_the_file() {
    for made in [
        "CREATE TABLE orders (id INTEGER)",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 4; CREATE VIEW worker AS SELECT 1",
    ] {
        let (_dir, path) = place();
        Connection::open(&path).unwrap().execute_batch(made).unwrap();
        let before = fs::read(&path).unwrap();
        let error = problem(&SqliteRegistry::open_existing(&path).unwrap_err(), &path);
        let said = if made.contains("CREATE") {
            "it has tables of another program, and none of uidring's; see that the path is right \
             and that nobody has removed them; if they have never been there, start a generator \
             with it, which makes them"
        } else {
            "it is empty; if it has just been put there, start a generator with it, otherwise \
             find out who emptied it"
        };
        assert_eq!(error, said, "{made}");
        assert!(fs::read(&path).unwrap() == before, "{made}");
        let theirs = schema_of(&path);
        assert_eq!(start(&path).unwrap(), 1, "{made}");
        assert_eq!(start(&path).unwrap(), 2, "{made}");
        assert!(schema_of(&path).starts_with(&theirs), "{made}");
    }
}

#[test]
fn a_table_of_the_same_name_with_other_columns_is_refused() {
    let (_dir, path) = place();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE worker_node (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT)")
        .unwrap();
    db.execute_batch(SCHEMA).unwrap();
    let sentence = "its tables are not those of schema.sql; give the registry a file of its own";
    assert_eq!(problem(&SqliteRegistry::open(&path).unwrap_err(), &path), sentence);
    assert_eq!(problem(&SqliteRegistry::open_existing(&path).unwrap_err(), &path), sentence);
    // As ours, but for a column.
    let (_dir, path) = place();
    let other = SCHEMA.replace("host_name", "host");
    Connection::open(&path).unwrap().execute_batch(&other).unwrap();
    let mut registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(problem(&registry.assign_id(&Layout::DEFAULT).unwrap_err(), &path), sentence);
    assert_eq!(problem(&registry.workers().unwrap_err(), &path), sentence);
}

/// Such a table would give the ids of deleted rows again. Its comments still have the word.
#[test]
fn a_table_that_was_made_anew_without_autoincrement_is_refused() {
    let (_dir, path) = place();
    start(&path).unwrap();
    let db = Connection::open(&path).unwrap();
    let sql = "SELECT sql FROM sqlite_master WHERE name = 'worker_node'";
    let sql: String = db.query_row(sql, [], |row| row.get(0)).unwrap();
    let plain = sql.replace("KEY AUTOINCREMENT", "KEY");
    assert!(plain.contains("AUTOINCREMENT") && plain != sql, "{plain}");
    db.execute_batch("ALTER TABLE worker_node RENAME TO old").unwrap();
    db.execute_batch(&plain).unwrap();
    db.execute_batch("INSERT INTO worker_node SELECT * FROM old; DROP TABLE old").unwrap();
    let sentence = "its tables are not those of schema.sql; give the registry a file of its own";
    assert_eq!(problem(&start(&path).unwrap_err(), &path), sentence);
}

#[test]
fn files_that_are_no_database_are_refused_and_left_alone() {
    let (_dir, path) = place();
    let text = "this is a letter to my mother\n".repeat(300);
    fs::write(&path, &text).unwrap();
    for error in [
        SqliteRegistry::open(&path).unwrap_err(),
        SqliteRegistry::open_existing(&path).unwrap_err(),
    ] {
        assert_eq!(
            problem(&error, &path),
            "it is not a SQLite database; give the registry a file of its own"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_damaged_file_is_called_so() {
    let (_dir, path) = place();
    start(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let page = 4096;
    assert!(whole.len() >= 3 * page, "the tables have a page each");
    // The first page holds the schema after 100 bytes of header, the others the tables.
    for (from, to) in [(100, page), (page, whole.len())] {
        let mut damaged = whole.clone();
        damaged[from..to].fill(0xA5);
        fs::write(&path, damaged).unwrap();
        assert_eq!(
            problem(&start(&path).unwrap_err(), &path),
            "it is damaged; let the sqlite3 shell's .recover write what it holds to a new file, \
             and see that sqlite_sequence there is not below any worker id given"
        );
    }
    fs::write(&path, whole).unwrap();
    assert_eq!(start(&path).unwrap(), 2);
}

// ------------------------------------------------------------------------------------------------
// Rights and disks, in a process of its own

/// Not a test: what `child` runs.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn in_a_child() {
    let Some(path) = env::var_os("UIDRING_TEST_REGISTRY") else { return };
    let assign = || {
        let mut registry = SqliteRegistry::open(&path)?;
        if let Some(dir) = env::var_os("UIDRING_TEST_THEN_GO_TO") {
            env::set_current_dir(dir).unwrap();
        }
        registry.assign_id(&Layout::DEFAULT)
    };
    match assign() {
        Ok(worker) => println!("\nanswer: worker {worker}"),
        Err(error) => println!("\nanswer: {error}"),
    }
    let workers = SqliteRegistry::open_existing(&path).and_then(|registry| registry.workers());
    println!(
        "\nworkers: {}",
        workers.map_or_else(|error| error.to_string(), |workers| workers.len().to_string())
    );
}

/// A process that opens the registry, asks for an id and says what it got. `program` is this test,
/// or a copy of it.
fn child(program: &Path, registry: &Path) -> Command {
    let mut command = Command::new(program);
    // This file is also a program of its own, without a module.
    let module = module_path!().split_once("::").map_or("", |(_, module)| module);
    let name = format!("{module}::in_a_child");
    command.args([name.trim_start_matches(':'), "--exact", "--ignored", "--nocapture"]);
    command.env("UIDRING_TEST_REGISTRY", registry);
    command
}

fn this_program() -> PathBuf {
    env::current_exe().unwrap()
}

fn answer(child: &mut Command) -> String {
    answers(child).0
}

/// What the child got, and how many workers it sees.
fn answers(child: &mut Command) -> (String, String) {
    let output = child.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = |start| said.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
    match (line("answer: "), line("workers: ")) {
        (Some(answer), Some(workers)) => (answer, workers),
        _ => panic!("no answer in {said:?}; {}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    use super::*;
    use crate::copy_program::copy_program;

    const NOBODY: u32 = 65534;

    fn allow(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A directory with a registry in it that has given one id, and a child who is not root and
    /// owns all of it.
    fn place_of_another() -> (TempDir, PathBuf, impl Fn() -> (String, String)) {
        let dir = folder();
        allow(dir.path(), 0o755);
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        let path = home.join("uidring.db");
        assert_eq!(start(&path).unwrap(), 1);
        let root = fs::metadata(&path).unwrap().uid() == 0;
        // The test itself may lie where only root can go.
        let program = dir.path().join("program");
        copy_program(this_program(), &program);
        if root {
            // To root no file is read-only.
            for owned in [&home, &path] {
                std::os::unix::fs::chown(owned, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        let registry = path.clone();
        let ask = move || {
            let mut child = child(&program, &registry);
            child.current_dir("/");
            if root {
                child.uid(NOBODY).gid(NOBODY);
            }
            answers(&mut child)
        };
        (dir, path, ask)
    }

    fn refused(path: &Path, problem: &str) -> String {
        format!("cannot use the registry {}: {problem}", path.display())
    }

    #[test]
    fn missing_rights_are_explained_and_use_nothing_up() {
        let (_dir, path, ask) = place_of_another();
        let home = path.parent().unwrap();
        let some = |workers: &str| workers.to_owned();
        assert_eq!(ask(), ("worker 2".to_owned(), some("2")));

        let read_only = "it cannot be written; give this user the right to write to the file and \
            to its directory";
        allow(&path, 0o444);
        assert_eq!(ask(), (refused(&path, read_only), some("2")));

        let unopened = "it cannot be opened; give this user the right to read and write the file \
            and to write to its directory";
        allow(&path, 0o000);
        assert_eq!(ask(), (refused(&path, unopened), refused(&path, unopened)));

        allow(&path, 0o644);
        allow(home, 0o555);
        assert_eq!(ask(), (refused(&path, read_only), some("2")));

        // A directory that may not be entered.
        allow(home, 0o000);
        let closed = "Permission denied (os error 13); see that the path is right and that this \
            user may follow it";
        assert_eq!(ask(), (refused(&path, closed), refused(&path, closed)));

        allow(home, 0o755);
        assert_eq!(ask(), ("worker 3".to_owned(), some("3")));
    }

    #[test]
    fn a_new_file_in_a_directory_that_cannot_be_written_is_explained() {
        let (_dir, path, ask) = place_of_another();
        fs::remove_file(&path).unwrap();
        allow(path.parent().unwrap(), 0o555);
        let (answer, _) = ask();
        assert!(
            answer.starts_with(&refused(&path, "it cannot be opened; give this user the right ")),
            "{answer}"
        );
        allow(path.parent().unwrap(), 0o755);
        assert_eq!(ask(), ("worker 1".to_owned(), "1".to_owned()));
    }

    /// A disk that takes no more, as a limit on the size of files: 0 bytes, and a little more than
    /// the file has.
    #[test]
    fn a_disk_that_takes_no_more_is_an_error_and_uses_nothing_up() {
        let (_dir, path) = place();
        assert_eq!(start(&path).unwrap(), 1);
        let limited = |limit: &str| {
            let child = child(&this_program(), &path);
            let mut shell = Command::new("sh");
            // Ignored, so that the write fails where otherwise the signal would end the process.
            shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\""));
            shell.arg(child.get_program()).args(child.get_args());
            for (name, value) in child.get_envs() {
                shell.env(name, value.unwrap());
            }
            answers(&mut shell)
        };
        let failure = format!("cannot store a worker id in the registry {}", path.display());
        for limit in ["0", "1"] {
            let (answer, workers) = limited(limit);
            assert_eq!(answer, failure);
            assert_eq!(workers, "1");
        }
        assert_eq!(limited("unlimited"), ("worker 2".to_owned(), "2".to_owned()));
    }
}

#[test]
fn a_start_is_refused_where_the_clock_is_far_ahead_of_the_last() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let day = Duration::from_secs(24 * 3600);
    let build = |now: SystemTime| {
        let registry = SqliteRegistry::open(&file).unwrap();
        UidGenerator::builder()
            .registry(registry)
            .clock(ManualClock::new(now))
            .max_forward_jump(30 * day)
            .build()
    };
    let now = SystemTime::now();
    build(now + 3650 * day).unwrap(); // the first start knows of none before it
    build(now + 29 * day).unwrap();
    let error = build(now + 31 * day).unwrap_err().to_string();
    assert!(
        error.starts_with("the clock shows ") && error.contains("max_forward_jump, 30 days,"),
        "{error}"
    );
    assert_eq!(
        SqliteRegistry::open(&file).unwrap().workers().unwrap().len(),
        2,
        "a refusal uses nothing up"
    );
}

// ------------------------------------------------------------------------------------------------
// Partitions and leases

#[test]
fn partitions_share_a_layout_and_no_id() {
    let layout = Layout::new(40, 4, 19).unwrap();
    let mut all = BTreeSet::new();
    for index in 0..3 {
        let (_dir, path) = place();
        let open = || SqliteRegistry::open(&path).unwrap().partition(index, 3).unwrap();
        let capacity = loop {
            match open().assign_id(&layout) {
                Ok(id) => assert!(all.insert(id), "{id} is of one partition: {all:?}"),
                Err(RegistryError::Exhausted { capacity, .. }) => break capacity,
                Err(error) => panic!("{error}"),
            }
        };
        // 16 ids make three parts of 5, and 0 is none.
        assert_eq!(capacity, if index == 0 { 4 } else { 5 });
    }
    assert_eq!(all, (1..=14).collect());
}

#[test]
fn a_file_keeps_its_partition() {
    let (_dir, path) = place();
    let open = |index, of| SqliteRegistry::open(&path).unwrap().partition(index, of).unwrap();
    let id = open(1, 4).assign_id(&Layout::DEFAULT).unwrap();
    assert_eq!(id, 1 << 18);
    assert_eq!(open(1, 4).assign_id(&Layout::DEFAULT).unwrap(), id + 1);
    let of_all = SqliteRegistry::open(&path).unwrap();
    let of_few = SqliteRegistry::open(&path).unwrap().worker_ids(0..=9).unwrap();
    for (mut other, ids) in [
        (open(2, 4), "524288 to 786431"),
        (open(1, 5), "209715 to 419429"),
        (open(5, 1 << 42), "none"),
        (of_all, "1 to 1048575"),
        (of_few, "1 to 9"),
    ] {
        let error = other.assign_id(&Layout::DEFAULT).unwrap_err();
        let expected = format!(
            "it was first used with the worker ids 262144 to 524287, and {ids} were asked for, \
             which others could give; ask for those of the first time again"
        );
        assert_eq!(problem(&error, &path), expected);
    }
    // The same ids by another name.
    let same = SqliteRegistry::open(&path).unwrap().worker_ids(1 << 18..=(1 << 19) - 1);
    assert_eq!(same.unwrap().assign_id(&Layout::DEFAULT).unwrap(), id + 2);
}

#[test]
fn worker_ids_outside_of_a_range_are_left_alone() {
    let (_dir, path) = place();
    let layout = Layout::new(40, 4, 19).unwrap();
    let open = |ids| SqliteRegistry::open(&path).unwrap().worker_ids(ids).unwrap();
    let error = open(5..=16).assign_id(&layout).unwrap_err();
    assert_eq!(
        problem(&error, &path),
        "it was asked for the worker ids 5 to 16, but the layout 40 | 4 | 19 in seconds from \
         2026-01-01T00:00:00Z ends at 15; ask for fewer, or choose a wider worker field"
    );
    let given: Vec<u64> = (0..3).map(|_| open(5..=7).assign_id(&layout).unwrap()).collect();
    assert_eq!(given, [5, 6, 7]);
    let error = open(5..=7).assign_id(&layout).unwrap_err();
    assert!(matches!(error, RegistryError::Exhausted { used: 3, capacity: 3, .. }), "{error}");
    assert_eq!(SqliteRegistry::open(&path).unwrap().ids().unwrap(), Some(5..=7));
    #[allow(clippy::reversed_empty_ranges)]
    for ids in [0..=0, 7..=5, 1..=1 << 42, 0..=u64::MAX] {
        let (first, last) = (*ids.start(), *ids.end());
        assert_eq!(
            text(SqliteRegistry::open(&path).unwrap().worker_ids(ids)),
            format!(
                "a registry cannot give the worker ids {first} to {last}: the range needs an id \
                 from 1 on, and 2^42 - 1 is the last of any layout"
            )
        );
    }
}

#[test]
fn there_is_no_partition_beyond_the_last() {
    let (_dir, path) = place();
    for (index, of) in [(3, 3), (0, 0), (u64::MAX, 1), (0, u64::MAX)] {
        let text = text(SqliteRegistry::open(&path).unwrap().partition(index, of));
        assert_eq!(
            text,
            format!(
                "there is no partition {index} of {of}: they are numbered from 0, and 2^42 are \
                 the most"
            )
        );
    }
    // More parts than ids: some have none.
    let mut many = SqliteRegistry::open(&path).unwrap().partition(5, 1 << 42).unwrap();
    let error = many.assign_id(&Layout::DEFAULT).unwrap_err();
    assert!(matches!(error, RegistryError::Exhausted { used: 0, capacity: 0, .. }), "{error}");
}

#[test]
fn a_lease_that_is_taken_back_is_given_again_behind_what_was_reserved() {
    let (_dir, path) = place();
    let open = || SqliteRegistry::open(&path).unwrap().leased(Duration::from_secs(600));
    let request = Request::new(Layout::DEFAULT, 1, Layout::DEFAULT.max_tick());
    let first = open().assign(&request).unwrap();
    open().revoke(first.worker).unwrap();
    let second = open().assign(&request).unwrap();
    assert_eq!((second.worker, second.first), (first.worker, first.last + 1));
    assert!(matches!(
        open().reserve(&first, first.last + 5),
        Err(RegistryError::LeaseLost { worker: 1 })
    ));
    assert!(matches!(open().revoke(7), Err(RegistryError::NotLeased { worker: 7 })));
    assert_eq!(open().largest_given().unwrap(), 1);
}
