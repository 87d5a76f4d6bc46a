//! utoipa 5 and 6 (features `utoipa-5`, `utoipa-6`): the OpenAPI schema of a `Uid` or a `Number` is
//! a string of digits, as [`serde`](crate::serde) writes it.
//!
//! ```
//! # #[cfg(feature = "utoipa-5")] {
//! # use utoipa_5 as utoipa;
//! use serde_json::json;
//! use uidring::Uid;
//! use utoipa::PartialSchema;
//!
//! let schema = serde_json::to_value(Uid::schema())?;
//! assert_eq!(schema["type"], json!("string"));
//! assert_eq!(schema["pattern"], json!("^[1-9][0-9]{0,18}$"));
//! # }
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! A field that serde writes in another form needs its own schema: `#[schema(value_type = u64)]`
//! for [`serde::number`](crate::serde::number).

use super::{NUMBER, PATTERN, UID};
use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($utoipa:ident, $Id:ident, $description:ident) => {
        const _: () = {
            use $utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
            use $utoipa::{PartialSchema, ToSchema};

            impl PartialSchema for $Id {
                fn schema() -> RefOr<Schema> {
                    ObjectBuilder::new()
                        .schema_type(Type::String)
                        .pattern(Some(PATTERN))
                        .description(Some($description))
                        .into()
                }
            }

            impl ToSchema for $Id {}
        };
    };
}

#[cfg(feature = "utoipa-5")]
integrate!(utoipa_5, Uid, UID);
#[cfg(feature = "utoipa-5")]
integrate!(utoipa_5, Number, NUMBER);
#[cfg(feature = "utoipa-6")]
integrate!(utoipa_6, Uid, UID);
#[cfg(feature = "utoipa-6")]
integrate!(utoipa_6, Number, NUMBER);
