//! [`Known`], what this process knows of the series of its store.

use std::collections::{HashMap, HashSet};

use arc_swap::ArcSwap;
use jiff::tz::TimeZone;

use super::nearly_full::{Tight, TightCounter};
use super::open_period::OpenPeriod;
use crate::clock::FIRST_PLAUSIBLE_MS;
use crate::segment::load::events::send_trouble;
use crate::segment::load::supplier::Fullness;
use crate::segment::load::trouble::Trouble;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::period::{Period, Unit};
use crate::series::form::span::{Span, span_at};
use crate::series::store::counter::{Counter, tag_label};
use crate::series::store::last_given::{Given, went_back};
use crate::series::store::{SeriesRecord, SeriesStore, SeriesVersion, Taken, Wanted};
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
    pub tight: Tight,
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
                let open = Arc::new(OpenPeriod::new(version, span));
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
        Known { store, series: Mutex::default(), given: Given::default(), tight: Tight::default() }
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

    /// The counters of a series that have given most of the numbers that fit, the fullest first.
    pub fn tight(&self, known: &KnownSeries, unix_ms: i64) -> Vec<TightCounter> {
        // A clock beyond all years has no present period.
        known
            .at(unix_ms)
            .map_or_else(|_| Vec::new(), |(_, span)| self.tight.of(&known.record, span.date))
    }

    /// How many counters of all series are tight, and how many of them are full.
    pub fn fullness(&self, unix_ms: i64) -> Fullness {
        let all: Vec<Arc<KnownSeries>> =
            lock(&self.series).values().map(|entry| entry.known.load_full()).collect();
        let tight = all.iter().flat_map(|known| self.tight(known, unix_ms));
        tight.fold(Fullness::default(), |mut sum, counter| {
            let count = if counter.is_full() { &mut sum.full } else { &mut sum.nearly_full };
            *count += 1;
            sum
        })
    }

    /// A call to the store without the loader has failed with this error.
    pub fn failed(&self, counter: &Counter<'_>, error: &SeriesError) {
        self.tight.refused(error);
        if let SeriesError::WentBack { .. } = error
            && self.given.is_news(counter)
        {
            let (tag, error) = (counter.tag(), error.clone().into_segment());
            send_trouble(&self.store.name(), tag_label(&tag), Trouble::WentBack, &error);
        }
    }

    /// Takes numbers of `counter` from the store. The caller has the version from here.
    pub fn take(&self, counter: &Counter<'_>, count: u64) -> Result<Taken, SeriesError> {
        let mut known = self.get(counter.series)?.load_full();
        for _ in 0..MOST_CHANGES {
            let record = &known.record;
            let version = record.version_on(counter.begins());
            if version.number != counter.version {
                break;
            }
            let definition = &version.definition;
            let (first, largest) = (definition.first_number(), definition.pattern().largest());
            let wanted = Wanted { count, first, largest, given: &self.given, record };
            match self.store.take(counter, wanted) {
                Ok(taken) => {
                    let Taken { first, last, created } = taken;
                    self.given
                        .note(counter, first, last, created)
                        .map_err(|before| went_back(self.store.name(), counter, first, before))?;
                    self.tight.note(counter, taken.last, largest);
                    return Ok(taken);
                }
                // A change may be one of other periods.
                Err(SeriesError::Changed { .. }) => {
                    let record = self.store.record(counter.series)?;
                    if record.version_on(counter.begins()).number != counter.version {
                        break;
                    }
                    known = self.learn(record)?.load_full();
                }
                Err(error) => {
                    if let SeriesError::Full { .. } = error {
                        self.tight.note(counter, largest, largest);
                    }
                    return Err(error);
                }
            }
        }
        Err(SeriesError::Changed { series: counter.series.to_owned() })
    }
}
