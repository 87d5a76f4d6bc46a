//! Servers that speak MySQL's language and are another, by what they say of themselves.
//!
//! Those that run the code of MySQL or MariaDB are not here: Aurora, `PolarDB`, Percona Server, and
//! clusters by Galera or group replication, whose nodes refuse one of two commits that conflict.

use crate::backend::sql::Error;
use crate::backend::unsupported::{Alternatives, UnsupportedServer, find, unsupported};

const INSTEAD: Alternatives =
    Alternatives { spoken: "MySQL", tried: "MySQL or MariaDB itself, or PostgreSQL" };

/// By what is in `VERSION()` and `@@version_comment`.
const UNSUPPORTED: &[UnsupportedServer] = &[
    UnsupportedServer {
        sign: "tidb",
        name: "TiDB",
        why: "under a switch, LOCK IN SHARE MODE locks nothing there",
    },
    UnsupportedServer { sign: "vitess", name: "Vitess", why: VITESS },
    UnsupportedServer { sign: "planetscale", name: "Vitess, of PlanetScale", why: VITESS },
    // Where its operator has set the version: "Version: 19.0.0 (Git revision ...".
    UnsupportedServer { sign: "(git revision ", name: "Vitess", why: VITESS },
    UnsupportedServer { sign: "oceanbase", name: "OceanBase", why: NO_SETTINGS },
    UnsupportedServer { sign: "-tddl-", name: "PolarDB-X", why: SEVERAL },
    UnsupportedServer { sign: "polardb-x", name: "PolarDB-X", why: SEVERAL },
    UnsupportedServer { sign: "-matrixone-", name: "MatrixOne", why: NO_SETTINGS },
    UnsupportedServer { sign: "singlestore", name: "SingleStore", why: SINGLESTORE },
    UnsupportedServer { sign: "memsql", name: "SingleStore", why: SINGLESTORE },
    UnsupportedServer {
        sign: "mysql cluster",
        name: "MySQL NDB Cluster",
        why: "each of its SQL nodes keeps InnoDB's tables for itself, so that two of them behind \
              one address give the same ids",
    },
    UnsupportedServer { sign: "starrocks", name: "StarRocks", why: NO_LOCKS },
    UnsupportedServer { sign: "doris", name: "Apache Doris", why: NO_LOCKS },
    UnsupportedServer { sign: "clickhouse", name: "ClickHouse", why: NO_LOCKS },
    UnsupportedServer {
        sign: "dolt",
        name: "Dolt",
        why: "it locks no rows, and merges what two transactions write at once",
    },
];
const VITESS: &str = "its vtgate may send the statements of a transaction to several servers, or \
                      to a replica, and tells no settings of theirs";
const NO_SETTINGS: &str = "its storage is its own, and what it answers for the settings of InnoDB \
                           says nothing about it";
const SEVERAL: &str = "its rows are on several servers, and one before them answers for all";
const SINGLESTORE: &str = "a database there may confirm what is not on its disk (ASYNC DURABILITY)";
const NO_LOCKS: &str = "it has no transactions that lock a row";

/// The error of a server that is neither MySQL nor MariaDB, by its `banner`.
pub fn by_banner(banner: &str) -> Option<Error> {
    let UnsupportedServer { name, why, .. } = find(banner, UNSUPPORTED)?;
    Some(unsupported(name, why, &INSTEAD))
}

#[cfg(test)]
mod tests {
    use super::{UNSUPPORTED, by_banner};

    /// The version and the comment, as the servers say it, by their manuals, by those who run them,
    /// or by their sources.
    const SAID: &[(&str, &str)] = &[
        ("9.7.4-2 (Debian)", ""),
        ("8.0.39 MySQL Community Server - GPL", ""),
        ("8.0.35-u3-cloud MySQL Enterprise - Cloud", ""),
        ("8.0.22-13 Percona Server (GPL), Release '13', Revision '6f7822f'", ""),
        // docs.percona.com/percona-xtradb-cluster.
        (
            "8.0.19-10 Percona XtraDB Cluster (GPL), Release rel10, Revision 727f180, WSREP \
             version 26.4.3",
            "",
        ),
        // Amazon Aurora, and MySQL that was built from its source.
        ("8.0.28 Source distribution", ""),
        ("8.0.31-google (Google)", ""),
        // polardbx.com/document: its standard edition, which is MySQL.
        ("8.0.32-X-Cluster-8.4.20-20251017", ""),
        ("10.11.14-MariaDB-0+deb12u2 Debian 12", ""),
        ("11.8.3-MariaDB-log mariadb.org binary distribution", ""),
        // docs.pingcap.com.
        (
            "8.0.11-TiDB-v7.5.0 TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0",
            "it is TiDB",
        ),
        ("5.7.25 TiDB Server (Apache License 2.0) Community Edition", "it is TiDB"),
        // vitess.io/docs, and its issues.
        (
            "8.0.30-Vitess Version: 19.0.0 (Git revision abc branch 'HEAD') built on Mon",
            "it is Vitess",
        ),
        ("5.7.9-vitess-10.0.0-SNAPSHOT Version: 10.0.0-SNAPSHOT (Git revision d5)", "it is Vitess"),
        (
            "8.0.22 Version: 10.0.0-SNAPSHOT (Git revision a577cc4da branch 'master')",
            "it is Vitess",
        ),
        ("8.0.31-PlanetScale", "it is Vitess, of PlanetScale"),
        // oceanbase.com/docs, and dify's sources.
        ("5.7.25-OceanBase-v4.2.1.0 OceanBase_CE 4.2.1.0", "it is OceanBase"),
        (
            "5.7.25-OceanBase_CE-v4.4.2.1 OceanBase_CE 4.4.2.1 (r101000042025031818-bxxxx)",
            "it is OceanBase",
        ),
        // polardbx.com/document: its enterprise edition, and the service before it.
        ("5.7.25-TDDL-5.4.19-20251031", "it is PolarDB-X"),
        ("5.6.29-TDDL-5.4.8-16079964", "it is PolarDB-X"),
        ("8.0.30-MatrixOne-v1.1.1 MatrixOne", "it is MatrixOne"),
        // docs.singlestore.com.
        (
            "5.7.32 SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL \
             Commercial)",
            "it is SingleStore",
        ),
        ("5.5.58 MemSQL source distribution (compatible; MySQL Enterprise)", "it is SingleStore"),
        // dev.mysql.com/doc/refman/8.4/en/mysql-cluster.html.
        (
            "5.7.22-ndb-7.6.6 MySQL Cluster Community Server (GPL)",
            "it is MySQL NDB Cluster, which speaks as MySQL does",
        ),
        ("8.0.35-cluster MySQL Cluster Community Server - GPL", "it is MySQL NDB Cluster"),
        ("5.1.0 StarRocks version 3.1.2-4f3a2ee", "it is StarRocks"),
        ("5.7.99 Doris version doris-2.0.3-rc06-37d31a5", "it is Apache Doris"),
        ("23.8.1.1-ClickHouse", "it is ClickHouse"),
        // docs.dolthub.com.
        ("8.0.33 Dolt", "it is Dolt"),
    ];

    #[test]
    fn a_server_that_is_neither_mysql_nor_mariadb_is_known_by_its_version() {
        for (banner, said) in SAID {
            let error = by_banner(banner).map(|error| format!("{error:?}")).unwrap_or_default();
            assert_eq!(error.is_empty(), said.is_empty(), "{banner}: {error}");
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn each_is_refused_for_a_reason() {
        for other in UNSUPPORTED {
            assert!(!other.why.is_empty(), "{}", other.name);
            let is_tried = SAID.iter().any(|(_, said)| said.contains(other.name));
            assert!(is_tried, "{} has no answer in the test", other.name);
        }
    }
}
