//! [`Current`], the period in which a scope counts now.

use std::time::SystemTime;

use arc_swap::ArcSwapOption;

use super::counter::Counter;
use super::known::{Known, KnownSeries, MOST_CHANGES};
use super::number::SeriesNumber;
use super::open_period::OpenPeriod;
use super::period::Period;
use super::scope::{ScopeError, valid_scope};
use super::series_error::SeriesError;
use crate::by_name::Named;
use crate::clock::{Clock, saturated, unix_ms};
use crate::engine::{SegmentFailure, TakeError};
use crate::segment::{PendingTag, SegmentError, SegmentGenerator, Segments};
use crate::sync::{Arc, Mutex, lock};

/// What all series of a store share.
pub(crate) struct Shared {
    pub known: Arc<Known>,
    pub segments: Segments,
    pub clock: Arc<dyn Clock>,
}

impl Shared {
    /// Fails in a forked process, where the store's connections belong to the parent, and where
    /// another thread of it may have held a lock.
    pub fn check_fork(&self) -> Result<(), SeriesError> {
        if self.segments.is_forked() { Err(TakeError::Forked.into()) } else { Ok(()) }
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        in_ms(self.clock.now())
    }
}

/// Milliseconds since 1970.
fn in_ms(time: SystemTime) -> i64 {
    saturated(unix_ms(time))
}

/// One scope of a series, in this process.
pub(crate) struct Current {
    /// Empty if none was named.
    pub scope: Box<str>,
    /// The period in which it counts. `None` before its first number, and while it rests.
    open: ArcSwapOption<Open>,
    /// The period whose first numbers a take that does not wait has asked for.
    pending: Mutex<Option<PendingTag>>,
}

impl Named for Current {
    fn name(&self) -> &str {
        &self.scope
    }
}

/// What a take does where no numbers are in memory.
#[derive(Clone, Copy)]
pub(crate) enum IfNone {
    /// It waits for them.
    Wait,
    /// It asks for them, and fails.
    Fail,
}

/// The open period, and the numbers of a scope in it.
pub(crate) struct Open {
    open_period: Arc<OpenPeriod>,
    pub numbers: SegmentGenerator,
}

impl Current {
    pub fn new(scope: &str) -> Current {
        Current { scope: scope.into(), open: ArcSwapOption::empty(), pending: Mutex::default() }
    }

    /// Whether there can be such a scope.
    pub fn check(&self) -> Result<(), ScopeError> {
        if self.scope.is_empty() { Ok(()) } else { valid_scope(&self.scope) }
    }

    /// Takes the next number.
    #[inline]
    pub fn take(
        &self,
        shared: &Shared,
        series: &str,
        if_none: IfNone,
    ) -> Result<SeriesNumber, SeriesError> {
        loop {
            let now = shared.clock.now();
            let open = self.open.load();
            let taken = match &*open {
                Some(open) if open.open_period.contains(now) => {
                    self.take_from(open, shared, if_none)
                }
                _ => {
                    drop(open);
                    let open = self.open_by(if_none, shared, series, shared.clock.now())?;
                    self.take_from(&open, shared, if_none)
                }
            };
            // `None`: the period was given up meanwhile.
            if let Some(result) = taken {
                return result;
            }
        }
    }

    #[inline]
    fn take_from(
        &self,
        open: &Arc<Open>,
        shared: &Shared,
        if_none: IfNone,
    ) -> Option<Result<SeriesNumber, SeriesError>> {
        let taken = match if_none {
            IfNone::Wait => open.numbers.take(),
            IfNone::Fail => open.numbers.try_take(),
        };
        match taken {
            Ok(number) => Some(Ok(open.write(&self.scope, number.get()))),
            Err(error) => self.failed(open, shared, error).map(Err),
        }
    }

    /// Takes the next number, and as many after it as are in memory, `count` at most in all.
    pub fn take_many(
        &self,
        shared: &Shared,
        series: &str,
        count: usize,
        if_none: IfNone,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        loop {
            // One reading for all: the rest is taken from the same period, whatever the clock says.
            let now = shared.clock.now();
            let open = self.opened(now);
            let open = open.map_or_else(|| self.open_by(if_none, shared, series, now), Ok)?;
            if let Some(first) = self.take_from(&open, shared, if_none) {
                let mut numbers = vec![first?];
                while numbers.len() < count
                    && let Ok(number) = open.numbers.try_take()
                {
                    numbers.push(open.write(&self.scope, number.get()));
                }
                return Ok(numbers);
            }
        }
    }

    /// The error of a take from `open`. `None` where the period was given up, so that the take
    /// begins anew.
    #[cold]
    pub fn failed(
        &self,
        open: &Arc<Open>,
        shared: &Shared,
        error: TakeError,
    ) -> Option<SeriesError> {
        if error == TakeError::ShutDown && !shared.segments.has_ended() {
            self.forget(open);
            return None;
        }
        Some(match error {
            TakeError::SegmentExhausted { cause: SegmentFailure::RanOut } => SeriesError::Full {
                series: open.open_period.series.to_string(),
                scope: self.scope.to_string(),
                period: open.period(),
                largest: open.open_period.pattern.largest(),
            },
            TakeError::SegmentExhausted { cause: SegmentFailure::Failed } => {
                let failure = open.numbers.status().last_failure;
                let error = failure.map_or(SeriesError::Take(error), |failure| {
                    SeriesError::of_segment(SegmentError::clone(&failure))
                });
                // Others have closed or changed the series, and the next take begins anew. After
                // any other failure the same numbers go on.
                if let SeriesError::Closed { .. }
                | SeriesError::Changed { .. }
                | SeriesError::NoSuchSeries { .. } = error
                {
                    self.forget(open);
                    open.numbers.retire();
                }
                error
            }
            error => SeriesError::Take(error),
        })
    }

    /// Takes the next number of this period from memory. `None` if it is not the present one.
    pub fn take_of(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
    ) -> Result<Option<SeriesNumber>, SeriesError> {
        let now = shared.clock.now();
        let open = if let Some(open) = self.opened(now) {
            open
        } else {
            shared.check_fork()?;
            let known = shared.known.get(series)?.load_full();
            if known.is_gapless() || known.at(in_ms(now))?.1.period != period {
                return Ok(None);
            }
            self.open_at(shared, series, now)?
        };
        if open.period() != period {
            return Ok(None);
        }
        self.take_from(&open, shared, IfNone::Wait).transpose()
    }

    /// Whether it has no period whose numbers can be taken.
    pub fn rests(&self) -> bool {
        self.open.load().as_ref().is_none_or(|open| open.numbers.is_retired())
    }

    /// Forgets the numbers of a period that was given up.
    pub fn forget_retired(&self) {
        if let Some(open) = self.open.load_full().filter(|open| open.numbers.is_retired()) {
            self.forget(&open);
        }
    }

    /// Makes the next take open a period anew.
    fn forget(&self, open: &Arc<Open>) {
        self.open.compare_and_swap(open, None);
    }

    /// The period that is open, if it is that of this time.
    pub fn opened(&self, now: SystemTime) -> Option<Arc<Open>> {
        self.open.load_full().filter(|open| open.open_period.contains(now))
    }

    fn open_by(
        &self,
        if_none: IfNone,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<Open>, SeriesError> {
        match if_none {
            IfNone::Wait => self.open_at(shared, series, now),
            IfNone::Fail => self.try_open_at(shared, series, now),
        }
    }

    /// Opens the period of this time, and waits until its first numbers are loaded.
    #[cold]
    pub fn open_at(
        &self,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<Open>, SeriesError> {
        self.check()?;
        shared.check_fork()?;
        let mut known = shared.known.get(series)?.load_full();
        for _ in 0..MOST_CHANGES {
            let at = self.counter_at(&known, now)?;
            match shared.segments.tag(&at.tag) {
                Ok(numbers) => return Ok(self.publish(at, numbers)),
                Err(error) => match SeriesError::of_segment(error) {
                    SeriesError::Changed { .. } => known = shared.known.learn_again(series)?,
                    error => return Err(error),
                },
            }
        }
        Err(SeriesError::Changed { series: series.to_owned() })
    }

    /// Opens the period of this time if its first numbers are there. Otherwise they are asked for,
    /// and nothing is waited for.
    #[cold]
    fn try_open_at(
        &self,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<Open>, SeriesError> {
        self.check()?;
        shared.check_fork()?;
        let known = shared.known.last(series)?;
        let at = self.counter_at(&known, now)?;
        let mut pending = lock(&self.pending);
        if pending.as_ref().is_none_or(|known| known.is_retired() || known.tag() != at.tag) {
            *pending = shared.segments.begin_tag(&at.tag).map_err(SeriesError::of_segment)?;
        }
        // What is given up has its name until its numbers are back in the row.
        let in_use = pending.as_ref().filter(|pending| !pending.is_retired());
        let loaded = in_use.and_then(|pending| shared.segments.loaded(pending));
        let Some(loaded) = loaded else {
            let (series, period) = (series.to_owned(), at.open_period.period());
            return Err(SeriesError::Loading { series, period });
        };
        *pending = None;
        drop(pending);
        match loaded.map_err(SeriesError::of_segment) {
            Ok(numbers) => Ok(self.publish(at, numbers)),
            Err(SeriesError::Changed { series }) => {
                // The next load reads the series again.
                shared.known.forget(&series);
                Err(SeriesError::Changed { series })
            }
            Err(error) => Err(error),
        }
    }

    fn counter_at(&self, known: &KnownSeries, now: SystemTime) -> Result<CounterAt, SeriesError> {
        let (version, span) = known.at(in_ms(now))?;
        let name = &known.record.name;
        if version.definition.is_gapless() {
            return Err(SeriesError::Gapless { series: name.clone() });
        }
        version.definition.pattern().check_date(span.date)?;
        let (scope, number, period) = (&*self.scope, version.number, span.period);
        version.definition.pattern().check_scope_alone(scope)?;
        let tag = Counter { series: name, version: number, period, scope }.tag();
        Ok(CounterAt { open_period: known.open(version, span), tag })
    }

    /// Makes the opened period that of all takes, and gives the one before up.
    fn publish(&self, at: CounterAt, numbers: SegmentGenerator) -> Arc<Open> {
        let open = Arc::new(Open { open_period: at.open_period, numbers });
        let before = self.open.swap(Some(Arc::clone(&open)));
        if let Some(before) = before
            && before.numbers.tag() != open.numbers.tag()
        {
            before.numbers.retire();
        }
        open
    }
}

/// The counter of a time.
struct CounterAt {
    open_period: Arc<OpenPeriod>,
    tag: String,
}

impl Open {
    pub fn period(&self) -> Period {
        self.open_period.period()
    }

    /// The largest number that fits the pattern.
    pub fn largest(&self) -> u64 {
        self.open_period.pattern.largest()
    }

    /// The number as people see it.
    #[inline]
    pub fn write(&self, scope: &str, number: u64) -> SeriesNumber {
        self.open_period.write(scope, number)
    }
}
