//! The page at `/`: what it shows, and how it behaves in a browser.

use std::process::Command;

use crate::common::{Answer, Server, folder, in_browser};
use crate::size::size;

fn page(server: &Server) -> Answer {
    let answer = server.get("/");
    assert_eq!(answer.status, 200);
    answer
}

fn with_tags(server: &Server, count: usize) {
    assert_eq!(server.put("tag-0000", "{}").status, 201);
    // Not one by one, because there may be thousands.
    let mut database = database(server);
    let rows = database.transaction().unwrap();
    for index in 1..count {
        let sql = "INSERT INTO uidring_segment (tag, last_number, step) VALUES (?1, 0, 1000)";
        rows.execute(sql, [format!("tag-{index:04}")]).unwrap();
    }
    rows.commit().unwrap();
    for index in 0..count {
        assert_eq!(server.get(&format!("/v1/tags/tag-{index:04}/ids?n=7")).status, 200);
    }
}

fn database(server: &Server) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(server.file()).unwrap();
    database.busy_timeout(crate::common::FOREVER).unwrap();
    database
}

/// Takes the numbers of `tag`, whose row is at its end, out of memory until a load fails.
fn fail(server: &Server, tag: &str) {
    let sql = "UPDATE uidring_segment SET last_number = ?2 WHERE tag = ?1";
    assert_eq!(database(server).execute(sql, (tag, i64::MAX)).unwrap(), 1);
    server.wait_for("fails", || server.get(&format!("/v1/tags/{tag}/ids?n=500")).status != 200);
}

#[test]
fn the_page_shows_the_present_state_by_itself() {
    let server = Server::start(&["--name=a<b", "--max-connections=300"]);
    with_tags(&server, 3);
    let uids = server.get("/v1/uids").json()["uids"][0].as_str().unwrap().to_owned();
    let page = page(&server);
    let text = page.text();
    for expected in [
        "<title>Healthy · a&lt;b · uidring</title>",
        "class=\"Healthy\"",
        "All is well.",
        "1, kept for good, 1,048,574 left",
        "reachable since",
        "ids.db",
        "tag-0002",
        "the generator has started",
        "<dd id=\"state-uids\">given</dd>",
        // What lies ready is ahead of the clock, and that is no trouble.
        "<dd id=\"time-uids\">that of the clock</dd>",
        " of 300</dd>",
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
    assert!(!text.contains(&uids), "{text}");
}

#[test]
fn nothing_in_the_page_can_run_that_is_not_its_own() {
    let server = Server::start(&[]);
    let name = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27%26";
    let body = r#"{"description": "</td><script>alert(2)</script><img src=x onerror=alert(3)>"}"#;
    assert_eq!(server.put(name, body).status, 201);
    assert_eq!(server.get(&format!("/v1/tags/{name}/ids")).status, 200);
    // It is in the search, in links, in the reason of a failure and in an event, too.
    let sql = "DELETE FROM uidring_segment";
    assert_eq!(database(&server).execute(sql, []).unwrap(), 1);
    let path = format!("/v1/tags/{name}/ids?n=500");
    server.wait_for("fails", || server.get(&path).status != 200);
    let page = server.get(&format!("/?tag={name}&sort=-taken"));
    assert_eq!(page.status, 200);
    assert!(page.text().contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{}", page.text());
    for part in ["<script>", "<img", "alert(2)", "value=\"<", "?tag=<"] {
        assert!(!page.text().contains(part), "{part}: {}", page.text());
    }
    assert_eq!(page.text().matches("<script").count(), 1, "{}", page.text());
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
    let server = Server::start(&["--max-connections=300"]);
    with_tags(&server, 2);
    let status = server.get("/v1/status").json();
    assert_eq!(status["health"]["level"], "ok");
    assert_eq!(status["generators"][0]["worker"], 1);
    assert_eq!(status["generators"][0]["is_leased"], false);
    assert_eq!(status["database"]["up"], true);
    assert_eq!(status["given"]["numbers"], 14);
    assert_eq!(status["max_connections"], 300);
    assert!(status["connections"].as_u64().is_some_and(|open| open > 0), "{status}");
    let mut host = Command::new(if cfg!(windows) { "hostname" } else { "uname" });
    host.args(if cfg!(windows) { None } else { Some("-n") });
    let host = String::from_utf8(host.output().unwrap().stdout).unwrap();
    // Windows' own program has it in capitals.
    assert!(status["name"].as_str().unwrap().eq_ignore_ascii_case(host.trim_end()), "{status}");
    let tag = &status["tags"][1];
    assert_eq!((&tag["tag"], &tag["taken"]), (&"tag-0001".into(), &7.into()));
    assert_eq!(tag["problem"], serde_json::Value::Null);
    let events = &status["events"];
    for text in ["nothing was taken from this store before", "the generator has started"] {
        let mut all = events.as_array().unwrap().iter();
        assert!(all.any(|event| event["text"].as_str().unwrap().contains(text)), "{events}");
    }
    server.wait_for("measured", || {
        let uids = server.get("/v1/uids?n=100000");
        assert_eq!(uids.status, 200);
        let status = server.get("/v1/status").json();
        let rates = status["per_second"]["uids"].as_array().unwrap();
        rates.iter().any(|rate| rate.as_u64().unwrap() > 0)
    });
}

#[test]
fn tags_that_fail_come_first_and_are_in_the_headings() {
    let server = Server::start(&["--name=here"]);
    with_tags(&server, 12);
    let status = server.get("/v1/status").json();
    assert_eq!(
        (&status["tags_failing"], &status["tags"][0]["tag"]),
        (&0.into(), &"tag-0000".into())
    );
    fail(&server, "tag-0007");
    fail(&server, "tag-0004");
    let status = server.get("/v1/status?sort=-tag").json();
    assert_eq!((&status["tag_count"], &status["tags_failing"]), (&12.into(), &2.into()));
    let tags: Vec<&str> =
        status["tags"].as_array().unwrap().iter().map(|tag| tag["tag"].as_str().unwrap()).collect();
    assert_eq!(tags[..3], ["tag-0004", "tag-0007", "tag-0011"], "{tags:?}");
    let page = page(&server);
    let text = page.text();
    assert!(text.contains("<title>Warning, 2 tags fail · here · uidring</title>"), "{text}");
    assert!(
        text.contains("Tags used here (12) <strong id=\"failing\">2 tags fail</strong>"),
        "{text}"
    );
    let body = text.split("<tbody>").nth(1).unwrap();
    let place = |tag: &str| body.find(&format!("<bdi>{tag}</bdi>")).unwrap();
    assert!(place("tag-0004") < place("tag-0007") && place("tag-0007") < place("tag-0000"));
    // A reason stands once, below its tag.
    assert_eq!(body.matches("class=\"reason failing\"").count(), 2, "{body}");
    let reason = |tag: &str| body.find(&format!("&quot;{tag}&quot; in")).unwrap();
    assert!(place("tag-0004") < reason("tag-0004") && reason("tag-0004") < place("tag-0007"));
    let state = text.split("Last events").next().unwrap();
    assert_eq!(state.matches("has no numbers left").count(), 2, "{state}");
    let metrics = server.get("/metrics");
    assert!(metrics.text().contains("\nuidring_tags_failing 2\n"), "{}", metrics.text());
}

#[test]
fn tags_that_are_not_listed_are_found_by_the_search() {
    let server = Server::start(&[]);
    with_tags(&server, 12);
    let names = |query: &str| -> (Vec<String>, u64) {
        let status = server.get(&format!("/v1/status?{query}")).json();
        let tags = status["tags"].as_array().unwrap().iter();
        let tags = tags.map(|tag| tag["tag"].as_str().unwrap().to_owned()).collect();
        (tags, status["tags_found"].as_u64().unwrap())
    };
    assert_eq!(names("limit=2"), (vec!["tag-0000".to_owned(), "tag-0001".to_owned()], 12));
    assert_eq!(names("limit=2&tag=AG-0011"), (vec!["tag-0011".to_owned()], 1));
    assert_eq!(names("limit=2&offset=11"), (vec!["tag-0011".to_owned()], 12));
    assert_eq!(names("tag=nothing"), (vec![], 0));
    let text = server.get("/?limit=5&offset=5&sort=-tag").text().to_owned();
    assert!(text.contains("6 to 10 of 12"), "{text}");
    assert!(
        text.contains("<bdi>tag-0006</bdi>") && !text.contains("<bdi>tag-0007</bdi>"),
        "{text}"
    );
    assert!(text.contains("href=\"?sort=-tag&amp;limit=5&amp;offset=10\""), "{text}");
}

#[test]
fn segments_of_clients_and_errors_count_in_the_rates() {
    let server = Server::start(&[]);
    with_tags(&server, 2);
    let segment = server.send("POST", "/v1/tags/tag-0001/segments?size=500000", &[], "");
    assert_eq!(segment.status, 200);
    fail(&server, "tag-0000");
    let most = |name: &str| {
        let status = server.get("/v1/status").json();
        let rates = status["per_second"][name].as_array().unwrap().clone();
        rates.iter().filter_map(serde_json::Value::as_f64).fold(0.0, f64::max)
    };
    server.wait_for("measured", || most("errors") > 0.0);
    // A step may be longer than a second, and what came in it is divided by that.
    assert!(most("numbers") > 10_000.0, "{}", most("numbers"));
    assert!(most("requests") > 0.0 && most("slowest_seconds") >= most("median_seconds"));
    let status = server.get("/v1/status?tag=tag-0001").json();
    assert_eq!(status["given"]["numbers_in_segments"], 500_000);
    let tag = &status["tags"][0];
    assert_eq!(tag["taken"], 500_007);
    assert!(tag["per_second"].as_f64().is_some_and(|rate| rate > 100.0), "{tag}");
    assert!(tag["empty_in"].as_f64().is_some_and(|seconds| seconds > 0.0), "{tag}");
    // The page itself is not what clients ask for.
    let quiet = Server::start(&[]);
    let rates = || quiet.get("/v1/status").json()["per_second"]["requests"].clone();
    quiet.wait_for("measured", || rates().as_array().unwrap().len() >= 2);
    assert!(rates().as_array().unwrap().iter().all(|rate| *rate == 0), "{}", rates());
}

#[test]
fn a_lease_ends_some_time() {
    let server = Server::start(&["--lease", "10m"]);
    let generator = || server.get("/v1/status").json()["generators"][0].clone();
    assert_eq!(generator()["is_leased"], true);
    let until = generator()["lease_until"].as_str().unwrap()[..10].to_owned();
    assert!(page(&server).text().contains(&format!("leased until {until}")));
}

/// The service finds no table of its own any more.
fn rename_tables(server: &Server) {
    let database = database(server);
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'uidring%'";
    let mut statement = database.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for name in names.map(Result::unwrap).collect::<Vec<_>>() {
        database.execute(&format!("ALTER TABLE {name} RENAME TO away_{name}"), []).unwrap();
    }
}

#[test]
fn a_database_that_is_away_is_a_warning() {
    let server = Server::start(&[]);
    with_tags(&server, 1);
    rename_tables(&server);
    let status = || server.get("/v1/status").json();
    server.wait_for("away", || status()["database"]["up"] == false);
    let health = status()["health"].clone();
    assert_eq!(health["level"], "warning", "{health}");
    let text = page(&server).text().to_owned();
    assert!(text.contains("Ids come from memory"), "{text}");
    assert!(text.contains("AWAY since"), "{text}");
    // A cause that stops the loads of all tags is shown once.
    let take = || server.get("/v1/tags/tag-0000/ids?n=500").status;
    server.wait_for("empty", || take() != 200);
    let state = || page(&server).text().split("Last events").next().unwrap().to_owned();
    server.wait_for("shown", || state().contains(">empty</td>"));
    let state = state();
    assert_eq!(state.matches("no such table").count(), 1, "{state}");
    assert_eq!(state.matches("as said above").count(), 1, "{state}");
    assert_eq!(state.matches("Put right what the error says").count(), 1, "{state}");
    assert!(server.get("/metrics").text().contains("\nuidring_database_up 0\n"));
}

#[cfg(feature = "postgres")]
#[test]
fn without_a_database_from_the_start_the_service_is_down() {
    // Nothing listens there.
    let db = "postgres://somebody:hunter2@127.0.0.1:1/ids";
    let server = Server::launch(folder(), &["--db", db]);
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
    let folder = folder();
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

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_it_shows_three_tags_and_what_changes() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    in_browser(&server, "updates");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_thousands_of_tags_can_be_searched_and_sorted() {
    let count = size(10_000, 2_000);
    let few = Server::start(&[]);
    with_tags(&few, 200);
    let many = Server::start_on(folder(), &[]);
    with_tags(&many, count);
    in_browser(&many, "search");
    // Milliseconds of the processor.
    let cost = |server| in_browser(server, "cost").trim().parse::<f64>().unwrap();
    let (few, many) = (cost(&few), cost(&many));
    println!("one redraw: {few} ms with 200 tags, {many} ms with {count}");
    assert!(many < 3.0 * few, "{many} ms, and {few} ms with 200 tags");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_a_tag_that_fails_is_seen_at_once() {
    let server = Server::start(&[]);
    with_tags(&server, 200);
    fail(&server, "tag-0150");
    in_browser(&server, "failing");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_it_says_that_the_database_is_away() {
    let server = Server::start(&[]);
    with_tags(&server, 3);
    rename_tables(&server);
    in_browser(&server, "away");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_names_are_text() {
    let server = Server::start(&["--name=<b onclick=alert(1)>\u{202e}"]);
    for name in [
        "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "%E2%80%AEgnp.exe",
        "javascript%3Aalert(1)",
        "%26lt%3Bb%26gt%3B",
    ] {
        let body = r#"{"description": "<script>alert(2)</script>"}"#;
        assert_eq!(server.put(name, body).status, 201);
        assert_eq!(server.get(&format!("/v1/tags/{name}/ids")).status, 200);
    }
    in_browser(&server, "hostile");
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
