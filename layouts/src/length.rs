//! Parsers of durations.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

/// A century. It is short enough for sums and products not to overflow.
const LONGEST: Duration = Duration::from_secs(36_500 * 24 * 3600);

/// Parses 500ms, 10s, 2m, 1.5h, 1h30m, 1d. A day has 24 hours.
///
/// # Errors
/// The text is not a length of whole milliseconds, or it is longer than a century.
pub fn length(text: &str) -> Result<Duration, String> {
    match signed(text).map(Duration::try_from) {
        Some(Ok(length)) if length > LONGEST => Err(too_long()),
        Some(Ok(length)) if length.subsec_nanos().is_multiple_of(1_000_000) => Ok(length),
        Some(Err(_)) => Err("a length of time cannot be negative".to_owned()),
        // With smaller numbers, it would be valid.
        None if signed(&with_ones(text)).is_some() => Err(too_long()),
        _ => Err("a length of time is such as 500ms, 10s, 1h30m or 1d".to_owned()),
    }
}

/// Parses as [`length`] does, but refuses 0.
///
/// # Errors
/// As [`length`], or the length is 0.
pub fn some_length(text: &str) -> Result<Duration, String> {
    match length(text)? {
        Duration::ZERO => Err("nothing happens in no time: try 10s".to_owned()),
        length => Ok(length),
    }
}

/// Parses how long a lease lasts.
///
/// # Errors
/// As [`length`], or the length is below a second.
pub fn lease(text: &str) -> Result<Duration, String> {
    match length(text)? {
        short if short < Duration::from_secs(1) => {
            Err("a lease lasts a second at least".to_owned())
        }
        length => Ok(length),
    }
}

fn signed(text: &str) -> Option<jiff::SignedDuration> {
    let span: Span = text.parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

fn too_long() -> String {
    "a length of time is at most 36500d".to_owned()
}

/// `text` with a 1 in place of each number.
fn with_ones(text: &str) -> String {
    let mut ones = String::new();
    let mut before = ' ';
    for character in text.chars() {
        if !character.is_ascii_digit() {
            ones.push(character);
        } else if !before.is_ascii_digit() {
            ones.push('1');
        }
        before = character;
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_a_unit() {
        for (text, ms) in [
            ("0s", 0),
            ("500ms", 500),
            ("1500ms", 1500),
            ("10s", 10_000),
            ("2m", 120_000),
            ("1.5h", 5_400_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1d12h", 129_600_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(length(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for wrong in
            ["", "1", "10", "s", "1mo", "1y", "-1s", "1s ago", "30m1h", "0.5ms", "1us", "36501d"]
        {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn some_lengths_are_too_short() {
        assert_eq!(some_length("1ms"), Ok(Duration::from_millis(1)));
        assert!(some_length("0s").is_err());
        assert_eq!(lease("1s"), Ok(Duration::from_secs(1)));
        assert!(lease("999ms").is_err());
    }
}
