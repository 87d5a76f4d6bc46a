//! MySQL and MariaDB that are being repaired, and copies of theirs that are put back.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use uidring::registry::{RegistryAdmin, Request, WorkerRegistry};
use uidring::segment::{Number, SegmentSource, Segments, Tag};
use uidring::{Layout, RegistryOptions, Store};

use crate::asking::each;
use crate::causes::with_causes;
use crate::databases::{OwnServer, Server, has_mysql_itself, recipe};

fn request() -> Request {
    Request::new(Layout::DEFAULT, 10_000_000, Layout::DEFAULT.max_tick())
}

fn leased(store: &Store) -> impl WorkerRegistry + use<> {
    store.registry_with(RegistryOptions::new().leased(Duration::from_secs(60))).unwrap()
}

/// MariaDB itself would go on writing while it is repaired. What is asked for is told all the same.
#[test]
#[ignore = "needs MySQL's or MariaDB's server"]
fn mysql_that_is_repaired_or_only_reads_gives_nothing() {
    let mut server = OwnServer::start(Server::MySql);
    server.run("CREATE DATABASE others");
    let empty = server.url().replace("/ids", "/others");
    each(&[(server.url(), "")]);
    for (name, value) in [("innodb_read_only", "on"), ("innodb_force_recovery", "1")] {
        server.restart_with(&[&format!("--{name}={value}")]);
        let expected = format!("its {name} is {value}, ");
        each(&[(server.url(), &expected), (empty.clone(), &expected)]);
        let store = Store::open(server.url()).unwrap();
        assert_eq!(store.registry().unwrap().workers().unwrap().len(), 1);
    }
    server.restart_with(&[]);
    assert_eq!(server.run("SHOW TABLES FROM others"), "");
    each(&[(server.url(), ""), (empty, "")]);
}

/// The statements of a dump that may be put back on the same server.
fn dump(server: &OwnServer) -> String {
    let (program, options) = if has_mysql_itself() {
        ("mysqldump", &["--set-gtid-purged=OFF"][..])
    } else {
        ("mariadb-dump", &[][..])
    };
    let port = format!("--port={}", server.port());
    let mut command = Command::new(program);
    command.args(["--no-defaults", "--single-transaction", "--host=127.0.0.1", "--user=root"]);
    let output = command.args(options).args([&port, "ids"]).output().expect("it is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Whoever goes on with what it had notices that, and whoever starts cannot.
#[test]
#[ignore = "needs MySQL's or MariaDB's server, and its client that dumps"]
fn a_dump_of_mysql_is_an_old_copy_until_it_is_made_good() {
    let server = OwnServer::start(Server::MySql);
    let store = Store::open(server.url()).unwrap();
    let mut before = leased(&store);
    let lease = before.assign(&request()).unwrap();
    let segments = Segments::builder().source(store.segments().unwrap()).build().unwrap();
    let orders = segments.create("orders", Tag::new().step(10)).unwrap();
    let take = |count| (0..count).map(|_| orders.take().map(Number::get));
    let few: Vec<u64> = take(5).map(Result::unwrap).collect();
    let copy = dump(&server);
    before.reserve(&lease, lease.last + 1000).unwrap();
    assert_eq!(leased(&store).assign(&request()).unwrap().worker, 2);
    let more: Vec<u64> = take(300).map(Result::unwrap).collect();

    assert!(Server::MySql.script(&server.url(), &copy).0);
    let other = Store::open(server.url()).unwrap();
    let again = other.segments().unwrap().load("orders", None).unwrap().first;
    assert!(more.contains(&again), "{again}, as it was then");
    let error = with_causes(&before.reserve(&lease, lease.last + 2000).unwrap_err());
    let told = "its tables are not those that gave worker id 1 to this process, or an old copy of \
                them, and would give ids again";
    assert!(error.contains(told), "{error}");
    let (rest, ended): (Vec<_>, Vec<_>) = take(1000).partition(Result::is_ok);
    let error = with_causes(ended[0].as_ref().unwrap_err());
    assert!(error.contains("the row of the tag went back; set its next number"), "{error}");
    let all: BTreeSet<u64> =
        few.iter().chain(&more).copied().chain(rest.into_iter().map(Result::unwrap)).collect();
    assert_eq!(all.len(), 1305 - ended.len(), "none comes twice");

    assert_eq!(leased(&other).assign(&request()).unwrap().worker, 2, "as it was then");
    server.run(&recipe(include_str!("../../schema.mysql.sql"), 100));
    assert_eq!(leased(&other).assign(&request()).unwrap().worker, 101);
}

/// A copy of the files: of MySQL itself while it runs, by its plugin, and else of one that is
/// stopped.
fn copy_of(server: &mut OwnServer) -> OwnServer {
    if !has_mysql_itself() {
        return server.copy();
    }
    server.run("INSTALL PLUGIN clone SONAME 'mysql_clone.so'");
    server.copy_running(|_, copy| {
        server.run(&format!("CLONE LOCAL DATA DIRECTORY = '{}'", copy.display()));
    })
}

#[test]
#[ignore = "needs MySQL's or MariaDB's server"]
fn a_copy_of_mysqls_files_is_an_old_copy_until_it_is_made_good() {
    let mut server = OwnServer::start(Server::MySql);
    let store = Store::open(server.url()).unwrap();
    let first = leased(&store).assign(&request()).unwrap().worker;
    let copy = copy_of(&mut server);
    let given: Vec<u64> =
        (0..3).map(|_| leased(&store).assign(&request()).unwrap().worker).collect();
    assert_eq!((first, given), (1, vec![2, 3, 4]));
    drop(server);

    let restored = Store::open(copy.url()).unwrap();
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, 2, "as it was then");
    copy.run(&recipe(include_str!("../../schema.mysql.sql"), 100));
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, 101);
}
