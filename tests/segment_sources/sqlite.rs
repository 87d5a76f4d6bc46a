//! SQLite files.

use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;
use uidring::segment::SqliteSegments;

use super::*;
use crate::folder::folder;
use crate::others::{LEAF_IN_FILE as LEAF, TINYID_IN_FILE as TINYID};

pub struct File {
    _dir: TempDir,
    pub path: PathBuf,
}

impl File {
    /// A file that is not there yet.
    pub fn new() -> File {
        let dir = folder();
        let path = dir.path().join("uidring.db");
        File { _dir: dir, path }
    }

    /// A file of uidring's in which somebody has made the tables of others.
    fn with_others() -> File {
        let file = File::new();
        SqliteSegments::open(&file.path).unwrap();
        file.run(LEAF);
        file.run(TINYID);
        file
    }

    pub fn own(&self) -> SqliteSegments {
        SqliteSegments::open(&self.path).unwrap()
    }

    fn connect(&self) -> Connection {
        let db = Connection::open(&self.path).unwrap();
        db.busy_timeout(Duration::from_secs(60)).unwrap();
        db
    }

    pub fn name(&self) -> String {
        self.path.display().to_string()
    }
}

impl Place for File {
    fn open(&self, table: Table) -> Box<dyn SegmentAdmin> {
        // The tables of others are not made, and so neither is a file for them.
        self.own();
        on_table(&self.path, table, Duration::from_secs(60))
    }

    fn run(&self, sql: &str) {
        self.connect().execute_batch(sql).unwrap();
    }

    fn others(&self, table: Table, takes: usize) -> Vec<(u64, u64)> {
        let mut db = self.connect();
        let mut ranges = Vec::new();
        while ranges.len() < takes {
            ranges.extend(others::take_from_file(&mut db, other(table)).unwrap());
        }
        ranges
    }
}

#[cfg(feature = "contract")]
mod contract {
    use super::*;
    use uidring::segment::{TinyIdSegments, contract};

    #[test]
    fn own() {
        contract::check(|_| {
            let file = File::new();
            move || file.own()
        });
    }

    #[test]
    fn leaf() {
        contract::check(|_| {
            let file = File::new();
            file.run(LEAF);
            move || file.own().leaf()
        });
    }

    #[test]
    fn tinyid() {
        let store = || {
            let file = File::new();
            file.run(TINYID);
            move || file.own().tinyid()
        };
        contract::check(|_| store());
        contract::check(|_| {
            let (a, b) = (store(), store());
            move || TinyIdSegments::new([a(), b()])
        });
    }
}

#[test]
fn leaf_may_go_on_beside() {
    nothing_is_given_twice_or_left_out_beside_others(&File::with_others(), Table::Leaf);
}

#[test]
fn tinyid_may_go_on_beside() {
    nothing_is_given_twice_or_left_out_beside_others(&File::with_others(), Table::TinyId);
}

#[test]
fn rows_that_give_no_numbers_are_refused() {
    let file = File::with_others();
    bad_rows_are_refused(&file, &file.name());
}

#[test]
fn a_tag_is_created_again_only_as_it_is() {
    let file = File::with_others();
    a_tag_that_is_there_is_created_again_only_as_it_is(&file, &file.name());
}

/// A program keeps a source of whichever table in a field, and names its type.
#[test]
fn the_types_of_all_sources_have_names() {
    use uidring::segment::{Leaf, SqlSegments, TinyId, TinyIdDatabase, TinyIdSegments};

    struct Sources {
        own: SqliteSegments,
        leaf: SqliteSegments<Leaf>,
        tinyid: SqliteSegments<TinyId>,
    }

    fn several<D: TinyIdDatabase>(databases: Vec<D>) -> TinyIdSegments {
        TinyIdSegments::new(databases)
    }

    fn name<D, T>(source: &SqlSegments<D, T>) -> String
    where
        SqlSegments<D, T>: SegmentSource,
    {
        source.name()
    }

    let file = File::with_others();
    let sources = Sources { own: file.own(), leaf: file.own().leaf(), tinyid: file.own().tinyid() };
    assert_eq!(name(&sources.own), name(&sources.leaf));
    assert_eq!(several(vec![sources.tinyid]).name(), file.name());
}

#[test]
fn a_row_ends() {
    let file = File::with_others();
    a_row_at_its_end_gives_the_rest(&file, &file.name());
}

#[test]
fn samples_of_others() {
    first_numbers_are_those_of_leaf_and_tinyid(&File::with_others());
}

#[test]
fn tokens() {
    let file = File::with_others();
    tokens_are_read(&file, &|| file.own().tinyid().tokens());
}

#[test]
fn beside_others() {
    let file = File::with_others();
    numbers_that_another_table_has_given_are_not_given_again(&file, &file.name());
}

#[test]
fn beside_other_databases() {
    no_tag_with_all_numbers_is_made_beside_those_that_are_shared(&File::with_others());
}

#[test]
fn a_row_made_anew() {
    let file = File::new();
    file.own();
    a_row_made_anew_gives_nothing_to_those_who_took_before(&file);
}

#[test]
fn a_removed_row_of_leaf() {
    a_removed_row_of_leaf_gives_its_numbers_to_none(&File::with_others());
}

#[test]
fn a_row_with_another_delta() {
    a_row_with_another_delta_takes_nothing_back(&File::with_others());
}

/// At rest a file is all there is: its numbers are not in a log beside it.
#[test]
fn a_file_in_wal_mode_is_put_back_before_numbers_are_given() {
    let file = File::new();
    let source = file.own();
    source.create("orders", &Tag::new().step(10)).unwrap();
    for turn in 0..3 {
        file.run("PRAGMA journal_mode = WAL");
        // Whoever opens it does it, and so does each call.
        if turn == 1 {
            file.own();
            assert!(!is_wal(&file.path));
            file.run("PRAGMA journal_mode = WAL");
        }
        assert_eq!(source.tags().unwrap().len(), 1, "reading gives nothing, and is let be");
        assert!(is_wal(&file.path));
        assert_eq!(source.load("orders", None).unwrap().first, 1 + turn * 10);
        assert!(!is_wal(&file.path));
    }
    // While somebody else has it open, it cannot be.
    let db = file.connect();
    db.execute_batch("PRAGMA journal_mode = WAL; SELECT * FROM uidring_segment").unwrap();
    let log = file.path.with_extension("db-wal");
    let store = Store::open_existing(&file.path).unwrap();
    let source_in_time = store.with_timeout(Duration::from_millis(100)).segments().unwrap();
    let error = text(source_in_time.load("orders", None));
    let what = "it is in WAL mode, so that what is given could be lost with its file -wal, and a \
                program that has it open keeps it so, as Litestream does; end that program";
    assert!(error.contains(what), "{error}");
    assert!(text(SqliteSegments::open(&file.path)).contains("it is in WAL mode"));
    drop(db);
    assert_eq!(source.load("orders", None).unwrap().first, 31);
    assert!(!log.exists());
    // Where others have tables, it is theirs to change.
    let file = File::with_others();
    for (table, tag) in [(Table::Own, "orders"), (Table::Leaf, "cases"), (Table::TinyId, "parts")] {
        let source = file.open(table);
        source.create(tag, &Tag::new().step(10)).unwrap();
        file.run("PRAGMA journal_mode = WAL");
        let error = text(source.load(tag, None));
        assert!(error.contains("it has tables of another program, whose choice"), "{error}");
        assert!(is_wal(&file.path));
        file.run("PRAGMA journal_mode = DELETE");
        assert_eq!(source.load(tag, None).unwrap().first, 1);
    }
    let other = File::new();
    other.run(LEAF);
    other.run("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)");
    other.run("PRAGMA journal_mode = WAL");
    let leaf = SqliteSegments::open(&other.path).unwrap().leaf();
    let error = text(leaf.load("orders", None));
    assert!(
        error.contains("and it has tables of another program, whose choice that is"),
        "{error}"
    );
    assert!(is_wal(&other.path));
    other.run("PRAGMA journal_mode = DELETE");
    assert_eq!(leaf.load("orders", None).unwrap().first, 1);
}

/// What the header of a file says of how it is written to.
fn is_wal(path: &Path) -> bool {
    fs::read(path).unwrap()[18..20] == [2, 2]
}

#[test]
fn operators_change_tags() {
    let file = File::with_others();
    tags_are_changed_and_removed(&file, &file.name());
}

#[test]
fn names() {
    names_that_cannot_be_are_refused(&File::with_others());
}

#[test]
fn missing_and_other_tables() {
    let file = File::new();
    file.own();
    tables_that_are_missing_or_others_are_told(&file, &file.name());
}

#[test]
fn a_file_serves_a_registry_and_tags() {
    use uidring::UidGenerator;
    use uidring::registry::SqliteRegistry;

    let file = File::new();
    file.own().create("orders", &Tag::new()).unwrap();
    let registry = SqliteRegistry::open(&file.path).unwrap();
    let uids = UidGenerator::builder().registry(registry).build().unwrap();
    assert_eq!(uids.worker_id(), 1);
    assert_eq!(file.own().load("orders", None).unwrap().first, 1);
}

#[test]
fn a_file_of_leafs_is_not_written_to_by_opening_it() {
    let file = File::new();
    file.run(LEAF);
    file.run("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)");
    let before = fs::read(&file.path).unwrap();
    let source = file.own().leaf();
    assert_eq!(source.tags().unwrap().len(), 1);
    assert_eq!(SqliteSegments::open_existing(&file.path).unwrap().leaf().tags().unwrap().len(), 1);
    assert!(fs::read(&file.path).unwrap() == before);
    assert_eq!(source.load("orders", None).unwrap().first, 1);
    // Our own tags are not put beside.
    assert_eq!(
        text(file.own().create("orders", &Tag::new())),
        format!(
            "cannot use the tags in {}: it has tables of another program, and none of uidring's; \
             see that the path is right and that nobody has removed them; if they have never been \
             there, give the tags a file of their own",
            file.name()
        )
    );
    // In a file without either, they are.
    let other = File::new();
    other.run("PRAGMA user_version = 7; CREATE TABLE orders (id INTEGER)");
    let error = text(SqliteSegments::open_existing(&other.path));
    assert!(error.contains("tables of another program, and none of uidring's"), "{error}");
    other.own().create("orders", &Tag::new()).unwrap();
    assert_eq!(other.own().load("orders", None).unwrap().first, 1);
    let version = "SELECT user_version FROM pragma_user_version";
    let version: i64 = other.connect().query_row(version, [], |row| row.get(0)).unwrap();
    assert_eq!(version, 7);
}

#[test]
fn files_that_are_no_tags_are_told() {
    let file = File::new();
    let open = |path: &Path| text(SqliteSegments::open(path));
    let missing = path::absolute("/not/there").unwrap();
    assert_eq!(
        open(&missing.join("uidring.db")),
        format!(
            "cannot use the tags in {}: the directory {} does not exist; make it first",
            missing.join("uidring.db").display(),
            missing.display()
        )
    );
    assert_eq!(
        open(Path::new(":memory:")),
        "cannot use the tags in :memory:: a store in memory forgets what it gave; give the path of \
         a file"
    );
    assert_eq!(
        text(SqliteSegments::open_existing(&file.path)),
        format!(
            "cannot use the tags in {}: there is no such file; see that the path is right and that \
             nobody has removed it",
            file.name()
        )
    );
    assert!(!file.path.exists());
    // A file that vanishes is not made anew: its numbers would begin anew.
    let source = file.own();
    source.create("orders", &Tag::new()).unwrap();
    fs::remove_file(&file.path).unwrap();
    let error = text(source.load("orders", None));
    assert!(error.ends_with("nobody has removed it"), "{error}");
    fs::write(&file.path, "").unwrap();
    let error = text(source.load("orders", None));
    assert!(error.contains("it is empty; if it has just been put there, create a tag"), "{error}");
    fs::write(&file.path, "a letter to my mother\n".repeat(500)).unwrap();
    let error = text(source.load("orders", None));
    assert!(error.contains("it is not a SQLite database; give the tags a file"), "{error}");
}

#[test]
fn a_lock_is_waited_for_and_told() {
    let file = File::new();
    let source = file.own().with_timeout(Duration::from_millis(50));
    source.create("orders", &Tag::new()).unwrap();
    let holder = file.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = source.load("orders", None).unwrap_err();
    assert!(error.is_transient());
    assert_eq!(
        error.to_string(),
        format!(
            "others had the tags in {} locked for 50 ms; see who holds the lock, or wait longer",
            file.name()
        )
    );
    holder.execute_batch("COMMIT").unwrap();
    assert_eq!(source.load("orders", None).unwrap().first, 1);
}

#[test]
fn an_unknown_tag_names_those_that_are_alike() {
    const CREATE: &str = "create it first, and if it was there before, with a first number above \
                          all that were given";
    let file = File::new();
    let source = file.own();
    let unknown = |tag: &str| text(source.load(tag, None));
    assert_eq!(unknown("orders"), format!("{} has no tag \"orders\"; {CREATE}", file.name()));
    for tag in ["orders", "order_items", "invoices", "orders2", "Orders3", "orders4"] {
        source.create(tag, &Tag::new()).unwrap();
    }
    assert_eq!(
        unknown("ordesr"),
        format!(
            "{} has no tag \"ordesr\"; did you mean \"orders\" or \"Orders3\" or \"orders2\"? If \
             not, {CREATE}",
            file.name()
        )
    );
    let error = unknown("zebra");
    assert!(error.ends_with(&format!("no tag \"zebra\"; {CREATE}")), "{error}");
}

// ------------------------------------------------------------------------------------------------
// Rights and disks, in a process of its own

/// Not a test: what `in_a_process_of_its_own` runs.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn in_a_child() {
    let Some(path) = env::var_os("UIDRING_TEST_TAGS") else { return };
    let first = |source: SqliteSegments| source.load("orders", Some(1)).map(|got| got.first);
    match SqliteSegments::open(&path).and_then(first) {
        Ok(number) => println!("\nanswer: {number}"),
        Err(error) => println!("\nanswer: {}", with_causes(&error)),
    }
    match SqliteSegments::open_existing(&path).and_then(first) {
        Ok(number) => println!("\nexisting: {number}"),
        Err(error) => println!("\nexisting: {}", with_causes(&error)),
    }
}

/// What a process says that opens the file, and takes a number twice. `run` starts the program with
/// its arguments.
fn in_a_process_of_its_own(path: &Path, run: &mut Command) -> (String, String) {
    run.args(["sqlite::in_a_child", "--exact", "--ignored", "--nocapture"]);
    run.env("UIDRING_TEST_TAGS", path);
    let said = String::from_utf8(run.output().unwrap().stdout).unwrap();
    let line = |start| said.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
    (line("answer: ").expect(&said), line("existing: ").expect(&said))
}

#[cfg(unix)]
#[test]
fn a_disk_that_takes_no_more_uses_nothing_up() {
    let file = File::new();
    file.own().create("orders", &Tag::new()).unwrap();
    let limited = |limit: &str| {
        let mut shell = Command::new("sh");
        // Ignored, so that the write fails where otherwise the signal would end the process.
        shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\""));
        in_a_process_of_its_own(&file.path, shell.arg(env::current_exe().unwrap()))
    };
    for limit in ["0", "1"] {
        let (answer, _) = limited(limit);
        let start = format!("cannot take numbers from {}: ", file.name());
        assert!(answer.starts_with(&start), "{answer}");
    }
    assert_eq!(limited("unlimited"), ("1".to_owned(), "2".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_only_be_read_is_told() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;

    use crate::copy_program::copy_program;

    const NOBODY: u32 = 65534;
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let file = File::new();
    file.own().create("orders", &Tag::new()).unwrap();
    let home = file.path.parent().unwrap();
    allow(home, 0o755);
    let is_root = fs::metadata(home).unwrap().uid() == 0;
    // The test itself may lie where only root can go, and to root no file is read-only.
    let program = home.join("program");
    copy_program(env::current_exe().unwrap(), &program);
    let ask = || {
        let mut command = Command::new(&program);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        in_a_process_of_its_own(&file.path, command.current_dir("/"))
    };
    if is_root {
        chown(home, Some(NOBODY), Some(NOBODY)).unwrap();
        chown(&file.path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    assert_eq!(ask(), ("1".to_owned(), "2".to_owned()));
    let problem = |problem: &str| format!("cannot use the tags in {}: {problem}", file.name());
    let read_only = problem(
        "it cannot be written; give this user the right to write to the file and to its directory",
    );
    allow(&file.path, 0o444);
    let (opened, existing) = ask();
    assert_eq!(opened, read_only);
    assert!(existing.starts_with(&read_only), "{existing}");
    allow(&file.path, 0o000);
    let (opened, _) = ask();
    let closed =
        problem("it cannot be opened; give this user the right to read and write the file");
    assert!(opened.starts_with(&closed), "{opened}");
    allow(&file.path, 0o644);
    assert_eq!(ask(), ("3".to_owned(), "4".to_owned()));
}

#[test]
fn a_step_has_room_in_its_column() {
    a_step_beyond_its_column_is_refused(&File::with_others());
}
