//! `PastGenerator`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use uidring_bindings::PastUids;

use crate::convert;
use crate::ending;
use crate::errors::{detached, raised};
use crate::handle::{self, Handle};

/// Gives UIDs of times that were, for rows that are older than their ids.
///
/// It has a worker id that nobody had before, and so all times of it up to now: no UID comes twice,
/// and each has the tick of the time asked for. Each open uses up a worker id, so open one for an
/// import, and not one for each row.
///
/// >>> import uidring
/// >>> from datetime import datetime, timezone
/// >>> with uidring.PastGenerator.open("/srv/uidring.db") as past:
/// ...     uid = past.take_at(datetime(2026, 5, 2, 10, 15, tzinfo=timezone.utc))
/// ...     past.parts(uid).time.isoformat()
/// '2026-05-02T10:15:00+00:00'
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct PastGenerator(Handle<PastUids>);

#[pymethods]
impl PastGenerator {
    /// Opens a generator of UIDs of times that were, from the store at `address`. The options about
    /// worker ids and the layout, `max_new_workers`, `start_deadline` and `timeout` count; `lease`
    /// and `state` are refused, and the others have no effect.
    #[staticmethod]
    #[pyo3(signature = (address, **options))]
    fn open<'py>(
        address: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PastGenerator>> {
        handle::open(address, options, PastGenerator)
    }

    /// Takes a UID whose time is the tick of `time`, an aware `datetime` that is not after now.
    ///
    /// When all UIDs of the tick are taken, it asks the store for a further worker id, as many in
    /// an hour as `max_new_workers` allows.
    #[pyo3(signature = (time, /))]
    fn take_at(&self, time: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = time.py();
        let unix_ms = convert::unix_ms(time)?;
        detached(py, || self.0.take_at(unix_ms))
    }

    /// Takes a UID for each of `times`, in their order, as a list. All times are looked at before
    /// the first UID is taken.
    ///
    /// >>> from datetime import datetime, timedelta, timezone
    /// >>> made = datetime(2026, 5, 2, tzinfo=timezone.utc)
    /// >>> with PastGenerator.open("/srv/uidring.db") as past:
    /// ...     second, first, third = past.take_times([made, made - timedelta(days=1), made])
    /// >>> first < second < third
    /// True
    #[pyo3(signature = (times, /))]
    fn take_times(&self, times: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let py = times.py();
        // Whatever gives them may be code in Python.
        let list = ending::call(py, || Ok(py.get_type::<PyList>().into_any()), (times,))?;
        let times = list.cast::<PyList>()?.iter().map(|time| convert::unix_ms(&time));
        let times = times.collect::<PyResult<Vec<i64>>>()?;
        detached(py, || self.0.take_times(&times))
    }

    /// Does what `take_times` does in a thread, for a task of asyncio. If the task is cancelled,
    /// the UIDs go to nobody.
    #[pyo3(signature = (times, /))]
    fn take_times_async<'py>(
        slf: &Bound<'py, Self>,
        times: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert::coroutine(slf.py(), "take_times", (slf, times))
    }

    /// Decodes a UID of this generator's layout.
    #[pyo3(signature = (uid, /))]
    fn parts<'py>(&self, uid: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = uid.py();
        let uid = convert::uid(uid)?;
        let parts = self.0.parts(uid).map_err(|error| raised(py, &error))?;
        convert::parts(py, parts)
    }

    /// The layout of the UIDs, as options: `layout=30,20,13 tick=1000ms epoch=2026-...`.
    #[getter]
    fn layout(&self) -> String {
        self.0.layout()
    }

    /// The worker id that was taken on last.
    #[getter]
    fn worker_id(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || self.0.worker_id())
    }

    /// The state, for operators: `taken` is how many UIDs were taken, `workers` how many worker ids
    /// it has taken on, and `ticks` of how many ticks it remembers what was taken. `state` is
    /// "running"; "failing", for the reason that is `obstacle`; "closed", or "forked".
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let status = detached(py, || Ok(self.0.status()))?;
        convert::status(py, &status)
    }

    /// Ends all takes. A second close does nothing.
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

    fn __repr__(&self) -> String {
        format!("<uidring.PastGenerator {}>", self.0.layout())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(convert::not_copied("a PastGenerator"))
    }
}
