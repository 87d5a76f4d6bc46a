//! Numbers as people write them on a command line.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// A number of things with up to three decimals, such as UIDs a second: 20k, 1.5M, 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    /// A thousand times the number.
    pub thousandths: u64,
}

impl Quantity {
    /// "1 UID", "1,000 UIDs", "0.5 UIDs".
    #[must_use]
    pub fn of(self, name: &str) -> String {
        let plural = if self == Quantity::whole(1) { "" } else { "s" };
        format!("{self} {name}{plural}")
    }

    /// `number` without decimals.
    #[must_use]
    pub const fn whole(number: u64) -> Quantity {
        Quantity { thousandths: number * 1000 }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(self.thousandths / 1000))?;
        match self.thousandths % 1000 {
            0 => Ok(()),
            rest => f.write_str(format!(".{rest:03}").trim_end_matches('0')),
        }
    }
}

/// "1 year", "10,000 years".
#[must_use]
pub fn counted(count: u64, name: &str) -> String {
    format!("{} {name}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// As its text, such as "1.5".
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// `number` with a comma before each three digits: "1,000,000".
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const MOST: u64 = 1_000_000_000_000;
const SEPARATORS: &str = "a comma stands before each three digits, as in 1,500,000, and a point \
                          before decimals, as in 1.5M";

/// Why a text is no number.
enum Problem {
    Text,
    Negative,
    /// It has a comma that does not stand before a group of three digits, or a point that may be
    /// meant to.
    Separator,
    /// It has too many digits before the point, or too large a unit.
    Large,
    /// It has too many decimals.
    Fine,
}

impl Problem {
    fn of(text: &str) -> Problem {
        if is_negative(text) { Problem::Negative } else { Problem::Text }
    }
}

fn is_negative(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// `text` in thousandths: digits, a point and decimals, and a unit.
fn thousandths(text: &str) -> Result<u128, Problem> {
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1000),
        None => text.strip_suffix('M').map_or((text, 1), |number| (number, 1_000_000)),
    };
    let plain = number.replace('_', "");
    let (whole, decimals) = plain.split_once('.').unwrap_or((&plain, ""));
    // In many languages a comma stands before decimals. Such a number would be read as another.
    let mut groups = whole.split(',');
    let is_first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
    if whole.contains(',') && !(is_first && groups.all(|group| group.len() == 3))
        || decimals.contains(',')
    {
        return Err(Problem::Separator);
    }
    let whole = &whole.replace(',', "");
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) || number.ends_with('.') {
        return Err(Problem::of(text));
    }
    if decimals.len() > 9 {
        return Err(Problem::Fine);
    }
    // Nothing below overflows.
    let whole: u128 = whole.parse().ok().filter(|whole| *whole < 1 << 64).ok_or(Problem::Large)?;
    let scale = (0..decimals.len()).fold(1, |scale, _| scale * 10);
    let decimals: u128 = if decimals.is_empty() { 0 } else { decimals.parse().unwrap_or(0) };
    let scaled = (whole * scale + decimals) * 1000 * unit;
    if scaled.is_multiple_of(scale) { Ok(scaled / scale) } else { Err(Problem::Fine) }
}

/// Parses a number: 20000, 20k, 1.5M, 0.5.
///
/// # Errors
/// The text is no number, or it is too large or too fine.
pub fn quantity(text: &str) -> Result<Quantity, String> {
    let thousandths = match thousandths(text) {
        Ok(thousandths) if thousandths > u128::from(MOST) * 1000 => Err(Problem::Large),
        result => result,
    };
    match thousandths {
        Ok(thousandths) => Ok(Quantity { thousandths: saturating_u64(thousandths) }),
        Err(Problem::Large) => Err(format!("a number is at most {}", grouped(MOST))),
        Err(Problem::Fine) => Err("a number has at most three decimals, such as 0.033".to_owned()),
        Err(Problem::Negative) => Err("a number cannot be negative".to_owned()),
        Err(Problem::Separator) => Err(SEPARATORS.to_owned()),
        Err(Problem::Text) => Err("a number is such as 500, 20k, 1.5M or 0.5".to_owned()),
    }
}

/// `count` as the size of a list: the largest where it is larger.
#[must_use]
pub fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Parses a whole number: 20000, 20k, 1.5M.
///
/// # Errors
/// The text is no whole number, or it is too large.
pub fn count(text: &str) -> Result<u64, String> {
    // In many languages a point stands before each three digits: 100.000 is not meant to be 100.
    let is_grouped = text.contains('.') && !text.ends_with(['k', 'K', 'M']);
    let count = match thousandths(text) {
        Ok(thousandths) if !thousandths.is_multiple_of(1000) => Err(Problem::Text),
        Ok(_) if is_grouped => Err(Problem::Separator),
        Ok(thousandths) => u64::try_from(thousandths / 1000).map_err(|_| Problem::Large),
        Err(wrong) => Err(wrong),
    };
    count.map_err(|wrong| match wrong {
        Problem::Large => format!("a count is at most {}", grouped(u64::MAX)),
        Problem::Negative => "a count cannot be negative".to_owned(),
        Problem::Separator => SEPARATORS.to_owned(),
        Problem::Text | Problem::Fine => {
            "a count is a whole number such as 500, 20k or 1.5M".to_owned()
        }
    })
}

/// Parses a count of things, called `what` as "threads", of which there are as many as `range`
/// says.
///
/// # Errors
/// The text is no whole number, or it is not in the range.
pub fn count_of<T: TryFrom<u64>>(
    text: &str,
    what: &str,
    range: RangeInclusive<u64>,
) -> Result<T, String> {
    let (least, most) = (grouped(*range.start()), grouped(*range.end()));
    let there_are = match range.start() {
        0 => format!("there are at most {most} {what}"),
        _ => format!("there are {least} to {most} {what}"),
    };
    if is_negative(text) && *range.start() > 0 {
        return Err(there_are);
    }
    let count = Some(count(text)?).filter(|count| range.contains(count));
    count.and_then(|count| T::try_from(count).ok()).ok_or(there_are)
}

/// Parses how many threads take.
///
/// # Errors
/// As [`count_of`].
pub fn threads(text: &str) -> Result<u16, String> {
    count_of(text, "threads", 1..=1024)
}

/// `number`, or the largest `u64` where it is larger.
#[must_use]
pub fn saturating_u64(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// `ms` milliseconds, or the largest `u64` of them.
#[must_use]
pub fn millis(ms: u128) -> Duration {
    Duration::from_millis(saturating_u64(ms))
}

/// `number`, which is not negative, to the nearest whole one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates
#[must_use]
pub fn rounded(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::{Quantity, count, quantity};

    #[test]
    fn numbers_are_exact() {
        for (text, thousandths) in [
            ("0", 0),
            ("7", 7000),
            ("0.5", 500),
            ("20k", 20_000_000),
            ("1.5M", 1_500_000_000),
            ("1,000,005", 1_000_005_000),
            ("10_005.5", 10_005_500),
        ] {
            assert_eq!(quantity(text), Ok(Quantity { thousandths }), "{text}");
        }
        for wrong in
            ["", "k", ".5", "5.", "1e3", "-1", "1.2.3", "0.0001", "ten", "1 0", "5G", "2000000000M"]
        {
            assert!(quantity(wrong).is_err(), "{wrong}");
        }
        for decimal in ["1,5M", "1,5", "1,0000", ",5", "1000,000", "1,,000", "1.5,000", "1,000,"] {
            assert_eq!(quantity(decimal), Err(super::SEPARATORS.to_owned()), "{decimal}");
            assert_eq!(count(decimal), Err(super::SEPARATORS.to_owned()), "{decimal}");
        }
        for grouped in ["100.000", "5.000", "1.0", "7."] {
            assert!(count(grouped).is_err(), "{grouped}");
        }
        assert_eq!(count("100.000"), Err(super::SEPARATORS.to_owned()));
        assert_eq!(
            (count("1.5k"), count("1.500k"), count("1,500")),
            (Ok(1500), Ok(1500), Ok(1500))
        );
        let texts =
            [Quantity::whole(20_000), Quantity { thousandths: 1500 }, Quantity { thousandths: 20 }];
        assert_eq!(texts.map(|quantity| quantity.to_string()), ["20,000", "1.5", "0.02"]);
    }
}
