//! [`Token`]: what crossbeam's `Parker` waits for, made of what loom and shuttle can see.

use std::sync::PoisonError;

#[cfg(uidring_loom)]
use loom::sync::{Arc, Condvar, Mutex};
#[cfg(uidring_shuttle)]
use shuttle::sync::{Arc, Condvar, Mutex};

use super::lock;

/// Is there or not. One thread waits until it is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token(Arc<(Mutex<bool>, Condvar)>);

impl Token {
    /// Waits until the token is there, and takes it away.
    pub(crate) fn take(&self) {
        let (is_there, changed) = &*self.0;
        let mut is_there = lock(is_there);
        while !*is_there {
            is_there = changed.wait(is_there).unwrap_or_else(PoisonError::into_inner);
        }
        *is_there = false;
    }

    /// Puts the token there.
    pub(crate) fn unpark(&self) {
        let (is_there, changed) = &*self.0;
        *lock(is_there) = true;
        changed.notify_one();
    }
}
