//! schemars 1 (feature `schemars-1`): the JSON schema of a `Uid` is a string of digits, as
//! [`serde`](crate::serde) writes it.
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

use super::{DESCRIPTION, PATTERN};
use crate::uid::Uid;

impl JsonSchema for Uid {
    fn schema_name() -> Cow<'static, str> {
        "Uid".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "uidring::Uid".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": PATTERN, "description": DESCRIPTION })
    }
}
