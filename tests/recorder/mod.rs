//! A recorder of metrics that a test can look at.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use metrics_util::registry::{AtomicStorage, Registry};

/// Keeps the metrics. That of `metrics_util` resets them whenever it shows them, gauges as well.
pub struct Keeping(Registry<Key, AtomicStorage>);

/// By their names, then by the values of their labels, in the order of the names of these.
pub type Values = BTreeMap<(String, Vec<String>), f64>;

impl Keeping {
    /// Installs the recorder of this process.
    pub fn install() -> Arc<Keeping> {
        let recorder = Arc::new(Keeping(Registry::atomic()));
        assert!(metrics::set_global_recorder(Arc::clone(&recorder)).is_ok());
        recorder
    }

    /// The metrics, all of which have labels of the names `labels`, or of the first ones. A
    /// histogram shows how many values it has.
    pub fn values(&self, labels: &[&str]) -> Values {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let count = |value| f64::from(u32::try_from(value).unwrap());
        let counters = self.0.get_counter_handles().into_iter();
        let counters = counters.map(|(key, value)| (key, count(load(&value))));
        let gauges = self.0.get_gauge_handles().into_iter();
        let gauges = gauges.map(|(key, value)| (key, f64::from_bits(load(&value))));
        let histograms = self.0.get_histogram_handles().into_iter();
        let histograms = histograms.map(|(key, values)| (key, count(values.data().len() as u64)));
        let all = counters.chain(gauges).chain(histograms).map(|(key, value)| {
            let mut pairs: Vec<_> =
                key.labels().map(|label| (label.key(), label.value().to_owned())).collect();
            pairs.sort_unstable();
            let (names, values): (Vec<&str>, Vec<String>) = pairs.into_iter().unzip();
            assert_eq!(names, labels[..names.len()], "the labels of {}", key.name());
            ((key.name().to_owned(), values), value)
        });
        all.collect()
    }
}

impl Recorder for Keeping {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.0.get_or_create_counter(key, |counter| Counter::from_arc(Arc::clone(counter)))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.0.get_or_create_gauge(key, |gauge| Gauge::from_arc(Arc::clone(gauge)))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.0.get_or_create_histogram(key, |values| Histogram::from_arc(Arc::clone(values)))
    }
}
