//! [`LastNumbers`], the last numbers that this process was given.

use std::collections::HashMap;
use std::mem;

use super::counter::Counter;
use crate::series::error::SeriesError;
use crate::sync::{Mutex, lock};

/// How many counters are remembered at least: those that were used last.
const FEW: usize = 50_000;

/// The last number that this process was given of each counter, so that it notices where a row goes
/// back. It outlives the numbers in memory: a counter is remembered after its scope rests, after
/// its period ends, and after an outage. Only other counters push it out.
#[derive(Debug, Default)]
pub(crate) struct LastNumbers(Mutex<Counters>);

#[derive(Debug, Default)]
struct Counters {
    recent: HashMap<Box<str>, Last>,
    /// Those that were not used since `recent` was begun.
    older: HashMap<Box<str>, Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    /// The first number of a run up to that one, all of which this process was given.
    run_first: u64,
    /// The last number of the run before it; 0 where none is known.
    before: u64,
    /// How many numbers that run has at least.
    before_count: u32,
    /// Whether this process was given others below those two runs.
    has_more: bool,
    /// When the row was written, which tells it from another one of the same counter.
    created: i64,
    /// Whether the row gave numbers again. It is unknown which of its numbers others have, so this
    /// process takes no more of them.
    went_back: bool,
    /// Whether operators were told so.
    is_told: bool,
}

impl LastNumbers {
    /// Fails where a row whose last number is `last` would give numbers that this process has had,
    /// or has once done so, and where the row is another one, which may have given them to others.
    /// `row` is its last number, and when it was written; `None` where there is none. It is locked,
    /// so that no other call of this process changes it meanwhile.
    pub fn check(
        &self,
        counter: &Counter<'_>,
        row: Option<(u64, i64)>,
        store: impl Fn() -> String,
    ) -> Result<(), SeriesError> {
        let counters = &mut *lock(&self.0);
        let Some(known) = counters.get(&name(counter)) else { return Ok(()) };
        let last = row.map_or(0, |(last, _)| last);
        // A row that is gone, or another one, may be replaced by the one that was there.
        let is_same = row.is_some_and(|(_, created)| created == known.created);
        let is_unused = known.number == 0 && !known.has_more;
        if !known.went_back && known.number <= last && (is_same || is_unused) {
            return Ok(());
        }
        known.went_back |= is_same;
        Err(went_back(store(), counter, last.saturating_add(1), known.number))
    }

    /// This process was given the numbers of `counter` from `first` to `last`, of a row that was
    /// written at `created`. Fails with the last number that it was given before, if it has had
    /// some of them already: it takes no more of that counter.
    pub fn note(
        &self,
        counter: &Counter<'_>,
        first: u64,
        last: u64,
        created: i64,
    ) -> Result<(), u64> {
        let counters = &mut *lock(&self.0);
        let name = name(counter);
        if let Some(known) = counters.get(&name) {
            if first <= known.number && last >= known.run_first {
                known.went_back = true;
                return Err(known.number);
            }
            (known.created, known.is_told) = (created, false);
            known.note(first, last);
            return Ok(());
        }
        let new = Last {
            number: last,
            run_first: first,
            before: 0,
            before_count: 0,
            has_more: false,
            created,
            went_back: false,
            is_told: false,
        };
        counters.insert(name, new);
        Ok(())
    }

    /// Whether operators have yet to be told that the row of `counter` went back. They are then.
    pub fn is_news(&self, counter: &Counter<'_>) -> bool {
        let counters = &mut *lock(&self.0);
        let known = counters.get(&name(counter));
        known.is_none_or(|known| !mem::replace(&mut known.is_told, true))
    }

    /// The numbers from `first` to `last` are about to go back to the row, and nobody has had them.
    /// Returns when the row was written to which they may go; `None` where they may not, as where
    /// this process was given others later: if those went back meanwhile, these would take the row
    /// below the last number that is known here.
    pub fn give_back(&self, counter: &Counter<'_>, first: u64, last: u64) -> Option<i64> {
        let counters = &mut *lock(&self.0);
        let is_last = |known: &&mut Last| !known.went_back && known.number == last;
        let known = counters.get(&name(counter)).filter(is_last)?;
        known.give_back(first);
        Some(known.created)
    }
}

/// The row of `counter` gave `first` after `last`.
pub(crate) fn went_back(
    store: String,
    counter: &Counter<'_>,
    first: u64,
    last: u64,
) -> SeriesError {
    let Counter { series, scope, period, .. } = *counter;
    let (series, scope) = (series.to_owned(), scope.to_owned());
    SeriesError::WentBack { store, series, scope, period, first, last }
}

impl Last {
    fn note(&mut self, first: u64, last: u64) {
        if first > self.number {
            if first > self.number + 1 {
                self.note_before(self.run_first, self.number);
                self.run_first = first;
            }
            self.number = last;
        } else if last + 1 == self.run_first {
            // The call that took these was made before others, and is noted after them.
            self.run_first = first;
        } else {
            self.note_before(first, last);
        }
    }

    /// These lie below the run.
    fn note_before(&mut self, first: u64, last: u64) {
        self.has_more |= self.before > 0;
        if last > self.before {
            self.before = last;
            self.before_count = u32::try_from(last - first + 1).unwrap_or(u32::MAX);
        }
    }

    /// Forgets the numbers from `first` on. What came before the run may have been others', who
    /// give it back themselves.
    fn give_back(&mut self, first: u64) {
        if first <= self.run_first {
            let before = mem::take(&mut self.before);
            let before_first = (before + 1).saturating_sub(self.before_count.into());
            let is_left = before > 0 && before_first < first;
            (self.run_first, self.number) = if is_left { (before_first, before) } else { (1, 0) };
        }
        self.number = self.number.min(first - 1);
    }
}

impl Counters {
    /// What is known of a counter, which is one of the recent ones from now on.
    fn get(&mut self, name: &str) -> Option<&mut Last> {
        if let Some((name, last)) = self.older.remove_entry(name) {
            self.insert(name, last);
        }
        self.recent.get_mut(name)
    }

    fn insert(&mut self, name: Box<str>, last: Last) {
        if self.recent.len() >= FEW {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(name, last);
    }
}

/// The name of the row. All versions of a series share one.
fn name(counter: &Counter<'_>) -> Box<str> {
    let Counter { series, period, scope, .. } = counter;
    format!("{series}/{period}/{scope}").into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_back_to_a_row_that_went_back_or_is_another() {
        let period = "2026".parse().unwrap();
        let counter = Counter { series: "orders", version: 1, period, scope: "" };
        let given = LastNumbers::default();
        assert_eq!(given.give_back(&counter, 1, 100), None);
        given.note(&counter, 1, 100, 7).unwrap();
        let check = |row| given.check(&counter, row, String::new).is_ok();
        assert!(check(Some((100, 7))) && check(Some((200, 7))));
        // Made anew, and at the same number by chance; and then the one that was there is put back.
        assert!(!check(Some((100, 8))) && !check(Some((200, 8))) && !check(None));
        assert!(check(Some((100, 7))));
        assert_eq!(given.give_back(&counter, 60, 100), Some(7));
        assert!(!check(Some((40, 7))));
        assert!(!check(Some((100, 7))));
        assert_eq!(given.give_back(&counter, 50, 59), None);
    }

    /// Two processes whose ranges alternate, and both give back what they have not used.
    #[test]
    fn a_row_may_go_back_to_the_last_number_that_this_process_keeps() {
        let given = LastNumbers::default();
        let period = "2026".parse().unwrap();
        let counter = Counter { series: "orders", version: 1, period, scope: "" };
        let least = || lock(&given.0).get(&name(&counter)).unwrap().number;
        given.note(&counter, 1, 10, 7).unwrap();
        given.note(&counter, 11, 20, 7).unwrap();
        // From 21 to 30 they are another's.
        given.note(&counter, 31, 40, 7).unwrap();
        assert_eq!(least(), 40);
        // Not the last ones: the row would go below what is known.
        assert_eq!(given.give_back(&counter, 15, 20), None);
        assert_eq!(least(), 40);
        assert_eq!(given.give_back(&counter, 31, 40), Some(7));
        assert_eq!(least(), 20);
        given.note(&counter, 21, 30, 7).unwrap();
        assert_eq!(given.give_back(&counter, 25, 30), Some(7));
        assert_eq!(least(), 24);
        // Noted late, because its thread was stopped.
        given.note(&counter, 41, 50, 7).unwrap();
        given.note(&counter, 31, 35, 7).unwrap();
        assert_eq!(given.give_back(&counter, 41, 50), Some(7));
        assert_eq!(least(), 35);
    }

    /// Also where several ranges went back, and another row is no unused one.
    #[test]
    fn what_this_process_keeps_is_known_below_each_gap() {
        let period = "2026".parse().unwrap();
        let counter = Counter { series: "orders", version: 1, period, scope: "" };
        let after = |noted: [(u64, u64); 3], gone: [(u64, u64); 2]| {
            let given = LastNumbers::default();
            for (first, last) in noted {
                given.note(&counter, first, last, 7).unwrap();
            }
            for (first, last) in gone {
                assert_eq!(given.give_back(&counter, first, last), Some(7));
            }
            given
        };
        for (noted, gone, kept) in [
            ([(1, 10), (11, 20), (31, 40)], [(31, 40), (15, 20)], 14),
            // One that was noted late.
            ([(1, 10), (41, 50), (31, 40)], [(41, 50), (31, 40)], 10),
            ([(41, 50), (51, 60), (1, 10)], [(51, 60), (41, 50)], 10),
        ] {
            for row in [None, Some((kept - 1, 7)), Some((99, 8))] {
                let given = after(noted, gone);
                assert!(given.check(&counter, row, String::new).is_err(), "{noted:?} {row:?}");
            }
            after(noted, gone).check(&counter, Some((kept, 7)), String::new).unwrap();
        }
        // Of a third run it is known that there was one.
        let given = after([(2, 10), (21, 30), (41, 50)], [(41, 50), (21, 30)]);
        given.check(&counter, Some((99, 8)), String::new).unwrap_err();
        // Nothing is kept.
        let given = after([(1, 10), (11, 20), (21, 30)], [(21, 30), (1, 20)]);
        given.check(&counter, Some((0, 8)), String::new).unwrap();
    }

    /// A row that gives numbers again without having been found lower.
    #[test]
    fn numbers_that_this_process_has_had_are_not_taken_again() {
        let given = LastNumbers::default();
        let period = "2026".parse().unwrap();
        let counter = Counter { series: "orders", version: 1, period, scope: "" };
        given.note(&counter, 1, 10, 7).unwrap();
        given.note(&counter, 11, 20, 7).unwrap();
        // Noted late.
        given.note(&counter, 31, 40, 7).unwrap();
        given.note(&counter, 21, 30, 7).unwrap();
        assert_eq!(given.note(&counter, 40, 45, 7), Err(40));
        assert!(given.check(&counter, Some((45, 7)), String::new).is_err());
        assert_eq!(given.give_back(&counter, 40, 45), None);
        let other = Counter { scope: "shop-7", ..counter };
        given.note(&other, 40, 45, 7).unwrap();
        assert!(given.check(&other, Some((45, 7)), String::new).is_ok());
    }

    #[test]
    fn counters_that_were_used_last_are_remembered_and_no_more_than_twice_as_many() {
        let given = LastNumbers::default();
        let scopes: Vec<String> = (0..5 * FEW).map(|scope| format!("shop-{scope}")).collect();
        let counter = |scope| Counter {
            series: "orders",
            version: 1,
            period: "2026".parse().unwrap(),
            scope,
        };
        let is_known = |scope| given.check(&counter(scope), Some((4, 7)), String::new).is_err();
        for (turn, scope) in (0..).zip(&scopes) {
            given.note(&counter(scope), 1, 5, 7).unwrap();
            // One that is used all the time.
            given.note(&counter("always"), 5 * turn + 1, 5 * turn + 5, 7).unwrap();
        }
        assert!(is_known("always"));
        assert!(scopes.iter().rev().take(FEW - 2).all(|scope| is_known(scope)));
        let counters = lock(&given.0);
        let kept = counters.recent.len() + counters.older.len();
        assert!(kept <= 2 * FEW, "{kept} counters");
    }
}
