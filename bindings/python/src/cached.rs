//! [`cached`]: objects of Python that are looked up once.
//!
//! `PyO3` has `get_or_init`, `import` and `intern!` for that. They give the interpreter away while
//! a place is being filled. A child that another thread forks in that moment waits for the place
//! without end, because the thread that fills it is not there. Here nothing is locked meanwhile,
//! and two threads may look the same object up.

use pyo3::PyTypeCheck;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The object in `place`. At the first use, `find` finds it.
pub fn cached<'py, T>(
    py: Python<'py>,
    place: &PyOnceLock<Py<T>>,
    find: impl FnOnce() -> PyResult<Bound<'py, T>>,
) -> PyResult<Bound<'py, T>> {
    if let Some(known) = place.get(py) {
        return Ok(known.bind(py).clone());
    }
    let found = find()?;
    // Another thread may have been faster, and has put the same object there.
    let _ = place.set(py, found.clone().unbind());
    Ok(found)
}

/// What a module has under a name.
pub fn import<'py, T: PyTypeCheck>(
    py: Python<'py>,
    place: &PyOnceLock<Py<T>>,
    (module, name): (&str, &str),
) -> PyResult<Bound<'py, T>> {
    cached(py, place, || Ok(py.import(module)?.getattr(name)?.cast_into()?))
}

/// A name as Python keeps it for attributes.
macro_rules! interned {
    ($py:expr, $name:literal) => {{
        use pyo3::{Py, sync::PyOnceLock, types::PyString};
        static NAME: PyOnceLock<Py<PyString>> = PyOnceLock::new();
        $crate::cached::cached($py, &NAME, || Ok(PyString::intern($py, $name)))
    }};
}

pub(crate) use interned;
