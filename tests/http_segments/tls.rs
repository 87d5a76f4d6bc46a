//! A server with a certificate of one's own.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use uidring::segment::SegmentSource;

use super::*;

#[test]
fn a_certificate_is_checked_by_the_authority_that_is_named() {
    let certificate = include_str!("../certificates/localhost-2100.pem");
    let key = include_str!("../certificates/localhost-2100-key.pem");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    fs::write(&file, certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        )
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    // It ends with the test's process.
    thread::spawn(move || {
        for connection in listener.incoming() {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(tls, connection.unwrap());
            // A client that does not trust the certificate sends nothing.
            if stream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {
                let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0,2,10,1,0\n";
                stream.write_all(reply).unwrap();
                stream.conn.send_close_notify();
                drop(stream.flush());
            }
        }
    });
    let source = || HttpSegments::new([&address], TOKEN).tinyid();
    let error = text(source().load("orders", None));
    assert!(error.contains("name its authority by with_root_certificate"), "{error}");
    let trusting = source().with_root_certificate(&file).unwrap();
    assert_eq!(trusting.load("orders", None).unwrap().count, 10);
    fs::write(&file, "nothing").unwrap();
    for file in [file, folder.path().join("missing.pem")] {
        let error = text(source().with_root_certificate(&file));
        assert!(error.contains(file.to_str().unwrap()), "{error}");
    }
}
