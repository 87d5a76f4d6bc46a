//! [`Held`]: what an object of Python holds of the library.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use pyo3::prelude::*;

/// A handle of the library. The last one of a generator waits for the store when it is dropped.
/// Other threads run Python meanwhile.
#[derive(Debug)]
pub struct Held<T: Send>(ManuallyDrop<T>);

impl<T: Send> Held<T> {
    pub fn new(handle: T) -> Held<T> {
        Held(ManuallyDrop::new(handle))
    }
}

impl<T: Send> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send> Drop for Held<T> {
    fn drop(&mut self) {
        // SAFETY: Nothing uses the handle after this: `self` is going.
        let mut handle = Some(unsafe { ManuallyDrop::take(&mut self.0) });
        // Objects of Python are destroyed by threads that are attached to it. If it is ending and
        // cannot be attached to, the handle is dropped at the end of this function.
        Python::try_attach(|py| py.detach(|| drop(handle.take())));
    }
}
