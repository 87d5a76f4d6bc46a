//! The page at `/`: what it shows, and how it behaves in a browser.

#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{Answer, Server};

fn page(server: &Server) -> Answer {
    let answer = server.get("/");
    assert_eq!(answer.status, 200);
    answer
}

fn with_tags(server: &Server, count: usize) {
    for index in 0..count {
        assert_eq!(server.put(&format!("tag-{index:04}"), "{}").status, 201);
        assert_eq!(server.get(&format!("/v1/tags/tag-{index:04}/ids?n=7")).status, 200);
    }
}

#[test]
fn the_page_shows_the_present_state_by_itself() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    let uids = server.get("/v1/uids").json()["uids"][0].as_str().unwrap().to_owned();
    let page = page(&server);
    let text = page.text();
    for expected in [
        "class=\"Healthy\"",
        "All is well.",
        "1, kept for good",
        "reachable since",
        "ids.db",
        "tag-0002",
        "the generator has started",
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
    assert!(!text.contains(&uids), "{text}");
}

#[test]
fn nothing_in_the_page_can_run_that_is_not_its_own() {
    let server = Server::start(&[]);
    let name = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27%26";
    assert_eq!(server.put(name, "{}").status, 201);
    assert_eq!(server.get(&format!("/v1/tags/{name}/ids")).status, 200);
    let page = page(&server);
    assert!(page.text().contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{}", page.text());
    assert!(!page.text().contains("<script>"), "{}", page.text());
    let policy = page.header("content-security-policy");
    for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(!page.text().contains(" style="), "the policy forbids styles in elements");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert_eq!(page.header("cache-control"), "no-store");
    for (file, kind) in [("style.css", "text/css"), ("script.js", "text/javascript")] {
        let file = server.get(&format!("/page/{file}"));
        assert!(file.header("content-type").starts_with(kind), "{file:?}");
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        // No other host is asked for anything.
        assert!(!file.text().contains("://"), "{}", file.text());
    }
}

#[test]
fn the_status_says_what_the_page_shows() {
    let server = Server::start(&[]);
    with_tags(&server, 2);
    let status = server.get("/v1/status").json();
    assert_eq!(status["health"]["level"], "ok");
    assert_eq!(status["generators"][0]["worker"], 1);
    assert_eq!(status["generators"][0]["is_leased"], false);
    assert_eq!(status["database"]["up"], true);
    assert_eq!(status["given"]["numbers"], 14);
    let tag = &status["tags"][1];
    assert_eq!((&tag["tag"], &tag["taken"]), (&"tag-0001".into(), &7.into()));
    assert_eq!(tag["problem"], serde_json::Value::Null);
    let event = &status["events"].as_array().unwrap().last().unwrap()["text"];
    assert!(event.as_str().is_some_and(|text| text.contains("started")), "{event}");
    server.wait_for("measured", || {
        let uids = server.get("/v1/uids?n=100000");
        assert_eq!(uids.status, 200);
        let status = server.get("/v1/status").json();
        let rates = status["per_second"]["uids"].as_array().unwrap();
        rates.iter().any(|rate| rate.as_u64().unwrap() > 0)
    });
}

#[test]
fn a_lease_ends_some_time() {
    let server = Server::start(&["--lease", "10m"]);
    let generator = || server.get("/v1/status").json()["generators"][0].clone();
    server.wait_for("read", || generator()["lease_until"].is_string());
    assert_eq!(generator()["is_leased"], true);
    let until = generator()["lease_until"].as_str().unwrap()[..10].to_owned();
    assert!(page(&server).text().contains(&format!("leased until {until}")));
}

#[test]
fn a_database_that_is_away_is_a_warning() {
    let server = Server::start(&[]);
    with_tags(&server, 1);
    // The registry's table is gone.
    let database = rusqlite::Connection::open(server.folder().join("ids.db")).unwrap();
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'uidring%'";
    let mut statement = database.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for name in names.map(Result::unwrap).collect::<Vec<_>>() {
        database.execute(&format!("ALTER TABLE {name} RENAME TO away_{name}"), []).unwrap();
    }
    let status = || server.get("/v1/status").json();
    server.wait_for("away", || status()["database"]["up"] == false);
    let health = status()["health"].clone();
    assert_eq!(health["level"], "warning", "{health}");
    let text = page(&server).text().to_owned();
    assert!(text.contains("Ids come from memory"), "{text}");
    assert!(text.contains("AWAY since"), "{text}");
    assert!(server.get("/metrics").text().contains("\nuidring_database_up 0\n"));
}

#[test]
fn without_a_database_from_the_start_the_service_is_down() {
    // Nothing listens there.
    let db = "postgres://somebody:hunter2@127.0.0.1:1/ids";
    let server = Server::launch(tempfile::tempdir().unwrap(), &["--db", db]);
    server.wait_for("tried", || server.get("/").text().contains("127.0.0.1:1"));
    let text = page(&server).text().to_owned();
    assert!(text.contains("class=\"Down\"") && text.contains("There are no ids yet"), "{text}");
    let status = server.get("/v1/status");
    assert_eq!(status.json()["health"]["level"], "down");
    for text in [&text, status.text(), server.get("/metrics").text()] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert!(server.get("/metrics").text().contains("\nuidring_ready 0\n"));
}

#[test]
fn the_page_is_for_administrators_where_there_are_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.toml");
    let text = "[[token]]\ntoken = \"0123456789abcdef\"\nadmin = true\n";
    std::fs::write(&tokens, text).unwrap();
    let server = Server::start(&["--tokens", tokens.to_str().unwrap()]);
    for path in ["/", "/v1/status"] {
        assert_eq!(server.get(path).status, 401);
        let header = "authorization: Basic eDowMTIzNDU2Nzg5YWJjZGVm";
        let answer = server.send("GET", path, &[header], "");
        assert_eq!(answer.status, 200);
        assert!(!answer.text().contains("0123456789abcdef"));
    }
}

/// Looks at the page of `server` with a browser. It is driven by Debian's Python, which has the
/// package python3-selenium.
fn in_browser(server: &Server, case: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.py");
    let mut command = Command::new("/usr/bin/python3");
    command.arg(script).args([case, &format!("http://{}/", server.address)]);
    command.arg(server.id().to_string()).stdin(Stdio::null());
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{case}: {errors}");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_it_shows_three_tags_and_what_changes() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    in_browser(&server, "updates");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_a_thousand_tags_can_be_searched_and_sorted() {
    let server = Server::start(&[]);
    with_tags(&server, 1000);
    in_browser(&server, "thousand");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_it_fits_a_narrow_window() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    let long = "a-very-long-tag-".repeat(7);
    assert_eq!(server.put(&long, "{}").status, 201);
    assert_eq!(server.get(&format!("/v1/tags/{long}/ids")).status, 200);
    in_browser(&server, "narrow");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_without_scripts_it_shows_the_present_state() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    in_browser(&server, "scriptless");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_it_says_that_the_server_is_gone() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    in_browser(&server, "gone");
}
