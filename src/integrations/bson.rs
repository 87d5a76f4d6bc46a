//! bson 2 and 3, and so the driver of `MongoDB` (features `bson-2`, `bson-3`): a `Uid` or a
//! `Number` is an `Int64`, in documents, filters and updates.
//!
//! ```
//! # #[cfg(feature = "bson-3")] {
//! # use bson_3 as bson;
//! use bson::{Bson, doc};
//! use uidring::Uid;
//!
//! let id: Uid = "180363646902239241".parse()?;
//! let filter = doc! { "_id": id, "invoice": { "$in": [id, Uid::MIN] } };
//! assert_eq!(filter.get_i64("_id")?, 180_363_646_902_239_241);
//! assert_eq!(Bson::from(None::<Uid>), Bson::Null);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A field that serde writes has the same form with [`serde::number`](crate::serde::number), and
//! only then does such a filter find it.

use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($bson:ident, $Id:ident) => {
        impl From<$Id> for $bson::Bson {
            fn from(id: $Id) -> $bson::Bson {
                $bson::Bson::Int64(id.into())
            }
        }
    };
}

#[cfg(feature = "bson-2")]
integrate!(bson_2, Uid);
#[cfg(feature = "bson-2")]
integrate!(bson_2, Number);
#[cfg(feature = "bson-3")]
integrate!(bson_3, Uid);
#[cfg(feature = "bson-3")]
integrate!(bson_3, Number);
