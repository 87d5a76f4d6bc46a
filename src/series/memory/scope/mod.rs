//! [`Scope`], one scope of a series in this process, and the period in which it counts now.

mod batch;
mod open;

use std::time::SystemTime;

use arc_swap::ArcSwapOption;

use crate::engine::{SegmentFailure, TakeError};
use crate::segment::{PendingTag, SegmentError, SegmentGenerator};
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::number::SeriesNumber;
use crate::series::form::period::Period;
use crate::series::form::scope::{ScopeError, valid_scope};
use crate::series::memory::open_period::OpenPeriod;
use crate::series::memory::shared::Shared;
use crate::support::named::Named;
use crate::sync::{Arc, Mutex};

/// One scope of a series, in this process.
pub(crate) struct Scope {
    /// Empty if none was named.
    pub name: Box<str>,
    /// The period in which it counts. `None` before its first number, and while it rests.
    open: ArcSwapOption<OpenNumbers>,
    /// The period whose first numbers a take that does not wait has asked for.
    pending: Mutex<Option<PendingTag>>,
    /// Why the last take that had to open a period failed, if it did.
    failure: ArcSwapOption<SeriesError>,
}

impl Named for Scope {
    fn name(&self) -> &str {
        &self.name
    }
}

/// What a take does where no numbers are in memory.
#[derive(Clone, Copy)]
pub(crate) enum OnEmpty {
    /// It waits for them.
    Wait,
    /// It asks for them, and fails.
    Fail,
}

/// The open period, and the numbers of a scope in it.
pub(crate) struct OpenNumbers {
    open_period: Arc<OpenPeriod>,
    pub numbers: SegmentGenerator,
}

impl Scope {
    pub fn new(name: &str) -> Scope {
        Scope {
            name: name.into(),
            open: ArcSwapOption::empty(),
            pending: Mutex::default(),
            failure: ArcSwapOption::empty(),
        }
    }

    /// Whether there can be such a scope.
    pub fn check(&self) -> Result<(), ScopeError> {
        if self.name.is_empty() { Ok(()) } else { valid_scope(&self.name) }
    }

    /// Takes the next number.
    #[inline]
    pub fn take(
        &self,
        shared: &Shared,
        series: &str,
        on_empty: OnEmpty,
    ) -> Result<SeriesNumber, SeriesError> {
        loop {
            let now = shared.clock.now();
            let open = self.open.load();
            let taken = match &*open {
                Some(open) if open.open_period.contains(now) => {
                    self.take_from(open, shared, on_empty)
                }
                _ => {
                    drop(open);
                    let open = self.open_or_fail(on_empty, shared, series, shared.clock.now())?;
                    self.take_from(&open, shared, on_empty)
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
        open: &Arc<OpenNumbers>,
        shared: &Shared,
        on_empty: OnEmpty,
    ) -> Option<Result<SeriesNumber, SeriesError>> {
        let taken = match on_empty {
            OnEmpty::Wait => open.numbers.take(),
            OnEmpty::Fail => open.numbers.try_take(),
        };
        match taken {
            Ok(number) => Some(Ok(open.write(&self.name, number.get()))),
            Err(error) => self.failed(open, shared, error).map(Err),
        }
    }

    /// The error of a take from `open`. `None` where the period was given up, so that the take
    /// begins anew.
    #[cold]
    pub fn failed(
        &self,
        open: &Arc<OpenNumbers>,
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
                self.retire(open);
                None
            }
            SeriesError::Changed { series } => {
                shared.cache.mark_stale(&series);
                self.retire(open);
                None
            }
            // Others have closed or removed the series, and the next take begins anew. After any
            // other failure the same numbers go on.
            error @ (SeriesError::Closed { .. } | SeriesError::NoSuchSeries { .. }) => {
                self.retire(open);
                Some(error)
            }
            error => Some(error),
        }
    }

    /// Why takes fail now, if they do, with `open` as the period that is open.
    pub fn obstacle(
        &self,
        shared: &Shared,
        open: Option<&Arc<OpenNumbers>>,
    ) -> Option<SeriesError> {
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
    fn record_failure<T>(&self, result: Result<T, SeriesError>) -> Result<T, SeriesError> {
        if let Err(error) = &result
            && !matches!(error, SeriesError::Loading { .. } | SeriesError::Take(_))
        {
            self.failure.store(Some(Arc::new(error.clone())));
        }
        result
    }

    /// Gives a period up, so that the next take opens one anew.
    fn retire(&self, open: &Arc<OpenNumbers>) {
        self.forget(open);
        open.numbers.retire();
    }

    /// Gives up what is open, if this version writes it.
    pub fn retire_version(&self, version: u32) {
        if let Some(open) =
            self.open.load_full().filter(|open| open.open_period.is_of_version(version))
        {
            self.retire(&open);
        }
    }

    /// Takes the next number of this period from memory, for a `date` in it. `None` where
    /// [`open_for_period`](Scope::open_for_period) has none.
    pub fn take_in_period(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
        date: Date,
    ) -> Result<Option<SeriesNumber>, SeriesError> {
        while let Some(open) = self.open_for_period(shared, series, period)? {
            match open.numbers.take() {
                Ok(number) => return Ok(Some(open.write_on(date, &self.name, number.get()))),
                Err(error) => {
                    if let Some(error) = self.failed(&open, shared, error) {
                        return Err(error);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether it has no period whose numbers can be taken.
    pub fn is_idle(&self) -> bool {
        self.open.load().as_ref().is_none_or(|open| open.numbers.is_retired())
    }

    /// Forgets the numbers of a period that was given up.
    pub fn forget_retired(&self) {
        if let Some(open) = self.open.load_full().filter(|open| open.numbers.is_retired()) {
            self.forget(&open);
        }
    }

    /// Makes the next take open a period anew.
    fn forget(&self, open: &Arc<OpenNumbers>) {
        self.open.compare_and_swap(open, None);
    }

    /// The period that is open, if it is that of this time, and its texts are.
    pub fn find_open(&self, now: SystemTime) -> Option<Arc<OpenNumbers>> {
        self.open.load_full().filter(|open| open.open_period.contains(now))
    }

    /// The period that is open, if it is that of this time.
    pub fn find_counting(&self, now: SystemTime) -> Option<Arc<OpenNumbers>> {
        self.open.load_full().filter(|open| open.counts_at(now))
    }
}

impl OpenNumbers {
    pub fn period(&self) -> Period {
        self.open_period.period()
    }

    /// The largest number that fits the pattern.
    pub fn largest(&self) -> u64 {
        self.open_period.pattern.largest()
    }

    /// Whether the clock is in the period when it reads `now`.
    fn counts_at(&self, now: SystemTime) -> bool {
        self.open_period.counts_at(now)
    }

    /// The number as people see it.
    #[inline]
    pub fn write(&self, scope: &str, number: u64) -> SeriesNumber {
        self.open_period.write(scope, number)
    }

    /// The number as people see it on a date of the period.
    pub fn write_on(&self, date: Date, scope: &str, number: u64) -> SeriesNumber {
        self.open_period.write_on(date, scope, number)
    }
}
