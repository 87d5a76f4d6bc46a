//! `--mask-key`: UIDs are given masked, and read masked.

use std::fs;

use tempfile::TempDir;
use uidring::Uid;
use uidring::masked::{Key, Masked};

use crate::common::{Server, folder};

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const ADMIN: &str = "authorization: Bearer 0123456789abcdef-admin";
const ORDERS: &str = "authorization: Bearer 0123456789abcdef-orders";

fn with_key() -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("mask.key"), format!("{KEY}\n")).unwrap();
    folder
}

fn masked() -> Masked {
    Masked::new(&KEY.parse::<Key>().unwrap())
}

fn strings(server: &Server, path: &str) -> Vec<u64> {
    let json = server.get(path).json();
    json["uids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn uids_are_masked_in_each_form_and_in_the_order_of_their_takes() {
    let server = Server::start_on(with_key(), &["--mask-key=mask.key"]);
    let mut given = strings(&server, "/v1/uids");
    given.extend(strings(&server, "/v1/uids?n=3"));
    // Long enough to be written in slices.
    given.extend(strings(&server, "/v1/uids?n=20000"));
    for n in [1, 5, 20_000] {
        let path = format!("/v1/uids?n={n}");
        let lines = server.send("GET", &path, &["accept: text/plain"], "");
        given.extend(lines.text().lines().map(|line| line.parse::<u64>().unwrap()));
        let bytes = server.send("GET", &path, &["accept: application/octet-stream"], "");
        given.extend(bytes.body.chunks(8).map(|uid| u64::from_le_bytes(uid.try_into().unwrap())));
    }
    assert_eq!(given.len(), 1 + 3 + 20_000 + 2 * (1 + 5 + 20_000));
    let masked = masked();
    let uids: Vec<Uid> = given.iter().map(|&id| masked.unmask(id).unwrap()).collect();
    assert!(uids.is_sorted_by(|one, next| one < next));
    // The highest bits of a UID are its time. Those of the masked forms are in all their range.
    let high = |ids: &mut dyn Iterator<Item = u64>| ids.map(|id| id >> 60).max();
    assert_eq!(high(&mut given.into_iter()), Some(7));
    assert_eq!(high(&mut uids.into_iter().map(Uid::get)), Some(0));
}

#[test]
fn a_masked_uid_is_decoded() {
    let options = ["--mask-key=mask.key", "--layout=30,20,13", "--epoch=2026-01-01", "--tick=1s"];
    let server = Server::start_on(with_key(), &options);
    let uid = Uid::new((5 << 33) | (3 << 13) | 7).unwrap();
    let asked = masked().mask(uid);
    let answer = server.get(&format!("/v1/uids/{asked}"));
    let expected = format!(
        "{{\"uid\":\"{uid}\",\"masked\":\"{asked}\",\"base32\":\"0000018000R07\",\
         \"time\":\"2026-01-01T00:00:05Z\",\"worker\":\"3\",\"sequence\":\"7\"}}"
    );
    assert_eq!((answer.status, answer.text()), (200, expected.as_str()));
    for wrong in ["0", "9223372036854775808", "x"] {
        let answer = server.get(&format!("/v1/uids/{wrong}"));
        let kind = &answer.json()["type"];
        assert_eq!((answer.status, kind.as_str()), (400, Some("urn:uidring:problem:bad-uid")));
    }
}

#[test]
fn only_an_administrator_may_ask_what_is_behind_a_mask() {
    let folder = with_key();
    let tokens = "public_uids = true\n[[token]]\ntoken = \"0123456789abcdef-admin\"\nadmin = true\n\
                  [[token]]\ntoken = \"0123456789abcdef-orders\"\ntags = [\"orders\"]\n";
    fs::write(folder.path().join("tokens.toml"), tokens).unwrap();
    let server = Server::start_on(folder, &["--mask-key=mask.key", "--tokens=tokens.toml"]);
    let path = format!("/v1/uids/{}", strings(&server, "/v1/uids")[0]);
    let status = |headers: &[&str]| server.send("GET", &path, headers, "").status;
    assert_eq!([status(&[]), status(&[ORDERS]), status(&[ADMIN])], [401, 403, 200]);
}

#[test]
fn an_error_does_not_tell_the_worker_behind_a_mask() {
    let server = Server::start_on(with_key(), &["--mask-key=mask.key", "--lease=1s"]);
    fs::rename(server.file(), server.folder().join("away.db")).unwrap();
    server.wait_for("without UIDs", || server.get("/v1/uids").status == 503);
    let answer = server.get("/v1/uids").json();
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.starts_with("the ticks reserved for the worker id are used up"), "{detail}");
}

#[test]
fn the_key_can_be_named_in_the_file_of_options_and_is_never_shown() {
    let folder = with_key();
    fs::write(folder.path().join("o.toml"), "mask-key = 'mask.key'").unwrap();
    let server = Server::start_on(folder, &["--config=o.toml"]);
    let [id] = strings(&server, "/v1/uids")[..] else { panic!("one UID") };
    let status = server.get("/v1/status");
    assert!(!status.text().contains("0c0d") && !server.log().contains("0c0d"));
    let uid = masked().unmask(id).unwrap();
    assert_eq!(server.get(&format!("/v1/uids/{id}")).json()["uid"], uid.to_string());
}
