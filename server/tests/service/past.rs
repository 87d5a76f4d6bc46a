//! `POST /v1/uids`: UIDs of times that were.

use std::collections::BTreeSet;

use uidring::{Layout, Uid};

use crate::common::{Answer, Server, metric};

const JSON: &[&str] = &["content-type: application/json"];

fn ids(answer: &Answer) -> Vec<Uid> {
    let json = answer.json();
    let ids = json["uids"].as_array().unwrap_or_else(|| panic!("{answer:?}")).iter();
    ids.map(|id| id.as_str().unwrap().parse().unwrap()).collect()
}

fn worker(uid: Uid) -> u64 {
    Layout::DEFAULT.parts(uid).worker
}

/// The beginnings of the days of a year.
fn days(count: usize) -> Vec<String> {
    (0..count)
        .map(|at| format!("2026-{:02}-{:02}T00:00:00Z", 1 + at / 28 % 10, 1 + at % 28))
        .collect()
}

fn body(times: &[String]) -> String {
    serde_json::json!({ "times": times }).to_string()
}

#[test]
fn each_time_gets_a_uid_from_a_worker_id_of_the_past() {
    let server = Server::start(&["--lease", "10m"]);
    let mut times = days(280);
    // In no order.
    times.swap(0, 200);
    let answer = server.send("POST", "/v1/uids", JSON, &body(&times));
    let taken = ids(&answer);
    assert_eq!(taken.len(), 280);
    for (uid, time) in taken.iter().zip(&times) {
        let found = Layout::DEFAULT.parts(*uid).time;
        let expected: jiff::Timestamp = time.parse().unwrap();
        assert_eq!(jiff::Timestamp::try_from(found).unwrap(), expected);
    }
    let present = ids(&server.get("/v1/uids"));
    assert_ne!(worker(present[0]), worker(taken[0]));
    // The next request goes on, in each form.
    let accepts = [JSON, &["accept: text/plain"]].concat();
    let lines = server.send("POST", "/v1/uids", &accepts, &body(&times));
    let again: Vec<Uid> = lines.text().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(again.len(), 280);
    let all: BTreeSet<_> = taken.iter().chain(&again).collect();
    assert_eq!(all.len(), 560);
    assert!(again.iter().all(|uid| worker(*uid) == worker(taken[0])));
}

#[test]
fn many_times_come_in_one_answer_and_a_bad_one_takes_nothing() {
    let server = Server::start(&["--max-body", "10000000"]);
    let times = days(50_000);
    let taken = ids(&server.send("POST", "/v1/uids", JSON, &body(&times)));
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 50_000);
    let mut bad = days(3);
    bad[1] = "2025-12-31T23:59:59Z".to_owned();
    let answer = server.send("POST", "/v1/uids", JSON, &body(&bad));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.starts_with("time 2: no UID of 2025-12-31T23:59:59Z: the layout begins"),
        "{detail}"
    );
    // The first time has what it would have had.
    let next = ids(&server.send("POST", "/v1/uids", JSON, &body(&days(1))));
    let of_first =
        taken.iter().filter(|uid| Layout::DEFAULT.parts(**uid).time == Layout::DEFAULT.epoch());
    assert_eq!(Some(next[0].get()), of_first.max().map(|uid| uid.get() + 1));
}

#[test]
fn operators_are_told_what_was_taken_of_the_past() {
    let server = Server::start(&["--layout", "30,20,3"]);
    let shown = || {
        let metrics = server.get("/metrics").text().to_owned();
        ["taken_uids_total", "workers_total", "ticks", "broken"]
            .map(|name| metric(&metrics, &format!("uidring_past_{name}")))
    };
    assert_eq!(shown(), [None; 4]);
    assert!(server.get("/v1/status").json()["past"].is_null());
    assert!(!server.get("/").text().contains("of the past"));
    let times = vec!["2026-05-02T10:15:00Z".to_owned(); 17];
    assert_eq!(server.send("POST", "/v1/uids", JSON, &body(&times)).status, 200);
    assert_eq!(shown(), [17.0, 3.0, 1.0, 0.0].map(Some));
    let status = server.get("/v1/status").json()["past"].clone();
    let expected = serde_json::json!({
        "worker": 4, "workers": 3, "taken": 17, "ticks": 1, "problem": null
    });
    assert_eq!(status, expected);
    let page = server.get("/").text().to_owned();
    assert!(page.contains("17 taken, 3 worker ids used up, 1 ticks remembered"), "{page}");
}
