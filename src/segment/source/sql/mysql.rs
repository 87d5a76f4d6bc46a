//! Numbers of tags from a MySQL or MariaDB server.

use std::path::Path;

use super::own_table::Own;
use super::sql_segments::SqlSegments;
use super::table::Tables;
use crate::backend::address::redaction::without_password;
use crate::backend::sql::MySql;
use crate::segment::SegmentError;

/// Numbers of tags from a MySQL or MariaDB server, for the processes of any number of machines.
///
/// ```no_run
/// use uidring::segment::{MySqlSegments, SegmentSource};
///
/// let url = "mysql://orders:secret@db.example.com/orders";
/// let segment = MySqlSegments::open(url)?.load("orders", None)?;
/// # Ok::<(), uidring::segment::SegmentError>(())
/// ```
///
/// [`SqlSegments`] says what it guarantees. It rests on the server's memory: a server that may
/// forget a commit is refused, as by a
/// [`MySqlRegistry`](crate::registry::MySqlRegistry#guarantees), and what is said there about
/// replicas, clusters and proxies holds here, too.
pub type MySqlSegments<T = Own> = SqlSegments<MySql, T>;

impl SqlSegments<MySql> {
    /// The tags at `url`, `mysql://user:password@host:port/database`, in the table
    /// `uidring_segment`. Nothing is asked of the server yet. Where none of the tables is there,
    /// the first tag makes them, by the file `schema.mysql.sql`.
    ///
    /// The parameters are those of [`MySqlRegistry::open`](crate::registry::MySqlRegistry::open).
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] when `url` is not an address of this form, or names a file that
    /// cannot be read or holds no certificate.
    pub fn open(url: &str) -> Result<MySqlSegments, SegmentError> {
        SqlSegments::new(&without_password(url), MySql::at(url))
    }

    /// Requires TLS, and trusts the certificate authorities in the file `path`, in PEM, besides
    /// Mozilla's list: for servers with certificates of one's own.
    #[must_use]
    pub fn with_root_certificate(mut self, path: impl AsRef<Path>) -> MySqlSegments {
        self.client.database.trust(path.as_ref());
        self
    }
}

impl Tables for MySql {
    const MS_OF: &'static str = "CAST(UNIX_TIMESTAMP({}) * 1000 AS SIGNED)";
    const SETS_TIMESTAMPS: bool = true;
}
