//! The arithmetic of a layout, in the operators that the languages have in common.

use std::time::SystemTime;

use uidring::{FieldOrder, Layout};

/// The digits of base32.
pub(super) const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How many digits a UID has.
const LENGTH: u32 = 13;

/// Where the fields of a UID are.
pub(super) struct Fields {
    time_shift: u32,
    worker_shift: u32,
    time_mask: Option<u64>,
    worker_mask: Option<u64>,
    sequence_mask: u64,
    pub(super) tick_ms: u64,
    /// When the first tick begins and the last one ends, in milliseconds since 1970.
    pub(super) epoch_ms: i128,
    pub(super) end_ms: i128,
    max_tick: u64,
    /// What follows the tick in the last UID of a tick. In the first, all of it is 0.
    last: u64,
}

impl Fields {
    pub(super) fn of(layout: &Layout) -> Fields {
        let [time, worker, sequence] =
            [layout.time_bits(), layout.worker_bits(), layout.sequence_bits()];
        let is_time_first = layout.order() == FieldOrder::TimeFirst;
        let (time_shift, worker_shift) =
            if is_time_first { (worker + sequence, sequence) } else { (sequence, time + sequence) };
        let tick_ms = u64::try_from(layout.tick().as_millis()).unwrap_or(1);
        let epoch_ms = unix_ms(layout.epoch());
        Fields {
            time_shift,
            worker_shift,
            // Bits above the field on top are read as part of it.
            time_mask: (!is_time_first).then_some(layout.max_tick()),
            worker_mask: is_time_first.then_some(layout.max_worker()),
            sequence_mask: layout.max_sequence(),
            tick_ms,
            epoch_ms,
            end_ms: epoch_ms + (i128::from(layout.max_tick()) + 1) * i128::from(tick_ms),
            max_tick: layout.max_tick(),
            last: layout.max_worker() << worker_shift | layout.max_sequence(),
        }
    }

    /// The tick of the UID `id`.
    pub(super) fn tick(&self, id: &str) -> String {
        field(id, self.time_shift, self.time_mask)
    }

    pub(super) fn worker(&self, id: &str) -> String {
        field(id, self.worker_shift, self.worker_mask)
    }

    pub(super) fn sequence(&self, id: &str) -> String {
        field(id, 0, Some(self.sequence_mask))
    }

    /// The first UID of the tick in which `ms` lies, milliseconds since 1970; `quotient` divides
    /// whole numbers.
    pub(super) fn first(&self, ms: &str, quotient: &str) -> String {
        let Fields { epoch_ms, end_ms, tick_ms, .. } = self;
        format!(
            "CASE WHEN {ms} < {} THEN 1 WHEN {ms} < {end_ms} THEN {} END",
            epoch_ms + i128::from(*tick_ms),
            self.uid(ms, quotient, 0)
        )
    }

    /// The last UID of the tick in which `ms` lies.
    pub(super) fn last(&self, ms: &str, quotient: &str) -> String {
        let Fields { epoch_ms, end_ms, .. } = self;
        let largest = self.max_tick << self.time_shift | self.last;
        format!(
            "CASE WHEN {ms} >= {end_ms} THEN {largest} WHEN {ms} >= {epoch_ms} THEN {} END",
            self.uid(ms, quotient, self.last)
        )
    }

    fn uid(&self, ms: &str, quotient: &str, rest: u64) -> String {
        let Fields { epoch_ms, tick_ms, time_shift, .. } = self;
        let since = minus(ms, *epoch_ms);
        let tick = if *tick_ms == 1 { since } else { format!("({since} {quotient} {tick_ms})") };
        let tick = format!("{tick} << {time_shift}");
        if rest == 0 { tick } else { format!("({tick} | {rest})") }
    }
}

/// What a text of a UID matches, in upper case, with the digits replaced that are read as others.
pub(super) const PATTERN: &str = "[0-7][0-9A-HJKMNP-TV-Z]{12}";

/// The number of these digits; `value` is that of the digit at a place, which is counted from 1.
pub(super) fn number(value: impl Fn(u32) -> String) -> String {
    let parts: Vec<_> =
        (1..=LENGTH).map(|at| format!("({} << {})", value(at), 5 * (LENGTH - at))).collect();
    format!("NULLIF({}, 0)", parts.join(" | "))
}

/// The digits of the UID `id`, the first one first; `digit` is the one of a number from 0 to 31.
pub(super) fn digits(id: &str, digit: impl Fn(&str) -> String) -> Vec<String> {
    (0..LENGTH).rev().map(|at| digit(&field(id, 5 * at, Some(31)))).collect()
}

/// `ms - to`, whatever the sign.
fn minus(ms: &str, to: i128) -> String {
    match to {
        0 => ms.to_owned(),
        1.. => format!("({ms} - {to})"),
        _ => format!("({ms} + {})", -to),
    }
}

fn field(id: &str, shift: u32, mask: Option<u64>) -> String {
    let shifted = if shift == 0 { id.to_owned() } else { format!("({id} >> {shift})") };
    match mask {
        Some(mask) => format!("({shifted} & {mask})"),
        None => shifted,
    }
}

fn unix_ms(time: SystemTime) -> i128 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_millis()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_millis()).unwrap_or(i128::MAX),
    }
}
