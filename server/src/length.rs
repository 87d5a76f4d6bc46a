//! Lengths of time as people write them.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

/// A century. Sums with it do not overflow.
const LONGEST: Duration = Duration::from_secs(36_500 * 24 * 3600);

/// 500ms, 10s, 2m, 1h30m, 1d. A day has 24 hours.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let days = SpanRelativeTo::days_are_24_hours();
    let span = text.parse::<Span>().and_then(|span| span.to_duration(days));
    match span.ok().and_then(|length| Duration::try_from(length).ok()) {
        Some(length) if length > LONGEST => Err("a length of time is at most 36500d".to_owned()),
        Some(length) if length.subsec_nanos().is_multiple_of(1_000_000) => Ok(length),
        _ => Err("a length of time is such as 500ms, 10s, 1h30m or 1d".to_owned()),
    }
}

/// Like [`length`], but not 0.
pub(crate) fn some_length(text: &str) -> Result<Duration, String> {
    match length(text)? {
        Duration::ZERO => Err("nothing can be done in no time: try 10s".to_owned()),
        length => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_a_unit() {
        assert_eq!(length("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(length("1h30m"), Ok(Duration::from_secs(5400)));
        for wrong in ["", "1", "s", "-1s", "1us", "40000d"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
        assert!(some_length("0s").is_err());
    }
}
