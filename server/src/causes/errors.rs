//! The errors of the library, and a cause that nobody knows.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use uidring::segment::SegmentError;
use uidring::series::SeriesError;
use uidring::{Layout, RegistryError, SegmentFailure, StorageError, TakeError};

use super::service::Fault;

fn nobody_knows() -> Box<dyn Error + Send + Sync> {
    "a cause that nobody knows".into()
}

pub(super) fn storage_errors() -> Vec<StorageError> {
    let (what, problem) = ("the store".to_owned(), "is as nobody expects".to_owned());
    let (source, waited) = (Arc::from(nobody_knows()), Duration::from_secs(5));
    let doing = "write to the store".to_owned();
    vec![
        StorageError::Unusable { what: what.clone(), problem: problem.clone(), source: None },
        StorageError::Locked { what: what.clone(), waited },
        StorageError::Overtaken { what: what.clone(), waited },
        StorageError::Unreachable { what: what.clone(), problem, source: None },
        StorageError::Full { what, source: Arc::clone(&source) },
        StorageError::Failed { doing, source },
    ]
}

pub(super) fn registry_errors() -> Vec<Fault<RegistryError>> {
    let layout = Layout::TWITTER;
    let now = SystemTime::now();
    let mut faults: Vec<Fault<RegistryError>> = vec![
        Arc::new(move || RegistryError::OtherLayout { remembered: layout, asked: Layout::DEFAULT }),
        Arc::new(|| RegistryError::Exhausted { used: 7, capacity: 7, next: None }),
        Arc::new(|| RegistryError::FixedInUse { worker: 1 }),
        Arc::new(|| RegistryError::NoNumber {
            place: "the environment variable WORKER".to_owned(),
            problem: "nothing".to_owned(),
        }),
        Arc::new(move || RegistryError::UsedAhead {
            worker: 1,
            used: now + Duration::from_secs(1_000_000),
            now,
            wait: Duration::from_secs(1_000_000),
        }),
        Arc::new(|| RegistryError::LeaseLost { worker: 1 }),
        Arc::new(|| RegistryError::WorkerRange { worker: 9, max: 7 }),
        Arc::new(|| RegistryError::LeaseRange { worker: 1, first: 1, last: 9, max: 7 }),
        Arc::new(|| RegistryError::NotLeased { worker: 1 }),
        Arc::new(|| RegistryError::Partition { index: 3, of: 2 }),
        Arc::new(|| RegistryError::WorkerIds { first: 9, last: 7 }),
        Arc::new(|| RegistryError::BesideUidGenerator { first: 1, last: 7 }),
        Arc::new(|| RegistryError::other(nobody_knows())),
        Arc::new(|| RegistryError::unreachable(nobody_knows())),
    ];
    for error in storage_errors() {
        faults.push(Arc::new(move || RegistryError::Storage(error.clone())));
    }
    faults
}

pub(super) fn segment_errors() -> Vec<SegmentError> {
    let (store, tag) = ("ids.db".to_owned(), "orders".to_owned());
    let mut errors = vec![
        SegmentError::NoSuchTag { store: store.clone(), tag: tag.clone(), alike: Vec::new() },
        SegmentError::BadTag { tag: tag.clone(), problem: "it is too odd".to_owned() },
        SegmentError::Behind { store: store.clone(), tag: tag.clone(), next: 1, first: 9 },
        SegmentError::GivenElsewhere {
            store: store.clone(),
            tag: tag.clone(),
            table: "leaf_alloc",
            last: 9,
        },
        SegmentError::Differs {
            store: store.clone(),
            tag: tag.clone(),
            field: "step",
            there: None,
            asked: "7".into(),
        },
        SegmentError::Lower { store: store.clone(), tag: tag.clone(), next: 9, asked: 1 },
        SegmentError::Moved { store: store.clone(), tag: tag.clone(), next: 9, seen: 1 },
        SegmentError::BadRow {
            store: store.clone(),
            tag: tag.clone(),
            problem: "its step is 0".to_owned(),
        },
        SegmentError::RanOut { store: store.clone(), tag: tag.clone(), last: 9 },
        SegmentError::DatabasesOverlap {
            store: store.clone(),
            tag: tag.clone(),
            first: 1,
            last: 9,
        },
        SegmentError::WentBack { store, tag, first: 1, last: 9 },
        SegmentError::Series {
            failure: Some(SegmentFailure::Failed),
            error: Arc::from(nobody_knows()),
        },
        SegmentError::NotGivenBack { waited: Duration::from_secs(1) },
        SegmentError::Ended { cause: TakeError::ShutDown },
        SegmentError::other(nobody_knows()),
        SegmentError::unreachable(nobody_knows()),
    ];
    errors.extend(storage_errors().into_iter().map(SegmentError::Storage));
    errors
}

/// Those errors of a series for which the service is to blame, and not its client.
pub(super) fn series_errors() -> Vec<SeriesError> {
    let failures = [
        SegmentFailure::Loading,
        SegmentFailure::Unreachable,
        SegmentFailure::NoSuchTag,
        SegmentFailure::WentBack,
        SegmentFailure::BadRow,
        SegmentFailure::Failed,
    ];
    let (store, series) = ("ids.db".to_owned(), "invoices".to_owned());
    let mut errors = vec![
        SeriesError::NoSuchSeries { store, series: series.clone(), alike: Vec::new() },
        SeriesError::WentBack {
            store: "ids.db".to_owned(),
            series: series.clone(),
            scope: String::new(),
            period: "2026".parse().unwrap(),
            first: 1,
            last: 9,
        },
        SeriesError::Clock { unix_ms: 0 },
        SeriesError::Transaction { series, source: Arc::from(nobody_knows()) },
        SeriesError::NoStore,
        SeriesError::Take(TakeError::Forked),
    ];
    let exhausted = |cause| SeriesError::Take(TakeError::SegmentExhausted { cause });
    errors.extend(failures.map(exhausted));
    errors.extend(storage_errors().into_iter().map(SeriesError::Storage));
    errors.extend(segment_errors().into_iter().map(SeriesError::Load));
    errors
}

/// The variants of a public enum in its source.
pub(super) fn variants(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    let word = |line: &str| {
        line.split(|one: char| !one.is_ascii_alphanumeric()).next().unwrap().to_owned()
    };
    lines.map(word).collect()
}

/// The variants of these errors.
pub(super) fn variant_names<E: std::fmt::Debug>(
    errors: impl IntoIterator<Item = E>,
) -> BTreeSet<String> {
    let word = |error: E| {
        let text = format!("{error:?}");
        text.split(|one: char| !one.is_ascii_alphanumeric()).next().unwrap().to_owned()
    };
    errors.into_iter().map(word).collect()
}
