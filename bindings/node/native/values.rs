//! Values of JavaScript for the core, and of the core for JavaScript.

use napi::bindgen_prelude::BigInt;
use uidring_bindings::{Error, Parts, not_an_id};

/// Options as the core reads them, out of names and values one after the other.
pub(crate) fn paired(options: &[String]) -> Vec<(&str, &str)> {
    options.chunks_exact(2).map(|pair| (&*pair[0], &*pair[1])).collect()
}

/// An id of JavaScript's.
pub(crate) fn id_of(what: &str, id: &BigInt) -> Result<u64, Error> {
    match id.get_u64() {
        (false, id, true) => Ok(id),
        (is_negative, ..) => {
            let size = if is_negative { "a negative number" } else { "one beyond 64 bits" };
            Err(not_an_id(what, size))
        }
    }
}

/// What a UID holds: its time in milliseconds since 1970, worker and sequence. Each of them is
/// below 2^53: no layout has as wide a field.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn numbers_of(parts: Parts) -> Vec<f64> {
    vec![parts.unix_ms as f64, parts.worker as f64, parts.sequence as f64]
}

/// A worker id, as in [`numbers_of`].
#[allow(clippy::cast_precision_loss)]
pub(crate) fn number_of(worker: u64) -> f64 {
    worker as f64
}
