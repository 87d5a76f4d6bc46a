//! Times, lengths and names in the form that people read.

use std::time::SystemTime;

use jiff::{Timestamp, Unit};

/// RFC 3339 in milliseconds. Empty for times after the year 9999.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).ok();
    let time = time.and_then(|time| time.round(Unit::Millisecond).ok());
    time.map(|time| time.to_string()).unwrap_or_default()
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

/// A duration, in the unit that fits its size.
pub(crate) fn length(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        ..0.01 => format!("{} ms", digits(seconds * 1000.0, 2)),
        ..0.1 => format!("{} ms", digits(seconds * 1000.0, 1)),
        ..1.0 => format!("{} ms", digits(seconds * 1000.0, 0)),
        ..10.0 => format!("{} s", digits(seconds, 1)),
        _ => whole_seconds(seconds),
    }
}

/// At most this many decimals.
fn digits(number: f64, most: usize) -> String {
    let text = format!("{number:.most$}");
    match text.split_once('.') {
        None => text,
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

pub(crate) fn whole_seconds(seconds: f64) -> String {
    // The duration is never negative, and a cast clamps what is too long.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let seconds = seconds as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", grouped(seconds / 86_400), seconds / 3600 % 24),
    }
}

/// The time of day with its date, in UTC.
pub(crate) fn clock(rfc3339: &str) -> String {
    let time = rfc3339.parse::<Timestamp>().ok();
    time.map_or_else(
        || rfc3339.to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// The time of day in UTC.
pub(crate) fn time_of_day(rfc3339: &str) -> String {
    let time = rfc3339.parse::<Timestamp>().ok();
    time.map_or_else(|| rfc3339.to_owned(), |time| time.strftime("%H:%M:%S").to_string())
}

/// A rate. Small ones have one decimal.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second > 0.0 && per_second < 10.0 {
        return format!("{per_second:.1}");
    }
    // Rates are never negative, and 15 digits are enough for people.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    grouped(per_second.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_for_people() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
        for (per_second, expected) in
            [(0.0, "0"), (0.26, "0.3"), (9.94, "9.9"), (10.4, "10"), (1234.5, "1,235")]
        {
            assert_eq!(rate(per_second), expected);
        }
        for (seconds, expected) in [
            (0.0, "0 s"),
            (0.001_23, "1.23 ms"),
            (0.0123, "12.3 ms"),
            (0.02, "20 ms"),
            (0.5, "500 ms"),
            (1.26, "1.3 s"),
            (59.9, "59 s"),
            (3599.0, "59 min 59 s"),
            (90_000.0, "1 d 1 h"),
        ] {
            assert_eq!(length(seconds), expected);
        }
        assert_eq!(whole_seconds(0.9), "0 s");
        assert_eq!(clock("2026-11-23T12:00:00.501Z"), "2026-11-23 12:00:00 UTC");
    }
}
