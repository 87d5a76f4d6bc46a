//! schemars 1 (feature `schemars-1`): the JSON schema of a `Uid` or a `Number` is a string of
//! digits, as [`serde`](crate::serde) writes it.
//!
//! ```
//! # use schemars_1 as schemars;
//! use serde_json::json;
//! use uidring::Uid;
//!
//! let schema = schemars::schema_for!(Uid);
//! assert_eq!(schema.get("type"), Some(&json!("string")));
//! assert_eq!(schema.get("pattern"), Some(&json!("^[1-9][0-9]{0,18}$")));
//! ```
//!
//! A field that serde writes in another form needs its own schema: `#[schemars(with = "u64")]` for
//! [`serde::number`](crate::serde::number).

use std::borrow::Cow;

use schemars_1::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{NUMBER, PATTERN, UID};
use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($Id:ident, $name:literal, $path:literal, $description:ident) => {
        impl JsonSchema for $Id {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn schema_id() -> Cow<'static, str> {
                $path.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string", "pattern": PATTERN, "description": $description,
                })
            }
        }
    };
}

integrate!(Uid, "Uid", "uidring::Uid", UID);
integrate!(Number, "Number", "uidring::segment::Number", NUMBER);
