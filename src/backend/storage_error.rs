//! What goes wrong with the database, the file or the server behind a registry or a source.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::clock::human;
use crate::sync::Arc;

/// What a database, its driver, a server or the file system said.
type Cause = Arc<dyn Error + Send + Sync>;

/// An error of the database, the file or the server that ids come from.
///
/// An error says what is wrong and what to do, and what was said there is its
/// [`source`](Error::source). The field `what` tells of what, as "the registry uidring.db" or "the
/// tags in uidring.db": what is there, and its path, or its address without the password.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use uidring::{RegistryError, StorageError, Store};
///
/// let error = Store::open_existing("/nowhere/uidring.db")?.registry().unwrap_err();
/// let RegistryError::Storage(error) = error else { panic!("{error}") };
/// assert!(matches!(error, StorageError::Unusable { .. }));
/// assert!(!error.is_transient());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StorageError {
    /// It cannot be used as it is.
    Unusable {
        /// Of what this is told.
        what: String,
        /// What is wrong with it or what to do, as a sentence about it.
        problem: String,
        /// What was said there.
        source: Option<Cause>,
    },
    /// Others had it locked for longer than this process is ready to wait.
    Locked {
        /// Of what this is told.
        what: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Others wrote to it first, each time that this process tried, for longer than it is ready to
    /// wait. So it is where nothing is locked: in etcd, ZooKeeper and Redis.
    Overtaken {
        /// Of what this is told.
        what: String,
        /// For how long it was tried.
        waited: Duration,
    },
    /// The server is down, does not answer, or does not serve this call for now.
    Unreachable {
        /// Of what this is told.
        what: String,
        /// What is wrong with it or what to do, as a sentence about the server.
        problem: String,
        /// What was said there.
        source: Option<Cause>,
    },
    /// The disk is full, or what it may take of it, as by a quota.
    Full {
        /// Of what this is told.
        what: String,
        /// What was said there.
        source: Cause,
    },
    /// It failed in another way.
    Failed {
        /// What could not be done, as "store a worker id in the registry uidring.db".
        doing: String,
        /// What was said there.
        source: Cause,
    },
}

impl StorageError {
    /// `what` cannot be used as it is.
    pub(crate) fn unusable(what: String, problem: impl Into<String>) -> StorageError {
        StorageError::Unusable { what, problem: problem.into(), source: None }
    }

    /// What was to be done failed, for this `cause`.
    pub(crate) fn failed(
        doing: String,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> StorageError {
        StorageError::Failed { doing, source: Arc::from(cause.into()) }
    }

    /// Whether the same call may succeed in a moment: others had it or were first, or it is down,
    /// or does not answer.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            StorageError::Locked { .. }
                | StorageError::Overtaken { .. }
                | StorageError::Unreachable { .. }
        )
    }
}

/// What is wrong with the new address of another store than the one `in_use`.
pub fn other_store(in_use: &str) -> String {
    format!(
        "it is another store than {in_use}, which is in use; change the user, the password and the \
         parameters alone, or start again with the new address"
    )
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Unusable { what, problem, .. } => {
                write!(f, "cannot use {what}: {problem}")
            }
            StorageError::Locked { what, waited } => write!(
                f,
                "others had {what} locked for {}; see who holds the lock, or wait longer",
                human(*waited)
            ),
            StorageError::Overtaken { what, waited } => write!(
                f,
                "others wrote to {what} first, time and again for {}; let fewer processes write at \
                 once, or wait longer",
                human(*waited)
            ),
            StorageError::Unreachable { what, problem, .. } => {
                write!(f, "cannot reach {what}: {problem}")
            }
            StorageError::Full { what, .. } => write!(
                f,
                "cannot write to {what}: its disk or its quota is full; make room and try again, \
                 as nothing was used up"
            ),
            StorageError::Failed { doing, .. } => write!(f, "cannot {doing}"),
        }
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StorageError::Unusable { source, .. } | StorageError::Unreachable { source, .. } => {
                source.as_deref().map(|source| source as _)
            }
            StorageError::Full { source, .. } | StorageError::Failed { source, .. } => {
                Some(&**source)
            }
            StorageError::Locked { .. } | StorageError::Overtaken { .. } => None,
        }
    }
}
