//! [`Uid`] in JSON and other formats of serde (feature `serde`).
//!
//! A `Uid` itself is a decimal string in human-readable formats, since JavaScript loses digits
//! above `2^53`, and an unsigned integer in binary ones. Human-readable formats may have an integer
//! as well where a `Uid` is read.
//!
//! The modules here are for a field that has another form: [`number`] and [`base32`], and
//! `number::option` and `base32::option` for a field that may be empty.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use uidring::Uid;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Order {
//!     id: Uid,
//!     #[serde(with = "uidring::serde::number")]
//!     customer: Uid,
//!     #[serde(with = "uidring::serde::number::option")]
//!     invoice: Option<Uid>,
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::uid::Uid;

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.get())
        }
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Uid, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(UidVisitor)
        } else {
            deserializer.deserialize_u64(UidVisitor)
        }
    }
}

struct UidVisitor;

impl Visitor<'_> for UidVisitor {
    type Value = Uid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a UID, a whole number in 1..=9223372036854775807, as a decimal string or an integer",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Uid, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Uid, E> {
        NumberVisitor.visit_u64(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Uid, E> {
        NumberVisitor.visit_i64(value)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Uid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a UID, a whole number in 1..=9223372036854775807, as an integer")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Uid, E> {
        Uid::try_from(value).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Uid, E> {
        Uid::try_from(value).map_err(E::custom)
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
    ($example:literal) => {
        /// The same for an `Option<Uid>`.
        ///
        /// With `default` a field that is left out is read as `None`, too.
        ///
        /// ```
        /// use serde::{Deserialize, Serialize};
        /// use uidring::Uid;
        ///
        /// #[derive(Serialize, Deserialize)]
        /// struct Order {
        #[doc = concat!("    #[serde(default, with = \"uidring::serde::", $example, "::option\")]")]
        ///     id: Option<Uid>,
        /// }
        ///
        /// let order: Order = serde_json::from_str("{}")?;
        /// assert_eq!(serde_json::to_string(&order)?, r#"{"id":null}"#);
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        pub mod option {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            use crate::uid::Uid;

            struct Form(Uid);

            impl Serialize for Form {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    super::serialize(&self.0, serializer)
                }
            }

            impl<'de> Deserialize<'de> for Form {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Form, D::Error> {
                    super::deserialize(deserializer).map(Form)
                }
            }

            /// Writes the field, for `#[serde(with)]`.
            ///
            /// # Errors
            ///
            /// Those of the serializer.
            pub fn serialize<S: Serializer>(
                uid: &Option<Uid>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                uid.map(Form).serialize(serializer)
            }

            /// Reads the field, for `#[serde(with)]`.
            ///
            /// # Errors
            ///
            /// There is something else than a UID in this form, or nothing.
            pub fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<Uid>, D::Error> {
                Ok(Option::<Form>::deserialize(deserializer)?.map(|form| form.0))
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

    use super::NumberVisitor;
    use crate::uid::Uid;

    /// Writes the field, for `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(uid: &Uid, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(uid.get())
    }

    /// Reads the field, for `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// There is something else than a UID in this form.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uid, D::Error> {
        deserializer.deserialize_u64(NumberVisitor)
    }

    option!("number");
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

    option!("base32");
}
