//! Taking numbers from a [`Source`]: a generator of UIDs, or a tag.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use uidring_bindings::{Source, guarded};

use crate::buffer::Numbers;
use crate::cached::interned;
use crate::errors::raised;
use crate::wait::wait;

/// Up to as many numbers are taken one by one, without letting other threads run: to get the
/// interpreter back from a busy thread can take milliseconds.
const ONE_BY_ONE: usize = 64;
/// More are taken in chunks of so many. Between two chunks, signals are looked for.
const CHUNK: usize = 8192;
/// The share of the numbers at hand that the library's `fill` is asked for. Other threads may take
/// as many meanwhile, and where there are too few, it waits without looking for signals.
const SHARE: usize = 16;

/// Takes a number. If it has to wait, other threads run meanwhile.
#[inline]
pub fn take<S: Source>(py: Python<'_>, source: &S) -> PyResult<u64> {
    match take_at_once(py, source)? {
        Some(number) => Ok(number),
        // It says as well whether waiting helps.
        None => wait(py, source.take_async(), None),
    }
}

/// Takes a number for a task, on a thread that waits until `stop` is set.
pub fn take_until<S: Source>(py: Python<'_>, source: &S, stop: &Bound<'_, PyAny>) -> PyResult<u64> {
    wait(py, source.take_async(), Some(stop))
}

/// Takes a number if there is one. `None` if it may be worth waiting for one.
#[inline]
pub fn take_at_once<S: Source>(py: Python<'_>, source: &S) -> PyResult<Option<u64>> {
    guarded(|| source.try_take()).map_err(|error| raised(py, &error))
}

/// Takes `count` numbers as a list. If that fails half-way, the exception has those that were
/// taken as `numbers`.
pub fn take_many<'py>(
    py: Python<'py>,
    source: &impl Source,
    count: usize,
) -> PyResult<Bound<'py, PyList>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(|_| {
        PyMemoryError::new_err(format!("a list of {count} numbers does not fit the memory"))
    })?;
    match chunks(py, source, count, |chunk| numbers.extend_from_slice(chunk)) {
        Ok(()) => PyList::new(py, numbers),
        Err(error) => {
            error.value(py).setattr(interned!(py, "numbers")?, PyList::new(py, numbers)?)?;
            Err(error)
        }
    }
}

/// Fills a buffer. If that fails half-way, the exception says as `filled` how many items at the
/// start of the buffer are new.
pub fn fill(py: Python<'_>, source: &impl Source, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut buffer = Numbers::of(buffer)?;
    let mut filled = 0;
    let result = chunks(py, source, buffer.len(), |chunk| {
        buffer.write(filled, chunk);
        filled += chunk.len();
    });
    result.or_else(|error| {
        error.value(py).setattr(interned!(py, "filled")?, filled)?;
        Err(error)
    })
}

/// Takes `count` numbers, and gives each chunk of them to `keep`, also where a later one fails.
fn chunks(
    py: Python<'_>,
    source: &impl Source,
    count: usize,
    mut keep: impl FnMut(&[u64]),
) -> PyResult<()> {
    if count <= ONE_BY_ONE {
        let mut numbers = [0; ONE_BY_ONE];
        for taken in 0..count {
            match take(py, source) {
                Ok(number) => numbers[taken] = number,
                Err(error) => {
                    keep(&numbers[..taken]);
                    return Err(error);
                }
            }
        }
        keep(&numbers[..count]);
        return Ok(());
    }
    let mut numbers = vec![0; count.min(CHUNK)];
    let mut left = count;
    while left > 0 {
        let chunk = &mut numbers[..left.min(CHUNK)];
        left -= chunk.len();
        match fill_chunk(py, source, chunk) {
            Ok(()) => keep(chunk),
            Err((filled, error)) => {
                keep(&chunk[..filled]);
                return Err(error);
            }
        }
        if left > 0 {
            py.check_signals()?;
        }
    }
    Ok(())
}

fn fill_chunk(
    py: Python<'_>,
    source: &impl Source,
    chunk: &mut [u64],
) -> Result<(), (usize, PyErr)> {
    let mut filled = 0;
    while filled < chunk.len() {
        // Where there are no numbers, it is this wait that can be interrupted.
        chunk[filled] = take(py, source).map_err(|error| (filled, error))?;
        filled += 1;
        let most = (chunk.len() - filled).min(source.available() / SHARE);
        if most > 0 {
            let some = &mut chunk[filled..filled + most];
            fill_at_once(py, source, some).map_err(|(count, error)| (filled + count, error))?;
            filled += most;
        }
    }
    Ok(())
}

/// Fills a part of a chunk, while other threads run Python.
fn fill_at_once(
    py: Python<'_>,
    source: &impl Source,
    numbers: &mut [u64],
) -> Result<(), (usize, PyErr)> {
    let mut filled = 0;
    let result = py.detach(|| {
        guarded(|| {
            source.fill(numbers).map_err(|(count, error)| {
                filled = count;
                error
            })
        })
    });
    result.map_err(|error| (filled, raised(py, &error)))
}
