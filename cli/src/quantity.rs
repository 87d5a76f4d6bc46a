//! Numbers and lengths of time as people write them on a command line.

use std::fmt;
use std::time::Duration;

use indicatif::HumanCount;
use jiff::{Span, SpanRelativeTo};

use crate::words::plural;

/// A number of things with up to three decimals, such as UIDs a second: 20k, 1.5M, 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity {
    pub(crate) thousandths: u64,
}

impl Quantity {
    /// "1 UID", "1,000 UIDs", "0.5 UIDs".
    pub(crate) fn of(self, name: &str) -> String {
        format!("{self} {name}{}", plural(self == Quantity::whole(1)))
    }

    /// `number` without decimals.
    pub(crate) const fn whole(number: u64) -> Quantity {
        Quantity { thousandths: number * 1000 }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HumanCount(self.thousandths / 1000).fmt(f)?;
        match self.thousandths % 1000 {
            0 => Ok(()),
            rest => f.write_str(format!(".{rest:03}").trim_end_matches('0')),
        }
    }
}

const MOST: u64 = 1_000_000_000_000;
/// A century. Products with it do not overflow.
const LONGEST: Duration = Duration::from_secs(36_500 * 24 * 3600);
const DAYS_ARE_24_HOURS: SpanRelativeTo<'static> = SpanRelativeTo::days_are_24_hours();

/// `number` times `unit`, in thousandths; `None` if that is not a whole number of them.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let plain: String =
        number.chars().filter(|character| !matches!(character, '_' | ',')).collect();
    let (whole, decimals) = plain.split_once('.').unwrap_or((&plain, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || !digits(whole)
        || !digits(decimals)
        || number.ends_with('.')
        || whole.len() > 15
        || decimals.len() > 9
    {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(decimals.len()).ok()?);
    let number = whole.parse::<u64>().ok()?;
    let decimals: u128 = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
    let scaled = (u128::from(number) * scale + decimals) * 1000 * u128::from(unit);
    if scaled.is_multiple_of(scale) { u64::try_from(scaled / scale).ok() } else { None }
}

/// 20000, 20k, 1.5M, 0.5.
pub(crate) fn quantity(text: &str) -> Result<Quantity, String> {
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1000),
        None => text.strip_suffix('M').map_or((text, 1), |number| (number, 1_000_000)),
    };
    match scaled(number, unit) {
        Some(thousandths) if thousandths <= MOST * 1000 => Ok(Quantity { thousandths }),
        Some(_) => Err(format!("a number is at most {}", HumanCount(MOST))),
        None => Err("a number is such as 500, 20k, 1.5M or 0.5".to_owned()),
    }
}

/// 20000, 20k, 1.5M, and nothing between whole numbers.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    if let Ok(count) = text.parse() {
        return Ok(count);
    }
    match quantity(text) {
        Ok(Quantity { thousandths }) if thousandths.is_multiple_of(1000) => Ok(thousandths / 1000),
        _ => Err("a count is a whole number such as 500, 20k or 1.5M".to_owned()),
    }
}

/// 500ms, 10s, 2m, 1.5h, 1h30m, 1d. A day has 24 hours.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().and_then(|span| span.to_duration(DAYS_ARE_24_HOURS));
    match span.ok().and_then(|length| Duration::try_from(length).ok()) {
        Some(length) if length > LONGEST => Err("a length of time is at most 36500d".to_owned()),
        Some(length) if length.subsec_nanos().is_multiple_of(1_000_000) => Ok(length),
        _ => Err("a length of time is such as 500ms, 10s, 1h30m or 1d".to_owned()),
    }
}

/// Like [`length`], but not 0.
pub(crate) fn some_length(text: &str) -> Result<Duration, String> {
    match length(text)? {
        Duration::ZERO => Err("nothing happens in no time: try 10s".to_owned()),
        length => Ok(length),
    }
}

/// `number`, or the largest `u64` where it is larger.
pub(crate) fn saturated(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// `ms` milliseconds, or the largest `u64` of them.
pub(crate) fn millis(ms: u128) -> Duration {
    Duration::from_millis(saturated(ms))
}

/// `number`, which is not negative, to the nearest whole one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates
pub(crate) fn rounded(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::{Quantity, length, quantity};
    use std::time::Duration;

    #[test]
    fn numbers_are_exact() {
        for (text, thousandths) in [
            ("0", 0),
            ("7", 7000),
            ("0.5", 500),
            ("20k", 20_000_000),
            ("1.5M", 1_500_000_000),
            ("1_000,5", 10_005_000),
        ] {
            assert_eq!(quantity(text), Ok(Quantity { thousandths }), "{text}");
        }
        for wrong in
            ["", "k", ".5", "5.", "1e3", "-1", "1.2.3", "0.0001", "ten", "1 0", "5G", "2000000000M"]
        {
            assert!(quantity(wrong).is_err(), "{wrong}");
        }
        let texts =
            [Quantity::whole(20_000), Quantity { thousandths: 1500 }, Quantity { thousandths: 20 }];
        assert_eq!(texts.map(|quantity| quantity.to_string()), ["20,000", "1.5", "0.02"]);
    }

    #[test]
    fn lengths_have_a_unit() {
        for (text, ms) in [
            ("0s", 0),
            ("500ms", 500),
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
        for wrong in ["", "10", "s", "1mo", "1y", "-1s", "1s ago", "30m1h", "0.5ms", "36501d"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }
}
