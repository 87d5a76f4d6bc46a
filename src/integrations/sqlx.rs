//! sqlx 0.8 and 0.9 (features `sqlx-0_8`, `sqlx-0_9`): a `Uid` or a `Number` is a `BIGINT`,
//! for every database that has an `i64`. An `UNSIGNED` column of MySQL is read as well.
//!
//! The features `sqlx-0_8-postgres` and `sqlx-0_9-postgres` add arrays, which only PostgreSQL has:
//! `= ANY($1)`.
//!
//! ```no_run
//! # #[cfg(feature = "sqlx-0_9-postgres")] mod example {
//! # use sqlx_0_9 as sqlx;
//! use sqlx::PgPool;
//! use uidring::Uid;
//!
//! async fn insert(db: &PgPool, id: Uid, invoice: Option<Uid>) -> sqlx::Result<()> {
//!     let insert = "INSERT INTO orders (id, invoice) VALUES ($1, $2)";
//!     sqlx::query(insert).bind(id).bind(invoice).execute(db).await?;
//!     Ok(())
//! }
//!
//! async fn invoices(db: &PgPool, orders: &[Uid]) -> sqlx::Result<Vec<(Uid, Option<Uid>)>> {
//!     let select = "SELECT id, invoice FROM orders WHERE id = ANY($1)";
//!     sqlx::query_as(select).bind(orders).fetch_all(db).await
//! }
//! # }
//! ```
//!
//! The macro `query_as!` is told of the type by the column: `SELECT id AS "id: Uid"`.

use crate::number::Number;
use crate::uid::Uid;

/// The bits of an unsigned integer of MySQL, by the name of its type. sqlx reads it as a signed
/// one, whose sign goes beyond them. `None` for every other type.
fn unsigned(name: &str) -> Option<u64> {
    match name.strip_suffix(" UNSIGNED")? {
        "TINYINT" => Some(u8::MAX.into()),
        "SMALLINT" => Some(u16::MAX.into()),
        "MEDIUMINT" | "INT" => Some(u32::MAX.into()),
        "BIGINT" => Some(u64::MAX),
        _ => None,
    }
}

/// In 0.8 a buffer has a lifetime.
macro_rules! integrate {
    ($sqlx:ident, $Id:ident $(, $q:lifetime)?) => {
        const _: () = {
            use $sqlx::encode::IsNull;
            use $sqlx::error::{BoxDynError, UnexpectedNullError};
            use $sqlx::{Database, Decode, Encode, Type, TypeInfo, ValueRef};

            impl<DB: Database> Type<DB> for $Id
            where
                i64: Type<DB>,
            {
                fn type_info() -> DB::TypeInfo {
                    <i64 as Type<DB>>::type_info()
                }

                fn compatible(ty: &DB::TypeInfo) -> bool {
                    <i64 as Type<DB>>::compatible(ty) || unsigned(ty.name()).is_some()
                }
            }

            impl<'q, DB: Database> Encode<'q, DB> for $Id
            where
                i64: Encode<'q, DB>,
            {
                fn encode_by_ref(
                    &self,
                    buf: &mut <DB as Database>::ArgumentBuffer $(<$q>)?,
                ) -> Result<IsNull, BoxDynError> {
                    i64::from(*self).encode(buf)
                }

                fn produces(&self) -> Option<DB::TypeInfo> {
                    i64::from(*self).produces()
                }
            }

            impl<'r, DB: Database> Decode<'r, DB> for $Id
            where
                i64: Decode<'r, DB>,
            {
                fn decode(value: <DB as Database>::ValueRef<'r>) -> Result<$Id, BoxDynError> {
                    // SQLite makes a 0 of it.
                    if value.is_null() {
                        return Err(UnexpectedNullError.into());
                    }
                    let unsigned = unsigned(value.type_info().name());
                    let number = i64::decode(value)?;
                    Ok(match unsigned {
                        None => $Id::try_from(number)?,
                        Some(bits) => $Id::try_from(number.cast_unsigned() & bits)?,
                    })
                }
            }
        };
    };
}

#[cfg(feature = "sqlx-0_8")]
integrate!(sqlx_0_8, Uid, 'q);
#[cfg(feature = "sqlx-0_8")]
integrate!(sqlx_0_8, Number, 'q);
#[cfg(feature = "sqlx-0_9")]
integrate!(sqlx_0_9, Uid);
#[cfg(feature = "sqlx-0_9")]
integrate!(sqlx_0_9, Number);

#[cfg(any(feature = "sqlx-0_8-postgres", feature = "sqlx-0_9-postgres"))]
macro_rules! arrays {
    ($sqlx:ident, $Id:ident) => {
        impl $sqlx::postgres::PgHasArrayType for $Id {
            fn array_type_info() -> $sqlx::postgres::PgTypeInfo {
                i64::array_type_info()
            }
        }
    };
}

#[cfg(feature = "sqlx-0_8-postgres")]
arrays!(sqlx_0_8, Uid);
#[cfg(feature = "sqlx-0_8-postgres")]
arrays!(sqlx_0_8, Number);
#[cfg(feature = "sqlx-0_9-postgres")]
arrays!(sqlx_0_9, Uid);
#[cfg(feature = "sqlx-0_9-postgres")]
arrays!(sqlx_0_9, Number);
