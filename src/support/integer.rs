//! What a [`Uid`](crate::Uid) and a [`Number`](crate::segment::Number) have in common: both are a
//! whole number in `1..=2^63-1`. They are types of their own, as neither means what the other does.

use std::fmt::{Debug, Display};
use std::num::{NonZeroI64, NonZeroU64};
use std::str::FromStr;

/// A `Uid` or a `Number`. No other crate can name this trait, so there are no others.
pub trait Integer:
    Copy
    + Debug
    + Display
    + FromStr<Err: Display>
    + TryFrom<u64, Error: Display>
    + TryFrom<i64, Error: Display>
{
    /// What it is, in a sentence.
    #[cfg(feature = "serde")]
    const NAME: &'static str;

    /// The number `number`. The caller has ensured that it is below `2^63`.
    fn from_nonzero(number: NonZeroU64) -> Self;

    /// The number.
    #[cfg(feature = "serde")]
    fn value(self) -> u64;
}

/// The largest of them.
pub const LARGEST: NonZeroU64 = NonZeroI64::MAX.unsigned_abs();

/// What is wrong with a text in decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotDecimal {
    Empty,
    Character { character: char, index: usize },
    Range,
}

/// Reads decimal digits, and nothing else: no sign, no spaces.
pub fn from_decimal(text: &str) -> Result<NonZeroU64, NotDecimal> {
    if text.is_empty() {
        return Err(NotDecimal::Empty);
    }
    if let Some((index, character)) = text.chars().enumerate().find(|(_, c)| !c.is_ascii_digit()) {
        return Err(NotDecimal::Character { character, index });
    }
    text.parse().ok().filter(|number| *number <= LARGEST).ok_or(NotDecimal::Range)
}

/// Implements for `$Id`, a struct of one `NonZeroU64` that has `new` and `get`, what all of them
/// have.
macro_rules! integer {
    ($Id:ident, $name:literal, $RangeError:ident, $ParseError:ident) => {
        impl $Id {
            /// The number `number`. The caller has ensured that it is below `2^63`.
            #[inline]
            pub(crate) const fn from_nonzero(number: NonZeroU64) -> $Id {
                debug_assert!(number.get() <= $Id::MAX.get());
                $Id(number)
            }

            /// The number in memory, for a crate that binds a parameter by reference.
            #[cfg(feature = "diesel-2")]
            pub(crate) fn as_i64(&self) -> &i64 {
                zerocopy::transmute_ref!(&self.0)
            }
        }

        impl $crate::support::integer::Integer for $Id {
            #[cfg(feature = "serde")]
            const NAME: &'static str = $name;

            #[inline]
            fn from_nonzero(number: NonZeroU64) -> $Id {
                $Id::from_nonzero(number)
            }

            #[cfg(feature = "serde")]
            #[inline]
            fn value(self) -> u64 {
                self.get()
            }
        }

        impl fmt::Debug for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($Id), self.0)
            }
        }

        impl fmt::Display for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// Reads decimal digits, and nothing else: no sign, no spaces.
        impl FromStr for $Id {
            type Err = $ParseError;

            fn from_str(text: &str) -> Result<$Id, $ParseError> {
                use $crate::support::integer::NotDecimal;

                $crate::support::integer::from_decimal(text).map($Id).map_err(|problem| {
                    match problem {
                        NotDecimal::Empty => $ParseError::Empty,
                        NotDecimal::Character { character, index } => {
                            $ParseError::Character { character, index }
                        }
                        NotDecimal::Range => $ParseError::Range,
                    }
                })
            }
        }

        impl From<$Id> for u64 {
            #[inline]
            fn from(id: $Id) -> u64 {
                id.get()
            }
        }

        impl From<$Id> for NonZeroU64 {
            #[inline]
            fn from(id: $Id) -> NonZeroU64 {
                id.0
            }
        }

        impl From<$Id> for i64 {
            #[inline]
            fn from(id: $Id) -> i64 {
                id.get().cast_signed()
            }
        }

        impl TryFrom<u64> for $Id {
            type Error = $RangeError;

            #[inline]
            fn try_from(value: u64) -> Result<$Id, $RangeError> {
                $Id::new(value).ok_or($RangeError(value.into()))
            }
        }

        impl TryFrom<NonZeroU64> for $Id {
            type Error = $RangeError;

            #[inline]
            fn try_from(value: NonZeroU64) -> Result<$Id, $RangeError> {
                $Id::try_from(value.get())
            }
        }

        impl TryFrom<i64> for $Id {
            type Error = $RangeError;

            #[inline]
            fn try_from(value: i64) -> Result<$Id, $RangeError> {
                u64::try_from(value).ok().and_then($Id::new).ok_or($RangeError(value.into()))
            }
        }

        #[doc = concat!("A number outside `1..=2^63-1` is not a [`", stringify!($Id), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $RangeError(i128);

        impl fmt::Display for $RangeError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} is not {}: {1} is in 1..={}", self.0, $name, $Id::MAX)
            }
        }

        impl Error for $RangeError {}
    };
}

pub(crate) use integer;
