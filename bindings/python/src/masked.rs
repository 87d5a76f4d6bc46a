//! `Masked` and `Opaque`.

use pyo3::prelude::*;
use pyo3::types::PyList;
use uidring_bindings::{Close as _, MaskedIds, OpaqueIds, Zeroizing};

use crate::convert::whole;
use crate::ending;
use crate::errors::raised;

/// What an id is.
const ID: &str = "an id is a whole number from 1 to 9223372036854775807";

/// Masks ids as numbers that tell nothing: UIDs, or dense numbers.
///
/// `keys` is 64 hexadecimal digits, as `openssl rand -hex 32` prints them, or the text of a file of
/// keys, of which the first masks.
///
/// >>> import uidring
/// >>> key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
/// >>> masked = uidring.Masked(key)
/// >>> masked.mask(180363646902239241)
/// 7248484344334211842
/// >>> masked.unmask(7248484344334211842)
/// 180363646902239241
#[pyclass(frozen, module = "uidring")]
#[derive(Debug)]
pub struct Masked(MaskedIds);

#[pymethods]
impl Masked {
    #[new]
    #[pyo3(signature = (keys, /))]
    fn new(py: Python<'_>, keys: String) -> PyResult<Masked> {
        let keys = Zeroizing::new(keys);
        Ok(Masked(MaskedIds::new(&keys).map_err(|error| raised(py, &error))?))
    }

    /// The masked form of an id.
    #[pyo3(signature = (id, /))]
    fn mask(&self, id: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = id.py();
        self.0.mask(whole(id, ID)?).map_err(|error| raised(py, &error))
    }

    /// The masked forms of many ids, each in a fraction of the time.
    #[pyo3(signature = (ids, /))]
    fn mask_many(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let py = ids.py();
        // Whatever gives them may be code in Python.
        let list = ending::call(py, || Ok(py.get_type::<PyList>().into_any()), (ids,))?;
        let ids = list.cast::<PyList>()?.iter().map(|id| whole(&id, ID));
        let ids = ids.collect::<PyResult<Vec<u64>>>()?;
        self.0.mask_many(&ids).map_err(|error| raised(py, &error))
    }

    /// The id of a masked form. Each number in the range is the masked form of some id.
    #[pyo3(signature = (masked, /))]
    fn unmask(&self, masked: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = masked.py();
        let masked = whole(masked, "a masked id is a whole number from 1 to 9223372036854775807")?;
        self.0.unmask(masked).map_err(|error| raised(py, &error))
    }

    /// Overwrites the library's copy of the keys. A second close does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close().map_err(|error| raised(py, &error))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}

/// Makes texts of ids that tell nothing and cannot be made up, and reads them.
///
/// `keys` is as for `Masked`. Texts of all the keys are read.
///
/// >>> import uidring
/// >>> key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
/// >>> orders = uidring.Opaque(key, "ord")
/// >>> orders.encode(180363646902239241)
/// 'ord_5H7WY7KKXFH1JCEMMC78CF0N9T'
/// >>> orders.decode("ord_5H7WY7KKXFH1JCEMMC78CF0N9T")
/// 180363646902239241
/// >>> orders.decode("ord_00000000000000000000000000")
/// Traceback (most recent call last):
/// uidring.InvalidArgumentError: the id was made up or changed, or made with another key
#[pyclass(frozen, module = "uidring")]
#[derive(Debug)]
pub struct Opaque(OpaqueIds);

#[pymethods]
impl Opaque {
    #[new]
    #[pyo3(signature = (keys, prefix, /))]
    fn new(py: Python<'_>, keys: String, prefix: &str) -> PyResult<Opaque> {
        let keys = Zeroizing::new(keys);
        Ok(Opaque(OpaqueIds::new(&keys, prefix).map_err(|error| raised(py, &error))?))
    }

    /// The text of an id.
    #[pyo3(signature = (id, /))]
    fn encode(&self, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let py = id.py();
        self.0.encode(whole(id, ID)?).map_err(|error| raised(py, &error))
    }

    /// The id of a text. `InvalidArgumentError` says why it is none.
    #[pyo3(signature = (text, /))]
    fn decode(&self, py: Python<'_>, text: &str) -> PyResult<u64> {
        self.0.decode(text).map_err(|error| raised(py, &error))
    }

    /// Overwrites the library's copy of the keys. A second close does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close().map_err(|error| raised(py, &error))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}
