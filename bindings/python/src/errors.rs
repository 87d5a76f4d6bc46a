//! The exceptions of the package, which are defined in Python.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use uidring_bindings::{Error, Kind};

use crate::cached;

/// The exception for an error, such as `ClosedError` for `Kind::Closed`.
#[cold]
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    match class(py, error.kind) {
        Ok(class) => PyErr::from_type(class, error.message.clone()),
        // The package is broken: the import says how.
        Err(error) => error,
    }
}

fn class(py: Python<'_>, kind: Kind) -> PyResult<Bound<'_, PyType>> {
    static CLASSES: [PyOnceLock<Py<PyType>>; Kind::ALL.len()] =
        [const { PyOnceLock::new() }; Kind::ALL.len()];
    let place = Kind::ALL.iter().position(|&other| other == kind).unwrap_or_default();
    cached::import(py, &CLASSES[place], ("uidring._errors", &format!("{}Error", kind.name())))
}

/// Runs a call of the library that may wait, while other threads run Python.
pub fn detached<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    py.detach(|| uidring_bindings::guarded(call)).map_err(|error| raised(py, &error))
}
