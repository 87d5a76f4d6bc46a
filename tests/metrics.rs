//! The metrics of a generator say what its status says.
#![cfg(feature = "metrics")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use uidring::UidGenerator;
use uidring::registry::FixedWorker;

/// The metrics with the label of the generator that began with worker id 7.
fn metrics(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let all = snapshotter.snapshot().into_vec().into_iter();
    let ours = all.map(|(key, _, _, value)| {
        let labels: Vec<_> = key.key().labels().map(|l| (l.key(), l.value())).collect();
        assert_eq!(labels, [("generator", "7")]);
        let value = match value {
            DebugValue::Counter(count) => f64::from(u32::try_from(count).unwrap()),
            DebugValue::Gauge(gauge) => gauge.into_inner(),
            DebugValue::Histogram(_) => unreachable!("there is none"),
        };
        (key.key().name().to_owned(), value)
    });
    ours.collect()
}

#[test]
fn the_metrics_say_what_the_status_says() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();
    let uids = UidGenerator::builder().registry(FixedWorker::new(7)).build().unwrap();
    for _ in 0..1000 {
        uids.take().unwrap();
    }

    let since = Instant::now();
    // The filler wakes at least once a second.
    let metrics = loop {
        let metrics = metrics(&snapshotter);
        // A snapshot resets the counters, until the next update.
        if metrics.get("uidring_taken_uids_total") == Some(&1000.0) {
            break metrics;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{metrics:?}");
        thread::sleep(Duration::from_millis(20));
    };
    let names: Vec<&str> = metrics.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "uidring_at_lead_limit",
            "uidring_at_worker_limit",
            "uidring_available_uids",
            "uidring_expires_timestamp_seconds",
            "uidring_filler_blocks_total",
            "uidring_filler_running",
            "uidring_lag_seconds",
            "uidring_lead_seconds",
            "uidring_lost_uids_total",
            "uidring_new_workers_total",
            "uidring_refused_jump_seconds",
            "uidring_skipped_uids_total",
            "uidring_taken_uids_total",
            "uidring_taker_blocks_total",
            "uidring_worker_id",
        ]
    );
    let is = |name: &str, value: f64| assert!((metrics[name] - value).abs() < 0.5, "{metrics:?}");
    is("uidring_worker_id", 7.0);
    is("uidring_filler_running", 1.0);
    is("uidring_at_lead_limit", 0.0);
    is("uidring_expires_timestamp_seconds", 2_840_967_424.0);
    assert!(metrics["uidring_available_uids"] > 0.0 && metrics["uidring_lead_seconds"] > 0.0);
}
