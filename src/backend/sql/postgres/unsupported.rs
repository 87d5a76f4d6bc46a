//! Servers that speak PostgreSQL's language and are another, by what they say of themselves.
//!
//! Those that run PostgreSQL's own code with another disk below it are not here: Aurora, `AlloyDB`,
//! `PolarDB`, and Neon, whose commits wait for its safekeepers (see `durability`).

use crate::backend::sql::Error;
use crate::backend::unsupported::{Alternatives, UnsupportedServer, find, unsupported};

const INSTEAD: Alternatives =
    Alternatives { spoken: "PostgreSQL", tried: "PostgreSQL itself, MySQL or MariaDB" };

/// By what is in their `version()`.
const UNSUPPORTED: &[UnsupportedServer] = &[
    UnsupportedServer {
        sign: "cockroachdb",
        name: "CockroachDB",
        why: "its advisory locks, under which the tables are made, lock nothing or are missing",
    },
    UnsupportedServer {
        sign: "-yb-",
        name: "YugabyteDB",
        why: "unless a switch is set there, READ COMMITTED is another isolation, and advisory \
              locks are missing",
    },
    UnsupportedServer { sign: "redshift", name: "Amazon Redshift", why: "it keeps no key unique" },
    UnsupportedServer { sign: "greenplum", name: "Greenplum", why: SEGMENTS },
    UnsupportedServer { sign: "cloudberry", name: "Cloudberry", why: SEGMENTS },
    UnsupportedServer { sign: "opengauss", name: "openGauss", why: POSTGRES_9 },
    UnsupportedServer { sign: "gaussdb", name: "GaussDB", why: POSTGRES_9 },
    UnsupportedServer {
        sign: "kingbasees",
        name: "KingbaseES",
        why: "it has modes in which SQL means something else, as an empty text is NULL in that of \
              Oracle",
    },
    UnsupportedServer {
        sign: "orioledb",
        name: "OrioleDB",
        why: "it is a beta version with storage of its own",
    },
    UnsupportedServer { sign: "risingwave", name: "RisingWave", why: NO_TRANSACTIONS },
    UnsupportedServer { sign: "materialize", name: "Materialize", why: NO_TRANSACTIONS },
    UnsupportedServer { sign: "cratedb", name: "CrateDB", why: NO_TRANSACTIONS },
    UnsupportedServer {
        sign: "questdb",
        name: "QuestDB",
        why: "by default it confirms what is not on its disk (cairo.commit.mode is nosync)",
    },
    UnsupportedServer {
        sign: "protocol using h2",
        name: "H2",
        why: "by default it confirms what it writes to its disk half a second later (WRITE_DELAY)",
    },
    UnsupportedServer {
        sign: "cedardb",
        name: "CedarDB",
        why: "its isolation and its log are its own",
    },
];
const SEGMENTS: &str = "its rows are on many servers, and by default it locks whole tables where \
                        PostgreSQL locks a row";
const POSTGRES_9: &str = "it left PostgreSQL at 9.2, and this needs what came until 11";
const NO_TRANSACTIONS: &str = "it has no transactions that read and write";

/// What Amazon Aurora DSQL says of a level of isolation other than its own, and of settings. Its
/// version is that of a PostgreSQL.
const DSQL: [&str; 2] = ["Unsupported isolation level", "setting configuration parameter"];
const IS_DSQL: &str = "it is Amazon Aurora DSQL, which has no READ COMMITTED and no limits on \
                       waiting for locks, so that ids cannot be taken from it; use Amazon Aurora, \
                       PostgreSQL itself, MySQL or MariaDB, or another store";

/// The error of a server that is not PostgreSQL, by the `version` that it names at the start
/// of a connection. A pooler may have a version of its own there.
pub fn by_parameter(version: &str) -> Option<Error> {
    let UnsupportedServer { name, why, .. } = find(version, UNSUPPORTED)?;
    Some(unsupported(name, why, &INSTEAD))
}

/// The same, by its `version()`.
pub fn by_version(version: &str) -> Option<Error> {
    if let Some(error) = by_parameter(version) {
        return Some(error);
    }
    // PostgreSQL says "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, ...".
    let mut words = version.split_whitespace();
    let number = (words.next() == Some("PostgreSQL")).then(|| words.next().unwrap_or_default());
    if number.is_some_and(|number| !number.contains('-') && number.starts_with(is_digit)) {
        return None;
    }
    let name: String = version.chars().take(60).collect();
    Some(unsupported(&format!("no PostgreSQL but {name:?}"), "", &INSTEAD))
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// What an error with this `code` and `message` says of the server, if only one says so.
pub fn by_message(code: &str, message: &str) -> Option<&'static str> {
    let is_dsql = code == "0A000" && DSQL.iter().any(|start| message.starts_with(start));
    is_dsql.then_some(IS_DSQL)
}

/// The error of a database with an `extension` by which several servers take writes.
pub fn by_extension(extension: &str) -> Error {
    Error::problem(format!(
        "its extension {extension} is for several servers that each take writes and tell the \
         others later, so that two of them may give the same ids; use a database without it, or, \
         if all programs use this server alone, and go on elsewhere only when it has told all, \
         write untried=yes in the address"
    ))
}

#[cfg(test)]
mod tests {
    use super::{UNSUPPORTED, by_message, by_parameter, by_version};

    /// What CockroachDB calls `crdb_version`, and others `server_version`.
    #[test]
    fn a_pooler_may_have_a_version_of_its_own() {
        for version in ["15.14 (Debian 15.14-0+deb12u1)", "1.18.0/bouncer", "17beta2"] {
            assert!(by_parameter(version).is_none(), "{version}");
        }
        for version in ["CockroachDB CCL v22.2.0 (x86_64-pc-linux-gnu)", "11.2-YB-2.20.0.0-b0"] {
            assert!(by_parameter(version).is_some(), "{version}");
        }
    }

    /// As the servers say it, by their manuals, by those who run them, or by their sources.
    const SAID: &[(&str, &str)] = &[
        // Debian, Alpine and others.
        ("PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc", ""),
        ("PostgreSQL 18.1 on x86_64-pc-linux-musl, compiled by gcc (Alpine 14.2.0), 64-bit", ""),
        ("PostgreSQL 17beta2 on aarch64-unknown-linux-gnu, compiled by gcc", ""),
        ("PostgreSQL 11.0, compiled by Visual C++ build 1914, 64-bit", ""),
        // enterprisedb.com/docs.
        ("PostgreSQL 15.2 (EnterpriseDB Advanced Server 15.2.0) on x86_64-pc-linux-gnu", ""),
        // Amazon Aurora: docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora_version.html.
        (
            "PostgreSQL 13.3 on x86_64-pc-linux-gnu, compiled by x86_64-pc-linux-gnu-gcc (GCC) \
             7.4.0, 64-bit",
            "",
        ),
        // apsaradb.github.io/PolarDB-for-PostgreSQL, and pigsty.io/docs/pgsql/kernel.
        ("PostgreSQL 11.9 (POLARDB 11.9)", ""),
        ("PostgreSQL 17.10 (PolarDB 17.10.1.0 build accf02e2) on x86_64-linux-gnu", ""),
        ("PostgreSQL 18.4 - Percona Server for PostgreSQL 18.4.1 on x86_64-pc-linux-gnu", ""),
        ("PostgreSQL 18.4 (IvorySQL 5.4) on x86_64-pc-linux-gnu, compiled by gcc (GCC) 9.5.0", ""),
        // Where its database has no extension by which several servers write.
        ("PostgreSQL 18.4 (pgEdge 5.0.10) on x86_64-pc-linux-gnu, compiled by gcc", ""),
        ("Babelfish 17.7 on x86_64-pc-linux-gnu, compiled by gcc", "no PostgreSQL but \\\"Babelf"),
        ("OrioleDB 18.4 (OrioleDB 1.8-beta16) on x86_64-pc-linux-gnu", "it is OrioleDB"),
        (
            "PostgreSQL 15.4 OrioleDB public beta 2 PGTAG=patches15_18 alpine:3.17+clang",
            "it is OrioleDB",
        ),
        (
            "PostgreSQL 14.4 (Apache Cloudberry 2.0.0-incubating build 1) on aarch64-unknown-linux",
            "it is Cloudberry",
        ),
        // cockroachlabs.com/docs/stable/functions-and-operators.
        (
            "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19)",
            "it is CockroachDB",
        ),
        // docs.yugabyte.com.
        (
            "PostgreSQL 11.2-YB-2.20.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang",
            "it is YugabyteDB",
        ),
        ("PostgreSQL 15.2-YB-2025.1.0.0-b0 on aarch64-unknown-linux-gnu", "it is YugabyteDB"),
        // docs.aws.amazon.com/redshift/latest/dg/r_VERSION.html.
        (
            "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC 3.4.2, Redshift 1.0.12103",
            "it is Amazon Redshift",
        ),
        // greenplum-db/gpbackup and others.
        (
            "PostgreSQL 9.4.24 (Greenplum Database 6.7.0 build commit:2fbc274bc15a19b5) \
             on x86_64-unknown-linux-gnu, compiled by gcc (GCC) 6.4.0, 64-bit",
            "it is Greenplum",
        ),
        // docs.opengauss.org, and support.huaweicloud.com.
        (
            "(openGauss 3.1.0 build 2c0ccaf9) compiled at 2022-09-25 19:32:58 commit 0 last mr",
            "it is openGauss",
        ),
        (
            "PostgreSQL 9.2.4 (openGauss 3.0.0 build 02c14696) compiled at 2022-04-01 18:12:34",
            "it is openGauss",
        ),
        ("PostgreSQL 9.2.4 (GaussDB Kernel V500R001C20 build )", "it is GaussDB"),
        // help.kingbase.com.cn, and CloudQuery.
        (
            "KingbaseES V008R006C008B0020 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 4.8.5",
            "it is KingbaseES",
        ),
        ("PostgreSQL 9.5-RisingWave-1.3.0 (abc)", "it is RisingWave"),
        // risingwavelabs/awesome-stream-processing.
        (
            "PostgreSQL 13.14.0-RisingWave-2.3.2 (58c5893670f326f0922b9bc58c61c83cabeccaa8)",
            "it is RisingWave",
        ),
        ("PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize 26.0)", "it is Materialize"),
        ("CrateDB 5.4.3 (built ab12/NA, Linux 5.15 amd64, OpenJDK 20)", "it is CrateDB"),
        // questdb.com/docs/reference/function/meta.
        ("PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB", "it is QuestDB"),
        // h2database, CompatibilityPostgreSQL and FunctionsPostgreSQL.java.
        ("PostgreSQL 8.2.23 server protocol using H2 2.3.232 (2024-08-11)", "it is H2"),
        ("PostgreSQL 8.1.4  server protocol using H2 1.4.197", "it is H2"),
        ("PostgreSQL 16.3 compatible CedarDB v2025-08-20", "it is CedarDB"),
        ("PostgreSQL 12.1-Another-2.0 on x86_64-pc-linux-gnu", "no PostgreSQL but"),
    ];

    #[test]
    fn a_server_that_is_not_postgresql_is_known_by_its_version() {
        for (version, said) in SAID {
            let error = by_version(version).map(|error| format!("{error:?}")).unwrap_or_default();
            assert_eq!(error.is_empty(), said.is_empty(), "{version}: {error}");
            assert!(error.contains(said), "{error}");
            assert!(said.is_empty() || error.contains("untried=yes"), "{error}");
        }
    }

    #[test]
    fn each_is_refused_for_a_reason() {
        for other in UNSUPPORTED {
            assert!(!other.why.is_empty(), "{}", other.name);
            let is_tried = SAID.iter().any(|(_, said)| said.ends_with(other.name));
            assert!(is_tried, "{} has no answer in the test", other.name);
        }
    }

    /// By docs.aws.amazon.com/aurora-dsql/latest/userguide/accessing.html, and what is reported.
    #[test]
    fn aurora_dsql_is_known_by_what_it_refuses() {
        for (code, message, is_dsql) in [
            ("0A000", "setting configuration parameter \"lock_timeout\" not supported", true),
            ("0A000", "Unsupported isolation level: READ COMMITTED", true),
            ("0A000", "cross-database references are not implemented: \"a.b.c\"", false),
            ("42704", "unrecognized configuration parameter \"transaction_timeout\"", false),
        ] {
            assert_eq!(by_message(code, message).is_some(), is_dsql, "{message}");
        }
    }
}
