//! `UidGenerator`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use uidring_bindings::{Source as _, Uids};

use crate::convert;
use crate::errors::raised;
use crate::handle::{self, Handle};
use crate::numbers;

/// Gives unique, positive 64-bit ids that sort by time.
///
/// Open one when the process starts, and use it in all threads:
///
/// >>> import uidring
/// >>> with uidring.UidGenerator.open("/srv/uidring.db") as uids:
/// ...     first = uids.take()
/// ...     assert uids.take() > first
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct UidGenerator(Handle<Uids>);

#[pymethods]
impl UidGenerator {
    /// Opens a generator with a worker id from the store at `address`: the path of a SQLite file,
    /// or the address of a server, such as `postgres://ids@db.example.com/ids`. `help(uidring)`
    /// names the options.
    ///
    /// >>> from datetime import timedelta
    /// >>> uids = UidGenerator.open("/srv/uidring.db", lease=timedelta(minutes=10))
    /// >>> uids.close()
    #[staticmethod]
    #[pyo3(signature = (address, **options))]
    fn open<'py>(
        address: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, UidGenerator>> {
        handle::open(address, options, UidGenerator)
    }

    /// Opens a generator with a worker id of your own, which no other generator may have at a time.
    ///
    /// Without `state`, the path of a file that keeps which times were used, a restart may repeat
    /// UIDs: those of the tick in which it begins, and those that were taken ahead of the clock.
    ///
    /// >>> with UidGenerator.fixed(7) as uids:
    /// ...     uids.worker_id
    /// 7
    #[staticmethod]
    #[pyo3(signature = (worker, **options))]
    fn fixed<'py>(
        worker: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, UidGenerator>> {
        let py = worker.py();
        let worker = convert::whole(worker, "a worker id is a whole number from 0 on")?;
        let options = convert::options(py, options)?;
        handle::open_with(py, UidGenerator, || Uids::fixed(worker, &convert::borrowed(&options)))
    }

    /// Takes a UID.
    ///
    /// It waits if UIDs are taken faster than the layout allows for so long that `max_lead` is used
    /// up. Ctrl-C ends the wait.
    #[inline]
    fn take(&self, py: Python<'_>) -> PyResult<u64> {
        numbers::take(py, &*self.0)
    }

    /// Takes a UID in a task of asyncio. Where `take` would wait, a thread waits.
    fn take_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert::coroutine(slf.py(), "take", (slf,))
    }

    /// Takes `count` UIDs as a list. They ascend within one worker id: if it changes in between,
    /// they begin again at the present time.
    ///
    /// If that fails half-way, the exception has the UIDs that were taken as `numbers`.
    ///
    /// >>> with UidGenerator.fixed(7) as uids:
    /// ...     batch = uids.take_many(1000)
    /// >>> len(batch), batch == sorted(batch)
    /// (1000, True)
    #[pyo3(signature = (count, /))]
    fn take_many<'py>(&self, count: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        numbers::take_many(count.py(), &*self.0, convert::count(count)?)
    }

    /// Fills a writable buffer of 64-bit whole numbers with UIDs, which ascend within one worker
    /// id: an `array.array("Q")` or `("q")`, a numpy array of `uint64` or `int64`, a `memoryview`
    /// of one.
    ///
    /// If that fails half-way, the exception says as `filled` how many items at the start of the
    /// buffer are new. No other thread may use the buffer meanwhile.
    ///
    /// >>> from array import array
    /// >>> batch = array("Q", bytes(8 * 1000))
    /// >>> with UidGenerator.fixed(7) as uids:
    /// ...     uids.fill(batch)
    /// >>> 0 < batch[0] < batch[999]
    /// True
    #[pyo3(signature = (buffer, /))]
    fn fill(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        numbers::fill(buffer.py(), &*self.0, buffer)
    }

    /// Decodes a UID of this generator's layout.
    ///
    /// >>> with UidGenerator.fixed(7, epoch="2026-01-01") as uids:
    /// ...     parts = uids.parts(240510429044957184)
    /// >>> parts.time.isoformat(), parts.worker, parts.sequence
    /// ('2026-11-21T01:31:39+00:00', 3, 0)
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

    /// The worker id in the UIDs that are given now. After a close, when another may have it, this
    /// is a `ClosedError`.
    #[getter]
    fn worker_id(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.worker_id().map_err(|error| raised(py, &error))
    }

    /// The state, for operators. Lengths are in milliseconds, and times are texts in RFC 3339.
    /// `state` is "running"; "failing" where takes fail or wait for long, for the reason that is
    /// `obstacle`; "closed", or "forked".
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::status(py, &self.0.status())
    }

    /// Ends all takes, and gives a leased worker id back. A second close does nothing, unless
    /// the first has failed.
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
        let state = match (self.0.ended(), self.0.worker_id()) {
            (None, Ok(worker)) => format!("worker_id={worker}"),
            (ended, _) => ended.unwrap_or("closed").to_owned(),
        };
        format!("<uidring.UidGenerator {state} {}>", self.0.layout())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(convert::not_copied("a UidGenerator"))
    }

    /// A UID if there is one now, else `None`.
    fn _take_at_once(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        numbers::take_at_once(py, &*self.0)
    }

    /// A UID, unless the `threading.Event` `stop` is set before there is one.
    fn _take_until(&self, stop: &Bound<'_, PyAny>) -> PyResult<u64> {
        numbers::take_until(stop.py(), &*self.0, stop)
    }
}
