//! Why a call to a store failed.

use std::fs;
use std::io;
use std::time::Duration;

use super::storage_error::StorageError;
use crate::sync::Arc;

/// What a store or its driver said.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a transaction failed. A `problem` says what is wrong or what to do, as a sentence about the
/// database, and does not repeat the cause.
#[derive(Debug)]
#[cfg_attr(
    not(any(feature = "mysql", feature = "postgres", feature = "sqlite")),
    allow(dead_code) // stores of keys have no tables
)]
pub enum Error {
    /// The database cannot be used as it is.
    Unusable { problem: String, source: Option<Cause> },
    /// The tables are not there.
    MissingTables(Option<Cause>),
    /// There are tables of these names, and they are others.
    IncompatibleTables(Option<Cause>),
    /// The file has tables of others, and none of this library's.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))] // no server is a file
    UnrelatedTables,
    /// The file is no database.
    NotADatabase { problem: &'static str, source: Option<Cause> },
    /// The user lacks a right.
    Denied(Cause),
    /// Other transactions hold the rows, or wrote them first.
    Locked,
    /// Others wrote the keys first, each time.
    #[cfg_attr(
        not(any(feature = "etcd", feature = "redis", feature = "zookeeper")),
        allow(dead_code) // databases have locks
    )]
    Overtaken,
    /// The server is down, does not answer, or does not serve this call for now.
    Unreachable { problem: String, source: Option<Cause> },
    /// The disk is full, or a quota.
    Full(Cause),
    /// The database failed.
    Other(Cause),
}

/// What to say of the tables of a caller.
#[derive(Debug)]
pub struct ErrorPhrases {
    /// What is in the database, in front of its name: "the registry", or "the tags in".
    pub subject: &'static str,
    /// What is wrong where there are none, and what to do.
    pub missing_tables: &'static str,
    /// What is wrong where there are others of their names, and what to do.
    pub incompatible_tables: &'static str,
    /// What to do about a file that is no database.
    pub not_a_database: &'static str,
    /// What to do about a file that has tables of others alone.
    pub unrelated_tables: &'static str,
    /// Which rights to give to the user.
    pub permissions: &'static str,
}

impl Error {
    /// The error of a call to the database `name` that could not do what it was `doing`, as it
    /// found out after `waited`.
    pub fn into_storage_error(
        self,
        phrases: &ErrorPhrases,
        name: &str,
        doing: &str,
        waited: Duration,
    ) -> StorageError {
        let what = format!("{} {name}", phrases.subject);
        let (problem, source) = match self.with_file_limit() {
            Error::MissingTables(source) => (phrases.missing_tables.to_owned(), source),
            Error::IncompatibleTables(source) => (phrases.incompatible_tables.to_owned(), source),
            Error::UnrelatedTables => (
                format!(
                    "it has tables of another program, and none of uidring's; see that the path is \
                     right and that nobody has removed them; if they have never been there, {}",
                    phrases.unrelated_tables
                ),
                None,
            ),
            Error::NotADatabase { problem, source } => {
                (format!("{problem}; {}", phrases.not_a_database), source)
            }
            Error::Denied(source) => (phrases.permissions.to_owned(), Some(source)),
            Error::Unusable { problem, source } => (problem, source),
            Error::Locked => return StorageError::Locked { what, waited },
            Error::Overtaken => return StorageError::Overtaken { what, waited },
            Error::Unreachable { problem, source } => {
                return StorageError::Unreachable { what, problem, source: source.map(Arc::from) };
            }
            Error::Full(source) => return StorageError::Full { what, source: source.into() },
            Error::Other(source) => {
                return StorageError::failed(format!("{doing} {name}"), source);
            }
        };
        StorageError::Unusable { what, problem, source: source.map(Arc::from) }
    }

    /// Says so where the system gives this process no further file: a driver's error says it in its
    /// causes, if at all, and SQLite says that the file cannot be opened.
    fn with_file_limit(self) -> Error {
        match self {
            Error::Unusable { source: Some(source), .. }
            | Error::Unreachable { source: Some(source), .. }
            | Error::Other(source)
                if is_caused_by_shortage(&*source)
                    || fs::File::open("/").is_err_and(|e| is_shortage(&e)) =>
            {
                let problem = "this process may open no further file; raise its limit of open \
                               files, or let it hold fewer connections";
                Error::Unreachable { problem: problem.to_owned(), source: Some(source) }
            }
            other => other,
        }
    }

    pub fn problem(problem: impl Into<String>) -> Error {
        Error::Unusable { problem: problem.into(), source: None }
    }

    /// The tables are of another version of the schema than the one `known`.
    pub fn other_version(version: i64, known: i64) -> Error {
        Error::problem(format!(
            "its schema has the version {version}, and this uidring knows version {known}; use \
             the uidring that made it"
        ))
    }
}

/// Whether the error is that of the process' limit of open files, or of the system's: EMFILE and
/// ENFILE, which have these numbers on each Unix.
fn is_shortage(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// Whether the error or one of its causes is such a one.
fn is_caused_by_shortage(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.downcast_ref().is_some_and(is_shortage))
}

/// Why a transaction was not made: the database failed, or the caller's own rules refused what it
/// found there.
#[derive(Debug)]
pub enum Fault<E> {
    Database(Error),
    Refused(E),
}

impl<E> From<Error> for Fault<E> {
    fn from(error: Error) -> Fault<E> {
        Fault::Database(error)
    }
}

/// 128 random bits in hexadecimal: a text that nothing else has.
pub fn random_text() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::problem(format!("the system has no random numbers to make a name of: {error}"))
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// On each Unix this is EMFILE. It is a cause of what the driver says.
    #[test]
    fn a_shortage_of_open_files_is_called_so() {
        let phrases = ErrorPhrases {
            subject: "the registry",
            missing_tables: "",
            incompatible_tables: "",
            not_a_database: "",
            unrelated_tables: "",
            permissions: "give a right",
        };
        let message = |code| {
            let error = Error::Other(Box::new(io::Error::from_raw_os_error(code)));
            error
                .into_storage_error(&phrases, "ids.db", "read the registry", Duration::ZERO)
                .to_string()
        };
        let start = "cannot reach the registry ids.db: this process may open no further file";
        assert!(message(24).starts_with(start), "{}", message(24));
        assert_eq!(message(5), "cannot read the registry ids.db");
    }
}
