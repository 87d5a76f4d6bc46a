//! What MySQL itself has and MariaDB has not, or has otherwise.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use uidring::segment::{Segments, Tag};
use uidring::{RegistryOptions, Store, UidGenerator};

use crate::asking::{each, said};
use crate::databases::{OwnServer, free_port};

/// The worker id of a new generator, which holds it until it is dropped.
fn start(address: &str) -> UidGenerator {
    let store = Store::open(address).unwrap();
    let options = RegistryOptions::new().leased(Duration::from_secs(600));
    let registry = store.registry_with(options).unwrap();
    let builder = UidGenerator::builder().registry(registry);
    builder.start_deadline(Duration::from_secs(60)).build().unwrap()
}

/// What administrators set, and what needs nothing of this library's.
#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn settings_that_lose_nothing_change_nothing() {
    for options in [
        &["--autocommit=OFF", "--transaction-isolation=SERIALIZABLE", "--lower-case-table-names=1"]
            as &[&str],
        &[
            "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES,NO_UNSIGNED_SUBTRACTION",
            "--transaction-isolation=READ-UNCOMMITTED",
            "--default-storage-engine=MyISAM",
            "--sql-generate-invisible-primary-key=ON",
        ],
        &[
            "--sql-mode=",
            "--sql-require-primary-key=ON",
            "--disabled-storage-engines=MyISAM,MEMORY",
            "--innodb-strict-mode=OFF",
            "--innodb-rollback-on-timeout=ON",
            "--innodb-deadlock-detect=OFF",
            "--innodb-use-fdatasync=OFF",
            "--default-time-zone=+13:00",
            "--character-set-server=latin1",
            "--gtid-mode=OFF",
            "--enforce-gtid-consistency=OFF",
        ],
    ] {
        let server = OwnServer::start_mysql_9(options);
        let one = start(&server.url());
        let other = start(&server.url());
        let ids = [one.worker_id(), other.worker_id()];
        assert_eq!(ids, [1, 2], "{options:?}");
        one.take().unwrap();
        let store = Store::open(server.url()).unwrap();
        let segments = Segments::builder().source(store.segments().unwrap()).build().unwrap();
        let orders = segments.create("orders", Tag::new()).unwrap();
        let taken = [(); 3].map(|()| orders.take().unwrap().to_string());
        assert_eq!(taken, ["1", "2", "3"], "{options:?}");
    }
}

#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn a_server_that_may_not_be_written_gives_nothing() {
    let server = OwnServer::start_mysql_9(&[]);
    assert_eq!(said(&server.url()), "");
    let cases = [
        ("super_read_only", "its read_only is on"),
        ("read_only", "its read_only is on"),
        ("transaction_read_only", "its transactions only read"),
    ];
    for (setting, expected) in cases {
        server.run(&format!("SET GLOBAL {setting} = ON"));
        each(&[(server.url(), expected)]);
        server.run(&format!("SET GLOBAL {setting} = OFF"));
        server.run("SET GLOBAL read_only = OFF");
        each(&[(server.url(), "")]);
    }
}

/// Two servers, of which each has the other's commits.
fn group(is_single_primary: bool) -> [OwnServer; 2] {
    let ports = [free_port(), free_port()];
    let places = ports.map(|port| format!("127.0.0.1:{port}"));
    let servers = [0, 1].map(|member| {
        OwnServer::start_mysql_9(&[
            &format!("--server-id={}", member + 1),
            "--report-host=127.0.0.1",
            "--gtid-mode=ON",
            "--enforce-gtid-consistency=ON",
            "--plugin-load-add=group_replication.so",
            "--group-replication-group-name=3f8a1b2c-0000-4000-8000-000000000001",
            &format!("--group-replication-local-address={}", places[member]),
            &format!("--group-replication-group-seeds={}", places.join(",")),
            "--group-replication-start-on-boot=OFF",
            "--group-replication-recovery-get-public-key=ON",
            &format!("--group-replication-single-primary-mode={}", u8::from(is_single_primary)),
        ])
    });
    for server in &servers {
        // The database of each is no commit of the other's.
        server.run("RESET BINARY LOGS AND GTIDS");
    }
    servers[0].run(
        "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION USER='root'; \
         SET GLOBAL group_replication_bootstrap_group = OFF",
    );
    servers[1].run("START GROUP_REPLICATION USER='root'");
    let members = "SELECT COUNT(*) FROM performance_schema.replication_group_members \
                   WHERE MEMBER_STATE = 'ONLINE'";
    let since = Instant::now();
    while servers.iter().any(|server| server.run(members) != "2") {
        let log = servers[1].log();
        assert!(since.elapsed() < Duration::from_secs(60), "the second joins the first: {log}");
        thread::sleep(Duration::from_millis(100));
    }
    servers
}

#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn a_group_gives_ids_at_its_primary_alone() {
    let [mut first, second] = group(true);
    assert_eq!(start(&first.url()).worker_id(), 1);
    each(&[(second.url(), "its read_only is on"), (first.url(), "")]);
    let uuid = second.run("SELECT @@server_uuid");
    second.run(&format!("SELECT group_replication_set_as_primary('{uuid}')"));
    each(&[(first.url(), "its read_only is on"), (second.url(), "")]);
    // Alone it is no majority, and must not go on: its commits would wait.
    first.crash();
    let left = Store::open(second.url()).unwrap().with_timeout(Duration::from_secs(5));
    let registry = left.registry().unwrap();
    let builder = UidGenerator::builder().registry(registry).start_deadline(Duration::ZERO);
    builder.build().unwrap_err();
}

/// Of two starts that meet, the group refuses one at its commit.
#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn no_id_is_given_by_two_primaries_of_a_group() {
    let servers = group(false);
    drop(start(&servers[0].url()));
    let all: Vec<UidGenerator> = thread::scope(|scope| {
        let starts = |server: &OwnServer| {
            let url = server.url();
            scope.spawn(move || (0..20).map(|_| start(&url)).collect::<Vec<_>>())
        };
        let threads: Vec<_> = servers.iter().chain(&servers).map(starts).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let ids: BTreeSet<u64> = all.iter().map(UidGenerator::worker_id).collect();
    assert_eq!(ids.len(), 80, "{ids:?}");
}

#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn a_replica_gives_nothing_until_it_may_be_written() {
    let primary = OwnServer::start_mysql_9(&["--server-id=1"]);
    let replica = OwnServer::start_mysql_9(&["--server-id=2", "--skip-replica-start"]);
    replica.run("SET GLOBAL super_read_only = ON");
    let port = primary.port();
    replica.run(&format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, \
         SOURCE_USER = 'root', GET_SOURCE_PUBLIC_KEY = 1, SOURCE_AUTO_POSITION = 1"
    ));
    // The database of each is its own.
    primary.run("RESET BINARY LOGS AND GTIDS");
    replica.run("START REPLICA");
    let held = start(&primary.url());
    assert_eq!(held.worker_id(), 1);
    let at = primary.run("SELECT @@gtid_executed");
    replica.run(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{at}', 60)"));
    each(&[(replica.url(), "its read_only is on")]);
    replica.run("STOP REPLICA; SET GLOBAL read_only = OFF");
    assert_eq!(start(&replica.url()).worker_id(), 2);
}
