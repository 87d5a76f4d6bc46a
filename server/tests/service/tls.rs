//! TLS, and certificates that are read again.

use std::io::{BufReader, Write};

use crate::common::{Answer, Server, certify, folder, request};

pub(crate) const TLS: [&str; 2] = ["--tls-cert=cert.pem", "--tls-key=key.pem"];

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
