//! diesel 2.3 (feature `diesel-2`): a `Uid` is a `BigInt`, for every backend.
//!
//! Diesel's error names the field with a number that is no UID, and its `source()` says why.
//!
//! ```
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

use crate::uid::Uid;

impl<DB: Backend> ToSql<BigInt, DB> for Uid
where
    i64: ToSql<BigInt, DB>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.as_i64().to_sql(out)
    }
}

impl<DB: Backend> FromSql<BigInt, DB> for Uid
where
    i64: FromSql<BigInt, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Uid> {
        Ok(Uid::try_from(i64::from_sql(bytes)?)?)
    }
}

impl<ST: SingleValue, DB: Backend> Queryable<ST, DB> for Uid
where
    Uid: FromSql<ST, DB>,
{
    type Row = Uid;

    fn build(uid: Uid) -> deserialize::Result<Uid> {
        Ok(uid)
    }
}

macro_rules! as_expression {
    ($($uid:ty, $sql_type:ty;)*) => { $(
        impl AsExpression<$sql_type> for $uid {
            type Expression = <i64 as AsExpression<$sql_type>>::Expression;

            fn as_expression(self) -> Self::Expression {
                AsExpression::<$sql_type>::as_expression(i64::from(self.to_owned()))
            }
        }
    )* };
}

as_expression! {
    Uid, BigInt;
    &Uid, BigInt;
    Uid, Nullable<BigInt>;
    &Uid, Nullable<BigInt>;
}
