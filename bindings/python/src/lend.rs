//! `WorkerId`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use uidring_bindings::{LentId, Loss};

use crate::convert;
use crate::errors::{detached, raised};
use crate::handle::{self, Handle};

/// How often a thread that waits for a loss looks whether the worker id was closed.
const LOOK: Duration = Duration::from_secs(1);

/// A worker id that is lent, for a generator of another's that needs a worker, machine or node
/// number. It is renewed until it is closed.
///
/// >>> import uidring
/// >>> with uidring.WorkerId.lend("/srv/uidring.db", "shop", 10) as worker:
/// ...     worker.id, worker.is_held
/// (1, True)
#[pyclass(frozen, weakref, module = "uidring")]
#[derive(Debug)]
pub struct WorkerId {
    lent: Handle<LentId>,
    told: Arc<Told>,
}

/// What the library has told, for a thread of Python's.
#[derive(Debug, Default)]
struct Told {
    loss: Mutex<Option<Loss>>,
    changed: Condvar,
    is_closed: AtomicBool,
}

impl Told {
    fn loss(&self) -> MutexGuard<'_, Option<Loss>> {
        // Nothing panics while it is locked.
        self.loss.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loss, or nothing after a close.
    fn wait(&self) -> Option<Loss> {
        let mut loss = self.loss();
        loop {
            // ORDERING: nothing else is read because of it.
            if loss.is_some() || self.is_closed.load(Ordering::Relaxed) {
                return loss.take();
            }
            let waited = self.changed.wait_timeout(loss, LOOK);
            loss = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[pymethods]
impl WorkerId {
    /// Lends an id of the pool `pool` of the store at `address`. The ids of the pool have `bits`
    /// bits, 1 to 22, of which 0 is never lent. Options are `lease` and `rest`, ten minutes unless
    /// set, `host` for the list of loans, and `timeout`.
    ///
    /// `on_loss` is called once, in a thread of its own, with a `Loss`, when the id is about to be
    /// lost: within its `time_left` the generator must have made its last id.
    #[staticmethod]
    #[pyo3(signature = (address, pool, bits, *, on_loss=None, **options))]
    fn lend<'py>(
        address: &Bound<'py, PyAny>,
        pool: &str,
        bits: &Bound<'py, PyAny>,
        on_loss: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, WorkerId>> {
        let py = address.py();
        let (address, options) = (convert::address(address)?, convert::options(py, options)?);
        let bits = convert::bits(bits)?;
        // Before an id is lent that nobody would hear of.
        if let Some(on_loss) = on_loss.filter(|on_loss| !on_loss.is_callable()) {
            let kind = on_loss.get_type().name()?;
            return Err(PyTypeError::new_err(format!("on_loss is a function, and not {kind}")));
        }
        let told = Arc::new(Told::default());
        let tell = Arc::clone(&told);
        let on_loss_of = move |loss: &Loss| {
            *tell.loss() = Some(loss.clone());
            tell.changed.notify_all();
        };
        let holder = |lent| WorkerId { lent, told };
        let worker = handle::open_with(py, holder, || {
            LentId::lend(&address, pool, bits, &convert::borrowed(&options), on_loss_of)
        })?;
        if let Some(on_loss) = on_loss {
            convert::tell_loss(worker.as_any(), on_loss)?;
        }
        Ok(worker)
    }

    /// Does what `lend` does in a thread, for a task of asyncio.
    #[staticmethod]
    #[pyo3(signature = (*arguments, **options))]
    fn lend_async<'py>(
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert::coroutine(py, "lend", (arguments, options))
    }

    /// The id: 1 to 2**bits - 1.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<u64> {
        self.lent.id().map_err(|error| raised(py, &error))
    }

    /// Whether ids may be made with it now. It asks no store, so a generator may ask before each
    /// id. After a close, and in a forked process, it is `False`.
    #[getter]
    fn is_held(&self) -> bool {
        self.lent.is_held().unwrap_or(false)
    }

    /// The state, for operators: `state` is "held" or "lost".
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let status = detached(py, || self.lent.status())?;
        convert::status(py, &status)
    }

    /// Returns the worker id. Make no more ids with it before. A second close does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // ORDERING: as in `wait`.
        self.told.is_closed.store(true, Ordering::Relaxed);
        self.told.changed.notify_all();
        self.lent.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        match self.lent.id() {
            Ok(id) => format!("<uidring.WorkerId {id}>"),
            Err(_) => "<uidring.WorkerId closed>".to_owned(),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(convert::not_copied("a WorkerId"))
    }

    /// Waits until the id is about to be lost, and returns the id, the milliseconds that are left
    /// and a line for people; or `None` after a close.
    fn _wait_for_loss<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(u64, u64, Bound<'py, PyString>)>> {
        let loss = detached(py, || Ok(self.told.wait()))?;
        Ok(loss.map(|loss| {
            let left = u64::try_from(loss.time_left.as_millis()).unwrap_or(u64::MAX);
            (loss.id, left, PyString::new(py, &loss.to_string()))
        }))
    }
}
