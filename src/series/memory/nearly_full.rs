//! [`NearlyFull`], the counters that have given most of the numbers that fit, as far as this
//! process knows. It asks the store for nothing: it keeps what calls for numbers have found out.

use std::collections::{BTreeMap, HashMap};

use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::period::Period;
use crate::series::store::SeriesRecord;
use crate::series::store::counter::Counter;
use crate::sync::{Mutex, lock};

/// The most counters of a series that are kept.
const MOST: usize = 10_000;
/// From this part of the largest number on, it is tight.
const TIGHT_PERCENT: u64 = 80;

/// Whether it is time for a wider number where `last` of `largest` was given.
pub(crate) fn is_tight(last: u64, largest: u64) -> bool {
    percent(last, largest) >= TIGHT_PERCENT
}

/// The part of the whole, in percent, rounded down.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    saturated(u128::from(part) * 100 / u128::from(whole.max(1)))
}

pub(crate) fn saturated(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// One period of one scope that has given 80 % of the numbers that fit the pattern, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TightCounter {
    /// The scope; empty if none was named.
    pub scope: String,
    /// The period, which is not over.
    pub period: Period,
    /// The last number that the store has given, as far as this process knows. Processes may still
    /// have some of them in memory.
    pub last: u64,
    /// The largest number that fits the pattern.
    pub largest: u64,
    is_full: bool,
}

impl TightCounter {
    /// Whether a take has found that all numbers have been given.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The part of the largest number that the last one is, in percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.last, self.largest)
    }
}

/// What is known of each such counter, by the series.
#[derive(Debug, Default)]
pub(crate) struct NearlyFull(Mutex<HashMap<Box<str>, Counters>>);

/// The counters of a series, by their periods and scopes.
type Counters = BTreeMap<(Period, Box<str>), Last>;

/// The last number that the store has given.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    /// Whether a take has failed since, because there is none after it.
    is_full: bool,
}

impl NearlyFull {
    /// The store's last number of `counter` is `last`, where `largest` is the largest that fits.
    pub fn note(&self, counter: &Counter<'_>, last: u64, largest: u64) {
        let all = &mut *lock(&self.0);
        let is_tight = is_tight(last, largest);
        let last = Last { number: last, is_full: false };
        let Some(of_series) = all.get_mut(counter.series) else {
            if is_tight {
                let first = BTreeMap::from([((counter.period, counter.scope.into()), last)]);
                all.insert(counter.series.into(), first);
            }
            return;
        };
        let key = (counter.period, counter.scope.into());
        if !is_tight {
            of_series.remove(&key);
            return;
        }
        if of_series.len() >= MOST {
            // Older ones matter less.
            *of_series = of_series.split_off(&(counter.period, "".into()));
        }
        if of_series.len() < MOST || of_series.contains_key(&key) {
            of_series.insert(key, last);
        }
    }

    /// A take has failed, because all numbers have been given.
    pub fn note_full(&self, error: &SeriesError) {
        if let SeriesError::Full { series, scope, period, largest } = error
            && let Some(of_series) = lock(&self.0).get_mut(&**series)
        {
            let full = Last { number: *largest, is_full: true };
            if let Some(known) = of_series.get_mut(&(*period, scope.as_str().into())) {
                *known = full;
            }
        }
    }

    /// The store has taken back the numbers of `counter` after `last`.
    pub fn gave_back(&self, counter: &Counter<'_>, last: u64) {
        let key = (counter.period, counter.scope.into());
        if let Some(of_series) = lock(&self.0).get_mut(counter.series)
            && let Some(known) = of_series.get_mut(&key)
        {
            *known = Last { number: last, is_full: false };
        }
    }

    /// The counters of a series whose periods are neither closed nor over on the day `today`, the
    /// fullest first.
    pub fn of_series(&self, record: &SeriesRecord, today: Date) -> Vec<TightCounter> {
        let mut all = lock(&self.0);
        let Some(of_series) = all.get_mut(&*record.name) else { return Vec::new() };
        let next = |period: Period| period.next().and_then(Period::first);
        of_series.retain(|(period, _), _| next(*period).is_none_or(|next| next > today));
        let tight = of_series.iter().filter_map(|((period, scope), last)| {
            let Last { number: last, is_full } = *last;
            // The pattern may be wider since.
            let version = record.version_on(period.first().unwrap_or(Date::MIN));
            let largest = version.definition.pattern().largest();
            let is_open = is_tight(last, largest) && !record.is_closed(*period);
            let scope = scope.to_string();
            // Where it is, the pattern is as it was.
            let is_full = is_full && last >= largest;
            is_open.then_some(TightCounter { scope, period: *period, last, largest, is_full })
        });
        let mut tight: Vec<TightCounter> = tight.collect();
        drop(all);
        tight.sort_by(|one, other| {
            let key = |it: &TightCounter| (it.is_full(), it.percent());
            key(other).cmp(&key(one)).then_with(|| one.scope.cmp(&other.scope))
        });
        tight
    }
}
