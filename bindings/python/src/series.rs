//! `Series`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use uidring_bindings::SeriesStore;

use crate::convert::{self, SeriesNumbers};
use crate::errors::detached;
use crate::handle::{self, Handle};

/// Gives numbers that people see, such as `SO20261124-000042`.
///
/// >>> import uidring
/// >>> with uidring.Series.open("/srv/uidring.db") as series:
/// ...     series.create("orders", "SO{yyyy}{MM}{dd}-{n:6}", time_zone="Europe/Berlin")
/// ...     print(series.next("orders", date="2026-11-24"))
/// SO20261124-000001
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct Series(Handle<SeriesStore>);

#[pymethods]
impl Series {
    /// Opens the series of the store at `address`.
    #[staticmethod]
    #[pyo3(signature = (address, **options))]
    fn open<'py>(
        address: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Series>> {
        handle::open(address, options, Series)
    }

    /// Creates a series, or finds one that is as it is asked for.
    #[pyo3(signature = (name, pattern, **options))]
    fn create(
        &self,
        py: Python<'_>,
        name: &str,
        pattern: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let options = convert::options(py, options)?;
        detached(py, || self.0.create(name, pattern, &convert::borrowed(&options)))
    }

    /// Takes the next number: of a `scope`, if one is named, and of the period of a `date` instead
    /// of today's. A date is a `datetime.date`, or a text such as `2026-11-24`. Each scope counts
    /// by itself: without `{scope}` in the pattern, numbers of two scopes have the same text.
    #[pyo3(signature = (name, scope=None, date=None))]
    fn next<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        scope: Option<&str>,
        date: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let date = convert::date(date)?;
        let numbers = SeriesNumbers::look_up(py)?;
        let available = if date.is_none() { self.0.try_next(name, scope) } else { None };
        let number = match available {
            Some(number) => number,
            None => detached(py, || self.0.next(name, scope, date.as_deref()))?,
        };
        numbers.number(number)
    }

    /// Takes the next number in a task of asyncio. Where `next` would wait, a thread waits.
    #[pyo3(signature = (name, scope=None, date=None))]
    fn next_async<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        scope: Option<&str>,
        date: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert::coroutine(slf.py(), "next_of", (slf, name, scope, date))
    }

    /// Takes the next `count` numbers, from 1 to a million. If fewer fit the pattern, it takes
    /// those.
    #[pyo3(signature = (name, count, scope=None, date=None))]
    fn next_many<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        count: &Bound<'py, PyAny>,
        scope: Option<&str>,
        date: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let count = convert::to_u64(count, "a call takes 1 to 1000000 numbers of a series")?;
        let date = convert::date(date)?;
        let numbers = SeriesNumbers::look_up(py)?;
        let list = PyList::empty(py);
        for number in detached(py, || self.0.next_many(name, scope, date.as_deref(), count))? {
            list.append(numbers.number(number)?)?;
        }
        Ok(list)
    }

    /// Reads a number of the series.
    fn parse<'py>(&self, py: Python<'py>, name: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
        SeriesNumbers::look_up(py)?.number(detached(py, || self.0.parse(name, text))?)
    }

    /// The state of a series, and of a scope of it. Lengths are in milliseconds.
    #[pyo3(signature = (name, scope=None))]
    fn status<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        scope: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert::status(py, &detached(py, || self.0.status(name, scope))?)
    }

    /// Ends all takes, and gives back what is left of each scope. A second close does nothing,
    /// unless the first has failed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> &'static str {
        "<uidring.Series>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(convert::not_copied("Series"))
    }

    /// The next number of today if it is in memory, else `None`.
    #[pyo3(signature = (name, scope))]
    fn _next_at_once<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        scope: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let numbers = SeriesNumbers::look_up(py)?;
        self.0.try_next(name, scope).map(|number| numbers.number(number)).transpose()
    }
}
