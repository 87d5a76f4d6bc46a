//! Tests against real servers.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use super::Redis;
use super::connection::Connection;
use super::replies::command;
use crate::backend::error::ErrorPhrases;
use crate::backend::keys::contract;
use crate::backend::keys::{Action, Change, Deadline, Error, KeyStore, Session, Version};
use crate::sync::{sleep, thread};

#[path = "../../../../tests/common/key_servers/redis.rs"]
#[allow(dead_code)]
mod server;

use server::{OwnRedis, certificate_file};

const TIME: Duration = Duration::from_secs(10);

fn deadline() -> Deadline {
    Deadline::after(TIME)
}

fn write<'a>(key: &'a str, version: Option<&'a Version>, value: &'a str) -> Change<'a> {
    Change { key, version, action: Action::Write(value) }
}

fn value(text: &str) -> Version {
    Version::Value(text.to_owned())
}

/// What an error says with its cause, and whether the same call may succeed in a moment.
fn message_of(error: Error) -> (String, bool) {
    let phrases = ErrorPhrases {
        subject: "the registry",
        missing_tables: "",
        incompatible_tables: "",
        not_a_database: "",
        unrelated_tables: "",
        permissions: "give the rights",
    };
    let error = error.into_storage_error(&phrases, "NAME", "read", Duration::from_secs(1));
    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    (format!("{error}: {cause}"), error.is_transient())
}

/// Why there is no session.
fn refusal(url: &str) -> (String, bool) {
    match Redis::at(url) {
        Err(error) => message_of(error),
        Ok(store) => match store.connect(&deadline()).map(|_| ()) {
            Err(error) => message_of(error),
            Ok(()) => panic!("{url} is refused"),
        },
    }
}

#[track_caller]
fn refused(url: &str, part: &str) {
    let (text, is_transient) = refusal(url);
    assert!(text.contains(part), "{text}");
    assert!(!is_transient, "{text}");
    assert!(!text.contains("secret"), "{text}");
}

fn at(server: &OwnRedis) -> Redis {
    Redis::at(&server.url("")).unwrap()
}

/// Whether the server has `WAITAOF`.
fn has_waitaof(server: &OwnRedis) -> bool {
    !server.run(&["COMMAND", "INFO", "WAITAOF"]).is_empty()
}

#[test]
fn an_address_names_a_database_and_a_folder() {
    for (url, database, folder) in [
        ("redis://db", 0, "uidring"),
        ("redis://db/", 0, "uidring"),
        ("redis://db/3", 3, "uidring"),
        ("redis://db/3/", 3, "uidring"),
        ("redis://db/3/ids/of.shop", 3, "ids/of.shop"),
        ("redis://db/ids/3", 0, "ids/3"),
        ("redis://db/3x", 0, "3x"),
        ("rediss://db/007/7", 7, "7"),
    ] {
        let store = Redis::at(url).unwrap();
        assert_eq!((store.database, store.folder.as_str()), (database, folder), "{url}");
    }
    let store = Redis::at("redis://me:se%40cret@db.example.com/3/ids").unwrap();
    assert_eq!(store.name(), "redis://me@db.example.com:6379/3/ids");
    assert_eq!(store.user, Some((Some("me".to_owned()), "se@cret".to_owned())));
    assert_eq!(Redis::at("redis://:secret@db").unwrap().user, Some((None, "secret".to_owned())));
    assert!(!format!("{store:?}").contains("cret"));
}

#[test]
fn an_address_that_makes_no_sense_is_refused() {
    let file = certificate_file("authority.pem").display().to_string();
    let ca = format!("redis://db?ca={file}");
    let half = format!("rediss://me:secret@db?cert={file}");
    let no_key = format!("rediss://me:secret@db?cert={file}&key={file}");
    for (url, part) in [
        ("redis://a,b", "its address names several servers"),
        ("redis://me:secret@a:1,b:2/0", "its address names several servers"),
        ("redis://db/4294967296", "its address names the database 4294967296"),
        ("redis://me:secret@db?replicas=yes", "can only be never-promoted"),
        ("redis://me:secret@db?timeout=5", "its parameter \"timeout\""),
        (&ca, "begin it with rediss://"),
        (&half, "a certificate or a key alone"),
        (&no_key, "authority.pem: "),
        ("rediss://me:secret@db?ca=/nowhere.pem", "/nowhere.pem: "),
        ("rediss://me:secret@db?ca=/dev/null", "/dev/null: it holds no certificate"),
        ("rediss://db name", "is no host"),
    ] {
        refused(url, part);
    }
}

#[test]
#[ignore = "needs Redis"]
fn the_contract_is_kept() {
    let server = OwnRedis::start("");
    contract::check(&at(&server));
    contract::check(&Redis::at(&server.url("/3/some/other.folder")).unwrap());
    assert_eq!(server.run(&["-n", "3", "GET", "some/other.folder/b/d"]), "7");
    assert_eq!(server.run(&["GET", "uidring/b/d"]), "7");
}

#[test]
#[ignore = "needs Redis"]
fn a_folder_of_many_keys_is_listed() {
    let server = OwnRedis::start("");
    let (store, deadline) = (at(&server), deadline());
    let mut session = store.connect(&deadline).unwrap();
    let keys: Vec<String> = (0..1234).map(|number| format!("workers/{number}")).collect();
    let long = "x".repeat(1000);
    for keys in keys.chunks(100) {
        let changes: Vec<_> = keys.iter().map(|key| write(key, None, &long)).collect();
        assert!(session.commit(&changes).unwrap());
    }
    let mut listed = session.list("workers").unwrap();
    listed.sort_by_key(|(name, _)| name.parse::<u64>().unwrap());
    assert_eq!(listed.len(), keys.len());
    for ((name, entry), key) in listed.iter().zip(&keys) {
        assert_eq!((format!("workers/{name}"), &entry.value), (key.clone(), &long));
    }
    // One that is removed leaves nothing behind.
    let long = value(&long);
    let remove = Change { key: "workers/7", version: Some(&long), action: Action::Remove };
    assert!(session.commit(&[remove]).unwrap());
    assert_eq!(server.run(&["SCARD", "uidring/workers/"]), "1233");
    assert_eq!(server.run(&["DBSIZE"]), "1234");
}

#[test]
#[ignore = "needs Redis"]
fn what_is_confirmed_outlives_a_kill() {
    let mut server = OwnRedis::start("");
    let store = at(&server);
    for round in 0..3 {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let store = store.clone();
                thread::spawn(move || {
                    let mut confirmed = Vec::new();
                    for number in 0.. {
                        let key = format!("{round}-{writer}/{number}");
                        let deadline = deadline();
                        let Ok(mut session) = store.connect(&deadline) else { break };
                        match session.commit(&[write(&key, None, &key)]) {
                            Ok(true) => confirmed.push(key),
                            Ok(false) => panic!("{key} is new"),
                            Err(Error::Unreachable { .. }) => break,
                            Err(error) => panic!("{key}: {error:?}"),
                        }
                    }
                    confirmed
                })
            })
            .collect();
        sleep(Duration::from_millis(300));
        server.kill();
        let confirmed: Vec<String> =
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        assert!(confirmed.len() > 10, "{}", confirmed.len());
        server.restart();
        let deadline = deadline();
        let mut session = store.connect(&deadline).unwrap();
        let keys: Vec<&str> = confirmed.iter().map(String::as_str).collect();
        let found = session.read(&keys).unwrap();
        let lost = keys.iter().zip(&found).filter(|(_, entry)| entry.is_none()).count();
        assert_eq!(lost, 0, "of {}", keys.len());
    }
}

#[test]
#[ignore = "needs Redis"]
fn settings_that_lose_what_is_confirmed_are_refused() {
    for (lines, part) in [
        ("appendonly no", "its appendonly is no"),
        ("appendfsync no", "its appendfsync is no"),
        ("no-appendfsync-on-rewrite yes", "its no-appendfsync-on-rewrite is yes"),
        (
            "maxmemory 100mb\nmaxmemory-policy allkeys-lru",
            "its maxmemory-policy is allkeys-lru and its maxmemory is 104857600",
        ),
        ("cluster-enabled yes", "its redis_mode is cluster"),
        ("rename-command CONFIG \"\"", "it does not answer CONFIG GET"),
        ("rename-command CONFIG secret", "it does not answer CONFIG GET"),
        ("requirepass secret", "name the user and the password in the address"),
    ] {
        let server = OwnRedis::start(lines);
        refused(&server.url(""), part);
        let for_tests = server.url("?only_for_tests=yes");
        if part.starts_with("its append") {
            let store = Redis::at(&for_tests).unwrap();
            contract::check(&store);
        } else if lines.starts_with("cluster") || lines.starts_with("requirepass") {
            refused(&for_tests, part);
        }
    }
    // What these can do to nobody is nothing.
    for lines in [
        "maxmemory 100mb",
        "maxmemory-policy allkeys-lru",
        "requirepass secret",
        "no-appendfsync-on-rewrite no",
    ] {
        let server = OwnRedis::start(lines);
        let user = if lines.contains("secret") { ":secret@" } else { "" };
        let store = Redis::at(&format!("redis://{user}{}", server.place())).unwrap();
        store.connect(&deadline()).map(|_| ()).unwrap();
    }
}

#[test]
#[ignore = "needs Redis"]
fn a_sync_each_second_is_refused_unless_it_is_told() {
    let server = OwnRedis::start("appendfsync everysec");
    let store = at(&server);
    // Not all that have it tell in time.
    if has_waitaof(&server) && store.connect(&deadline()).is_ok() {
        contract::check(&store);
    } else {
        refused(&server.url(""), "its appendfsync is everysec");
        // Valkey tells its name also where it says to its clients that it is Redis.
        if server.run(&["CONFIG", "SET", "extended-redis-compatibility", "yes"]) == "OK" {
            refused(&server.url(""), "its appendfsync is everysec, and Valkey ");
        }
    }
}

#[test]
#[ignore = "needs Redis"]
fn a_failover_is_refused() {
    let master = OwnRedis::start("repl-diskless-sync-delay 0");
    let replica = OwnRedis::start(&format!("replicaof 127.0.0.1 {}", master.port()));
    refused(&replica.url(""), "it is a replica (its role is slave)");
    while !master.run(&["INFO", "replication"]).contains("connected_slaves:1") {
        sleep(Duration::from_millis(10));
    }
    refused(&master.url(""), "its connected_slaves is 1");
    let never = Redis::at(&master.url("?replicas=never-promoted")).unwrap();
    never.connect(&deadline()).map(|_| ()).unwrap();

    let sentinel = OwnRedis::start_sentinel(&master);
    refused(&sentinel.url(""), "it is a Sentinel");
    while master.run(&["PUBSUB", "NUMSUB", "__sentinel__:hello"]).ends_with('0') {
        sleep(Duration::from_millis(10));
    }
    refused(&master.url("?replicas=never-promoted"), "Sentinels watch it (1 subscribe");
}

#[test]
#[ignore = "needs Redis"]
fn a_server_that_reads_its_files_is_waited_for() {
    let mut server = OwnRedis::start("key-load-delay 1000");
    server.run(&["EVAL", "for i = 1, 5000 do redis.call('SET', 'key' .. i, 'x') end", "0"]);
    server.kill();
    server.restart_without_waiting();
    let (text, is_transient) = refusal(&server.url(""));
    assert!(text.contains("it still reads its files"), "{text}");
    assert!(is_transient, "{text}");
}

/// Nothing is kept before the file is written for the first time.
#[test]
#[ignore = "needs Redis"]
fn nothing_is_confirmed_while_the_file_is_first_written() {
    let server = OwnRedis::start("appendonly no\nrdb-key-save-delay 1000");
    server.run(&["EVAL", "for i = 1, 5000 do redis.call('SET', 'key' .. i, 'x') end", "0"]);
    server.set(&["CONFIG", "SET", "appendonly", "yes"]);
    let store = at(&server);
    // A server ends a wait up to a tenth of a second late.
    let soon = Deadline::after(Duration::from_secs(3));
    let result = store.connect(&soon).and_then(|mut session| {
        assert!(has_waitaof(&server));
        session.commit(&[write("a", None, "1")])
    });
    let (text, is_transient) = message_of(result.expect_err("a commit is not confirmed"));
    let said = if has_waitaof(&server) { "has not synced its" } else { "it rewrites its" };
    assert!(is_transient && text.contains(said), "{text}");
    server.set(&["CONFIG", "SET", "rdb-key-save-delay", "0"]);
    while server.run(&["INFO", "persistence"]).contains("aof_rewrite_in_progress:1") {
        sleep(Duration::from_millis(10));
    }
    let deadline = deadline();
    let mut session = store.connect(&deadline).unwrap();
    assert!(session.commit(&[write("b", None, "1")]).unwrap());
}

#[test]
#[ignore = "needs Redis"]
fn a_setting_that_changes_before_a_commit_is_seen() {
    for (setting, bad, ok_or_diagnose) in [
        ("appendfsync", "no", "always"),
        ("appendonly", "no", "yes"),
        ("no-appendfsync-on-rewrite", "yes", "no"),
    ] {
        let server = OwnRedis::start("");
        let (store, deadline) = (at(&server), deadline());
        let mut session = store.connect(&deadline).unwrap();
        assert!(session.commit(&[write("a", None, "1")]).unwrap());
        server.set(&["CONFIG", "SET", setting, bad]);
        let error = session.commit(&[write("b", None, "1")]).unwrap_err();
        let (text, is_transient) = message_of(error);
        assert!(text.contains(&format!("its {setting} is {bad}")), "{text}");
        assert!(is_transient, "it is unknown whether it will last: {text}");
        refused(&server.url(""), &format!("its {setting} is {bad}"));
        server.set(&["CONFIG", "SET", setting, ok_or_diagnose]);
    }
}

/// The connection ends with the server that was looked at.
#[test]
#[ignore = "needs Redis"]
fn a_restart_before_a_commit_is_seen() {
    let mut server = OwnRedis::start("");
    let (store, deadline) = (at(&server), deadline());
    let mut session = store.connect(&deadline).unwrap();
    server.kill();
    server.restart();
    for _ in 0..2 {
        let error = session.commit(&[write("a", None, "1")]).unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    }
    let mut session = store.connect(&deadline).unwrap();
    assert_eq!(session.read(&["a"]).unwrap(), [None]);
}

#[test]
#[ignore = "needs Redis"]
fn a_server_that_hangs_ends_a_call_by_its_deadline() {
    let server = OwnRedis::start("");
    let (store, usual) = (at(&server), deadline());
    let soon = Deadline::after(Duration::from_millis(300));
    let mut session = store.connect(&soon).unwrap();
    server.pause();
    let error = session.commit(&[write("a", None, "1")]).unwrap_err();
    assert!(message_of(error).0.contains("it did not answer for 300 ms"));
    let soon = Deadline::after(Duration::from_millis(300));
    let error = store.connect(&soon).map(|_| ()).unwrap_err();
    assert!(message_of(error).0.contains("it did not answer for 300 ms"));
    server.resume();
    // What was sent may have been written, and a later read tells.
    let mut session = store.connect(&usual).unwrap();
    let entry = session.read(&["a"]).unwrap().remove(0);
    assert_eq!(entry.map(|entry| entry.value).as_deref(), Some("1"));
}

/// Neither does one that sends a byte at a time.
#[test]
fn a_server_that_never_ends_its_answer_ends_a_call_by_its_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        let _ = socket.read(&mut [0; 100]);
        let _ = socket.write_all(b"+");
        while socket.write_all(b"x").is_ok() {
            sleep(Duration::from_millis(20));
        }
    });
    let soon = Deadline::after(Duration::from_millis(300));
    let error = Redis::at(&url).unwrap().connect(&soon).map(|_| ()).unwrap_err();
    assert!(message_of(error).0.contains("it did not answer for 300 ms"));
    server.join().unwrap();
}

/// One that sends as fast as it can fills no memory until then.
#[test]
fn an_answer_that_never_ends_is_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        socket.write_all(b"$9000000000\r\n").unwrap();
        let (part, mut sent) = (vec![b'x'; 1 << 16], 0);
        while socket.write_all(&part).is_ok() {
            sent += part.len();
        }
        sent
    });
    let (text, _) = refusal(&url);
    let sent = server.join().unwrap();
    assert!(text.contains("its answer has more than 64 MiB"), "{text}: {sent} bytes");
    assert!(sent < 100 << 20, "{sent} bytes");
}

/// What comes after something unexpected may be the answer to another question.
#[test]
fn a_connection_that_has_failed_is_not_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = Redis::at(&format!("redis://{}", listener.local_addr().unwrap())).unwrap();
    let server = thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        for answer in [":x\r\n", "+OK\r\n"] {
            let _ = socket.read(&mut [0; 100]);
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    let deadline = deadline();
    let mut connection = Connection::open(&store, &deadline).unwrap();
    for _ in 0..2 {
        let error = connection.ask(&[command(&["PING"])]).unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    }
    drop(connection);
    server.join().unwrap();
}

/// A server that turns a client away says why and closes the connection, whatever it was sent.
#[test]
fn what_a_server_says_before_it_closes_the_connection_is_told() {
    for (said, part, may_pass) in [
        ("DENIED Redis is running in protected mode", "it is in protected mode", false),
        ("ERR max number of clients reached", "see who uses its connections", true),
        ("", "begin the address with rediss://", true),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let mut socket = listener.accept().unwrap().0;
            if !said.is_empty() {
                socket.write_all(format!("-{said}\r\n").as_bytes()).unwrap();
            }
        });
        let (text, is_transient) = refusal(&url);
        assert!(text.contains(part) && text.contains(said), "{text}");
        assert_eq!(is_transient, may_pass, "{text}");
        server.join().unwrap();
    }
}

#[test]
#[ignore = "needs Redis"]
fn tls_is_checked() {
    let file = |name: &str| certificate_file(name).display().to_string();
    let authority = format!("?ca={}", file("authority.pem"));
    let certificate = format!("&cert={}&key={}", file("127.0.0.1.pem"), file("127.0.0.1-key.pem"));

    let server = OwnRedis::start_with_tls("127.0.0.1", "tls-auth-clients no");
    contract::check(&Redis::at(&server.url(&authority)).unwrap());
    refused(&server.url(""), "see the server's certificate");
    let (text, is_transient) = refusal(&format!("redis://{}", server.place()));
    assert!(text.contains("begin the address with rediss://") && is_transient, "{text}");

    let server = OwnRedis::start_with_tls("another.example", "tls-auth-clients no");
    refused(&server.url(&authority), "see the server's certificate");

    let server = OwnRedis::start_with_tls("127.0.0.1", "tls-auth-clients yes");
    refused(&server.url(&authority), "the server asks for a certificate");
    let named = Redis::at(&server.url(&format!("{authority}{certificate}"))).unwrap();
    named.connect(&deadline()).map(|_| ()).unwrap();

    // One that has signed itself is trusted by name.
    let server = OwnRedis::start_with_tls("self-2100", "tls-auth-clients no");
    refused(&server.url(&authority), "see the server's certificate");
    let itself = format!("?ca={}", file("self-2100.pem"));
    Redis::at(&server.url(&itself)).unwrap().connect(&deadline()).map(|_| ()).unwrap();

    let server = OwnRedis::start("");
    let store = Redis::at(&format!("rediss://{}{authority}", server.place())).unwrap();
    let soon = Deadline::after(Duration::from_millis(300));
    let (text, is_transient) = message_of(store.connect(&soon).map(|_| ()).unwrap_err());
    assert!(text.contains("see that the server speaks TLS at this port"), "{text}");
    assert!(is_transient, "{text}");
}

/// A server starts with the lines that its documentation has, and serves.
#[test]
#[ignore = "needs Redis"]
fn a_server_is_set_up_as_the_documentation_says() {
    let page = include_str!("../../../store/redis.rs");
    let block = page.split("//! ```text\n").nth(1).unwrap().split("//! ```\n").next().unwrap();
    let mut lines = block.replace("//! ", "").replace("\n    ", " ").trim_end().to_owned();
    assert!(lines.ends_with(super::diagnosis::RIGHTS), "{lines}");
    if has_waitaof(&OwnRedis::start("")) {
        lines = format!("{lines} {}", super::diagnosis::WAITAOF);
    }
    let server = OwnRedis::start(&lines);
    let url = server.url("").replace("//", "//ids:SECRET@");
    contract::check(&Redis::at(&url).unwrap());
}

/// The rights that the documentation names are enough, and none can be left out: without one of
/// them, nothing is written.
#[test]
#[ignore = "needs Redis"]
fn a_user_needs_the_rights_that_are_named() {
    let server = OwnRedis::start("");
    let rights = super::diagnosis::RIGHTS.split_whitespace();
    let rights: Vec<&str> =
        rights.chain(has_waitaof(&server).then_some(super::diagnosis::WAITAOF)).collect();
    let allow = |rights: &[&str], keys: &str| {
        let words = ["ACL", "SETUSER", "ids", "reset", "on", ">secret", keys];
        server.set(&[&words[..], rights].concat());
    };
    let url = server.url("").replace("//", "//ids:secret@");
    let store = Redis::at(&url).unwrap();
    allow(&rights, "~uidring/*");
    contract::check(&store);
    refused(&server.url("").replace("//", "//ids:other-secret@"), "see the user and the password");
    refused(&server.url("").replace("//", "//nobody:secret@"), "see the user and the password");

    allow(&rights, "~uidring/*");
    let deadline = deadline();
    let admin = at(&server);
    let mut admin = admin.connect(&deadline).unwrap();
    assert!(admin.commit(&[write("r/1", None, "1"), write("r/3", None, "3")]).unwrap());
    let before = admin.list("r").unwrap().len();
    for right in &rights {
        let others: Vec<&str> = rights.iter().copied().filter(|other| other != right).collect();
        allow(&others, "~uidring/*");
        let (one, three) = (value("1"), value("3"));
        let changes = [
            write("r/2", None, "2"),
            write("r/3", Some(&three), "4"),
            Change { key: "r/1", version: Some(&one), action: Action::Remove },
        ];
        let result = store.connect(&deadline).and_then(|mut session| {
            session.now()?;
            session.list("r")?;
            session.count("r")?;
            session.commit(&changes)
        });
        let error = result.expect_err(right);
        let is_denied = matches!(error, Error::Denied(_));
        let text = message_of(error).0;
        assert!(is_denied && text.contains("give the rights"), "{right}: {text}");
        assert!(text.contains("~uidring/* +select"), "{right}: {text}");
        assert_eq!(admin.list("r").unwrap().len(), before, "{right}");
        assert_eq!(admin.read(&["r/3"]).unwrap()[0].as_ref().unwrap().value, "3", "{right}");
    }
    allow(&rights, "~other/*");
    let error = store.connect(&deadline).unwrap().read(&["r/1"]).unwrap_err();
    assert!(matches!(error, Error::Denied(_)), "{error:?}");
    allow(&rights, "~uidring/r/*");
    let changes = [write("r/5", None, "5"), write("s/5", None, "5")];
    let error = store.connect(&deadline).unwrap().commit(&changes).unwrap_err();
    assert!(matches!(error, Error::Denied(_)), "{error:?}");
    assert_eq!(admin.read(&["r/5", "s/5"]).unwrap(), [None, None]);
}

#[test]
#[ignore = "needs Redis"]
fn what_cannot_be_written_says_why() {
    let server = OwnRedis::start("");
    let (store, deadline) = (at(&server), deadline());
    let mut session = store.connect(&deadline).unwrap();
    server.run(&["LPUSH", "uidring/a", "1"]);
    server.run(&["SET", "uidring/b/", "1"]);
    for key in ["a", "b/c"] {
        let error = session.commit(&[write("x", None, "1"), write(key, None, "1")]).unwrap_err();
        let (text, is_transient) = message_of(error);
        assert!(text.contains("a key there is of another kind"), "{text}");
        assert!(!is_transient, "{text}");
        assert_eq!(session.read(&["x"]).unwrap(), [None]);
    }
    server.set(&["CONFIG", "SET", "maxmemory", "1"]);
    let (text, is_transient) = message_of(session.commit(&[write("x", None, "1")]).unwrap_err());
    assert!(text.contains("its memory has reached maxmemory"), "{text}");
    assert!(!is_transient, "{text}");
    assert_eq!(session.read(&["x"]).unwrap(), [None]);
    refused(&server.url("/99999"), "see the number of the database");
}
