//! [`Number`], a dense number of a tag.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::support::integer::{self, integer};

/// A dense number of a tag: a whole number in `1..=2^63-1`.
///
/// As a [`Uid`](crate::Uid) it fits a signed 64-bit database column and is never 0, so
/// `Option<Number>` takes 8 bytes as well. It is a type of its own because it has no more in it
/// than its value: no time, no worker, no [`Layout`](crate::Layout). Nor has it a text form but
/// decimal, by [`Display`](fmt::Display) and [`FromStr`]: in base32 1058 would be `0000000000112`,
/// which people shorten to 112.
///
/// ```
/// use uidring::segment::Number;
///
/// let invoice: Number = "1058".parse()?;
/// assert_eq!(invoice.get(), 1058);
/// assert_eq!(i64::from(invoice), 1058); // for a database column
/// # Ok::<(), uidring::segment::ParseNumberError>(())
/// ```
///
/// A layout takes none apart:
///
/// ```compile_fail,E0308
/// use uidring::Layout;
/// use uidring::segment::Number;
///
/// Layout::DEFAULT.parts(Number::MIN);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Number(NonZeroU64);

integer!(Number, "a dense number", NumberRangeError, ParseNumberError);

impl Number {
    /// The smallest number, 1. Use it to initialise a buffer for
    /// [`fill`](crate::segment::SegmentGenerator::fill).
    pub const MIN: Number = Number(NonZeroU64::MIN);

    /// The largest number, `2^63 - 1`.
    pub const MAX: Number = Number(integer::LARGEST);

    /// The number `value`, or `None` if it is outside `1..=2^63-1`. `Number::try_from` gives an
    /// error in place of `None`, and accepts signed numbers, too.
    ///
    /// ```
    /// use uidring::segment::Number;
    ///
    /// const FIRST: Number = Number::new(1).unwrap();
    /// assert_eq!(FIRST, Number::MIN);
    /// assert_eq!(Number::new(0), None);
    /// assert_eq!(Number::new(1 << 63), None);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(value: u64) -> Option<Number> {
        match NonZeroU64::new(value) {
            Some(number) if value <= Number::MAX.get() => Some(Number(number)),
            _ => None,
        }
    }

    /// The number as a `u64` in `1..=2^63-1`.
    ///
    /// ```
    /// # use uidring::segment::Number;
    /// assert_eq!(Number::MAX.get(), i64::MAX as u64);
    /// ```
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// A text is not a [`Number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseNumberError {
    /// The text is empty.
    Empty,
    /// A character that is not a decimal digit.
    Character {
        /// The first such character.
        character: char,
        /// How many characters stand before it.
        index: usize,
    },
    /// The number is 0 or above `2^63-1`.
    Range,
}

impl fmt::Display for ParseNumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseNumberError::Empty => f.write_str("an empty text is not a dense number"),
            ParseNumberError::Character { character, index } => {
                write!(f, "character {} of a dense number cannot be {character:?}", index + 1)
            }
            ParseNumberError::Range => {
                write!(f, "the number is out of range: a dense number is in 1..={}", Number::MAX)
            }
        }
    }
}

impl Error for ParseNumberError {}
