//! The time by a database, in milliseconds since 1970, in the words of each kind.

#[cfg(any(feature = "series", feature = "sqlite"))]
pub const SQLITE: &str = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
#[cfg(any(feature = "series", feature = "postgres"))]
pub const POSTGRES: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
#[cfg(any(feature = "series", feature = "mysql"))]
pub const MYSQL: &str = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)";
