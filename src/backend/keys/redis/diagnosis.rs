//! What the errors mean that Redis answers with.

use redis::ServerError;

use super::Redis;
use crate::backend::address::password_file::CHECK_PASSWORD;
use crate::backend::keys::Error;
use crate::backend::server_message::sanitize;

/// What a user needs, in the words of `ACL SETUSER`, which refuses a command that a server lacks.
pub const RIGHTS: &str = "+select +info +config|get +pubsub|numsub +multi +exec +eval +get +mget \
                          +set +del +sadd +srem +smembers +scard +time";

/// What it needs from version 7.2 on, besides.
pub const WAITAOF: &str = "+waitaof";
const ANOTHER_KIND: &str = "a key there is of another kind, as others have made it; see which one, \
                            or name another folder in the address";
const CLUSTER: &str = "it is a part of a Redis Cluster, in which a failover forgets writes that it \
                       has confirmed; give the address of a Redis that stands alone";
const NO_SPACE: &str = "No space left";

/// What comes before the arguments of an unknown command. They end in the midst of a long password,
/// which is not found then.
const ARGUMENTS: &str = ", with args beginning with";

/// What is wrong, by the first word of the error and by what is in it. The first that fits counts.
const ERRORS: &[(&str, &str, ErrorKind)] = &[
    ("NOPERM", "", ErrorKind::Denied),
    ("EXECABORT", "NOPERM", ErrorKind::Denied),
    // In a script.
    ("ERR", "can't run this command", ErrorKind::Denied),
    ("ERR", "has no permissions", ErrorKind::Denied),
    ("ERR", "can't access at least one of the keys", ErrorKind::Denied),
    ("WRONGPASS", "", ErrorKind::Unusable(CHECK_PASSWORD)),
    ("NOAUTH", "", ErrorKind::Unusable("name the user and the password in the address")),
    ("ERR", "without any password", ErrorKind::Unusable("it asks for no password; leave it out")),
    ("ERR", "no password is set", ErrorKind::Unusable("it asks for no password; leave it out")),
    ("ERR", "DB index", ErrorKind::Unusable("see the number of the database in the address")),
    ("ERR", "invalid DB", ErrorKind::Unusable("see the number of the database in the address")),
    ("ERR", "in cluster mode", ErrorKind::Unusable(CLUSTER)),
    (
        "ERR",
        "max number of clients",
        ErrorKind::Later("see who uses its connections, or allow more"),
    ),
    ("MOVED", "", ErrorKind::Unusable(CLUSTER)),
    ("ASK", "", ErrorKind::Unusable(CLUSTER)),
    ("CROSSSLOT", "", ErrorKind::Unusable(CLUSTER)),
    ("CLUSTERDOWN", "", ErrorKind::Unusable(CLUSTER)),
    ("DENIED", "", ErrorKind::Unusable("it is in protected mode; give its users passwords")),
    ("READONLY", "", ErrorKind::Unusable("it is a replica; give the address of its master")),
    ("WRONGTYPE", "", ErrorKind::Unusable(ANOTHER_KIND)),
    ("ERR", "is not an integer", ErrorKind::Unusable(ANOTHER_KIND)),
    ("MISCONF", NO_SPACE, ErrorKind::Full),
    ("MISCONF", "", ErrorKind::Unusable("it cannot write its files; see its log")),
    (
        "OOM",
        "",
        ErrorKind::Unusable("its memory has reached maxmemory; raise that, or remove other keys"),
    ),
    ("LOADING", "", ErrorKind::Later("it still reads its files after a start; wait until it has")),
    ("BUSY", "", ErrorKind::Later("a script of others keeps it busy; end that by SCRIPT KILL")),
    ("NOREPLICAS", "", ErrorKind::Later("it has fewer replicas than its min-replicas-to-write")),
    ("MASTERDOWN", "", ErrorKind::Later("it is a replica whose master is down")),
    ("TRYAGAIN", "", ErrorKind::Later("it moves keys to another server; try again")),
];

#[derive(Clone, Copy)]
enum ErrorKind {
    Denied,
    Full,
    /// What is wrong or what to do, where it may pass by itself.
    Later(&'static str),
    Unusable(&'static str),
}

/// The words of `error`, in a form fit for one of ours.
pub fn message(error: &ServerError, store: &Redis) -> String {
    let details = error.details().unwrap_or_default();
    let details = details.split_once(ARGUMENTS).map_or(details, |(before, _)| before);
    let message = format!("{} {details}", error.code());
    let password = store.user.as_ref().map(|(_, password)| password.as_str());
    sanitize(&message, &[password.unwrap_or_default()], "(the password)")
}

/// What `error` means.
pub fn diagnose(error: &ServerError, store: &Redis) -> Error {
    let (code, details) = (error.code(), error.details().unwrap_or_default());
    let message = message(error, store);
    let fits = |(word, part, _): &&(&str, &str, ErrorKind)| code == *word && details.contains(part);
    match ERRORS.iter().find(fits).map(|(_, _, kind)| *kind) {
        Some(ErrorKind::Denied) => {
            let rights = format!(
                "{message}; the user needs ~{}/* {RIGHTS}, and {WAITAOF} from version 7.2 on",
                store.folder
            );
            Error::Denied(rights.into())
        }
        Some(ErrorKind::Full) => Error::Full(message.into()),
        Some(ErrorKind::Later(problem)) => {
            Error::Unreachable { problem: problem.to_owned(), source: Some(message.into()) }
        }
        Some(ErrorKind::Unusable(problem)) => {
            Error::Unusable { problem: problem.to_owned(), source: Some(message.into()) }
        }
        None => Error::Other(message.into()),
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::{Error, Redis, diagnose};

    fn error(reply: &str, store: &Redis) -> Error {
        let Value::ServerError(error) = parse_redis_value(reply.as_bytes()).unwrap() else {
            panic!("{reply} is no error");
        };
        diagnose(&error, store)
    }

    /// As Redis says it where `AUTH` has another name: it repeats the first 128 characters of what
    /// it was sent.
    #[test]
    fn no_error_has_the_password() {
        let long = "0123456789abcdef".repeat(10);
        for password in ["se cret", &long] {
            let url = format!("redis://me:{}@h/0/ids", password.replace(' ', "%20"));
            let store = Redis::at(&url).unwrap();
            let arguments: String = format!("'me' '{password}").chars().take(128).collect();
            let message = format!(
                "-ERR unknown command 'AUTH', with args beginning with: {arguments}' \x1b[2J\r\n"
            );
            let message = match error(&message, &store) {
                Error::Other(message) => message.to_string(),
                error => format!("{error:?}"),
            };
            assert_eq!(message, "ERR unknown command 'AUTH'");
        }
    }

    /// As the servers' sources have them.
    #[test]
    fn errors_say_what_they_mean() {
        let store = Redis::at("redis://h/0/ids").unwrap();
        for (message, kind) in [
            ("MISCONF Errors writing to the AOF file: No space left on device", "full"),
            ("MISCONF Redis is configured to save RDB snapshots, but it is unable to", "unusable"),
            ("OOM command not allowed when used memory > 'maxmemory'.", "unusable"),
            ("READONLY You can't write against a read only replica.", "unusable"),
            ("WRONGTYPE Operation against a key holding the wrong kind of value", "unusable"),
            ("WRONGPASS invalid username-password pair or user is disabled.", "unusable"),
            ("NOAUTH Authentication required.", "unusable"),
            (
                "ERR AUTH <password> called without any password configured for the default user.",
                "unusable",
            ),
            ("ERR DB index is out of range", "unusable"),
            ("ERR SELECT is not allowed in cluster mode", "unusable"),
            ("MOVED 3999 127.0.0.1:6381", "unusable"),
            ("DENIED Redis is running in protected mode", "unusable"),
            ("NOPERM this user has no permissions to run the 'set' command", "denied"),
            ("EXECABORT Transaction discarded because of: NOPERM this user has no", "denied"),
            ("ERR The user executing the script can't run this command or subcommand", "denied"),
            ("ERR ACL failure in script: User ids has no permissions to run the 'get'", "denied"),
            (
                "ERR The user executing the script can't access at least one of the keys mentioned",
                "denied",
            ),
            ("LOADING Redis is loading the dataset in memory", "later"),
            ("BUSY Redis is busy running a script.", "later"),
            ("NOREPLICAS Not enough good replicas to write.", "later"),
            ("MASTERDOWN Link with MASTER is down", "later"),
            ("ERR max number of clients reached", "later"),
            ("ERR something new", "other"),
        ] {
            let error = error(&format!("-{message}\r\n"), &store);
            let (found, cause) = match &error {
                Error::Full(cause) => ("full", Some(cause)),
                Error::Denied(cause) => ("denied", Some(cause)),
                Error::Other(cause) => ("other", Some(cause)),
                Error::Unusable { source, .. } => ("unusable", source.as_ref()),
                Error::Unreachable { source, .. } => ("later", source.as_ref()),
                _ => ("?", None),
            };
            assert_eq!(found, kind, "{message}");
            assert!(cause.unwrap().to_string().starts_with(message), "{error:?}");
        }
    }
}
