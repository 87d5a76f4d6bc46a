#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Etcd, Token};
use crate::backend::keys::contract;
use crate::backend::keys::{Action, Change, Deadline, Entry, Error, KeyStore, Session, Version};
use crate::sync::{Arc, Mutex, lock, sleep, thread};

#[path = "../../../../tests/common/key_servers/etcd.rs"]
#[allow(dead_code)]
mod own;

use own::{Act, Etcds, Relay};

const TIME: Duration = Duration::from_secs(12);

fn at(places: &str) -> Etcd {
    Etcd::at(&format!("etcd://{places}/ids")).unwrap()
}

/// A call, in a time that is enough for it.
fn call<T>(
    store: &Etcd,
    body: impl FnOnce(&mut dyn Session) -> Result<T, Error>,
) -> Result<T, Error> {
    let deadline = Deadline::after(TIME);
    let mut session = store.connect(&deadline)?;
    let result = body(&mut session);
    session.end();
    result
}

fn read(store: &Etcd, key: &str) -> Result<Option<Entry>, Error> {
    call(store, |session| Ok(session.read(&[key])?.remove(0)))
}

fn value(store: &Etcd, key: &str) -> Option<String> {
    read(store, key).unwrap().map(|entry| entry.value)
}

fn put<'a>(key: &'a str, version: Option<&'a Version>, value: &'a str) -> Change<'a> {
    Change { key, version, action: Action::Write(value) }
}

/// Writes a key, whatever is there.
fn write(store: &Etcd, key: &str, value: &str) -> Result<bool, Error> {
    call(store, |session| {
        let entry = session.read(&[key])?.remove(0);
        session.commit(&[put(key, entry.as_ref().map(|entry| &entry.version), value)])
    })
}

fn unusable(error: &Error) -> String {
    assert!(matches!(error, Error::Unusable { .. }), "{error:?}");
    format!("{error:?}")
}

fn unreachable(error: &Error) -> String {
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    format!("{error:?}")
}

fn certificate(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/certificates")
        .join(name)
        .display()
        .to_string()
}

#[test]
fn addresses_are_read() {
    let store = Etcd::at("etcd://me:se%40cret@a,[::1]:1/x/y").unwrap();
    assert_eq!(store.name(), "etcd://me@a:2379,[::1]:1/x/y");
    let urls: Vec<_> = store.servers.iter().map(|server| server.url.as_str()).collect();
    assert_eq!(urls, ["http://a:2379", "http://[::1]:1"]);
    assert_eq!(store.folder, "x/y");
    assert_eq!(at("a").folder, "ids");
    assert_eq!(Etcd::at("etcds://a").unwrap().folder, "uidring");
    assert_eq!(format!("{store:?}"), "Etcd { name: \"etcd://me@a:2379,[::1]:1/x/y\", .. }");
    let (ca, key) = (certificate("authority.pem"), certificate("127.0.0.1-key.pem"));
    for (address, problem) in [
        (format!("etcd://a?ca={ca}"), "its parameter ca has a meaning with TLS alone"),
        (format!("etcds://a?cert={ca}"), "add key"),
        (format!("etcds://a?key={key}"), "add cert"),
        (format!("etcds://a?cert={ca}&key={ca}"), "it holds no private key"),
        (format!("etcds://a?ca={key}"), "it holds no certificate"),
        ("etcds://a?ca=/nowhere".to_owned(), "/nowhere: No such file"),
    ] {
        let error = unusable(&Etcd::at(&address).unwrap_err());
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
#[ignore = "needs etcd's server"]
fn one_member_keeps_the_contract() {
    let etcd = Etcds::start(1, &[]);
    contract::check(&at(&etcd.places()));
}

#[test]
#[ignore = "needs etcd's server"]
fn three_members_keep_the_contract() {
    let etcd = Etcds::start(3, &[]);
    contract::check(&at(&etcd.places()));
    // What one member confirms, each other reads: also one that was stopped meanwhile, and learns
    // of the write and of the read at one time.
    let stores = [0, 1, 2].map(|member| at(&etcd.place(member)));
    let leader = (0..3).find(|member| etcd.leads(*member)).unwrap();
    for round in 0..30 {
        let text = round.to_string();
        let follower = (leader + 1 + round % 2) % 3;
        let deadline = Deadline::after(TIME);
        let mut session = stores[follower].connect(&deadline).unwrap();
        etcd.signal(follower, "-STOP");
        let is_written = write(&stores[leader], "turn", &text);
        let found = thread::scope(|scope| {
            scope.spawn(|| {
                sleep(Duration::from_millis(20));
                etcd.signal(follower, "-CONT");
            });
            session.read(&["turn"])
        });
        assert!(is_written.unwrap());
        assert_eq!(found.unwrap()[0].as_ref().unwrap().value, text);
        session.end();
    }
}

#[test]
#[ignore = "needs etcd's server"]
fn a_folder_of_thousands_of_keys_is_listed() {
    let etcd = Etcds::start(1, &[]);
    let store = at(&etcd.places());
    let names: Vec<String> = (0..2001).map(|index| format!("{index:04}")).collect();
    call(&store, |session| {
        for names in names.chunks(60) {
            let keys: Vec<String> = names.iter().map(|name| format!("many/{name}")).collect();
            let changes: Vec<_> = keys.iter().map(|key| put(key, None, "ü")).collect();
            assert!(session.commit(&changes)?);
        }
        // Neighbours, and what is in a folder of the folder.
        let others = ["many", "many0", "manz/a", "many/0001/x", "man/y"];
        assert!(session.commit(&others.map(|key| put(key, None, "x")))?);
        Ok(())
    })
    .unwrap();
    let mut listed = call(&store, |session| session.list("many")).unwrap();
    listed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let found: Vec<_> = listed.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(found, names);
    // More keys than a transaction may have parts.
    let keys: Vec<String> = names.iter().take(300).map(|name| format!("many/{name}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let read = call(&store, |session| session.read(&keys)).unwrap();
    let expected: Vec<_> = listed.into_iter().take(300).map(|(_, entry)| Some(entry)).collect();
    assert_eq!(read, expected);
    let changes: Vec<_> = keys.iter().map(|key| put(key, None, "x")).collect();
    let error = call(&store, |session| session.commit(&changes)).unwrap_err();
    assert!(unusable(&error).contains("--max-txn-ops"), "{error:?}");
}

#[test]
#[ignore = "needs etcd's server"]
fn a_call_asks_little() {
    let etcd = Etcds::start(1, &[]);
    let relay = Relay::start(&etcd.place(0), |_, _| Act::Pass);
    let store = at(&relay.place());
    let make = |session: &mut dyn Session| {
        session.read(&["a", "b"])?;
        session.now()?;
        session.commit(&[put("a", None, "1")])
    };
    assert!(call(&store, make).unwrap());
    let (txn, metrics) = ("/v3/kv/txn", "/metrics");
    let checks = ["/v3/maintenance/status", metrics];
    assert_eq!(relay.seen(), [&checks[..], &[txn, txn]].concat());
    // What is known of a member is known to clones, and is not asked for each call.
    assert!(!call(&store.clone(), make).unwrap());
    assert_eq!(relay.seen(), [txn, txn]);
    // When that was a while ago, it is asked again.
    lock(&store.cluster).checked.clear();
    assert!(!call(&store, make).unwrap());
    assert_eq!(relay.seen(), [checks[0], txn, txn]);
    lock(&store.cluster).synced.clear();
    assert!(!call(&store, make).unwrap());
    assert_eq!(relay.seen(), [metrics, txn, txn]);
}

#[test]
#[ignore = "needs etcd's server"]
fn a_server_that_is_down_is_passed_over() {
    let mut etcd = Etcds::start(3, &[]);
    let store = at(&format!("127.0.0.1:{},{}", own::free_port(), etcd.places()));
    assert!(write(&store, "a", "1").unwrap());
    // Who answered last is asked first.
    assert_eq!(lock(&store.cluster).first, 1);
    // During a call.
    call(&store, |session| {
        let entry = session.read(&["a"])?.remove(0);
        etcd.kill(0);
        assert_eq!(session.read(&["a"])?.remove(0), entry);
        session.commit(&[put("a", entry.as_ref().map(|entry| &entry.version), "2")])
    })
    .unwrap();
    assert_eq!(value(&store, "a").as_deref(), Some("2"));
    // Without a majority.
    etcd.kill(1);
    let error = unreachable(&read(&store, "a").unwrap_err());
    assert!(error.contains("none of its servers answers as it must"), "{error}");
    for place in store.servers.iter() {
        assert!(error.contains(&place.name), "{error}");
    }
    etcd.kill(2);
    let error = unreachable(&read(&store, "a").unwrap_err());
    assert!(error.contains("Connection refused"), "{error}");
    etcd.restart(&[0, 1]);
    assert_eq!(value(&store, "a").as_deref(), Some("2"));
}

#[test]
#[ignore = "needs etcd's server"]
fn a_server_that_hangs_leaves_time_for_others() {
    let etcd = Etcds::start(3, &[]);
    let store = at(&etcd.places());
    assert!(write(&store, "a", "1").unwrap());
    let hanging = lock(&store.cluster).first;
    etcd.signal(hanging, "-STOP");
    // One that reads goes on with another server in the same call.
    let deadline = Deadline::after(TIME);
    let mut session = store.connect(&deadline).unwrap();
    let entry = session.read(&["a"]).unwrap().remove(0).unwrap();
    assert_eq!(entry.value, "1");
    assert!(!deadline.left().is_zero());
    assert_ne!(lock(&store.cluster).first, hanging);
    session.end();
    etcd.signal(hanging, "-CONT");
    // One that writes does not, and has time left to find out what became of it.
    assert!(write(&store, "b", "1").unwrap());
    let deadline = Deadline::after(TIME);
    let mut session = store.connect(&deadline).unwrap();
    let entry = session.read(&["b"]).unwrap().remove(0).unwrap();
    let hanging = lock(&store.cluster).first;
    etcd.signal(hanging, "-STOP");
    let error = session.commit(&[put("b", Some(&entry.version), "2")]).unwrap_err();
    assert!(unreachable(&error).contains("it did not answer for"), "{error:?}");
    session.end();
    let mut session = store.connect(&deadline).unwrap();
    assert_eq!(session.read(&["b"]).unwrap(), [Some(entry)]);
    session.end();
    etcd.signal(hanging, "-CONT");
}

#[test]
#[cfg(unix)]
#[ignore = "needs etcd's server"]
fn a_forked_process_goes_on() {
    let etcd = Etcds::start(1, &[]);
    let store = at(&etcd.places());
    assert!(write(&store, "a", "1").unwrap());
    match fork::fork().unwrap() {
        fork::Fork::Child => {
            let is_written = matches!(write(&store, "a", "2"), Ok(true));
            std::process::exit(i32::from(!is_written));
        }
        fork::Fork::Parent(child) => {
            fork::waitpid(child).unwrap();
        }
    }
    assert_eq!(value(&store, "a").as_deref(), Some("2"));
}

/// The server makes the transaction, and the answer is lost. It is sent once.
#[test]
#[ignore = "needs etcd's server"]
fn a_write_whose_answer_is_lost_is_not_sent_again() {
    let etcd = Etcds::start(1, &[]);
    let act = |_: &str, body: &str| if body.contains("compare") { Act::Lose } else { Act::Pass };
    let relays = [Relay::start(&etcd.place(0), act), Relay::start(&etcd.place(0), act)];
    let store = at(&format!("{},{}", relays[0].place(), relays[1].place()));
    let error = write(&store, "a", "1").unwrap_err();
    unreachable(&error);
    assert!(etcd.ask(0, "/v3/kv/range", "{\"key\":\"aWRzL2E=\"}").contains("\"version\":\"1\""));
    let transactions = relays[0].seen().iter().filter(|path| *path == "/v3/kv/txn").count();
    // One that reads, and the one that writes.
    assert_eq!(transactions, 2);
    assert!(relays[1].seen().is_empty());
    assert_eq!(value(&store, "a").as_deref(), Some("1"));
    // What comes back unread may have been made, too.
    for said in [
        Act::Say(200, "<html>".to_owned()),
        Act::Say(503, "no".to_owned()),
        Act::Say(503, "{\"code\":14,\"message\":\"etcdserver: request timed out\"}".to_owned()),
        Act::Say(500, "{\"code\":2,\"message\":\"what is this?\"}".to_owned()),
        Act::Say(200, "{}".to_owned()),
    ] {
        let said = std::cell::Cell::new(Some(said));
        let said = crate::sync::Mutex::new(said);
        let relay = Relay::start(&etcd.place(0), move |_, body| {
            if body.contains("compare") { lock(&said).take().unwrap() } else { Act::Pass }
        });
        let store = at(&relay.place());
        unreachable(&write(&store, "a", "2").unwrap_err());
    }
}

#[test]
#[ignore = "needs etcd's server"]
fn a_restored_cluster_is_noticed() {
    let mut etcd = Etcds::start(1, &["--initial-cluster-token=one"]);
    let store = at(&etcd.places());
    let clone = store.clone();
    assert!(write(&store, "a", "1").unwrap());
    let old = etcd.save("old");
    // Elections, so that the term is larger than that of a new cluster.
    for _ in 0..5 {
        etcd.kill(0);
        etcd.restart(&[0]);
    }
    assert!(write(&store, "a", "2").unwrap());
    let new = etcd.save("new");
    assert!(write(&store, "a", "3").unwrap());

    let noticed = |store: &Etcd, how: &str| {
        for error in [read(store, "a").unwrap_err(), write(store, "a", "9").unwrap_err()] {
            let error = unusable(&error);
            assert!(error.contains("it was restored from a backup"), "{error}");
            assert!(error.contains(how), "{error}");
        }
    };
    // The same name of the cluster, and its id with it.
    etcd.restore(&old, "one");
    noticed(&store, "its revision went back from 4 to 2");
    noticed(&clone, "its revision went back from 4 to 2");
    // Others write, until its revision is as large as before.
    let other = at(&etcd.places());
    for round in 0..5 {
        assert!(write(&other, "a", &round.to_string()).unwrap());
    }
    noticed(&clone, "its raft term went back from 7 to 2");
    // Who sees it first sees nothing wrong.
    assert_eq!(value(&other, "a").as_deref(), Some("4"));

    etcd.restore(&new, "two");
    noticed(&clone, "its id is");
    noticed(&other, "its id is");
    let error = write(&other, "a", "9").unwrap_err();
    assert!(unusable(&error).contains("stop what uses it"), "{error:?}");
}

/// `--force-new-cluster` goes on from one member, which may lack what the others have confirmed.
#[test]
#[ignore = "needs etcd's server"]
fn a_cluster_that_goes_on_from_one_member_behind_is_noticed() {
    let mut etcd = Etcds::start(3, &[]);
    let store = at(&etcd.places());
    assert!(write(&store, "counter", "1").unwrap());
    assert_eq!(value(&at(&etcd.place(0)), "counter").as_deref(), Some("1"));
    etcd.kill(0);
    let since = std::time::Instant::now();
    // The others may have to choose who leads.
    while !matches!(write(&store, "counter", "2"), Ok(true)) {
        assert!(since.elapsed() < Duration::from_secs(60));
    }
    etcd.kill(1);
    etcd.kill(2);
    etcd.force_new_cluster(0);
    let error = unusable(&read(&store, "counter").unwrap_err());
    assert!(error.contains("its revision went back"), "{error}");
    let error = unusable(&write(&store, "counter", "3").unwrap_err());
    assert!(error.contains("its revision went back"), "{error}");
    // Who has seen nothing cannot tell. The member may not have kept that "1" was confirmed.
    assert_ne!(value(&at(&etcd.place(0)), "counter").as_deref(), Some("2"));
}

#[test]
#[ignore = "needs etcd's server"]
fn users_have_passwords_and_rights() {
    const SECRET: &str = "Q7zX9kW3";
    let mut etcd = Etcds::start(1, &[]);
    let of = |user: &str| Etcd::at(&format!("etcd://{user}@{}/ids", etcd.places())).unwrap();
    let known = |user: &str| of(&format!("{user}:{SECRET}"));
    // Before anybody is asked for a password.
    assert!(write(&known("root"), "a", "0").unwrap());
    let early = known("writer");
    assert!(write(&early, "a", "1").unwrap());
    for arguments in [
        &["user", "add", &format!("root:{SECRET}")][..],
        &["user", "add", &format!("writer:{SECRET}")],
        &["user", "add", &format!("reader:{SECRET}")],
        &["role", "add", "writes"],
        &["role", "add", "reads"],
        &["role", "grant-permission", "writes", "readwrite", "--prefix=true", "ids/"],
        &["role", "grant-permission", "reads", "read", "--prefix=true", "ids/"],
        &["user", "grant-role", "root", "root"],
        &["user", "grant-role", "writer", "writes"],
        &["user", "grant-role", "reader", "reads"],
        &["auth", "enable"],
    ] {
        etcd.ctl(0, arguments);
    }
    assert!(write(&early, "a", "2").unwrap());
    let writer = known("writer");
    contract::check(&Etcd::at(&format!("etcd://writer:{SECRET}@{}/ids/x", etcd.places())).unwrap());
    assert!(write(&writer, "a", "3").unwrap());
    assert_eq!(value(&writer, "a").as_deref(), Some("3"));

    let reader = known("reader");
    assert_eq!(value(&reader, "a").as_deref(), Some("3"));
    let denied = write(&reader, "a", "4").unwrap_err();
    assert!(matches!(&denied, Error::Denied(_)), "{denied:?}");
    let elsewhere = format!("etcd://writer:{SECRET}@{}/other", etcd.places());
    let denied = read(&Etcd::at(&elsewhere).unwrap(), "a").unwrap_err();
    assert!(matches!(&denied, Error::Denied(_)), "{denied:?}");
    for (store, problem) in [
        (of(&format!("writer:{SECRET}x")), "see the user and the password"),
        (of("nobody"), "see the user and the password"),
        (at(&etcd.places()), "name one in the address"),
    ] {
        let error = unusable(&read(&store, "a").unwrap_err());
        assert!(error.contains(problem), "{error}");
        assert!(!error.contains(SECRET), "{error}");
    }

    // A member that starts knows no tokens any more.
    let token = lock(&writer.cluster).token.clone();
    etcd.kill(0);
    etcd.restart(&[0]);
    assert!(write(&writer, "a", "5").unwrap());
    assert!(lock(&writer.cluster).token != token);
    // Nor is one that somebody has made up.
    lock(&writer.cluster).token = Token::Issued("x".to_owned());
    assert_eq!(value(&writer, "a").as_deref(), Some("5"));
}

/// Users of etcd: root, and one who may do all below `ids/`.
fn with_users(etcd: &Etcds, secret: &str) {
    for arguments in [
        &["user", "add", &format!("root:{secret}")][..],
        &["user", "add", &format!("writer:{secret}")],
        &["role", "add", "writes"],
        &["role", "grant-permission", "writes", "readwrite", "--prefix=true", "ids/"],
        &["user", "grant-role", "root", "root"],
        &["user", "grant-role", "writer", "writes"],
        &["auth", "enable"],
    ] {
        etcd.ctl(0, arguments);
    }
}

/// As several versions do, where others say that they do not know it.
#[test]
#[ignore = "needs etcd's server"]
fn a_token_that_gets_no_answer_is_replaced() {
    const SECRET: &str = "Q7zX9kW3";
    let etcd = Etcds::start(1, &[]);
    with_users(&etcd, SECRET);
    let closing = "{\"code\":14,\"message\":\"transport is closing\"}";
    for (act, is_for_reads) in [
        (Act::Close, true),
        (Act::Close, false),
        (Act::Lose, false),
        (Act::Hang, true),
        (Act::Say(502, "<html>".to_owned()), true),
        (Act::Say(503, closing.to_owned()), true),
    ] {
        let (hangs, dead) = (matches!(act, Act::Hang), Arc::new(Mutex::new(None::<String>)));
        let given = Arc::clone(&dead);
        let relay = Relay::by_head(&etcd.place(0), move |head, body| {
            let is_dead = lock(&given).as_ref().is_some_and(|token| head.contains(token));
            let is_meant = is_for_reads || body.contains("compare");
            if is_dead && is_meant { act.clone() } else { Act::Pass }
        });
        let store = Etcd::at(&format!("etcd://writer:{SECRET}@{}/ids", relay.place())).unwrap();
        let before = value(&store, "a");
        relay.seen();
        let Token::Issued(token) = lock(&store.cluster).token.clone() else { panic!("no token") };
        *lock(&dead) = Some(token);
        if hangs {
            // It takes all of the time, and the next call logs in.
            let deadline = Deadline::after(Duration::from_millis(500));
            let mut session = store.connect(&deadline).unwrap();
            unreachable(&session.read(&["a"]).unwrap_err());
        } else if !is_for_reads {
            unreachable(&write(&store, "a", "lost").unwrap_err());
        }
        let next = format!("{}2", before.unwrap_or_default());
        assert!(write(&store, "a", &next).unwrap());
        assert_eq!(value(&store, "a"), Some(next));
        let logins = relay.seen();
        let logins = logins.iter().filter(|path| *path == "/v3/auth/authenticate");
        assert_eq!(logins.count(), 1);
    }
}

/// A server that answers nothing is asked for a token once for each request.
#[test]
#[ignore = "needs etcd's server"]
fn a_server_without_answers_is_not_asked_for_tokens_again_and_again() {
    const SECRET: &str = "Q7zX9kW3";
    let etcd = Etcds::start(1, &[]);
    with_users(&etcd, SECRET);
    let relay = Relay::by_head(&etcd.place(0), |head, _| {
        if head.to_lowercase().contains("authorization:") { Act::Close } else { Act::Pass }
    });
    let store = Etcd::at(&format!("etcd://writer:{SECRET}@{}/ids", relay.place())).unwrap();
    lock(&store.cluster).token = Token::Issued("x".to_owned());
    unreachable(&read(&store, "a").unwrap_err());
    let seen = relay.seen();
    assert_eq!(seen.iter().filter(|path| *path == "/v3/auth/authenticate").count(), 1, "{seen:?}");
}

#[test]
#[ignore = "needs etcd's server"]
fn certificates_are_checked_on_both_sides() {
    let authority = certificate("authority.pem");
    let (own, key) = (certificate("127.0.0.1.pem"), certificate("127.0.0.1-key.pem"));
    let etcd = Etcds::start(
        1,
        &[
            &format!("--cert-file={own}"),
            &format!("--key-file={key}"),
            &format!("--trusted-ca-file={authority}"),
            "--client-cert-auth",
        ],
    );
    let of = |parameters: &str| {
        Etcd::at(&format!("etcds://{}/ids?{parameters}", etcd.places())).unwrap()
    };
    contract::check(&of(&format!("ca={authority}&cert={own}&key={key}")));
    let other = certificate("localhost-2100.pem");
    let other_key = certificate("localhost-2100-key.pem");
    // No certificate of the client's, and one of another authority. The server ends the connection,
    // and its reason may be lost.
    for store in [
        of(&format!("ca={authority}")),
        of(&format!("ca={authority}&cert={other}&key={other_key}")),
    ] {
        let error = format!("{:?}", read(&store, "a").unwrap_err());
        assert!(error.contains("key if the server wants a certificate"), "{error}");
    }
    // An authority that has not signed the server's.
    for store in
        [of(&format!("ca={other}&cert={own}&key={key}")), of(&format!("cert={own}&key={key}"))]
    {
        let error = unusable(&read(&store, "a").unwrap_err());
        assert!(error.contains("see the certificates"), "{error}");
    }
    let error = format!("{:?}", read(&at(&etcd.places()), "a").unwrap_err());
    assert!(error.contains("etcds://") || error.contains("not HTTP"), "{error}");
    let plain = Etcds::start(1, &[]);
    let store = Etcd::at(&format!("etcds://{}/ids?ca={authority}", plain.places())).unwrap();
    let error = format!("{:?}", read(&store, "a").unwrap_err());
    assert!(error.contains("without TLS the address begins with etcd://"), "{error}");
}

#[test]
#[ignore = "needs etcd's server"]
fn a_member_that_does_not_sync_its_log_is_refused() {
    let mut etcd = Etcds::start(1, &["--unsafe-no-fsync"]);
    let store = at(&etcd.places());
    for _ in 0..2 {
        let error = unusable(&write(&store, "a", "1").unwrap_err());
        assert!(error.contains("start it without --unsafe-no-fsync"), "{error}");
    }
    // Nothing was written.
    assert!(!etcd.ask(0, "/v3/kv/range", "{\"key\":\"aWRzL2E=\"}").contains("kvs"));
    // Where the metrics are not shown, it cannot be told.
    let relay = Relay::start(&etcd.place(0), |path, _| match path {
        "/metrics" => Act::Say(403, "no".to_owned()),
        _ => Act::Pass,
    });
    assert!(write(&at(&relay.place()), "a", "1").unwrap());
    etcd.kill(0);
    // Nor is one of three, whichever is asked.
    let etcd = Etcds::start(3, &["--unsafe-no-fsync"]);
    for member in 0..3 {
        let error = unusable(&read(&at(&etcd.place(member)), "a").unwrap_err());
        assert!(error.contains("--unsafe-no-fsync"), "{error}");
    }
}

#[test]
#[ignore = "needs etcd's server"]
fn a_member_that_syncs_its_log_is_not_refused() {
    let etcd = Etcds::start(3, &[]);
    for round in 0..20 {
        for member in 0..3 {
            // Nothing is known of the member yet.
            let found = read(&at(&etcd.place(member)), "a");
            found.unwrap_or_else(|error| panic!("{round}: {error:?}"));
        }
    }
    // Nor is one that has not yet synced its log more often than it would without.
    let looks = crate::sync::Mutex::new([3, 3, 4].into_iter());
    let relay = Relay::start(&etcd.place(0), move |path, _| match path {
        "/metrics" => {
            let count = lock(&looks).next().unwrap();
            Act::Say(200, format!("etcd_disk_wal_fsync_duration_seconds_count {count}"))
        }
        _ => Act::Pass,
    });
    assert_eq!(read(&at(&relay.place()), "a").unwrap(), None);
    let looks = relay.seen().iter().filter(|path| *path == "/metrics").count();
    assert_eq!(looks, 3);
    // What is tried changes nothing.
    let answer = etcd.ask(0, "/v3/kv/range", "{\"key\":\"YQ==\"}");
    assert!(answer.contains("\"revision\":\"1\""), "{answer}");
}

#[test]
#[ignore = "needs etcd's server"]
fn a_learner_is_refused() {
    let mut etcd = Etcds::start(1, &[]);
    let learner = etcd.add_learner();
    let store = at(&etcd.place(learner));
    let error = unreachable(&read(&store, "a").unwrap_err());
    assert!(error.contains("it is a learner"), "{error}");
    // Another member of the address is asked.
    let store = at(&format!("{},{}", etcd.place(learner), etcd.place(0)));
    assert!(write(&store, "a", "1").unwrap());
}

#[test]
#[ignore = "needs etcd's server"]
fn alarms_are_heeded() {
    let etcd = Etcds::start(1, &[]);
    let store = at(&etcd.places());
    assert!(write(&store, "a", "1").unwrap());
    let alarm = |action: &str, alarm: &str| {
        let header = etcd.ask(0, "/v3/maintenance/status", "{}");
        let member = header.split("\"member_id\":\"").nth(1).unwrap().split('"').next().unwrap();
        let body =
            format!("{{\"action\":\"{action}\",\"memberID\":\"{member}\",\"alarm\":\"{alarm}\"}}");
        let said = etcd.ask(0, "/v3/maintenance/alarm", &body);
        assert!(said.contains("200 OK"), "{said}");
    };
    alarm("ACTIVATE", "NOSPACE");
    for store in [store.clone(), at(&etcd.places())] {
        assert_eq!(value(&store, "a").as_deref(), Some("1"));
        let error = write(&store, "a", "2").unwrap_err();
        assert!(matches!(&error, Error::Full(_)), "{error:?}");
        let said = format!("{error:?}");
        assert!(said.contains("database space exceeded; compact and defragment it"), "{said}");
        assert_eq!(value(&store, "a").as_deref(), Some("1"));
    }
    alarm("DEACTIVATE", "NOSPACE");
    assert!(write(&store, "a", "2").unwrap());
    alarm("ACTIVATE", "CORRUPT");
    // Who has just looked hears it from the transaction.
    let error = unusable(&write(&store, "a", "3").unwrap_err());
    assert!(error.contains("its alarm CORRUPT says"), "{error}");
    let error = unusable(&read(&at(&etcd.places()), "a").unwrap_err());
    assert!(error.contains("its alarm CORRUPT says"), "{error}");
}

/// A database that is really full. The size of each value is the same, so that it is filled by some
/// transaction.
#[test]
#[ignore = "needs etcd's server"]
fn a_full_database_is_told_and_no_write_is_lost() {
    let etcd = Etcds::start(1, &["--quota-backend-bytes=600000"]);
    let store = at(&etcd.places());
    let (mut last, text) = (None, "x".repeat(2000));
    for round in 0.. {
        let next = format!("{round} {text}");
        match write(&store, "a", &next) {
            Ok(true) => last = Some(next),
            Ok(false) => panic!("nobody else writes"),
            Err(error) => {
                assert!(matches!(&error, Error::Full(_)), "{error:?}");
                break;
            }
        }
    }
    assert_eq!(value(&store, "a"), last);
}

const HEADER: &str = "\"header\":{\"cluster_id\":\"1\",\"member_id\":\"2\",\"revision\":\"3\",\
                      \"raft_term\":\"4\"}";

/// The answers of other versions, by their documentation, and of what is no etcd.
#[test]
fn other_versions_and_other_servers_are_told_apart() {
    let said = |status: u16, text: &str, members: &'static str| {
        let text = text.to_owned();
        let relay = Relay::start("nowhere:0", move |path, _| match path {
            "/v3/maintenance/status" => Act::Say(status, text.clone()),
            "/v3/cluster/member/list" => Act::Say(200, format!("{{\"members\":[{members}]}}")),
            "/v3/kv/txn" => Act::Say(
                200,
                format!(
                    "{{{HEADER},\"succeeded\":true,\"responses\":[{{\"response_range\":{{}}}}]}}"
                ),
            ),
            _ => Act::Say(404, String::new()),
        });
        read(&at(&relay.place()), "a").map_err(|error| format!("{error:?}"))
    };
    let version = |version: &str, members| {
        said(200, &format!("{{{HEADER},\"version\":\"{version}\"}}"), members)
    };
    let one = "{\"ID\":\"2\"}";
    assert!(version("3.3.27", one).unwrap_err().contains("needs 3.4 or later"));
    for good in ["3.4.23", "3.5.6", "3.5.17", "3.6.0-rc.1", "3.6.5", "3.10.0", "4.0.0"] {
        assert_eq!(version(good, one).unwrap(), None);
    }
    let alarm = "\"version\":\"3.6.0\",\"errors\":[\"memberID:2 alarm:CORRUPT \"]";
    assert!(said(200, &format!("{{{HEADER},{alarm}}}"), one).unwrap_err().contains("CORRUPT"));
    let learner = "\"version\":\"3.6.0\",\"isLearner\":true";
    assert!(said(200, &format!("{{{HEADER},{learner}}}"), one).unwrap_err().contains("a learner"));
    for (status, text, problem) in [
        (404, "Not Found", "it has no gateway for JSON"),
        (301, "", "it answers with a redirect"),
        (403, "<html>", "it is not etcd that answers"),
        (502, "<html>", "it does not serve this call for now"),
        (200, "<html>", "what it answers is not JSON"),
        (200, "{}", "its answer is not one of etcd"),
        (200, "{\"header\":{\"cluster_id\":\"x\"}}", "a number that is none"),
        // Of a gateway of 3.6, which has no member `error`.
        (503, "{\"code\":14,\"message\":\"etcdserver: no leader\",\"details\":[]}", "a majority"),
        (400, "{\"code\":3,\"message\":\"etcdserver: user name is empty\"}", "name one in the"),
    ] {
        let error = said(status, text, one).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

/// By the change logs of etcd.
#[test]
fn versions_that_lose_what_they_confirm_are_refused() {
    const NOBODY: &str = "";
    const SOMEBODY: &str = "me:secret@";
    const ONE: &str = "{\"ID\":\"2\"}";
    const LEARNING: &str = "{\"ID\":\"2\"},{\"isLearner\":true}";
    const THREE: &str = "{},{},{}";
    let ask = |user: &str, version: &str, members: &'static str| {
        let version = version.to_owned();
        let relay = Relay::start("nowhere:0", move |path, _| {
            let rest = match path {
                "/v3/maintenance/status" => format!("\"version\":\"{version}\""),
                "/v3/cluster/member/list" => format!("\"members\":[{members}]"),
                "/v3/auth/authenticate" => "\"token\":\"x\"".to_owned(),
                "/v3/kv/txn" => "\"responses\":[{\"response_range\":{}}]".to_owned(),
                _ => return Act::Say(404, String::new()),
            };
            Act::Say(200, format!("{{{HEADER},{rest}}}"))
        });
        let store = Etcd::at(&format!("etcd://{user}{}/ids", relay.place())).unwrap();
        read(&store, "a").map_err(|error| unusable(&error))
    };
    let all = "can lose what it has confirmed; upgrade all members to";
    let alone = "if a cluster has one member, as this one; upgrade it to";
    let several = "may have other data than others after a crash";
    for (user, version, members, said, fixed) in [
        (NOBODY, "3.5.0", ONE, all, "3.5.14"),
        (NOBODY, "3.5.2", THREE, all, "3.5.14"),
        (NOBODY, "3.5.5", ONE, all, "3.5.14"),
        (NOBODY, "3.4.21", THREE, all, "3.4.22"),
        (NOBODY, "3.4.0", ONE, alone, "3.4.22"),
        (NOBODY, "3.4.20", ONE, alone, "3.4.22"),
        (NOBODY, "3.5.3", ONE, alone, "3.5.14"),
        (NOBODY, "3.5.4", LEARNING, alone, "3.5.14"),
        (NOBODY, "3.5.3", THREE, several, "3.5.14"),
        (NOBODY, "3.5.4", THREE, several, "3.5.14"),
        (NOBODY, "3.5.6", THREE, several, "3.5.14"),
        (SOMEBODY, "3.5.13", THREE, several, "3.5.14"),
        (NOBODY, "3.5.13", LEARNING, several, "3.5.14"),
        (SOMEBODY, "3.4.0", THREE, several, "3.4.22"),
        (SOMEBODY, "3.4.7", THREE, several, "3.4.22"),
    ] {
        let error = ask(user, version, members).expect_err(version);
        assert!(error.contains(&format!("its version {version} ")), "{error}");
        assert!(error.contains(said), "{version}: {error}");
        assert!(error.contains(&format!("to {fixed} or later")), "{version}: {error}");
    }
    for (user, version, members) in [
        (NOBODY, "3.4.7", THREE),
        (SOMEBODY, "3.4.8", THREE),
        (SOMEBODY, "3.4.22", THREE),
        (SOMEBODY, "3.4.23", ONE),
        (NOBODY, "3.5.6", ONE),
        (SOMEBODY, "3.5.13", ONE),
        (SOMEBODY, "3.5.14", THREE),
        (NOBODY, "3.6.0", THREE),
    ] {
        assert_eq!(ask(user, version, members).unwrap(), None);
    }
}

/// With authentication, some versions tell their status to the role root alone.
#[test]
fn a_user_who_may_not_see_the_status_is_served() {
    const DENIED: &str = "{\"code\":7,\"message\":\"etcdserver: permission denied\"}";
    let ask = |version: (u16, &str), txn: (u16, &str)| {
        let version = (version.0, version.1.to_owned());
        let txn = (txn.0, txn.1.to_owned());
        let relay = Relay::start("nowhere:0", move |path, _| match path {
            "/v3/auth/authenticate" => Act::Say(200, format!("{{{HEADER},\"token\":\"x\"}}")),
            "/v3/maintenance/status" => Act::Say(403, DENIED.to_owned()),
            "/v3/cluster/member/list" => Act::Say(200, "{\"members\":[{},{},{}]}".to_owned()),
            "/version" => Act::Say(version.0, version.1.clone()),
            "/v3/kv/txn" => Act::Say(txn.0, txn.1.clone()),
            _ => Act::Say(404, String::new()),
        });
        let store = Etcd::at(&format!("etcd://me:secret@{}/ids", relay.place())).unwrap();
        let found = read(&store, "a");
        (found, relay.seen())
    };
    let found = format!("{{{HEADER},\"responses\":[{{\"response_range\":{{}}}}]}}");
    let good = (200, &*found);
    let version = (200, "{\"etcdserver\":\"3.6.5\",\"etcdcluster\":\"3.6.0\"}");
    let (read, seen) = ask(version, good);
    assert_eq!(read.unwrap(), None);
    let asked = ["/v3/maintenance/status", "/v3/kv/txn", "/version"];
    assert_eq!(seen.iter().filter(|path| asked.contains(&&***path)).count(), 4, "{seen:?}");

    // All else is still looked at.
    let lossy = (200, "{\"etcdserver\":\"3.5.5\"}");
    let error = unusable(&ask(lossy, good).0.unwrap_err());
    assert!(error.contains("its version 3.5.5 can lose"), "{error}");
    let learner = "{\"code\":14,\"message\":\"etcdserver: rpc not supported for learner\"}";
    let error = unreachable(&ask(version, (503, learner)).0.unwrap_err());
    assert!(error.contains("it is a learner"), "{error}");
    let error = ask(version, (403, DENIED)).0.unwrap_err();
    assert!(matches!(error, Error::Denied(_)), "{error:?}");
    for hidden in [(404, "no"), (200, "<html>"), (200, "{}")] {
        let error = unusable(&ask(hidden, good).0.unwrap_err());
        assert!(error.contains("upgrade it to 3.5.32, 3.6.12 or later"), "{error}");
    }
}

/// etcd makes the transaction that fills it, and says that it is full. So it did in a test of its
/// own sources; here its answers are recorded.
#[test]
fn the_write_that_fills_the_database_is_found() {
    const HEADER: &str = "\"header\":{\"cluster_id\":\"1\",\"member_id\":\"2\",\"revision\":\"3\"}";
    const FULL: &str = "{\"code\":8,\"message\":\"etcdserver: mvcc: database space exceeded\"}";
    let commit = |key: &str, value: &str| {
        let found = format!(
            "{{{HEADER},\"responses\":[{{\"response_range\":{{\"kvs\":[{{\"key\":\"{key}\",\
             \"mod_revision\":\"9\",\"value\":\"{value}\"}}]}}}}]}}"
        );
        let relay = Relay::start("nowhere:0", move |path, body| match path {
            "/v3/kv/txn" if body.contains("compare") => Act::Say(429, FULL.to_owned()),
            "/v3/kv/txn" => Act::Say(200, found.clone()),
            "/v3/maintenance/status" => {
                Act::Say(200, format!("{{{HEADER},\"version\":\"3.4.23\"}}"))
            }
            _ => Act::Say(404, String::new()),
        });
        let store = at(&relay.place());
        call(&store, |session| session.commit(&[put("a", Some(&Version::Number(8)), "1")]))
    };
    // "ids/a" is "1", which is what was written.
    assert!(commit("aWRzL2E=", "MQ==").unwrap());
    // Somebody else has written "2".
    unreachable(&commit("aWRzL2E=", "Mg==").unwrap_err());
}

/// Two members behind one address: each is looked at before its answers are relied on.
#[test]
fn another_member_behind_the_same_address_is_looked_at() {
    let asked = crate::sync::Mutex::new(0..);
    let relay = Relay::start("nowhere:0", move |path, _| {
        let count = lock(&asked).next().unwrap();
        // The first call meets the member 2, and the second one the member 3.
        let member = if count < 3 { 2 } else { 3 };
        let header = format!(
            "\"header\":{{\"cluster_id\":\"1\",\"member_id\":\"{member}\",\"revision\":\"3\"}}"
        );
        let version = if member == 2 { "3.4.23" } else { "3.5.2" };
        match path {
            "/v3/maintenance/status" => {
                Act::Say(200, format!("{{{header},\"version\":\"{version}\"}}"))
            }
            "/v3/kv/txn" => {
                Act::Say(200, format!("{{{header},\"responses\":[{{\"response_range\":{{}}}}]}}"))
            }
            _ => Act::Say(404, String::new()),
        }
    });
    let store = at(&relay.place());
    assert_eq!(read(&store, "a").unwrap(), None);
    // A call keeps its connection, and ends it.
    assert_eq!(relay.connections(), 1);
    let error = unusable(&read(&store, "a").unwrap_err());
    assert!(error.contains("its version 3.5.2 can lose"), "{error}");
    assert_eq!(relay.connections(), 2);
}

/// Behind one address, each request may meet another member: the status is always of the member 2,
/// and what a member says that cannot be looked at is not relied on, in no call.
#[test]
fn what_another_member_confirms_than_the_one_that_was_looked_at_does_not_count() {
    const SAID: &str = "several members answer behind this address";
    let relay = |is_other: fn(&str, &str) -> bool| {
        Relay::start("nowhere:0", move |path, body| {
            let member = if is_other(path, body) { 3 } else { 2 };
            let header = format!(
                "\"header\":{{\"cluster_id\":\"1\",\"member_id\":\"{member}\",\"revision\":\"3\"}}"
            );
            let rest = match path {
                "/v3/maintenance/status" => "\"version\":\"3.4.23\"",
                "/v3/kv/txn" if body.contains("compare") => "\"succeeded\":true",
                "/v3/kv/txn" => "\"responses\":[{\"response_range\":{}}]",
                "/metrics" => {
                    let name = format!("etcd_server_id{{server_id=\"{member}\"}} 1\n");
                    let count = "etcd_disk_wal_fsync_duration_seconds_count 9\n";
                    let written = "etcd_disk_wal_write_bytes_total 1000\n";
                    return Act::Say(200, [&name, count, written].concat());
                }
                _ => return Act::Say(404, String::new()),
            };
            Act::Say(200, format!("{{{header},{rest}}}"))
        })
    };
    let commit = |store: &Etcd| call(store, |session| session.commit(&[put("a", None, "1")]));
    let all = relay(|path, _| path == "/v3/kv/txn");
    let metrics = relay(|path, _| path == "/metrics");
    for relay in [all, metrics] {
        let store = at(&relay.place());
        for _ in 0..2 {
            let error = unusable(&read(&store, "a").unwrap_err());
            assert!(error.contains(SAID), "{error}");
        }
    }
    // What it has confirmed may have been made.
    let writes = relay(|_, body| body.contains("compare"));
    let store = at(&writes.place());
    for _ in 0..2 {
        assert_eq!(read(&store, "a").unwrap(), None);
        let error = unreachable(&commit(&store).unwrap_err());
        assert!(error.contains(SAID), "{error}");
    }
    let nobody = relay(|_, _| false);
    assert!(commit(&at(&nobody.place())).unwrap());
}

/// A server that always answers in time, with more pages, would fill the memory.
#[test]
fn nothing_is_sent_after_the_deadline() {
    let pages = crate::sync::Mutex::new(0..);
    let relay = Relay::start("nowhere:0", move |path, _| {
        let rest = match path {
            "/v3/maintenance/status" => "\"version\":\"3.4.23\"".to_owned(),
            "/v3/kv/txn" => "\"succeeded\":true".to_owned(),
            "/v3/kv/range" => {
                let page: u32 = lock(&pages).next().unwrap();
                let key = STANDARD.encode(format!("ids/many/{page:08}"));
                format!("\"more\":true,\"kvs\":[{{\"key\":\"{key}\",\"mod_revision\":\"1\"}}]")
            }
            _ => return Act::Say(404, String::new()),
        };
        Act::Say(200, format!("{{{HEADER},{rest}}}"))
    });
    let store = at(&relay.place());
    let deadline = Deadline::after(Duration::from_millis(500));
    let mut session = store.connect(&deadline).unwrap();
    unreachable(&session.list("many").unwrap_err());
    sleep(deadline.left());
    let _ = relay.seen();
    let said = unreachable(&session.commit(&[put("a", None, "1")]).unwrap_err());
    assert!(said.contains("the time of the call was over before it was asked"), "{said}");
    assert!(relay.seen().is_empty());
}

/// The cluster was set back, and what is written there is written all the same.
#[test]
fn a_write_that_a_restored_cluster_confirms_may_have_been_made() {
    let relay = Relay::start("nowhere:0", |path, body| {
        let is_write = body.contains("compare");
        let revision = if is_write { 2 } else { 3 };
        let rest = match path {
            "/v3/maintenance/status" => "\"version\":\"3.4.23\"",
            "/v3/kv/txn" if is_write => "\"succeeded\":true",
            "/v3/kv/txn" => "\"responses\":[{\"response_range\":{}}]",
            _ => return Act::Say(404, String::new()),
        };
        let header =
            format!("\"cluster_id\":\"1\",\"member_id\":\"2\",\"revision\":\"{revision}\"");
        Act::Say(200, format!("{{\"header\":{{{header}}},{rest}}}"))
    });
    let said = unreachable(&write(&at(&relay.place()), "a", "1").unwrap_err());
    assert!(said.contains("its revision went back from 3 to 2"), "{said}");
}

/// A hanging name in front of others must leave them time, too.
#[test]
fn each_server_has_its_share_of_the_time() {
    let relays: Vec<Relay> = (0..3).map(|_| Relay::start("nowhere:0", |_, _| Act::Hang)).collect();
    let places: Vec<String> = relays.iter().map(Relay::place).collect();
    let store = at(&places.join(","));
    let deadline = Deadline::after(Duration::from_millis(900));
    let error = store.connect(&deadline).err().unwrap();
    assert_eq!(unreachable(&error).matches("it did not answer for").count(), 3, "{error:?}");
    for relay in &relays {
        assert_eq!(relay.seen(), ["/v3/maintenance/status"]);
    }
}
