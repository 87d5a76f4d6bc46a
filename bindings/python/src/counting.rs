//! What is done by statements that a driver of Python's runs.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use uidring_bindings::{
    AskError, Asking, Dialect, Error, Places, Rows, SeriesNumber, SqlValue, Statement, Step,
    dialect, guarded,
};

use crate::errors::raised;
use crate::series_numbers::SeriesNumbers;

/// A gapless number that is being counted, or a series that is being read.
#[pyclass(module = "uidring")]
#[derive(Debug)]
pub struct Work {
    task: Task,
    places: Places,
    /// For the number.
    scope: Option<Py<PyString>>,
}

#[derive(Debug)]
enum Task {
    Count(Asking<SeriesNumber>),
    Read(Asking<()>),
}

impl Work {
    pub fn count(
        counting: Asking<SeriesNumber>,
        places: &str,
        scope: Option<&Bound<'_, PyString>>,
    ) -> Work {
        let scope = scope.map(|scope| scope.clone().unbind());
        Work { task: Task::Count(counting), places: places_of(places), scope }
    }

    pub fn read(reading: Asking<()>, places: &str) -> Work {
        Work { task: Task::Read(reading), places: places_of(places), scope: None }
    }

    /// What is next. `None` if the driver has failed.
    fn next<'py>(
        &mut self,
        py: Python<'py>,
        answer: Option<Result<Rows, String>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let places = self.places;
        let done = match &mut self.task {
            Task::Count(counting) => match guarded(|| counting.step(answer)) {
                Ok(Step::Run(statement)) => Err(statement),
                Ok(Step::Done(number)) => Ok(Some(number)),
                Err(error) => return driver_failed(py, error),
            },
            Task::Read(reading) => match guarded(|| reading.step(answer)) {
                Ok(Step::Run(statement)) => Err(statement),
                Ok(Step::Done(())) => Ok(None),
                Err(error) => return driver_failed(py, error),
            },
        };
        match done {
            Err(statement) => Ok(Some(asked(py, &statement, places)?.into_any())),
            Ok(Some(number)) => {
                let scope = self.scope.as_ref().map(|scope| scope.bind(py));
                SeriesNumbers::look_up(py, scope)?.issued(&number).map(Some)
            }
            Ok(None) => Ok(Some(PyList::empty(py).into_any())),
        }
    }
}

#[pymethods]
impl Work {
    /// Goes on with the rows of the last statement, at first with `None`. Returns the next
    /// statement and its values, or the result.
    #[pyo3(signature = (rows, /))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        rows: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let answer = rows.map(texts).transpose()?.map(Ok);
        self.next(py, answer)
    }

    /// Goes on with what the driver has failed with. Returns as `step`, and `None` if nothing goes
    /// on.
    #[pyo3(signature = (text, /))]
    fn fail<'py>(&mut self, py: Python<'py>, text: String) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.next(py, Some(Err(text)))
    }
}

fn driver_failed(py: Python<'_>, error: AskError) -> PyResult<Option<Bound<'_, PyAny>>> {
    match error {
        AskError::Driver => Ok(None),
        AskError::Other(error) => Err(raised(py, &error)),
    }
}

fn places_of(places: &str) -> Places {
    match places {
        "format" => Places::Format,
        "question" => Places::Question,
        _ => Places::Own,
    }
}

/// The kind of database that the package has found.
pub fn dialect_of(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    dialect(name).map_err(|error: Error| raised(py, &error))
}

/// A statement and its values.
fn asked<'py>(
    py: Python<'py>,
    statement: &Statement,
    places: Places,
) -> PyResult<Bound<'py, PyTuple>> {
    let value = |value: &SqlValue| -> PyResult<Bound<'py, PyAny>> {
        Ok(match value {
            SqlValue::Integer(number) => number.into_pyobject(py)?.into_any(),
            SqlValue::Text(text) => PyString::new(py, text).into_any(),
        })
    };
    let values = statement.values.iter().map(value).collect::<PyResult<Vec<_>>>()?;
    let sql = sql_of(py, statement, places);
    PyTuple::new(py, [sql.into_any(), PyTuple::new(py, values)?.into_any()])
}

/// The text of a statement, as Python has it.
struct SqlText {
    sql: String,
    places: Places,
    text: Py<PyString>,
}

/// The text of a statement. Each of the few that the library has is made once: a driver looks for
/// what it has prepared by the text, which is then hashed once.
fn sql_of<'py>(py: Python<'py>, statement: &Statement, places: Places) -> Bound<'py, PyString> {
    static KNOWN: [PyOnceLock<SqlText>; 32] = [const { PyOnceLock::new() }; 32];
    let make = || PyString::new(py, &statement.sql_with(places));
    for place in &KNOWN {
        let Some(known) = place.get(py) else {
            let text = make();
            let (sql, kept) = (statement.sql.clone(), text.clone().unbind());
            // Another thread may have been faster.
            let _ = place.set(py, SqlText { sql, places, text: kept });
            return text;
        };
        if known.places == places && known.sql == statement.sql {
            return known.text.bind(py).clone();
        }
    }
    make()
}

/// Rows as a driver returns them. Some have texts as bytes.
fn texts(rows: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let column = |value: PyResult<Bound<'_, PyAny>>| {
        let value = value?;
        if value.is_none() {
            return Ok(None);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Some(text.to_cow()?.into_owned()));
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Some(String::from_utf8_lossy(bytes.as_bytes()).into_owned()));
        }
        let class = value.get_type().name()?.to_string();
        Err(PyTypeError::new_err(format!("a text was asked for, and the driver returned {class}")))
    };
    rows.try_iter()?.map(|row| row?.try_iter()?.map(column).collect()).collect()
}
