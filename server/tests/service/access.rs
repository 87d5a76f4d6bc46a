//! Tokens: who may do what, and that none of them is logged.

use std::fs;
use std::path::Path;

use crate::common::{Server, command, folder};

const ORDERS: &str = "authorization: Bearer 0123456789abcdef-orders";
const ADMIN: &str = "authorization: Bearer 0123456789abcdef-admin";
const ADMIN_BASIC: &str = "authorization: Basic eDowMTIzNDU2Nzg5YWJjZGVmLWFkbWlu";
const UNKNOWN: &str = "authorization: Bearer 0123456789abcdef-nobody";
const FILE: &str = r#"
public = ["open"]

[[token]]
token = "0123456789abcdef-orders"
tags = ["orders"]

[[token]]
token = "0123456789abcdef-admin"
tags = ["*"]
admin = true
"#;

fn with_tokens(options: &[&str]) -> Server {
    let server = Server::start_with_tokens(FILE, options);
    server.create_tags(ADMIN, &["orders", "invoices", "open"]);
    server
}

#[test]
fn a_token_opens_its_tags() {
    let server = with_tokens(&["--leaf-snowflake"]);
    let json = "content-type: application/json";
    for (method, path, headers, status) in [
        ("GET", "/v1/tags/orders/ids", &[ORDERS][..], 200),
        ("GET", "/v1/tags/orders/ids", &[ADMIN], 200),
        ("GET", "/v1/tags/orders/ids", &[], 401),
        ("GET", "/v1/tags/orders/ids", &[UNKNOWN], 401),
        ("GET", "/v1/tags/orders/ids", &["authorization: bearer  0123456789abcdef-orders "], 200),
        ("GET", "/v1/tags/orders/ids", &["authorization: Basic 0123456789abcdef-orders"], 401),
        ("GET", "/v1/tags/orders/ids", &["authorization: 0123456789abcdef-orders"], 401),
        ("GET", "/v1/tags/orders/ids", &["authorization: Bearer"], 401),
        ("GET", "/v1/tags/orders/ids", &["authorization: Bearer "], 401),
        ("GET", "/v1/tags/orders/ids?token=0123456789abcdef-orders", &[], 401),
        ("GET", "/v1/tags/invoices/ids", &[ORDERS], 403),
        ("GET", "/v1/tags/open/ids", &[], 200),
        ("POST", "/v1/tags/orders/segments", &[ORDERS], 200),
        ("POST", "/v1/tags/invoices/segments", &[ORDERS], 403),
        ("POST", "/v1/tags/orders/segments", &[], 401),
        ("GET", "/v1/uids", &[ORDERS], 200),
        ("GET", "/v1/uids", &[], 401),
        ("GET", "/v1/tags", &[], 401),
        ("PUT", "/v1/tags/new", &[json], 401),
        ("PUT", "/v1/tags/new", &[json, ORDERS], 403),
        ("PUT", "/v1/tags/new", &[json, UNKNOWN], 401),
        ("GET", "/api/segment/get/orders", &[], 401),
        ("GET", "/api/segment/get/orders", &[ORDERS], 200),
        ("GET", "/api/segment/get/invoices", &[ORDERS], 403),
        ("GET", "/api/snowflake/get/x", &[], 401),
        ("GET", "/api/snowflake/get/x", &[ORDERS], 200),
        ("GET", "/cache", &[ORDERS], 403),
        ("GET", "/db", &[], 401),
        ("GET", "/db", &[ADMIN], 200),
        // As a browser sends it, with any name.
        ("GET", "/db", &[ADMIN_BASIC], 200),
        ("GET", "/db/", &[ADMIN_BASIC], 200),
        ("GET", "/cache", &[ADMIN_BASIC], 200),
        ("GET", "/cache/", &[], 401),
        ("GET", "/livez", &[], 200),
        ("GET", "/readyz", &[], 200),
    ] {
        let answer = server.send(method, path, headers, "");
        assert_eq!(answer.status, status, "{method} {path} {headers:?}: {answer:?}");
        let challenge = if status == 401 { "Bearer" } else { "" };
        assert_eq!(answer.header("www-authenticate"), challenge);
    }
    let tags = |header| server.send("GET", "/v1/tags", &[header], "").json()["tags"].clone();
    let names = |tags: serde_json::Value| -> Vec<String> {
        let names = tags.as_array().unwrap().iter().map(|tag| tag["tag"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    assert_eq!(names(tags(ORDERS)), ["open", "orders"]);
    assert_eq!(names(tags(ADMIN)), ["invoices", "open", "orders"]);
    let last = server.send("GET", "/v1/tags?last=2", &[ORDERS], "").json()["tags"].clone();
    assert_eq!(names(last).len(), 2, "those that it may see");
}

#[test]
fn a_star_stands_for_any_rest_of_a_name() {
    let folder = folder();
    let file = FILE.replace("tags = [\"orders\"]", "tags = [\"orders\", \"SO-*\"]");
    fs::write(folder.path().join("tokens.toml"), file).unwrap();
    let server = Server::start_on(folder, &["--tokens=tokens.toml"]);
    for tag in ["SO-1", "SO-", "SO", "TO-1"] {
        let headers = ["content-type: application/json", ADMIN];
        assert_eq!(server.send("PUT", &format!("/v1/tags/{tag}"), &headers, "{}").status, 201);
    }
    for (tag, status) in [("SO-1", 200), ("SO-", 200), ("SO", 403), ("TO-1", 403)] {
        let answer = server.send("GET", &format!("/v1/tags/{tag}/ids"), &[ORDERS], "");
        assert_eq!(answer.status, status, "{tag}: {answer:?}");
    }
    let tags = server.send("GET", "/v1/tags", &[ORDERS], "").json()["tags"].clone();
    assert_eq!(tags.as_array().unwrap().len(), 2, "{tags}");
}

#[test]
fn tinyids_paths_have_the_same_tokens() {
    let server = with_tokens(&[]);
    let ask = |query: &str, headers: &[&str]| {
        let path = format!("/tinyid/id/nextIdSimple?{query}");
        server.send("GET", &path, headers, "").text().to_owned()
    };
    assert_eq!(ask("bizType=orders&token=0123456789abcdef-orders", &[]), "1");
    assert_eq!(ask("bizType=orders", &[ORDERS]), "2");
    assert_eq!(ask("bizType=invoices&token=0123456789abcdef-orders", &[]), "");
    assert_eq!(ask("bizType=orders", &[]), "");
    // That of the query counts, as in tinyid.
    assert_eq!(ask("bizType=orders&token=wrong", &[ORDERS]), "");
    assert_eq!(ask("bizType=open", &[]), "1");
}

#[test]
fn tokens_are_read_again() {
    let server = with_tokens(&["--token-refresh=50ms"]);
    let write = |text: &str| {
        let (new, file) = (server.folder().join("new"), server.folder().join("tokens.toml"));
        fs::write(&new, text).unwrap();
        // Windows puts no file in the place of one that is just being read.
        server.wait_for("replaced", || fs::rename(&new, &file).is_ok());
    };
    let status = || server.send("GET", "/v1/tags/orders/ids", &[ORDERS], "").status;
    assert_eq!(status(), 200);
    // A file that cannot be read changes nothing.
    write("[[token]]\nnonsense");
    server.wait_for("told of", || server.log().contains("the tokens of the file stay as"));
    assert_eq!(status(), 200);
    write(&FILE.replace("abcdef-orders", "abcdef-others"));
    server.wait_for("refused", || status() == 401);
    write(FILE);
    server.wait_for("allowed again", || status() == 200);
    assert!(!server.log().contains("0123456789abcdef"), "{}", server.log());
}

/// Nothing listens there, so a start that needs it fails for ever.
#[cfg(feature = "postgres")]
const AWAY: [&str; 2] = ["--leaf-snowflake", "--leaf-db=postgres://nobody@127.0.0.1:1/ids"];

#[cfg(feature = "postgres")]
#[test]
fn tokens_are_read_again_while_another_start_fails() {
    let folder = folder();
    fs::write(folder.path().join("tokens.toml"), FILE).unwrap();
    let options = [&["--tokens=tokens.toml", "--token-refresh=50ms"][..], &AWAY].concat();
    let server = Server::launch(folder, &options);
    let status = |token| server.send("GET", "/v1/uids", &[token], "").status;
    server.wait_for("started", || status(ORDERS) == 200);
    server.wait_for("refused", || server.log().contains("127.0.0.1:1"));
    let others = FILE.replace("abcdef-orders", "abcdef-nobody");
    fs::write(server.folder().join("tokens.toml"), others).unwrap();
    server.wait_for("revoked", || status(ORDERS) == 401);
    assert_eq!(status(UNKNOWN), 200);
}

#[test]
fn no_secret_is_logged() {
    for format in ["--log=text", "--log=json"] {
        let server = with_tokens(&[format]);
        for header in [ORDERS, UNKNOWN] {
            server.send("GET", "/v1/tags/orders/ids", &[header], "");
        }
        let query = "bizType=orders&token=0123456789abcdef-orders";
        let id = server.get(&format!("/tinyid/id/nextIdSimple?{query}"));
        assert_eq!(id.text(), "2");
        let uid = server.send("GET", "/v1/uids", &[ORDERS], "");
        let uid = uid.json()["uids"][0].as_str().unwrap().to_owned();
        #[cfg(unix)]
        {
            server.terminate();
            server.wait_for("ended", || server.log().contains("ended"));
        }
        let log = server.log();
        for secret in ["0123456789abcdef", "bizType", &uid] {
            assert!(!log.contains(secret), "{secret}: {log}");
        }
        let is_json =
            log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        assert_eq!(is_json, format == "--log=json", "{log}");
    }
}

#[test]
fn a_bad_file_of_tokens_is_refused_by_its_line() {
    let folder = folder();
    for (text, problem) in [
        ("[[token]]\ntoken = 'short'\ntags = ['a']", "the 1. [[token]]: its token is shorter than"),
        ("[[token]]\ntoken = '0123456789abcdef'", "the 1. [[token]]: it allows nothing"),
        ("[[token]]\ntoken = '0123456789 abcdef'\nadmin = true", "characters other than"),
        (
            "[[token]]\ntoken = '0123456789abcdef'\nrole = 'reader'",
            "line 3: unknown variant `reader`",
        ),
        ("[[token]]\ntoken = '0123456789abcdef'\nrole = 'metrics'\ntags = ['a']", "nothing else"),
        ("[[token]]\ntoken = '0123456789abcdef'\nrole = 'metrics'\nadmin = true", "nothing else"),
        ("", "it is empty"),
        ("\n[[token]]\ntokn = '0123456789abcdef'", "line 3: unknown field `tokn`"),
        ("[[token]]\ntoken = 0123456789abcdef", "line 2: "),
        (
            "[[token]]\ntoken = '0123456789abcdef'\ntags = ['S*-1']",
            "\"S*-1\" has a * before its end",
        ),
        ("public = ['*-1']", "line 1: \"*-1\" has a * before its end"),
        // Where a token stands in the wrong place, it is not shown either.
        ("public = ['0123456789abcdef*-1']", "line 1: a pattern has a * before its end"),
        ("public = '0123456789abcdef'", "line 1: invalid type: string, expected a sequence"),
        ("token = '0123456789abcdef'", "line 1: invalid type: string, expected a sequence"),
        ("token = ['0123456789abcdef']", "line 1: invalid type: string, expected a [[token]]"),
        ("token = 1012345678901234", "line 1: invalid type: integer, expected a sequence"),
        ("[[token]]\ntoken = 1012345678901234", "line 2: invalid type: integer, expected a string"),
        ("[[token]]\ntoken = 1.0123456789", "line 2: invalid type: floating point, expected a str"),
        ("token = '\"`, expected 0123456789'", "line 1: invalid type: string, expected a sequence"),
        ("\n0123456789abcdef = true", "line 2: unknown field, expected one of `public`, "),
        ("[[token]]\n0123456789abcdef = 1", "line 2: unknown field, expected one of `token`, "),
        ("[[0123456789abcdef]]", "line 1: unknown field, expected one of `public`, "),
        ("[[token]]\nrole = '0123456789abcdef'", "line 2: unknown variant, expected `metrics`"),
    ] {
        fs::write(folder.path().join("tokens.toml"), text).unwrap();
        let mut command = command(folder.path());
        let done = command.args(["--check", "--tokens=tokens.toml"]).output().unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{text}: {stderr}");
        assert!(stderr.contains(problem), "{text}: {stderr}");
        assert!(stderr.contains("--tokens: tokens.toml: "), "{stderr}");
        assert!(!stderr.contains("0123456789"), "a token is shown: {stderr}");
    }
}

#[test]
fn an_open_address_without_tokens_is_told_of() {
    let loud = "NO TOKENS ARE SET";
    let server = Server::start(&["--listen=0.0.0.0:0"]);
    // The log has a thread of its own.
    server.wait_for("the warning", || server.log().contains(loud));
    let server = Server::start(&[]);
    assert!(!server.log().contains(loud), "{}", server.log());
    let server = Server::start_with_tokens(FILE, &["--listen=0.0.0.0:0"]);
    assert!(!server.log().contains(loud), "{}", server.log());
}

#[test]
fn the_tokens_of_the_page_do_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/service/access.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once("```toml\n").unwrap();
    let (tokens, _) = block.split_once("```").unwrap();
    let server = Server::start_with_tokens(tokens, &[]);
    let client = "authorization: Bearer 0f673adf80504e2eaa552f5d791b644c";
    let operator = "authorization: Bearer a-long-secret-for-operators";
    let prometheus = "authorization: Bearer a-long-secret-for-prometheus";
    for tag in ["orders", "customers-eu", "parcels", "invoices"] {
        let headers = ["content-type: application/json", operator];
        let created = server.send("PUT", &format!("/v1/tags/{tag}"), &headers, "{}");
        assert_eq!(created.status, 201, "{created:?}");
    }
    for (path, headers, status) in [
        ("/v1/tags/parcels/ids", &[][..], 200),
        ("/v1/uids", &[], 401),
        ("/v1/uids", &[client], 200),
        ("/v1/tags/orders/ids", &[client], 200),
        ("/v1/tags/customers-eu/ids", &[client], 200),
        ("/v1/tags/invoices/ids", &[client], 403),
        ("/metrics", &[client], 403),
        ("/metrics", &[prometheus], 200),
        ("/metrics", &[operator], 200),
        ("/v1/status", &[prometheus], 403),
        ("/v1/status", &[operator], 200),
        ("/v1/uids", &[prometheus], 403),
    ] {
        let answer = server.send("GET", path, headers, "");
        assert_eq!(answer.status, status, "{path} {headers:?}: {answer:?}");
    }
}
