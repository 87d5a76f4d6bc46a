//! Numbers of tags from a PostgreSQL server.

use std::path::Path;

use super::own_table::Own;
use super::sql_segments::SqlSegments;
use super::table::Tables;
use crate::backend::address::redaction::without_password;
use crate::backend::sql::Postgres;
use crate::segment::SegmentError;

/// Numbers of tags from a PostgreSQL server, for the processes of any number of machines.
///
/// ```no_run
/// use uidring::segment::{PostgresSegments, SegmentSource};
///
/// let url = "postgres://orders:secret@db.example.com/orders?sslmode=require";
/// let segment = PostgresSegments::open(url)?.load("orders", None)?;
/// # Ok::<(), uidring::segment::SegmentError>(())
/// ```
///
/// [`SqlSegments`] says what it guarantees. It rests on the server's memory: a server that may
/// forget a commit is refused, as by a
/// [`PostgresRegistry`](crate::registry::PostgresRegistry#guarantees), and what is said there about
/// standbys, poolers and other servers holds here, too.
pub type PostgresSegments<T = Own> = SqlSegments<Postgres, T>;

impl SqlSegments<Postgres> {
    /// The tags at `url`, `postgres://user:password@host:port/database`, in the table
    /// `uidring_segment` of the user's first schema. Nothing is asked of the server yet. Where none
    /// of the tables is there, the first tag makes them, by the file `schema.postgres.sql`.
    ///
    /// The parameters are those of
    /// [`PostgresRegistry::open`](crate::registry::PostgresRegistry::open).
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] when `url` is not an address of this form, or names a file that
    /// cannot be read or holds no certificate.
    pub fn open(url: &str) -> Result<PostgresSegments, SegmentError> {
        SqlSegments::new(&without_password(url), Postgres::at(url))
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, in place of Mozilla's list:
    /// for servers with certificates of one's own.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] when the file cannot be read or holds no certificate.
    pub fn with_root_certificate(
        mut self,
        path: impl AsRef<Path>,
    ) -> Result<PostgresSegments, SegmentError> {
        let trusted = self.client.database.trust(path.as_ref());
        trusted.map_err(|error| self.call_error("open", error))?;
        Ok(self)
    }
}

impl Tables for Postgres {
    // A timestamp without a zone is one of the session's.
    const MS_OF: &'static str = "(EXTRACT(EPOCH FROM {}::TIMESTAMPTZ) * 1000)::BIGINT";
}
