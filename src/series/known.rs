//! [`Known`], what this process knows of the series of its store.

use std::collections::{HashMap, HashSet};

use arc_swap::ArcSwap;
use jiff::tz::TimeZone;

use super::counter::Counter;
use super::date::Date;
use super::given::Given;
use super::open_period::OpenPeriod;
use super::period::{Period, Unit};
use super::series_error::SeriesError;
use super::span::{Span, span_at};
use super::store::{SeriesRecord, SeriesStore, SeriesVersion, Taken, Wanted};
use crate::clock::FIRST_PLAUSIBLE_MS;
use crate::sync::{Arc, Mutex, lock};

/// How often a call learns a series again that others change meanwhile.
pub(crate) const MOST_CHANGES: u32 = 4;

/// A series as this process knows it.
#[derive(Debug)]
pub(crate) struct KnownSeries {
    pub record: SeriesRecord,
    pub zone: TimeZone,
    /// The last answer of [`open`](KnownSeries::open).
    opened: Mutex<Option<Arc<OpenPeriod>>>,
}

/// The store, and the series of it that this process has used.
#[derive(Debug)]
pub(crate) struct Known {
    pub store: Arc<dyn SeriesStore>,
    series: Mutex<HashMap<String, Entry>>,
    pub given: Given,
}

/// A series that this process has used.
#[derive(Debug)]
struct Entry {
    known: Arc<ArcSwap<KnownSeries>>,
    /// Whether others have changed it since it was read.
    is_stale: bool,
    rested: Arc<Rested>,
}

/// The scopes of a series of which the rest of a range has gone back, so that what this process
/// keeps of them may be forgotten. The loader notes them, and takers forget.
pub(crate) type Rested = Mutex<HashSet<Box<str>>>;

impl KnownSeries {
    pub fn of(record: SeriesRecord) -> Result<KnownSeries, SeriesError> {
        let zone = record.newest().definition.zone()?;
        Ok(KnownSeries { record, zone, opened: Mutex::default() })
    }

    /// The period of this span, as this version writes its numbers. All scopes share one.
    pub fn open(&self, version: &SeriesVersion, span: Span) -> Arc<OpenPeriod> {
        let mut opened = lock(&self.opened);
        match &*opened {
            Some(open) if open.is_of(version, span) => Arc::clone(open),
            _ => {
                let open = Arc::new(OpenPeriod::new(&self.record.name, version, span));
                Arc::clone(opened.insert(open))
            }
        }
    }

    /// The version that writes the numbers at this time, and the span of its period.
    pub fn at(&self, unix_ms: i64) -> Result<(&SeriesVersion, Span), SeriesError> {
        let out_of_range = |_| SeriesError::Clock { unix_ms };
        let unit = |version: &SeriesVersion| version.definition.pattern().unit();
        let newest = self.record.newest();
        // A number with a year of a clock that was not set yet would be read for years.
        if unix_ms < FIRST_PLAUSIBLE_MS && unit(newest) != Unit::Ever {
            return Err(SeriesError::Clock { unix_ms });
        }
        let span = span_at(unit(newest), &self.zone, unix_ms).map_err(out_of_range)?;
        let version = self.record.version_on(span.date);
        if version.number == newest.number {
            return Ok((newest, span));
        }
        let span = span_at(unit(version), &self.zone, unix_ms).map_err(out_of_range)?;
        Ok((version, span))
    }

    /// Whether its numbers are counted in the transactions that use them.
    pub fn is_gapless(&self) -> bool {
        self.record.newest().definition.is_gapless()
    }

    /// The version that writes the numbers of this day, and the day's period.
    pub fn on(&self, day: Date) -> (&SeriesVersion, Period) {
        let version = self.record.version_on(day);
        (version, version.definition.pattern().unit().period(day))
    }
}

impl Known {
    pub fn new(store: Arc<dyn SeriesStore>) -> Known {
        Known { store, series: Mutex::default(), given: Given::default() }
    }

    /// The series of this name, which is read from the store where this process does not know it.
    pub fn get(&self, name: &str) -> Result<Arc<ArcSwap<KnownSeries>>, SeriesError> {
        if let Some(entry) = lock(&self.series).get(name).filter(|entry| !entry.is_stale) {
            return Ok(Arc::clone(&entry.known));
        }
        self.learn(self.store.record(name)?)
    }

    /// The series of this name as this process last knew it. It may have been changed since, which
    /// the next load finds out.
    pub fn last(&self, name: &str) -> Result<Arc<KnownSeries>, SeriesError> {
        let known = lock(&self.series).get(name).map(|entry| entry.known.load_full());
        known.map_or_else(|| Ok(self.get(name)?.load_full()), Ok)
    }

    /// Remembers what the store has just said.
    pub fn learn(&self, record: SeriesRecord) -> Result<Arc<ArcSwap<KnownSeries>>, SeriesError> {
        let name = record.name.clone();
        let known = Arc::new(KnownSeries::of(record)?);
        let mut series = lock(&self.series);
        let entry = series.entry(name).or_insert_with(|| Entry {
            known: Arc::new(ArcSwap::new(Arc::clone(&known))),
            is_stale: false,
            rested: Arc::default(),
        });
        entry.known.store(known);
        entry.is_stale = false;
        Ok(Arc::clone(&entry.known))
    }

    /// The scopes of this series that rest.
    pub fn rested(&self, name: &str) -> Arc<Rested> {
        lock(&self.series).get(name).map_or_else(Arc::default, |entry| Arc::clone(&entry.rested))
    }

    /// Makes the next call read this series again.
    pub fn forget(&self, name: &str) {
        if let Some(entry) = lock(&self.series).get_mut(name) {
            entry.is_stale = true;
        }
    }

    /// Reads a series again, because others have changed it.
    pub fn learn_again(&self, name: &str) -> Result<Arc<KnownSeries>, SeriesError> {
        Ok(self.learn(self.store.record(name)?)?.load_full())
    }

    /// Takes numbers of `counter` from the store. The caller has the version from here.
    pub fn take(&self, counter: &Counter<'_>, count: u64) -> Result<Taken, SeriesError> {
        let known = self.get(counter.series)?.load_full();
        let Some(version) = known.record.version(counter.version) else {
            return Err(SeriesError::Changed { series: counter.series.to_owned() });
        };
        let definition = &version.definition;
        let (first, largest) = (definition.first_number(), definition.pattern().largest());
        let (given, created) = (&self.given, known.record.created);
        let wanted = Wanted { count, first, largest, given, created };
        let taken = self.store.take(counter, wanted)?;
        self.given.note(counter, taken.first, taken.last, taken.created);
        Ok(taken)
    }
}
