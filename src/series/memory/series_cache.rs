//! [`SeriesCache`], what this process knows of the series of its store.

use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use jiff::tz::TimeZone;

use super::nearly_full::{NearlyFull, TightCounter};
use super::open_period::OpenPeriod;
use crate::clock::{FIRST_PLAUSIBLE_MS, saturated, unix_ms};
use crate::segment::load::events::send_trouble;
use crate::segment::load::supplier::Fullness;
use crate::segment::load::trouble::Trouble;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::error::ParseError;
use crate::series::form::pattern::Parsed;
use crate::series::form::period::{Period, Unit};
use crate::series::form::period_bounds::{PeriodBounds, bounds_at};
use crate::series::store::counter::{Counter, tag_label};
use crate::series::store::last_numbers::{LastNumbers, went_back};
use crate::series::store::{SeriesRecord, SeriesStore, SeriesVersion, TakenRange, Wanted};
use crate::sync::{Arc, Mutex, lock};

/// How often a call learns a series again that others change meanwhile.
pub(crate) const MOST_RELOADS: u32 = 4;

/// A series as this process knows it.
#[derive(Debug)]
pub(crate) struct CachedSeries {
    pub record: SeriesRecord,
    pub zone: TimeZone,
    /// The last answer of [`open`](CachedSeries::open_period).
    opened: Mutex<Option<Arc<OpenPeriod>>>,
}

/// The store, and the series of it that this process has used.
#[derive(Debug)]
pub(crate) struct SeriesCache {
    pub store: Arc<dyn SeriesStore>,
    series: Mutex<HashMap<String, Entry>>,
    pub last_numbers: LastNumbers,
    pub nearly_full: NearlyFull,
}

/// A series that this process has used.
#[derive(Debug)]
struct Entry {
    cached: Arc<ArcSwap<CachedSeries>>,
    /// Whether others have changed it since it was read.
    is_stale: bool,
    idle_scopes: Arc<IdleScopes>,
}

/// The scopes of a series of which the rest of a range has gone back, so that what this process
/// keeps of them may be forgotten. The loader notes them, and takers forget.
pub(crate) type IdleScopes = Mutex<HashSet<Box<str>>>;

impl CachedSeries {
    pub fn of(record: SeriesRecord) -> Result<CachedSeries, SeriesError> {
        let zone = record.newest().definition.zone()?;
        Ok(CachedSeries { record, zone, opened: Mutex::default() })
    }

    /// The period of these bounds, as this version writes its numbers at this time. All scopes
    /// share one.
    pub fn open_period(
        &self,
        version: &SeriesVersion,
        bounds: PeriodBounds,
        now: SystemTime,
    ) -> Result<Arc<OpenPeriod>, SeriesError> {
        let mut opened = lock(&self.opened);
        match &*opened {
            Some(open) if open.is_of(version, bounds, now) => Ok(Arc::clone(open)),
            _ => {
                let shown = self.shown_at(version, bounds, saturated(unix_ms(now)))?;
                let open = Arc::new(OpenPeriod::new(version, bounds, shown));
                Ok(Arc::clone(opened.insert(open)))
            }
        }
    }

    /// What the texts of this version show at this time, which is in the `bounds` of the period in
    /// which it counts.
    fn shown_at(
        &self,
        version: &SeriesVersion,
        bounds: PeriodBounds,
        unix_ms: i64,
    ) -> Result<PeriodBounds, SeriesError> {
        let pattern = version.definition.pattern();
        if pattern.shown() == pattern.unit() {
            return Ok(bounds);
        }
        bounds_at(pattern.shown(), &self.zone, unix_ms).map_err(|_| SeriesError::Clock { unix_ms })
    }

    /// The version that writes the numbers at this time, and the bounds of its period.
    pub fn version_at(&self, unix_ms: i64) -> Result<(&SeriesVersion, PeriodBounds), SeriesError> {
        let out_of_range = |_| SeriesError::Clock { unix_ms };
        let unit = |version: &SeriesVersion| version.definition.pattern().unit();
        let newest = self.record.newest();
        // A number with a year of a clock that was not set yet would be read for years.
        let shows_date = newest.definition.pattern().shown() != Unit::Ever;
        if unix_ms < FIRST_PLAUSIBLE_MS && shows_date {
            return Err(SeriesError::Clock { unix_ms });
        }
        let bounds = bounds_at(unit(newest), &self.zone, unix_ms).map_err(out_of_range)?;
        let version = self.record.version_on(bounds.date);
        if version.number == newest.number {
            return Ok((newest, bounds));
        }
        let bounds = bounds_at(unit(version), &self.zone, unix_ms).map_err(out_of_range)?;
        Ok((version, bounds))
    }

    /// Reads a number of any version of this series: by the version that has written it.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        let mut error = None;
        for version in self.record.versions.iter().rev() {
            let end = self.record.end_of(version);
            match version.definition.pattern().parse(text) {
                Ok(parsed) => {
                    let begins = parsed.period().first().unwrap_or(Date::MIN);
                    if version.begins <= begins && end.is_none_or(|end| begins < end) {
                        return Ok(parsed);
                    }
                }
                Err(wrong) => drop(error.get_or_insert(wrong)),
            }
        }
        Err(error.unwrap_or_else(|| {
            ParseError::new(0, "no version of the series wrote numbers of this period so")
        }))
    }

    /// The text of a number of the period of a day, or of the present one at `now_ms`.
    pub fn format(
        &self,
        date: Option<Date>,
        now_ms: i64,
        scope: &str,
        number: u64,
    ) -> Result<String, SeriesError> {
        let (version, date) = if let Some(date) = date {
            (self.version_on(date).0, date)
        } else {
            let (version, bounds) = self.version_at(now_ms)?;
            (version, bounds.date)
        };
        let pattern = version.definition.pattern();
        // Scopes that the pattern does not show are kept beside the text, as for a take.
        let scope = (!scope.is_empty() && pattern.has_scope()).then_some(scope);
        Ok(pattern.format(date, scope, number)?)
    }

    /// Whether its numbers are counted in the transactions that use them.
    pub fn is_gapless(&self) -> bool {
        self.record.newest().definition.is_gapless()
    }

    /// The version that writes the numbers of this day, and the day's period.
    pub fn version_on(&self, day: Date) -> (&SeriesVersion, Period) {
        let version = self.record.version_on(day);
        (version, version.definition.pattern().unit().period(day))
    }
}

impl SeriesCache {
    pub fn new(store: Arc<dyn SeriesStore>) -> SeriesCache {
        SeriesCache {
            store,
            series: Mutex::default(),
            last_numbers: LastNumbers::default(),
            nearly_full: NearlyFull::default(),
        }
    }

    /// The series of this name, which is read from the store where this process does not know it.
    pub fn get(&self, name: &str) -> Result<Arc<ArcSwap<CachedSeries>>, SeriesError> {
        if let Some(entry) = lock(&self.series).get(name).filter(|entry| !entry.is_stale) {
            return Ok(Arc::clone(&entry.cached));
        }
        self.insert(self.store.record(name)?)
    }

    /// The series of this name as this process last knew it. It may have been changed since, which
    /// the next load finds out.
    pub fn last_read(&self, name: &str) -> Result<Arc<CachedSeries>, SeriesError> {
        let cached = lock(&self.series).get(name).map(|entry| entry.cached.load_full());
        cached.map_or_else(|| Ok(self.get(name)?.load_full()), Ok)
    }

    /// Remembers what the store has just said.
    pub fn insert(&self, record: SeriesRecord) -> Result<Arc<ArcSwap<CachedSeries>>, SeriesError> {
        let name = record.name.clone();
        let cached = Arc::new(CachedSeries::of(record)?);
        let mut series = lock(&self.series);
        let entry = series.entry(name).or_insert_with(|| Entry {
            cached: Arc::new(ArcSwap::new(Arc::clone(&cached))),
            is_stale: false,
            idle_scopes: Arc::default(),
        });
        entry.cached.store(cached);
        entry.is_stale = false;
        Ok(Arc::clone(&entry.cached))
    }

    /// The scopes of this series that rest.
    pub fn idle_scopes(&self, name: &str) -> Arc<IdleScopes> {
        lock(&self.series)
            .get(name)
            .map_or_else(Arc::default, |entry| Arc::clone(&entry.idle_scopes))
    }

    /// Makes the next call read this series again.
    pub fn mark_stale(&self, name: &str) {
        if let Some(entry) = lock(&self.series).get_mut(name) {
            entry.is_stale = true;
        }
    }

    /// Reads a series again, because others have changed it.
    pub fn reload(&self, name: &str) -> Result<Arc<CachedSeries>, SeriesError> {
        Ok(self.insert(self.store.record(name)?)?.load_full())
    }

    /// The counters of a series that have given most of the numbers that fit, the fullest first.
    pub fn nearly_full_counters(&self, cached: &CachedSeries, unix_ms: i64) -> Vec<TightCounter> {
        // A clock beyond all years has no present period.
        cached.version_at(unix_ms).map_or_else(
            |_| Vec::new(),
            |(_, bounds)| self.nearly_full.of_series(&cached.record, bounds.date),
        )
    }

    /// How many counters of all series are tight, and how many of them are full.
    pub fn fullness(&self, unix_ms: i64) -> Fullness {
        let all: Vec<Arc<CachedSeries>> =
            lock(&self.series).values().map(|entry| entry.cached.load_full()).collect();
        let tight = all.iter().flat_map(|cached| self.nearly_full_counters(cached, unix_ms));
        tight.fold(Fullness::default(), |mut sum, counter| {
            let count = if counter.is_full() { &mut sum.full } else { &mut sum.nearly_full };
            *count += 1;
            sum
        })
    }

    /// A call to the store without the loader has failed with this error.
    pub fn failed(&self, counter: &Counter<'_>, error: &SeriesError) {
        self.nearly_full.note_full(error);
        if let SeriesError::WentBack { .. } = error
            && self.last_numbers.is_news(counter)
        {
            let (tag, error) = (counter.tag(), error.clone().into_segment());
            send_trouble(&self.store.name(), tag_label(&tag), Trouble::WentBack, &error);
        }
    }

    /// Takes numbers of `counter` from the store. The caller has the version from here.
    pub fn take(&self, counter: &Counter<'_>, count: u64) -> Result<TakenRange, SeriesError> {
        let mut cached = self.get(counter.series)?.load_full();
        for _ in 0..MOST_RELOADS {
            let record = &cached.record;
            let version = record.version_on(counter.begins());
            if version.number != counter.version {
                break;
            }
            let definition = &version.definition;
            let (first, largest) = (definition.first_number(), definition.pattern().largest());
            let wanted = Wanted { count, first, largest, last_numbers: &self.last_numbers, record };
            match self.store.take(counter, wanted) {
                Ok(taken) => {
                    let TakenRange { first, last, created } = taken;
                    self.last_numbers
                        .note(counter, first, last, created)
                        .map_err(|before| went_back(self.store.name(), counter, first, before))?;
                    self.nearly_full.note(counter, taken.last, largest);
                    return Ok(taken);
                }
                // A change may be one of other periods.
                Err(SeriesError::Changed { .. }) => {
                    let record = self.store.record(counter.series)?;
                    if record.version_on(counter.begins()).number != counter.version {
                        break;
                    }
                    cached = self.insert(record)?.load_full();
                }
                Err(error) => {
                    if let SeriesError::Full { .. } = error {
                        self.nearly_full.note(counter, largest, largest);
                    }
                    return Err(error);
                }
            }
        }
        Err(SeriesError::Changed { series: counter.series.to_owned() })
    }
}
