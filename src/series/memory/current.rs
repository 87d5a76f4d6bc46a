//! [`Current`], the period in which a scope counts now.

use std::time::SystemTime;

use arc_swap::ArcSwapOption;

use super::open_period::OpenPeriod;
use super::series_cache::{Known, KnownSeries, MOST_CHANGES};
use crate::clock::{Clock, saturated, unix_ms};
use crate::engine::{SegmentFailure, TakeError};
use crate::segment::{Batch, PendingTag, SegmentError, SegmentGenerator, Segments};
use crate::series::error::SeriesError;
use crate::series::form::number::SeriesNumber;
use crate::series::form::period::Period;
use crate::series::form::scope::{ScopeError, valid_scope};
use crate::series::store::counter::Counter;
use crate::support::named::Named;
use crate::sync::{Arc, Mutex, lock};

/// What all series of a store share.
pub(crate) struct Shared {
    pub known: Arc<Known>,
    pub segments: Segments,
    pub clock: Arc<dyn Clock>,
}

impl Shared {
    /// Fails after a shutdown, and as [`check_fork`](Shared::check_fork) does.
    pub fn check_end(&self) -> Result<(), SeriesError> {
        self.check_fork()?;
        if self.segments.has_ended() { Err(TakeError::ShutDown.into()) } else { Ok(()) }
    }

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
    /// Why the last take that had to open a period failed, if it did.
    failure: ArcSwapOption<SeriesError>,
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
        Current {
            scope: scope.into(),
            open: ArcSwapOption::empty(),
            pending: Mutex::default(),
            failure: ArcSwapOption::empty(),
        }
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

    /// Takes the next number, and as many after it as are in memory, `count` at most in all. It
    /// never waits.
    pub fn try_take_many(
        &self,
        shared: &Shared,
        series: &str,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        loop {
            // One reading for all: the rest is taken from the same period, whatever the clock says.
            let now = shared.clock.now();
            let open = self.opened(now);
            let open = open.map_or_else(|| self.try_open_at(shared, series, now), Ok)?;
            if let Some(first) = self.take_from(&open, shared, IfNone::Fail) {
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

    /// Takes what `count` takes of one thread would get, at least one, all of one period.
    pub fn take_many(
        &self,
        shared: &Shared,
        series: &str,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        // One reading for all.
        let now = shared.clock.now();
        self.collect(shared, count.max(1), || {
            let open = self.opened(now);
            open.map_or_else(|| self.open_at(shared, series, now), Ok).map(Some)
        })
    }

    /// Takes what `count` takes of this period would get, or fewer where its numbers are not those
    /// of the present period, and are not in memory.
    pub fn take_many_of(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        self.collect(shared, count, || self.open_of(shared, series, period))
    }

    /// Takes `count` numbers of what `find` opens, which is asked again where that is given up. If
    /// it finds nothing, or the period has no more, there are fewer. After another error the
    /// numbers go back.
    fn collect(
        &self,
        shared: &Shared,
        count: usize,
        find: impl Fn() -> Result<Option<Arc<Open>>, SeriesError>,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        let mut taken: Vec<(Arc<Open>, Batch)> = Vec::new();
        let mut left = count;
        let end = loop {
            let open = match find() {
                Ok(Some(open)) => open,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let (batch, failure) = open.numbers.batch(left as u64);
            left -= batch.len();
            let failure = failure.map(|error| self.failed(&open, shared, error));
            taken.push((open, batch));
            match failure {
                None => break Ok(()),
                Some(Some(error)) => break Err(error),
                Some(None) => {}
            }
        };
        match end {
            Err(SeriesError::Full { .. } | SeriesError::Closed { .. }) if left < count => {}
            Err(error) => {
                taken.into_iter().rev().for_each(|(_, batch)| batch.give_back());
                return Err(error);
            }
            Ok(()) => {}
        }
        let numbers = taken.iter().flat_map(|(open, batch)| {
            batch.numbers().map(|number| open.write(&self.scope, number))
        });
        Ok(numbers.collect())
    }

    /// The numbers of this period, if they are in memory, or are those of the present period.
    fn open_of(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
    ) -> Result<Option<Arc<Open>>, SeriesError> {
        let now = shared.clock.now();
        // A period that has just ended may have numbers, too.
        let open = self.open.load_full().filter(|open| open.period() == period);
        if let Some(open) = open.filter(|open| open.contains(now) || !open.numbers.is_retired()) {
            return Ok(Some(open));
        }
        shared.check_fork()?;
        let known = shared.known.get(series)?.load_full();
        let (version, span) = known.at(in_ms(now))?;
        let pattern = version.definition.pattern();
        // A scope that is a date is meant, where the date stands beside it.
        let is_its = span.period == period && pattern.check_scope_alone(&self.scope).is_ok();
        if known.is_gapless() || !is_its {
            return Ok(None);
        }
        self.open_at(shared, series, now).map(Some)
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
        let TakeError::SegmentExhausted { cause } = error else {
            return Some(SeriesError::Take(error));
        };
        if let SegmentFailure::Loading | SegmentFailure::Unreachable = cause {
            return Some(SeriesError::Take(error));
        }
        // Without one, a load has succeeded since.
        let failure = open.numbers.status().last_failure?;
        match SeriesError::of_segment(SegmentError::clone(&failure)) {
            // Others may have widened the pattern, or given numbers back: the take asks the store.
            SeriesError::Full { .. } => {
                self.leave(open);
                None
            }
            SeriesError::Changed { series } => {
                shared.known.forget(&series);
                self.leave(open);
                None
            }
            // Others have closed or removed the series, and the next take begins anew. After any
            // other failure the same numbers go on.
            error @ (SeriesError::Closed { .. } | SeriesError::NoSuchSeries { .. }) => {
                self.leave(open);
                Some(error)
            }
            error => Some(error),
        }
    }

    /// Why takes fail now, if they do, with `open` as the period that is open.
    pub fn obstacle(&self, shared: &Shared, open: Option<&Arc<Open>>) -> Option<SeriesError> {
        if let Err(ended) = shared.check_end() {
            return Some(ended);
        }
        let Some(open) = open else {
            return self.failure.load().as_deref().cloned();
        };
        let status = open.numbers.status();
        let error = status.obstacle?;
        Some(status.last_failure.map_or(SeriesError::Take(error), |failure| {
            SeriesError::of_segment(SegmentError::clone(&failure))
        }))
    }

    /// Keeps why a period could not be opened, for the status.
    fn noted<T>(&self, result: Result<T, SeriesError>) -> Result<T, SeriesError> {
        if let Err(error) = &result
            && !matches!(error, SeriesError::Loading { .. } | SeriesError::Take(_))
        {
            self.failure.store(Some(Arc::new(error.clone())));
        }
        result
    }

    /// Gives a period up, so that the next take opens one anew.
    fn leave(&self, open: &Arc<Open>) {
        self.forget(open);
        open.numbers.retire();
    }

    /// Gives up what is open, if this version writes it.
    pub fn leave_version(&self, version: u32) {
        if let Some(open) = self.open.load_full().filter(|open| open.open_period.is_by(version)) {
            self.leave(&open);
        }
    }

    /// Takes the next number of this period from memory. `None` where
    /// [`open_of`](Current::open_of) has none.
    pub fn take_of(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
    ) -> Result<Option<SeriesNumber>, SeriesError> {
        while let Some(open) = self.open_of(shared, series, period)? {
            if let Some(taken) = self.take_from(&open, shared, IfNone::Wait) {
                return taken.map(Some);
            }
        }
        Ok(None)
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
            IfNone::Fail => self.noted(self.try_open_at(shared, series, now)),
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
        self.noted(self.open_now(shared, series, now))
    }

    fn open_now(
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
                    error => {
                        shared.known.tight.refused(&error);
                        return Err(error);
                    }
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
            *pending =
                shared.segments.begin_first_load(&at.tag).map_err(SeriesError::of_segment)?;
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
            Err(error) => {
                shared.known.tight.refused(&error);
                Err(error)
            }
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
        self.failure.store(None);
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

    /// Whether the clock is in the period when it reads `now`.
    fn contains(&self, now: SystemTime) -> bool {
        self.open_period.contains(now)
    }

    /// The number as people see it.
    #[inline]
    pub fn write(&self, scope: &str, number: u64) -> SeriesNumber {
        self.open_period.write(scope, number)
    }
}
