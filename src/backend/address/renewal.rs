//! [`Renewal`]: what replaces a store whose address was given anew.

use std::fmt;

use crate::backend::error::Error;
use crate::backend::storage_error;
use crate::sync::{Arc, Mutex, lock};

/// What has replaced a store, for all of its clones, which share this.
#[derive(Clone)]
pub struct Renewal<S>(Arc<Mutex<Option<Arc<S>>>>);

impl<S: Clone> Renewal<S> {
    /// What has replaced `store`, or a clone of it.
    pub fn newest(&self, store: &S) -> S {
        // Both have a `Renewal`; that of the newer one is never used.
        self.with_newest(store, S::clone)
    }

    /// What `read` finds in it.
    pub fn with_newest<T>(&self, store: &S, read: impl FnOnce(&S) -> T) -> T {
        read(lock(&self.0).as_deref().unwrap_or(store))
    }

    /// Puts `newer` in the place of the store and its clones.
    pub fn replace(&self, newer: S) {
        *lock(&self.0) = Some(Arc::new(newer));
    }
}

impl<S> Default for Renewal<S> {
    fn default() -> Renewal<S> {
        Renewal(Arc::default())
    }
}

impl<S> fmt::Debug for Renewal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewal")
    }
}

/// The error of a new address of another store than the one `in_use`.
pub fn other_store(in_use: &str) -> Error {
    Error::problem(storage_error::other_store(in_use))
}
