//! [`ByName`]: things in a set that are found by their names.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

use crate::sync::Arc;

/// What has a name that never changes.
pub trait Named {
    fn name(&self) -> &str;
}

/// A thing in a set of which no two have one name.
#[derive(Debug)]
pub struct ByName<T>(pub Arc<T>);

impl<T: Named> Borrow<str> for ByName<T> {
    fn borrow(&self) -> &str {
        self.0.name()
    }
}

impl<T: Named> Hash for ByName<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

impl<T: Named> PartialEq for ByName<T> {
    fn eq(&self, other: &ByName<T>) -> bool {
        self.0.name() == other.0.name()
    }
}

impl<T: Named> Eq for ByName<T> {}
