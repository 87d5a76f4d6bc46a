//! [`Opaque`]: UIDs as texts that cannot be made up.

use std::error::Error;
use std::fmt::{self, Write};

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};

use super::key::Key;
use crate::support::base32;
use crate::uid::Uid;

/// The characters behind the prefix: two bits of the key id and 128 of the block, five each.
const CHARACTERS: usize = 26;
/// The largest key id.
const MAX_KEY_ID: u8 = 3;
/// Between the prefix and the characters. It is no digit of base32.
const SEPARATOR: char = '_';

/// UIDs as texts that tell nothing and cannot be made up, such as `ord_5H7WY7KKXFH1JCEMMC78CF0N9T`.
///
/// A text is the prefix, `_`, and 26 digits of Crockford's base32: two bits of the key id, and an
/// AES-256 block of the UID and 64 zero bits. Who decodes one finds the zero bits, or knows that it
/// was made up or changed: a made-up text passes with a probability below `2^-64`. [The module's
/// page](super) says what is hidden and what is not.
///
/// ```
/// use uidring::Uid;
/// use uidring::masked::{Key, Opaque, OpaqueError};
///
/// let orders = Opaque::new(&Key::from([7; 32]), "ord");
/// let uid: Uid = "180363646902239241".parse()?;
/// let text = orders.encode(uid).to_string();
/// assert_eq!(text, "ord_2WT7HHAKF4D7JRCWEJQB45DC14");
/// assert_eq!(orders.decode(&text)?, uid);
///
/// let made_up = "ord_00000000000000000000000000";
/// assert_eq!(orders.decode(made_up), Err(OpaqueError::Forged));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The prefix
///
/// It says of what kind a thing is, as Stripe's ids do. Each prefix has keys of its own, so the id
/// of an order is refused where that of a customer is expected, whatever its prefix is changed to.
/// Any text is allowed. Take a few lower-case letters, which stand in an address as they are, and
/// never change them: they are a part of each id.
///
/// # One text for each UID
///
/// A UID has one text under a key: `decode` accepts what `encode` writes and nothing else. So texts
/// can be compared, and can be keys of caches and of unique columns, and a list of blocked ids
/// cannot be passed by with an id in another case. That is why lower case and the letters O, I and
/// L are refused, which [`Uid::from_base32`] reads, because people write those texts down; nobody
/// should have to copy 26 random characters by hand.
///
/// # Another key
///
/// Keys have ids, 0 to 3, which are a part of each text. A key is changed in three steps, each of
/// which reaches all processes before the next one begins:
///
/// ```
/// # use uidring::Uid;
/// # use uidring::masked::{Key, Opaque};
/// # let [old, new] = [1, 2].map(|byte| Key::from([byte; 32]));
/// // The new one is accepted.
/// let first = Opaque::new(&old, "ord").accept(1, &new)?;
/// // It makes the texts, and the old one is accepted.
/// let second = Opaque::with_key_id(&new, "ord", 1)?.accept(0, &old)?;
/// // The old one ends: its texts are refused. Skip this as long as they are in use.
/// let third = Opaque::with_key_id(&new, "ord", 1)?;
///
/// let text = second.encode(Uid::MIN).to_string();
/// assert_eq!(first.decode(&text), Ok(Uid::MIN));
/// let text = first.encode(Uid::MIN).to_string();
/// assert_eq!(second.decode(&text), Ok(Uid::MIN));
/// assert!(third.decode(&text).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Texts are the same in all processes with the same keys, and in all versions of this library: the
/// key of the cipher is HKDF-SHA-256 of the [`Key`] with the `info` `uidring opaque v1`, one byte
/// with the key id, and the prefix.
///
/// Neither way takes a lock, and neither allocates but for an error.
#[derive(Clone)]
pub struct Opaque {
    prefix: Box<str>,
    current: Keyed,
    others: Vec<Keyed>,
}

/// A cipher and the id of its key.
#[derive(Clone)]
struct Keyed {
    id: u8,
    cipher: Aes256,
}

impl Keyed {
    fn new(id: u8, key: &Key, prefix: &str) -> Result<Keyed, KeyIdError> {
        if id > MAX_KEY_ID {
            return Err(KeyIdError::Range { id });
        }
        Ok(Keyed::in_range(id, key, prefix))
    }

    fn in_range(id: u8, key: &Key, prefix: &str) -> Keyed {
        // The prefix stands last, because it is the only part without a fixed length.
        let key = key.derive::<32>(&[b"uidring opaque v1", &[id], prefix.as_bytes()]);
        Keyed { id, cipher: Aes256::new((&*key).into()) }
    }
}

impl Opaque {
    /// Ids with this prefix, and a key whose id is 0.
    ///
    /// ```
    /// # use uidring::masked::{Key, Opaque};
    /// let orders = Opaque::new(&Key::from([7; 32]), "ord");
    /// assert_eq!(orders.prefix(), "ord");
    /// ```
    #[must_use]
    pub fn new(key: &Key, prefix: &str) -> Opaque {
        Opaque {
            prefix: prefix.into(),
            current: Keyed::in_range(0, key, prefix),
            others: Vec::new(),
        }
    }

    /// The same with another key id, for a key that has come after the first one.
    ///
    /// ```
    /// # use uidring::masked::{Key, Opaque};
    /// let orders = Opaque::with_key_id(&Key::from([7; 32]), "ord", 1)?;
    /// assert!(Opaque::with_key_id(&Key::from([7; 32]), "ord", 4).is_err());
    /// # Ok::<(), uidring::masked::KeyIdError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`KeyIdError::Range`] if `id` is above 3.
    pub fn with_key_id(key: &Key, prefix: &str, id: u8) -> Result<Opaque, KeyIdError> {
        let current = Keyed::new(id, key, prefix)?;
        Ok(Opaque { prefix: prefix.into(), current, others: Vec::new() })
    }

    /// Decodes texts of this key as well. [`encode`](Opaque::encode) does not use it.
    ///
    /// ```
    /// # use uidring::Uid;
    /// # use uidring::masked::{Key, Opaque};
    /// let [old, new] = [1, 2].map(|byte| Key::from([byte; 32]));
    /// let before = Opaque::new(&old, "ord").encode(Uid::MAX).to_string();
    /// let orders = Opaque::with_key_id(&new, "ord", 1)?.accept(0, &old)?;
    /// assert_eq!(orders.decode(&before), Ok(Uid::MAX));
    /// # Ok::<(), uidring::masked::KeyIdError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `id` is above 3, or another key has it.
    pub fn accept(mut self, id: u8, key: &Key) -> Result<Opaque, KeyIdError> {
        if self.keyed(id).is_some() {
            return Err(KeyIdError::Taken { id });
        }
        self.others.push(Keyed::new(id, key, &self.prefix)?);
        Ok(self)
    }

    /// The prefix, without the `_` behind it.
    ///
    /// ```
    /// # use uidring::masked::{Key, Opaque};
    /// assert_eq!(Opaque::new(&Key::from([7; 32]), "ord").prefix(), "ord");
    /// ```
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The text of a UID.
    ///
    /// ```
    /// # use uidring::Uid;
    /// # use uidring::masked::{Key, Opaque};
    /// let orders = Opaque::new(&Key::from([7; 32]), "ord");
    /// assert_eq!(orders.encode(Uid::MIN).to_string().len(), "ord_".len() + 26);
    /// ```
    #[must_use]
    pub fn encode(&self, uid: Uid) -> OpaqueText<'_> {
        let mut block = Block::from((u128::from(uid.get()) << 64).to_be_bytes());
        self.current.cipher.encrypt_block(&mut block);
        let block = u128::from_be_bytes(block.into());
        let mut characters = [0; CHARACTERS];
        // The first digit has the key id and the three bits of the block that the others have no
        // room for.
        characters[0] = base32::digit(u64::from(self.current.id) << 3 | (block >> 125) as u64);
        let mut rest = block << 3;
        for character in &mut characters[1..] {
            *character = base32::digit((rest >> 123) as u64);
            rest <<= 5;
        }
        OpaqueText { prefix: &self.prefix, characters }
    }

    /// The UID of a text.
    ///
    /// ```
    /// # use uidring::Uid;
    /// # use uidring::masked::{Key, Opaque, OpaqueError};
    /// let orders = Opaque::new(&Key::from([7; 32]), "ord");
    /// let text = orders.encode(Uid::MIN).to_string();
    /// assert_eq!(orders.decode(&text), Ok(Uid::MIN));
    ///
    /// let other = text.replace("ord_", "cus_");
    /// let error = orders.decode(&other).unwrap_err();
    /// assert_eq!(error.to_string(), "the id does not begin with \"ord_\"");
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpaqueError`] says which rule the text breaks. Whoever sent it may know: an attacker
    /// learns nothing that is not on this page.
    pub fn decode(&self, text: &str) -> Result<Uid, OpaqueError> {
        let digits = text
            .strip_prefix(&*self.prefix)
            .and_then(|rest| rest.strip_prefix(SEPARATOR))
            .ok_or_else(|| OpaqueError::Prefix { expected: self.prefix.to_string() })?;
        let found = digits.chars().count();
        if found != CHARACTERS {
            return Err(OpaqueError::Length { found });
        }
        let (mut id, mut block) = (0, 0);
        for (at, character) in digits.chars().enumerate() {
            let digit = base32::value(character).ok_or_else(|| OpaqueError::Character {
                character,
                index: self.prefix.chars().count() + 1 + at,
            })?;
            if at == 0 {
                id = digit >> 3;
            }
            // The key id is shifted out at the top.
            block = block << 5 | u128::from(digit);
        }
        let keyed = self.keyed(id).ok_or(OpaqueError::UnknownKey { id })?;
        let mut block = Block::from(block.to_be_bytes());
        keyed.cipher.decrypt_block(&mut block);
        let plain = u128::from_be_bytes(block.into());
        let zeros = plain << 64;
        Uid::new((plain >> 64) as u64).filter(|_| zeros == 0).ok_or(OpaqueError::Forged)
    }

    fn keyed(&self, id: u8) -> Option<&Keyed> {
        [&self.current].into_iter().chain(&self.others).find(|keyed| keyed.id == id)
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |keys: &[Keyed]| keys.iter().map(|keyed| keyed.id).collect::<Vec<_>>();
        f.debug_struct("Opaque")
            .field("prefix", &self.prefix)
            .field("key_id", &self.current.id)
            .field("accepts", &ids(&self.others))
            .finish_non_exhaustive()
    }
}

/// The text of an opaque id, by [`Display`](fmt::Display) and `to_string`. In serde it is a string,
/// in each format; read a string, and [`decode`](Opaque::decode) it.
///
/// ```
/// use uidring::Uid;
/// use uidring::masked::{Key, Opaque};
///
/// let orders = Opaque::new(&Key::from([7; 32]), "ord");
/// let address = format!("https://example.com/orders/{}", orders.encode(Uid::MIN));
/// assert!(address.starts_with("https://example.com/orders/ord_"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpaqueText<'a> {
    prefix: &'a str,
    characters: [u8; CHARACTERS],
}

impl OpaqueText<'_> {
    /// The 26 characters behind the prefix.
    ///
    /// ```
    /// # use uidring::Uid;
    /// # use uidring::masked::{Key, Opaque};
    /// let orders = Opaque::new(&Key::from([7; 32]), "ord");
    /// let text = orders.encode(Uid::MIN);
    /// assert_eq!(text.to_string(), format!("ord_{}", text.digits()));
    /// ```
    #[must_use]
    pub fn digits(&self) -> &str {
        // Always valid: the bytes are digits of base32.
        str::from_utf8(&self.characters).unwrap_or_default()
    }
}

impl fmt::Display for OpaqueText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix)?;
        f.write_char(SEPARATOR)?;
        f.write_str(self.digits())
    }
}

impl fmt::Debug for OpaqueText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpaqueText({self})")
    }
}

impl From<OpaqueText<'_>> for String {
    fn from(text: OpaqueText<'_>) -> String {
        text.to_string()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for OpaqueText<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text is not an opaque id of this kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpaqueError {
    /// It does not begin with the prefix and `_`: it is of another kind of thing.
    Prefix {
        /// The prefix of this kind.
        expected: String,
    },
    /// There are not 26 characters behind the prefix.
    Length {
        /// How many there are.
        found: usize,
    },
    /// A character that `encode` does not write.
    Character {
        /// The first such character.
        character: char,
        /// How many characters stand before it, those of the prefix included.
        index: usize,
    },
    /// No key with the id in the text is accepted here.
    UnknownKey {
        /// That id.
        id: u8,
    },
    /// It was made up or changed, or made with another key.
    Forged,
}

impl fmt::Display for OpaqueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpaqueError::Prefix { expected } => {
                write!(f, "the id does not begin with \"{}_\"", expected.escape_debug())
            }
            OpaqueError::Length { found } => {
                write!(f, "the id has {found} characters behind its prefix, not {CHARACTERS}")
            }
            OpaqueError::Character { character, index } => write!(
                f,
                "character {} of the id cannot be {character:?}: its characters are 0 to 9 and A \
                 to Z without I, L, O and U",
                index + 1
            ),
            OpaqueError::UnknownKey { id } => {
                write!(f, "the id was made with key {id}, which is not accepted here")
            }
            OpaqueError::Forged => {
                f.write_str("the id was made up or changed, or made with another key")
            }
        }
    }
}

impl Error for OpaqueError {}

/// A key cannot have this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyIdError {
    /// It is above 3: a text has room for two bits.
    Range {
        /// The id.
        id: u8,
    },
    /// Another key has it.
    Taken {
        /// The id.
        id: u8,
    },
}

impl fmt::Display for KeyIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyIdError::Range { id } => {
                write!(f, "{id} cannot be the id of a key: ids are 0 to {MAX_KEY_ID}")
            }
            KeyIdError::Taken { id } => {
                write!(f, "two keys have the id {id}: give each an id of its own")
            }
        }
    }
}

impl Error for KeyIdError {}
