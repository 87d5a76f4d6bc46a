//! An id as a text.

use std::fmt;

use uidring::{ParseUidError, Uid};

use crate::format::{Fields, Format};
use crate::quantity::millis;

/// A UID, or a negative number from a generator that went on after the end of its time field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    /// A positive number.
    Uid(Uid),
    /// The time has run over into the sign.
    Negative(i64),
}

impl Id {
    /// Reads a UID: in base32 if the text has a letter or `base32` says so, or else in decimal.
    ///
    /// # Errors
    /// The text is neither.
    pub fn uid(text: &str, base32: bool) -> Result<Uid, ParseUidError> {
        if base32 || text.contains(|character: char| character.is_ascii_alphabetic()) {
            Uid::from_base32(text)
        } else {
            text.parse()
        }
    }

    /// Reads an id: as [`Id::uid`], and with the format of its generator also a negative number,
    /// which no generator of this library makes.
    ///
    /// # Errors
    /// The text is no id.
    pub fn read(text: &str, base32: bool, format: Option<&Format>) -> Result<Id, ParseUidError> {
        Id::uid(text, base32).map(Id::Uid).or_else(|error| {
            let number = text.parse::<i64>().ok().filter(|number| *number < 0);
            let is_meant = format.is_some_and(Format::runs_into_the_sign);
            number.filter(|_| is_meant).map(Id::Negative).ok_or(error)
        })
    }

    /// What it says.
    #[must_use]
    pub fn fields(self, format: &Format) -> Fields {
        match self {
            Id::Uid(uid) => format.fields(uid),
            Id::Negative(number) => {
                let (bits, layout) = (number.cast_unsigned(), format.time_layout());
                let ticks = bits >> (layout.worker_bits() + layout.sequence_bits());
                let since = millis(layout.tick().as_millis() * u128::from(ticks));
                let time = layout.epoch().checked_add(since).unwrap_or(layout.expires_at());
                format.fields_below(time, bits)
            }
        }
    }

    /// Empty for a negative number.
    #[must_use]
    pub fn base32(self) -> String {
        match self {
            Id::Uid(uid) => uid.base32().to_string(),
            Id::Negative(_) => String::new(),
        }
    }

    /// Whether it has no bits above the fields.
    #[must_use]
    pub fn is_of(self, format: &Format) -> bool {
        matches!(self, Id::Uid(uid) if format.contains(uid))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Uid(uid) => uid.fmt(f),
            Id::Negative(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::Id;
    use uidring::ParseUidError;

    #[test]
    fn a_letter_makes_a_text_base32() {
        let uid = Id::uid("180363646902239241", false).unwrap();
        assert_eq!(Id::uid("05067S0001009", false), Ok(uid));
        assert_eq!(Id::uid("o5067soooloo9", false), Ok(uid));
        assert_eq!(Id::uid("0000000000010", false).unwrap().get(), 10);
        assert_eq!(Id::uid("0000000000010", true).unwrap().get(), 32);
        assert_eq!(Id::uid("12x", false), Err(ParseUidError::Length { found: 3 }));
        assert_eq!(
            Id::uid("-5", false),
            Err(ParseUidError::Character { character: '-', index: 0 })
        );
        assert_eq!(Id::uid("", false), Err(ParseUidError::Empty));
    }
}
