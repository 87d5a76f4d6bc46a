//! The metrics of segments say what their status says.

use std::sync::Arc;
use std::time::Duration;

use uidring::segment::{SegmentError, SegmentGenerator};

use crate::alone::alone;
use crate::recorder::{Keeping, Values};
use crate::rows::{Row, Rows, row, unreachable, wait_for};

struct Metrics(Arc<Keeping>);

impl Metrics {
    fn values(&self) -> Values {
        self.0.values(&["source", "tag"])
    }

    /// The metric with these labels, if there is one.
    fn get(&self, name: &str, labels: &[&str]) -> Option<f64> {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        self.values().get(&(format!("uidring_{name}"), labels)).copied()
    }

    /// The loader wakes at least once a second.
    fn wait_for(&self, name: &str, labels: &[&str], value: f64) {
        let last = std::cell::Cell::new(None);
        wait_for(&format!("{name} {labels:?} {value}"), || {
            last.set(self.get(name, labels));
            last.get() == Some(value)
        });
    }

    /// The tags with metrics of their own.
    fn tags(&self, source: &str) -> Vec<String> {
        let of_tags = self
            .values()
            .into_keys()
            .filter(|(name, labels)| name == "uidring_tag_failing" && labels[0] == source);
        of_tags.map(|(_, labels)| labels[1].clone()).collect()
    }
}

fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

fn exhaust(tag: &SegmentGenerator) {
    while tag.try_take().is_ok() {}
}

// One test, since a program has one recorder.
#[test]
fn the_metrics_say_what_the_status_says() {
    alone("segment_metrics::the_metrics_say_what_the_status_says", || {
        let metrics = Metrics(Keeping::install());
        sums_and_named_tags(&metrics);
        tags_that_fail(&metrics);
        many_tags(&metrics);
    });
}

fn sums_and_named_tags(metrics: &Metrics) {
    let rows = Rows::default().with("a", row(1000)).with("b", row(1000)).with("c", row(1000));
    let segments = rows.builder().measured_tags(["a", "b"]).measured_tags(["later"]);
    let segments = segments.build().unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|tag| segments.tag(tag).unwrap());
    assert!((0..300).all(|_| a.take().is_ok()) && (0..10).all(|_| c.take().is_ok()));
    metrics.wait_for("source_taken_numbers_total", &["rows"], 310.0);
    let names: Vec<(String, usize)> =
        metrics.values().into_keys().map(|(name, labels)| (name, labels.len())).collect();
    let of_source = [
        "uidring_loader_running",
        "uidring_source_failing_tags",
        "uidring_source_given_back_numbers_total",
        "uidring_source_in_memory_numbers",
        "uidring_source_load_duration_seconds",
        "uidring_source_load_failures_total",
        "uidring_source_loaded_numbers_total",
        "uidring_source_loads_total",
        "uidring_source_longest_wait_seconds",
        "uidring_source_lost_numbers_total",
        "uidring_source_nearly_full_tags_total",
        "uidring_source_tags",
        "uidring_source_taken_numbers_total",
        "uidring_source_up",
        "uidring_source_waits_total",
    ];
    let of_tag = [
        "uidring_tag_failing",
        "uidring_tag_in_memory_numbers",
        "uidring_tag_load_failures_total",
        "uidring_tag_load_seconds",
        "uidring_tag_loads_total",
        "uidring_tag_longest_wait_seconds",
        "uidring_tag_lost_numbers_total",
        "uidring_tag_seconds_until_empty",
        "uidring_tag_segment_numbers",
        "uidring_tag_taken_numbers_total",
        "uidring_tag_waits_total",
    ];
    let expected = of_source.map(|name| (name.to_owned(), 1)).into_iter();
    let of_tags = of_tag.iter().flat_map(|name| [(name.to_string(), 2), (name.to_string(), 2)]);
    assert_eq!(names, expected.chain(of_tags).collect::<Vec<_>>());
    assert_eq!(metrics.tags("rows"), ["a", "b"]);

    let is = |name, labels: &[&str], value| assert_eq!(metrics.get(name, labels), Some(value));
    let status = a.status();
    metrics.wait_for("tag_taken_numbers_total", &["rows", "a"], 300.0);
    is("tag_in_memory_numbers", &["rows", "a"], float(status.in_memory));
    assert!(metrics.get("tag_seconds_until_empty", &["rows", "a"]).unwrap().is_finite());
    is("tag_seconds_until_empty", &["rows", "b"], f64::INFINITY);
    let loads: f64 = [&a, &b, &c].map(|tag| float(tag.status().loads)).iter().sum();
    is("source_loads_total", &["rows"], loads);
    is("source_load_duration_seconds", &["rows"], loads);
    is("source_up", &["rows"], 1.0);
    is("source_tags", &["rows"], 3.0);

    segments.create("later", uidring::segment::Tag::new()).unwrap();
    metrics.wait_for("tag_loads_total", &["rows", "later"], 1.0);

    // Another source of the same name has metrics of its own.
    let others = Rows::default().with("a", row(50));
    let second = others.segments();
    assert!(second.tag("a").unwrap().take().is_ok());
    metrics.wait_for("source_taken_numbers_total", &["rows #2"], 1.0);
    is("source_taken_numbers_total", &["rows"], 310.0);
    second.shutdown().unwrap();
    is("source_given_back_numbers_total", &["rows #2"], 49.0);
    is("loader_running", &["rows #2"], 0.0);
    is("loader_running", &["rows"], 1.0);

    // The counters of the next one continue where those of this one were.
    drop((a, b, c));
    segments.shutdown().unwrap();
    is("loader_running", &["rows"], 0.0);
    let segments = rows.segments();
    assert!(segments.tag("a").unwrap().take().is_ok());
    metrics.wait_for("source_taken_numbers_total", &["rows"], 311.0);
    segments.shutdown().unwrap();
}

fn tags_that_fail(metrics: &Metrics) {
    let small = || Row { max_step: Some(5), ..row(5) };
    let rows = Rows::default().with("good", small()).with("gone", small());
    let segments = rows.builder().max_wait(Duration::from_millis(5)).build().unwrap();
    let [good, gone] = ["good", "gone"].map(|tag| segments.tag(tag).unwrap());
    let failures = metrics.get("source_load_failures_total", &["rows"]).unwrap();

    rows.fail(Some(unreachable));
    exhaust(&good);
    metrics.wait_for("source_up", &["rows"], 0.0);
    assert!(metrics.get("source_load_failures_total", &["rows"]).unwrap() > failures);
    assert!(metrics.get("tag_failing", &["rows", "good"]).is_none(), "it is the source's trouble");
    rows.fail(None);
    metrics.wait_for("source_up", &["rows"], 1.0);

    rows.remove("gone");
    exhaust(&gone);
    metrics.wait_for("tag_failing", &["rows", "gone"], 1.0);
    metrics.wait_for("source_failing_tags", &["rows"], 1.0);
    assert!(gone.status().failing_for.is_some() && good.status().failing_for.is_none());
    let rows = rows.with("gone", Row { next: 1000, ..small() });
    wait_for("number", || gone.try_take().is_ok());
    metrics.wait_for("tag_failing", &["rows", "gone"], 0.0);
    metrics.wait_for("source_failing_tags", &["rows"], 0.0);
    assert!(metrics.get("tag_failing", &["rows", "good"]).is_none());
    drop((good, gone));
    rows.fail(None);
    segments.shutdown().unwrap();
}

/// More tags than are looked at in a second, of which all fail.
fn many_tags(metrics: &Metrics) {
    const TAGS: usize = 2500;
    let names: Vec<String> = (0..TAGS).map(|tag| format!("tag-{tag}")).collect();
    let small = Row { max_step: Some(2), ..row(2) };
    let rows = names.iter().fold(Rows::default(), |rows, name| rows.with(name, small));
    let segments = rows.builder().max_wait(Duration::from_millis(5)).build().unwrap();
    let before = metrics.get("source_taken_numbers_total", &["rows"]).unwrap();
    let tags: Vec<SegmentGenerator> =
        names.iter().map(|name| segments.tag(name).unwrap()).collect();
    assert!(tags.iter().all(|tag| tag.take().is_ok()));
    metrics.wait_for("source_taken_numbers_total", &["rows"], before + float(TAGS as u64));
    let labelled = metrics.tags("rows").len();
    rows.fail(Some(|| SegmentError::other("broken")));
    tags.iter().for_each(exhaust);
    wait_for("failures", || metrics.get("source_failing_tags", &["rows"]).unwrap() > 2000.0);
    wait_for("labels", || metrics.tags("rows").len() >= labelled + 100);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(metrics.tags("rows").len(), labelled + 100, "no more than a hundred that fail");
    rows.fail(None);
    drop(tags);
    segments.shutdown().unwrap();
}
