//! The tool on servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::SystemTime;

use serde_json::Value;
use uidring::Layout;

use crate::{Around, databases, folder, json, stderr, stdout, uidring, uids};

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn everything_works_with_postgres() {
    works_with(databases::Server::Postgres);
}

/// The library's own sentence.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn another_server_with_the_language_of_postgresql_is_refused() {
    let (folder, database) = (folder(), databases::Server::Postgres.database());
    database.run(
        "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS \
         $$ SELECT 'PostgreSQL 8.2.23 server protocol using H2 2.3.232 (2024-08-11)' $$",
    );
    let url = format!("{},pg_catalog", database.url);
    let expected = "it is H2, which speaks as PostgreSQL does, and on which nobody has tried";
    for command in ["take", "tags", "workers", "layout"] {
        let said = stderr(folder.path(), &[command, "--db", &url], 1);
        assert!(said.contains(expected), "{said}");
    }
    stdout(folder.path(), &["take", "--db", &format!("{url}&untried=yes")]);
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn everything_works_with_mysql() {
    works_with(databases::Server::MySql);
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
fn works_with(server: databases::Server) {
    let (folder, database) = (folder(), server.database());
    let on = |args: &[&str]| stdout(folder.path(), &[args, &["--db", &database.url]].concat());
    let refused =
        |args: &[&str]| stderr(folder.path(), &[args, &["--db", &database.url]].concat(), 1);
    assert!(refused(&["layout"]).contains("has not been used with a layout yet"));
    assert!(refused(&["workers"]).contains("its tables are not there"));
    // What cannot be built leaves nothing.
    refused(&["take", "--slots", "3"]);
    assert!(refused(&["workers"]).contains("its tables are not there"));

    let layout = Layout::new(35, 10, 15).unwrap();
    let worker = |lines: &str| layout.parts(uids(lines)[0]).worker;
    assert_eq!(worker(&on(&["take", "-n", "3", "--layout", "35,10,15"])), 1);
    let taken = on(&["take", "--lease", "10m"]);
    assert_eq!((worker(&taken), worker(&on(&["take", "--lease", "10m"]))), (2, 2));
    assert_eq!(json(&on(&["layout", "--json"]))["time_bits"], 35);
    assert_eq!(json(&on(&["parse", "--json", taken.trim()]))["worker"], 2);
    assert_eq!(json(&on(&["status", "--json", "--for", "50ms"]))["worker_id"], 3);
    assert!(refused(&["take", "--preset", "default"]).contains("35 | 10 | 15"));
    assert!(
        refused(&["take", "--partition", "0/2"]).contains("worker ids 1 to 1023, and 1 to 511")
    );

    let killed =
        uidring(folder.path(), &["take", "--rate", "10", "--lease", "1h", "--db", &database.url])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
    let mut killed = killed.unwrap();
    let mut line = String::new();
    BufReader::new(killed.stdout.take().unwrap()).read_line(&mut line).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(worker(&line), 2);
    let page = on(&["workers"]);
    assert!(page.contains("  given once\n") && page.contains("  held, 59 min "), "{page}");
    assert!(
        page.ends_with(
            "\n3 of 1,023 worker ids used; 1 leased, 0 of them free to be given again\n"
        ),
        "{page}"
    );
    assert!(refused(&["workers", "release", "1"]).contains("once and for all"));
    assert!(refused(&["workers", "release", "2"]).contains("is held by "));
    assert!(refused(&["workers", "release", "4"]).contains("the largest so far is 3"));
    assert!(on(&["workers", "release", "2", "--force"]).starts_with("worker id 2 was taken from "));
    assert!(refused(&["workers", "release", "2"]).contains("is free already"));
    assert!(on(&["workers"]).ends_with("; 1 leased, 1 of them free to be given again\n"));
    let again = uids(&on(&["take", "--lease", "10m"]))[0];
    assert!(
        layout.parts(again).worker == 2 && layout.parts(again).time > SystemTime::now(),
        "behind what was reserved"
    );

    assert!(on(&["tags"]).starts_with("no tags yet"));
    on(&["tags", "create", "orders", "--step", "100"]);
    assert_eq!(on(&["take", "--tag", "orders", "-n", "3"]), "1\n2\n3\n");
    assert_eq!(json(&on(&["tags", "--json"]))["tags"][0]["next"], "4");
    assert!(refused(&["take", "--tag", "order"]).contains("uidring tags create order"));
    assert!(refused(&["tags", "--table", "leaf"]).contains("its table leaf_alloc is not there"));
    database.run(
        "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT NOT NULL, \
         step INT NOT NULL, description VARCHAR(256), \
         update_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP); \
         INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('leaf', 7, 100)",
    );
    assert!(on(&["tags", "--table", "leaf"]).contains("\nleaf"));
    assert_eq!(on(&["take", "--tag", "leaf", "--table", "leaf"]), "7\n");
    on(&["tags", "remove", "orders", "--force"]);

    let (scheme, address) = database.url.split_once("://").unwrap();
    let stranger = format!("{scheme}://stranger:hunter2@{}", address.split_once('@').unwrap().1);
    let complaint = stderr(folder.path(), &["workers", "--db", &stranger], 1);
    assert!(complaint.contains("stranger") && !complaint.contains("hunter2"), "{complaint}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file was made");
}

/// What `UidGenerator` ships to make its table, and the rows of two nodes.
#[cfg(feature = "mysql")]
const WORKER_NODE: &str = "
    CREATE TABLE WORKER_NODE (
        ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL,
        LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL
    ) ENGINE = INNODB;
    INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
    VALUES ('java-1', '8080-1', 1, CURRENT_DATE, NOW(), NOW()),
        ('java-2', '1500000000000-2', 2, CURRENT_DATE, NOW(), NOW())";

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn worker_ids_come_from_the_table_of_uid_generator_on_mysql() {
    let (folder, database) = (folder(), databases::Server::MySql.database());
    let of = |line: &str| -> Vec<String> {
        let words = line.split(' ').chain(["--db", &database.url]);
        words.map(str::to_owned).collect()
    };
    let on = |line: &str| {
        let args = of(line);
        stdout(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refused = |line: &str, status: i32| {
        let args = of(line);
        stderr(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>(), status)
    };
    let theirs = "--layout 29,21,13 --epoch 2016-09-19T16:00:00Z";
    let missing = refused(&format!("take --uid-generator {theirs}"), 1);
    assert!(missing.contains("its table WORKER_NODE is not there"), "{missing}");
    database.run(WORKER_NODE);
    for command in ["take", "status --for 50ms"] {
        let complaint = refused(&format!("{command} {theirs}"), 1);
        for way in ["up to 2,", "--uid-generator", "--worker-ids or --partition", "with --db"] {
            assert!(complaint.contains(way), "{complaint}");
        }
        assert!(!complaint.contains("uid_generator"), "an option, not a method: {complaint}");
        let complaint = refused(&format!("{command} --uid-generator"), 2);
        assert!(complaint.contains("does not know the layout of its UIDs"), "{complaint}");
    }
    assert_eq!(database.run("SHOW TABLES").trim(), "WORKER_NODE", "none of our own is made");
    let uid = on(&format!("take --uid-generator {theirs}"));
    let parsed = format!("parse --json {theirs} {}", uid.trim());
    let parsed = json(&stdout(folder.path(), &parsed.split(' ').collect::<Vec<_>>()));
    assert_eq!(parsed["worker"], 3);
    let around = Around::now();
    let status = on(&format!("status --json --for 50ms --uid-generator {theirs}"));
    assert_eq!(json(&status)["worker_id"], 4);
    let page = on("workers --uid-generator");
    let hosts: Vec<_> =
        page.lines().map(|line| line.split_whitespace().nth(1).unwrap()).skip(3).take(2).collect();
    assert_eq!(hosts, ["java-2", "java-1"], "{page}");
    assert!(
        page.ends_with(
            "\n4 worker ids used; the layout, which the table does not know, \
                            tells how many there are\n"
        ),
        "{page}"
    );
    let report = json(&on("workers --json --uid-generator"));
    assert_eq!((&report["used"], &report["capacity"]), (&Value::from(4), &Value::Null));
    let created: jiff::Timestamp =
        report["workers"][0]["created"].as_str().unwrap().parse().unwrap();
    assert!(around.contains(created.into()), "{report}");
    let complaint = refused("workers release 1 --uid-generator", 1);
    assert!(complaint.contains("was given to java-1/8080-1 once and for all"), "{complaint}");
    // As the page on moving over has it.
    let page = include_str!("../../../docs/migration/uid-generator.md").replace("\\\n", "");
    let page = page.replace("mysql://orders@db.example.com/orders", &database.url);
    let lines = page.lines().filter_map(|line| line.strip_prefix("$ "));
    let lines = lines
        .filter(|line| line.starts_with("uidring ") && line.contains("--uid-generator"))
        .map(|line| stdout(folder.path(), &line.split_whitespace().skip(1).collect::<Vec<_>>()));
    let said: Vec<String> = lines.collect();
    assert!(said.len() == 2 && said[1].contains("5 worker ids used"), "{said:?}");
    // Ids above all that the table will come to.
    let uid = on(&format!("take --worker-ids 1000000-2000000 {theirs}"));
    let parsed = format!("parse --json {theirs} {}", uid.trim());
    let parsed = json(&stdout(folder.path(), &parsed.split(' ').collect::<Vec<_>>()));
    assert_eq!(parsed["worker"], 1_000_000);
    // Both are there.
    assert!(on("workers").contains("1 of "), "{}", on("workers"));
}
