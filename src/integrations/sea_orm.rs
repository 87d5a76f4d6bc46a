//! SeaORM 1.1 and 2 (features `sea-orm-1`, `sea-orm-2`): a `Uid` is a `BigInteger`, and may be the
//! primary key of an entity, without `auto_increment`.
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

use crate::uid::Uid;

macro_rules! integrate {
    ($sea_orm:ident) => {
        const _: () = {
            use $sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
            use $sea_orm::{
                ActiveValue, ColIdx, DbErr, IntoActiveValue, QueryResult, TryFromU64, TryGetError,
                TryGetable, Value,
            };

            impl From<Uid> for Value {
                fn from(uid: Uid) -> Value {
                    i64::from(uid).into()
                }
            }

            impl ValueType for Uid {
                fn try_from(value: Value) -> Result<Uid, ValueTypeErr> {
                    let number = <i64 as ValueType>::try_from(value)?;
                    <Uid as TryFrom<i64>>::try_from(number).map_err(|_| ValueTypeErr)
                }

                fn type_name() -> String {
                    "Uid".to_owned()
                }

                fn array_type() -> ArrayType {
                    <i64 as ValueType>::array_type()
                }

                fn column_type() -> ColumnType {
                    <i64 as ValueType>::column_type()
                }
            }

            impl Nullable for Uid {
                fn null() -> Value {
                    i64::null()
                }
            }

            impl TryGetable for Uid {
                fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Uid, TryGetError> {
                    let number = i64::try_get_by(row, index)?;
                    let uid = <Uid as TryFrom<i64>>::try_from(number);
                    uid.map_err(|error| DbErr::Type(error.to_string()).into())
                }
            }

            impl TryFromU64 for Uid {
                fn try_from_u64(number: u64) -> Result<Uid, DbErr> {
                    let uid = <Uid as TryFrom<u64>>::try_from(number);
                    uid.map_err(|error| DbErr::Type(error.to_string()))
                }
            }

            impl IntoActiveValue<Uid> for Uid {
                fn into_active_value(self) -> ActiveValue<Uid> {
                    ActiveValue::Set(self)
                }
            }
        };
    };
}

#[cfg(feature = "sea-orm-1")]
integrate!(sea_orm_1);
#[cfg(feature = "sea-orm-2")]
integrate!(sea_orm_2);
