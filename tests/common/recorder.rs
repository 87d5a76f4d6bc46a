//! A recorder of metrics that a test can look at.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};

/// Keeps the metrics, each in a number: that of a gauge is the bits of its value.
#[derive(Default)]
pub struct Keeping {
    counters: Numbers<AtomicU64>,
    gauges: Numbers<AtomicU64>,
    histograms: Numbers<Count>,
}

/// The metrics of one kind.
struct Numbers<T>(Mutex<HashMap<Key, Arc<T>>>);

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers(Mutex::new(HashMap::new()))
    }
}

impl<T: Default> Numbers<T> {
    fn of(&self, key: &Key) -> Arc<T> {
        Arc::clone(self.0.lock().unwrap().entry(key.clone()).or_default())
    }

    fn all(&self) -> Vec<(Key, Arc<T>)> {
        self.0.lock().unwrap().iter().map(|(key, value)| (key.clone(), Arc::clone(value))).collect()
    }
}

/// How many values a histogram has.
#[derive(Default)]
struct Count(AtomicU64);

impl HistogramFn for Count {
    fn record(&self, _: f64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// By their names, then by the values of their labels, in the order of the names of these.
pub type Values = BTreeMap<(String, Vec<String>), f64>;

impl Keeping {
    /// Installs the recorder of this process.
    pub fn install() -> Arc<Keeping> {
        let recorder = Arc::new(Keeping::default());
        assert!(metrics::set_global_recorder(Arc::clone(&recorder)).is_ok());
        recorder
    }

    /// The metrics, all of which have labels of the names `labels`, or of the first ones. A
    /// histogram shows how many values it has.
    pub fn values(&self, labels: &[&str]) -> Values {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let count = |value| f64::from(u32::try_from(value).unwrap());
        let counters = self.counters.all().into_iter();
        let counters = counters.map(|(key, value)| (key, count(load(&value))));
        let gauges = self.gauges.all().into_iter();
        let gauges = gauges.map(|(key, value)| (key, f64::from_bits(load(&value))));
        let histograms = self.histograms.all().into_iter();
        let histograms = histograms.map(|(key, values)| (key, count(load(&values.0))));
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

impl Keeping {
    /// The gauges and counters, each with its labels.
    #[allow(dead_code)] // not every test looks at all of them
    pub fn labelled(&self) -> Vec<(String, BTreeMap<String, String>, f64)> {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let count = |value: &AtomicU64| f64::from(u32::try_from(load(value)).unwrap());
        let counters = self.counters.all().into_iter().map(|(key, it)| (key, count(&it)));
        let gauges = self.gauges.all().into_iter();
        let gauges = gauges.map(|(key, value)| (key, f64::from_bits(load(&value))));
        let label = |label: &metrics::Label| (label.key().to_owned(), label.value().to_owned());
        let all = counters.chain(gauges);
        all.map(|(key, value)| (key.name().to_owned(), key.labels().map(label).collect(), value))
            .collect()
    }
}

impl Recorder for Keeping {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.counters.of(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.gauges.of(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.histograms.of(key))
    }
}
