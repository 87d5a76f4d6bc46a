//! `/metrics`: what is counted, and that Prometheus can read it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{Server, certify, folder, metric as value};

fn metrics(server: &Server) -> String {
    let answer = server.get("/metrics");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4");
    answer.text().to_owned()
}

#[track_caller]
fn assert_value(text: &str, series: &str, expected: f64) {
    let found = value(text, series);
    let is_so = found.is_some_and(|found| (found - expected).abs() < 1e-9);
    assert!(is_so, "{series}: {found:?} in\n{text}");
}

#[test]
fn requests_are_counted_by_path_and_status() {
    let server = Server::start(&[]);
    for path in ["/v1/uids?n=3", "/v1/uids?n=4", "/v1/uids?n=0", "/secret/42", "/v1/uids/7/8"] {
        server.get(path);
    }
    let text = metrics(&server);
    let requests = |path, status| {
        let series = "uidring_http_requests_total";
        value(&text, &format!("{series}{{path=\"{path}\",status=\"{status}\"}}"))
    };
    assert_eq!(requests("/v1/uids", 200), Some(2.0));
    assert_eq!(requests("/v1/uids", 400), Some(1.0));
    assert_eq!(requests("other", 404), Some(2.0));
    let time = "uidring_http_request_duration_seconds";
    assert_value(&text, &format!("{time}_count{{path=\"/v1/uids\"}}"), 3.0);
    assert_value(&text, &format!("{time}_bucket{{path=\"/v1/uids\",le=\"+Inf\"}}"), 3.0);
    let sum = value(&text, &format!("{time}_sum{{path=\"/v1/uids\"}}"));
    assert!(sum.is_some_and(|sum| sum > 0.0), "{sum:?}");
    assert!(!text.contains("secret"), "{text}");
    assert_value(&text, "uidring_given_uids_total", 7.0);
    assert_value(&text, "uidring_taken_uids_total{generator=\"uids\"}", 7.0);
    assert_value(&text, "uidring_worker_id{generator=\"uids\"}", 1.0);
    assert_value(&text, "uidring_worker_ids{generator=\"uids\"}", 1_048_575.0);
    assert_value(&text, "uidring_worker_ids_left{generator=\"uids\"}", 1_048_574.0);
    assert_value(&text, "uidring_filler_running{generator=\"uids\"}", 1.0);
    assert_value(&text, "uidring_ready", 1.0);
    assert_value(&text, "uidring_database_up", 1.0);
}

/// tinyid's failures have 200, and Leaf's 500 may be the client's.
#[test]
fn failures_are_counted_whatever_their_status_is() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"step": 10}"#);
    let failures = |path: &str| {
        let series = format!("uidring_http_failures_total{{path=\"{path}\"}}");
        value(&metrics(&server), &series)
    };
    let ask =
        |path: &str, tag: &str| server.get(&format!("/tinyid/id/{path}?bizType={tag}")).status;
    let paths = ["nextId", "nextIdSimple", "nextSegmentId", "nextSegmentIdSimple"];
    for path in paths {
        assert_eq!((ask(path, "orders"), ask(path, "nobody"), ask(path, "")), (200, 200, 200));
        assert_eq!(failures(&format!("/tinyid/id/{path}")), Some(0.0), "{path}");
    }
    assert_eq!(server.get("/api/segment/get/nobody").status, 500);
    assert_eq!(failures("/api/segment/get/{key}"), Some(0.0));
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute("DROP TABLE uidring_segment", []).unwrap();
    for path in paths {
        // Until what is in memory is used up.
        server.wait_for("failing", || {
            assert_eq!(ask(path, "orders&batchSize=100"), 200);
            failures(&format!("/tinyid/id/{path}")).is_some_and(|count| count > 0.0)
        });
    }
    assert_eq!(server.get("/api/segment/get/orders").status, 500);
    assert_eq!(failures("/api/segment/get/{key}"), Some(1.0));
}

#[test]
fn numbers_are_counted_by_tag() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"step": 100}"#);
    server.put("with \"quotes\"".replace(' ', "%20").replace('"', "%22").as_str(), "{}");
    assert_eq!(server.get("/v1/tags/orders/ids?n=30").status, 200);
    assert_eq!(server.get("/v1/tags/with%20%22quotes%22/ids").status, 200);
    let segment = server.send("POST", "/v1/tags/orders/segments?size=50", &[], "");
    assert_eq!(segment.status, 200);
    let text = metrics(&server);
    assert_value(&text, "uidring_tags", 2.0);
    assert_value(&text, "uidring_given_numbers_total", 31.0);
    assert_value(&text, "uidring_given_segments_total", 1.0);
    assert_value(&text, "uidring_tag_taken_numbers_total{tag=\"orders\"}", 30.0);
    assert_value(&text, "uidring_tag_client_numbers_total{tag=\"orders\"}", 50.0);
    assert_value(&text, "uidring_tag_taken_numbers_total{tag=\"with \\\"quotes\\\"\"}", 1.0);
    assert_value(&text, "uidring_tag_failing{tag=\"orders\"}", 0.0);
    let loads = value(&text, "uidring_tag_loads_total{tag=\"orders\"}");
    assert!(loads.is_some_and(|loads| loads >= 2.0), "{loads:?}");
    let in_memory = value(&text, "uidring_tag_in_memory_numbers{tag=\"orders\"}");
    assert!(in_memory.is_some_and(|numbers| numbers >= 70.0), "{in_memory:?}");
}

#[test]
fn what_clients_invent_makes_no_series() {
    let server = Server::start(&[]);
    // The first answer of a kind makes its series.
    server.get("/v1/tags/invented-0/ids");
    server.get("/invented-0");
    server.get("/metrics");
    let before = metrics(&server).lines().count();
    for index in 1..40 {
        assert_eq!(server.get(&format!("/v1/tags/invented-{index}/ids")).status, 404);
        assert_eq!(server.get(&format!("/invented-{index}")).status, 404);
    }
    let text = metrics(&server);
    assert_eq!(text.lines().count(), before, "{text}");
    assert!(!text.contains("invented"), "{text}");
}

#[test]
fn metrics_are_for_administrators_and_their_role_where_there_are_tokens() {
    let folder = folder();
    let tokens = folder.path().join("tokens.toml");
    let text = "[[token]]\ntoken = \"0123456789abcdef\"\nadmin = true\n\
        [[token]]\ntoken = \"abcdef0123456789\"\ntags = [\"*\"]\n\
        [[token]]\ntoken = \"of-prometheus-000\"\nrole = \"metrics\"\n";
    std::fs::write(&tokens, text).unwrap();
    let server = Server::start(&["--tokens", tokens.to_str().unwrap()]);
    let status = |header| server.send("GET", "/metrics", &[header], "").status;
    let denied = server.get("/metrics");
    assert_eq!(denied.status, 401);
    let asked = denied.headers.iter().filter(|(name, _)| name == "www-authenticate");
    assert!(asked.into_iter().any(|(_, value)| value.starts_with("Basic")), "{denied:?}");
    assert_eq!(status("authorization: Bearer 0123456789abcdef"), 200);
    // Any name, and the token as the password.
    assert_eq!(status("authorization: Basic eDowMTIzNDU2Nzg5YWJjZGVm"), 200);
    assert_eq!(status("authorization: Bearer abcdef0123456789"), 403);
    assert_eq!(status("authorization: Bearer 0123456789abcdeF"), 401);
    let prometheus = "authorization: Bearer of-prometheus-000";
    assert_eq!(status(prometheus), 200);
    // It reads nothing else, and gets no ids.
    for path in ["/", "/v1/status", "/v1/uids", "/v1/tags/orders/ids", "/cache", "/db"] {
        assert_eq!(server.send("GET", path, &[prometheus], "").status, 403, "{path}");
    }
    let (json, tag) = ("content-type: application/json", "/v1/tags/orders");
    assert_eq!(server.send("PUT", tag, &[json, prometheus], "{}").status, 403);
}

/// Runs Prometheus' own tool on `input`.
fn promtool(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new("promtool");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
#[ignore = "needs promtool"]
fn prometheus_reads_the_metrics() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    server.get("/v1/tags/orders/ids");
    let checked = promtool(&["check", "metrics"], &metrics(&server));
    assert!(checked.status.success(), "{checked:?}");
    assert!(checked.stderr.is_empty(), "{checked:?}");
    // The check itself finds faults.
    assert!(!promtool(&["check", "metrics"], "# TYPE a gauge\na b\n").status.success());
}

#[test]
#[ignore = "needs promtool"]
fn prometheus_reads_the_alerts() {
    let alerts = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/alerts.yml");
    let checked = promtool(&["check", "rules", alerts.to_str().unwrap()], "");
    assert!(checked.status.success(), "{checked:?}");
}

/// While a tag is empty nobody takes from it, so its rate is 0, and the alert must stay.
#[test]
#[ignore = "needs promtool"]
fn an_empty_tag_stays_an_alert() {
    let alerts = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/alerts.yml");
    let labels = "instance=\"a\",job=\"uidring-server\"";
    let tag = format!("{{{labels},tag=\"orders\"}}");
    // Taken at 10 a second for two minutes, then empty.
    let test = format!(
        "rule_files: [{}]
evaluation_interval: 10s
tests:
  - interval: 10s
    input_series:
      - series: 'uidring_tag_in_memory_numbers{tag}'
        values: '1200-100x12 0x200'
      - series: 'uidring_tag_taken_numbers_total{tag}'
        values: '0+100x12 1200x200'
      - series: 'uidring_tag_failing{tag}'
        values: '0x11 1x201'
      - series: 'uidring_tags_empty{{{labels}}}'
        values: '0x12 1x200'
      - series: 'uidring_tags_went_back{{{labels}}}'
        values: '0x20 1x192'
    alert_rule_test:
      - eval_time: 1m
        alertname: UidringTagNearlyEmpty
      - eval_time: 30m
        alertname: UidringTagNearlyEmpty
        exp_alerts:
          - exp_labels: {{severity: critical, instance: a, job: uidring-server, tag: orders}}
            exp_annotations:
              runbook_url: '{RUNBOOK}uidringtagnearlyempty'
              summary: orders on a has numbers for 10 s or less
              description: >-
                Loads fail; the page says with what. Takes fail when they are gone.
      - eval_time: 3m
        alertname: UidringTagEmpty
        exp_alerts:
          - exp_labels: {{severity: critical, instance: a, job: uidring-server}}
            exp_annotations:
              runbook_url: '{RUNBOOK}uidringtagempty'
              summary: '1 tags on a have no numbers: takes fail'
              description: Nothing is in memory, and loads fail; the page says with what.
",
        alerts.display()
    );
    test_rules(&test);
}

/// Where the alerts are explained.
const RUNBOOK: &str = "https://github.com/uidring/uidring/blob/main/docs/operations/alerts.md#";

#[track_caller]
fn test_rules(test: &str) {
    let folder = folder();
    let file = folder.path().join("test.yml");
    std::fs::write(&file, test).unwrap();
    let checked = promtool(&["test", "rules", file.to_str().unwrap()], "");
    assert!(checked.status.success(), "{checked:?}");
}

/// It looks at what is left, because the ids of a partition may begin with a large one.
#[test]
#[ignore = "needs promtool"]
fn an_alert_says_that_worker_ids_run_low() {
    let alerts = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/alerts.yml");
    // Ten worker ids a minute, of a thousand; and those of a generator whose ids do not run out.
    let test = format!(
        "rule_files: [{}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'uidring_worker_ids{{instance=\"a\"}}'
        values: '1000x100'
      - series: 'uidring_worker_ids_left{{instance=\"a\"}}'
        values: '1000-10x100'
      - series: 'uidring_worker_ids{{instance=\"b\"}}'
        values: '_x89 Inf Inf Inf'
      - series: 'uidring_worker_ids_left{{instance=\"b\"}}'
        values: '_x89 Inf Inf Inf'
    alert_rule_test:
      - eval_time: 90m
        alertname: UidringWorkerIdsRunLow
      - eval_time: 91m
        alertname: UidringWorkerIdsRunLow
        exp_alerts:
          - exp_labels: {{severity: warning, instance: a}}
            exp_annotations:
              runbook_url: '{RUNBOOK}uidringworkeridsrunlow'
              summary: 'a has one of the last worker ids: 90 are larger'
              description: >-
                When they are used up, no instance starts. Lease them. Another layout must exceed
                all UIDs that were given: see docs/operations/sizing.md.
",
        alerts.display()
    );
    test_rules(&test);
}

/// The names of metrics in `text`: all words that begin with `uidring_`.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric() && one != '_');
    let mut names: Vec<String> =
        words.filter(|word| word.starts_with("uidring_")).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn alerts_and_graphs_ask_for_metrics_that_there_are() {
    let server = Server::start(&["--lease", "10m", "--resp-listen=127.0.0.1:0"]);
    server.put("orders", "{}");
    server.get("/v1/tags/orders/ids");
    let mut client = TcpStream::connect(server.resp.trim_start_matches("redis://")).unwrap();
    client.write_all(b"PING\r\n").unwrap();
    client.read_exact(&mut [0; 7]).unwrap();
    let json = "content-type: application/json";
    server.send("PUT", "/v1/series/customers", &[json], r#"{"pattern":"C-{n}"}"#);
    server.send("POST", "/v1/series/customers/numbers", &[json], "{}");
    server.send("POST", "/v1/workers", &[json], r#"{"pool":"shop"}"#);
    // The pools are looked for now and then.
    server.wait_for("the pool", || metrics(&server).contains("uidring_pool_free_ids"));
    let mut there = names(&metrics(&server));
    // What there is with TLS alone, and with what is read again.
    let folder = folder();
    let cert = certify(folder.path(), 2100);
    let server = Server::launch(folder, &["--tls-cert=cert.pem", "--tls-key=key.pem"]);
    there.extend(names(server.get_tls(&cert, "/metrics").unwrap().text()));
    for file in ["deploy/alerts.yml", "deploy/grafana.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let asked = names(&std::fs::read_to_string(path).unwrap());
        assert!(!asked.is_empty(), "{file}");
        for name in asked {
            assert!(there.contains(&name), "{file} asks for {name}, which there is not");
        }
    }
}
