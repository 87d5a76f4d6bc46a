//! Series: numbers that people see.

use std::collections::HashSet;
use std::fs;
use std::io::BufReader;
use std::thread;

use serde_json::Value;
use uidring::Store;
use uidring::series::{Date, Series, SeriesDefinition};

use crate::common::resp::Client;
use crate::common::{Answer, FOREVER, Server, folder};

const JSON: &str = "content-type: application/json";

fn put(server: &Server, name: &str, body: &str) -> Answer {
    server.send("PUT", &format!("/v1/series/{name}"), &[JSON], body)
}

fn post(server: &Server, name: &str, body: &str) -> Answer {
    server.send("POST", &format!("/v1/series/{name}/numbers"), &[JSON], body)
}

fn texts(json: &Value) -> Vec<String> {
    let texts = json.as_array().unwrap_or_else(|| panic!("{json}")).iter();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The values of an answer, whose period, texts and values belong together.
fn values(answer: &Answer, pattern: &str) -> Vec<u64> {
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let json = answer.json();
    let values = texts(&json["values"]);
    let values: Vec<u64> = values.iter().map(|value| value.parse().unwrap()).collect();
    let pattern: uidring::series::Pattern = pattern.parse().unwrap();
    let numbers = texts(&json["numbers"]);
    assert_eq!(numbers.len(), values.len(), "{answer:?}");
    for (number, &value) in numbers.iter().zip(&values) {
        let parsed = pattern.parse(number).unwrap();
        assert_eq!(parsed.value(), value, "{number}");
        assert_eq!(parsed.period().to_string(), json["period"].as_str().unwrap(), "{number}");
    }
    values
}

/// What an operator does beside the service.
fn library_series(server: &Server) -> Series {
    Series::builder().store(&Store::open(server.file()).unwrap()).build().unwrap()
}

fn problem_of(answer: &Answer) -> (u16, String, Option<String>) {
    let json = answer.json();
    let kind = json["type"].as_str().unwrap().trim_start_matches("urn:uidring:problem:");
    (answer.status, kind.to_owned(), json["value"].as_str().map(str::to_owned))
}

/// As ids do: one a line, whether the answer is new, long or remembered.
#[test]
fn numbers_come_as_text_where_that_is_accepted() {
    let server = Server::start(&[]);
    assert_eq!(put(&server, "orders", r#"{"pattern":"O{yyyy}-{n:4}"}"#).status, 201);
    let ask = |body: &str, headers: &[&str]| {
        let headers = [&[JSON], headers].concat();
        server.send("POST", "/v1/series/orders/numbers", &headers, body)
    };
    let text = "accept: text/plain";
    let lines = ask(r#"{"date":"2025-11-01","n":2}"#, &[text]);
    assert_eq!((lines.status, lines.text()), (200, "O2025-0001\nO2025-0002\n"));
    assert_eq!(lines.header("content-type"), "text/plain;charset=UTF-8");
    let one = ask(r#"{"date":"2025-11-01"}"#, &["accept: text/*;q=0.9, application/json;q=0.1"]);
    assert_eq!(one.text(), "O2025-0003\n");
    // An answer that is sent in parts.
    let many = ask(r#"{"date":"2025-11-01","n":5000}"#, &[text]);
    let many: Vec<&str> = many.text().lines().collect();
    assert_eq!((many.len(), many[0], many[4999]), (5000, "O2025-0004", "O2025-5003"));
    // What is remembered has the form that is asked for, and is the same.
    let body = r#"{"date":"2025-11-01","n":2}"#;
    let key = "idempotency-key: one";
    let first = ask(body, &[text, key]);
    assert_eq!(first.text(), "O2025-5004\nO2025-5005\n");
    assert_eq!(ask(body, &[text, key]).text(), first.text());
    let json = ask(body, &[key]);
    assert_eq!(json.header("content-type"), "application/json");
    assert_eq!(texts(&json.json()["numbers"]), ["O2025-5004", "O2025-5005"]);
    // Texts are no eight bytes. Nothing is used up.
    for accept in ["application/octet-stream", "text/html"] {
        let none = ask(body, &[&format!("accept: {accept}")]);
        assert_eq!(problem_of(&none), (406, "no-such-form".to_owned(), Some(accept.to_owned())));
        assert!(none.text().contains("accept application/json or text/plain"), "{none:?}");
    }
    assert_eq!(ask(r#"{"date":"2025-11-01"}"#, &[text]).text(), "O2025-5006\n");
    // An error is a problem all the same.
    let wrong = ask(r#"{"date":"x"}"#, &[text]);
    assert_eq!(wrong.header("content-type"), "application/problem+json");
}

#[test]
fn numbers_of_a_date_are_those_of_its_period_and_scope() {
    let server = Server::start(&[]);
    assert_eq!(put(&server, "orders", r#"{"pattern":"SO{yyyy}{MM}{dd}-{n:6}"}"#).status, 201);
    let body = r#"{"scope":"shop-7","date":"2025-11-01","n":3}"#;
    let answer = post(&server, "orders", body);
    let expected = "{\"numbers\":[\"SO20251101-000001\",\"SO20251101-000002\",\
                    \"SO20251101-000003\"],\"values\":[\"1\",\"2\",\"3\"],\
                    \"period\":\"2025-11-01\"}";
    assert_eq!((answer.status, answer.text()), (200, expected));
    let one = |body: &str| texts(&post(&server, "orders", body).json()["numbers"]);
    assert_eq!(one(r#"{"scope":"shop-7","date":"2025-11-01"}"#), ["SO20251101-000004"]);
    assert_eq!(one(r#"{"scope":"shop-8","date":"2025-11-01"}"#), ["SO20251101-000001"]);
    assert_eq!(one(r#"{"date":"2025-11-01","n":"1"}"#), ["SO20251101-000001"]);
    assert_eq!(one(r#"{"scope":"shop-7","date":"2025-11-02"}"#), ["SO20251102-000001"]);
}

/// One scope has numbers all the time, and the counter of another one went back.
#[test]
fn a_counter_that_went_back_stays_told() {
    let server = Server::start(&[]);
    put(&server, "parcels", r#"{"pattern":"{scope}-{n:6}"}"#);
    let take = |scope: &str, count: u32| {
        post(&server, "parcels", &format!(r#"{{"scope":"{scope}","n":{count}}}"#)).status
    };
    assert_eq!((take("shop-7", 1), take("shop-8", 1)), (200, 200));
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.busy_timeout(FOREVER).unwrap();
    let sql = "UPDATE uidring_series_counter SET last_number = 1 WHERE scope = 'shop-7'";
    assert_eq!(file.execute(sql, []).unwrap(), 1);
    assert_eq!((take("shop-7", 1000), take("shop-8", 1)), (500, 200));
    let failing = "uidring_series_failing{series=\"parcels\"} 1";
    assert!(server.get("/metrics").text().contains(failing));
    let status = server.get("/v1/status").json();
    assert!(status.to_string().contains("stop all programs"), "{status}");
}

#[test]
fn numbers_without_a_date_are_those_of_today() {
    let server = Server::start(&[]);
    let pattern = "{yyyy}-{n:6}{check:damm}";
    put(&server, "orders", &format!(r#"{{"pattern":"{pattern}"}}"#));
    assert_eq!(values(&post(&server, "orders", "{}"), pattern), [1]);
    assert_eq!(values(&post(&server, "orders", r#"{"n":3}"#), pattern), [2, 3, 4]);
    assert_eq!(values(&post(&server, "orders", "{}"), pattern), [5]);
}

/// A call to the store gives numbers behind all those that are in memory.
#[test]
fn a_batch_within_memory_comes_from_memory() {
    let server = Server::start(&[]);
    put(&server, "customers", r#"{"pattern":"C-{n}","step":1000}"#);
    let take = |n: u64| values(&post(&server, "customers", &format!("{{\"n\":{n}}}")), "C-{n}");
    let taken = [take(1), take(500), take(400)].concat();
    assert_eq!(taken, (1..=901).collect::<Vec<_>>());
}

#[test]
fn the_largest_batch_is_whole_and_of_one_period() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{yyyy}{MM}{dd}-{n:9}","step":1}"#);
    let batch = post(&server, "orders", r#"{"n":100000}"#);
    let all = values(&batch, "{yyyy}{MM}{dd}-{n:9}");
    assert_eq!(all.len(), 100_000);
    assert!(all.is_sorted_by(|a, b| a < b));
    let again = values(&post(&server, "orders", r#"{"n":100000}"#), "{yyyy}{MM}{dd}-{n:9}");
    let both: HashSet<u64> = all.into_iter().chain(again).collect();
    // Unless it has just been midnight.
    let is_midnight = post(&server, "orders", "{}").json()["period"] != batch.json()["period"];
    assert!(both.len() == 200_000 || is_midnight);
}

#[test]
fn many_clients_get_different_numbers() {
    let server = Server::start(&["--threads=4"]);
    put(&server, "customers", r#"{"pattern":"C-{n}","step":50}"#);
    let of_client = |client: u32| -> Vec<u64> {
        let bodies = (0..20)
            .map(|index| if (client + index).is_multiple_of(2) { "{}" } else { "{\"n\":70}" });
        bodies.flat_map(|body| values(&post(&server, "customers", body), "C-{n}")).collect()
    };
    let all: Vec<u64> = thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|client| scope.spawn(move || of_client(client))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4 * 10 * 71);
    assert_eq!(all.len(), 4 * 10 * 71);
}

#[cfg(unix)] // only a console asks for a clean end on Windows
#[test]
fn what_is_left_of_a_series_is_given_back_at_the_end() {
    let server = Server::start(&[]);
    put(&server, "customers", r#"{"pattern":"C-{n}"}"#);
    assert_eq!(values(&post(&server, "customers", r#"{"n":2}"#), "C-{n}"), [1, 2]);
    let folder = server.stop();
    let server = Server::start_on(folder, &[]);
    assert_eq!(values(&post(&server, "customers", r#"{"n":2}"#), "C-{n}"), [3, 4]);
}

#[test]
fn a_series_is_created_once() {
    let server = Server::start(&[]);
    let body = r#"{"pattern":"{fy}-{n:5}","time_zone":"Asia/Shanghai",
        "fiscal_year_from":"04-01","step":"7","first":1001}"#;
    let created = put(&server, "orders", body);
    assert_eq!(
        (created.status, created.header("location")),
        (201, "/v1/series/orders/numbers"),
        "{created:?}"
    );
    let expected = "{\"name\":\"orders\",\"time_zone\":\"Asia/Shanghai\",\"gapless\":false,\
                    \"fiscal_year_from\":\"04-01\",\"closed_before\":null,\
                    \"versions\":[{\"version\":1,\
                    \"pattern\":\"{fy}-{n:5}\",\"restart\":\"fiscal-year\",\"begins\":null,\
                    \"step\":\"7\",\"first\":\"1001\",\
                    \"largest\":\"99999\"}]}";
    assert_eq!(created.text(), expected);
    // What is left out is as it is.
    let again = put(&server, "orders", r#"{"pattern":"{fy}-{n:5}","step":7}"#);
    assert_eq!((again.status, again.text()), (200, expected));
    for (body, field, value) in [
        (r#"{"pattern":"{fy}-{n:6}"}"#, "pattern", "{fy}-{n:6}"),
        (r#"{"pattern":"{fy}-{n:5}","time_zone":"UTC"}"#, "time_zone", "UTC"),
        (r#"{"pattern":"{fy}-{n:5}","gapless":true}"#, "gapless", "true"),
        (r#"{"pattern":"{fy}-{n:5}","fiscal_year_from":"04-06"}"#, "fiscal_year_from", "04-06"),
        (r#"{"pattern":"{fy}-{n:5}","restart":"never"}"#, "restart", "never"),
        (r#"{"pattern":"{fy}-{n:5}","step":8}"#, "step", "8"),
        (r#"{"pattern":"{fy}-{n:5}","first":1}"#, "first", "1"),
    ] {
        let other = put(&server, "orders", body);
        assert_eq!(
            problem_of(&other),
            (409, "differs".to_owned(), Some(value.to_owned())),
            "{body}"
        );
        assert_eq!(other.json()["field"], field, "{body}");
        assert!(!other.text().contains("ids.db"), "{other:?}");
    }
    let numbers = post(&server, "orders", r#"{"date":"2026-11-01"}"#);
    assert_eq!(texts(&numbers.json()["values"]), ["1001"]);
    assert_eq!(numbers.json()["period"], "FY2026-04");
}

#[test]
fn series_are_shown_with_their_counters() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/v1/series").text(), r#"{"series":[]}"#);
    put(&server, "parcels", r#"{"pattern":"P{n}"}"#);
    put(&server, "orders", r#"{"pattern":"{yyyy}-{n:5}","gapless":false}"#);
    let all = server.get("/v1/series").json();
    let names = all["series"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["orders", "parcels"]);
    assert!(all["series"][0].get("counters").is_none(), "{all}");
    post(&server, "orders", r#"{"scope":"b","date":"2025-01-01","n":5}"#);
    post(&server, "orders", r#"{"scope":"a","date":"2025-12-31","n":2}"#);
    post(&server, "orders", r#"{"date":"2024-12-31"}"#);
    let one = server.get("/v1/series/orders");
    assert_eq!(one.status, 200);
    assert!(one.json().get("counters").is_none(), "{one:?}");
    for query in ["counters", "counters=", "counters=true"] {
        let one = server.get(&format!("/v1/series/orders?{query}")).json();
        let counters = one["counters"].as_array().unwrap().iter();
        let shown = counters.map(|counter| {
            assert!(counter["created"].as_str().unwrap().ends_with('Z'), "{counter}");
            assert!(counter["updated"].as_str().unwrap().ends_with('Z'), "{counter}");
            assert_eq!(counter["version"], 1);
            ["period", "scope", "last"].map(|name| counter[name].as_str().unwrap().to_owned())
        });
        let expected = [["2024", "", "1"], ["2025", "a", "2"], ["2025", "b", "5"]];
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{query}");
    }
}

#[test]
fn counters_are_shown_as_long_as_they_are_few() {
    let server = Server::start(&[]);
    put(&server, "shops", r#"{"pattern":"{yyyy}{MM}{dd}-{n:5}"}"#);
    let mut file = rusqlite::Connection::open(server.file()).unwrap();
    let mut add = |numbers: std::ops::Range<u32>| {
        let rows = file.transaction().unwrap();
        for number in numbers {
            let sql = "INSERT INTO uidring_series_counter (series, scope, period, begins, version, \
                       last_number, modified, created) \
                       VALUES ('shops', ?1, '2026-11-24', '2026-11-24', 1, 1, 0, 0)";
            rows.execute(sql, [format!("shop-{number}")]).unwrap();
        }
        rows.commit().unwrap();
    };
    add(0..10_000);
    let shown = server.get("/v1/series/shops?counters");
    assert_eq!(shown.status, 200);
    assert_eq!(shown.json()["counters"].as_array().unwrap().len(), 10_000);
    add(10_000..10_001);
    let refused = server.get("/v1/series/shops?counters");
    assert_eq!(problem_of(&refused), (422, "too-many-counters".to_owned(), None));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.starts_with("it has more than 10000, and an answer shows no more: "),
        "{detail}"
    );
    assert!(detail.contains("`uidring series list shops`"), "{detail}");
    assert_eq!(server.get("/v1/series/shops").status, 200);
}

#[test]
fn counters_are_read_by_one_request_at_a_time() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{n}"}"#);
    post(&server, "orders", "{}");
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let ask = || server.get("/v1/series/orders?counters");
    let answers = thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(answers.iter().all(|answer| answer.status == 503), "{answers:?}");
    let has_waited = |answer: &Answer| answer.text().contains("too many others wait");
    assert!(answers.iter().any(has_waited), "{answers:?}");
    file.execute_batch("ROLLBACK").unwrap();
    server.wait_for("read", || ask().status == 200);
}

#[test]
fn a_gapless_series_is_created_and_gives_no_numbers_here() {
    let server = Server::start(&[]);
    let created = put(&server, "invoices", r#"{"pattern":"{yyyy}-{n:5}","gapless":true}"#);
    assert_eq!((created.status, created.json()["gapless"].as_bool()), (201, Some(true)));
    for body in ["{}", r#"{"n":5}"#, r#"{"date":"2025-01-01"}"#, r#"{"date":"2025-01-01","n":5}"#] {
        let answer = post(&server, "invoices", body);
        assert_eq!(problem_of(&answer), (409, "gapless".to_owned(), Some("invoices".to_owned())));
        assert!(answer.text().contains("take_in"), "{answer:?}");
    }
    let counters = server.get("/v1/series/invoices?counters").json()["counters"].clone();
    assert_eq!(counters, Value::Array(Vec::new()));
}

/// By administrators, at once, and again without harm. Whatever else is asked for is refused.
#[test]
fn a_series_is_widened_by_an_administrator() {
    let tokens = "[[token]]\ntoken = '0123456789abcdef-admin'\nadmin = true\nseries = ['*']\n\
                  [[token]]\ntoken = '0123456789abcdef-shop'\nseries = ['inv']\n";
    let server = Server::start_with_tokens(tokens, &[]);
    let [admin, shop] =
        ["admin", "shop"].map(|name| format!("authorization: Bearer 0123456789abcdef-{name}"));
    let (admin, shop) = (&*admin, &*shop);
    let send = |method: &str, path: &str, token: &str, body: &str| {
        server.send(method, &format!("/v1/series/{path}"), &[JSON, token], body)
    };
    send("PUT", "inv", admin, r#"{"pattern":"I{n:1}"}"#);
    let take = || send("POST", "inv/numbers", shop, r#"{"n":20}"#);
    assert_eq!(values(&take(), "I{n:1}").len(), 9);
    let full = take();
    assert!(full.text().contains("POST /v1/series/inv/widen"), "{full:?}");
    assert!(full.text().contains("uidring series change inv PATTERN --from now"), "{full:?}");
    let widen = |token: &str, body: &str| send("POST", "inv/widen", token, body);
    let two_digits = r#"{"pattern":"I{n:2}"}"#;
    assert_eq!(widen(shop, two_digits).status, 403);
    for (body, kind) in [
        (r#"{"pattern":"I{n:"}"#, (400, "bad-pattern")),
        (r#"{"pattern":"J{n:2}"}"#, (409, "bad-change")),
        (r#"{"pattern":"I{yyyy}-{n:2}"}"#, (409, "bad-change")),
        (r#"{"pattern":"I{n:2}","step":5}"#, (400, "bad-body")),
        ("{}", (400, "bad-body")),
    ] {
        let answer = widen(admin, body);
        let (status, found, _) = problem_of(&answer);
        assert_eq!((status, &*found), kind, "{body}: {answer:?}");
    }
    assert_eq!(problem_of(&take()).0, 409);
    let answer = widen(admin, two_digits);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let patterns = |answer: &Answer| {
        let versions = answer.json()["versions"].as_array().unwrap().clone();
        versions.iter().map(|version| version["pattern"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(patterns(&answer), ["I{n:1}", "I{n:2}"]);
    assert_eq!(values(&take(), "I{n:2}"), (10..30).collect::<Vec<_>>());
    let again = widen(admin, two_digits);
    assert_eq!((again.status, patterns(&again).len()), (200, 2));
    assert_eq!(widen(admin, r#"{"pattern":"I{n:1}"}"#).status, 409);
    let none = send("POST", "none/widen", admin, two_digits);
    assert_eq!(problem_of(&none), (404, "no-such-series".to_owned(), Some("none".to_owned())));
}

/// As it is told to clients, to Prometheus and to operators: by its own name, in the process that
/// gave the last number and after a restart. And it goes on at once when its number is widened.
#[test]
fn a_full_period_is_told_alike_after_a_restart_and_goes_on_when_it_is_widened() {
    let options = ["--resp-listen=127.0.0.1:0"];
    let mut server = Server::start(&options);
    put(&server, "inv", r#"{"pattern":"{yyyy}-{n:2}"}"#);
    put(&server, "seats", r#"{"pattern":"{scope}/{n:1}"}"#);
    let batch = post(&server, "inv", r#"{"n":85}"#);
    let year = batch.json()["period"].as_str().unwrap().to_owned();
    assert_eq!(values(&batch, "{yyyy}-{n:2}"), (1..=85).collect::<Vec<_>>());
    let metric = |server: &Server, name: &str| {
        let text = server.get("/metrics").text().to_owned();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(metric(&server, "uidring_series_nearly_full{series=\"inv\"}"), "1");
    assert_eq!(metric(&server, "uidring_series_full{series=\"inv\"}"), "0");
    assert_eq!(values(&post(&server, "inv", r#"{"n":85}"#), "{yyyy}-{n:2}").len(), 14);
    assert_eq!(values(&post(&server, "seats", r#"{"n":9,"scope":"a"}"#), "{scope}/{n:1}").len(), 9);
    for run in 0..2 {
        for body in ["{}", r#"{"n":7}"#, &format!(r#"{{"date":"{year}-02-01"}}"#), "{}"] {
            let answer = post(&server, "inv", body);
            assert_eq!(problem_of(&answer), (409, "full".to_owned(), Some(year.clone())), "{run}");
            let said = format!("the series \"inv\" has given all numbers of {year}: 99 is ");
            assert!(answer.json()["detail"].as_str().unwrap().starts_with(&said), "{answer:?}");
        }
        let answer = post(&server, "seats", r#"{"scope":"a"}"#);
        assert_eq!(problem_of(&answer), (409, "full".to_owned(), Some("ever".to_owned())));
        assert!(answer.text().contains("in the scope \\\"a\\\""), "{answer:?}");
        let mut redis = Client(BufReader::new(server.connect_resp()));
        let said = redis.ask("SERIES.NEXT inv");
        assert!(said.starts_with("-ERR the period has given all its numbers: "), "{said}");
        for (name, expected) in [("full", "1"), ("nearly_full", "0"), ("failing", "0")] {
            let name = format!("uidring_series_{name}{{series=\"inv\"}}");
            assert_eq!(metric(&server, &name), expected, "{name}");
        }
        let status = server.get("/v1/status").json();
        let line = &status["series"].as_array().unwrap()[0];
        let full = serde_json::json!([format!("inv in {year}")]);
        assert_eq!((&line["full"], &line["failures"]), (&full, &0.into()), "{line}");
        assert_eq!(metric(&server, "uidring_condition{kind=\"series-full\"}"), "1");
        for page in ["/", "/v1/status", "/metrics"] {
            let text = server.get(page).text().to_owned();
            assert!(!text.contains("inv/1/") && !text.contains("seats/1/"), "{text}");
        }
        if run == 0 {
            let folder = server.stop();
            server = Server::start_on(folder, &options);
        }
    }
    library_series(&server).widen("inv", SeriesDefinition::new("{yyyy}-{n:3}").unwrap()).unwrap();
    let next = post(&server, "inv", "{}");
    assert_eq!(values(&next, "{yyyy}-{n:3}"), [100]);
    assert_eq!(metric(&server, "uidring_series_full{series=\"inv\"}"), "0");
    let log = server.log();
    assert!(!log.contains("inv/1/") && !log.contains("seats/1/"), "{log}");
}

#[test]
fn a_closed_or_full_period_gives_no_numbers() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{yyyy}-{n:5}"}"#);
    put(&server, "seats", r#"{"pattern":"S{n:1}"}"#);
    post(&server, "orders", r#"{"date":"2024-05-01"}"#);
    library_series(&server).close("orders", "2024".parse().unwrap()).unwrap();
    for body in [r#"{"date":"2024-05-01"}"#, r#"{"date":"2023-05-01","n":3}"#] {
        let answer = post(&server, "orders", body);
        let year = if body.contains("2024") { "2024" } else { "2023" };
        assert_eq!(problem_of(&answer), (409, "closed".to_owned(), Some(year.to_owned())));
    }
    assert_eq!(post(&server, "orders", r#"{"date":"2025-05-01"}"#).status, 200);
    let orders = server.get("/v1/series/orders").json();
    assert_eq!(orders["closed_before"], "2025-01-01");
    // As many as there are.
    assert_eq!(values(&post(&server, "seats", r#"{"n":7}"#), "S{n:1}"), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(values(&post(&server, "seats", r#"{"n":7}"#), "S{n:1}"), [8, 9]);
    for body in ["{}", r#"{"n":7}"#, r#"{"date":"2025-01-01"}"#] {
        let answer = post(&server, "seats", body);
        assert_eq!(
            problem_of(&answer),
            (409, "full".to_owned(), Some("ever".to_owned())),
            "{body}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_request_for_a_series_is_told_with_its_value() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{yyyy}-{n:5}"}"#);
    put(&server, "shops", r#"{"pattern":"{scope}-{n:5}"}"#);
    let long = "a".repeat(65);
    for (name, body, status, kind, value) in [
        ("nobody", "{}", 404, "no-such-series", Some("nobody")),
        ("ORDERS", "{}", 404, "no-such-series", Some("ORDERS")),
        ("a%20b", "{}", 400, "bad-series", Some("a b")),
        ("..", "{}", 400, "bad-series", Some("..")),
        (&long, "{}", 400, "bad-series", Some(&*long)),
        ("%FF", "{}", 400, "bad-path", None),
        ("orders", "", 400, "bad-body", None),
        ("orders", "[]", 400, "bad-body", None),
        ("orders", r#"{"x":1}"#, 400, "bad-body", None),
        ("orders", r#"{"scope":7}"#, 400, "bad-body", None),
        ("orders", r#"{"n":0}"#, 400, "bad-count", Some("0")),
        ("orders", r#"{"n":-1}"#, 400, "bad-count", Some("-1")),
        ("orders", r#"{"n":1.5}"#, 400, "bad-count", Some("1.5")),
        ("orders", r#"{"n":100001}"#, 400, "bad-count", Some("100001")),
        ("orders", r#"{"n":"many"}"#, 400, "bad-count", Some("many")),
        ("orders", r#"{"n":[1]}"#, 400, "bad-count", Some("[1]")),
        ("orders", r#"{"scope":""}"#, 400, "bad-scope", Some("")),
        ("orders", r#"{"scope":"shop 7"}"#, 400, "bad-scope", Some("shop 7")),
        ("orders", r#"{"date":"2026-02-29"}"#, 400, "bad-date", Some("2026-02-29")),
        ("orders", r#"{"date":"today"}"#, 400, "bad-date", Some("today")),
        ("shops", "{}", 400, "no-scope", None),
        ("shops", r#"{"n":3,"date":"2025-01-01"}"#, 400, "no-scope", None),
    ] {
        let answer = post(&server, name, body);
        let expected = (status, kind.to_owned(), value.map(str::to_owned));
        assert_eq!(problem_of(&answer), expected, "{name} {body}: {answer:?}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
    for (body, kind, value) in [
        (r#"{"pattern":"{yy}{n}"}"#, "bad-pattern", Some("{yy}{n}")),
        (r#"{"pattern":"no number"}"#, "bad-pattern", Some("no number")),
        ("{}", "bad-body", None),
        (r#"{"pattern":"{n}","step":0}"#, "bad-number", Some("0")),
        (r#"{"pattern":"{n}","step":1000000001}"#, "bad-definition", Some("1000000001")),
        (r#"{"pattern":"{n:1}","first":10}"#, "bad-definition", Some("10")),
        (r#"{"pattern":"{n}","time_zone":"Asia/Shangai"}"#, "bad-definition", Some("Asia/Shangai")),
        (r#"{"pattern":"{fy}-{n}","fiscal_year_from":"13-01"}"#, "bad-definition", Some("13-01")),
        (r#"{"pattern":"{fy}-{n}","fiscal_year_from":"4"}"#, "bad-definition", Some("4")),
        (r#"{"pattern":"{yy}{MM}-{n}","restart":"yearly"}"#, "bad-definition", Some("yearly")),
        (r#"{"pattern":"{yy}{MM}{dd}-{n}","restart":"fiscal-year"}"#, "bad-definition", None),
        (r#"{"pattern":"{yyyy}-{n}","restart":"month"}"#, "bad-definition", None),
        (r#"{"pattern":"{fy}-{n}"}"#, "bad-definition", None),
        (r#"{"pattern":"{n}","gapless":"yes"}"#, "bad-body", None),
    ] {
        let answer = put(&server, "new", body);
        let expected = (400, kind.to_owned(), value.map(str::to_owned));
        assert_eq!(problem_of(&answer), expected, "{body}: {answer:?}");
    }
    let answer = server.get("/v1/series/orders?counters=7");
    assert_eq!(problem_of(&answer), (400, "bad-counters".to_owned(), Some("7".to_owned())));
    let answer = server.get("/v1/series/orders?counter");
    assert_eq!(
        problem_of(&answer),
        (400, "no-such-parameter".to_owned(), Some("counter".to_owned()))
    );
    let answer = server.get("/v1/series/order");
    assert_eq!(problem_of(&answer), (404, "no-such-series".to_owned(), Some("order".to_owned())));
    assert!(answer.text().contains("did you mean \\\"orders\\\"?"), "{answer:?}");
    assert_eq!(server.get("/v1/series").json()["series"].as_array().unwrap().len(), 2);
    // Nothing was used up.
    assert_eq!(values(&post(&server, "orders", "{}"), "{yyyy}-{n:5}"), [1]);
}

const FILE: &str = r#"
public_series = ["open"]

[[token]]
token = "0123456789abcdef-orders"
series = ["orders", "order-*"]

[[token]]
token = "0123456789abcdef-tags"
tags = ["*"]

[[token]]
token = "0123456789abcdef-admin"
admin = true
"#;

#[test]
fn a_token_opens_its_series() {
    let server = Server::start_with_tokens(FILE, &[]);
    let bearer = |of: &str| format!("authorization: Bearer 0123456789abcdef-{of}");
    let (orders, tags, admin) = (&*bearer("orders"), &*bearer("tags"), &*bearer("admin"));
    let ask = |method: &str, path: &str, token: &str, body: &str| {
        let headers = [JSON, token];
        server.send(method, path, &headers[..2 - usize::from(token.is_empty())], body)
    };
    let definition = r#"{"pattern":"{n}"}"#;
    for (token, status) in [("", 401), (orders, 403), (tags, 403), (admin, 201)] {
        assert_eq!(ask("PUT", "/v1/series/orders", token, definition).status, status, "{token}");
    }
    for name in ["open", "hidden-orders"] {
        assert_eq!(ask("PUT", &format!("/v1/series/{name}"), admin, definition).status, 201);
    }
    for (method, path, token, status) in [
        ("POST", "/v1/series/orders/numbers", "", 401),
        ("POST", "/v1/series/orders/numbers", orders, 200),
        // As for tags: to take numbers, an administrator's token names them.
        ("POST", "/v1/series/orders/numbers", admin, 403),
        ("POST", "/v1/series/orders/numbers", tags, 403),
        ("POST", "/v1/series/open/numbers", "", 200),
        ("POST", "/v1/series/hidden-orders/numbers", orders, 403),
        // A client that may not take from it is not told whether it is there.
        ("POST", "/v1/series/nobody/numbers", orders, 403),
        ("POST", "/v1/series/order-x/numbers", orders, 404),
        ("GET", "/v1/series", "", 401),
        ("GET", "/v1/series/orders", "", 401),
        ("GET", "/v1/series/orders", orders, 200),
        ("GET", "/v1/series/orders?counters", "", 401),
        ("GET", "/v1/series/orders?counters", tags, 403),
        // There may be as many of them as the database holds.
        ("GET", "/v1/series/orders?counters", orders, 403),
        ("GET", "/v1/series/open?counters", "", 401),
        ("GET", "/v1/series/orders?counters", admin, 200),
        ("GET", "/v1/series/open", "", 200),
        ("GET", "/v1/tags/orders/ids", orders, 403),
    ] {
        let answer = ask(method, path, token, if method == "POST" { "{}" } else { "" });
        assert_eq!(answer.status, status, "{method} {path} {token}: {answer:?}");
    }
    for (token, names) in [
        (orders, &["open", "orders"][..]),
        (tags, &["open"]),
        (admin, &["hidden-orders", "open", "orders"]),
    ] {
        let shown = ask("GET", "/v1/series", token, "").json()["series"].clone();
        let shown = shown.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
        assert_eq!(shown.collect::<Vec<_>>(), names, "{token}");
    }
    // No series that the client may not see is alike.
    let answer = ask("POST", "/v1/series/order-n/numbers", orders, "{}");
    assert!(!answer.text().contains("hidden"), "{answer:?}");
}

#[test]
fn a_series_gives_what_is_in_memory_while_the_database_is_away() {
    let server = Server::start(&[]);
    put(&server, "customers", r#"{"pattern":"C-{n}","step":40}"#);
    assert_eq!(values(&post(&server, "customers", "{}"), "C-{n}"), [1]);
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.busy_timeout(FOREVER).unwrap();
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(values(&post(&server, "customers", r#"{"n":9}"#), "C-{n}").len(), 9);
    let refused = post(&server, "customers", r#"{"n":100000}"#);
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{refused:?}");
    assert!(!refused.text().contains("ids.db"), "{refused:?}");
    let refused = put(&server, "new", r#"{"pattern":"{n}"}"#);
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{refused:?}");
    // Whoever operates the service sees it, and a load balancer does.
    let status = server.get("/v1/status").json();
    let line = &status["series"][0];
    assert_eq!((&line["series"], &line["failures"]), (&"customers".into(), &1.into()), "{line}");
    assert!(line["problem"].is_string() && line["advice"].is_string(), "{line}");
    let kinds = status["health"]["conditions"].as_array().unwrap();
    assert!(kinds.iter().any(|condition| condition["kind"] == "series-fail"), "{status}");
    assert!(
        server.get("/metrics").text().contains("uidring_series_failing{series=\"customers\"} 1")
    );
    assert_eq!(server.get("/readyz").status, 503);
    file.execute_batch("ROLLBACK").unwrap();
    server.wait_for("there again", || post(&server, "customers", "{}").status == 200);
    assert_eq!(server.get("/readyz").status, 200);
    let line = || server.get("/v1/status").json()["series"][0].clone();
    // Until the next probe, the database counts as away.
    server.wait_for("all well", || line()["problem"].is_null());
    assert_eq!(line()["state"], "ok");
}

#[test]
fn a_request_that_is_refused_is_no_trouble_of_the_series() {
    let server = Server::start(&[]);
    put(&server, "tickets", r#"{"pattern":"T{n:1}"}"#);
    assert_eq!(values(&post(&server, "tickets", r#"{"n":9}"#), "T{n:1}").len(), 9);
    assert_eq!(post(&server, "tickets", "{}").status, 409);
    assert_eq!(post(&server, "tickets", r#"{"date":"2026-02-30"}"#).status, 400);
    let status = server.get("/v1/status").json();
    assert_eq!(status["series"][0]["failures"], 0, "{status}");
    // A full period is none either, but somebody has to act.
    let conditions = status["health"]["conditions"].as_array().unwrap();
    let kinds: Vec<_> = conditions.iter().map(|condition| &condition["kind"]).collect();
    assert_eq!(kinds, ["series-full"], "{status}");
}

#[test]
fn numbers_of_series_are_counted_in_the_metrics_the_status_and_the_page() {
    let server = Server::start(&[]);
    put(&server, "customers", r#"{"pattern":"C-{n}"}"#);
    post(&server, "customers", r#"{"n":30}"#);
    post(&server, "customers", "{}");
    post(&server, "customers", r#"{"scope":"shop-7"}"#);
    let metrics = server.get("/metrics");
    for line in [
        "uidring_given_series_numbers_total 32\n",
        "uidring_series 1\n",
        "uidring_series_taken_numbers_total{series=\"customers\"} 32\n",
        "uidring_series_scopes{series=\"customers\"} 2\n",
        "uidring_series_failing{series=\"customers\"} 0\n",
        "path=\"/v1/series/{name}/numbers\",status=\"200\"} 3\n",
    ] {
        assert!(metrics.text().contains(line), "{line}: {}", metrics.text());
    }
    let status = server.get("/v1/status").json();
    assert_eq!(status["given"]["series_numbers"], 32);
    let line = &status["series"][0];
    assert_eq!((&line["taken"], &line["scopes"]), (&32.into(), &2.into()), "{line}");
    let page = server.get("/");
    for text in
        ["Series used here (1)", "<bdi>customers</bdi></th><td data-label=\"State\">ok</td>"]
    {
        assert!(page.text().contains(text), "{text}: {}", page.text());
    }
}

const ORDER: &str = r#"{"scope":"shop-7","n":2}"#;

fn post_with_key(server: &Server, name: &str, key: &str, body: &str) -> Answer {
    let headers = [JSON, &format!("idempotency-key: {key}")];
    server.send("POST", &format!("/v1/series/{name}/numbers"), &headers, body)
}

#[test]
fn a_repeated_request_gets_the_same_numbers_from_any_server_and_after_a_restart() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{yyyy}-{n:6}"}"#);
    put(&server, "parcels", r#"{"pattern":"P{n}"}"#);
    let first = post_with_key(&server, "orders", "a7f0", ORDER);
    assert_eq!(values(&first, "{yyyy}-{n:6}"), [1, 2]);
    let db = format!("--db={}", server.file().display());
    let other = Server::start(&[&db]);
    // However the body is written.
    for body in [ORDER, "{\"n\": \"2\", \"scope\": \"shop-7\"}"] {
        for server in [&server, &other] {
            let again = post_with_key(server, "orders", "a7f0", body);
            assert_eq!((again.status, again.text()), (200, first.text()));
            assert_eq!(again.header("content-type"), "application/json");
        }
    }
    // Another key is another request, and so is one of another series.
    assert_eq!(values(&post_with_key(&server, "orders", "a7f1", ORDER), "{yyyy}-{n:6}"), [3, 4]);
    assert_eq!(values(&post_with_key(&server, "parcels", "a7f0", "{}"), "P{n}"), [1]);
    for body in ["{}", r#"{"scope":"shop-7","n":3}"#, r#"{"scope":"shop-8","n":2}"#] {
        let answer = post_with_key(&other, "orders", "a7f0", body);
        assert_eq!(
            problem_of(&answer),
            (422, "key-reused".to_owned(), Some("a7f0".to_owned())),
            "{body}"
        );
    }
    let server = Server::start_on(server.stop(), &[]);
    assert_eq!(post_with_key(&server, "orders", "a7f0", ORDER).text(), first.text());
}

#[test]
fn a_key_is_kept_for_a_day() {
    let server = Server::start(&[]);
    put(&server, "parcels", r#"{"pattern":"P{n}"}"#);
    let take =
        |key: &str, body: &str| values(&post_with_key(&server, "parcels", key, body), "P{n}");
    assert_eq!((take("old", "{}"), take("older", "{}")), (vec![1], vec![2]));
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.busy_timeout(FOREVER).unwrap();
    let age = |minutes: u32| {
        let sql = "UPDATE uidring_request SET created = created - ?1 * 60000";
        file.execute(sql, [minutes]).unwrap();
    };
    age(24 * 60 - 2);
    assert_eq!((take("old", "{}"), take("older", "{}")), (vec![1], vec![2]));
    age(3);
    // It may then be used for another request, and what nobody asks for is removed.
    assert_eq!(take("old", r#"{"n":2}"#), [3, 4]);
    let rows = "SELECT count(*) FROM uidring_request";
    assert_eq!(file.query_row(rows, [], |row| row.get::<_, u32>(0)).unwrap(), 1);
    assert_eq!(take("older", "{}"), [5]);
}

#[test]
fn requests_with_one_key_at_one_time_get_one_answer() {
    let server = Server::start(&["--threads=4"]);
    let db = format!("--db={}", server.file().display());
    let servers = [&server, &Server::start(&[&db, "--threads=4"])];
    put(&server, "parcels", r#"{"pattern":"P{n}","step":5}"#);
    for key in 0..10 {
        let ask = |index: usize| {
            let key = format!("key {key}");
            let answer = post_with_key(servers[index % 2], "parcels", &key, r#"{"n":3}"#);
            values(&answer, "P{n}")
        };
        let all: HashSet<Vec<u64>> = thread::scope(|scope| {
            let clients: Vec<_> = (0..8).map(|index| scope.spawn(move || ask(index))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        assert_eq!(all.len(), 1, "{all:?}");
    }
}

#[test]
fn a_key_belongs_to_a_token_and_is_no_way_around_it() {
    let folder = folder();
    let file = format!("{FILE}\n[[token]]\ntoken = '0123456789abcdef-other'\nseries = ['orders']");
    fs::write(folder.path().join("tokens.toml"), file).unwrap();
    let server = Server::start_on(folder, &["--tokens=tokens.toml"]);
    let ask = |method: &str, path: &str, of: &str, body: &str| {
        let token = format!("authorization: Bearer 0123456789abcdef-{of}");
        server.send(method, path, &[JSON, &token, "idempotency-key: k"], body)
    };
    assert_eq!(ask("PUT", "/v1/series/orders", "admin", r#"{"pattern":"{n}"}"#).status, 201);
    let post = |of: &str, body: &str| ask("POST", "/v1/series/orders/numbers", of, body);
    assert_eq!(values(&post("orders", "{}"), "{n}"), [1]);
    assert_eq!(values(&post("other", r#"{"n":2}"#), "{n}"), [2, 3]);
    assert_eq!(values(&post("orders", "{}"), "{n}"), [1]);
    assert_eq!(post("tags", "{}").status, 403);
    let file = rusqlite::Connection::open(server.file()).unwrap();
    let names = "SELECT group_concat(request || asked || answer) FROM uidring_request";
    let stored: String = file.query_row(names, [], |row| row.get(0)).unwrap();
    assert!(!stored.contains("0123456789abcdef"), "{stored}");
}

#[test]
fn a_bad_key_is_refused_and_a_refused_request_is_not_remembered() {
    let server = Server::start(&[]);
    put(&server, "seats", r#"{"pattern":"S{n:1}"}"#);
    let long = "k".repeat(256);
    let bad = |value: &str| (400, "bad-key".to_owned(), Some(value.to_owned()));
    assert_eq!(problem_of(&post_with_key(&server, "seats", &long, "{}")), bad(&long[..200]));
    assert_eq!(problem_of(&post_with_key(&server, "seats", "", "{}")), bad(""));
    assert_eq!(problem_of(&post_with_key(&server, "seats", "ü", "{}")), bad("ü"));
    let twice = "a\r\nidempotency-key: b";
    assert_eq!(problem_of(&post_with_key(&server, "seats", twice, "{}")), bad("a"));
    let many = post_with_key(&server, "seats", "k", r#"{"n":1001}"#);
    assert_eq!(problem_of(&many), (400, "bad-count".to_owned(), Some("1001".to_owned())));
    let none = post_with_key(&server, "nobody", "k", "{}");
    assert_eq!(none.status, 404);
    put(&server, "nobody", r#"{"pattern":"N{n}"}"#);
    assert_eq!(values(&post_with_key(&server, "nobody", "k", "{}"), "N{n}"), [1]);
    // Nothing was used up.
    assert_eq!(values(&post(&server, "seats", "{}"), "S{n:1}"), [1]);
}

/// A page of another site takes and creates nothing.
#[test]
fn pages_of_other_sites_take_no_numbers_of_series() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{n}"}"#);
    let headers = [JSON, "sec-fetch-site: cross-site"];
    for (method, path, body) in [
        ("POST", "/v1/series/orders/numbers", "{}"),
        ("PUT", "/v1/series/new", r#"{"pattern":"{n}"}"#),
    ] {
        assert_eq!(problem_of(&server.send(method, path, &headers, body)).1, "other-site");
    }
    assert_eq!(values(&post(&server, "orders", "{}"), "{n}"), [1]);
}

/// A version that begins later is shown, and writes the numbers of its days.
#[test]
fn a_series_that_was_changed_beside_writes_by_its_new_version() {
    let server = Server::start(&[]);
    put(&server, "orders", r#"{"pattern":"{yyyy}-{n:3}"}"#);
    assert_eq!(post(&server, "orders", r#"{"date":"2098-01-01"}"#).status, 200);
    let new = uidring::series::SeriesDefinition::new("{yyyy}-{n:5}").unwrap();
    library_series(&server).change("orders", new, Date::new(2099, 1, 1).unwrap()).unwrap();
    let numbers = post(&server, "orders", r#"{"date":"2099-05-01"}"#).json();
    assert_eq!(texts(&numbers["numbers"]), ["2099-00001"]);
    let orders = server.get("/v1/series/orders").json();
    assert_eq!(orders["versions"][1]["begins"], "2099-01-01");
    assert_eq!(orders["versions"][1]["pattern"], "{yyyy}-{n:5}");
}
