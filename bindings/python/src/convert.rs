//! Values of Python for the library, and of the library for Python.

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use uidring_bindings::Error;

use crate::cached::{self, interned};
use crate::ending;
use crate::errors::raised;

/// Calls what a module has under a name, and remembers it in `place`.
fn call<'py>(
    py: Python<'py>,
    place: &'static PyOnceLock<Py<PyAny>>,
    of: (&str, &str),
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    ending::call(py, || cached::import(py, place, of), arguments)
}

/// The options as the library reads them.
pub fn options(
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<(String, String)>> {
    static TEXTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    match options {
        Some(options) => call(py, &TEXTS, ("uidring._options", "texts"), (options,))?.extract(),
        None => Ok(Vec::new()),
    }
}

/// Borrows what [`options`] has returned.
pub fn borrowed(options: &[(String, String)]) -> Vec<(&str, &str)> {
    options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// The address of a store: a text, or a path.
pub fn address(address: &Bound<'_, PyAny>) -> PyResult<String> {
    static PATH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Ok(text) = address.cast::<PyString>() {
        return text.extract();
    }
    let py = address.py();
    let path = call(py, &PATH, ("os", "fspath"), (address,)).map_err(|error| {
        if error.is_instance_of::<PyTypeError>(py) {
            // By its type alone: an address of another package's may show its password.
            let what = address.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            let problem = format!("an address is a text or a path, and not of the type {what}");
            PyTypeError::new_err(problem)
        } else {
            error
        }
    })?;
    path.extract()
}

/// A whole number of Python's, which has no bounds, for the library.
pub fn whole<'py, T>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<T>
where
    T: FromPyObjectOwned<'py, Error = PyErr>,
{
    let py = value.py();
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(py) {
            raised(py, &Error::argument(format!("{what}, and not {value}")))
        } else {
            error
        }
    })
}

/// A UID.
pub fn uid(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    whole(value, "a UID is a whole number from 1 to 9223372036854775807")
}

/// How many numbers a call is asked for.
pub fn count(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let count: u64 = whole(value, "a call takes 0 numbers or more")?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// How many bits the ids of a pool have.
pub fn bits(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole(value, "the ids of a pool have 1 to 22 bits")
}

/// A date as the library reads it.
pub fn date(date: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
    static TEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    date.map(|date| call(date.py(), &TEXT, ("uidring._options", "date_text"), (date,)))
        .map(|text| text?.extract())
        .transpose()
}

/// A time in milliseconds since 1970.
pub fn unix_ms(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    static MILLISECONDS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    call(time.py(), &MILLISECONDS, ("uidring._values", "unix_ms"), (time,))?.extract()
}

/// A status, which the library writes as JSON.
pub fn status<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    call(py, &LOADS, ("json", "loads"), (json,))
}

/// What a UID holds.
pub fn parts(py: Python<'_>, parts: uidring_bindings::Parts) -> PyResult<Bound<'_, PyAny>> {
    static PARTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let parts = (parts.unix_ms, parts.worker, parts.sequence);
    call(py, &PARTS, ("uidring._values", "parts"), parts)
}

/// A coroutine function of the package, called with `arguments`.
pub fn coroutine<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    ending::call(py, || py.import(interned!(py, "uidring._async")?)?.getattr(name), arguments)
}

/// Has `on_loss` called when `worker` is about to be lost.
pub fn tell_loss(worker: &Bound<'_, PyAny>, on_loss: &Bound<'_, PyAny>) -> PyResult<()> {
    static START: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    call(worker.py(), &START, ("uidring._lend", "start"), (worker, on_loss))?;
    Ok(())
}

/// Has events told to Python's log from now on.
pub fn tell_events(py: Python<'_>) -> PyResult<()> {
    static START: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    call(py, &START, ("uidring._events", "start"), ())?;
    Ok(())
}

/// Has `holder` closed when the program ends.
pub fn close_at_exit(holder: &Bound<'_, PyAny>) -> PyResult<()> {
    static REMEMBER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    call(holder.py(), &REMEMBER, ("uidring._exit", "remember"), (holder,))?;
    Ok(())
}

/// What `pickle` and `copy` are told.
pub fn not_copied(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} cannot be pickled or copied, because two copies would give the same numbers: open \
         one in each process, and pass the address on"
    ))
}
