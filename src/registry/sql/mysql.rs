//! Worker ids from a MySQL or MariaDB server.

use std::ops::RangeInclusive;
use std::path::Path;

use super::sql_registry::SqlRegistry;
use super::uid_generator_overlap;
use super::worker_table::Tables;
use crate::backend::address::redaction::without_password;
use crate::backend::sql::{Database, MySql, Schema, Transaction, VERSION};
use crate::registry::RegistryError;
use crate::registry::assignment::Fault;

/// Worker ids from a MySQL or MariaDB server, for the processes of any number of machines.
///
/// ```no_run
/// use uidring::UidGenerator;
/// use uidring::registry::MySqlRegistry;
///
/// let url = "mysql://orders:secret@db.example.com/orders?require_ssl=true";
/// let registry = MySqlRegistry::open(url)?;
/// let uids = UidGenerator::builder().registry(registry).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * No (worker id, tick) pair is given twice: not to two that ask at once, not after a crash at
///   any instant of a client or the server, not when the rows of ids that were given once are
///   deleted, not when a write that was given up comes about late. Ids come from a row of their own
///   and not from `AUTO_INCREMENT`, which older servers forget when they restart.
/// * The ids fit the layout that the tables were first used with. Another layout is refused.
/// * A start whose commit was not acknowledged may have used up an id; no other failure uses
///   anything up.
///
/// They rest on the server's memory. Each call looks at the settings that decide whether a commit
/// outlasts a power failure, and refuses a server that may forget one, with the value and what
/// mends it:
///
/// * `innodb_flush_log_at_trx_commit` must be 1, or MariaDB's 3: with 0 and 2 the redo log is
///   synced once a second.
/// * `sync_binlog` must be 1 where there is a binary log: after a crash the server rolls a
///   transaction back that the binary log has lost, although its commit was acknowledged. MariaDB's
///   default is 0.
/// * `innodb_flush_method` must not be `nosync`, `littlesync` or `O_DIRECT_NO_FSYNC`, which leave
///   out syncs. The last one is safe only where the data files and the redo log are on one device,
///   which the server does not tell.
/// * The redo log of MySQL must be on, which `ALTER INSTANCE DISABLE INNODB REDO_LOG` switches off.
/// * `binlog_format` must be `ROW` or `MIXED` where there is a binary log: InnoDB refuses to write
///   by statements under `READ COMMITTED`.
/// * The engine of both tables must be InnoDB: others have no transactions, or other settings.
///   Neither may be a view. A temporary table that hides one is noticed where the server lists it,
///   as MariaDB does since 11.2.
///
/// It does not look at `innodb_doublewrite`, which file systems that write whole pages can do
/// without. And nothing tells it of a disk that acknowledges a sync before it is done. With
/// `innodb_flush_method = O_DIRECT`, which is the default since MySQL 8.4, the server does not sync
/// its doublewrite file. On a disk with a cache of its own it may therefore not start again after a
/// power failure, and its data has to be restored. With `fsync`, two of about a hundred power cuts
/// in the tests did that.
///
/// A server whose `read_only` or `transaction_read_only` is on gives no ids, and that is not
/// overridden. The server itself lets an administrator write in spite of `read_only`: so each call
/// looks at it, whoever the user is. By default, neither is on at a replica: put `read_only = ON`
/// into the configuration of each server that is not the primary, the former primary, too, or a
/// program that gets the address of another one gives the same ids. A replica that is promoted and
/// lacks the last commits gives ids again. Replication is asynchronous unless set up otherwise, and
/// semi-synchronous replication falls back to that after a timeout: see that a replica has
/// everything before you promote it, or treat it as an old copy, as `schema.mysql.sql` tells.
///
/// Nor does a server give ids while its `innodb_read_only` is on, or its `innodb_force_recovery` is
/// not 0: with that it leaves out what it cannot read, and MariaDB would go on writing.
///
/// # Tried on
///
/// MariaDB 10.11 and 11.8 and MySQL 9.7, by the tests. By hand, a cluster of Galera (26.4, two
/// nodes of MariaDB 10.11): starts and reservations that conflicted were refused, tried again, and
/// repeated nothing, and a node that was cut off gave no ids.
///
/// * TiDB, Vitess and others that speak MySQL's language have locks and isolation of their own, and
///   nobody has tried them. They are known by their version and refused, unless the address has
///   `untried=yes`. So is MySQL NDB Cluster, each of whose SQL nodes has tables of `InnoDB` of its
///   own. Aurora and Percona Server are taken for MySQL, and nobody has tried them either.
/// * Group replication, too, refuses one of two conflicting transactions, at its commit.
/// * Galera and group replication acknowledge a commit when the other nodes have received it, and
///   not when they have synced it. A call looks at the settings above only on the node that it is
///   made to: have them on each.
/// * Galera can lose commits that it has acknowledged, also with these settings: Jepsen saw that of
///   [MariaDB 12.1.2 to 12.2.2](https://jepsen.io/blog/2026-03-16-mariadb-galera-cluster-12.1.2)
///   when processes crashed and the network was cut (MDEV-38974, 38976, 38977, 38999). After
///   either, treat the cluster as an old copy, as `schema.mysql.sql` tells, and
///   `docs/operations/restore.md` step by step.
/// * Give the programs one node of a cluster to write to, and another only when that one is gone: a
///   row that one node has locked can be written on another, which shows at a commit, if at all.
///   Series need this, as a gapless number is counted under such a lock.
/// * A part of a cluster that is made to go on without the others (Galera's `pc.ignore_sb`,
///   `pc.ignore_quorum` and `pc.bootstrap`, group replication's `group_replication_force_members`)
///   gives the same ids as they do.
/// * A proxy must send all statements of a transaction to the primary, on one connection. One that
///   has another connection answer its queries is refused. What it does with queries outside of
///   transactions does not matter.
///
/// # Cost
///
/// A start connects and makes one transaction, and so does each reservation of leased ids. No
/// connection is held in between. Any number of generators may start at once; they get their ids
/// one after the other.
pub type MySqlRegistry = SqlRegistry<MySql>;

impl SqlRegistry<MySql> {
    /// The registry at `url`, `mysql://user:password@host:port/database`, in the tables
    /// `uidring_layout` and `uidring_worker_node`. Nothing is asked of the server yet. Where none
    /// of the tables is there, the first start makes them, by the file `schema.mysql.sql`. Tables
    /// that this registry has seen are not made anew.
    ///
    /// Where the same database has the table `WORKER_NODE` of Baidu's `UidGenerator`, a registry
    /// that was never used does not begin, as it could give the same worker ids. Take them from
    /// that table, by [`uid_generator`](Self::uid_generator); or choose ids above all that the
    /// table will come to, by [`worker_ids`](Self::worker_ids) or [`partition`](Self::partition).
    ///
    /// The parameters are those of [`mysql_async::Opts`], such as `?require_ssl=true`, with which
    /// the server's certificate and name are checked. TLS is used where it is required, by that or
    /// by any parameter about it. With `verify_identity=false`, a certificate may be for any name.
    /// `passfile=FILE` names [the file with the password](crate::store#passwords). Besides, these
    /// are as the server's own clients call them:
    ///
    /// * `ssl-ca=FILE` does what [`with_root_certificate`](Self::with_root_certificate) does.
    /// * `ssl-cert=FILE` and `ssl-key=FILE` are the client's certificate and key, in PEM.
    /// * `ssl-mode` is `DISABLED`, `REQUIRED` or `VERIFY_IDENTITY`, which both check all, or
    ///   `VERIFY_CA`, which takes any name.
    ///
    /// Each call reads the files, so that a renewed certificate needs no restart.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] when `url` is not an address of this form, or names a file that
    /// cannot be read or holds no certificate.
    pub fn open(url: &str) -> Result<MySqlRegistry, RegistryError> {
        SqlRegistry::new(&without_password(url), MySql::at(url))
    }

    /// Requires TLS, and trusts the certificate authorities in the file `path`, in PEM, besides
    /// Mozilla's list: for servers with certificates of one's own.
    #[must_use]
    pub fn with_root_certificate(mut self, path: impl AsRef<Path>) -> MySqlRegistry {
        self.client.database.trust(path.as_ref());
        self
    }
}

impl Tables for MySql {
    const SCHEMA: Schema = Schema {
        sql: Self::TABLES,
        version: VERSION,
        tables: &["uidring_layout", "uidring_worker_node"],
        witness: "",
    };

    fn check_others(
        transaction: &mut Transaction<'_>,
        ids: &RangeInclusive<u64>,
        are_chosen: bool,
    ) -> Result<(), Fault> {
        uid_generator_overlap::refuse_shared_database(transaction, ids, are_chosen)
    }
}
