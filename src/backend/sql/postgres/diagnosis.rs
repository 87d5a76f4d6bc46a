//! What an error of PostgreSQL means, or of a pooler in front of it, and what to do.

use std::error::Error as StdError;

use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::error::{DbError, SqlState};

use super::unsupported;
use crate::backend::sql::Error;
use crate::backend::sql::diagnosis::{
    BAD_PASSWORD, DOWN, Diagnosis, INTERRUPTED, NO_DATABASE, OVERLOADED, REPLICA,
};
use crate::backend::sql::diagnosis::{TlsAdvice, explain, tls_error};
use crate::support::flat_error::FlatError;

const TLS_ADVICE: TlsAdvice = TlsAdvice {
    authority: "sslrootcert=FILE",
    identity: "sslcert=FILE and sslkey=FILE",
    any_name: "sslmode=verify-ca",
    is_authority: "name it in the address by sslrootcert=FILE, if you trust it",
};

const SPEAKS_NO_TLS: Diagnosis = Diagnosis::Unusable(
    "it speaks no TLS; switch ssl on there and give it a certificate, or, if the way to it is \
     safe, write sslmode=disable in the address, with none of sslrootcert, sslcert and sslkey",
);
const NO_PASSWORD: Diagnosis =
    Diagnosis::Unusable("the server asks for a password, and the address has none");
const OTHER_AUTHENTICATION: Diagnosis = Diagnosis::Unusable(
    "see how its pg_hba.conf has this user log in: by scram-sha-256, md5, password, cert or trust, \
     and by nothing else",
);
const NO_POSTGRES: Diagnosis =
    Diagnosis::Later("see that PostgreSQL listens at this port, and no other server");
const NOT_LET_IN: Diagnosis = Diagnosis::Unusable(
    "see the lines of its pg_hba.conf for this user, this database and this machine: they may ask \
     for TLS (sslmode=require in the address), for none (sslmode=disable), or for a certificate \
     (sslcert=FILE and sslkey=FILE)",
);
const NOT_LET_IN_PLAIN: Diagnosis = Diagnosis::Unusable(
    "it lets this user in with TLS alone, or not from here; write sslmode=require in the address \
     in place of sslmode=disable, or see the lines of its pg_hba.conf",
);
const BEHIND_POOLER: Diagnosis = Diagnosis::Unusable(
    "the server behind this pooler does not let it in with this user; see how the pooler logs in \
     there",
);
const NO_ROLE: Diagnosis =
    Diagnosis::Unusable("see the user: the role has to be there, and to have LOGIN");
const WANTS_TLS: Diagnosis = Diagnosis::Unusable(
    "it takes connections with TLS alone; write sslmode=require in the address, and \
     sslrootcert=FILE where its certificate is of an authority of your own",
);
const NO_CONNECT: Diagnosis =
    Diagnosis::Unusable("give this user the right CONNECT on the database, by GRANT");
const CLOSED: Diagnosis = Diagnosis::Unusable(
    "see the name of the database; if it is right, run ALTER DATABASE with ALLOW_CONNECTIONS true",
);
const BY_STATEMENT: Diagnosis = Diagnosis::Unusable(
    "it is a pooler that gives each statement another connection; have it keep a transaction on \
     one, as PgBouncer does with pool_mode = transaction",
);
const REPLICATES: Diagnosis = Diagnosis::Unusable(
    "it is Pgpool-II, whose servers have answered differently; have PostgreSQL replicate, with \
     backend_clustering_mode = 'streaming_replication', or give the address of one server",
);
const NO_OPTIONS: Diagnosis = Diagnosis::Unusable(
    "it is a pooler that refuses the parameter options of the address; have it leave that out, as \
     PgBouncer does with ignore_startup_parameters = options, which is enough for a search_path; \
     or leave it out of the address",
);
const POOL_WAITS: Diagnosis = Diagnosis::Later(
    "its pool had no connection to the server behind it in time; see that the server runs and \
     lets the pooler in, and who uses the pool's connections",
);

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Error {
        explain(error, &TLS_ADVICE, diagnose)
    }
}

fn diagnose(error: &tokio_postgres::Error) -> Diagnosis {
    let Some(db_error) = error.as_db_error() else {
        return diagnose_driver(error);
    };
    let code = db_error.code().code();
    if has_no_role(error) {
        return NO_ROLE;
    }
    if let Some(problem) = unsupported::by_message(code, db_error.message()) {
        return Diagnosis::Unusable(problem);
    }
    // Pgpool-II, where each server runs each statement.
    if code == "XX000" && db_error.message().contains("failed to read kind from backend") {
        return REPLICATES;
    }
    // PostgreSQL's own breaches of its protocol are in no call of this library.
    if code == "08P01"
        && let Some((_, diagnosis)) =
            POOLERS.iter().find(|(part, _)| db_error.message().contains(part))
    {
        return *diagnosis;
    }
    let found = CODES.iter().find(|(found, _)| code.starts_with(found));
    found.map_or(Diagnosis::Other, |(_, diagnosis)| *diagnosis)
}

/// A connection that broke, or was never made. The driver tells the kinds apart in words alone.
fn diagnose_driver(error: &tokio_postgres::Error) -> Diagnosis {
    let text = error.to_string();
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    let all = format!("{text}: {cause}");
    match () {
        () if all.contains("does not support TLS") => SPEAKS_NO_TLS,
        () if all.contains("TLS handshake") => {
            Diagnosis::Unusable("see that the server speaks TLS 1.2 or 1.3 at this port")
        }
        () if all.contains("password missing") => NO_PASSWORD,
        () if all.contains("invalid configuration") => Diagnosis::Unusable("see the address"),
        () if all.contains("authentication error") => OTHER_AUTHENTICATION,
        () if all.contains("unexpected message") || all.contains("error parsing response") => {
            NO_POSTGRES
        }
        () => DOWN,
    }
}

fn has_no_role(error: &tokio_postgres::Error) -> bool {
    let routine = error.as_db_error().and_then(DbError::routine);
    error.code().is_some_and(|code| code.code() == "28000")
        && routine == Some("InitializeSessionUserId")
}

/// Whether the server, or a pooler, may want TLS.
fn may_want_tls(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(db_error) if db_error.code().code() == "08P01" => {
            ["SSL required", "TLS required", "requires TLS"]
                .iter()
                .any(|part| db_error.message().contains(part))
        }
        Some(db_error) => db_error.code().code() == "28000" && !has_no_role(error),
        None => false,
    }
}

/// The error of a connection that could not be made as `config` has it.
pub fn connecting(error: tokio_postgres::Error, config: &Config) -> Error {
    let diagnosis = match error.code().map(SqlState::code) {
        Some("28000") if config.get_ssl_mode() == SslMode::Disable && !has_no_role(&error) => {
            Some(NOT_LET_IN_PLAIN)
        }
        Some("42501") => Some(NO_CONNECT),
        Some("55000") => Some(CLOSED),
        _ => None,
    };
    if let Some(diagnosis) = diagnosis {
        return diagnosis.into_error(error);
    }
    let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
    if is_direct && error.as_db_error().is_none() && tls_error(&error).is_none() {
        let problem = "see that the server runs, and that it speaks TLS at once, as PostgreSQL \
                       does since 17; leave sslnegotiation=direct out for an older one";
        return Diagnosis::Later(problem).into_error(error);
    }
    error.into()
}

/// The error of a connection that could not be made `in_tls`, and without it for this `error`,
/// where `config` has TLS if it can be had.
pub fn without_tls(
    error: tokio_postgres::Error,
    in_tls: &tokio_postgres::Error,
    config: &Config,
) -> Error {
    let Some(tls) = tls_error(in_tls).filter(|_| may_want_tls(&error)) else {
        return connecting(error, config);
    };
    let problem = format!(
        "it does not let this user in without TLS, and TLS failed ({tls}): {}",
        TLS_ADVICE.for_error(tls)
    );
    Error::Unusable { problem, source: Some(Box::new(FlatError::new(error))) }
}

/// What poolers say in English, whatever the language of the server: PgBouncer and Pgpool-II. What
/// PgBouncer has heard of the server behind it has the same code.
const POOLERS: &[(&str, Diagnosis)] = &[
    ("statement pooling mode", BY_STATEMENT),
    ("SSL required", WANTS_TLS),
    ("TLS required", WANTS_TLS),
    ("requires TLS", WANTS_TLS),
    ("no such database", NO_DATABASE),
    ("no such user", BAD_PASSWORD),
    ("authentication failed", BAD_PASSWORD),
    ("pg_hba.conf", BEHIND_POOLER),
    ("role \"", BEHIND_POOLER),
    ("database \"", NO_DATABASE),
    ("unsupported startup parameter", NO_OPTIONS),
    ("no more connections allowed", OVERLOADED),
    ("max_client_conn", OVERLOADED),
    ("query_wait_timeout", POOL_WAITS),
    ("server login", POOL_WAITS),
    ("server_login_retry", POOL_WAITS),
    ("failed to authenticate with backend", BEHIND_POOLER),
    ("failed to create a backend connection", POOL_WAITS),
    ("backend nodes are down", POOL_WAITS),
];

/// The server's error codes, and classes of them, by
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>. A conflict can show at a
/// commit, too: SERIALIZABLE looks for some only there.
const CODES: &[(&str, Diagnosis)] = &[
    // Tables and rights.
    ("42P01", Diagnosis::MissingTables),      // undefined_table
    ("42703", Diagnosis::IncompatibleTables), // undefined_column
    ("42804", Diagnosis::IncompatibleTables), // datatype_mismatch
    ("42809", Diagnosis::IncompatibleTables), // wrong_object_type
    ("42846", Diagnosis::IncompatibleTables), // cannot_coerce
    ("42883", Diagnosis::IncompatibleTables), // undefined_function: of an operator for these types
    ("22003", Diagnosis::IncompatibleTables), // numeric_value_out_of_range
    ("23505", Diagnosis::Locked),             // unique_violation: another was first
    ("42501", Diagnosis::Denied),             // insufficient_privilege
    ("28000", NOT_LET_IN),                    // invalid_authorization_specification
    ("28P01", BAD_PASSWORD),                  // invalid_password
    ("3D000", NO_DATABASE),                   // invalid_catalog_name
    // invalid_schema_name
    ("3F000", Diagnosis::Unusable("make the schema, or name another in search_path")),
    // Other transactions.
    ("40003", DOWN),              // statement_completion_unknown
    ("40", Diagnosis::Locked),    // 40001 serialization_failure, 40P01 deadlock_detected
    ("55P03", Diagnosis::Locked), // lock_not_available
    // Limits on statements and transactions.
    ("25P03", INTERRUPTED), // idle_in_transaction_session_timeout
    ("25P04", INTERRUPTED), // transaction_timeout
    ("57014", INTERRUPTED), // query_canceled: statement_timeout, and pg_cancel_backend
    // Limits on the server.
    ("53000", OVERLOADED),      // insufficient_resources
    ("53100", Diagnosis::Full), // disk_full
    ("53200", OVERLOADED),      // out_of_memory
    ("53300", OVERLOADED),      // too_many_connections
    // A server that takes no writes.
    ("25006", REPLICA), // read_only_sql_transaction
    // On the way up or down, or done with us.
    ("08", DOWN),    // connection_exception
    ("57P01", DOWN), // admin_shutdown
    ("57P02", DOWN), // crash_shutdown
    ("57P03", DOWN), // cannot_connect_now
    ("57P05", DOWN), // idle_session_timeout
];
