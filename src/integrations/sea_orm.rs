//! SeaORM 1.1 and 2 (features `sea-orm-1`, `sea-orm-2`): a `Uid` or a `Number` is a
//! `BigInteger`, and may be the primary key of an entity, without `auto_increment`. A column that
//! is `BIGINT UNSIGNED` in MySQL is read as well.
//!
//! ```text
//! use sea_orm::entity::prelude::*;
//! use uidring::Uid;
//!
//! #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
//! #[sea_orm(table_name = "orders")]
//! pub struct Model {
//!     #[sea_orm(primary_key, auto_increment = false)]
//!     pub id: Uid,
//!     pub invoice: Option<Uid>,
//! }
//! ```
//!
//! In a query it stands wherever a value may:
//!
//! ```
//! # #[cfg(feature = "sea-orm-2")] {
//! # use sea_orm_2 as sea_orm;
//! use sea_orm::sea_query::{Expr, ExprTrait, PostgresQueryBuilder, Query};
//! use uidring::Uid;
//!
//! let mut query = Query::select();
//! query.column("invoice").from("orders").and_where(Expr::col("id").is_in([Uid::MIN, Uid::MAX]));
//! let expected = r#"SELECT "invoice" FROM "orders" WHERE "id" IN (1, 9223372036854775807)"#;
//! assert_eq!(query.to_string(PostgresQueryBuilder), expected);
//! # }
//! ```

use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($sea_orm:ident, $Id:ident) => {
        const _: () = {
            use $sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
            use $sea_orm::{
                ActiveValue, ColIdx, DbErr, IntoActiveValue, QueryResult, TryFromU64, TryGetError,
                TryGetable, Value,
            };

            impl From<$Id> for Value {
                fn from(id: $Id) -> Value {
                    i64::from(id).into()
                }
            }

            impl ValueType for $Id {
                fn try_from(value: Value) -> Result<$Id, ValueTypeErr> {
                    let id = match value {
                        Value::BigUnsigned(Some(number)) => <$Id as TryFrom<u64>>::try_from(number),
                        value => {
                            let number = <i64 as ValueType>::try_from(value)?;
                            <$Id as TryFrom<i64>>::try_from(number)
                        }
                    };
                    id.map_err(|_| ValueTypeErr)
                }

                fn type_name() -> String {
                    stringify!($Id).to_owned()
                }

                fn array_type() -> ArrayType {
                    <i64 as ValueType>::array_type()
                }

                fn column_type() -> ColumnType {
                    <i64 as ValueType>::column_type()
                }
            }

            impl Nullable for $Id {
                fn null() -> Value {
                    i64::null()
                }
            }

            impl TryGetable for $Id {
                fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<$Id, TryGetError> {
                    let id = match i64::try_get_by(row, index) {
                        Ok(number) => <$Id as TryFrom<i64>>::try_from(number),
                        Err(error @ TryGetError::Null(_)) => return Err(error),
                        // Of an unsigned column, which MySQL alone has.
                        Err(error) => match u64::try_get_by(row, index) {
                            Ok(number) => <$Id as TryFrom<u64>>::try_from(number),
                            Err(_) => return Err(error),
                        },
                    };
                    id.map_err(|error| DbErr::Type(error.to_string()).into())
                }
            }

            impl TryFromU64 for $Id {
                fn try_from_u64(number: u64) -> Result<$Id, DbErr> {
                    let id = <$Id as TryFrom<u64>>::try_from(number);
                    id.map_err(|error| DbErr::Type(error.to_string()))
                }
            }

            impl IntoActiveValue<$Id> for $Id {
                fn into_active_value(self) -> ActiveValue<$Id> {
                    ActiveValue::Set(self)
                }
            }
        };
    };
}

#[cfg(feature = "sea-orm-1")]
integrate!(sea_orm_1, Uid);
#[cfg(feature = "sea-orm-1")]
integrate!(sea_orm_1, Number);
#[cfg(feature = "sea-orm-2")]
integrate!(sea_orm_2, Uid);
#[cfg(feature = "sea-orm-2")]
integrate!(sea_orm_2, Number);
