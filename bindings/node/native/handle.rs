//! [`Handle`], what an external of JavaScript has.

use std::ops::Deref;

use crate::work;

/// Something of the core. The garbage collector drops it, on the thread that runs JavaScript, and a
/// generator that was not closed would wait there for its store. So a thread drops what is in it.
pub(crate) struct Handle<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> Handle<T> {
    pub(crate) fn new(value: T) -> Handle<T> {
        Handle(Some(value))
    }
}

impl<T: Send + 'static> Deref for Handle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            // It is taken out by the drop alone.
            None => unreachable!("a handle that was dropped is used"),
        }
    }
}

impl<T: Send + 'static> Drop for Handle<T> {
    fn drop(&mut self) {
        let value = self.0.take();
        work::run(move || drop(value));
    }
}
