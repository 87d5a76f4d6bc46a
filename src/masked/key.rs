//! [`Key`], the secret, and the keys that are derived from it.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

/// The bytes of a key.
const KEY_LEN: usize = 32;

/// The secret of [`Masked`](super::Masked) and [`Opaque`](super::Opaque): 32 random bytes.
///
/// Make it once, as with `openssl rand -hex 32`, keep it where passwords are kept, and give it to
/// each process that masks or unmasks. As a text it is 64 hexadecimal digits. Without the key,
/// nobody gets a UID back from its masked form, so keep a copy.
///
/// Neither kind of ids uses the key itself. Each derives its own by HKDF with SHA-256 ([RFC
/// 5869](https://www.rfc-editor.org/rfc/rfc5869)), with no salt, and with an `info` that names the
/// kind, and for `Opaque` the key id and the prefix as well. What one of them reveals is of no use
/// against the others.
///
/// The bytes are overwritten when the key is dropped, as are those derived from it. Copies that the
/// compiler makes when a value moves, or the system when it swaps or dumps memory, are not.
///
/// ```
/// use uidring::masked::Key;
///
/// let key: Key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f".parse()?;
/// assert_eq!(format!("{key:?}"), "Key(..)"); // it can stand in a configuration that is logged
/// let key = Key::from([7; 32]); // for a test
/// # Ok::<(), uidring::masked::ParseKeyError>(())
/// ```
#[derive(Clone)]
pub struct Key([u8; KEY_LEN]);

impl Key {
    /// A key of `N` bytes for one purpose, which `info` names.
    pub(super) fn derive<const N: usize>(&self, info: &[&[u8]]) -> Zeroizing<[u8; N]> {
        const { assert!(N <= 255 * 32, "HKDF gives no more than 255 hashes") };
        let mut derived = Zeroizing::new([0; N]);
        let hkdf = Hkdf::<Sha256>::new(None, &self.0);
        #[allow(clippy::expect_used)] // it fails for lengths alone that are refused above
        hkdf.expand_multi_info(info, &mut *derived).expect("the length is checked above");
        derived
    }
}

impl From<[u8; KEY_LEN]> for Key {
    fn from(bytes: [u8; KEY_LEN]) -> Key {
        Key(bytes)
    }
}

/// Reads 64 hexadecimal digits of either case, and nothing else: no spaces, no `0x`.
impl FromStr for Key {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Key, ParseKeyError> {
        let mut key = Key([0; KEY_LEN]);
        let mut found = 0;
        for (index, character) in text.chars().enumerate() {
            let digit = character.to_digit(16).ok_or(ParseKeyError::Character { index })?;
            let [.., digit] = digit.to_be_bytes();
            if let Some(byte) = key.0.get_mut(index / 2) {
                *byte = *byte << 4 | digit;
            }
            found = index + 1;
        }
        if found == 2 * KEY_LEN { Ok(key) } else { Err(ParseKeyError::Length { found }) }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A text is not a [`Key`]. The error contains nothing of the text, which may be nearly a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseKeyError {
    /// A character that is not a hexadecimal digit.
    Character {
        /// How many characters stand before it.
        index: usize,
    },
    /// Not 64 digits.
    Length {
        /// How many there are.
        found: usize,
    },
}

impl fmt::Display for ParseKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseKeyError::Character { index } => {
                write!(f, "character {} of the key is not a hexadecimal digit", index + 1)?;
            }
            ParseKeyError::Length { found } => {
                write!(f, "a key has 64 hexadecimal digits, not {found}")?;
            }
        }
        f.write_str(": make one with `openssl rand -hex 32`")
    }
}

impl Error for ParseKeyError {}
