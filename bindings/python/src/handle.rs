//! [`Handle`]: what an object of Python holds of the library, and how it is opened.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyClass, PyClassInitializer};
use uidring_bindings::{Close, Error, Open};

use crate::convert;
use crate::errors::detached;

/// A handle of the library. The last one of a generator waits for the store when it is dropped.
/// Other threads run Python meanwhile.
#[derive(Debug)]
pub struct Handle<T: Send>(ManuallyDrop<T>);

impl<T: Send> Handle<T> {
    pub fn new(handle: T) -> Handle<T> {
        Handle(ManuallyDrop::new(handle))
    }
}

impl<T: Close> Handle<T> {
    /// Closes what the object holds. Other threads run Python meanwhile.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.close())
    }
}

/// Opens what an object holds at an address, as [`open_with`] does.
pub fn open<'py, T: Open, H: PyClass + Into<PyClassInitializer<H>>>(
    address: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
    holder: impl FnOnce(Handle<T>) -> H,
) -> PyResult<Bound<'py, H>> {
    let py = address.py();
    let (address, options) = (convert::address(address)?, convert::options(py, options)?);
    open_with(py, holder, || T::open(&address, &convert::borrowed(&options)))
}

/// Opens what an object holds, which is closed when the program ends. What happens to it is told to
/// Python's log.
pub fn open_with<T: Send, H: PyClass + Into<PyClassInitializer<H>>>(
    py: Python<'_>,
    holder: impl FnOnce(Handle<T>) -> H,
    open: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<Bound<'_, H>> {
    convert::tell_events(py)?;
    let opened = detached(py, open)?;
    let holder = Bound::new(py, holder(Handle::new(opened)))?;
    convert::close_at_exit(holder.as_any())?;
    Ok(holder)
}

impl<T: Send> Deref for Handle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: Nothing uses the handle after this: `self` is going.
        let mut handle = Some(unsafe { ManuallyDrop::take(&mut self.0) });
        // Objects of Python are destroyed by threads that are attached to it. If it is ending and
        // cannot be attached to, the handle is dropped at the end of this function.
        Python::try_attach(|py| py.detach(|| drop(handle.take())));
    }
}
