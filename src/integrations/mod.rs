//! [`Uid`](crate::Uid) and [`Number`](crate::segment::Number) where other crates take ids: bound to
//! a query, read from a row, named in a schema. Each integration is a feature, off by default.
//!
//! | feature | crate | what either is there |
//! |---|---|---|
//! | `sqlx-0_8`, `sqlx-0_9` | sqlx | a `BIGINT`, for every database |
//! | `sqlx-0_8-postgres`, `sqlx-0_9-postgres` | sqlx | the same, and in arrays of PostgreSQL |
//! | `sea-orm-1`, `sea-orm-2` | SeaORM 1.1 and 2 | a `BigInteger`, a primary key |
//! | `diesel-2` | diesel | a `BigInt`, for every backend |
//! | `diesel-2-mysql` | diesel | the same, and an `Unsigned<BigInt>` of MySQL |
//! | `rusqlite` | rusqlite | an `INTEGER` |
//! | `postgres-types-0_2` | tokio-postgres, postgres | an `INT8` |
//! | `mysql-common-0_37` | mysql, `mysql_async` | a `BIGINT` |
//! | `bson-2`, `bson-3` | bson, mongodb | an `Int64`, in documents and filters |
//! | `schemars-1` | schemars | a string of digits, as serde writes it |
//! | `utoipa-5`, `utoipa-6` | utoipa | a string of digits, as serde writes it |
//! | `arbitrary-1` | arbitrary | any of them, for fuzzing |
//!
//! A column of ids is a signed 64-bit one. A `BIGINT UNSIGNED` of MySQL, as Laravel and Rails make
//! it, is read and written as well; diesel needs a feature for it. A value that is no id (0,
//! negative, or above `2^63-1`) is an error of the crate that reads the row, and says so in the
//! words of [`UidRangeError`](crate::UidRangeError) or
//! [`NumberRangeError`](crate::segment::NumberRangeError). A `NULL` is read as an `Option` of
//! either.
//!
//! # Features and versions
//!
//! A feature names a crate and the version that it is for, as `with-uuid-1` of postgres-types does:
//! a new version of the crate is a new feature, and the old one stays. So uidring has no new major
//! version because another crate has one. Two versions can be on at once. rusqlite needs no version
//! in its name, as a program has one SQLite and thus one rusqlite, and the feature takes whichever
//! that is.
//!
//! They are features, and not packages beside uidring, because Rust does not let a package
//! implement the trait of one crate for the type of another. Such a package could only offer a type
//! that wraps a `Uid`.

#[cfg(feature = "arbitrary-1")]
pub mod arbitrary;
#[cfg(any(feature = "bson-2", feature = "bson-3"))]
pub mod bson;
#[cfg(feature = "diesel-2")]
pub mod diesel;
#[cfg(feature = "mysql-common-0_37")]
pub mod mysql_common;
#[cfg(feature = "postgres-types-0_2")]
pub mod postgres_types;
#[cfg(feature = "rusqlite")]
pub mod rusqlite;
#[cfg(feature = "schemars-1")]
pub mod schemars;
#[cfg(any(feature = "sea-orm-1", feature = "sea-orm-2"))]
pub mod sea_orm;
#[cfg(any(feature = "sqlx-0_8", feature = "sqlx-0_9"))]
pub mod sqlx;
#[cfg(any(feature = "utoipa-5", feature = "utoipa-6"))]
pub mod utoipa;

/// What serde writes, as a regular expression. It reads leading zeros and JSON numbers as well, but
/// a schema should tell others to write what is written here.
#[cfg(any(feature = "schemars-1", feature = "utoipa-5", feature = "utoipa-6"))]
const PATTERN: &str = "^[1-9][0-9]{0,18}$";
#[cfg(any(feature = "schemars-1", feature = "utoipa-5", feature = "utoipa-6"))]
const UID: &str = "A unique id, a whole number in 1..=9223372036854775807 in decimal.";
#[cfg(any(feature = "schemars-1", feature = "utoipa-5", feature = "utoipa-6"))]
const NUMBER: &str =
    "A dense number of a tag, a whole number in 1..=9223372036854775807 in decimal.";
