//! diesel 2.3 (feature `diesel-2`): a `Uid` or a `Number` is a `BigInt`, for every backend.
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
    ($($id:ty, $sql_type:ty;)*) => { $(
        impl AsExpression<$sql_type> for $id {
            type Expression = <i64 as AsExpression<$sql_type>>::Expression;

            fn as_expression(self) -> Self::Expression {
                AsExpression::<$sql_type>::as_expression(i64::from(self.to_owned()))
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
            $Id, BigInt;
            &$Id, BigInt;
            $Id, Nullable<BigInt>;
            &$Id, Nullable<BigInt>;
        }
    };
}

integrate!(Uid);
integrate!(Number);
