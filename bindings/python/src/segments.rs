//! `Segments` and `Tag`.

use std::collections::HashMap;
use std::sync::RwLock;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use uidring_bindings::{Numbers, Source as _, TagNumbers};

use crate::convert;
use crate::errors::detached;
use crate::handle::{self, Handle};
use crate::numbers;

/// Gives dense numbers, counted per tag: 1, 2, 3.
///
/// >>> import uidring
/// >>> with uidring.Segments.open("/srv/uidring.db") as segments:
/// ...     customers = segments.create("customers", first=1001)
/// ...     customers.take()
/// 1001
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct Segments {
    numbers: Handle<Numbers>,
    /// The tags that were asked for by name. The library keeps them as well, but behind a lock that
    /// its own threads hold now and then.
    used: RwLock<HashMap<String, Handle<TagNumbers>>>,
}

impl Segments {
    /// A tag that was asked for. It never waits, because in a forked process a lock that was held
    /// at the fork is never released.
    fn used_tag(&self, name: &str) -> Option<TagNumbers> {
        self.used.try_read().ok()?.get(name).map(|tag| TagNumbers::clone(tag))
    }
}

#[pymethods]
impl Segments {
    /// Opens the tags of the store at `address`.
    #[staticmethod]
    #[pyo3(signature = (address, **options))]
    fn open<'py>(
        address: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Segments>> {
        handle::open(address, options, |numbers| Segments { numbers, used: RwLock::default() })
    }

    /// Creates a tag, or finds one that is as it is asked for.
    ///
    /// >>> with uidring.Segments.open("/srv/uidring.db") as segments:
    /// ...     segments.create("parcels", step=100, description="one per label").name
    /// 'parcels'
    #[pyo3(signature = (tag, **options))]
    fn create(
        &self,
        py: Python<'_>,
        tag: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Tag> {
        let options = convert::options(py, options)?;
        let tag = detached(py, || self.numbers.create(tag, &convert::borrowed(&options)))?;
        Ok(Tag(Handle::new(tag)))
    }

    /// The numbers of a tag that is there.
    #[pyo3(signature = (name, /))]
    fn tag(&self, py: Python<'_>, name: &str) -> PyResult<Tag> {
        if let Some(tag) = self.used_tag(name) {
            return Ok(Tag(Handle::new(tag)));
        }
        let tag = detached(py, || self.numbers.tag(name))?;
        if let Ok(mut used) = self.used.try_write() {
            used.insert(name.to_owned(), Handle::new(tag.clone()));
        }
        Ok(Tag(Handle::new(tag)))
    }

    /// Takes a number of a tag, which is looked up by its name.
    #[pyo3(signature = (tag, /))]
    fn take(&self, py: Python<'_>, tag: &str) -> PyResult<u64> {
        match self.used_tag(tag) {
            Some(tag) => numbers::take(py, &tag),
            None => self.tag(py, tag)?.take(py),
        }
    }

    /// Takes a number of a tag in a task of asyncio.
    #[pyo3(signature = (tag, /))]
    fn take_async<'py>(slf: &Bound<'py, Self>, tag: &str) -> PyResult<Bound<'py, PyAny>> {
        convert::coroutine(slf.py(), "take_of", (slf, tag))
    }

    /// Ends all takes, and gives back what is left of each tag. A second close does nothing,
    /// unless the first has failed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.numbers.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> &'static str {
        "<uidring.Segments>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(convert::not_copied("Segments"))
    }

    /// A tag if the store need not be asked for it, else `None`.
    fn _tag_at_once(&self, name: &str) -> Option<Tag> {
        Some(Tag(Handle::new(self.used_tag(name)?)))
    }
}

/// The numbers of one tag, from `Segments.create` or `Segments.tag`.
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct Tag(Handle<TagNumbers>);

#[pymethods]
impl Tag {
    /// The name of the tag.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Takes a number.
    ///
    /// It waits, for `max_wait` at most, if numbers are taken faster than the store gives them.
    /// Ctrl-C ends the wait.
    #[inline]
    fn take(&self, py: Python<'_>) -> PyResult<u64> {
        numbers::take(py, &*self.0)
    }

    /// Takes a number in a task of asyncio. Where `take` would wait, a thread waits.
    fn take_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert::coroutine(slf.py(), "take", (slf,))
    }

    /// Takes `count` numbers as an ascending list.
    ///
    /// If that fails half-way, the exception has the numbers that were taken as `numbers`.
    #[pyo3(signature = (count, /))]
    fn take_many<'py>(&self, count: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        numbers::take_many(count.py(), &*self.0, convert::count(count)?)
    }

    /// Fills a writable buffer of 64-bit whole numbers, as `UidGenerator.fill` does.
    #[pyo3(signature = (buffer, /))]
    fn fill(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        numbers::fill(buffer.py(), &*self.0, buffer)
    }

    /// The state, for operators. Lengths are in milliseconds.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::status(py, &self.0.status())
    }

    fn __repr__(&self) -> String {
        format!("<uidring.Tag {:?}>", self.0.name())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(convert::not_copied("a Tag"))
    }

    /// A number if there is one now, else `None`.
    fn _take_at_once(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        numbers::take_at_once(py, &*self.0)
    }

    /// A number, unless the `threading.Event` `stop` is set before there is one.
    fn _take_until(&self, stop: &Bound<'_, PyAny>) -> PyResult<u64> {
        numbers::take_until(stop.py(), &*self.0, stop)
    }
}
