//! Options: on the command line, by variables, in a file.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{FOREVER, GOOD, Server, begins, command, folder};

/// The exit code of `--check`, and what was said.
pub(crate) fn check(
    folder: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let mut command = command(folder);
    command.arg("--check").args(args).envs(variables.iter().copied());
    let done = command.output().unwrap();
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn good_options_pass() {
    let folder = folder();
    let file = "listen = '127.0.0.1:0'\nmax-body = 1000\nleaf-snowflake = true\ntinyid = false\n\
                header-timeout = '5s'\npreset = 'twitter'\nlease = '10m'\n";
    fs::write(folder.path().join("options.toml"), file).unwrap();
    let (code, text) = check(folder.path(), &["--config=options.toml"], &[]);
    let db = folder.path().join("ids.db").display().to_string();
    assert_eq!((code, text), (Some(0), GOOD.to_owned() + &begins(&db)));
    assert!(!folder.path().join("ids.db").exists(), "nothing is made");
}

/// As frameworks and people hand names over.
#[test]
fn a_name_may_be_spelt_in_other_ways() {
    let folder = folder();
    let spelt = ["max-body", "max_body", "max.body", "maxBody", "MaxBody", "MAX_BODY", "maxbody"];
    for name in spelt {
        // What has come to its option is refused there.
        let refused = |(code, text): (Option<i32>, String)| {
            assert_eq!(code, Some(2), "{name}: {text}");
            assert!(text.contains("--max-body") && !text.contains("no effect"), "{name}: {text}");
        };
        refused(check(folder.path(), &[&format!("--{name}=many")], &[]));
        refused(check(folder.path(), &[&format!("--{name}"), "many"], &[]));
        fs::write(folder.path().join("o.toml"), format!("{name} = 'many'")).unwrap();
        refused(check(folder.path(), &["--config=o.toml"], &[]));
        for prefix in ["UIDRING_SERVER_", "uidring.server.", "uidring-server-"] {
            refused(check(folder.path(), &[], &[(&format!("{prefix}{name}"), "many")]));
        }
    }
    // The command line goes before a variable, and a variable before the file.
    fs::write(folder.path().join("o.toml"), "max_body = 1000").unwrap();
    let wrong = [("uidring.server.max-body", "many")];
    assert_eq!(check(folder.path(), &["--config=o.toml"], &wrong).0, Some(2));
    let line = ["--config=o.toml", "--maxBody=2000"];
    assert_eq!(check(folder.path(), &line, &wrong).0, Some(0));
    // Nobody knows which of two is meant.
    let two = [("uidring.server.max-body", "many"), ("UIDRING_SERVER_MAXBODY", "many")];
    let (code, text) = check(folder.path(), &["--check=options"], &two);
    assert_eq!(code, Some(0), "{text}");
    for (name, _) in two {
        let told =
            format!("the variable {name} has no effect; did you mean UIDRING_SERVER_MAX_BODY?");
        assert!(text.contains(&told), "{text}");
    }
}

/// A typing error in the address would begin at 1.
#[test]
fn a_check_and_a_start_tell_of_a_store_that_is_new() {
    let server = Server::start(&[]);
    let told = "nothing was taken from this store before";
    server.wait_for("told", || server.log().contains(told));
    assert_eq!(server.log().matches(told).count(), 1, "{}", server.log());
    let folder = server.stop();
    assert_eq!(check(folder.path(), &[], &[]), (Some(0), GOOD.to_owned()));
    let again = Server::start_on(folder, &[]);
    // Logged after that would be.
    again.wait_for("ready", || again.log().contains("health: ready"));
    assert!(!again.log().contains(told), "{}", again.log());
    let folder = again.stop();
    let tags = ["--uids=false", "--db=other.db"];
    let expected = GOOD.to_owned() + "other.db has no tags\n";
    assert_eq!(check(folder.path(), &tags, &[]), (Some(0), expected));
}

/// What a start would end with, a check ends with, and makes nothing.
#[test]
fn a_check_looks_at_the_database() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::write(folder.path().join("foreign.db"), "no database, and long enough to be read as one")
        .unwrap();
    fs::create_dir(folder.path().join("own")).unwrap();
    for (db, code, problem) in [
        ("nowhere/ids.db", 1, "nowhere does not exist"),
        ("foreign.db", 1, "it is not a SQLite database"),
        ("own", 1, "it is a directory"),
    ] {
        let (found, text) = check(folder.path(), &["--db", &file(db)], &[]);
        assert_eq!(found, Some(code), "{db}: {text}");
        assert!(text.contains(problem), "{db}: {text}");
        // A start says the same, and does not say that it listens.
        let mut command = command(folder.path());
        let done = command.args(["--listen=127.0.0.1:0", "--db", &file(db)]).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{db}");
        assert_eq!(done.stdout, b"", "{db}");
        // The options are good all the same.
        let (found, text) = check(folder.path(), &["--check=options", "--db", &file(db)], &[]);
        assert_eq!((found, text.as_str()), (Some(0), "the options are good\n"), "{db}");
    }
    let leaf = ["--table=leaf", "--uids=false", "--db", &file("ids.db")];
    let (code, text) = check(folder.path(), &leaf, &[]);
    assert!(code == Some(1) && text.contains("leaf_alloc"), "{text}");
    // A registry of another layout.
    let server = Server::start(&["--preset=seata"]);
    let db = server.file().display().to_string();
    let (code, text) = check(folder.path(), &["--preset=twitter", "--db", &db], &[]);
    assert!(code == Some(1) && text.contains("was first used with the layout"), "{text}");
    assert_eq!(check(folder.path(), &["--db", &db], &[]).0, Some(0));
    // Nothing was used up.
    let workers = "SELECT count(*), max(id) FROM worker_node";
    let file = rusqlite::Connection::open(server.file()).unwrap();
    let found = file.query_row(workers, [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(found, Ok((1, 1)));
}

/// A start makes the tables in an empty file, and a check leaves the file as it is.
#[test]
fn a_check_writes_nothing_to_an_empty_file() {
    let folder = folder();
    let db = folder.path().join("empty.db");
    fs::write(&db, "").unwrap();
    for more in ["--uids=true", "--uids=false"] {
        let (code, text) = check(folder.path(), &["--db=empty.db", more], &[]);
        assert_eq!(code, Some(0), "{more}: {text}");
        assert_eq!(fs::read(&db).unwrap(), b"", "{more}");
    }
    // A start does not make the tables of others.
    let (code, text) = check(folder.path(), &["--db=empty.db", "--table=leaf"], &[]);
    assert!(code == Some(1) && text.contains("empty.db: it is empty; "), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is made");
    let server = Server::start_on(folder, &["--db=empty.db"]);
    let made = fs::read(&db).unwrap();
    assert_eq!(check(server.folder(), &["--db=empty.db"], &[]).0, Some(0));
    assert!(!made.is_empty() && made == fs::read(&db).unwrap(), "a start makes the tables");
}

#[cfg(feature = "postgres")]
#[test]
fn a_check_tells_a_database_that_is_away_from_a_bad_one() {
    let folder = folder();
    // A start waits for it.
    let away = "--db=postgres://somebody:hunter2@127.0.0.1:1/ids";
    let (code, text) = check(folder.path(), &[away], &[]);
    assert!(code == Some(3) && text.contains("127.0.0.1:1"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn bad_options_are_refused_with_what_and_where() {
    refused(&[
        (&["--nope"][..], "", "unexpected argument '--nope'"),
        (&["--listen=nowhere"], "", "'--listen <ADDRESS>'"),
        (&["--threads=0"], "", "'--threads <N>'"),
        (&["--grace=5"], "", "a length of time is such as"),
        (&["--token-refresh=1ms"], "", "tokens are read again every 50ms at most"),
        (&["--layout=1,2"], "", "three widths"),
        (&["--preset=seata", "--layout=30,20,13"], "", "cannot be used with"),
        (&["--tls-cert=a.pem"], "", "--tls-key"),
        (&["--tls-cert=a.pem", "--tls-key=b.pem"], "", "--tls-cert: a.pem"),
        (&["--host=https://ids.example.com"], "", "a host is a name such as"),
        (&["--host=ids:80"], "", "a host is a name such as"),
        (&["--config=o.toml"], "host = ['a', 'b c']", "the key \"host\": invalid value 'b c'"),
        (&["--tokens=nowhere.toml"], "", "--tokens: nowhere.toml"),
        (&["--mask-key=nowhere.key"], "", "--mask-key: nowhere.key: "),
        (&["--config=o.toml", "--mask-key=o.toml"], "name = 'x'", "--mask-key: o.toml: line 1: "),
        (&["--admin-token=secret"], "", "--admin-token: the token is shorter than 16"),
        (&["--admin-token="], "", "--admin-token: the token is shorter than 16"),
        (&["--admin-token=a secret with blanks"], "", "characters other than letters"),
        (&["--config=o.toml"], "admin-token = 'secret'", "--admin-token: the token is shorter"),
        (&["--db=ftp://x"], "", "--db: a store is a file, or an address"),
        (
            &["--preset=twitter", "--leaf-snowflake", "--leaf-worker-ids=512-1023"],
            "",
            "--leaf-worker-ids: the UIDs of /v1 have the same layout and",
        ),
        (
            &["--leaf-snowflake", "--worker-ids=1-9"],
            "",
            "--leaf-snowflake: --worker-ids is for the layout of the UIDs, and the snowflakes have",
        ),
        (
            &["--leaf-snowflake", "--partition=0/1024"],
            "",
            "--leaf-snowflake: --partition leaves no worker id for the snowflakes, whose layout",
        ),
        (&["--config=nowhere.toml"], "", "the file of options nowhere.toml: "),
        (
            &["--config=o.toml"],
            "lisen = 1",
            "o.toml: there is no key \"lisen\"; did you mean listen? The keys are ",
        ),
        (&["--config=o.toml"], "max_bodi = 1", "did you mean max-body? The keys"),
        (&["--config=o.toml"], "colour = 1", "there is no key \"colour\"; the keys are "),
        (&["--worker-ids=5-2"], "", "5 is above 2: write 2-5"),
        (&["--leaf-worker-ids=5-2"], "", "5 is above 2: write 2-5"),
        (&["--partition=5/2"], "", "the parts of 2 are 0/2 and 1/2"),
        (&["--db=ids.db", "--uid-generator"], "", "--uid-generator: the table WORKER_NODE "),
        (&["--db=ids.db", "--table=cosid"], "", "--table: CosId's counters are in Redis; name "),
        (&["--config=o.toml"], "table = 'cosid'", "name the server with --db redis://.."),
        (&["--config=o.toml"], "table = 'other'", "invalid value 'other' for '--table"),
        (&["--config=o.toml"], "check = true", "there is no key \"check\""),
        (&["--config=o.toml"], "config = 'x'", "there is no key \"config\""),
        (&["--config=o.toml"], "threads = 0", "the key \"threads\": invalid value '0'"),
        (
            &["--config=o.toml"],
            "threads = [1]",
            "the key \"threads\" has a value of the kind array",
        ),
        (&["--config=o.toml"], "[limits]\nthreads = 1", "there is no key \"limits\""),
        (
            &["--config=o.toml"],
            "max-body = 1\nmaxBody = 2",
            "its keys \"max-body\" and \"maxBody\" are the same option, max-body",
        ),
        (&["--config=o.toml"], "max.body = 0", "the key \"max.body\": invalid value '0'"),
        (&["--config=o.toml"], "a = 1\nb = ", "line 2"),
        (&["--config=o.toml"], "tinyid = true\ndb = 'mysql://me:secret@db/x", "line 2"),
        (
            &["--config=o.toml"],
            "the-secret-of-somebody = 1",
            "one of its keys names no option; the keys",
        ),
        (&["--config=o.toml"], "db = ['mysql://me:secret@db/x']", "a value of the kind array"),
        // With a blank behind the sign, they are arguments of their own.
        (&["--db=", "mysql://me:secret@db/x"], "", "an argument belongs to no option; it"),
        (&["--admin-token=", "a-secret-of-somebody"], "", "an argument belongs to no option; it"),
        // At the key of something else.
        (&["--listen=mysql://me:secret@db/x"], "", "invalid value 'mysql://me@db/x' for '--listen"),
        (
            &["--config=o.toml"],
            "threads = 'mysql://me:secret@db/x'",
            "the key \"threads\": invalid value 'mysql://me@db/x' for '--threads",
        ),
        (&["unexpected"], "", "unexpected argument 'unexpected' found"),
        (&["--config=o.toml"], "tls-key = 'k.pem'", "--tls-cert"),
        // Also where something else goes before it.
        (&["--config=o.toml", "--threads=1"], "threads = 0", "the key \"threads\""),
    ]);
}

#[cfg(all(feature = "mysql", feature = "postgres"))]
#[test]
fn bad_options_beside_an_address_are_refused_with_what_and_where() {
    refused(&[
        (&["--db=mysql://me:secret@db:port/x"][..], "", "--db: "),
        (&["--db=mysql://db/x", "--leaf-snowflake"], "", "--leaf-db: name another database"),
        (
            &["--db=postgres://db/x", "--uid-generator", "--preset=uid-generator"],
            "",
            "is on a MySQL or MariaDB server",
        ),
        (&["--db=mysql://db/x", "--uid-generator"], "", "does not know the layout of its UIDs"),
        (
            &["--config=o.toml", "--db=mysql://db/x", "--preset=uid-generator"],
            "uid-generator = true\nlease = '10m'",
            "--uid-generator: ids of the table WORKER_NODE can neither be leased nor limited",
        ),
    ]);
}

#[cfg(not(any(feature = "mysql", feature = "postgres")))]
#[test]
fn an_address_whose_feature_is_off_is_refused() {
    refused(&[
        (&["--db=postgres://me:secret@db/x"][..], "", "without the feature"),
        (&["--db=mysql://me:secret@db/x"], "", "without the feature"),
    ]);
}

/// The exit code and what is said, of a start that ends by itself.
fn start(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = command(folder);
    if !args.iter().any(|arg| arg.starts_with("--listen")) {
        command.arg("--listen=127.0.0.1:0");
    }
    let mut child = command.args(args).spawn().unwrap();
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > FOREVER {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(5));
    }
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.stdout, b"", "{args:?}: it does not say that it listens: {said}");
    (done.status.code(), said)
}

const LEAF: &str = "CREATE TABLE leaf_alloc (biz_tag TEXT PRIMARY KEY, max_id INTEGER, \
    step INTEGER, description TEXT, update_time TEXT)";

/// Whether a check and a start refuse each of these for the same reason: a database, the options
/// behind it, and a part of what is said. None makes the file `new`.
pub(crate) fn refused_alike(folder: &Path, new: &str, cases: &[(&str, &[&str], &str)]) {
    let reason = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for &(db, options, said) in cases {
        let listen = ["--listen=127.0.0.1:0"];
        let is_open = !options.iter().any(|option| option.starts_with("--listen"));
        let args = [if is_open { &listen[..] } else { &[] }, &["--db", db], options].concat();
        let at_check = check(folder, &args, &[]);
        assert!(!Path::new(new).exists(), "{args:?}: nothing is made");
        let at_start = start(folder, &args);
        let _ = fs::remove_file(new);
        // The last line is the reason.
        let is_told = [&at_check, &at_start].iter().all(|(_, text)| text.contains(said));
        let codes = (at_check.0, at_start.0);
        if codes != (Some(1), Some(1)) || !is_told || reason(&at_check.1) != reason(&at_start.1) {
            wrong.push(format!("{options:?} {said}:\n{at_check:?}\n{at_start:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// All that a start refuses with a file, in the words that it has for it: a check says the same.
#[test]
fn a_check_refuses_what_a_start_refuses() {
    let prepared = folder();
    let file = |name: &str| prepared.path().join(name).display().to_string();
    let ended = |server: Server| drop(server.stop());
    fs::write(file("foreign.db"), "no database, and long enough to be read as one").unwrap();
    fs::create_dir(file("own")).unwrap();
    // Beside the tables of another program, ours are made, unless it keeps a log.
    let other = rusqlite::Connection::open(file("other.db")).unwrap();
    other.execute_batch("CREATE TABLE a (b)").unwrap();
    let passed = check(prepared.path(), &["--db", &file("other.db")], &[]);
    assert_eq!(passed, (Some(0), GOOD.to_owned() + &begins(&file("other.db"))));
    ended(Server::start(&["--db", &file("other.db")]));
    let logged = rusqlite::Connection::open(file("logged.db")).unwrap();
    logged.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (b)").unwrap();
    let leaf = rusqlite::Connection::open(file("leaf.db")).unwrap();
    leaf.execute_batch(LEAF).unwrap();
    ended(Server::start(&["--preset=seata", "--db", &file("seata.db")]));
    let newer = rusqlite::Connection::open(file("newer.db")).unwrap();
    newer.execute_batch(include_str!("../../../schema.sql")).unwrap();
    newer.execute_batch("UPDATE uidring_schema SET version = 99").unwrap();
    ended(Server::start(&["--worker-ids=5-5", "--db", &file("full.db")]));
    ended(Server::start(&["--worker-ids=5-9", "--db", &file("five.db")]));
    let lost = rusqlite::Connection::open(file("lost.db")).unwrap();
    lost.execute_batch(include_str!("../../../schema.sql")).unwrap();
    lost.execute_batch("DROP TABLE worker_node").unwrap();
    let twitter = ["--preset=twitter", "--leaf-snowflake"];
    ended(Server::start(&["--preset=seata", "--leaf-snowflake", "--db", &file("beside.db")]));
    let new = file("new.db");
    // The options behind `--db`, and a part of what is said.
    let cases: &[(&str, &[&str], &str)] = &[
        (&file("nowhere/ids.db"), &[], "nowhere does not exist"),
        (&file("foreign.db"), &[], "it is not a SQLite database"),
        (&file("own"), &[], "it is a directory"),
        (&file("logged.db"), &[], "it has tables of another program"),
        (&file("leaf.db"), &["--uids=false"], "leaf.db"),
        (&file("newer.db"), &[], "version 99"),
        (&file("lost.db"), &[], "lost.db"),
        (&file("seata.db"), &["--preset=twitter"], "was first used with the layout"),
        (&file("seata.db"), &["--epoch=2020-01-01"], "was first used with the layout"),
        (&file("five.db"), &[], "first used with the worker ids 5 to 9"),
        (&file("five.db"), &["--worker-ids=5-7"], "first used with the worker ids 5 to 9"),
        (&file("full.db"), &["--worker-ids=5-5"], "worker ids"),
        // Of a file that is not there yet, and of one that is.
        (&new, &["--preset=uid-generator"], "ended"),
        (&file("full.db"), &["--preset=uid-generator"], "ended"),
        (&new, &["--epoch=1900-01-01", "--layout=30,20,13"], "ended"),
        (&new, &["--preset=twitter", "--worker-ids=1000-2000"], "ends at 1023"),
        (&new, &["--partition=0/1048576"], "worker ids"),
        (&new, &["--uids=false", "--table=leaf"], "leaf_alloc"),
        (&new, &["--uids=false", "--table=tinyid"], "new.db"),
        (&file("full.db"), &["--uids=false", "--table=leaf"], "leaf_alloc"),
        (&file("full.db"), &["--uids=false", "--table=tinyid"], "tiny_id_"),
        (&new, &["--uids=false", "--token-table=true"], "new.db"),
        (&new, &["--leaf-snowflake", "--leaf-epoch=1900-01-01"], "ended"),
        (&file("beside.db"), &["--leaf-snowflake", "--leaf-db", &file("own")], "directory"),
        (&file("seata.db"), &twitter, "was first used with the layout"),
        (&new, &["--listen=203.0.113.1:8080"], "cannot listen on 203.0.113.1:8080"),
        (&new, &["--resp-listen=203.0.113.1:8080"], "cannot listen on 203.0.113.1:8080"),
    ];
    refused_alike(prepared.path(), &new, cases);
    assert_eq!(cases.len(), 27, "they are counted");
}

/// Options that are refused: the arguments, the file, and a part of what is said.
fn refused(cases: &[(&[&str], &str, &str)]) {
    let folder = folder();
    for &(args, file, problem) in cases {
        fs::write(folder.path().join("o.toml"), file).unwrap();
        let (code, text) = check(folder.path(), args, &[]);
        assert_eq!(code, Some(2), "{args:?} {file:?}: {text}");
        assert!(text.contains(problem), "{args:?} {file:?}: {text}");
        assert!(!text.contains("secret"), "{text}");
        let (code, text) = start(folder.path(), args);
        assert!(code == Some(2) && text.contains(problem), "a start: {args:?} {file:?}: {text}");
    }
}

#[test]
fn the_command_line_goes_before_variables_and_those_before_the_file() {
    let folder = folder();
    fs::write(folder.path().join("o.toml"), "grace = '1s'\nmax-body = 7\ntinyid = false").unwrap();
    let max_body = |args: &[&str], variables: &[(&str, &str)]| {
        let folder = crate::common::folder();
        fs::write(folder.path().join("o.toml"), "max-body = 20\ntinyid = false").unwrap();
        let options = [&["--config=o.toml"], args].concat();
        let server = Server::launch_with(folder, &options, variables);
        server.wait_until_ready();
        assert_eq!(server.get("/tinyid/id/nextId").status, 404, "the file counts");
        let sizes = [10, 20, 30, 40, 50];
        let fits = |size: &&usize| server.put("a", &"x".repeat(**size)).status == 400;
        sizes.iter().take_while(fits).last().copied().unwrap_or(0)
    };
    let variable = [("UIDRING_SERVER_MAX_BODY", "30")];
    assert_eq!(max_body(&[], &[]), 20);
    assert_eq!(max_body(&[], &variable), 30);
    assert_eq!(max_body(&["--max-body=40"], &variable), 40);
    assert_eq!(max_body(&["--max-body=40"], &[]), 40);
}

#[test]
fn the_help_fits_80_columns_and_names_each_variable() {
    let folder = folder();
    for flag in ["--help", "-h"] {
        let done = command(folder.path()).arg(flag).env("COLUMNS", "200").output().unwrap();
        assert_eq!(done.status.code(), Some(0));
        let text = String::from_utf8(done.stdout).unwrap();
        let long: Vec<_> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
        let options = text.split_whitespace().filter_map(|word| word.strip_prefix("--"));
        for option in options.filter(|option| option.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            let option = option.trim_end_matches(|c: char| !c.is_ascii_lowercase());
            let variable = format!("UIDRING_SERVER_{}", option.to_uppercase().replace('-', "_"));
            let has_none = ["check", "generate", "help", "version"].contains(&option);
            assert!(has_none || text.contains(&variable), "{variable}");
        }
    }
}

#[test]
fn a_misspelt_variable_is_told() {
    let folder = folder();
    let told = "the variable UIDRING_SERVER_LISTE has no effect; did you mean \
                UIDRING_SERVER_LISTEN?";
    let misspelt = ("UIDRING_SERVER_LISTE", "0.0.0.0:80");
    let (code, text) = check(folder.path(), &[], &[misspelt]);
    assert_eq!(code, Some(0));
    assert!(text.ends_with(&format!("\nuidring-server: {told}\n")), "{text}");
    // That of the tool is none of the service, and no mistake where the service has its own.
    let tools = ("UIDRING_DB", "x.db");
    let (_, text) = check(folder.path(), &["--db=ids.db"], &[tools]);
    assert!(!text.contains("has no effect"), "{text}");
    let mut without = command(folder.path());
    without.arg("--check").env_remove("UIDRING_SERVER_DB").envs([tools]);
    let text = String::from_utf8(without.output().unwrap().stderr).unwrap();
    assert!(text.contains("UIDRING_DB has no effect; did you mean UIDRING_SERVER_DB?"), "{text}");
    // The variables that Kubernetes sets for a Service called uidring-server.
    let kubernetes = [
        ("UIDRING_SERVER_SERVICE_HOST", "10.0.0.1"),
        ("UIDRING_SERVER_SERVICE_PORT", "8080"),
        ("UIDRING_SERVER_PORT", "tcp://10.0.0.1:8080"),
        ("UIDRING_SERVER_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("UIDRING_SERVER_PORT_8080_TCP_PROTO", "tcp"),
        ("UIDRING_SERVER_PORT_8080_TCP_PORT", "8080"),
        ("UIDRING_SERVER_PORT_8080_TCP_ADDR", "10.0.0.1"),
    ];
    let (_, text) = check(folder.path(), &[], &kubernetes);
    assert!(!text.contains("has no effect"), "{text}");
    let server = Server::launch_with(folder, &[], &[misspelt]);
    server.wait_until_ready();
    server.wait_for("told", || server.log().contains(told));
}
