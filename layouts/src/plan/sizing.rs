//! Which widths a service needs. Pure arithmetic, in whole numbers: a boundary is met or it is not.
//!
//! ```text
//!   rate ┤        ┌───────┐ peak
//!        │        │ borrows│                       lead: what has been borrowed, a day at most
//!        ├────────┼───────┼──── 2^sequence_bits a tick: what a node has without borrowing
//!        │────────┘       └──── rate: gives back
//!        └──────────────────── time
//! ```
//!
//! A node that takes more than its ticks hold borrows from the ticks to come, and gives back when
//! it takes less. So the average has to fit, and the peak only has to end before
//! [`Needs::max_lead`] is borrowed. Beyond that each further `max_lead` costs a worker id.

use std::time::Duration;

use serde::Serialize;
use uidring::Layout;

use crate::quantity::{Quantity, saturating_u64};

/// The bits of a UID without its sign.
pub const BITS: u32 = 63;
/// 365.2425 days.
pub const YEAR_MS: u128 = 31_556_952_000;
pub const DAY_MS: u128 = 86_400_000;
/// The fewest bits that a time field may have.
const LEAST_TIME_BITS: u32 = 20;
/// The time field begins at most a thousand years ago, so that the epoch is a date as people write
/// it. The times of Windows begin in 1601.
const MOST_AGE_MS: u128 = if cfg!(windows) { 400 } else { 1000 } * YEAR_MS;
/// Ticks that divide a second, the most usual ones first.
const TICKS_MS: [u64; 16] = [1000, 100, 10, 1, 500, 200, 250, 50, 20, 25, 125, 5, 2, 4, 8, 40];

/// The requirements of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The largest UID in use, which all new ones must exceed; 0 if there is none.
    pub above: u64,
    /// How long ago the epoch was that was asked for, in milliseconds.
    pub age_ms: u64,
    /// How long the layout must last from now.
    pub years: u64,
    /// How many processes have a generator of their own.
    pub nodes: u64,
    /// Of each node.
    pub restarts_per_day: Quantity,
    /// UIDs a second of each node, without peaks.
    pub rate: Quantity,
    /// Likewise, in a peak.
    pub peak: Quantity,
    /// How long a peak lasts.
    pub peak_for: Duration,
    /// How many peaks there are a day.
    pub peaks_per_day: Quantity,
    /// How far UIDs may run ahead of the clock.
    pub max_lead: Duration,
}

/// Widths and tick: a layout without its epoch. The widths may sum to more bits than a UID has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FieldWidths {
    /// The width of the time field.
    pub time_bits: u32,
    /// The width of the worker field.
    pub worker_bits: u32,
    /// The width of the sequence field.
    pub sequence_bits: u32,
    /// The length of a tick in milliseconds.
    pub tick_ms: u64,
}

impl FieldWidths {
    /// Those of `layout`.
    #[must_use]
    pub fn of(layout: &Layout) -> FieldWidths {
        FieldWidths {
            time_bits: layout.time_bits(),
            worker_bits: layout.worker_bits(),
            sequence_bits: layout.sequence_bits(),
            tick_ms: saturating_u64(layout.tick().as_millis()),
        }
    }

    /// Their sum.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.time_bits + self.worker_bits + self.sequence_bits
    }

    /// UIDs a second without borrowing, in thousandths, times the milliseconds of a tick.
    fn capacity(self) -> u128 {
        (1_u128 << self.sequence_bits) * 1_000_000
    }

    /// What a worker has without borrowing.
    #[must_use]
    pub fn uids_per_second(self) -> u64 {
        saturating_u64((1_u128 << self.sequence_bits) * 1000 / u128::from(self.tick_ms))
    }
}

/// How many bits distinguish `count` things.
fn bits_for(count: u128) -> u32 {
    count.max(1).next_power_of_two().trailing_zeros()
}

impl Needs {
    /// From the epoch to the end, with this time field.
    fn span_ms(&self, time_bits: u32, tick_ms: u64) -> u128 {
        self.age_ms(time_bits, tick_ms) + u128::from(self.years) * YEAR_MS
    }

    /// How long ago a time field of so many bits began. It is at most a day longer than needed,
    /// because days begin at midnight.
    fn age_ms(&self, time_bits: u32, tick_ms: u64) -> u128 {
        let above = self.least_age_ms(time_bits, tick_ms).map_or(0, |ms| ms + DAY_MS);
        above.max(self.age_ms.into())
    }

    /// How long ago it must have begun for the present tick to exceed the UIDs in use, if there are
    /// any.
    #[must_use]
    pub fn least_age_ms(&self, time_bits: u32, tick_ms: u64) -> Option<u128> {
        // The fields below the time have the other bits.
        let ticks = u128::from(self.above >> BITS.saturating_sub(time_bits)) + 1;
        (self.above > 0).then_some(ticks * u128::from(tick_ms))
    }

    /// The least time field with ticks of this length.
    #[must_use]
    pub fn time_bits(&self, tick_ms: u64) -> u32 {
        let fits = |bits: &u32| {
            self.span_ms(*bits, tick_ms) <= u128::from(tick_ms) << bits
                && self.is_young(*bits, tick_ms)
        };
        (LEAST_TIME_BITS..BITS + LEAST_TIME_BITS).find(fits).unwrap_or(BITS + LEAST_TIME_BITS)
    }

    /// `per_day` things a day from now to the end, rounded up.
    fn times(&self, per_day: u128) -> u128 {
        (per_day * u128::from(self.years) * YEAR_MS).div_ceil(1000 * DAY_MS)
    }

    /// Starts of all nodes, from now to the end: each has its first, and its restarts.
    #[must_use]
    pub fn starts(&self) -> u128 {
        let nodes = u128::from(self.nodes);
        nodes + self.times(nodes * u128::from(self.restarts_per_day.thousandths))
    }

    /// The average over peaks and the time between them, in thousandths times [`AVERAGE`].
    fn average_scaled(&self) -> u128 {
        let in_peaks = u128::from(self.peaks_per_day.thousandths) * self.peak_for.as_millis();
        u128::from(self.rate.thousandths) * AVERAGE.saturating_sub(in_peaks)
            + u128::from(self.peak.thousandths) * in_peaks
    }

    /// UIDs a second of each node, over peaks and the time between them, rounded up to thousandths.
    #[must_use]
    pub fn average(&self) -> Quantity {
        Quantity { thousandths: saturating_u64(self.average_scaled().div_ceil(AVERAGE)) }
    }

    /// The least sequence that holds the average.
    #[must_use]
    pub fn sequence_bits(&self, tick_ms: u64) -> u32 {
        bits_for((self.average_scaled() * u128::from(tick_ms)).div_ceil(1_000_000 * AVERAGE)).max(1)
    }

    /// The least sequence with which a peak borrows nothing.
    fn peak_sequence_bits(&self, tick_ms: u64) -> u32 {
        bits_for((u128::from(self.peak.thousandths) * u128::from(tick_ms)).div_ceil(1_000_000))
            .max(1)
    }

    /// By how much a node takes more in a peak than it has, in units of `FieldWidths::capacity`.
    fn peak_excess(&self, split: FieldWidths) -> u128 {
        (u128::from(self.peak.thousandths) * u128::from(split.tick_ms))
            .saturating_sub(split.capacity())
    }

    /// What a peak borrows.
    #[must_use]
    pub fn borrowed_ms(&self, split: FieldWidths) -> u128 {
        self.peak_for.as_millis() * self.peak_excess(split) / split.capacity()
    }

    /// How long a peak can last before `max_lead` is used up; `None` for ever.
    #[must_use]
    pub fn peak_lasts_ms(&self, split: FieldWidths) -> Option<u128> {
        (self.max_lead.as_millis() * split.capacity()).checked_div(self.peak_excess(split))
    }

    /// Worker ids that `LeadLimit::NewWorker` takes on in each peak of each node.
    #[must_use]
    pub fn ids_per_peak(&self, split: FieldWidths) -> u128 {
        self.borrowed_ms(split) / self.max_lead.as_millis().max(1)
    }

    /// Worker ids that peaks use up, from now to the end.
    #[must_use]
    pub fn ids_in_peaks(&self, split: FieldWidths) -> u128 {
        let peaks = u128::from(self.nodes) * self.times(self.peaks_per_day.thousandths.into());
        peaks.saturating_mul(self.ids_per_peak(split))
    }

    /// Worker ids that starts and peaks use up, from now to the end.
    #[must_use]
    pub fn ids(&self, split: FieldWidths) -> u128 {
        self.starts().saturating_add(self.ids_in_peaks(split))
    }

    /// The least worker field: its first id is 1.
    fn worker_bits(&self, split: FieldWidths) -> u32 {
        bits_for(self.ids(split).saturating_add(1).min(1 << 120)).max(1)
    }

    /// The fewest bits with this tick, which may be more than there are. Of two that are equal, the
    /// one that borrows less.
    #[must_use]
    pub fn least(&self, tick_ms: u64) -> FieldWidths {
        let average = self.sequence_bits(tick_ms);
        let time_bits = self.time_bits(tick_ms);
        let with = |sequence_bits| {
            let split = FieldWidths { time_bits, worker_bits: 0, sequence_bits, tick_ms };
            FieldWidths { worker_bits: self.worker_bits(split), ..split }
        };
        let splits = (average..=self.peak_sequence_bits(tick_ms).max(average)).rev().map(with);
        // The range is not empty.
        splits.min_by_key(|split| split.bits()).unwrap_or_else(|| with(average))
    }

    /// Whether a layout meets all needs.
    #[must_use]
    pub fn fits(&self, split: FieldWidths) -> bool {
        split.bits() <= BITS
            && self.time_fits(split)
            && self.ids_fit(split)
            && self.rate_fits(split)
    }

    /// Whether the time field is wide enough.
    #[must_use]
    pub fn time_fits(&self, split: FieldWidths) -> bool {
        self.time_bits(split.tick_ms) <= split.time_bits
            && self.is_young(split.time_bits, split.tick_ms)
    }

    /// Whether the epoch is a date as people write it.
    #[must_use]
    pub fn is_young(&self, time_bits: u32, tick_ms: u64) -> bool {
        self.age_ms(time_bits, tick_ms) <= MOST_AGE_MS
    }

    /// Whether the worker field is wide enough.
    #[must_use]
    pub fn ids_fit(&self, split: FieldWidths) -> bool {
        self.worker_bits(split) <= split.worker_bits
    }

    /// Whether the sequence is wide enough.
    #[must_use]
    pub fn rate_fits(&self, split: FieldWidths) -> bool {
        self.sequence_bits(split.tick_ms) <= split.sequence_bits
    }

    /// The fewest bits with any tick. One second is preferred among equals.
    #[must_use]
    pub fn smallest(&self) -> FieldWidths {
        let least = |tick_ms| self.least(tick_ms);
        TICKS_MS
            .into_iter()
            .map(least)
            .min_by_key(|split| split.bits())
            .unwrap_or_else(|| self.least(1000))
    }

    /// With ticks of one second if they fit, else with the tick that leaves the most room. `None`
    /// if nothing fits.
    #[must_use]
    pub fn recommended(&self) -> Option<FieldWidths> {
        if let Some(split) = self.with_widest_margins(1000) {
            return Some(split);
        }
        let splits = TICKS_MS.into_iter().filter_map(|tick_ms| self.with_widest_margins(tick_ms));
        // The first of equals is the more usual one.
        splits.rev().max_by(|a, b| self.smallest_margin(*a).total_cmp(&self.smallest_margin(*b)))
    }

    /// With this tick, if it fits. Each spare bit goes to the field with the least room.
    #[must_use]
    pub fn with_widest_margins(&self, tick_ms: u64) -> Option<FieldWidths> {
        let mut split = self.least(tick_ms);
        if !self.fits(split) {
            return None;
        }
        while split.bits() < BITS {
            let [mut time, worker, sequence] = self.margins(split);
            if !self.is_young(split.time_bits + 1, tick_ms) {
                time = f64::INFINITY;
            }
            if sequence <= worker && sequence <= time {
                split.sequence_bits += 1;
            } else if worker <= time {
                split.worker_bits += 1;
            } else {
                split.time_bits += 1;
            }
        }
        Some(split)
    }

    /// Capacity of each field divided by what is needed. The sequence must hold a peak.
    #[allow(clippy::cast_precision_loss)] // they are compared, not counted with
    fn margins(&self, split: FieldWidths) -> [f64; 3] {
        let times = |have: u128, need: u128| have as f64 / need.max(1) as f64;
        [
            times(
                (1 << split.time_bits) * u128::from(split.tick_ms),
                self.span_ms(split.time_bits, split.tick_ms),
            ),
            times((1 << split.worker_bits) - 1, self.ids(split)),
            times(split.capacity(), u128::from(self.peak.thousandths) * u128::from(split.tick_ms)),
        ]
    }

    fn smallest_margin(&self, split: FieldWidths) -> f64 {
        self.margins(split).into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// A day in milliseconds, times the thousandths in which peaks a day are counted.
const AVERAGE: u128 = DAY_MS * 1000;

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{BITS, FieldWidths, Needs, YEAR_MS, bits_for};
    use crate::quantity::Quantity;
    use std::time::Duration;

    const HOUR: Duration = Duration::from_secs(3600);

    fn modest() -> Needs {
        Needs {
            above: 0,
            age_ms: 0,
            years: 10,
            nodes: 4,
            restarts_per_day: Quantity::whole(1),
            rate: Quantity::whole(1000),
            peak: Quantity::whole(1000),
            peak_for: HOUR,
            peaks_per_day: Quantity::whole(1),
            max_lead: HOUR * 24,
        }
    }

    fn split(time_bits: u32, worker_bits: u32, sequence_bits: u32) -> FieldWidths {
        FieldWidths { time_bits, worker_bits, sequence_bits, tick_ms: 1000 }
    }

    #[test]
    fn so_many_things_need_so_many_bits() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 1 << 40, (1 << 40) + 1].map(bits_for),
            [0, 0, 1, 2, 2, 3, 40, 41]
        );
    }

    #[test]
    fn time_ends_exactly() {
        let ms = |bits: u32| (1_u64 << bits) * 1000;
        let with_span = |span_ms: u64| {
            let age_ms = span_ms - u64::try_from(YEAR_MS).unwrap();
            Needs { age_ms, years: 1, ..modest() }
        };
        assert_eq!(with_span(ms(30)).time_bits(1000), 30);
        assert_eq!(with_span(ms(30) + 1).time_bits(1000), 31);
        assert_eq!(with_span(ms(30)).time_bits(500), 31);
        assert!(with_span(ms(30)).time_fits(split(30, 20, 13)));
        assert!(!with_span(ms(30) + 1).time_fits(split(30, 20, 13)));
        // Narrower than a layout may be.
        assert_eq!(Needs { years: 0, ..modest() }.time_bits(1000), 20);
    }

    #[test]
    fn worker_ids_end_exactly() {
        let with_starts = |nodes| Needs { nodes, restarts_per_day: Quantity::whole(0), ..modest() };
        assert_eq!(with_starts(1023).starts(), 1023);
        // Of 1024 ids one is never given: the first is 1.
        assert!(with_starts(1023).ids_fit(split(30, 10, 13)));
        assert!(!with_starts(1024).ids_fit(split(30, 10, 13)));
        assert_eq!(with_starts(1023).least(1000).worker_bits, 10);
        assert_eq!(with_starts(1024).least(1000).worker_bits, 11);

        // 4 first starts and 4 a day for 3652.425 days.
        assert_eq!(modest().starts(), 4 + 14_610);
        // A start every other day.
        assert_eq!(
            Needs { restarts_per_day: Quantity { thousandths: 500 }, ..modest() }.starts(),
            4 + 7_305
        );
    }

    #[test]
    fn the_average_fits_exactly() {
        let at = |thousandths| Needs {
            rate: Quantity { thousandths },
            peak: Quantity { thousandths },
            ..modest()
        };
        assert_eq!(at(8_192_000).sequence_bits(1000), 13);
        assert_eq!(at(8_192_001).sequence_bits(1000), 14);
        assert_eq!(at(8_192_000).sequence_bits(500), 12);
        assert_eq!(at(1).sequence_bits(1000), 1);
        assert!(
            at(8_192_000).rate_fits(split(30, 20, 13))
                && !at(8_192_001).rate_fits(split(30, 20, 13))
        );
    }

    #[test]
    fn peaks_count_for_as_long_as_they_last() {
        // A 24th of the time at 25,000 and the rest at 1,000.
        let needs = Needs { peak: Quantity::whole(25_000), ..modest() };
        assert_eq!(needs.average(), Quantity::whole(2000));
        assert_eq!(needs.sequence_bits(1000), 11);
        assert_eq!(
            Needs { peaks_per_day: Quantity { thousandths: 500 }, ..needs }.average(),
            Quantity::whole(1500)
        );
        assert_eq!(
            Needs { peaks_per_day: Quantity::whole(24), ..needs }.average(),
            Quantity::whole(25_000)
        );
    }

    #[test]
    fn a_peak_borrows_until_the_lead_is_used_up() {
        let needs = Needs { peak: Quantity::whole(8192 * 3), ..modest() };
        // Three ticks' UIDs in each tick: those of two are borrowed.
        assert_eq!(needs.borrowed_ms(split(30, 20, 13)), 2 * 3_600_000);
        assert_eq!(needs.peak_lasts_ms(split(30, 20, 13)), Some(12 * 3_600_000));
        assert_eq!(needs.ids_per_peak(split(30, 20, 13)), 0);
        assert_eq!(needs.peak_lasts_ms(split(30, 20, 15)), None);
        assert_eq!(needs.borrowed_ms(split(30, 20, 15)), 0);

        let long = Needs { peak_for: HOUR * 12, ..needs };
        assert_eq!(long.ids_per_peak(split(30, 20, 13)), 1);
        assert_eq!(
            Needs { peak_for: Duration::from_millis(12 * 3_600_000 - 1), ..needs }
                .ids_per_peak(split(30, 20, 13)),
            0
        );
        // On each of 4 nodes on each of 3,653 days.
        assert_eq!(long.ids_in_peaks(split(30, 20, 13)), 4 * 3653);
        assert_eq!(long.ids(split(30, 20, 13)), long.starts() + 4 * 3653);
    }

    #[test]
    fn the_least_is_the_least() {
        let needs = modest();
        let least = needs.least(1000);
        assert!(needs.fits(least));
        assert_eq!(least, split(29, 14, 10));
        for less in [split(28, 14, 10), split(29, 13, 10), split(29, 14, 9)] {
            assert!(!needs.fits(less), "{less:?}");
        }
    }

    #[test]
    fn what_is_recommended_fits_and_uses_all_bits() {
        for rate in [1, 1000, 100_000] {
            for years in [1, 10, 30, 100] {
                for restarts in [0, 1, 50] {
                    let needs = Needs {
                        rate: Quantity::whole(rate),
                        peak: Quantity::whole(rate * 5),
                        years,
                        restarts_per_day: Quantity::whole(restarts),
                        ..modest()
                    };
                    match needs.recommended() {
                        Some(split) => assert!(
                            needs.fits(split) && split.bits() == BITS,
                            "{needs:?} {split:?}"
                        ),
                        None => assert!(needs.smallest().bits() > BITS, "{needs:?}"),
                    }
                }
            }
        }
    }
}
