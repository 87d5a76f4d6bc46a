//! The seam, on servers of the tests' own.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::ZooKeeper;
use crate::backend::keys::{
    Action, Change, Deadline, Entry, Error, KeyStore, Session, Version, contract,
};
use crate::sync::{sleep, thread};

#[path = "../../../../tests/common/key_servers/zookeeper.rs"]
#[allow(dead_code)] // each program uses a part
mod servers;

use servers::{Switch, ZooKeepers};

const TIME: Duration = Duration::from_secs(10);

fn open(address: &str) -> ZooKeeper {
    ZooKeeper::at(address).unwrap()
}

/// What `call` comes to in a session of its own.
fn with<T>(
    store: &ZooKeeper,
    call: impl Fn(&mut dyn Session) -> Result<T, Error>,
) -> Result<T, Error> {
    let deadline = Deadline::after(TIME);
    let mut session = store.connect(&deadline)?;
    let result = call(&mut session);
    session.end();
    result
}

fn write<'a>(key: &'a str, version: Option<&'a Version>, value: &'a str) -> Change<'a> {
    Change { key, version, action: Action::Write(value) }
}

fn read(store: &ZooKeeper, key: &str) -> Result<Option<Entry>, Error> {
    with(store, |session| Ok(session.read(&[key])?.remove(0)))
}

/// The problem of a call that fails.
fn problem<T>(result: Result<T, Error>) -> String {
    match result.map(drop).unwrap_err() {
        Error::Unusable { problem, .. } => format!("unusable: {problem}"),
        Error::Unreachable { problem, .. } => format!("unreachable: {problem}"),
        Error::Denied(cause) => format!("denied: {cause}"),
        other => format!("{other:?}"),
    }
}

#[test]
#[ignore = "needs ZooKeeper"]
fn a_single_server_keeps_the_contract() {
    let servers = ZooKeepers::start(1, "");
    let places = servers.places();
    contract::check(&open(&format!("zookeeper://{places}")));
    contract::check(&open(&format!("zookeeper://{places}/a/b/c")));
    contract::check(&open(&format!("zookeeper://me:secret@{places}/mine")));
    a_folder_is_no_key(&places);
    a_key_made_again_has_another_version(&open(&format!("zookeeper://{places}/again")));
    many_keys_are_listed(&open(&format!("zookeeper://{places}/many")));
    nodes_are_their_users_alone(&places);
    an_address_is_refused(&places);
    a_lost_answer_leaves_the_outcome_open(servers.port(0));
    a_server_that_does_not_answer_is_away(&servers);
}

/// It is there, and no key can be made in its place.
fn a_folder_is_no_key(places: &str) {
    let inner = open(&format!("zookeeper://{places}/outer/store"));
    assert!(with(&inner, |session| session.commit(&[write("a", None, "1")])).unwrap());
    let outer = open(&format!("zookeeper://{places}/outer"));
    let said = problem(read(&outer, "store"));
    assert!(said.starts_with("unusable: the node /outer/store has no data"), "{said}");
    assert_eq!(read(&outer, "nothing").unwrap(), None);
}

fn a_key_made_again_has_another_version(store: &ZooKeeper) {
    assert!(with(store, |session| session.commit(&[write("a/b", None, "1")])).unwrap());
    let old = read(store, "a/b").unwrap().unwrap();
    let remove = Change { key: "a/b", version: Some(&old.version), action: Action::Remove };
    assert!(with(store, |session| session.commit(std::slice::from_ref(&remove))).unwrap());
    assert!(with(store, |session| session.commit(&[write("a/b", None, "2")])).unwrap());
    assert_ne!(read(store, "a/b").unwrap().unwrap().version, old.version);
    let late = write("a/b", Some(&old.version), "3");
    assert!(!with(store, |session| session.commit(std::slice::from_ref(&late))).unwrap());
    assert!(!with(store, |session| session.commit(std::slice::from_ref(&remove))).unwrap());
    assert_eq!(read(store, "a/b").unwrap().unwrap().value, "2");
}

fn many_keys_are_listed(store: &ZooKeeper) {
    let keys: Vec<String> = (0..1_000).map(|key| format!("keys/{key}")).collect();
    let changes: Vec<_> = keys.iter().map(|key| write(key, None, key)).collect();
    assert!(with(store, |session| session.commit(&changes)).unwrap());
    let listed = with(store, |session| session.list("keys")).unwrap();
    assert_eq!(listed.len(), keys.len());
    assert!(listed.iter().all(|(name, entry)| entry.value == format!("keys/{name}")));
    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    let read = with(store, |session| session.read(&names)).unwrap();
    assert!(read.iter().zip(&keys).all(|(entry, key)| entry.as_ref().unwrap().value == *key));
}

fn nodes_are_their_users_alone(places: &str) {
    for other in ["you:secret@", "me:Secret@", ""] {
        let other = open(&format!("zookeeper://{other}{places}/mine"));
        for said in [
            problem(read(&other, "a")),
            problem(with(&other, |session| session.list("b"))),
            problem(with(&other, |session| session.commit(&[write("new", None, "1")]))),
            problem(with(&other, |session| session.now())),
        ] {
            assert!(said.starts_with("denied: it may not use the node /mine"), "{said}");
            assert!(!said.contains("ecret"), "{said}");
        }
    }
}

fn an_address_is_refused(places: &str) {
    for (address, said) in [
        ("zookeeper://me@h", "a user without a password"),
        ("zookeeper://m%3Ae:secret@h", "names have a colon"),
        ("zookeeper://me:secret@h/zookeeper/quota", "the path /zookeeper is ZooKeeper's own"),
        ("zookeeper://me:secret@h?ca=/nowhere.pem", "begins with zookeepers://"),
        ("zookeepers://me:secret@h?ca=/nowhere.pem", "/nowhere.pem: "),
        ("zookeepers://me:secret@h?cert=/nowhere.pem", "belong together"),
        ("zookeeper://me:secret@h?admin=x", "its parameter admin is \"x\""),
    ] {
        let found = problem(ZooKeeper::at(address));
        assert!(found.contains(said) && found.starts_with("unusable"), "{address}: {found}");
        assert!(!found.contains("secret"), "{found}");
    }
    let shown = format!("{:?}", open(&format!("zookeeper://me:secret@{places}")));
    assert!(shown.contains(&format!("zookeeper://me@{places}/uidring")), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
    // A port that nobody listens at, and one of another program.
    let port = program(|_| b"HTTP/1.0 400 Bad Request\r\n\r\n".to_vec());
    let said = problem(read(&open(&format!("zookeeper://127.0.0.1:{port}")), "a"));
    assert!(said.starts_with("unusable: what answers at 127.0.0.1:"), "{said}");
    let said = problem(read(&open("zookeeper://127.0.0.1:1"), "a"));
    assert!(said.starts_with("unreachable: the server 127.0.0.1:1 cannot be reached"), "{said}");
    // The others serve where one does not.
    let some = open(&format!("zookeeper://127.0.0.1:1,{places},127.0.0.1:{port}"));
    for _ in 0..10 {
        assert_eq!(read(&some, "nothing").unwrap(), None);
    }
}

/// The port of a program that answers once on each connection, as it does to these bytes.
fn program(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut request) = (client.unwrap(), [0; 1_000]);
            let length = client.read(&mut request).unwrap_or(0);
            let _ = client.write_all(&answer(&request[..length]));
        }
    });
    port
}

/// Whichever is asked first: the one that is down may come back, and serve.
#[test]
fn a_wrong_port_beside_a_server_that_is_down_is_not_the_end() {
    let port = program(|_| b"HTTP/1.0 400 Bad Request\r\n\r\n".to_vec());
    let store = open(&format!("zookeeper://127.0.0.1:1,127.0.0.1:{port}"));
    for _ in 0..20 {
        let said = problem(read(&store, "a"));
        assert!(said.starts_with("unreachable: "), "{said}");
        assert!(said.contains("the server 127.0.0.1:1 cannot be reached"), "{said}");
        assert!(said.contains(&format!("what answers at 127.0.0.1:{port} does not")), "{said}");
    }
    // Nobody else is there who could serve.
    let store = open(&format!("zookeeper://127.0.0.1:{port},localhost:{port}"));
    let said = problem(read(&store, "a"));
    assert!(said.starts_with("unusable: what answers at "), "{said}");
}

/// What a server says of itself that closes each session, to a process that has seen more than it.
fn closed(mode: &'static str) -> String {
    let port = program(move |request| {
        let status = format!("Zxid: 0x100000003\nMode: {mode}\n");
        if request == b"srvr" { status.into_bytes() } else { Vec::new() }
    });
    let store = open(&format!("zookeeper://127.0.0.1:{port}"));
    store.cluster.note(0x2_0000_0001);
    problem(read(&store, "a"))
}

/// The servers elect another leader, and the old one has not noticed yet that it is cut off.
#[test]
fn a_leader_that_was_deposed_is_no_old_copy() {
    let said = closed("leader");
    assert!(said.starts_with("unreachable: the newest change of the server"), "{said}");
    assert!(said.contains("another one leads by now, or the ensemble was restored"), "{said}");
    let said = closed("follower");
    assert!(said.contains("is behind the others of its ensemble"), "{said}");
    let said = closed("standalone");
    assert!(said.starts_with("unusable: the newest change of the server"), "{said}");
}

fn a_lost_answer_leaves_the_outcome_open(port: u16) {
    let cut = Switch::default();
    let store = open(&format!("zookeeper://127.0.0.1:{}/lost", servers::proxy(port, cut.clone())));
    assert!(with(&store, |session| session.commit(&[write("a", None, "1")])).unwrap());
    let said = problem(with(&store, |session| {
        cut.turn(true);
        session.commit(&[write("b", None, "2")])
    }));
    assert!(said.starts_with("unreachable: "), "{said}");
    cut.turn(false);
    assert_eq!(read(&store, "b").unwrap().unwrap().value, "2");
}

fn a_server_that_does_not_answer_is_away(servers: &ZooKeepers) {
    let store = open(&format!("zookeeper://{}", servers.places()));
    servers.signal(0, "-STOP");
    let deadline = Deadline::after(Duration::from_millis(300));
    let said = problem(store.connect(&deadline));
    servers.signal(0, "-CONT");
    assert!(said.starts_with("unreachable: the server 127.0.0.1:"), "{said}");
    assert!(said.contains("does not answer"), "{said}");
    // So is one that stops after it has given a session.
    let deadline = Deadline::after(Duration::from_secs(1));
    let mut session = store.connect(&deadline).unwrap();
    servers.signal(0, "-STOP");
    let said = problem(session.commit(&[write("late", None, "1")]));
    servers.signal(0, "-CONT");
    assert!(said.starts_with("unreachable: "), "{said}");
}

#[test]
#[ignore = "needs ZooKeeper"]
fn an_ensemble_keeps_the_contract_and_what_it_has_confirmed() {
    let mut servers = ZooKeepers::start(3, "-Dreadonlymode.enabled=true");
    let store = open(&format!("zookeeper://{}/ids", servers.places()));
    contract::check(&store);
    // Each server by itself sees what was written through another: also one that was stopped
    // meanwhile, and learns of the write and of the read at one time.
    let alone: Vec<_> = (0..3)
        .map(|server| open(&format!("zookeeper://127.0.0.1:{}/ids", servers.port(server))))
        .collect();
    let leader = servers.leader();
    for round in 0..30 {
        let value = round.to_string();
        let follower = (leader + 1 + round % 2) % 3;
        let before = read(&alone[leader], "round").unwrap();
        let version = before.as_ref().map(|entry| &entry.version);
        let change = write("round", version, &value);
        let deadline = Deadline::after(TIME);
        let mut session = alone[follower].connect(&deadline).unwrap();
        servers.signal(follower, "-STOP");
        let commit = |session: &mut dyn Session| session.commit(std::slice::from_ref(&change));
        let is_written = with(&alone[leader], commit);
        let found = thread::scope(|scope| {
            scope.spawn(|| {
                sleep(Duration::from_millis(20));
                servers.signal(follower, "-CONT");
            });
            session.read(&["round"])
        });
        assert!(is_written.unwrap());
        assert_eq!(found.unwrap()[0].as_ref().unwrap().value, value);
        session.end();
    }

    // A counter goes on while the leader is killed, and nothing that was confirmed is lost.
    let (is_over, counter) = (Switch::default(), store.clone());
    let is_done = is_over.clone();
    let writer = thread::spawn(move || {
        let mut confirmed = 0_u64;
        let mut failures = 0;
        while !is_done.is_on() {
            let Ok(before) = read(&counter, "counter") else { continue };
            let found = before.as_ref().map_or(0, |entry| entry.value.parse().unwrap());
            assert!(found >= confirmed, "{found} after {confirmed}");
            let value = (found + 1).to_string();
            let version = before.as_ref().map(|entry| &entry.version);
            let change = write("counter", version, &value);
            match with(&counter, |session| session.commit(std::slice::from_ref(&change))) {
                Ok(true) => confirmed = found + 1,
                Ok(false) => {}
                Err(Error::Unreachable { .. }) => failures += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        (confirmed, failures)
    });
    sleep(Duration::from_millis(500));
    let leader = servers.leader();
    servers.kill(leader);
    let next = (leader + 1) % 3;
    servers.await_text(next, "Mode: ");
    sleep(Duration::from_secs(1));
    servers.restart(leader);
    is_over.turn(true);
    let (confirmed, failures) = writer.join().unwrap();
    assert!(confirmed > 10, "{confirmed} confirmed, {failures} unknown");
    let found: u64 = read(&store, "counter").unwrap().unwrap().value.parse().unwrap();
    assert!(found >= confirmed);

    // Without the others a server takes no writes.
    servers.kill(0);
    servers.kill(1);
    servers.await_text(2, "Mode: read-only");
    let said = problem(read(&alone[2], "counter"));
    assert!(said.starts_with("unreachable: ") && said.contains("takes no writes"), "{said}");
    let said = problem(read(&store, "counter"));
    assert!(said.starts_with("unreachable: "), "{said}");
}

fn admin_answers(port: u16) -> bool {
    let ask = || -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"GET /commands/system_properties HTTP/1.0\r\n\r\n")?;
        io::read_to_string(stream)
    };
    ask().is_ok_and(|answer| answer.contains("forceSync") || answer.contains("java.version"))
}

#[test]
#[ignore = "needs ZooKeeper"]
fn a_server_that_may_lose_writes_is_refused() {
    let admin = servers::free_port();
    let on =
        format!("4lw.commands.whitelist=srvr\nadmin.serverPort={admin}\nadmin.enableServer=true");
    for (lines, user, said) in [
        ("forceSync=no".to_owned(), "", "writes and syncs nothing"),
        (format!("forceSync=no\n{on}"), "", "forceSync=no, and may lose"),
        (format!("snapshot.trust.empty=true\nskipACL=yes\n{on}"), "", "snapshot.trust.empty=true"),
        (format!("skipACL=yes\n{on}"), "me:secret@", "skipACL=yes"),
    ] {
        let servers = ZooKeepers::start(1, &lines);
        let places = servers.places();
        // A server may answer before its admin server does, whose first answer takes long.
        let since = Instant::now();
        while lines.contains("serverPort") && !admin_answers(admin) {
            assert!(since.elapsed() < Duration::from_secs(60), "the admin server answers");
            sleep(Duration::from_millis(50));
        }
        let address = format!("zookeeper://{user}{places}/ids?admin={admin}");
        let found = problem(read(&open(&address), "a"));
        assert!(found.starts_with("unusable: the server 127.0.0.1:"), "{found}");
        assert!(found.contains(said), "{found}");
        // Where the setting cannot be seen, it cannot be told.
        if lines.contains("serverPort") {
            read(&open(&format!("zookeeper://{user}{places}/ids?admin=0")), "a").unwrap();
        }
    }
}

#[test]
#[ignore = "needs ZooKeeper"]
fn an_old_copy_is_noticed() {
    let mut servers = ZooKeepers::start(1, "");
    let store = open(&format!("zookeeper://{}/ids", servers.places()));
    assert!(with(&store, |session| session.commit(&[write("a", None, "1")])).unwrap());
    let (data, copy) = (servers.data(0), servers.data(0).with_extension("copy"));
    servers.kill(0);
    let copied = std::process::Command::new("cp").arg("-r").args([&data, &copy]).status();
    assert!(copied.unwrap().success());
    servers.restart(0);
    let clone = store.clone();
    assert!(with(&clone, |session| session.commit(&[write("b", None, "2")])).unwrap());
    servers.kill(0);
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::rename(&copy, &data).unwrap();
    servers.restart(0);
    let said = problem(read(&store, "b"));
    assert!(said.starts_with("unusable: the newest change of the server"), "{said}");
    // Who has seen nothing cannot tell.
    assert_eq!(read(&open(&format!("zookeeper://{}/ids", servers.places())), "b").unwrap(), None);
}

#[test]
#[ignore = "needs ZooKeeper"]
fn servers_with_tls_are_trusted_by_their_certificate() {
    let certificates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates");
    let file = |name: &str| certificates.join(name).display().to_string();
    let (certificate, key) = (file("127.0.0.1.pem"), file("127.0.0.1-key.pem"));
    let folder = tempfile::tempdir().unwrap();
    let both = folder.path().join("both.pem");
    let text = [&key, &certificate].map(|path| std::fs::read_to_string(path).unwrap()).concat();
    std::fs::write(&both, text).unwrap();
    let (port, authority) = (servers::free_port(), file("authority.pem"));
    let servers = ZooKeepers::start(
        1,
        &format!(
            "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n\
             secureClientPort={port}\nssl.keyStore.location={}\nssl.keyStore.type=PEM\n\
             ssl.trustStore.location={authority}\nssl.trustStore.type=PEM\nssl.clientAuth=need",
            both.display()
        ),
    );
    // It is opened after the other.
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        sleep(Duration::from_millis(50));
    }
    let at = |parameters: &str| open(&format!("zookeepers://127.0.0.1:{port}/tls?{parameters}"));
    let ours = format!("cert={certificate}&key={key}");
    contract::check(&at(&format!("ca={authority}&{ours}")));
    let said = problem(read(&at(&ours), "a"));
    assert!(said.starts_with("unusable: ") && said.contains("do not agree on TLS"), "{said}");
    // The server asks for a certificate.
    let said = problem(read(&at(&format!("ca={authority}")), "a"));
    assert!(said.contains("the server 127.0.0.1:"), "{said}");
    // Neither port speaks as the other.
    let plain = open(&format!("zookeeper://127.0.0.1:{port}"));
    let said = problem(read(&plain, "a"));
    assert!(said.contains("the server 127.0.0.1:"), "{said}");
    let tls = open(&format!("zookeepers://127.0.0.1:{}?ca={authority}", servers.port(0)));
    let said = problem(read(&tls, "a"));
    assert!(said.contains("the server 127.0.0.1:"), "{said}");
}
