//! arbitrary 1 (feature `arbitrary-1`): any UID or dense number, made of a fuzzer's bytes.
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

use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($Id:ident) => {
        impl<'a> Arbitrary<'a> for $Id {
            fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<$Id> {
                let number = bytes.int_in_range($Id::MIN.get()..=$Id::MAX.get())?;
                $Id::new(number).ok_or(Error::IncorrectFormat)
            }

            fn size_hint(_: usize) -> (usize, Option<usize>) {
                <u64 as Arbitrary>::size_hint(0)
            }
        }
    };
}

integrate!(Uid);
integrate!(Number);
