//! [`Uid`] and [`Number`] in JSON and other formats of serde (feature `serde`).
//!
//! Either is a decimal string in human-readable formats, since JavaScript loses digits above
//! `2^53`, and an unsigned integer in binary ones. A `Number` is usually far smaller, but a field
//! has one form whatever it holds, and the same for both.
//!
//! Where one is read from a human-readable format, an integer below `2^53` is accepted as well. A
//! larger one is an error: whoever wrote it may have rounded it, as JavaScript does, and it would
//! be another id.
//!
//! # Which form for which format
//!
//! Some formats take each text of digits for an integer when they are asked what there is, and some
//! say of a binary format that it is human-readable. There a field needs a form of its own, a
//! module of this page, named by `#[serde(with = "uidring::serde::text")]`:
//!
//! * [`text`]: a decimal string in every format. It is read as a text, and as an integer where the
//!   format brings one anyway; in JSON, an integer is refused.
//! * [`number`]: an integer in every format, also in JSON, where nothing tells a rounded one.
//! * [`base32`]: 13 characters in every format; a `Number` has none.
//! * `masked`: a `u64` that is a masked UID, in the form of a UID; `masked::text` in that of `text`
//!   (feature `masked`).
//!
//! `text::option` and so on are for a field that may be empty. A "✓" reads what it writes, and
//! "string" or "integer" says what that is:
//!
//! | format | none | `text` | `number` |
//! |---|---|---|---|
//! | JSON | ✓ string | ✓ string | ✓ integer |
//! | JSON: tagged, untagged, flattened | ✓ string | ✓ string | ✓ integer |
//! | YAML | ✓ string | ✓ string | ✓ integer |
//! | TOML | ✓ string | ✓ string | ✓ integer |
//! | RON | ✓ string | ✓ string | ✓ integer |
//! | URL-encoded forms, queries | ✓ string | ✓ string | ✓ integer |
//! | CSV | – | ✓ string | ✓ integer |
//! | figment, from variables or files | – | ✓ string | ✓ integer |
//! | config, from variables or files | – | ✓ string | ✓ integer |
//! | envy | ✓ string | ✓ string | ✓ integer |
//! | paths of actix-web | – | ✓ string | ✓ integer |
//! | paths of axum | ✓ string | ✓ string | ✓ integer |
//! | XML: quick-xml | – | ✓ string | ✓ integer |
//! | XML: serde-xml-rs | – | ✓ string | ✓ integer |
//! | BSON, `MongoDB` | two forms | ✓ string | ✓ integer |
//! | `MessagePack`, CBOR | ✓ integer | ✓ string | ✓ integer |
//! | `MessagePack`, CBOR: tagged, untagged, flattened | – | ✓ string | ✓ integer |
//! | postcard, bincode | ✓ integer | ✓ string | ✓ integer |
//!
//! In XML and in queries a `None` reads as an empty text: leave it out with
//! `skip_serializing_if = "Option::is_none"`.
//!
//! BSON has two: `bson::serialize_to_vec` writes an integer and `bson::serialize_to_document` a
//! string, so that a filter that is made by the one finds nothing that was stored by the other. In
//! a `doc!`, a UID is an integer (features `bson-2` and `bson-3`): `number` fits it.
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

mod visitor;

use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use self::visitor::{Base32Visitor, ExactVisitor, IntegerVisitor, TextVisitor};
use crate::number::Number;
use crate::uid::Uid;

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

/// A field as a decimal string, in every format. It asks the format for a text, which CSV, XML and
/// the paths of addresses have for any digits. Where a format brings an integer nevertheless, as
/// those of configuration do, it is taken as it is. In JSON an integer is refused, as JavaScript
/// may have rounded it.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use uidring::Uid;
///
/// #[derive(Serialize, Deserialize)]
/// struct Order {
///     #[serde(with = "uidring::serde::text")]
///     id: Uid,
/// }
///
/// let order: Order = serde_json::from_str(r#"{"id":"180363646902239241"}"#)?;
/// assert_eq!(order.id.to_string(), "180363646902239241");
/// assert_eq!(serde_json::to_string(&order)?, r#"{"id":"180363646902239241"}"#);
/// assert!(serde_json::from_str::<Order>(r#"{"id":180363646902239241}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub mod text {
    use serde::{Deserializer, Serializer};

    use super::{ExactVisitor, PhantomData};
    use crate::support::integer::Integer;

    /// Writes the field, a [`Uid`](crate::Uid) or a [`Number`](crate::segment::Number), for
    /// `#[serde(with)]`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<T: Integer, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
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
        deserializer.deserialize_str(ExactVisitor(PhantomData))
    }

    option!("text", "either", "Uid", T, T: Integer);
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
    use crate::support::integer::Integer;

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

    /// A `u64` that is a masked UID, in the form [`text`](crate::serde::text).
    ///
    /// ```
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Order {
    ///     #[serde(with = "uidring::serde::masked::text")]
    ///     id: u64,
    /// }
    ///
    /// let order: Order = serde_json::from_str(r#"{"id":"745761543731117368"}"#)?;
    /// assert_eq!(serde_json::to_string(&order)?, r#"{"id":"745761543731117368"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub mod text {
        use serde::ser::Error;
        use serde::{Deserializer, Serializer};

        use crate::uid::Uid;

        /// Writes the field, for `#[serde(with)]`.
        ///
        /// # Errors
        ///
        /// Those of the serializer, and if the number is not a masked UID: 0 or above `2^63-1`.
        pub fn serialize<S: Serializer>(masked: &u64, serializer: S) -> Result<S::Ok, S::Error> {
            let uid = Uid::try_from(*masked).map_err(S::Error::custom)?;
            crate::serde::text::serialize(&uid, serializer)
        }

        /// Reads the field, for `#[serde(with)]`.
        ///
        /// # Errors
        ///
        /// There is something else in this form.
        pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
            crate::serde::text::deserialize(deserializer).map(Uid::get)
        }

        option!("masked::text", "a masked UID", "u64", u64);
    }
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
