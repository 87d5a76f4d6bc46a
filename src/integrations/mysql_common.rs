//! `mysql_common` 0.37, and so `mysql_async` 0.37 and mysql 28 (feature `mysql-common-0_37`): a
//! `Uid` or a `Number` is a `BIGINT`.
//!
//! The error of `mysql_common` has no room for a reason: it shows the value that is neither.
//!
//! ```
//! # use mysql_common_0_37 as mysql_common;
//! use mysql_common::Value;
//! use mysql_common::prelude::FromValue;
//! use uidring::Uid;
//!
//! let uid: Uid = "180363646902239241".parse()?;
//! assert_eq!(Value::from(uid), Value::Int(180_363_646_902_239_241));
//! assert_eq!(Uid::from_value_opt(Value::from(uid))?, uid);
//! assert_eq!(Option::<Uid>::from_value_opt(Value::NULL)?, None);
//! for no_uid in [Value::NULL, Value::Int(0), Value::Int(-1)] {
//!     assert!(Uid::from_value_opt(no_uid).is_err());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// With mysql_common, a program chooses how flate2 decompresses. Where it does not, it is in Rust.
use flate2 as _;
use mysql_common_0_37::prelude::FromValue;
use mysql_common_0_37::{FromValueError, Value};

use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($Id:ident) => {
        impl From<$Id> for Value {
            fn from(id: $Id) -> Value {
                i64::from(id).into()
            }
        }

        impl FromValue for $Id {
            type Intermediate = $Id;
        }

        impl TryFrom<Value> for $Id {
            type Error = FromValueError;

            fn try_from(value: Value) -> Result<$Id, FromValueError> {
                let number = i64::from_value_opt(value)?;
                $Id::try_from(number).map_err(|_| FromValueError(number.into()))
            }
        }
    };
}

integrate!(Uid);
integrate!(Number);
