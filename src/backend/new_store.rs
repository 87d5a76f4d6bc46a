//! What operators are told of a store that nobody has used before.

#![cfg_attr(not(feature = "tracing"), allow(unused_variables))]

use crate::support::callbacks::event;
use crate::sync::{Arc, AtomicBool, Ordering};

/// Whether it has been told, by any of the clones of what has this.
#[derive(Clone, Debug, Default)]
pub struct News(Arc<AtomicBool>);

impl News {
    /// Tells once that nothing was taken from the store `name` before.
    pub fn tell(&self, name: &str) {
        // ORDERING: nothing else depends on it.
        let is_first = !self.0.swap(true, Ordering::Relaxed);
        if is_first {
            event!(
                warn,
                "new_store",
                store = name,
                "nothing was taken from this store before; if programs had another one, their ids \
                 come again"
            );
        }
    }
}
