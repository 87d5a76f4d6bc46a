//! How the service is: what `/readyz`, the page, `/v1/status`, `/metrics` and the log say of what
//! goes wrong with its database.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use crate::common::{Server, folder, metric};

const ADMIN: &str = "authorization: Bearer 0123456789abcdef";
const JSON: &str = "content-type: application/json";

fn status(server: &Server) -> Value {
    server.get("/v1/status").json()
}

/// The state of the first tag.
fn tag(server: &Server) -> Value {
    status(server)["tags"][0].clone()
}

fn kinds(server: &Server) -> Vec<String> {
    let health = status(server)["health"].clone();
    let conditions = health["conditions"].as_array().unwrap();
    conditions.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn assert_metric(server: &Server, line: &str) {
    let metrics = server.get("/metrics");
    let text = metrics.text();
    assert!(text.lines().any(|one| one == line), "{line} is not in {text}");
}

/// Takes until nothing is left in memory, and returns the status of the failure.
fn drain(server: &Server) -> u16 {
    let status = Cell::new(200);
    server.wait_for("empty", || {
        status.set(server.get("/v1/tags/orders/ids").status);
        status.get() != 200
    });
    status.get()
}

/// A start asks the database, so no service that is ready says that it has not heard from it.
#[test]
fn who_is_ready_has_heard_from_the_database() {
    // A first probe is a matter of a millisecond, and seldom seen.
    for _ in 0..20 {
        let server = Server::launch(folder(), &[]);
        let seen = RefCell::default();
        server.wait_for("ready", || {
            seen.replace(server.get("/metrics").text().to_owned());
            metric(&seen.borrow(), "uidring_ready") == Some(1.0)
        });
        let seen = seen.into_inner();
        assert_eq!(metric(&seen, "uidring_database_up"), Some(1.0), "{seen}");
    }
}

fn database(server: &Server) -> rusqlite::Connection {
    rusqlite::Connection::open(server.file()).unwrap()
}

fn use_orders(server: &Server) {
    assert_eq!(server.put("orders", r#"{"step":100,"max_step":100}"#).status, 201);
    assert_eq!(server.get("/v1/tags/orders/ids?n=10").status, 200);
}

fn with_orders(options: &[&str]) -> Server {
    let server = Server::start(options);
    use_orders(&server);
    server
}

/// The backup that was restored.
#[test]
fn a_row_that_went_back_is_seen_everywhere() {
    let server = with_orders(&[]);
    assert_eq!(tag(&server)["state"], "ok");
    database(&server).execute("UPDATE uidring_segment SET last_number = 0", []).unwrap();
    assert_eq!(drain(&server), 500);
    let take = server.get("/v1/tags/orders/ids");
    assert_eq!(take.status, 500, "{take:?}");
    let tag = tag(&server);
    assert_eq!(tag["state"], "went-back", "{tag}");
    assert!(tag["problem"].as_str().unwrap().contains("went back"), "{tag}");
    // A restart alone takes a worker id that another program may have since the copy was made.
    for what_to_do in [tag["advice"].as_str().unwrap(), tag["problem"].as_str().unwrap()] {
        assert!(what_to_do.contains("worker ids") && what_to_do.contains("restart"), "{tag}");
    }
    assert!(take.text().contains("worker ids"), "{take:?}");
    assert_eq!(kinds(&server), ["rows-went-back"]);
    let page = server.get("/");
    let text = page.text();
    assert!(text.contains("class=\"Warning\"") && text.contains("The row went back of orders"));
    for line in [
        "uidring_tag_failing{tag=\"orders\"} 1",
        "uidring_tag_went_back{tag=\"orders\"} 1",
        "uidring_tags_went_back 1",
        "uidring_condition{kind=\"rows-went-back\"} 1",
        "uidring_ready 1",
        "uidring_source_up 1",
    ] {
        assert_metric(&server, line);
    }
    server.wait_for("told", || server.log().contains("went back"));
    // No other instance could give what this one cannot, and this one can give all else.
    assert_eq!(server.get("/readyz").status, 200);
    assert!(!server.log().contains("not ready"), "{}", server.log());
    // Clients that hand out by themselves would get the same numbers again.
    let segment = server.send("POST", "/v1/tags/orders/segments", &[], "");
    assert_eq!(segment.status, 500, "{segment:?}");
}

/// A segment that goes to a client is looked at as those that the service hands out.
#[test]
fn a_row_that_went_back_gives_no_segments() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"step":100}"#);
    let segment = || server.send("POST", "/v1/tags/orders/segments", &[], "");
    assert_eq!(segment().json()["first"], "1");
    assert_eq!(segment().json()["first"], "101");
    database(&server).execute("UPDATE uidring_segment SET last_number = 150", []).unwrap();
    for _ in 0..3 {
        assert_eq!(segment().status, 500);
    }
    let told = || server.log().matches("a client's segment cannot be loaded").count();
    server.wait_for("told", || told() > 0);
    assert_eq!(told(), 1, "{}", server.log());
    // Nor do takes: the next numbers of the row look new to them, and clients have had them.
    assert_eq!(server.get("/v1/tags/orders/ids").status, 500);
    assert_eq!(tag(&server)["state"], "went-back");
    assert_eq!(server.get("/readyz").status, 200);
}

#[test]
fn a_table_that_was_dropped_is_seen_everywhere() {
    let server = with_orders(&[]);
    database(&server).execute("DROP TABLE uidring_segment", []).unwrap();
    // Numbers in memory are still given.
    assert_eq!(server.get("/v1/tags/orders/ids?n=10").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
    assert_eq!(drain(&server), 500);
    assert_eq!(server.get("/readyz").status, 503);
    assert_eq!(tag(&server)["state"], "empty");
    let kinds = kinds(&server);
    assert!(kinds.contains(&"tags-empty".to_owned()), "{kinds:?}");
    assert!(!server.get("/").text().contains("Ids come from memory"));
    for line in [
        "uidring_tag_empty{tag=\"orders\"} 1",
        "uidring_tags_empty 1",
        "uidring_ready 0",
        "uidring_source_up 0",
    ] {
        assert_metric(&server, line);
    }
    server.wait_for("told", || server.log().contains("not ready"));
}

/// A new tag of the same name would begin at 1.
#[test]
fn a_tag_that_was_removed_is_to_be_created_above_its_numbers() {
    let server = with_orders(&[]);
    database(&server).execute("DELETE FROM uidring_segment", []).unwrap();
    assert_ne!(drain(&server), 200);
    let problem = tag(&server)["problem"].to_string();
    let text = status(&server)["health"]["text"].to_string();
    for what_to_do in [&problem, &text] {
        let expected = "create it again, with a first number above all that were ever given";
        assert!(what_to_do.contains(expected), "{what_to_do}");
    }
}

/// A disk that takes no byte more: reading goes on.
#[cfg(target_os = "linux")] // a limit of the process stands for the disk
#[test]
fn a_disk_that_cannot_be_written_is_seen_everywhere() {
    let server = Server::launch_after("trap '' XFSZ", folder(), &[]);
    server.wait_until_ready();
    use_orders(&server);
    let limit = |size: &str| {
        let mut command = std::process::Command::new("prlimit");
        command.args([&format!("--fsize={size}:"), "--pid", &server.id().to_string()]);
        assert!(command.status().unwrap().success());
    };
    limit("0");
    assert_eq!(drain(&server), 500);
    assert_eq!(server.get("/readyz").status, 503);
    assert_eq!(kinds(&server), ["nothing-to-give", "loads-fail", "tags-empty"]);
    assert_metric(&server, "uidring_source_up 0");
    assert_metric(&server, "uidring_condition{kind=\"loads-fail\"} 1");
    server.wait_for("told", || server.log().contains("no numbers of the tag can be loaded"));
    limit("unlimited");
    server.wait_for("mended", || server.get("/v1/tags/orders/ids").status == 200);
    assert_eq!(server.get("/readyz").status, 200);
    assert_eq!(status(&server)["health"]["text"], "All is well.");
}

#[test]
fn it_is_ready_while_memory_lasts() {
    let server = with_orders(&[]);
    let file = database(&server);
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    server.wait_for("noticed", || {
        assert_eq!(server.get("/readyz").status, 200);
        status(&server)["database"]["up"] == false
    });
    assert_eq!(kinds(&server), ["database-away"]);
    assert!(server.get("/").text().contains("Ids come from memory"));
    assert_eq!(drain(&server), 503);
    assert_eq!(server.get("/readyz").status, 503);
    let page = server.get("/");
    assert!(!page.text().contains("Ids come from memory"), "{}", page.text());
    assert!(page.text().contains("There are no numbers of orders"), "{}", page.text());
    file.execute_batch("ROLLBACK").unwrap();
    // It is not ready before takes succeed.
    server.wait_until_ready();
    assert_eq!(server.get("/v1/tags/orders/ids").status, 200);
}

#[cfg(feature = "postgres")]
#[test]
fn only_an_administrator_is_told_what_the_database_is_called() {
    let folder = folder();
    let tokens = "public = ['*']\n[[token]]\ntoken = '0123456789abcdef'\nadmin = true\n";
    std::fs::write(folder.path().join("tokens.toml"), tokens).unwrap();
    let db = "--db=postgres://somebody@127.0.0.1:1/secret";
    let server = Server::launch(folder, &["--tokens=tokens.toml", db]);
    server.wait_for("told", || server.log().contains("127.0.0.1:1"));
    let everybody = server.get("/readyz");
    assert_eq!(everybody.status, 503);
    assert!(everybody.text().contains("the database does not answer"), "{everybody:?}");
    for secret in ["127.0.0.1", "secret", "somebody"] {
        assert!(!everybody.text().contains(secret), "{everybody:?}");
    }
    let administrator = server.send("GET", "/readyz", &[ADMIN], "");
    assert!(administrator.text().contains("127.0.0.1:1"), "{administrator:?}");
}

#[test]
fn an_administrator_is_told_what_is_wrong_while_it_is_ready() {
    let folder = folder();
    let tokens = "public = ['*']\n[[token]]\ntoken = '0123456789abcdef'\nadmin = true\n";
    std::fs::write(folder.path().join("tokens.toml"), tokens).unwrap();
    let server = Server::start_on(folder, &["--tokens=tokens.toml"]);
    for tag in ["orders", "invoices"] {
        let path = format!("/v1/tags/{tag}");
        assert_eq!(server.send("PUT", &path, &[ADMIN, JSON], r#"{"step":100}"#).status, 201);
        assert_eq!(server.get(&format!("/v1/tags/{tag}/ids")).status, 200);
    }
    let change = "UPDATE uidring_segment SET last_number = 0 WHERE tag = 'orders'";
    database(&server).execute(change, []).unwrap();
    assert_eq!(drain(&server), 500);
    assert_eq!(server.get("/v1/tags/invoices/ids").status, 200);
    server.wait_for("ready", || server.get("/readyz").status == 200);
    assert_eq!(server.get("/readyz").text(), r#"{"ready":true}"#);
    let conditions = server.send("GET", "/readyz", &[ADMIN], "").json()["conditions"].clone();
    assert_eq!(conditions[0]["kind"], "rows-went-back", "{conditions}");
    assert!(conditions[0]["text"].as_str().unwrap().contains("orders"), "{conditions}");
}
