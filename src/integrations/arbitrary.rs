//! arbitrary 1 (feature `arbitrary-1`): any UID, made of a fuzzer's bytes.
//!
//! ```
//! # use arbitrary_1 as arbitrary;
//! use arbitrary::{Arbitrary, Unstructured};
//! use uidring::Uid;
//!
//! let mut bytes = Unstructured::new(&[255; 8]);
//! let uid = Uid::arbitrary(&mut bytes)?;
//! assert_eq!(Uid::new(uid.get()), Some(uid));
//! # Ok::<(), arbitrary::Error>(())
//! ```

use arbitrary_1::{Arbitrary, Error, Result, Unstructured};

use crate::uid::Uid;

impl<'a> Arbitrary<'a> for Uid {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Uid> {
        let number = bytes.int_in_range(Uid::MIN.get()..=Uid::MAX.get())?;
        Uid::new(number).ok_or(Error::IncorrectFormat)
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        <u64 as Arbitrary>::size_hint(0)
    }
}
