//! What `uidring._events` tells Python's log.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use uidring_bindings::events::{self, Level, Value};

/// Keeps events from now on.
#[pyfunction]
pub fn _listen() {
    events::listen();
}

/// An event: its level as `logging` counts, what it says, its name, and its fields.
type PyEvent<'py> = (u8, String, &'static str, Bound<'py, PyDict>);

/// The oldest event, if there is one.
#[pyfunction]
pub fn _take_event(py: Python<'_>) -> PyResult<Option<PyEvent<'_>>> {
    let Some(event) = events::take() else { return Ok(None) };
    let level = match event.level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug => 10,
    };
    let fields = PyDict::new(py);
    for (name, value) in &event.fields {
        match value {
            Value::Number(number) => fields.set_item(name, number)?,
            Value::Text(text) => fields.set_item(name, text)?,
        }
    }
    Ok(Some((level, event.text(), event.name, fields)))
}

/// Waits until there is an event, or `_wake` is called. Other threads run meanwhile.
#[pyfunction]
pub fn _wait_for_event(py: Python<'_>) {
    py.detach(|| events::wait(None));
}

/// Ends a wait.
#[pyfunction]
pub fn _wake() {
    events::wake();
}
