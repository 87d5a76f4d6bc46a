//! Worker ids from the table of Baidu's `UidGenerator`, beside programs that use it themselves.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use uidring::registry::{
    MySqlRegistry, RegistryAdmin, Request, UidGeneratorRegistry, WorkerRegistry,
};
use uidring::{BuildError, Builder, Layout, RegistryError, UidGenerator};

use crate::causes::with_causes;
use crate::databases::{Database, Server, has_mysql_itself};

fn builder(registry: impl WorkerRegistry) -> Builder {
    UidGenerator::builder().registry(registry).start_deadline(Duration::ZERO)
}

/// The statement with which `UidGenerator` creates its table.
const WORKER_NODE: &str = "
    CREATE TABLE WORKER_NODE (
        ID BIGINT NOT NULL AUTO_INCREMENT COMMENT 'auto increment id',
        HOST_NAME VARCHAR(64) NOT NULL COMMENT 'host name',
        PORT VARCHAR(64) NOT NULL COMMENT 'port',
        TYPE INT NOT NULL COMMENT 'node type: CONTAINER(1), ACTUAL(2)',
        LAUNCH_DATE DATE NOT NULL COMMENT 'launch date',
        MODIFIED TIMESTAMP NOT NULL COMMENT 'modified time',
        CREATED TIMESTAMP NOT NULL COMMENT 'created time',
        PRIMARY KEY(ID)
    ) COMMENT = 'DB WorkerID Assigner for UID Generator', ENGINE = INNODB";

/// The statement that `UidGenerator` runs at each start.
const ITS_START: &str = "INSERT INTO WORKER_NODE \
    (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) \
    VALUES ('10.0.0.1', '1500000000000-77777', 2, '2026-01-01', NOW(), NOW()); \
    SELECT LAST_INSERT_ID()";

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn unique_beside_programs_with_uid_generator_on_mysql() {
    let database = Server::MySql.database();
    database.run(WORKER_NODE);
    let start = |nth: usize| {
        if nth.is_multiple_of(2) {
            database.run(ITS_START).trim().parse::<u64>().unwrap()
        } else {
            let registry = MySqlRegistry::open(&database.url).unwrap().uid_generator();
            builder(registry).build().unwrap().worker_id()
        }
    };
    let ids: Vec<u64> = thread::scope(|scope| {
        let starts: Vec<_> = (0..64).map(|nth| scope.spawn(move || start(nth))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 64, "none twice: {ids:?}");
    // Each start of either kind has its row.
    let rows = "SELECT COUNT(*), COUNT(DISTINCT ID), MIN(TYPE) > 0 FROM WORKER_NODE";
    assert_eq!(database.run(rows).split_whitespace().collect::<Vec<_>>(), ["64", "64", "1"]);
}

/// As in an old copy: a process that took its own id again would repeat what it has given.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_process_takes_its_own_id_no_second_time_on_mysql() {
    let database = Server::MySql.database();
    database.run(WORKER_NODE);
    let request = Request::new(Layout::DEFAULT, 10_000_000, Layout::DEFAULT.max_tick());
    let mut registry = MySqlRegistry::open(&database.url).unwrap().uid_generator();
    assert_eq!(registry.assign(&request).unwrap().worker, 1);
    database.run("TRUNCATE WORKER_NODE");
    let error = registry.clone().assign(&request).unwrap_err().to_string();
    assert!(error.contains("that gave worker id 1 to this process, or an old copy"), "{error}");
}

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn what_a_table_of_uid_generator_lacks_is_told_on_mysql() {
    let database = Server::MySql.database();
    let open = || MySqlRegistry::open(&database.url).unwrap();
    let error =
        |registry: UidGeneratorRegistry| with_causes(&builder(registry).build().unwrap_err());
    let missing = error(open().uid_generator());
    assert!(missing.contains("its table WORKER_NODE is not there; name the database"), "{missing}");
    // Nor has it been made, or any of our own.
    assert_eq!(database.run("SHOW TABLES").trim(), "");
    database.run(WORKER_NODE);
    let long = "a".repeat(300);
    assert_eq!(
        builder(open().with_host(&long, &long).uid_generator()).build().unwrap().worker_id(),
        1
    );
    for registry in [
        open().leased(Duration::from_secs(60)),
        open().partition(0, 2).unwrap(),
        open().worker_ids(1..=9).unwrap(),
    ] {
        let refused = error(registry.uid_generator());
        assert!(refused.contains("leave out leased, partition and worker_ids"), "{refused}");
    }
    database.run("ALTER TABLE WORKER_NODE AUTO_INCREMENT = 1048576");
    let full = error(open().uid_generator());
    assert!(full.contains("has come to the id 1048576, and the worker field ends"), "{full}");
    let rows = "SELECT COUNT(*) FROM WORKER_NODE";
    assert_eq!(database.run(rows).trim(), "1", "what is refused leaves no row");
    database.run("ALTER TABLE WORKER_NODE DROP COLUMN HOST_NAME");
    let foreign = error(open().uid_generator());
    assert!(foreign.contains("does not have the columns of UidGenerator's"), "{foreign}");
    database.run("DROP TABLE WORKER_NODE");
    database.run(&WORKER_NODE.replace("INNODB", "MyISAM"));
    let forgetful = error(open().uid_generator());
    assert!(forgetful.contains("MyISAM"), "{forgetful}");
    if !has_mysql_itself() {
        database.run("ALTER TABLE WORKER_NODE PARTITION BY HASH (ID)");
    }
    let forgetful = error(open().uid_generator());
    assert!(forgetful.contains("its table WORKER_NODE has the engine MyISAM"), "{forgetful}");
    database.run("ALTER TABLE WORKER_NODE RENAME TO KEPT");
    database.run("CREATE VIEW WORKER_NODE AS SELECT * FROM KEPT");
    let view = error(open().uid_generator());
    assert!(view.contains("its WORKER_NODE is no table but a view, behind which"), "{view}");
}

/// Worker ids of tables of our own beside those of `UidGenerator` could be the same ones.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_registry_is_not_begun_beside_uid_generator_until_somebody_says_which_ids_are_whose_on_mysql() {
    let database = Server::MySql.database();
    let open = || MySqlRegistry::open(&database.url).unwrap();
    let refused = |registry: MySqlRegistry, from: u64| match builder(registry).build() {
        Err(BuildError::Registry(RegistryError::BesideUidGenerator { first, last: 2 })) => {
            assert_eq!(first, from);
        }
        other => panic!("it begins: {other:?}"),
    };
    database.run(WORKER_NODE);
    for node in ["1", "2"] {
        assert_eq!(database.run(ITS_START).trim(), node);
    }
    refused(open(), 1);
    refused(open().leased(Duration::from_secs(60)), 1);
    refused(open().partition(0, 2).unwrap(), 1);
    refused(open().worker_ids(2..=9).unwrap(), 2);
    assert_eq!(database.run("SHOW TABLES").trim(), "WORKER_NODE", "none of our own is made");
    let error = with_causes(&builder(open()).build().unwrap_err());
    for way in ["(uid_generator)", "(worker_ids, partition)", "another database", "up to 2"] {
        assert!(error.contains(way), "{error}");
    }
    // Nor where the tables are there, and have not been used.
    database.run(include_str!("../../schema.mysql.sql"));
    refused(open(), 1);
    // Each way that the error names.
    assert_eq!(builder(open().uid_generator()).build().unwrap().worker_id(), 3);
    for worker in [1000, 1001] {
        let chosen = open().worker_ids(1000..=2000).unwrap();
        assert_eq!(builder(chosen).build().unwrap().worker_id(), worker);
    }
    // A table that only has the name is nobody's.
    let database = Server::MySql.database();
    database.run("CREATE TABLE WORKER_NODE (ID BIGINT PRIMARY KEY, NAME VARCHAR(64))");
    let registry = || MySqlRegistry::open(&database.url).unwrap();
    assert_eq!(builder(registry()).build().unwrap().worker_id(), 1);
    // A registry that is in use goes on.
    database.run("DROP TABLE WORKER_NODE");
    database.run(WORKER_NODE);
    assert_eq!(builder(registry()).build().unwrap().worker_id(), 2);
}

/// A table of `UidGenerator` that is new gives the ids again that a registry has given.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn no_id_of_uid_generator_is_taken_that_a_registry_in_the_same_database_may_give_on_mysql() {
    let own = |database: &Database| MySqlRegistry::open(&database.url).unwrap();
    let refused = |registry: UidGeneratorRegistry, id: u64, ids: &str| {
        let tried = registry.try_out(&Layout::DEFAULT).unwrap_err();
        for error in [with_causes(&tried), with_causes(&builder(registry).build().unwrap_err())] {
            let both = format!(
                "its table WORKER_NODE has come to the id {id}, and this library's own table \
                 uidring_layout in the same database gives {ids} for the same layout"
            );
            assert!(error.contains(&both), "{error}");
        }
    };
    let database = Server::MySql.database();
    assert_eq!(builder(own(&database)).build().unwrap().worker_id(), 1);
    database.run(WORKER_NODE);
    // Each try uses an id up, and an id that the registry has not given yet is no better.
    for id in 1..=3 {
        let error = with_causes(&builder(own(&database).uid_generator()).build().unwrap_err());
        let both = format!("has come to the id {id}, and this library's own table");
        assert!(error.contains(&both), "{error}");
    }
    assert_eq!(database.run("SELECT COUNT(*) FROM WORKER_NODE").trim(), "0");
    // UIDs of another layout are not compared with these.
    let other = Layout::new(29, 21, 13).unwrap();
    let with_other = builder(own(&database).uid_generator()).layout(other).build();
    assert!(with_other.unwrap().worker_id() > 3);
    // Those who have chosen their ids.
    let database = Server::MySql.database();
    let chosen = own(&database).worker_ids(1000..=2000).unwrap();
    assert_eq!(builder(chosen).build().unwrap().worker_id(), 1000);
    database.run(WORKER_NODE);
    assert_eq!(builder(own(&database).uid_generator()).build().unwrap().worker_id(), 1);
    database.run(&ITS_START.replace("(HOST", "(ID, HOST").replace("VALUES (", "VALUES (999, "));
    refused(own(&database).uid_generator(), 1000, "1000 to 2000");
}
