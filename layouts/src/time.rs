//! Times as arguments.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Parses a time in RFC 3339, or a date, which begins at midnight UTC.
///
/// # Errors
/// The text is neither.
pub fn time(text: &str) -> Result<SystemTime, String> {
    let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    // `Date` also parses a longer text that begins with a date: such a text is a time.
    let time = match text.parse::<Date>() {
        Ok(date) if text.len() == "2026-01-01".len() => midnight(date),
        _ => text.parse::<Timestamp>(),
    };
    match time {
        Ok(time) => system_time(time).ok_or_else(|| {
            format!("{time} is a time that this system does not have: take a later one")
        }),
        Err(_) => {
            Err("a time is such as 2026-01-01T00:00:00Z, or a date such as 2026-01-01".to_owned())
        }
    }
}

/// `None` where the system has no such time, as Windows has none before the year 1601.
fn system_time(time: Timestamp) -> Option<SystemTime> {
    let distance = time.as_duration();
    let length = distance.unsigned_abs();
    if distance.is_negative() {
        SystemTime::UNIX_EPOCH.checked_sub(length)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(length)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::time;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_time_may_be_a_date() {
        let expected = Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(1_474_300_800));
        for text in ["2016-09-19T16:00:00Z", "2016-09-20T00:00:00+08:00", "2016-09-19 16:00:00Z"] {
            assert_eq!(time(text), expected, "{text}");
        }
        assert_eq!(
            time("2016-09-19"),
            Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(1_474_243_200))
        );
        for (text, ms) in [
            ("1969-12-31T23:59:59.999Z", -1),
            ("1601-01-01", -11_644_473_600_000_i64),
            ("1970-01-01", 0),
            ("9999-12-30T22:00:00Z", 253_402_207_200_000),
        ] {
            let since = time(text).unwrap().duration_since(SystemTime::UNIX_EPOCH);
            let found = match since {
                Ok(since) => i64::try_from(since.as_millis()).unwrap(),
                Err(before) => -i64::try_from(before.duration().as_millis()).unwrap(),
            };
            assert_eq!(found, ms, "{text}");
        }
        // Before the first time of Windows.
        assert_eq!(time("1600-01-01").is_ok(), cfg!(not(windows)));
        // Midnight of where?
        for wrong in ["", "2016-09-19T16:00:00", "yesterday", "1474300800"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
