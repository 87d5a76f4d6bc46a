//! What is said where no connection is made, for each reason that a server can give: what to do
//! about it, and not about another one.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use uidring::Store;
use uidring::registry::{Request, WorkerRegistry};

use super::causes::with_causes;
use super::key_servers::etcd::{Etcds, free_port};
use super::key_servers::redis::{OwnRedis, certificate_file};
use super::key_servers::zookeeper::ZooKeepers;

/// The error of the first call, with its causes.
fn said(address: &str) -> String {
    let store = match Store::open(address) {
        Ok(store) => store.with_timeout(Duration::from_secs(3)),
        Err(error) => return error.to_string(),
    };
    let layout = uidring::Layout::DEFAULT;
    let request = Request::new(layout, 1000, layout.max_tick());
    let error = store.registry().unwrap().assign(&request).unwrap_err();
    let text = with_causes(&error);
    assert!(!text.contains("SECRET"), "{text}");
    text
}

/// Checks what is said of each address, all at once, as some of them wait.
fn check(cases: &[(&str, String, &[&str])]) {
    let failed: Vec<String> = thread::scope(|scope| {
        let calls: Vec<_> = cases
            .iter()
            .map(|(what, address, expected)| {
                scope.spawn(move || {
                    let has_all = |text: &str| expected.iter().all(|part| text.contains(part));
                    let mut text = said(address);
                    // On a busy machine, the first handshake of a server takes longer than a call
                    // waits.
                    for _ in 0..10 {
                        if has_all(&text) || !text.ends_with("timed out") {
                            break;
                        }
                        text = said(address);
                    }
                    println!("{what}\n    {text}");
                    (!has_all(&text)).then(|| format!("{what}: {expected:?} is not in {text}"))
                })
            })
            .collect();
        calls.into_iter().filter_map(|call| call.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A server that accepts and says nothing.
fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let mut kept = Vec::new();
        kept.extend(listener.incoming());
    });
    place
}

/// One that closes each connection without a word.
fn closing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    thread::spawn(move || listener.incoming().for_each(drop));
    place
}

/// One that begins as a port for gRPC alone does, which the etcd of the tests has not.
fn grpc() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let _ = socket.write_all(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0, 64, 0]);
            let _ = socket.read(&mut [0; 1024]);
        }
    });
    place
}

fn nobody() -> String {
    format!("127.0.0.1:{}", free_port())
}

fn certificate(name: &str) -> String {
    certificate_file(name).display().to_string()
}

const DOWN: &str = "see that the server runs and can be reached from here";

#[test]
#[ignore = "needs the servers of etcd, Redis and ZooKeeper"]
fn each_error_of_connecting_to_redis_says_what_to_do() {
    let redis = OwnRedis::start("");
    redis.run(&["ACL", "SETUSER", "me", "on", ">SECRET", "~*", "&*", "+@all"]);
    redis.run(&["ACL", "SETUSER", "few", "on", ">SECRET", "~*", "+select"]);
    let asking = OwnRedis::start("requirepass SECRET");
    let tls = OwnRedis::start_with_tls("127.0.0.1", "tls-auth-clients no");
    let other_name = OwnRedis::start_with_tls("another.example", "tls-auth-clients no");
    let client = OwnRedis::start_with_tls("127.0.0.1", "tls-auth-clients yes");
    let ca = certificate("authority.pem");
    let etcd = Etcds::start(1, &[]);
    let zookeeper = ZooKeepers::start(1, "");
    check(&[
        ("nobody listens", format!("redis://{}", nobody()), &[DOWN]),
        ("no such name", "redis://nobody.invalid".to_owned(), &["nobody.invalid", DOWN]),
        ("no answer", format!("redis://{}", silent()), &["did not answer for 3 s"]),
        ("closed", format!("redis://{}", closing()), &["closed the connection", "rediss://"]),
        (
            "a wrong password",
            format!("redis://me:SECRETS@{}", redis.place()),
            &["see the user and the password"],
        ),
        (
            "a wrong user",
            format!("redis://you:SECRET@{}", redis.place()),
            &["see the user and the password"],
        ),
        ("no password", format!("redis://{}", asking.place()), &["name the user and the password"]),
        (
            "a password that nobody asks for",
            format!("redis://:SECRET@{}", redis.place()),
            &["it asks for no password; leave it out"],
        ),
        ("few rights", format!("redis://few:SECRET@{}", redis.place()), &["the user needs ~uid"]),
        (
            "a database too many",
            format!("redis://{}/99", redis.place()),
            &["see the number of the database"],
        ),
        ("a port with TLS", format!("redis://{}", tls.place()), &["TLS", "rediss://"]),
        (
            "a port with TLS that asks for a certificate",
            format!("redis://{}", client.place()),
            &["TLS", "rediss://"],
        ),
        (
            "a port without TLS",
            format!("rediss://{}?ca={ca}", redis.place()),
            &["see that the server speaks TLS at this port; without TLS, the address begins with"],
        ),
        (
            "an authority of one's own",
            format!("rediss://{}", tls.place()),
            &["name its authority in the address with ca="],
        ),
        (
            "a certificate of another name",
            format!("rediss://{}?ca={ca}", other_name.place()),
            &["see the server's certificate"],
        ),
        (
            "no certificate of the client's",
            format!("rediss://{}?ca={ca}", client.place()),
            &["the server asks for a certificate"],
        ),
        ("etcd", format!("redis://{}", etcd.place(0)), &["closed the connection", "see the port"]),
        (
            "ZooKeeper",
            format!("redis://127.0.0.1:{}", zookeeper.port(0)),
            &["closed the connection", "see the port"],
        ),
    ]);
}

#[test]
#[ignore = "needs the servers of etcd, Redis and ZooKeeper"]
fn each_error_of_connecting_to_etcd_says_what_to_do() {
    let plain = Etcds::start(1, &[]);
    let users = Etcds::start(1, &[]);
    for arguments in [
        &["user", "add", "root:SECRET"][..],
        &["user", "add", "few:SECRET"],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        users.ctl(0, arguments);
    }
    let file = |name: &str| certificate(name);
    let (own, key) = (file("127.0.0.1.pem"), file("127.0.0.1-key.pem"));
    let own = format!("--cert-file={own}");
    let key = format!("--key-file={key}");
    let ca = certificate("authority.pem");
    let tls = Etcds::start(1, &[&own, &key]);
    let trusted = format!("--trusted-ca-file={ca}");
    let client = Etcds::start(1, &[&own, &key, &trusted, "--client-cert-auth"]);
    let bare = Etcds::start(1, &["--enable-grpc-gateway=false"]);
    let redis = OwnRedis::start("");
    let zookeeper = ZooKeepers::start(1, "");
    check(&[
        ("nobody listens", format!("etcd://{}", nobody()), &[DOWN]),
        ("no such name", "etcd://nobody.invalid".to_owned(), &[DOWN]),
        ("no answer", format!("etcd://{}", silent()), &["did not answer for 3 s"]),
        ("closed", format!("etcd://{}", closing()), &["closed the connection", "etcds://"]),
        (
            "a wrong password",
            format!("etcd://few:SECRETS@{}", users.place(0)),
            &["see the user and the password"],
        ),
        (
            "a wrong user",
            format!("etcd://you:SECRET@{}", users.place(0)),
            &["see the user and the password"],
        ),
        ("no user", format!("etcd://{}", users.place(0)), &["name one in the address"]),
        ("few rights", format!("etcd://few:SECRET@{}", users.place(0)), &["give this user"]),
        ("a port with TLS", format!("etcd://{}", tls.place(0)), &["TLS", "etcds://"]),
        (
            "a port with TLS that asks for a certificate",
            format!("etcd://{}", client.place(0)),
            &["TLS", "etcds://"],
        ),
        ("a port without TLS", format!("etcds://{}?ca={ca}", plain.place(0)), &["TLS", "etcd://"]),
        (
            "an authority of one's own",
            format!("etcds://{}", tls.place(0)),
            &["name the authority of the server's as ca"],
        ),
        (
            "no certificate of the client's",
            format!("etcds://{}?ca={ca}", client.place(0)),
            &["cert and key if the server wants a certificate"],
        ),
        (
            "a port for other members",
            format!("etcd://{}", plain.peer_place(0)),
            &["not one for the other members", "--listen-client-urls"],
        ),
        (
            "gRPC alone",
            format!("etcd://{}", bare.place(0)),
            &["no gateway for JSON", "--enable-grpc-gateway"],
        ),
        (
            "gRPC alone, from 3.5 on, or Kine, which has no gateway",
            format!("etcd://{}", grpc()),
            &["--listen-client-http-urls", "has no gateway, as Kine, is none to use"],
        ),
        ("Redis", format!("etcd://{}", redis.place()), &["see the port"]),
        ("ZooKeeper", format!("etcd://127.0.0.1:{}", zookeeper.port(0)), &["see the port"]),
    ]);
}

#[test]
#[ignore = "needs the servers of etcd, Redis and ZooKeeper"]
fn each_error_of_connecting_to_zookeeper_says_what_to_do() {
    let plain = ZooKeepers::start(1, "");
    let digest = "-Dzookeeper.enforce.auth.enabled=true\n-Dzookeeper.enforce.auth.schemes=digest";
    let digest = ZooKeepers::start(1, digest);
    let sasl = "-Dzookeeper.enforce.auth.enabled=true\n-Dzookeeper.enforce.auth.schemes=sasl\n\
                -Dzookeeper.authProvider.1=\
                org.apache.zookeeper.server.auth.SASLAuthenticationProvider";
    let sasl = ZooKeepers::start(1, sasl);
    let secure = |name: &str, more: &str| {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.pem");
        let read = |name: &str| std::fs::read_to_string(certificate_file(name)).unwrap();
        std::fs::write(&store, read(&format!("{name}-key.pem")) + &read(&format!("{name}.pem")))
            .unwrap();
        let port = free_port();
        let lines = format!(
            "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n\
             secureClientPort={port}\nssl.keyStore.location={}\nssl.keyStore.type=PEM\n\
             ssl.trustStore.location={}\nssl.trustStore.type=PEM\n{more}",
            store.display(),
            certificate("authority.pem")
        );
        (ZooKeepers::start(1, &lines), format!("127.0.0.1:{port}"), folder)
    };
    let tls = secure("127.0.0.1", "ssl.clientAuth=none");
    let client = secure("127.0.0.1", "ssl.clientAuth=need");
    let ca = certificate("authority.pem");
    let redis = OwnRedis::start("");
    let etcd = Etcds::start(1, &[]);
    let place = |servers: &ZooKeepers| format!("127.0.0.1:{}", servers.port(0));
    // A node of somebody else's.
    let mine = format!("zookeeper://me:SECRET@{}/mine", place(&plain));
    let layout = uidring::Layout::DEFAULT;
    let request = Request::new(layout, 1000, layout.max_tick());
    Store::open(mine).unwrap().registry().unwrap().assign(&request).unwrap();
    let good = format!("zookeeper://me:SECRET@{}", place(&digest));
    Store::open(good).unwrap().registry().unwrap().assign(&request).unwrap();
    check(&[
        ("nobody listens", format!("zookeeper://{}", nobody()), &["see that it runs"]),
        ("no such name", "zookeeper://nobody.invalid".to_owned(), &["nobody.invalid", "see that"]),
        ("no answer", format!("zookeeper://{}", silent()), &["does not answer"]),
        (
            "closed",
            format!("zookeeper://{}", closing()),
            &["closes each connection", "zookeepers://"],
        ),
        (
            "a server that wants a user",
            format!("zookeeper://{}", place(&digest)),
            &["enforce.auth", "name a user and a password in the address"],
        ),
        (
            "a server that wants SASL of a user",
            format!("zookeeper://me:SECRET@{}", place(&sasl)),
            &["enforce.auth", "SASL"],
        ),
        (
            "a server that wants SASL",
            format!("zookeeper://{}", place(&sasl)),
            &["enforce.auth", "SASL"],
        ),
        (
            "a node of another user",
            format!("zookeeper://you:SECRET@{}/mine", place(&plain)),
            &["give this user"],
        ),
        ("a node of a user", format!("zookeeper://{}/mine", place(&plain)), &["give this user"]),
        ("a port with TLS", format!("zookeeper://{}", tls.1), &["zookeepers://"]),
        (
            "a port without TLS",
            format!("zookeepers://{}?ca={ca}", place(&plain)),
            &["TLS", "zookeeper://"],
        ),
        (
            "an authority of one's own",
            format!("zookeepers://{}", tls.1),
            &["see the certificates", "ca"],
        ),
        (
            "no certificate of the client's",
            format!("zookeepers://{}?ca={ca}", client.1),
            &["cert and key"],
        ),
        ("Redis", format!("zookeeper://{}", redis.place()), &["at this port"]),
        ("etcd", format!("zookeeper://{}", etcd.place(0)), &["at this port"]),
    ]);
}
