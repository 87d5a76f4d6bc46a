//! [`UsedTicks`]: how many UIDs of which ticks were taken.

use std::collections::HashMap;

/// How many ticks are remembered, in at most 80 MB.
pub const MOST: usize = 3_500_000;

/// How many UIDs of each tick were taken. When it has `most` ticks, it forgets the earlier half of
/// them, and all ticks up to the last of these are *forgotten*: their UIDs may have been taken.
pub struct UsedTicks {
    used: HashMap<u64, u64>,
    /// The last tick that is forgotten.
    forgotten: Option<u64>,
    most: usize,
}

impl UsedTicks {
    /// No tick was used.
    pub fn new(most: usize) -> UsedTicks {
        UsedTicks { used: HashMap::new(), forgotten: None, most }
    }

    /// How many UIDs of `tick` were taken; `None` if it is forgotten.
    pub fn of(&self, tick: u64) -> Option<u64> {
        if self.forgotten.is_some_and(|last| tick <= last) {
            return None;
        }
        Some(self.used.get(&tick).copied().unwrap_or(0))
    }

    /// Notes that `used` UIDs of `tick`, which is not forgotten, were taken.
    pub fn note(&mut self, tick: u64, used: u64) {
        if self.used.len() >= self.most && !self.used.contains_key(&tick) {
            self.forget_half();
        }
        self.used.insert(tick, used);
    }

    /// Begins anew: for another worker id.
    pub fn reset(&mut self) {
        self.used.clear();
        self.forgotten = None;
    }

    /// How many ticks are remembered.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    fn forget_half(&mut self) {
        let mut ticks: Vec<u64> = self.used.keys().copied().collect();
        let middle = ticks.len() / 2;
        let Some((_, last, _)) = ticks.get_mut(..).map(|ticks| ticks.select_nth_unstable(middle))
        else {
            return;
        };
        let last = *last;
        self.used.retain(|tick, _| *tick > last);
        self.forgotten = self.forgotten.max(Some(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_half_is_remembered() {
        let mut ticks = UsedTicks::new(4);
        for tick in [5, 3, 9, 7] {
            ticks.note(tick, tick + 1);
        }
        assert_eq!([3, 4, 9].map(|tick| ticks.of(tick)), [Some(4), Some(0), Some(10)]);
        ticks.note(9, 12);
        assert_eq!(ticks.len(), 4);
        ticks.note(8, 1);
        assert_eq!(
            [3, 4, 5, 7, 8, 9, 10].map(|tick| ticks.of(tick)),
            [None, None, None, None, Some(1), Some(12), Some(0)]
        );
        assert_eq!(ticks.len(), 2);
    }
}
