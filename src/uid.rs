//! [`Uid`], one id, and its text forms.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::support::base32;
use crate::support::integer::{self, integer};

/// One unique id: a whole number in `1..=2^63-1`.
///
/// It fits a signed 64-bit database column and is never 0, so `Option<Uid>` takes 8 bytes as well.
/// Its order is the order of the number; within one worker that is the order in which UIDs were
/// taken.
///
/// # Text forms
///
/// * Decimal, by [`Display`](fmt::Display) and [`FromStr`].
/// * [Crockford base32](https://www.crockford.com/base32.html), by [`base32`](Uid::base32) and
///   [`from_base32`](Uid::from_base32): 13 characters, always, so texts sort as the UIDs do.
///
/// ```
/// use uidring::Uid;
///
/// let uid: Uid = "180363646902239241".parse()?;
/// assert_eq!(uid.base32().as_str(), "05067S0001009");
/// assert_eq!(Uid::from_base32("o5o67soooioo9")?, uid);
/// assert_eq!(i64::from(uid), 180_363_646_902_239_241); // for a database column
/// # Ok::<(), uidring::ParseUidError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Uid(NonZeroU64);

integer!(Uid, "a UID", UidRangeError, ParseUidError);

const BASE32_LEN: usize = 13;

impl Uid {
    /// The smallest UID, 1. With the default layout it is never taken; use it to initialise a
    /// buffer for [`fill`](crate::UidGenerator::fill).
    pub const MIN: Uid = Uid(NonZeroU64::MIN);

    /// The largest UID, `2^63 - 1`.
    pub const MAX: Uid = Uid(integer::LARGEST);

    /// The UID `value`, or `None` if it is outside `1..=2^63-1`. `Uid::try_from` gives an error in
    /// place of `None`, and accepts signed numbers, too.
    ///
    /// ```
    /// use uidring::Uid;
    ///
    /// const ROOT: Uid = Uid::new(1).unwrap();
    /// assert_eq!(ROOT, Uid::MIN);
    /// assert_eq!(Uid::new(0), None);
    /// assert_eq!(Uid::new(1 << 63), None);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(value: u64) -> Option<Uid> {
        match NonZeroU64::new(value) {
            Some(number) if value <= Uid::MAX.get() => Some(Uid(number)),
            _ => None,
        }
    }

    /// The UID as a number in `1..=2^63-1`.
    ///
    /// ```
    /// # use uidring::Uid;
    /// assert_eq!(Uid::MAX.get(), i64::MAX as u64);
    /// ```
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The UID in Crockford's base32: 13 upper-case characters that sort as the UIDs do.
    ///
    /// ```
    /// # use uidring::Uid;
    /// assert_eq!(Uid::MIN.base32().as_str(), "0000000000001");
    /// assert_eq!(Uid::MAX.base32().to_string(), "7ZZZZZZZZZZZZ");
    /// ```
    #[must_use]
    pub fn base32(self) -> Base32 {
        let mut text = [b'0'; BASE32_LEN];
        let mut rest = self.get();
        for character in text.iter_mut().rev() {
            *character = base32::digit(rest);
            rest >>= 5;
        }
        Base32 { uid: self, text }
    }

    /// Reads the 13 characters that [`base32`](Uid::base32) writes. As Crockford specifies, lower
    /// case is read as upper case, `O` as 0, and `I` and `L` as 1.
    ///
    /// ```
    /// # use uidring::Uid;
    /// assert_eq!(Uid::from_base32("000000000000z")?.get(), 31);
    /// assert_eq!(Uid::from_base32("ooooooooooool")?, Uid::MIN);
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ParseUidError`] says which rule the text breaks.
    pub fn from_base32(text: &str) -> Result<Uid, ParseUidError> {
        if text.chars().count() != BASE32_LEN {
            return Err(ParseUidError::Length { found: text.chars().count() });
        }
        let mut value: u128 = 0;
        for (index, character) in text.chars().enumerate() {
            let digit = base32::lenient_value(character)
                .ok_or(ParseUidError::Character { character, index })?;
            value = value << 5 | u128::from(digit);
        }
        u64::try_from(value).ok().and_then(Uid::new).ok_or(ParseUidError::Range)
    }
}

/// The base32 text of a [`Uid`], without an allocation. It is read as
/// [`Uid::from_base32`] reads it, and then has upper case and no `O`, `I` or `L`.
///
/// ```
/// use uidring::{Base32, Uid};
///
/// let text: Base32 = "o5o67soooioo9".parse()?;
/// assert_eq!(text.as_str(), "05067S0001009");
/// assert_eq!(Uid::from(text).to_string(), "180363646902239241");
/// # Ok::<(), uidring::ParseUidError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base32 {
    uid: Uid,
    text: [u8; BASE32_LEN],
}

impl Base32 {
    /// The 13 characters.
    ///
    /// ```
    /// # use uidring::Uid;
    /// assert!(Uid::MIN.base32().as_str() < Uid::MAX.base32().as_str());
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Always valid: the bytes come from an ASCII table.
        str::from_utf8(&self.text).unwrap_or_default()
    }
}

impl FromStr for Base32 {
    type Err = ParseUidError;

    fn from_str(text: &str) -> Result<Base32, ParseUidError> {
        Uid::from_base32(text).map(Uid::base32)
    }
}

impl From<Uid> for Base32 {
    fn from(uid: Uid) -> Base32 {
        uid.base32()
    }
}

impl From<Base32> for Uid {
    fn from(text: Base32) -> Uid {
        text.uid
    }
}

impl AsRef<str> for Base32 {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Base32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base32({})", self.as_str())
    }
}

impl fmt::Display for Base32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text is not a [`Uid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseUidError {
    /// The text is empty.
    Empty,
    /// A character that is not a digit of this form.
    Character {
        /// The first such character.
        character: char,
        /// How many characters stand before it.
        index: usize,
    },
    /// A base32 text that does not have 13 characters.
    Length {
        /// How many it has.
        found: usize,
    },
    /// The number is 0 or above `2^63-1`.
    Range,
}

impl fmt::Display for ParseUidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseUidError::Empty => f.write_str("an empty text is not a UID"),
            ParseUidError::Character { character, index } => {
                write!(f, "character {} of a UID cannot be {character:?}", index + 1)
            }
            ParseUidError::Length { found } => {
                write!(f, "a UID in base32 has 13 characters, not {found}")
            }
            ParseUidError::Range => {
                write!(f, "the number is out of range: a UID is in 1..={}", Uid::MAX)
            }
        }
    }
}

impl Error for ParseUidError {}
