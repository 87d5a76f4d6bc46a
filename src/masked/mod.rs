//! UIDs in a form that tells nothing (feature `masked`), for addresses, mails and invoices that
//! others see.
//!
//! A UID tells when it was made and by which worker, and two of them tell how many were made in
//! between. Who has one can guess others. Keep UIDs in the database, and give out one of these:
//!
//! | | [`Masked`] | [`Opaque`] |
//! |---|---|---|
//! | looks like | `7248484344334211842` | `ord_5H7WY7KKXFH1JCEMMC78CF0N9T` |
//! | fits | a signed 64-bit column, `u64` | a text of 26 characters and the prefix |
//! | is | FF1 of the UID's 63 bits | AES-256 of the UID and 64 zero bits |
//! | of another kind of thing | looks the same | has another prefix, and is refused |
//! | a made-up one | stands for some UID | is refused |
//! | change of the key | changes all of them | by key id: old ones stay valid |
//!
//! ```
//! use uidring::Uid;
//! use uidring::masked::{Key, Masked, Opaque};
//!
//! let key: Key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f".parse()?;
//! let uid: Uid = "180363646902239241".parse()?;
//!
//! let masked = Masked::new(&key);
//! let public: u64 = masked.mask(uid);
//! assert_eq!(public, 7_248_484_344_334_211_842);
//! assert_eq!(masked.unmask(public)?, uid);
//!
//! let orders = Opaque::new(&key, "ord");
//! let public = orders.encode(uid).to_string();
//! assert_eq!(public, "ord_5H7WY7KKXFH1JCEMMC78CF0N9T");
//! assert_eq!(orders.decode(&public)?, uid);
//!
//! let customers = Opaque::new(&key, "cus");
//! assert!(customers.decode(&public).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A dense number, which tells how many there are, can be masked as well: each has the range of a
//! UID, so `Uid::try_from(number.get())` always succeeds.
//!
//! # What they hide
//!
//! Both are standard constructions, and their ciphers are those of the crate `aes`. `Masked` is FF1
//! of NIST [SP 800-38G](https://doi.org/10.6028/NIST.SP.800-38G), with AES-128, radix 2, 63 digits
//! and an empty tweak; the number 0, which is no UID, is left out by cycle walking. `Opaque` is
//! *encode, then encipher* ([Bellare and Rogaway, 2000][encode]): a block of AES-256 whose second
//! half has to be zero.
//!
//! [encode]: http://web.cs.ucdavis.edu/~rogaway/papers/encode.htm
//!
//! If FF1 and AES are the strong pseudorandom permutations that they are taken for, then
//!
//! * masked UIDs, however many somebody has collected, look like as many different numbers drawn at
//!   random from `1..=2^63-1`, and opaque ones like as many different blocks of 128 random bits.
//!   Without the key they reveal no time, no worker, no order and no volume. That holds even for
//!   somebody who knows the UIDs of some of them, or can have UIDs of their choice masked, about
//!   all others.
//! * a made-up opaque id is accepted with a probability below `2^-64`: of all `2^128` blocks,
//!   `2^63-1` are the encryption of a UID. That holds for each try, also with any number of valid
//!   ids to learn from.
//!
//! The known attacks on FF1 are on small domains. NIST's [revision
//! 1](https://csrc.nist.gov/pubs/sp/800/38/g/r1/2pd) asks for at least a million numbers; here are
//! `2^63`.
//!
//! # What they do not hide
//!
//! * **Equality.** The same UID always has the same form, so whoever sees two ids knows whether
//!   they are of the same row, and can count how many different ones they have seen.
//! * **What else is told.** A date beside the id, or the order of a list, tells what the id hides.
//! * **Nothing is signed in `Masked`.** Each number in `1..=2^63-1` unmasks to some UID, so an
//!   error says only that a number is out of range. With a million rows in the table, one made-up
//!   number in nine trillion (9 · 10^12) hits a row.
//! * **No id is a permission.** An opaque id proves that somebody with the key made it at some
//!   time, and not who sends it. It can be copied, it does not expire, and it is in logs and
//!   browser histories. Check who may see the row.
//! * **The key opens everything**, all ids of the past included. It is in the memory of each
//!   process that masks. If it is lost to others, take a new one: old opaque ids are refused once
//!   their key id is no longer accepted, while masked ones all change.
//!
//! `aes` uses the processor's instructions where there are any, and else a constant-time
//! implementation: neither has branches or table look-ups that depend on a secret.

mod ff1;
mod key;
mod opaque;

use std::fmt;

use crate::uid::{Uid, UidRangeError};
use ff1::Ff1;

pub use key::{Key, ParseKeyError};
pub use opaque::{KeyIdError, Opaque, OpaqueError, OpaqueText};

/// UIDs as numbers that tell nothing: a permutation of `1..=2^63-1` that a [`Key`] selects.
///
/// ```
/// use uidring::Uid;
/// use uidring::masked::{Key, Masked};
///
/// let masked = Masked::new(&Key::from([7; 32]));
/// let uid: Uid = "180363646902239241".parse()?;
/// assert_eq!(masked.mask(uid), 745_761_543_731_117_368);
/// assert_eq!(masked.unmask(745_761_543_731_117_368)?, uid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A masked UID is in the range of UIDs, so it fits a signed 64-bit field, and is never 0. In JSON
/// write it as a string, because JavaScript loses digits above `2^53`: the form of a field is
/// `uidring::serde::masked`, or `uidring::serde::masked::text` in CSV and the like.
///
/// It does not sort by time. Keep the UID in the table, and mask it where it leaves the program.
///
/// Each number in the range unmasks to some UID: nothing tells a made-up one. [The module's
/// page](self) says what is hidden and what is not. There is no room for a key id in 63 bits, so
/// another key changes all masked UIDs; whoever must change it gives the new ones another address,
/// or another field, and keeps both instances as long as old ids come back.
///
/// All processes with the same key have the same permutation. It is the same in all versions of
/// this library: FF1 with AES-128, whose key is HKDF-SHA-256 of the [`Key`] with the `info`
/// `uidring masked v1`.
///
/// Masking takes no lock and allocates nothing. It needs ten AES blocks, each of which waits for
/// the one before.
#[derive(Clone)]
pub struct Masked {
    ff1: Ff1<63>,
}

/// How many UIDs [`Masked::mask_all`] masks at a time.
const LANES: usize = 16;

impl Masked {
    /// The permutation that `key` selects. It costs about a microsecond; keep the instance.
    ///
    /// ```
    /// # use uidring::masked::{Key, Masked};
    /// let masked = Masked::new(&Key::from([7; 32]));
    /// ```
    #[must_use]
    pub fn new(key: &Key) -> Masked {
        Masked { ff1: Ff1::new(&key.derive(&[b"uidring masked v1"])) }
    }

    /// The masked form of a UID, in `1..=2^63-1`.
    ///
    /// ```
    /// # use uidring::{Uid, masked::{Key, Masked}};
    /// # let masked = Masked::new(&Key::from([7; 32]));
    /// assert_ne!(masked.mask(Uid::MIN), masked.mask(Uid::MAX));
    /// ```
    #[must_use]
    pub fn mask(&self, uid: Uid) -> u64 {
        let [masked] = self.ff1.encrypt_nonzero([uid.get()]);
        masked
    }

    /// The masked forms of many UIDs, in their order. Each takes a fraction of the time of
    /// [`mask`](Masked::mask), because the processor works on several at once.
    ///
    /// ```
    /// # use uidring::{Uid, masked::{Key, Masked}};
    /// # let masked = Masked::new(&Key::from([7; 32]));
    /// let uids = [Uid::MIN, Uid::MAX];
    /// assert_eq!(masked.mask_all(&uids), uids.map(|uid| masked.mask(uid)));
    /// ```
    #[must_use]
    pub fn mask_all(&self, uids: &[Uid]) -> Vec<u64> {
        let mut masked = Vec::with_capacity(uids.len());
        let (chunks, rest) = uids.as_chunks::<LANES>();
        for chunk in chunks {
            masked.extend(self.ff1.encrypt_nonzero(chunk.map(Uid::get)));
        }
        let (chunks, rest) = rest.as_chunks::<4>();
        for chunk in chunks {
            masked.extend(self.ff1.encrypt_nonzero(chunk.map(Uid::get)));
        }
        masked.extend(rest.iter().map(|&uid| self.mask(uid)));
        masked
    }

    /// The UID of a masked form.
    ///
    /// # Errors
    ///
    /// `masked` is 0 or above `2^63-1`. No other number is an error, even if nobody has masked the
    /// UID that it stands for.
    ///
    /// ```
    /// # use uidring::{Uid, masked::{Key, Masked}};
    /// # let masked = Masked::new(&Key::from([7; 32]));
    /// assert_eq!(masked.unmask(masked.mask(Uid::MAX)), Ok(Uid::MAX));
    /// let error = masked.unmask(0).unwrap_err();
    /// assert_eq!(error.to_string(), "0 is not a UID: a UID is in 1..=9223372036854775807");
    /// ```
    pub fn unmask(&self, masked: u64) -> Result<Uid, UidRangeError> {
        // A masked UID has the range of a UID.
        let [uid] = self.ff1.decrypt_nonzero([Uid::try_from(masked)?.get()]);
        Uid::try_from(uid)
    }
}

impl fmt::Debug for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Masked(..)")
    }
}
