//! The rules by which an id is lent, renewed, returned and lent again, whatever the store.
//!
//! Times are milliseconds since 1970 by the store's clock, but for `clock` and `clock_until`, which
//! are those of the holder's clock.

use std::time::{Duration, SystemTime};

use super::error::LendError;
use crate::clock::{nearest, saturated, unix_ms};

/// The widest pool has ids of 22 bits, as no Snowflake has more for its worker.
pub const MOST_BITS: u32 = 22;

/// The coarsest tick that is believed of a generator. A borrower's clock has to show so much more
/// than the last holder's, or both could use the same tick.
const TICK_MS: i64 = 1000;

/// The last loan of an id, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoanRow {
    pub id: u64,
    /// The hash of the holder's secret.
    pub holder: String,
    pub host: String,
    /// When the id was lent.
    pub since: i64,
    pub lease_ms: i64,
    pub rest_ms: i64,
    /// The lease's end.
    pub lease_until: i64,
    /// From when on the id may be lent again.
    pub rests_until: i64,
    /// What the holder's clock may show until the lease's end, or has shown until the return.
    pub clock_until: i64,
    pub is_returned: bool,
}

/// Who asks for an id.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The hash of the secret.
    pub holder: String,
    /// Whether the secret may have been used before.
    pub may_be_repeated: bool,
    pub host: String,
    pub lease_ms: i64,
    pub rest_ms: i64,
    /// What the borrower's clock shows.
    pub clock: i64,
}

impl LoanRow {
    /// A new loan of `id`.
    pub fn lent(id: u64, ask: &Ask, now: i64) -> LoanRow {
        let lease_until = now.saturating_add(ask.lease_ms);
        LoanRow {
            id,
            holder: ask.holder.clone(),
            host: ask.host.clone(),
            since: now,
            lease_ms: ask.lease_ms,
            rest_ms: ask.rest_ms,
            lease_until,
            rests_until: lease_until.saturating_add(ask.rest_ms),
            clock_until: ask.clock.saturating_add(ask.lease_ms),
            is_returned: false,
        }
    }

    pub fn is_held(&self, now: i64) -> bool {
        !self.is_returned && now < self.lease_until
    }

    /// Whether lease and rest are over.
    pub fn has_rested(&self, now: i64) -> bool {
        self.rests_until <= now
    }

    /// The loan after a renewal by the `holder`, whose clock shows `clock`. `None` where it is
    /// lost: another has it, or the lease has ended.
    pub fn renewed(&self, holder: &str, clock: i64, now: i64) -> Option<LoanRow> {
        if self.holder != holder || !self.is_held(now) {
            return None;
        }
        // A store whose clock went back keeps its word.
        let lease_until = self.lease_until.max(now.saturating_add(self.lease_ms));
        Some(LoanRow {
            lease_until,
            rests_until: lease_until.saturating_add(self.rest_ms),
            clock_until: self.clock_shown(clock, now).saturating_add(self.lease_ms),
            ..self.clone()
        })
    }

    /// The loan after its holder has asked for it once more. From then on, it has the longer one
    /// of both leases, and of both rests: the holder may go by either.
    pub fn repeated(&self, ask: &Ask, now: i64) -> Option<LoanRow> {
        let clock = self.clock_shown(ask.clock, now);
        let longer = LoanRow {
            lease_ms: self.lease_ms.max(ask.lease_ms),
            rest_ms: self.rest_ms.max(ask.rest_ms),
            ..self.clone()
        };
        longer.renewed(&ask.holder, clock, now)
    }

    /// The loan after its return by the `holder`, whose clock shows `clock`. `None` where another
    /// has the id. A second return changes nothing, nor does one after the lease's end.
    pub fn returned(&self, holder: &str, clock: i64, now: i64) -> Option<LoanRow> {
        if self.holder != holder {
            return None;
        }
        if !self.is_held(now) {
            return Some(self.clone());
        }
        Some(LoanRow {
            lease_until: now,
            rests_until: now.saturating_add(self.rest_ms),
            clock_until: self.clock_shown(clock, now),
            is_returned: true,
            ..self.clone()
        })
    }

    /// The most that the holder's clock has shown: what it shows now, or what it must have shown
    /// since it last told its time, if it went back in between.
    fn clock_shown(&self, clock: i64, now: i64) -> i64 {
        let told = self.clock_until.saturating_sub(self.lease_ms);
        let told_at = self.lease_until.saturating_sub(self.lease_ms);
        let elapsed = now.saturating_sub(told_at).clamp(0, self.lease_ms);
        clock.max(told.saturating_add(elapsed))
    }
}

/// What a borrower's clock has to show at least, if that of the last holder has shown this.
pub fn first_clock(clock_until: i64) -> i64 {
    clock_until.saturating_add(TICK_MS)
}

/// Why no id is lent to a borrower whose clock shows `clock`, if the last holder's may have shown
/// `clock_until`.
pub fn clock_behind(clock_until: i64, clock: i64) -> LendError {
    let by = first_clock(clock_until).saturating_sub(clock).max(1).unsigned_abs();
    LendError::ClockBehind { by: Duration::from_millis(by) }
}

/// The largest id of a pool.
pub fn last_id(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// `time` in milliseconds since 1970.
pub fn ms_of(time: SystemTime) -> i64 {
    saturated(unix_ms(time))
}

/// The time at `ms` milliseconds since 1970.
pub fn time_of(ms: i64) -> SystemTime {
    nearest(ms.into())
}

/// The length of a lease or a rest, which is 1 s to 30 days, in milliseconds.
pub fn length_ms(length: Duration) -> Option<i64> {
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);
    let ms = length.as_nanos().div_ceil(1_000_000);
    (SHORTEST..=LONGEST).contains(&length).then(|| i64::try_from(ms).ok()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(lease_ms: i64, rest_ms: i64, clock: i64) -> Ask {
        let (holder, host) = ("one".to_owned(), "test".to_owned());
        Ask { holder, may_be_repeated: true, host, lease_ms, rest_ms, clock }
    }

    /// After how long the holder asks again, how far its clock is set back before, and lease and
    /// rest where it repeats its first request.
    fn step() -> impl Strategy<Value = (i64, i64, Option<(i64, i64)>)> {
        let again = (1_000..100_000_i64, 1_000..100_000_i64);
        (0..100_000_i64, 0..50_000_i64, prop::option::of(again))
    }

    proptest! {
        /// Also where the store's clock was set back.
        #[test]
        fn a_renewal_makes_no_lease_shorter(
            lease in 1_000..100_000_i64,
            rest in 1_000..100_000_i64,
            now in -100_000..1_000_i64,
        ) {
            let loan = LoanRow::lent(1, &ask(lease, rest, 0), 0);
            let renewed = loan.renewed("one", now, now).unwrap();
            prop_assert!(renewed.lease_until >= loan.lease_until);
            prop_assert!(renewed.rests_until >= loan.rests_until);
        }

        /// Whatever a holder does, and however often its clock is set back, the next one is behind
        /// all that it has shown, and may still show.
        #[test]
        fn what_a_clock_shows_is_never_lent_again(
            lease in 1_000..100_000_i64,
            rest in 1_000..100_000_i64,
            offset in -1_000_000..1_000_000_i64,
            steps in prop::collection::vec(step(), 0..20),
            returns in any::<bool>(),
        ) {
            let (mut now, mut offset) = (0, offset);
            let mut loan = LoanRow::lent(1, &ask(lease, rest, now + offset), now);
            let mut shown = now + offset;
            for (pause, back, again) in steps {
                if now + pause >= loan.lease_until {
                    break;
                }
                now += pause;
                shown = shown.max(now + offset);
                offset -= back;
                let next = match again {
                    None => loan.renewed("one", now + offset, now),
                    Some((lease, rest)) => loan.repeated(&ask(lease, rest, now + offset), now),
                };
                let next = next.unwrap();
                prop_assert!(next.lease_until >= loan.lease_until);
                prop_assert!(next.rests_until >= loan.rests_until);
                loan = next;
                // To the end of the lease.
                prop_assert!(loan.clock_until >= shown.max(loan.lease_until + offset));
            }
            prop_assert_eq!(loan.renewed("two", now + offset, now), None);
            if returns {
                let returned = loan.returned("one", now + offset, now).unwrap();
                prop_assert!(returned.clock_until >= shown.max(now + offset));
                prop_assert!(returned.rests_until >= now + rest);
                prop_assert!(!returned.has_rested(now) && !returned.is_held(now));
                prop_assert_eq!(returned.renewed("one", now + offset, now), None);
            }
        }
    }
}
