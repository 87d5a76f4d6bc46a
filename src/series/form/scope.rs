//! Which text can be a scope.

use std::error::Error;
use std::fmt;

/// The most characters that a scope can have.
pub(super) const MAX_SCOPE: usize = 64;

/// Whether `scope` can be the scope of numbers: of a shop, a tenant, a warehouse.
///
/// It has 1 to 64 characters, each of which is a letter or digit of ASCII, `-`, `_` or `.`.
/// Upper-case and lower-case letters differ.
///
/// ```
/// use uidring::series::valid_scope;
///
/// assert!(valid_scope("shop-7").is_ok());
/// let error = valid_scope("shop 7").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the scope \"shop 7\" has ' ' at byte 4: use letters and digits of ASCII, '-', '_' and '.'"
/// );
/// ```
///
/// # Errors
///
/// [`ScopeError`]: what is wrong with it.
pub fn valid_scope(scope: &str) -> Result<(), ScopeError> {
    if scope.is_empty() {
        return Err(ScopeError::Empty);
    }
    if let Some((at, character)) = scope.char_indices().find(|&(_, c)| !is_scope_char(c)) {
        return Err(ScopeError::Character { scope: scope.into(), at, character });
    }
    if scope.len() > MAX_SCOPE {
        return Err(ScopeError::Length { length: scope.len() });
    }
    Ok(())
}

pub(super) fn is_scope_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// A text cannot be a scope, see [`valid_scope`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopeError {
    /// It has no characters.
    Empty,
    /// It has too many characters.
    Length {
        /// How many it has.
        length: usize,
    },
    /// It has a character that no scope has.
    Character {
        /// The text.
        scope: String,
        /// Where the character is, in bytes.
        at: usize,
        /// The character.
        character: char,
    },
}

impl fmt::Display for ScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScopeError::Empty => {
                write!(f, "a scope cannot be empty: it has 1 to {MAX_SCOPE} characters")
            }
            ScopeError::Length { length } => {
                write!(f, "a scope cannot have {length} characters: it has at most {MAX_SCOPE}")
            }
            ScopeError::Character { scope, at, character } => write!(
                f,
                "the scope {scope:?} has {character:?} at byte {at}: use letters and digits of \
                 ASCII, '-', '_' and '.'"
            ),
        }
    }
}

impl Error for ScopeError {}
