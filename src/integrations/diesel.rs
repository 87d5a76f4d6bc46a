//! diesel 2.3 (feature `diesel-2`): a `Uid` or a `Number` is a `BigInt`, for every backend. With
//! the feature `diesel-2-mysql` it is an `Unsigned<BigInt>` as well.
//!
//! Diesel's error names the field with a value that is neither, and its `source()` says why.
//!
//! ```standalone_crate
//! # extern crate diesel_2 as diesel;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use diesel::prelude::*;
//! use uidring::Uid;
//!
//! diesel::table! {
//!     orders {
//!         id -> BigInt,
//!         invoice -> Nullable<BigInt>,
//!     }
//! }
//!
//! #[derive(Queryable, Insertable, Identifiable)]
//! #[diesel(table_name = orders)]
//! struct Order {
//!     id: Uid,
//!     invoice: Option<Uid>,
//! }
//!
//! let id: Uid = "180363646902239241".parse()?;
//! let order = Order { id, invoice: None };
//! let insert = diesel::insert_into(orders::table).values(&order);
//! let later = orders::table.filter(orders::id.gt(id)).filter(orders::invoice.eq(id));
//! let some = orders::table.filter(orders::id.eq_any([id, Uid::MIN]));
//! # let _ = (insert, later, some, order.invoice);
//! # Ok(())
//! # }
//! ```

use diesel_2::backend::Backend;
use diesel_2::deserialize::{self, FromSql, Queryable};
use diesel_2::expression::AsExpression;
use diesel_2::serialize::{self, Output, ToSql};
use diesel_2::sql_types::{BigInt, Nullable, SingleValue};

use crate::number::Number;
use crate::uid::Uid;

macro_rules! as_expression {
    ($($id:ty, $sql_type:ty, $number:ty;)*) => { $(
        impl AsExpression<$sql_type> for $id {
            type Expression = <$number as AsExpression<$sql_type>>::Expression;

            fn as_expression(self) -> Self::Expression {
                AsExpression::<$sql_type>::as_expression(<$number>::from(self.to_owned()))
            }
        }
    )* };
}

macro_rules! integrate {
    ($Id:ident) => {
        impl<DB: Backend> ToSql<BigInt, DB> for $Id
        where
            i64: ToSql<BigInt, DB>,
        {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
                self.as_i64().to_sql(out)
            }
        }

        impl<DB: Backend> FromSql<BigInt, DB> for $Id
        where
            i64: FromSql<BigInt, DB>,
        {
            fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<$Id> {
                Ok($Id::try_from(i64::from_sql(bytes)?)?)
            }
        }

        impl<ST: SingleValue, DB: Backend> Queryable<ST, DB> for $Id
        where
            $Id: FromSql<ST, DB>,
        {
            type Row = $Id;

            fn build(id: $Id) -> deserialize::Result<$Id> {
                Ok(id)
            }
        }

        as_expression! {
            $Id, BigInt, i64;
            &$Id, BigInt, i64;
            $Id, Nullable<BigInt>, i64;
            &$Id, Nullable<BigInt>, i64;
        }
    };
}

/// `BIGINT UNSIGNED` of MySQL, in which other programs have kept their ids.
#[cfg(feature = "diesel-2-mysql")]
macro_rules! unsigned {
    ($Id:ident) => {
        const _: () = {
            use diesel_2::mysql::Mysql;
            use diesel_2::sql_types::Unsigned;

            impl ToSql<Unsigned<BigInt>, Mysql> for $Id {
                fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Mysql>) -> serialize::Result {
                    // The bytes are the same.
                    ToSql::<BigInt, Mysql>::to_sql(self, out)
                }
            }

            impl FromSql<Unsigned<BigInt>, Mysql> for $Id {
                fn from_sql(bytes: <Mysql as Backend>::RawValue<'_>) -> deserialize::Result<$Id> {
                    let number = <u64 as FromSql<Unsigned<BigInt>, Mysql>>::from_sql(bytes)?;
                    Ok($Id::try_from(number)?)
                }
            }

            as_expression! {
                $Id, Unsigned<BigInt>, u64;
                &$Id, Unsigned<BigInt>, u64;
                $Id, Nullable<Unsigned<BigInt>>, u64;
                &$Id, Nullable<Unsigned<BigInt>>, u64;
            }
        };
    };
}

integrate!(Uid);
integrate!(Number);
#[cfg(feature = "diesel-2-mysql")]
unsigned!(Uid);
#[cfg(feature = "diesel-2-mysql")]
unsigned!(Number);
