//! [`MaskedIds`] and [`OpaqueIds`], which tell nothing of the ids that they stand for.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use uidring::Uid;
use uidring::masked::{Masked, Opaque};
use uidring_args::KeyFile;

use crate::error::Error;
use crate::store::Close;
use crate::uids::not_an_id;

/// What a key has made, until it is closed. Clones are handles of the same.
#[derive(Debug)]
struct Keyed<T>(Arc<ArcSwapOption<T>>);

impl<T> Clone for Keyed<T> {
    fn clone(&self) -> Keyed<T> {
        Keyed(Arc::clone(&self.0))
    }
}

impl<T> Keyed<T> {
    fn new(keyed: T) -> Keyed<T> {
        Keyed(Arc::new(ArcSwapOption::from_pointee(keyed)))
    }

    fn with<R>(&self, call: impl FnOnce(&T) -> Result<R, Error>) -> Result<R, Error> {
        match &*self.0.load() {
            Some(keyed) => call(keyed),
            None => Err(Error::closed(KEYS_WERE)),
        }
    }
}

impl<T: Send + Sync + 'static> Close for Keyed<T> {
    fn close(&self) -> Result<(), Error> {
        self.0.store(None);
        Ok(())
    }
}

/// How the error begins after a close.
const KEYS_WERE: &str = "the keys were";

/// Ids as numbers that tell nothing: UIDs, or dense numbers.
#[derive(Clone, Debug)]
pub struct MaskedIds(Keyed<Masked>);

impl MaskedIds {
    /// Masks with the first of `keys`, which is the text of a file of keys, or one key.
    ///
    /// # Errors
    /// These are no keys. The sentence has nothing of them.
    pub fn new(keys: &str) -> Result<MaskedIds, Error> {
        Ok(MaskedIds(Keyed::new(read(keys)?.masked())))
    }

    /// The masked form of an id.
    ///
    /// # Errors
    /// It is not an id, or the keys were closed.
    pub fn mask(&self, id: u64) -> Result<u64, Error> {
        self.0.with(|masked| Ok(masked.mask(uid(id)?)))
    }

    /// The masked forms of many, each in a fraction of the time.
    ///
    /// # Errors
    /// As [`mask`](MaskedIds::mask).
    pub fn mask_many(&self, ids: &[u64]) -> Result<Vec<u64>, Error> {
        let uids = ids.iter().map(|&id| uid(id)).collect::<Result<Vec<_>, _>>()?;
        self.0.with(|masked| Ok(masked.mask_all(&uids)))
    }

    /// The id of a masked form.
    ///
    /// # Errors
    /// It is out of range, or the keys were closed.
    pub fn unmask(&self, masked: u64) -> Result<u64, Error> {
        let refused = |_| not_an_id("a masked id", masked);
        self.0.with(|by| Ok(by.unmask(masked).map_err(refused)?.get()))
    }
}

/// Ids as texts that cannot be made up.
#[derive(Clone, Debug)]
pub struct OpaqueIds(Keyed<Opaque>);

impl OpaqueIds {
    /// Texts with this prefix, by the first of `keys`, which is the text of a file of keys, or one
    /// key. Those of the others are read.
    ///
    /// # Errors
    /// These are no keys, or it is no prefix.
    pub fn new(keys: &str, prefix: &str) -> Result<OpaqueIds, Error> {
        let prefix = uidring_args::prefix(prefix).map_err(Error::argument)?;
        let opaque = read(keys)?.opaque(&prefix).map_err(Error::argument)?;
        Ok(OpaqueIds(Keyed::new(opaque)))
    }

    /// The text of an id.
    ///
    /// # Errors
    /// It is not an id, or the keys were closed.
    pub fn encode(&self, id: u64) -> Result<String, Error> {
        self.0.with(|opaque| Ok(opaque.encode(uid(id)?).to_string()))
    }

    /// The id of a text.
    ///
    /// # Errors
    /// The text was made up or is of another kind, or the keys were closed.
    pub fn decode(&self, text: &str) -> Result<u64, Error> {
        self.0.with(|opaque| {
            let uid = opaque.decode(text).map_err(|error| Error::argument(error.to_string()))?;
            Ok(uid.get())
        })
    }
}

impl Close for MaskedIds {
    fn close(&self) -> Result<(), Error> {
        self.0.close()
    }
}

impl Close for OpaqueIds {
    fn close(&self) -> Result<(), Error> {
        self.0.close()
    }
}

fn read(keys: &str) -> Result<KeyFile, Error> {
    keys.parse().map_err(|problem| Error::argument(format!("the keys cannot be read: {problem}")))
}

fn uid(id: u64) -> Result<Uid, Error> {
    Uid::new(id).ok_or_else(|| not_an_id("an id", id))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    /// The numbers of the library's own page.
    #[test]
    fn ids_are_those_of_the_library() {
        let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        let masked = MaskedIds::new(key).unwrap();
        let uid = 180_363_646_902_239_241;
        assert_eq!(masked.mask(uid).unwrap(), 7_248_484_344_334_211_842);
        assert_eq!(masked.unmask(7_248_484_344_334_211_842).unwrap(), uid);
        assert_eq!(masked.mask_many(&[uid; 40]).unwrap(), [7_248_484_344_334_211_842; 40]);
        let orders = OpaqueIds::new(key, "ord").unwrap();
        assert_eq!(orders.encode(uid).unwrap(), "ord_5H7WY7KKXFH1JCEMMC78CF0N9T");
        assert_eq!(orders.decode("ord_5H7WY7KKXFH1JCEMMC78CF0N9T").unwrap(), uid);
        masked.close().unwrap();
        masked.close().unwrap();
        let said = masked.clone().mask(uid).unwrap_err();
        assert!(said.message.starts_with("the keys were closed"), "{said}");
        assert_eq!(said.kind, crate::Kind::Closed);
    }

    #[test]
    fn another_key_reads_what_the_first_has_made() {
        let [old, new] = ["0c", "9f"].map(|byte| byte.repeat(32));
        let text = OpaqueIds::new(&old, "ord").unwrap().encode(7).unwrap();
        let orders = OpaqueIds::new(&format!("1 {new}\n0 {old}\n"), "ord").unwrap();
        assert_eq!(orders.decode(&text).unwrap(), 7);
        assert_ne!(orders.encode(7).unwrap(), text);
    }

    #[test]
    fn what_is_wrong_is_told_and_no_key_is() {
        let key = "5a".repeat(32);
        let masked = MaskedIds::new(&key).unwrap();
        let orders = OpaqueIds::new(&key, "ord").unwrap();
        let made_up = format!("ord_{}", "0".repeat(26));
        for (result, said) in [
            (
                MaskedIds::new(&key[1..]).map(|_| ()),
                "the keys cannot be read: line 1: a key has 64",
            ),
            (
                MaskedIds::new("").map(|_| ()),
                "the keys cannot be read: there is no key in it: make",
            ),
            (OpaqueIds::new(&key, "o d").map(|_| ()), "a prefix is such as ord: 1 to 32 letters"),
            (masked.mask(0).map(|_| ()), "an id is a whole number from 1 to 922"),
            (masked.mask_many(&[1, 1 << 63]).map(|_| ()), "an id is a whole number from 1 to 922"),
            (masked.unmask(0).map(|_| ()), "a masked id is a whole number from 1 to 922"),
            (orders.encode(0).map(|_| ()), "an id is a whole number from 1 to 922"),
            (orders.decode("cus_1").map(|_| ()), "the id does not begin with \"ord_\""),
            (orders.decode(&made_up).map(|_| ()), "the id was made up or changed, or made with an"),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.kind, crate::Kind::InvalidArgument);
            assert!(error.message.starts_with(said) && !error.message.contains("5a5a"), "{error}");
        }
    }
}
