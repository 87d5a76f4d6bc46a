//! TLS, and certificates that are read again.

use std::fs;
use std::io::{BufReader, Read, Write};

use crate::common::{Answer, Server, certify, folder, metric, request, signal};

const TLS: [&str; 2] = ["--tls-cert=cert.pem", "--tls-key=key.pem"];

#[test]
fn ids_come_over_tls() {
    let folder = folder();
    let cert = certify(folder.path(), 2100);
    let server = Server::launch(folder, &[&TLS[..], &["--threads=1"]].concat());
    let ask = |path: &str| server.get_tls(&cert, path).unwrap();
    server.wait_for("ready", || ask("/readyz").status == 200);
    let answer = ask("/v1/uids?n=1000");
    assert_eq!((answer.status, answer.json()["uids"].as_array().unwrap().len()), (200, 1000));
    // A client that does not speak TLS does not delay others.
    let mut plain = server.connect();
    plain.write_all(request("GET", "/livez", &[], "").as_bytes()).unwrap();
    assert!(Answer::try_read(&mut BufReader::new(plain)).is_none());
    assert_eq!(ask("/livez").status, 200);
    assert!(!server.log().contains("the certificate end"), "{}", server.log());
}

#[test]
fn a_connection_without_a_handshake_does_not_hold_up_the_end() {
    let folder = folder();
    let cert = certify(folder.path(), 2100);
    // Less than a handshake may take.
    let mut server = Server::launch(folder, &[&TLS[..], &["--threads=1", "--grace=5s"]].concat());
    server.wait_for("ready", || server.get_tls(&cert, "/readyz").unwrap().status == 200);
    let mut silent = server.connect();
    // The connection has been accepted when a later one is answered.
    assert_eq!(server.get_tls(&cert, "/livez").unwrap().status, 200);
    server.terminate();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0);
    assert_eq!(server.wait().code(), Some(0));
    server.wait_for("ended", || server.log().contains("ended"));
    assert!(!server.log().contains("cut off"), "{}", server.log());
}

#[test]
fn a_certificate_is_read_again() {
    let folder = folder();
    let old = certify(folder.path(), 2100);
    let mut server = Server::launch(folder, &TLS);
    server.wait_for("ready", || server.get_tls(&old, "/readyz").unwrap().status == 200);
    let ends = |cert| {
        let text = server.get_tls(cert, "/metrics")?.text().to_owned();
        let failing = metric(&text, "uidring_reload_failing{what=\"certificate\"}")?;
        Some((metric(&text, "uidring_tls_certificate_expires_timestamp_seconds")?, failing))
    };
    let of_2100 = 4_102_444_800.0;
    assert_eq!(ends(&old), Some((of_2100, 0.0)));
    // A key that does not fit, no key at all, a certificate that has ended, and one that has not
    // begun: all stays.
    let (cert_file, key_file) = (server.folder().join("cert.pem"), server.folder().join("key.pem"));
    let (cert_text, key_text) = (fs::read(&cert_file).unwrap(), fs::read(&key_file).unwrap());
    let bad = [(2101, Some(&key_text[..])), (2101, Some(b"")), (2021, None), (2102, None)];
    for (told, (year, key)) in (1..).zip(bad) {
        certify(server.folder(), year);
        if let Some(key) = key {
            fs::write(&key_file, key).unwrap();
        }
        signal(server.id(), "HUP");
        let stays = || server.log().matches("the certificate and its key stay as they").count();
        server.wait_for("told of", || stays() == told);
        assert_eq!(ends(&old), Some((of_2100, 1.0)), "{year}: {}", server.log());
    }
    let status = server.get_tls(&old, "/v1/status").unwrap().json();
    assert_eq!(status["health"]["level"], "warning", "{status}");
    // The files of before are good again.
    fs::write(&cert_file, &cert_text).unwrap();
    fs::write(&key_file, &key_text).unwrap();
    signal(server.id(), "HUP");
    server.wait_for("good", || ends(&old) == Some((of_2100, 0.0)));
    // Another one takes their place, and connections that there are go on.
    let new = certify(server.folder(), 2101);
    signal(server.id(), "HUP");
    server.wait_for("read", || server.get_tls(&new, "/livez").is_some());
    assert!(server.get_tls(&old, "/livez").is_none());
    assert_eq!(ends(&new).map(|(ends, _)| ends > of_2100), Some(true));
    server.terminate();
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

/// Authorities leave old certificates at the end of a chain, which clients do not need.
#[test]
fn an_old_certificate_at_the_end_of_a_chain_is_no_reason_to_refuse_it() {
    let folder = folder();
    let old = certify(folder.path(), 2100);
    let server = Server::launch(folder, &TLS);
    server.wait_for("ready", || server.get_tls(&old, "/readyz").unwrap().status == 200);
    let cert_file = server.folder().join("cert.pem");
    certify(server.folder(), 2021);
    let ended = fs::read_to_string(&cert_file).unwrap();
    let new = certify(server.folder(), 2101);
    let chain = fs::read_to_string(&cert_file).unwrap() + &ended;
    fs::write(&cert_file, chain).unwrap();
    signal(server.id(), "HUP");
    server.wait_for("read", || server.log().contains("the certificate and its key"));
    assert_eq!(server.get_tls(&new, "/livez").map(|answer| answer.status), Some(200));
    let told = "a certificate of its chain ended at 2021-01-01";
    server.wait_for("told of", || server.log().contains(told));
    let status = server.get_tls(&new, "/v1/status").unwrap().json();
    assert_eq!(status["health"]["level"], "warning", "{status}");
    assert!(status.to_string().contains(told), "{status}");
    // The service's own comes first.
    certify(server.folder(), 2101);
    let good = fs::read_to_string(&cert_file).unwrap();
    certify(server.folder(), 2021);
    fs::write(&cert_file, ended + &good).unwrap();
    signal(server.id(), "HUP");
    server.wait_for("refused", || server.log().contains("the certificate and its key stay"));
    assert_eq!(server.get_tls(&new, "/livez").map(|answer| answer.status), Some(200));
}

#[test]
fn a_certificate_that_was_renewed_needs_no_signal() {
    let folder = folder();
    let old = certify(folder.path(), 2100);
    let server = Server::launch(folder, &[&TLS[..], &["--token-refresh=50ms"]].concat());
    server.wait_for("ready", || server.get_tls(&old, "/readyz").unwrap().status == 200);
    let new = certify(server.folder(), 2101);
    server.wait_for("read", || server.get_tls(&new, "/livez").is_some());
}

#[test]
fn a_certificate_that_ends_is_told_of() {
    let folder = folder();
    let cert = certify(folder.path(), 2021);
    let server = Server::launch(folder, &TLS);
    server.wait_for("told of", || server.log().contains("the certificate ended at 2021-01-01"));
    // It has ended, so a client refuses it.
    assert!(server.get_tls(&cert, "/livez").is_none());
}
