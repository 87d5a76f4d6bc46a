//! The metrics of series have their names, and not those of the tags that their periods are.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use uidring::Store;
use uidring::series::{Series, SeriesDefinition, SeriesError};

use crate::alone::alone;
use crate::recorder::Keeping;
use crate::rows::wait_for;

/// The value of this metric of the series "seats", or of its store.
fn value(metrics: &Keeping, name: &str) -> Option<f64> {
    let all = metrics.labelled();
    let of =
        |labels: &BTreeMap<String, String>| labels.get("series").is_none_or(|it| it == "seats");
    let found = all.iter().find(|(found, labels, _)| found == name && of(labels));
    found.map(|(.., value)| *value)
}

#[test]
fn a_series_is_measured_by_its_name() {
    alone("series_metrics::a_series_is_measured_by_its_name", || {
        let metrics: Arc<Keeping> = Keeping::install();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let series = Series::builder().store(&Store::open(&file).unwrap()).build().unwrap();
        let definition = SeriesDefinition::new("{scope}-{n:1}").unwrap().step(1);
        let seats = series.create("seats", definition).unwrap();
        let is = |name: &str, expected: f64| {
            wait_for(name, || value(&metrics, &format!("uidring_{name}")) == Some(expected));
        };
        is("source_full_series", 0.0);
        assert_eq!(seats.scope("hall").take_batch(8).unwrap().len(), 8);
        is("source_nearly_full_series", 1.0);
        assert_eq!(seats.scope("hall").take_batch(8).unwrap().len(), 1);
        assert!(matches!(seats.scope("hall").take(), Err(SeriesError::Full { .. })));
        is("source_full_series", 1.0);
        is("source_nearly_full_series", 0.0);
        series.widen("seats", SeriesDefinition::new("{scope}-{n:4}").unwrap().step(1)).unwrap();
        assert_eq!(seats.scope("hall").take().unwrap().as_str(), "hall-0010");
        is("source_full_series", 0.0);
        // A counter of its own that fails.
        Connection::open(&file)
            .unwrap()
            .execute("UPDATE uidring_series_counter SET last_number = 1", [])
            .unwrap();
        wait_for("refusal", || {
            matches!(seats.scope("hall").take(), Err(SeriesError::WentBack { .. }))
        });
        is("series_failing", 1.0);
        for (name, labels, _) in metrics.labelled() {
            assert!(!name.starts_with("uidring_tag_"), "{name}");
            assert!(!labels.contains_key("tag"), "{name} {labels:?}");
            assert!(!labels.values().any(|value| value.contains("seats/")), "{name} {labels:?}");
            if name.starts_with("uidring_series_") {
                let expected = [("period", "ever"), ("scope", "hall"), ("series", "seats")];
                let told = expected.map(|(label, _)| (label, labels[label].as_str()));
                assert_eq!(told, expected, "{name}");
            }
        }
    });
}
