//! Worker ids from a PostgreSQL server.

use std::path::Path;

use super::sql_registry::SqlRegistry;
use super::worker_table::Tables;
use crate::backend::address::redaction::without_password;
use crate::backend::sql::{Database, Postgres, Schema, VERSION};
use crate::registry::RegistryError;

/// Worker ids from a PostgreSQL server, for the processes of any number of machines.
///
/// ```no_run
/// use uidring::UidGenerator;
/// use uidring::registry::PostgresRegistry;
///
/// let url = "postgres://orders:secret@db.example.com/orders?sslmode=require";
/// let registry = PostgresRegistry::open(url)?;
/// let uids = UidGenerator::builder().registry(registry).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * No (worker id, tick) pair is given twice: not to two that ask at once, not after a crash at
///   any instant of a client or the server, not when the rows of ids that were given once are
///   deleted, not when a write that was given up comes about late.
/// * The ids fit the layout that the tables were first used with. Another layout is refused.
/// * A start whose commit was not acknowledged may have used up an id; no other failure uses
///   anything up.
///
/// They rest on the server's memory. Each call looks at the settings that decide whether a commit
/// outlasts a power failure, and refuses a server that may forget one, with the value and what
/// mends it:
///
/// * `fsync` must be `on`. A service that keeps commits elsewhere, and switches it off for that
///   reason, is refused as well: the two look alike.
/// * `data_sync_retry`, `ignore_invalid_pages` and `zero_damaged_pages` must be `off`. They have a
///   server go on without what its disk has lost.
/// * Neither table may be `UNLOGGED`, nor any partition of it or table that inherits from it: a
///   crash empties such tables. Neither may be a view, a foreign table or a temporary one.
///
/// These transactions have `synchronous_commit = on`, whatever others have, or `remote_apply`,
/// which waits for more, if that is set. `full_page_writes` may be off, as it is on storage that
/// writes whole pages; on any other, a power failure can tear a page then, and lose its rows. And
/// nothing tells of a disk that acknowledges a sync before it is done.
///
/// A standby takes no writes, nor does a role or a database whose `default_transaction_read_only`
/// is on; that is not overridden. A standby that is promoted and lacks the last commits gives ids
/// again: name it in `synchronous_standby_names`, so that a commit waits for it; or see that it has
/// everything before you promote it; or treat it as an old copy, as `schema.postgres.sql` tells. Of
/// several names, a commit waits for as many as the setting says, which is one by default. A
/// subscriber of logical replication takes writes: stop all programs before one gets its address.
///
/// # Tried on
///
/// PostgreSQL 12 to 18, PgBouncer, and Pgpool-II with a standby that lags, by the tests. By hand,
/// starts with TLS at once.
///
/// * A pooler may give each transaction another connection, as no setting and no prepared statement
///   outlasts one. It has to keep a transaction on one connection: PgBouncer's modes `session` and
///   `transaction` do, `statement` does not. It may leave the startup parameter `options` out, as
///   PgBouncer does where `ignore_startup_parameters` names it: each transaction sets the
///   `search_path` of the address by itself. Name one there if other clients of the pooler set
///   theirs, which can stay behind on a connection.
/// * Pgpool-II sends queries to standbys, also within transactions. Those of this library begin
///   with a comment and call `clock_timestamp()`, so that it asks the primary. Only where its
///   `allow_sql_comments` is on and its `write_function_list` is not empty does the list have to
///   name that function. Where it replicates by itself (`native_replication`,
///   `snapshot_isolation`), its servers answer differently under load. It ends such transactions,
///   and errors say so.
/// * CockroachDB, YugabyteDB and others that speak PostgreSQL's language have locks and isolation
///   of their own, and nobody has tried them. They are known by their `version()` and refused,
///   unless the address has `untried=yes`. Amazon Aurora DSQL is refused in any case.
/// * Aurora, `AlloyDB`, Supabase, Citus and others that run PostgreSQL's own code are taken for it,
///   also where the disk below is another, and nobody has tried them either. So is Neon, whose
///   `fsync` is off, as its commits wait for its safekeepers.
/// * A database with the extension `bdr`, `pgactive` or `spock` is refused, unless the address has
///   `untried=yes`: each of its servers takes writes, so that two give the same ids.
/// * A table is refused whose access method is neither PostgreSQL's `heap` nor Percona's
///   `tde_heap`.
///
/// # Cost
///
/// A start connects and makes one transaction, and so does each reservation of leased ids. No
/// connection is held in between. Any number of generators may start at once; they get their ids
/// one after the other.
pub type PostgresRegistry = SqlRegistry<Postgres>;

impl SqlRegistry<Postgres> {
    /// The registry at `url`, `postgres://user:password@host:port/database`, in the tables
    /// `uidring_layout` and `uidring_worker_node` of the user's first schema. Nothing is asked of
    /// the server yet. Where none of the tables is there, the first start makes them, by the file
    /// `schema.postgres.sql`. Tables that this registry has seen are not made anew. Where another
    /// schema of the database has such tables, none are made, unless the address names a schema.
    /// Where it names several, the tables are made in the first, and nowhere if that is missing.
    ///
    /// Several hosts, `host1:port,host2:port`, are asked in this order: each that accepts no
    /// connection within its share of the time of a call, or within `connect_timeout` if that is
    /// set, is passed over. With `target_session_attrs=read-write` so is each that takes no writes.
    ///
    /// The parameters are those of [`tokio_postgres::Config`], such as
    /// `?connect_timeout=2&options=-csearch_path=ids`. Those about TLS are libpq's:
    ///
    /// * `sslmode=require` and `verify-full` check the server's certificate and name, and
    ///   `verify-ca` takes a certificate for any name. With `prefer`, which holds unless set, a
    ///   server that cannot be checked is spoken to without TLS.
    /// * `sslrootcert=FILE` does what [`with_root_certificate`](Self::with_root_certificate) does.
    ///   A certificate that has signed itself may be named so, too.
    /// * `sslcert=FILE` and `sslkey=FILE` are the client's certificate and key, in PEM.
    /// * `sslnegotiation=direct` begins with TLS at once, as PostgreSQL can since 17.
    ///
    /// Each of the last three requires TLS unless `sslmode` is set. Each call reads the files, so
    /// that a renewed certificate needs no restart. `passfile=FILE` names
    /// [the file with the password](crate::store#passwords).
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] when `url` is not an address of this form, or names a file that
    /// cannot be read or holds no certificate.
    pub fn open(url: &str) -> Result<PostgresRegistry, RegistryError> {
        SqlRegistry::new(&without_password(url), Postgres::at(url))
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, in place of Mozilla's list:
    /// for servers with certificates of one's own.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] when the file cannot be read or holds no certificate.
    pub fn with_root_certificate(
        mut self,
        path: impl AsRef<Path>,
    ) -> Result<PostgresRegistry, RegistryError> {
        let trusted = self.client.database.trust(path.as_ref());
        trusted.map_err(|error| self.call_error("open the registry", error))?;
        Ok(self)
    }
}

impl Tables for Postgres {
    const SCHEMA: Schema = Schema {
        sql: Self::TABLES,
        version: VERSION,
        tables: &["uidring_layout", "uidring_worker_node"],
        witness: "",
    };
}
