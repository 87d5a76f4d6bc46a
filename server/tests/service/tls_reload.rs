//! Certificates that take the place of others.

use std::fs;

use super::tls::TLS;
use crate::common::{Server, certify, folder, metric, signal};

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
