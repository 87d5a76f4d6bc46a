//! Numbers, lengths of time and distances as people say them.

use std::time::{Duration, SystemTime};

pub(crate) use uidring_layouts::quantity::counted;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const TWO_DAYS: u64 = 2 * DAY;
const TEN_DAYS: u64 = 10 * DAY;
/// 365.2425 days.
const YEAR: u64 = 31_556_952;
const TWO_YEARS: u64 = 2 * YEAR;

/// A length of time, rounded down: "345 ms", "34 s", "5 h 41 min", "3 days 4 h", "34 years".
pub(crate) fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    let two = |unit: u64, name: &str, smaller: u64, smaller_name: &str| {
        let rest = seconds % unit / smaller;
        let rest = if rest == 0 { String::new() } else { format!(" {rest} {smaller_name}") };
        format!("{} {name}{rest}", seconds / unit)
    };
    match seconds {
        0 if length.as_millis() > 0 => format!("{} ms", length.as_millis()),
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => two(MINUTE, "min", 1, "s"),
        HOUR..DAY => two(HOUR, "h", MINUTE, "min"),
        DAY..TWO_DAYS => two(DAY, "day", HOUR, "h"),
        TWO_DAYS..TEN_DAYS => two(DAY, "days", HOUR, "h"),
        TEN_DAYS..TWO_YEARS => counted(seconds / DAY, "day"),
        _ => counted(seconds / YEAR, "year"),
    }
}

/// Like [`span`], but with tenths of a second below a minute, for what is measured.
pub(crate) fn measured(length: Duration) -> String {
    if length.as_millis() == 0 {
        "0 s".to_owned()
    } else if (1000..59_950).contains(&length.as_millis()) {
        format!("{:.1} s", length.as_secs_f64())
    } else {
        span(length)
    }
}

/// Like [`span`], but to the nearest second.
pub(crate) fn span_in_seconds(length: Duration) -> String {
    span(Duration::from_secs((length + Duration::from_millis(500)).as_secs()))
}

/// The distance of `time` from `now`: "in 3 h 20 min", "9 years ago", "just now".
pub(crate) fn distance(time: SystemTime, now: SystemTime) -> String {
    match (now.duration_since(time), time.duration_since(now)) {
        (Ok(since), _) if since.as_secs() == 0 => "just now".to_owned(),
        (Ok(since), _) => span(since) + " ago",
        (_, Ok(until)) => format!("in {}", span(until)),
        (Err(_), Err(_)) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{distance, measured, span, span_in_seconds};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_span_has_two_units_at_most() {
        let texts = [
            0,
            1,
            59,
            60,
            61,
            3599,
            3600,
            20_449,
            86_399,
            86_400,
            180_000,
            864_000,
            63_113_903,
            63_113_904,
            1 << 30,
        ]
        .map(|seconds| span(Duration::from_secs(seconds)));
        let expected = [
            "0 s",
            "1 s",
            "59 s",
            "1 min",
            "1 min 1 s",
            "59 min 59 s",
            "1 h",
            "5 h 40 min",
            "23 h 59 min",
            "1 day",
            "2 days 2 h",
            "10 days",
            "730 days",
            "2 years",
            "34 years",
        ];
        assert_eq!(texts, expected);
        assert_eq!(span(Duration::from_millis(345)), "345 ms");
        assert_eq!(span(Duration::MAX), "584,554,049,253 years");
    }

    #[test]
    fn what_is_measured_has_tenths() {
        let texts = [0, 7, 999, 1000, 2345, 59_949, 59_999, 20_448_899]
            .map(|ms| measured(Duration::from_millis(ms)));
        let expected = ["0 s", "7 ms", "999 ms", "1.0 s", "2.3 s", "59.9 s", "59 s", "5 h 40 min"];
        assert_eq!(texts, expected);
        assert_eq!(measured(Duration::from_nanos(5)), "0 s");
        assert_eq!(span_in_seconds(Duration::from_millis(59_999)), "1 min");
    }

    #[test]
    fn distances_look_both_ways() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert_eq!(distance(now, now), "just now");
        assert_eq!(distance(now - Duration::from_secs(10), now), "10 s ago");
        assert_eq!(distance(now + Duration::from_secs(10), now), "in 10 s");
    }
}
