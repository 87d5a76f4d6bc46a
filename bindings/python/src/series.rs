//! `Series`.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use uidring_bindings::{OneSeries, SeriesNumber, SeriesStore, guarded};

use crate::convert;
use crate::counting::{Work, dialect_of};
use crate::errors::{detached, raised};
use crate::handle::{self, Handle};
use crate::series_numbers::SeriesNumbers;

/// Gives numbers that people see, such as `SO20261124-000042`.
///
/// >>> import uidring
/// >>> with uidring.Series.open("/srv/uidring.db") as series:
/// ...     series.create("orders", "SO{yyyy}{MM}{dd}-{n:6}", time_zone="Europe/Berlin")
/// ...     print(series.next("orders", date="2026-11-24"))
/// SO20261124-000001
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct Series {
    store: Handle<SeriesStore>,
    /// The series that have been used, by name. A text of Python's finds one without a copy.
    used: Py<PyDict>,
}

/// A series that has been used, as a value of Python's.
#[pyclass(frozen)]
struct UsedSeries(Handle<OneSeries>);

impl Series {
    /// The next number of today if it is in memory.
    fn try_next(
        &self,
        name: &Bound<'_, PyString>,
        scope: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Option<SeriesNumber>> {
        let scope = borrowed(scope)?;
        // A text of another class may be compared by code in Python.
        if !name.is_exact_instance_of::<PyString>() {
            return Ok(self.store.try_next(&name.to_cow()?, scope.as_deref()));
        }
        let used = self.used_series(name)?;
        Ok(used.and_then(|used| used.get().0.try_next(scope.as_deref())))
    }

    fn used_series<'py>(
        &self,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, UsedSeries>>> {
        let py = name.py();
        let used = self.used.bind(py);
        if let Some(known) = used.get_item(name)? {
            return Ok(Some(known.cast_into()?));
        }
        let Some(series) = self.store.used(&name.to_cow()?) else { return Ok(None) };
        let new = Bound::new(py, UsedSeries(Handle::new(series)))?;
        used.set_item(name, &new)?;
        Ok(Some(new))
    }
}

fn borrowed<'a>(text: Option<&'a Bound<'_, PyString>>) -> PyResult<Option<Cow<'a, str>>> {
    text.map(PyStringMethods::to_cow).transpose()
}

#[pymethods]
impl Series {
    /// Opens the series of the store at `address`.
    #[staticmethod]
    #[pyo3(signature = (address, **options))]
    fn open<'py>(
        address: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Series>> {
        let used = PyDict::new(address.py()).unbind();
        handle::open(address, options, |store| Series { store, used })
    }

    /// Series that are counted in your own transactions, by `next_in`, and read by them. No store
    /// is open, so there is nothing to close, and a forked process goes on with it.
    ///
    /// >>> import uidring
    /// >>> invoices = uidring.Series.in_transactions()
    #[staticmethod]
    fn in_transactions(py: Python<'_>) -> PyResult<Bound<'_, Series>> {
        let (store, used) = (SeriesStore::in_transactions(), PyDict::new(py).unbind());
        Bound::new(py, Series { store: Handle::new(store), used })
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
        detached(py, || self.store.create(name, pattern, &convert::borrowed(&options)))
    }

    /// Takes the next number: of a `scope`, if one is named, and of the period of a `date` instead
    /// of today's. A date is a `datetime.date`, or a text such as `2026-11-24`. Each scope counts
    /// by itself: without `{scope}` in the pattern, numbers of two scopes have the same text.
    #[pyo3(signature = (name, scope=None, date=None))]
    fn next<'py>(
        &self,
        name: &Bound<'py, PyString>,
        scope: Option<&Bound<'py, PyString>>,
        date: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = name.py();
        let date = convert::date(date)?;
        let numbers = SeriesNumbers::look_up(py, scope)?;
        if date.is_none()
            && let Some(number) = self.try_next(name, scope)?
        {
            return numbers.issued(&number);
        }
        let (name, scope) = (name.to_cow()?, borrowed(scope)?);
        let next = || self.store.next(&name, scope.as_deref(), date.as_deref());
        numbers.issued(&detached(py, next)?)
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
        name: &Bound<'py, PyString>,
        count: &Bound<'py, PyAny>,
        scope: Option<&Bound<'py, PyString>>,
        date: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = name.py();
        let count = convert::whole(count, "a call takes 1 to 1000000 numbers of a series")?;
        let date = convert::date(date)?;
        let numbers = SeriesNumbers::look_up(py, scope)?;
        let (name, scope) = (name.to_cow()?, borrowed(scope)?);
        let issued =
            detached(py, || self.store.next_many(&name, scope.as_deref(), date.as_deref(), count))?;
        numbers.all_issued(&issued)
    }

    /// Reads a number of the series.
    fn parse<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        text: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = SeriesNumbers::look_up(py, None)?;
        let text = text.to_cow()?;
        let read = detached(py, || self.store.parse(name, &text))?;
        numbers.read(&text, &read)
    }

    /// The text of a number of the series, as `next` writes it: of a `scope`, and of the period of
    /// a `date` instead of today's.
    #[pyo3(signature = (name, number, scope=None, date=None))]
    fn format(
        &self,
        py: Python<'_>,
        name: &str,
        number: &Bound<'_, PyAny>,
        scope: Option<&str>,
        date: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let number = convert::whole(number, "a number of a series is 0 or more")?;
        let date = convert::date(date)?;
        detached(py, || self.store.format(name, number, scope, date.as_deref()))
    }

    /// Gives a series a wider number at once: the way on where a period has given all its numbers.
    /// The pattern is as it was, but for the number.
    #[pyo3(signature = (name, pattern))]
    fn widen(&self, py: Python<'_>, name: &str, pattern: &str) -> PyResult<()> {
        detached(py, || self.store.widen(name, pattern))
    }

    /// The state of a series, and of a scope of it. Lengths are in milliseconds.
    #[pyo3(signature = (name, scope=None))]
    fn status<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        scope: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert::status(py, &detached(py, || self.store.status(name, scope))?)
    }

    /// Ends all takes, and gives back what is left of each scope. A second close does nothing,
    /// unless the first has failed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.store.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    /// Begins to count in a transaction that `has_begun`, of a driver that writes `places` so.
    fn _count_in(
        &self,
        name: &Bound<'_, PyString>,
        scope: Option<&Bound<'_, PyString>>,
        date: Option<&Bound<'_, PyAny>>,
        database: &str,
        places: &str,
        has_begun: bool,
    ) -> PyResult<Work> {
        let py = name.py();
        let (date, dialect) = (convert::date(date)?, dialect_of(py, database)?);
        let (name, of) = (name.to_cow()?, borrowed(scope)?);
        let count =
            || self.store.count_in(&name, of.as_deref(), date.as_deref(), dialect, has_begun);
        let counting = if self.store.asks_store(&name) {
            detached(py, count)?
        } else {
            guarded(count).map_err(|error| raised(py, &error))?
        };
        Ok(Work::count(counting, places, scope))
    }

    /// Whether `_count_in` asks the store first.
    fn _asks_store(&self, name: &str) -> bool {
        self.store.asks_store(name)
    }

    /// Begins to read a series by a transaction. `None` where its store is open.
    fn _read_in(
        &self,
        py: Python<'_>,
        name: &str,
        database: &str,
        places: &str,
    ) -> PyResult<Option<Work>> {
        let reading = self.store.read_in(name, dialect_of(py, database)?);
        Ok(reading.map(|reading| Work::read(reading, places)))
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
        name: &Bound<'py, PyString>,
        scope: Option<&Bound<'py, PyString>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let numbers = SeriesNumbers::look_up(name.py(), scope)?;
        self.try_next(name, scope)?.map(|number| numbers.issued(&number)).transpose()
    }
}
