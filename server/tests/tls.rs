//! TLS.

#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::{BufReader, Write};
use std::sync::Arc;

use common::{Answer, Server, request};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

#[test]
fn ids_come_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("cert.pem"), cert.pem()).unwrap();
    fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
    let server =
        Server::launch(folder, &["--tls-cert=cert.pem", "--tls-key=key.pem", "--threads=1"]);
    let ask = |path: &str| {
        let connection = client(cert.der());
        let mut stream = BufReader::new(StreamOwned::new(connection, server.connect()));
        stream.get_mut().write_all(request("GET", path, &[], "").as_bytes()).unwrap();
        Answer::read(&mut stream)
    };
    server.wait_for("ready", || ask("/readyz").status == 200);
    let answer = ask("/v1/uids?n=1000");
    assert_eq!((answer.status, answer.json()["uids"].as_array().unwrap().len()), (200, 1000));
    // Whoever speaks without TLS holds nobody up.
    let mut plain = server.connect();
    plain.write_all(request("GET", "/livez", &[], "").as_bytes()).unwrap();
    assert!(Answer::try_read(&mut BufReader::new(plain)).is_none());
    assert_eq!(ask("/livez").status, 200);
}

fn client(cert: &CertificateDer<'static>) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots.add(cert.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}
