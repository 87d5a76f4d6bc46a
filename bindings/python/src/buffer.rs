//! [`Numbers`]: memory of Python's that holds 64-bit whole numbers.

use std::ffi::{c_int, c_void};
use std::ptr;

use pyo3::PyTypeInfo as _;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::cached::interned;

// `Py_buffer` belongs to the stable interface from Python 3.11 on only. This function has belonged
// to it since 3.2. It was deprecated because it does not keep the memory where it is; here a
// `memoryview` does.
#[cfg_attr(windows, link(name = "python3", kind = "raw-dylib"))]
unsafe extern "C" {
    fn PyObject_AsWriteBuffer(
        object: *mut PyObject,
        start: *mut *mut c_void,
        bytes: *mut Py_ssize_t,
    ) -> c_int;
}

/// Bytes of an item.
const WIDTH: usize = size_of::<u64>();

/// The memory of an `array.array('Q')`, a numpy array or another object with a buffer.
pub struct Numbers<'py> {
    /// As long as it lives, the memory stays where it is.
    view: Bound<'py, PyAny>,
    start: *mut u64,
    len: usize,
}

impl<'py> Numbers<'py> {
    /// The memory of `object`.
    ///
    /// # Errors
    /// It has none, or cannot be written to, or holds something else.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
        let py = object.py();
        let wrong = |what: &str| {
            format!(
                "{what}: fill takes a writable buffer of 64-bit whole numbers, such as \
                     array.array('Q', bytes(8 * n)) or numpy.empty(n, 'uint64')"
            )
        };
        let view = PyMemoryView::from(object).map_err(|_| {
            let class = object.get_type();
            PyTypeError::new_err(wrong(&format!("a value of {class} has no buffer")))
        })?;
        let attribute = |name: PyResult<_>| view.getattr(name?);
        let format = attribute(interned!(py, "format"))?;
        // Python has one object for each text of one letter, so these are known without a look at
        // their letters. Both have 8 bytes on each machine, and `at` refuses what lies apart or
        // cannot be written to.
        let is_usual = format.is(interned!(py, "Q")?) || format.is(interned!(py, "q")?);
        if is_usual && let Ok(numbers) = Numbers::at(view.clone().into_any()) {
            return Ok(numbers);
        }
        if attribute(interned!(py, "readonly"))?.is_truthy()? {
            return Err(PyTypeError::new_err(wrong("the buffer is read-only")));
        }
        let width: usize = attribute(interned!(py, "itemsize"))?.extract()?;
        if width != WIDTH || !is_whole(&format.extract::<String>()?) {
            let items = format!("the items of the buffer are {format:?}, of {width} bytes each");
            return Err(PyTypeError::new_err(wrong(&items)));
        }
        if !attribute(interned!(py, "c_contiguous"))?.is_truthy()? {
            return Err(PyValueError::new_err(wrong("the items of the buffer lie apart")));
        }
        Numbers::at(view.into_any())
    }

    fn at(view: Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
        let (mut start, mut bytes) = (ptr::null_mut(), 0);
        // SAFETY: `view` is an object, and the others are places for one value each.
        if unsafe { PyObject_AsWriteBuffer(view.as_ptr(), &raw mut start, &raw mut bytes) } != 0 {
            return Err(PyErr::fetch(view.py()));
        }
        let len = usize::try_from(bytes).unwrap_or(0) / WIDTH;
        // Where there are no items, they begin anywhere.
        let start: *mut u64 = if len == 0 { ptr::dangling_mut() } else { start.cast() };
        if !start.is_aligned() {
            let problem = "the items of the buffer do not begin at a multiple of 8 bytes";
            return Err(PyValueError::new_err(problem));
        }
        Ok(Numbers { view, start, len })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes `numbers` to the items from `place` on.
    pub fn write(&mut self, place: usize, numbers: &[u64]) {
        assert!(place <= self.len && numbers.len() <= self.len - place, "beyond the buffer");
        debug_assert!(PyMemoryView::is_type_of(&self.view));
        // SAFETY: The memory from `start` on has `len` items, is writable, aligned and, as `view`
        // lives, where it was. `numbers` are ours, so they lie elsewhere. The thread is attached to
        // the interpreter, as `view` shows; another thread of Python that uses the buffer meanwhile
        // does not run, or, without a global lock, is told by the documentation not to.
        unsafe { ptr::copy_nonoverlapping(numbers.as_ptr(), self.start.add(place), numbers.len()) }
    }
}

/// Whether the items are whole numbers in the order of bytes of this machine, by their format in
/// the notation of Python's `struct`.
fn is_whole(format: &str) -> bool {
    let native = if cfg!(target_endian = "little") { ['@', '=', '<'] } else { ['@', '=', '>'] };
    let kind = format.strip_prefix(native).unwrap_or(format);
    matches!(kind, "Q" | "q" | "L" | "l" | "N" | "n")
}
