//! The row of a tag, in whichever store it is, and the numbers that it gives next.

use std::time::SystemTime;

use crate::segment::{Segment, TagRecord};

/// The largest number there is.
const LARGEST: i64 = i64::MAX;

/// What a table stores about a tag, in one way of counting for all tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub tag: String,
    /// The last number given. In Leaf's table one less than `max_id`, which is the next one.
    pub last: i64,
    pub step: i64,
    pub max_step: Option<i64>,
    /// The numbers that leave `remainder` when they are divided by this.
    pub delta: i64,
    pub remainder: i64,
    /// How often the row was changed, where the table counts that.
    pub version: i64,
    /// Tells the row from a later one of the same tag: see `Table::KEY`.
    pub key: i64,
}

/// How a table counts, and what its columns are called.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// The column with the end of the numbers given.
    pub end: &'static str,
    /// By how much that column exceeds the last number given: 0, or 1 where it holds the next
    /// number.
    pub ahead: i64,
    /// Whether a process may take whole steps only.
    pub whole_steps: bool,
}

/// The numbers that a row gives next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: u64,
    pub count: u64,
    /// The last number given, from then on. With a delta it need not be one of the numbers.
    pub last: i64,
}

impl Row {
    /// What is wrong with the values, as a sentence about the row.
    pub fn problem(&self, counting: Counting) -> Option<String> {
        let Row { step, delta, remainder, max_step, .. } = *self;
        let (name, end) = (counting.end, self.end(counting));
        if end < 0 {
            Some(format!("its {name} is {end}, and numbers begin at 1; set it to 1 or more"))
        } else if step < 1 {
            Some(format!("its step is {step}; set it to 1 or more"))
        } else if let Some(max_step) = max_step.filter(|&max_step| max_step < step) {
            Some(format!(
                "its max_step is {max_step}, less than its step; set it to {step} or more"
            ))
        } else if delta < 1 {
            Some(format!("its delta is {delta}; set it to 1 or more"))
        } else if !(0..delta).contains(&remainder) {
            Some(format!(
                "its remainder is {remainder} and its delta {delta}, and no number leaves that \
                 remainder; set it from 0 to {}",
                delta - 1
            ))
        } else {
            None
        }
    }

    /// What is wrong with a row that has not the key `known`, of the row that gave numbers before.
    pub fn check_key(&self, known: Option<i64>) -> Option<String> {
        known.filter(|known| *known != self.key).map(|_| {
            "it is not the one that this process took numbers from before, and may give them \
             again; put back the one that was there, or set its next number above all that were \
             given, and restart this program"
                .to_owned()
        })
    }

    /// The numbers that come next: about `count` of them, or a step. `None` if there are no more.
    /// The caller has checked that the row has no problem.
    pub fn next(&self, count: Option<u64>, counting: Counting) -> Option<Range> {
        // Wide enough for every product of numbers that a column holds.
        let (last, step, delta) =
            (i128::from(self.last), i128::from(self.step), i128::from(self.delta));
        let first = self.first_after();
        let limit = i128::from(LARGEST - counting.ahead);
        if first > limit {
            return None;
        }
        let most = self.max_step.map_or(u64::MAX, |most| u64::try_from(most).unwrap_or(1));
        let wished = match count {
            // Clamped below to what the column holds.
            Some(count) => first + (i128::from(count.clamp(1, most)) - 1) * delta - last,
            None => step,
        };
        let mut length = wished.max(first - last);
        if counting.whole_steps {
            length = (length + step - 1) / step * step;
        }
        let last = (last + length).min(limit);
        Some(Range {
            first: u64::try_from(first).ok()?,
            count: u64::try_from((last - first) / delta + 1).ok()?,
            last: i64::try_from(last).ok()?,
        })
    }

    /// The value of the column with the end.
    pub fn end(&self, counting: Counting) -> i64 {
        self.last.saturating_add(counting.ahead)
    }

    /// The next number, also where it is larger than the largest.
    pub fn next_number(&self) -> u64 {
        u64::try_from(self.first_after()).unwrap_or(u64::MAX)
    }

    /// The first number that has not been given. It may be larger than the largest.
    fn first_after(&self) -> i128 {
        let after = i128::from(self.last.max(0)) + 1;
        let delta = i128::from(self.delta.max(1));
        after + (i128::from(self.remainder) - after).rem_euclid(delta)
    }

    pub fn segment(&self, range: Range, counting: Counting) -> Segment {
        Segment {
            first: range.first,
            count: range.count,
            delta: self.delta.unsigned_abs(),
            row_start: self.end(counting).unsigned_abs(),
            row_end: range.last.saturating_add(counting.ahead).unsigned_abs(),
            database: 0,
            // The row counts raw numbers, of which one in `delta` is given.
            step: (self.step.unsigned_abs() / self.delta.unsigned_abs().max(1)).max(1),
            max_step: self.max_step.map(i64::unsigned_abs),
            largest: LARGEST.unsigned_abs(),
        }
    }

    /// The record of a tag, also of one whose values are wrong: operators want to see them all.
    pub fn record(&self, description: Option<String>, updated: Option<SystemTime>) -> TagRecord {
        let positive = |number: i64| u64::try_from(number).unwrap_or(0);
        TagRecord {
            next: self.next_number(),
            tag: self.tag.clone(),
            step: positive(self.step),
            max_step: self.max_step.map(positive),
            delta: positive(self.delta),
            description,
            updated,
        }
    }
}

/// One less than `number`, as a row holds it.
pub fn last_before(number: u64) -> i64 {
    i64::try_from(number.saturating_sub(1)).unwrap_or(i64::MAX)
}

/// The tags among `all` that somebody who wrote `tag` may have meant: a few, the most alike first.
pub fn similar_names(tag: &str, all: impl Iterator<Item = String>) -> Vec<String> {
    const MOST: usize = 3;
    const ENOUGH: f64 = 0.6;
    let wanted = tag.to_lowercase();
    let mut alike: Vec<_> = all
        .map(|tag| (strsim::normalized_damerau_levenshtein(&wanted, &tag.to_lowercase()), tag))
        .filter(|(likeness, _)| *likeness >= ENOUGH)
        .collect();
    alike.sort_by(|(one, tag), (other, next)| other.total_cmp(one).then(tag.cmp(next)));
    alike.into_iter().take(MOST).map(|(_, tag)| tag).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: Counting = Counting { end: "last_number", ahead: 0, whole_steps: false };
    const LEAF: Counting = Counting { end: "max_id", ahead: 1, whole_steps: false };
    const TINYID: Counting = Counting { end: "max_id", ahead: 0, whole_steps: true };

    fn row(last: i64, step: i64, delta: i64, remainder: i64) -> Row {
        let tag = "orders".to_owned();
        Row { tag, last, step, max_step: None, delta, remainder, version: 0, key: 0 }
    }

    fn next(row: &Row, count: Option<u64>, counting: Counting) -> Option<(u64, u64, i64)> {
        row.next(count, counting).map(|range| (range.first, range.count, range.last))
    }

    #[test]
    fn a_row_gives_its_step_or_as_many_as_are_wished() {
        let fresh = row(0, 1000, 1, 0);
        assert_eq!(next(&fresh, None, OWN), Some((1, 1000, 1000)));
        assert_eq!(next(&fresh, Some(7), OWN), Some((1, 7, 7)));
        assert_eq!(next(&fresh, Some(0), OWN), Some((1, 1, 1)));
        let bounded = Row { step: 2, max_step: Some(5), ..fresh };
        assert_eq!(next(&bounded, Some(u64::MAX), OWN), Some((1, 5, 5)));
    }

    #[test]
    fn a_row_whose_segments_may_not_have_its_step_is_refused() {
        let problem = |max_step| Row { max_step, ..row(0, 1000, 1, 0) }.problem(OWN);
        assert_eq!([None, Some(1000), Some(i64::MAX)].map(problem), [None, None, None]);
        for most in [i64::MIN, -1, 0, 999] {
            let problem = problem(Some(most)).unwrap();
            let said = format!("its max_step is {most}, less than its step; set it to 1000");
            assert!(problem.starts_with(&said), "{problem}");
        }
    }

    #[test]
    fn the_last_numbers_are_given_and_none_after() {
        let largest = 9_223_372_036_854_775_807;
        let near = row(i64::MAX - 3, 1000, 1, 0);
        for count in [None, Some(9), Some(u64::MAX)] {
            assert_eq!(next(&near, count, OWN), Some((largest - 2, 3, i64::MAX)), "{count:?}");
            assert_eq!(next(&near, count, TINYID), Some((largest - 2, 3, i64::MAX)), "{count:?}");
            // Leaf's column has the next number, so it has no room for the one after the last.
            assert_eq!(next(&near, count, LEAF), Some((largest - 2, 2, i64::MAX - 1)), "{count:?}");
        }
        assert_eq!(next(&row(i64::MAX, 1000, 1, 0), None, OWN), None);
        assert_eq!(next(&row(i64::MAX - 1, 1000, 1, 0), Some(1), LEAF), None);
        // No number is left that leaves the remainder.
        assert_eq!(next(&row(i64::MAX - 1, 1000, 2, 0), Some(1), TINYID), None);
    }

    #[test]
    fn zero_is_never_given() {
        // A row of Leaf's whose next number is 0.
        assert_eq!(next(&row(-1, 10, 1, 0), None, LEAF), Some((1, 9, 9)));
        assert_eq!(next(&row(-1, 1, 1, 0), None, LEAF), Some((1, 1, 1)));
        assert_eq!(next(&row(0, 1, 3, 0), None, TINYID), Some((3, 1, 3)));
    }

    #[test]
    fn tinyids_samples_are_what_its_readme_says() {
        assert_eq!(next(&row(1, 100_000, 1, 0), None, TINYID), Some((2, 100_000, 100_001)));
        assert_eq!(next(&row(1, 100_000, 2, 1), None, TINYID), Some((3, 50_000, 100_001)));
        // Whole steps, as tinyid's servers take the one before the end for theirs.
        assert_eq!(next(&row(1, 10, 2, 1), Some(6), TINYID), Some((3, 10, 21)));
    }

    proptest! {
        #[test]
        fn numbers_fit_the_row_and_all_are_covered(
            last in prop_oneof![0..100_i64, i64::MAX - 100..=i64::MAX],
            step in prop_oneof![1..20_i64, 1..=i64::MAX],
            delta in 1..12_i64,
            remainder in 0..12_i64,
            count in prop_oneof![Just(None), (0..40_u64).prop_map(Some), Just(Some(u64::MAX))],
            whole_steps: bool,
        ) {
            let row = row(last, step, delta, remainder % delta);
            let counting = Counting { whole_steps, ..OWN };
            let fits = |number: i128| number % i128::from(delta) == i128::from(row.remainder);
            let Some(range) = row.next(count, counting) else {
                prop_assert!((i128::from(last) + 1..=i128::from(i64::MAX)).all(|n| !fits(n)));
                return Ok(());
            };
            let (first, end) = (i128::from(range.first), i128::from(range.last));
            prop_assert!(range.count >= 1 && first > i128::from(last) && fits(first));
            prop_assert!((i128::from(last) + 1..first).all(|number| !fits(number)));
            let last_number = first + (i128::from(range.count) - 1) * i128::from(delta);
            prop_assert!(last_number <= end && last_number + i128::from(delta) > end);
            prop_assert!(range.last > last);
            if let Some(count) = count {
                prop_assert!(range.count >= count.max(1) || range.last == i64::MAX);
            }
            if whole_steps && range.last < i64::MAX {
                prop_assert_eq!((range.last - last) % step, 0);
            }
        }
    }

    #[test]
    fn a_few_tags_are_alike() {
        let all = ["orders", "Orders2", "invoices", "order", "users", "orders_old_and_long"];
        let similar = |tag| similar_names(tag, all.iter().map(ToString::to_string));
        assert_eq!(similar("ordrs"), ["orders", "Orders2", "order"]);
        assert_eq!(similar("ORDERS"), ["orders", "Orders2", "order"]);
        assert!(similar("zebra").is_empty());
    }
}
