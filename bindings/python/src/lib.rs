//! The native part of the Python package `uidring`.
//!
//! What a call does comes from `uidring_bindings`; here it gets Python's types, errors and manners:
//! a call that may have to wait lets other threads run, and can be interrupted with Ctrl-C.

// Only functions in C give access to Python's buffers, and make a tuple with names without running
// code in Python: the modules `buffer` and `series_numbers`.
#![allow(unsafe_code)]
// Python calls a method with its object, whether it needs it or not.
#![allow(clippy::unused_self)]

mod buffer;
mod cached;
mod convert;
mod counting;
mod ending;
mod errors;
mod events;
mod handle;
mod lend;
mod masked;
mod numbers;
mod past;
mod segments;
mod series;
mod series_numbers;
mod uids;
mod wait;

use pyo3::prelude::*;
use uidring_bindings::{Kind, OptionList, options_of};

/// The names of the options of a call, for the test that the stubs have them.
#[pyfunction]
fn _options(call: &str) -> PyResult<Vec<String>> {
    let list = match call {
        "UidGenerator.open" | "PastGenerator.open" => OptionList::Uids,
        "Segments.open" => OptionList::Segments,
        "Segments.create" => OptionList::Tag,
        "Series.open" => OptionList::Series,
        "Series.create" => OptionList::NewSeries,
        "WorkerId.lend" => OptionList::Loan,
        _ => return Err(pyo3::exceptions::PyKeyError::new_err(call.to_owned())),
    };
    Ok(options_of(list).into_iter().map(|(name, _)| name).collect())
}

/// Whether another transaction may not meet the error to which a driver gave this code.
#[pyfunction]
fn _is_transient(py: Python<'_>, database: &str, code: &str) -> PyResult<bool> {
    Ok(counting::dialect_of(py, database)?.is_transient(code))
}

/// The kinds of errors, for the tests that each has its exception.
#[pyfunction]
fn _kinds() -> Vec<String> {
    Kind::ALL.into_iter().map(Kind::name).collect()
}

#[pymodule(gil_used = false)]
fn _uidring(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<uids::UidGenerator>()?;
    module.add_class::<past::PastGenerator>()?;
    module.add_class::<lend::WorkerId>()?;
    module.add_class::<segments::Segments>()?;
    module.add_class::<segments::Tag>()?;
    module.add_class::<series::Series>()?;
    module.add_class::<counting::Work>()?;
    module.add_class::<masked::Masked>()?;
    module.add_class::<masked::Opaque>()?;
    module.add_function(wrap_pyfunction!(ending::_end, module)?)?;
    module.add_function(wrap_pyfunction!(ending::_forked, module)?)?;
    module.add_function(wrap_pyfunction!(events::_listen, module)?)?;
    module.add_function(wrap_pyfunction!(events::_take_event, module)?)?;
    module.add_function(wrap_pyfunction!(events::_wait_for_event, module)?)?;
    module.add_function(wrap_pyfunction!(events::_wake, module)?)?;
    module.add_function(wrap_pyfunction!(_options, module)?)?;
    module.add_function(wrap_pyfunction!(_is_transient, module)?)?;
    module.add_function(wrap_pyfunction!(_kinds, module)?)
}
