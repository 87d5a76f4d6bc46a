//! `uidring sql`: what the functions say, beside what the library says.

use std::collections::BTreeMap;
use std::env;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, named_params};
use uidring::{FieldOrder, Layout, Uid};

#[cfg(any(feature = "mysql", feature = "postgres"))]
use crate::databases;
use crate::size::size;
use crate::{folder, stderr, stdout};

/// The layouts, with the options that name them.
fn layouts() -> Vec<(Layout, Vec<&'static str>)> {
    let epoch = SystemTime::UNIX_EPOCH - Duration::from_millis(86_400_001);
    let early = Layout::new(36, 10, 12).unwrap().with_tick(Duration::from_millis(10)).unwrap();
    vec![
        (Layout::DEFAULT, vec!["--preset", "default"]),
        (Layout::TWITTER, vec!["--preset", "twitter"]),
        (Layout::SEATA, vec!["--preset", "seata"]),
        (Layout::new(30, 10, 8).unwrap(), vec!["--layout", "30,10,8"]),
        (
            early.with_epoch(epoch).unwrap().with_order(FieldOrder::WorkerFirst),
            vec![
                "--layout=36,10,12",
                "--tick=10ms",
                "--epoch=1969-12-30T23:59:59.999Z",
                "--order=worker-first",
            ],
        ),
    ]
}

/// Numbers as if drawn by chance.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 1
    }
}

/// A UID and a time, with what the library says of them.
#[derive(Debug)]
struct Expected {
    uid: Uid,
    time: String,
    worker: u64,
    sequence: u64,
    base32: String,
    /// A time near that of the UID.
    moment: SystemTime,
}

fn text(time: SystemTime, digits: usize) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap();
    format!("{time:.digits$}").replace('T', " ").replace('Z', "")
}

/// At each end of each field, and by chance.
fn expected(layout: &Layout, count: usize) -> Vec<Expected> {
    let mut chance = Chance(0x5eed);
    let far = jiff::Timestamp::from_second(200_000_000_000).unwrap();
    let far = layout.tick_at(far.into()).unwrap_or(layout.max_tick());
    let ends = |max: u64| [0, 1, max - 1, max];
    let mut uids = Vec::new();
    for tick in [0, 1, far - 1, far] {
        for worker in ends(layout.max_worker()) {
            for sequence in ends(layout.max_sequence()) {
                uids.extend(layout.compose(tick, worker, sequence));
            }
        }
    }
    while uids.len() < count {
        let fields = [far, layout.max_worker(), layout.max_sequence()];
        let [tick, worker, sequence] = fields.map(|max| chance.next() % (max + 1));
        uids.extend(layout.compose(tick, worker, sequence));
    }
    let tick_us = u64::try_from(layout.tick().as_micros()).unwrap();
    uids.into_iter()
        .map(|uid| {
            let parts = layout.parts(uid);
            // Also a little before a tick, before the epoch and after the end.
            let shift = [0, 1, tick_us - 1, tick_us, chance.next() % 1_000_000_000_000_000];
            let shift = Duration::from_micros(shift[(chance.next() % 5) as usize]);
            let moment = if chance.next().is_multiple_of(2) {
                parts.time + shift
            } else {
                parts.time - shift
            };
            Expected {
                uid,
                time: text(parts.time, 3),
                worker: parts.worker,
                sequence: parts.sequence,
                base32: uid.base32().to_string(),
                moment,
            }
        })
        .collect()
}

/// How many UIDs of each layout are compared: of all layouts a million for a release.
fn count() -> usize {
    let set = env::var("UIDRING_TEST_SQL_VALUES");
    set.map_or(size(200_000, 5000), |count| count.parse().unwrap())
}

#[test]
fn sqlite_says_what_the_library_says() {
    let folder = folder();
    for (layout, options) in layouts() {
        let printed = stdout(folder.path(), &[&["sql", "sqlite"], &options[..]].concat());
        let database = Connection::open_in_memory().unwrap();
        let mut queries = BTreeMap::new();
        for line in printed.lines().filter(|line| line.starts_with("SELECT")) {
            let name = line.trim_end_matches(';').rsplit(' ').next().unwrap().to_owned();
            queries.insert(name, database.prepare(line.trim_end_matches(';')).unwrap());
        }
        assert_eq!(queries.len(), 8, "{printed}");
        for expected in expected(&layout, count()) {
            let id = i64::from(expected.uid);
            let mut of_id = |name: &str| -> rusqlite::types::Value {
                let query = queries.get_mut(name).unwrap();
                query.query_row(named_params! { ":id": id }, |row| row.get(0)).unwrap()
            };
            let time = format!("{}Z", expected.time.replace(' ', "T"));
            assert_eq!(of_id("uid_time"), time.into(), "{expected:?}");
            assert_eq!(of_id("uid_worker"), expected.worker.cast_signed().into(), "{expected:?}");
            assert_eq!(
                of_id("uid_sequence"),
                expected.sequence.cast_signed().into(),
                "{expected:?}"
            );
            assert_eq!(of_id("uid_base32"), expected.base32.clone().into(), "{expected:?}");
            let mut number = |name: &str, parameter: &str, value: &str| -> Option<i64> {
                let query = queries.get_mut(name).unwrap();
                query.query_row(&[(parameter, value)], |row| row.get(0)).unwrap()
            };
            let read = number("uid_from_base32", ":text", &expected.base32.to_lowercase());
            assert_eq!(read, Some(id));
            // It knows no time more exactly than a millisecond.
            let moment = text(expected.moment, 6);
            let moment = &moment[..moment.len() - 3];
            let at: jiff::civil::DateTime = moment.parse().unwrap();
            let at = SystemTime::from(at.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp());
            let said = ["uid_first", "uid_last"].map(|name| number(name, ":time", moment));
            let known = [layout.min_uid(at), layout.max_uid(at)].map(|uid| uid.map(i64::from));
            assert_eq!(said, known, "{expected:?}");
        }
        let mut number = |name: &str, text: &str| -> Option<i64> {
            let query = queries.get_mut(name).unwrap();
            query.query_row(&[(":text", text)], |row| row.get(0)).unwrap()
        };
        assert_eq!(number("uid_from_base32", "o5o67soooioo9"), Some(180_363_646_902_239_241));
        for wrong in WRONG {
            assert_eq!(number("uid_from_base32", wrong), None, "{wrong}");
        }
    }
    let told = stderr(folder.path(), &["sql", "sqlite", "--drop"], 2);
    assert!(told.contains("leave --drop out"), "{told}");
}

/// Texts of no UID.
const WRONG: [&str; 6] =
    ["", "0000000000000", "05067S000100", "05067S00010090", "85067S0001009", "05067\u{17f}0001009"];

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgresql_says_what_the_library_says() {
    says_what_the_library_says(databases::Server::Postgres);
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql_says_what_the_library_says() {
    says_what_the_library_says(databases::Server::MySql);
}

/// However long a transaction takes that has an id and has not committed it.
#[cfg(feature = "postgres")]
fn nothing_comes_below_the_bound(database: &databases::Database) {
    let late = database.lock("SELECT 1");
    let id: i64 = database.script("SELECT uid_last(CLOCK_TIMESTAMP());").trim().parse().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let may_be_read = format!("SELECT {id} < uid_safe_bound(0);");
    assert_eq!(database.script(&may_be_read).trim(), "f");
    drop(late);
    // Other tests have transactions on the server.
    let since = std::time::Instant::now();
    while database.script(&may_be_read).trim() != "t" {
        assert!(since.elapsed() < Duration::from_secs(60), "it never comes");
    }
    let statements = "SET ROLE pg_monitor; SELECT uid_safe_bound(0) IS NULL;
        SET ROLE pg_signal_backend; SELECT uid_safe_bound(0) IS NULL;";
    let schema = format!("GRANT USAGE ON SCHEMA {} TO PUBLIC;", database.name());
    let said = database.script(&format!("{schema}{statements}"));
    assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["f", "t"]);
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
fn says_what_the_library_says(server: databases::Server) {
    let is_postgres = server == databases::Server::Postgres;
    let name = if is_postgres { "postgres" } else { "mysql" };
    let moment = if is_postgres { "TIMESTAMPTZ" } else { "DATETIME(6)" };
    let (folder, database) = (folder(), server.database());
    let run = |statements: &str| database.script(statements);
    let zone = if is_postgres { "SET TIME ZONE 'UTC';\n" } else { "" };
    for (layout, options) in layouts() {
        let printed = stdout(folder.path(), &[&["sql", name], &options[..]].concat());
        run(&printed);
        run(&printed);
        run(&format!(
            "CREATE TABLE expected (uid BIGINT, time {moment}, worker BIGINT, sequence BIGINT, \
             base32 CHAR(13), moment {moment}, first BIGINT, last BIGINT);"
        ));
        let row = |expected: &Expected| {
            let Expected { uid, time, worker, sequence, base32, moment, .. } = expected;
            let number = |uid: Option<Uid>| uid.map_or("NULL".to_owned(), |uid| uid.to_string());
            let [first, last] = [layout.min_uid(*moment), layout.max_uid(*moment)].map(number);
            let moment = text(*moment, 6);
            format!(
                "({uid}, '{time}', {worker}, {sequence}, '{base32}', '{moment}', {first}, {last})"
            )
        };
        let expected = expected(&layout, count());
        for some in expected.chunks(5000) {
            let rows: Vec<_> = some.iter().map(row).collect();
            run(&format!("{zone}INSERT INTO expected VALUES {};", rows.join(", ")));
        }
        let same = |a: &str, b: &str| {
            if is_postgres {
                format!("{a} IS NOT DISTINCT FROM {b}")
            } else {
                format!("{a} <=> {b}")
            }
        };
        let all = [
            same("uid_time(uid)", "time"),
            same("uid_worker(uid)", "worker"),
            same("uid_sequence(uid)", "sequence"),
            same("uid_base32(uid)", "base32"),
            same("uid_from_base32(LOWER(base32))", "uid"),
            same("uid_first(moment)", "first"),
            same("uid_last(moment)", "last"),
        ];
        let wrong = run(&format!(
            "{zone}SELECT uid, moment, uid_time(uid), time, uid_first(moment), first, \
             uid_last(moment), last FROM expected WHERE NOT ({}) LIMIT 3;",
            all.join(" AND ")
        ));
        assert_eq!(wrong, "", "{layout}");
        assert_eq!(run("SELECT COUNT(*) FROM expected;").trim(), expected.len().to_string());
        run("DROP TABLE expected;");
    }
    for wrong in WRONG {
        let said = run(&format!("SELECT COALESCE(uid_from_base32('{wrong}'), -1);"));
        assert_eq!(said.trim(), "-1", "{wrong}");
    }
    let layout = Layout::TWITTER;
    run(&stdout(folder.path(), &["sql", name, "--preset", "twitter"]));
    let bound: u64 = run("SELECT uid_safe_bound(60);").trim().parse().unwrap();
    let time = layout.parts(Uid::new(bound).unwrap()).time;
    let late = SystemTime::now().duration_since(time).unwrap().as_secs();
    assert!(late >= 60, "{late}");
    if is_postgres {
        nothing_comes_below_the_bound(&database);
        run("CREATE TABLE t (id BIGINT); CREATE INDEX ON t (uid_time(id));");
        run("DROP TABLE t;");
    }
    run(&stdout(folder.path(), &["sql", name, "--drop"]));
    run(&stdout(folder.path(), &["sql", name, "--drop"]));
    let left = format!(
        "SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '{}';",
        database.name()
    );
    assert_eq!(run(&left).trim(), "0");
}
