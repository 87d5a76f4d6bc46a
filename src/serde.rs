//! [`Uid`] and [`Number`] in JSON and other formats of serde (feature `serde`).
//!
//! Either is a decimal string in human-readable formats, since JavaScript loses digits above
//! `2^53`, and an unsigned integer in binary ones. A `Number` is usually far smaller, but a field
//! has one form whatever it holds, and the same for both.
//!
//! Where one is read from a human-readable format, an integer below `2^53` is accepted as well. A
//! larger one is an error: whoever wrote it may have rounded it, as JavaScript does, and it would
//! be another id. A field whose writers are known to have 64-bit integers has the form [`number`].
//!
//! The modules here are for a field that has another form: [`number`] and [`base32`], and
//! `number::option` and `base32::option` for a field that may be empty. A `Number` has no base32.
//! With the feature `masked`, a `u64` that is a masked UID has the form `masked`.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use uidring::Uid;
//! use uidring::segment::Number;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Order {
//!     id: Uid,
//!     #[serde(with = "uidring::serde::number")]
//!     customer: Uid,
//!     #[serde(with = "uidring::serde::number::option")]
//!     invoice: Option<Number>,
//!     #[serde(with = "uidring::serde::base32")]
//!     ticket: Uid,
//!     #[serde(default, with = "uidring::serde::base32::option")]
//!     voucher: Option<Uid>,
//! }
//!
//! let uid: Uid = "180363646902239241".parse()?;
//! let order =
//!     Order { id: uid, customer: uid, invoice: None, ticket: uid, voucher: Some(Uid::MIN) };
//! let json = r#"{"id":"180363646902239241","customer":180363646902239241,"invoice":null,"#
//!     .to_owned()
//!     + r#""ticket":"05067S0001009","voucher":"0000000000001"}"#;
//! assert_eq!(serde_json::to_string(&order)?, json);
//! assert_eq!(serde_json::from_str::<Order>(&json)?, order);
//!
//! // JavaScript has made ...240 of it.
//! let error = serde_json::from_str::<Uid>("180363646902239240").unwrap_err();
//! assert!(error.to_string().contains("may have been rounded"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In an untagged enum, or beside `flatten`, serde says of each format that it is human-readable. A
//! field that is there and in a binary format needs the form [`number`].

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::integer::Integer;
use crate::number::Number;
use crate::uid::Uid;

/// The largest integer of JavaScript that no other one is rounded to.
const EXACT: u64 = (1 << 53) - 1;

macro_rules! string_or_integer {
    ($Id:ident) => {
        impl Serialize for $Id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_u64(self.get())
                }
            }
        }

        impl<'de> Deserialize<'de> for $Id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$Id, D::Error> {
                if deserializer.is_human_readable() {
                    deserializer.deserialize_any(TextVisitor(PhantomData))
                } else {
                    deserializer.deserialize_u64(IntegerVisitor(PhantomData))
                }
            }
        }
    };
}

string_or_integer!(Uid);
string_or_integer!(Number);

/// Reads what a human-readable format has.
struct TextVisitor<T>(PhantomData<T>);

impl<T: Integer> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, a whole number in 1..=9223372036854775807, as a decimal string or an integer",
            T::NAME
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        let id = IntegerVisitor(PhantomData).visit_u64(value)?;
        if value > EXACT {
            return Err(E::custom(format_args!(
                "{value} may have been rounded, as JavaScript does with integers from 2^53 on: \
                 send {} of that size as a string, or read the field with `uidring::serde::number` \
                 if all of its writers have 64-bit integers",
                T::NAME
            )));
        }
        Ok(id)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => IntegerVisitor(PhantomData).visit_i64(value),
        }
    }
}

/// Reads an integer that is known to be exact.
struct IntegerVisitor<T>(PhantomData<T>);

impl<T: Integer> Visitor<'_> for IntegerVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, a whole number in 1..=9223372036854775807, as an integer", T::NAME)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::try_from(value).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        T::try_from(value).map_err(E::custom)
    }
}

struct Base32Visitor;

impl Visitor<'_> for Base32Visitor {
    type Value = Uid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a UID as 13 characters of Crockford's base32")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Uid, E> {
        Uid::from_base32(text).map_err(E::custom)
    }
}

/// The functions of the module that this stands in, for a field that may be empty.
macro_rules! option {
    ($form:literal, $what:literal, $field:literal, $Id:ident $(, $of:ident: $bound:ident)?) => {
        #[doc = concat!("The same for an `Option` of ", $what, ".")]
        ///
        /// With `default` a field that is left out is read as `None`, too.
        ///
        /// ```
        /// use serde::{Deserialize, Serialize};
        /// use uidring::Uid;
        ///
        /// #[derive(Serialize, Deserialize)]
        /// struct Order {
        #[doc = concat!("    #[serde(default, with = \"uidring::serde::", $form, "::option\")]")]
        #[doc = concat!("    id: Option<", $field, ">,")]
        /// }
        ///
        /// let order: Order = serde_json::from_str("{}")?;
        /// assert_eq!(serde_json::to_string(&order)?, r#"{"id":null}"#);
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        pub mod option {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            #[allow(unused_imports)] // a type that has to be imported
            use super::*;

            struct Form<T>(T);

            impl<$($of: $bound)?> Serialize for Form<$Id> {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    super::serialize(&self.0, serializer)
                }
            }

            impl<'de $(, $of: $bound)?> Deserialize<'de> for Form<$Id> {
                fn deserialize<D: Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Form<$Id>, D::Error> {
                    super::deserialize(deserializer).map(Form)
                }
            }

            /// Writes the field, for `#[serde(with)]`.
            ///
            /// # Errors
            ///
            /// Those of the serializer.
            pub fn serialize<$($of: $bound,)? S: Serializer>(
                id: &Option<$Id>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                id.map(Form).serialize(serializer)
            }

            /// Reads the field, for `#[serde(with)]`.
            ///
            /// # Errors
            ///
            /// There is something else in this form, or nothing.
            pub fn deserialize<'de, $($of: $bound,)? D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<$Id>, D::Error> {
                Ok(Option::<Form<$Id>>::deserialize(deserializer)?.map(|form| form.0))
            }
        }
    };
}

/// A field as an integer, in every format. For JSON whose readers have 64-bit integers, which
/// JavaScript has not: there, a [`Layout`](crate::Layout) of 53 bits keeps numbers exact.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use uidring::Uid;
///
/// #[derive(Serialize, Deserialize)]
/// struct Order {
///     #[serde(with = "uidring::serde::number")]
///     id: Uid,
/// }
///
/// let order: Order = serde_json::from_str(r#"{"id":180363646902239241}"#)?;
/// assert_eq!(order.id.to_string(), "180363646902239241");
/// assert_eq!(serde_json::to_string(&order)?, r#"{"id":180363646902239241}"#);
///
/// let error = serde_json::from_str::<Order>(r#"{"id":0}"#).err().unwrap();
/// assert!(error.to_string().contains("0 is not a UID: a UID is in 1..=9223372036854775807"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub mod number {
    use serde::{Deserializer, Serializer};

    use super::{IntegerVisitor, PhantomData};
    use crate::integer::Integer;

    /// Writes the field, a [`Uid`](crate::Uid) or a [`Number`](crate::segment::Number), for
    /// `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<T: Integer, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(id.value())
    }

    /// Reads the field, a [`Uid`](crate::Uid) or a [`Number`](crate::segment::Number), for
    /// `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// There is something else in this form.
    pub fn deserialize<'de, T: Integer, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        deserializer.deserialize_u64(IntegerVisitor(PhantomData))
    }

    option!("number", "either", "Uid", T, T: Integer);
}

/// A `u64` that is a masked UID, in the form of a UID: a decimal string in human-readable formats,
/// and an unsigned integer in binary ones. Unmask it after it has been read.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use uidring::masked::{Key, Masked};
///
/// #[derive(Serialize, Deserialize)]
/// struct Order {
///     #[serde(with = "uidring::serde::masked")]
///     id: u64,
/// }
///
/// let masked = Masked::new(&Key::from([7; 32]));
/// let order: Order = serde_json::from_str(r#"{"id":"745761543731117368"}"#)?;
/// assert_eq!(masked.unmask(order.id)?.to_string(), "180363646902239241");
/// assert_eq!(serde_json::to_string(&order)?, r#"{"id":"745761543731117368"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "masked")]
pub mod masked {
    use serde::ser::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::uid::Uid;

    /// Writes the field, for `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// Those of the serializer, and if the number is not a masked UID: 0 or above `2^63-1`.
    pub fn serialize<S: Serializer>(masked: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        Uid::try_from(*masked).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Reads the field, for `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// There is something else in this form.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Uid::deserialize(deserializer).map(Uid::get)
    }

    option!("masked", "a masked UID", "u64", u64);
}

/// A field as the 13 characters of [`Uid::base32`], in every format. They are read as
/// [`Uid::from_base32`] reads them.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use uidring::Uid;
///
/// #[derive(Serialize, Deserialize)]
/// struct Order {
///     #[serde(with = "uidring::serde::base32")]
///     id: Uid,
/// }
///
/// let order: Order = serde_json::from_str(r#"{"id":"o5o67soooioo9"}"#)?;
/// assert_eq!(order.id.to_string(), "180363646902239241");
/// assert_eq!(serde_json::to_string(&order)?, r#"{"id":"05067S0001009"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub mod base32 {
    use serde::{Deserializer, Serializer};

    use super::Base32Visitor;
    use crate::uid::Uid;

    /// Writes the field, for `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(uid: &Uid, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(uid.base32().as_str())
    }

    /// Reads the field, for `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// There is something else than a UID in this form.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uid, D::Error> {
        deserializer.deserialize_str(Base32Visitor)
    }

    option!("base32", "a `Uid`", "Uid", Uid);
}
