//! postgres-types 0.2, and so tokio-postgres 0.7 and postgres 0.19 (feature `postgres-types-0_2`):
//! a `Uid` or a `Number` is an `INT8`.
//!
//! ```no_run
//! # #[cfg(feature = "postgres")] {
//! use tokio_postgres::Client;
//! use uidring::Uid;
//!
//! async fn invoices(db: &Client, orders: &[Uid]) -> Result<Vec<Uid>, tokio_postgres::Error> {
//!     let query = "SELECT invoice FROM orders WHERE id = ANY($1) AND invoice IS NOT NULL";
//!     db.query(query, &[&orders]).await?.iter().map(|row| row.try_get(0)).collect()
//! }
//! # }
//! ```
//!
//! What is read must be a UID:
//!
//! ```
//! # use postgres_types_0_2 as postgres_types;
//! use postgres_types::{FromSql, Type};
//! use uidring::Uid;
//!
//! assert_eq!(Uid::from_sql(&Type::INT8, &42_i64.to_be_bytes())?.get(), 42);
//! let error = Uid::from_sql(&Type::INT8, &(-1_i64).to_be_bytes()).unwrap_err();
//! assert_eq!(error.to_string(), "-1 is not a UID: a UID is in 1..=9223372036854775807");
//! # Ok::<(), Box<dyn std::error::Error + Sync + Send>>(())
//! ```

use std::error::Error;

use postgres_types_0_2::private::BytesMut;
use postgres_types_0_2::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($Id:ident) => {
        impl ToSql for $Id {
            fn to_sql(
                &self,
                ty: &Type,
                out: &mut BytesMut,
            ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
                i64::from(*self).to_sql(ty, out)
            }

            fn accepts(ty: &Type) -> bool {
                <i64 as ToSql>::accepts(ty)
            }

            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for $Id {
            fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<$Id, Box<dyn Error + Sync + Send>> {
                Ok($Id::try_from(i64::from_sql(ty, raw)?)?)
            }

            fn accepts(ty: &Type) -> bool {
                <i64 as FromSql>::accepts(ty)
            }
        }
    };
}

integrate!(Uid);
integrate!(Number);
