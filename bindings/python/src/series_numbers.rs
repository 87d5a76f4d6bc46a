//! [`SeriesNumbers`]: numbers of series, as Python gets them.

use std::ffi::c_void;
use std::mem;

use pyo3::PyTypeInfo as _;
use pyo3::exceptions::PySystemError;
use pyo3::ffi::{self, allocfunc};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyNone, PyString, PyType};
use uidring_bindings::{Period, PeriodText, ReadNumber, SeriesNumber};

use crate::cached;

/// How many fields a number has.
const FIELDS: ffi::Py_ssize_t = 5;

/// Makes numbers of a series and a scope: values of the class `SeriesNumber`, which is a tuple with
/// names. It is looked up before a number is taken, and runs code in C alone: in code in Python, as
/// the constructor of the class is, a signal or the end of the program would lose the number.
pub struct SeriesNumbers<'py> {
    class: Bound<'py, PyType>,
    /// Makes a tuple of the class whose fields are still to be set.
    new: allocfunc,
    /// A text or `None`.
    scope: Bound<'py, PyAny>,
}

impl<'py> SeriesNumbers<'py> {
    pub fn look_up(
        py: Python<'py>,
        scope: Option<&Bound<'py, PyString>>,
    ) -> PyResult<SeriesNumbers<'py>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = cached::import(py, &CLASS, ("uidring._values", "SeriesNumber"))?;
        // SAFETY: it is a class, and one of code in Python, as Python 3.9 asks for.
        let new = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_alloc) };
        // SAFETY: what is in this slot is null or such a function.
        let new = unsafe { mem::transmute::<*mut c_void, Option<allocfunc>>(new) };
        let new = new.ok_or_else(|| PySystemError::new_err("the class cannot be allocated"))?;
        let scope = match scope {
            None => PyNone::get(py).to_owned().into_any(),
            Some(scope) if PyString::is_exact_type_of(scope) => scope.clone().into_any(),
            Some(scope) => PyString::new(py, &scope.to_cow()?).into_any(),
        };
        Ok(SeriesNumbers { class, new, scope })
    }

    /// A number that was taken.
    pub fn issued(&self, number: &SeriesNumber) -> PyResult<Bound<'py, PyAny>> {
        let period = self.period(number.period());
        let periods = self.periods(period, number.period(), number.shown());
        self.number(number.as_str(), number.value(), periods, self.scope.clone())
    }

    /// Numbers that were taken.
    pub fn all_issued(&self, numbers: &[SeriesNumber]) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(self.class.py());
        let mut before = None;
        for number in numbers {
            let period = match &before {
                Some((period, text)) if *period == number.period() => Bound::clone(text),
                _ => self.period(number.period()),
            };
            before = Some((number.period(), period.clone()));
            let periods = self.periods(period, number.period(), number.shown());
            let scope = self.scope.clone();
            list.append(self.number(number.as_str(), number.value(), periods, scope)?)?;
        }
        Ok(list)
    }

    /// A number that was read from `text`.
    pub fn read(&self, text: &str, number: &ReadNumber) -> PyResult<Bound<'py, PyAny>> {
        let period = self.period(number.period);
        let periods = self.periods(period, number.period, number.shown);
        let scope = match &number.scope {
            Some(scope) => self.text(scope).into_any(),
            None => self.scope.clone(),
        };
        self.number(text, number.value, periods, scope)
    }

    fn period(&self, period: Period) -> Bound<'py, PyString> {
        self.text(PeriodText::of(period).as_str())
    }

    /// The text of the period in which a number was counted, and that of the one that is `shown`.
    fn periods(
        &self,
        text: Bound<'py, PyString>,
        period: Period,
        shown: Period,
    ) -> [Bound<'py, PyString>; 2] {
        let shown = if shown == period { text.clone() } else { self.period(shown) };
        [text, shown]
    }

    fn text(&self, text: &str) -> Bound<'py, PyString> {
        PyString::new(self.class.py(), text)
    }

    fn number(
        &self,
        text: &str,
        value: u64,
        [period, shown]: [Bound<'py, PyString>; 2],
        scope: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.class.py();
        let value: Bound<'py, PyInt> = value.into_pyobject(py)?;
        let (text, period, shown) = (self.text(text), period.into_any(), shown.into_any());
        let fields = [text.into_any(), value.into_any(), period, shown, scope];
        // SAFETY: the class derives from `tuple`, whose allocation takes the count of its elements,
        // and the result is a new reference or null.
        let number = unsafe {
            let new = (self.new)(self.class.as_type_ptr(), FIELDS);
            Bound::from_owned_ptr_or_err(py, new)?
        };
        for (index, field) in (0..FIELDS).zip(fields) {
            // SAFETY: it is a tuple that nobody else has seen, and the call keeps the field.
            if unsafe { ffi::PyTuple_SetItem(number.as_ptr(), index, field.into_ptr()) } != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(number)
    }
}
