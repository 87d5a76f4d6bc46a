//! What an error of MySQL or MariaDB means, and what to do.

use mysql_async::{DriverError, IoError, SslOpts};

use crate::backend::sql::Error;
use crate::backend::sql::diagnosis::{
    BAD_PASSWORD, DOWN, Diagnosis, INTERRUPTED, NO_DATABASE, OVERLOADED, REPLICA,
};
use crate::backend::sql::diagnosis::{TlsAdvice, explain};
use crate::support::flat_error::FlatError;

const TLS_ADVICE: TlsAdvice = TlsAdvice {
    authority: "ssl-ca=FILE",
    identity: "ssl-cert=FILE and ssl-key=FILE",
    any_name: "verify_identity=false",
    is_authority: "it is that of an authority, which is taken for no server's here; give the \
                   server one with CA:FALSE among its basic constraints",
};

const SPEAKS_NO_TLS: Diagnosis = Diagnosis::Unusable(
    "it speaks no TLS; switch TLS on there and give it a certificate, or, if the way to it is \
     safe, take require_ssl, ssl-mode, ssl-ca, ssl-cert and ssl-key out of the address",
);
const WANTS_TLS: Diagnosis = Diagnosis::Unusable(
    "it takes connections with TLS alone; write require_ssl=true in the address, and ssl-ca=FILE \
     where its certificate is of an authority of your own",
);
/// Some servers say no more where a user or the server wants TLS.
const NOT_LET_IN_PLAIN: Diagnosis = Diagnosis::Unusable(
    "see the user and the password; if the user or the server wants TLS (REQUIRE SSL, \
     require_secure_transport), write require_ssl=true in the address",
);
const NOT_LET_IN_WITHOUT_CERTIFICATE: Diagnosis = Diagnosis::Unusable(
    "see the user and the password; if the user has to show a certificate (REQUIRE X509), name it \
     in the address by ssl-cert=FILE and ssl-key=FILE",
);
const NOT_LET_IN_WITH_CERTIFICATE: Diagnosis = Diagnosis::Unusable(
    "see the user and the password, and whether the certificate in ssl-cert is one that the user \
     may come with (REQUIRE X509, SUBJECT or ISSUER)",
);
const NO_HOST: Diagnosis = Diagnosis::Unusable(
    "it lets nobody in from this machine; see the host in the name of the user, as in 'ids'@'%'",
);
/// A server asks whom it does not know for any plugin, so that nobody learns which users it has.
const OTHER_PLUGIN: Diagnosis = Diagnosis::Unusable(
    "see the user and the password; if both are right, the user logs in by a plugin that is not \
     known here, or not loaded there: run ALTER USER with IDENTIFIED WITH caching_sha2_password \
     BY on MySQL, or IDENTIFIED VIA mysql_native_password USING PASSWORD() on MariaDB",
);
const CLEAR_PASSWORD: Diagnosis = Diagnosis::Unusable(
    "it asks for the password in clear text; write enable_cleartext_plugin=true and \
     require_ssl=true in the address, so that TLS protects it",
);
const EXPIRED: Diagnosis =
    Diagnosis::Unusable("the user's password has expired; give the user another one there");
const ACCOUNT: Diagnosis = Diagnosis::Unusable(
    "the user is locked there; see why, and run ALTER USER with ACCOUNT UNLOCK, or FLUSH \
     PRIVILEGES on MariaDB after too many wrong passwords",
);
const NO_MYSQL: Diagnosis =
    Diagnosis::Later("see that MySQL or MariaDB listens at this port, and no other server");

impl From<mysql_async::Error> for Error {
    fn from(error: mysql_async::Error) -> Error {
        explain(error, &TLS_ADVICE, diagnose)
    }
}

fn diagnose(error: &mysql_async::Error) -> Diagnosis {
    let error = match error {
        mysql_async::Error::Server(error) => error,
        mysql_async::Error::Io(IoError::Tls(_)) => {
            return Diagnosis::Unusable("see the name in the address, and the files for TLS");
        }
        mysql_async::Error::Driver(error) => return diagnose_driver(error),
        mysql_async::Error::Io(_) => return DOWN,
        _ => return Diagnosis::Other,
    };
    let found = CODES.iter().find(|(code, _)| *code == error.code);
    found.map_or(Diagnosis::Other, |(_, diagnosis)| *diagnosis)
}

fn diagnose_driver(error: &DriverError) -> Diagnosis {
    match error {
        DriverError::ConnectionClosed => DOWN,
        DriverError::NoClientSslFlagFromServer => SPEAKS_NO_TLS,
        DriverError::UnknownAuthPlugin { .. }
        | DriverError::MysqlOldPasswordDisabled
        | DriverError::InvalidParsecSalt => OTHER_PLUGIN,
        DriverError::CleartextPluginDisabled => CLEAR_PASSWORD,
        DriverError::CantParseServerVersion { .. }
        | DriverError::PacketOutOfOrder
        | DriverError::UnexpectedPacket { .. } => NO_MYSQL,
        _ => Diagnosis::Other,
    }
}

/// The error of a connection that could not be made, with `tls` or without.
pub fn connecting(error: mysql_async::Error, tls: Option<&SslOpts>) -> Error {
    let diagnosis = match (&error, tls) {
        (mysql_async::Error::Server(error), _) if ![1045, 1698].contains(&error.code) => None,
        (mysql_async::Error::Server(_), None) => Some(NOT_LET_IN_PLAIN),
        (mysql_async::Error::Server(_), Some(tls)) if tls.client_identity().is_none() => {
            Some(NOT_LET_IN_WITHOUT_CERTIFICATE)
        }
        (mysql_async::Error::Server(_), Some(_)) => Some(NOT_LET_IN_WITH_CERTIFICATE),
        _ => None,
    };
    match diagnosis {
        Some(diagnosis) => diagnosis.into_error(error),
        None => error.into(),
    }
}

/// The error of a user with a plugin that the driver is built without.
pub fn no_plugin() -> Error {
    OTHER_PLUGIN.into_error(FlatError::new("the server asks for ed25519, parsec or another plugin"))
}

/// A replica, or a primary that is being moved.
const READ_ONLY: Diagnosis = Diagnosis::Later(NO_WRITES);
pub const NO_WRITES: &str = "its read_only is on; if it is the primary and may be written again, \
    run SET GLOBAL read_only = OFF, which ends super_read_only, too; if not, give the address of \
    the primary, or make this server the primary";
const ONLY_READS: Diagnosis = Diagnosis::Later(
    "its transactions only read, as transaction_read_only is on, or tx_read_only on MariaDB; if it \
     may be written again, run SET GLOBAL transaction_read_only = OFF, or of tx_read_only",
);
const LOST_TABLE: Diagnosis = Diagnosis::Unusable(
    "the server knows the name of a table and has lost the table itself, as after a crash while it \
     was made; put back what was there, or drop the tables if nothing has ever been given here",
);
const BLOCKED: Diagnosis = Diagnosis::Later(
    "it has blocked this machine after connections that failed; see what makes them, and run FLUSH \
     HOSTS",
);
const SEE_LOG: Diagnosis = Diagnosis::Later("see the server's log");

/// The servers' error codes, by <https://mariadb.com/docs/server/reference/error-codes> and
/// <https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html>. A conflict can show at
/// a commit, too: Galera and group replication look for conflicts only there.
const CODES: &[(u16, Diagnosis)] = &[
    // Tables and rights.
    (1146, Diagnosis::MissingTables),      // ER_NO_SUCH_TABLE
    (1932, LOST_TABLE),                    // ER_NO_SUCH_TABLE_IN_ENGINE
    (1054, Diagnosis::IncompatibleTables), // ER_BAD_FIELD_ERROR
    (1364, Diagnosis::IncompatibleTables), // ER_NO_DEFAULT_FOR_FIELD
    (1366, Diagnosis::IncompatibleTables), // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
    (1264, Diagnosis::IncompatibleTables), // ER_WARN_DATA_OUT_OF_RANGE
    (1265, Diagnosis::IncompatibleTables), // WARN_DATA_TRUNCATED
    (1292, Diagnosis::IncompatibleTables), // ER_TRUNCATED_WRONG_VALUE
    (1044, Diagnosis::Denied),             // ER_DBACCESS_DENIED_ERROR
    (1142, Diagnosis::Denied),             // ER_TABLEACCESS_DENIED_ERROR
    (1143, Diagnosis::Denied),             // ER_COLUMNACCESS_DENIED_ERROR
    (1227, Diagnosis::Denied),             // ER_SPECIFIC_ACCESS_DENIED_ERROR
    (1045, BAD_PASSWORD),                  // ER_ACCESS_DENIED_ERROR
    (1698, BAD_PASSWORD),                  // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    (1049, NO_DATABASE),                   // ER_BAD_DB_ERROR
    // Users who are not let in.
    (1130, NO_HOST),      // ER_HOST_NOT_PRIVILEGED
    (1251, OTHER_PLUGIN), // ER_NOT_SUPPORTED_AUTH_MODE
    (1524, OTHER_PLUGIN), // ER_PLUGIN_IS_NOT_LOADED
    (1820, EXPIRED),      // ER_MUST_CHANGE_PASSWORD
    (1862, EXPIRED),      // ER_MUST_CHANGE_PASSWORD_LOGIN
    (3118, ACCOUNT),      // ER_ACCOUNT_HAS_BEEN_LOCKED
    (3159, WANTS_TLS),    // ER_SECURE_TRANSPORT_REQUIRED
    (3955, ACCOUNT),      // ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK
    (4150, ACCOUNT),      // MariaDB's ER_USER_IS_BLOCKED
    (4151, ACCOUNT),      // MariaDB's ER_ACCOUNT_HAS_BEEN_LOCKED
    // Other transactions.
    (1062, Diagnosis::Locked), // ER_DUP_ENTRY: another was first
    (1020, Diagnosis::Locked), // ER_CHECKREAD, of innodb_snapshot_isolation
    (1205, Diagnosis::Locked), // ER_LOCK_WAIT_TIMEOUT
    (1213, Diagnosis::Locked), // ER_LOCK_DEADLOCK, at a commit as well
    (1615, Diagnosis::Locked), // ER_NEED_REPREPARE
    (1689, Diagnosis::Locked), // ER_LOCK_ABORTED
    (3101, Diagnosis::Locked), // ER_TRANSACTION_ROLLBACK_DURING_COMMIT, of group replication
    (1180, SEE_LOG),           // ER_ERROR_DURING_COMMIT, also Galera's word for a conflict
    (3100, SEE_LOG),           // ER_RUN_HOOK_ERROR, of group replication
    (1412, SEE_LOG),           // ER_TABLE_DEF_CHANGED
    // Limits on statements.
    (1317, INTERRUPTED), // ER_QUERY_INTERRUPTED
    (1969, INTERRUPTED), // ER_STATEMENT_TIMEOUT: MariaDB's max_statement_time
    (3024, INTERRUPTED), // ER_QUERY_TIMEOUT: MySQL's max_execution_time
    // Limits on the server and on users.
    (1021, Diagnosis::Full), // ER_DISK_FULL
    (1114, Diagnosis::Full), // ER_RECORD_FILE_FULL
    (1037, OVERLOADED),      // ER_OUTOFMEMORY
    (1040, OVERLOADED),      // ER_CON_COUNT_ERROR
    (1041, OVERLOADED),      // ER_OUT_OF_RESOURCES
    (1129, BLOCKED),         // ER_HOST_IS_BLOCKED
    (1135, OVERLOADED),      // ER_CANT_CREATE_THREAD
    (1203, OVERLOADED),      // ER_TOO_MANY_USER_CONNECTIONS
    (1206, OVERLOADED),      // ER_LOCK_TABLE_FULL
    (1226, OVERLOADED),      // ER_USER_LIMIT_REACHED
    (1461, OVERLOADED),      // ER_MAX_PREPARED_STMT_COUNT_REACHED
    (1637, OVERLOADED),      // ER_TOO_MANY_CONCURRENT_TRXS
    // A server that takes no writes.
    (1290, READ_ONLY),  // ER_OPTION_PREVENTS_STATEMENT: read_only, super_read_only
    (1792, ONLY_READS), // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
    (1836, REPLICA),    // ER_READ_ONLY_MODE
    // On the way up or down, or done with us.
    (1047, DOWN), // ER_UNKNOWN_COM_ERROR: a node of Galera that is not in its cluster
    (1053, DOWN), // ER_SERVER_SHUTDOWN
    (1077, DOWN), // ER_NORMAL_SHUTDOWN
    (1078, DOWN), // ER_GOT_SIGNAL
    (1079, DOWN), // ER_SHUTDOWN_COMPLETE
    (1080, DOWN), // ER_FORCING_CLOSE
    (1152, DOWN), // ER_ABORTING_CONNECTION
    (1158, DOWN), // ER_NET_READ_ERROR
    (1159, DOWN), // ER_NET_READ_INTERRUPTED
    (1160, DOWN), // ER_NET_ERROR_ON_WRITE
    (1161, DOWN), // ER_NET_WRITE_INTERRUPTED
    (1184, DOWN), // ER_NEW_ABORTING_CONNECTION
    (1927, DOWN), // ER_CONNECTION_KILLED
    (3032, DOWN), // ER_SERVER_OFFLINE_MODE
    (3168, DOWN), // ER_SERVER_ISNT_AVAILABLE
    (3169, DOWN), // ER_SESSION_WAS_KILLED
    (4031, DOWN), // ER_CLIENT_INTERACTION_TIMEOUT
];
