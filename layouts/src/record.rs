//! An id that was taken apart.

use std::time::SystemTime;

use serde::Serialize;

use crate::format::Format;
use crate::id::Id;
use crate::preset::Preset;
use crate::times::Times;

/// An id and what it says, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// In decimal.
    pub uid: String,
    /// Empty for a negative number.
    pub base32: String,
    /// In UTC, RFC 3339; `None` after the year 9999.
    pub time: Option<String>,
    /// Likewise in a local time zone, where the caller knows one.
    pub local: Option<String>,
    /// `None` where its format has none.
    pub worker: Option<u64>,
    /// Its number within the tick.
    pub sequence: u64,
    /// Whether it has no bits above the fields.
    pub in_layout: bool,
    /// Whether its time has not come.
    pub in_future: bool,
    /// The names of the presets by which it was made in the past.
    pub plausible_presets: Vec<&'static str>,
}

impl Record {
    /// What `id` says by `format`, without a local time.
    #[must_use]
    pub fn of(id: Id, format: &Format, now: SystemTime) -> Record {
        let fields = id.fields(format);
        Record {
            uid: id.to_string(),
            base32: id.base32(),
            time: Times::of(format.time_layout()).rfc3339(fields.time),
            local: None,
            worker: fields.worker,
            sequence: fields.sequence,
            in_layout: id.is_of(format),
            in_future: fields.time > now,
            plausible_presets: plausible(id, now).map(Preset::name).collect(),
        }
    }
}

/// A reason to doubt that an id is of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// It is negative: its generator went on after the end of its time field.
    AfterTheEnd,
    /// It has bits above the fields.
    BitsAbove,
    /// Its time has not come: it was borrowed, or it is of another format.
    InFuture,
}

impl Doubt {
    /// The first reason to doubt that `id` is of `format`.
    #[must_use]
    pub fn of(id: Id, format: &Format, now: SystemTime) -> Option<Doubt> {
        if matches!(id, Id::Negative(_)) {
            Some(Doubt::AfterTheEnd)
        } else if !id.is_of(format) {
            Some(Doubt::BitsAbove)
        } else {
            (id.fields(format).time > now).then_some(Doubt::InFuture)
        }
    }
}

/// The presets by which `id` was made in the past.
pub fn plausible(id: Id, now: SystemTime) -> impl Iterator<Item = Preset> {
    Preset::ALL.into_iter().filter(move |preset| Doubt::of(id, &preset.format(), now).is_none())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    fn told(preset: Preset, text: &str) -> Record {
        let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_795_651_200);
        let format = preset.format();
        Record::of(Id::read(text, false, Some(&format)).unwrap(), &format, now)
    }

    #[test]
    fn ids_of_others_are_read_by_their_rules() {
        for (preset, id, time, worker, sequence) in [
            // Of Discord's documentation.
            (Preset::Discord, "175928847299117063", "2016-04-30T11:18:25.796Z", Some(32), 7),
            // 1000.23 s after the epoch, sequence 5, machine 777.
            (
                Preset::Sonyflake,
                &(100_023_u64 << 24 | 5 << 16 | 0x309).to_string(),
                "2014-09-01T00:16:40.230Z",
                Some(777),
                5,
            ),
            (
                Preset::Sonyflake2,
                &(100_023_u64 << 24 | 5 << 16 | 0x309).to_string(),
                "2025-01-01T00:16:40.230Z",
                Some(777),
                5,
            ),
            // 1,500,000,000,123 ms after 1970, and 16 bits.
            (
                Preset::Mastodon,
                &(1_500_000_000_123_u64 << 16 | 0xbeef).to_string(),
                "2017-07-14T02:40:00.123Z",
                None,
                0xbeef,
            ),
        ] {
            let record = told(preset, id);
            assert_eq!(record.time.as_deref(), Some(time), "{preset:?}");
            assert_eq!((record.worker, record.sequence), (worker, sequence), "{preset:?}");
            assert!(record.plausible_presets.contains(&preset.name()), "{record:?}");
        }
    }

    #[test]
    fn a_negative_number_is_after_the_end() {
        let id = ((1_i64 << 28) << 35 | 7 << 13 | 9).to_string();
        let record = told(Preset::UidGenerator, &id);
        assert_eq!(record.time.as_deref(), Some("2024-11-20T13:24:16Z"));
        assert_eq!((record.worker, record.sequence, record.in_layout), (Some(7), 9, false));
        assert!(record.plausible_presets.is_empty());
        assert!(Id::read(&id, false, None).is_err());
        assert!(Id::read(&id, false, Some(&Preset::Seata.format())).is_err());
    }
}
