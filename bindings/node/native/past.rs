//! Ids of times that were.

use std::sync::Arc;

use napi::bindgen_prelude::{BigInt, External};
use napi_derive::napi;
use uidring_bindings::{Close as _, PastUids};

use crate::door::{Answer, Door};
use crate::errors::{Result, call};
use crate::handle::Handle;
use crate::values::{id_of, number_of, numbers_of};

type Past = External<Handle<PastUids>>;

/// Opens a generator of ids of the past.
#[napi]
pub(crate) fn open_past(
    door: &External<Arc<Door>>,
    to: u32,
    address: String,
    options: Vec<String>,
) {
    door.open(to, address, options, Answer::held::<PastUids>);
}

/// Takes a UID for each of the times, in milliseconds since 1970.
#[napi]
pub(crate) fn take_times(door: &External<Arc<Door>>, to: u32, past: &Past, unix_ms: Vec<f64>) {
    let past = PastUids::clone(past);
    door.ask(to, move || {
        // Times of JavaScript are whole numbers below 2^53.
        #[allow(clippy::cast_possible_truncation)]
        let times: Vec<i64> = unix_ms.iter().map(|&time| time as i64).collect();
        Ok(Answer::Numbers(match times[..] {
            // Its error names no number of a time.
            [time] => vec![past.take_at(time)?],
            _ => past.take_times(&times)?,
        }))
    });
}

/// What a UID holds.
#[napi]
pub(crate) fn past_parts(past: &Past, uid: BigInt) -> Result<Vec<f64>> {
    call(|| Ok(numbers_of(past.parts(id_of("a UID", &uid)?)?)))
}

/// The layout, as options.
#[napi]
pub(crate) fn past_layout(past: &Past) -> Result<String> {
    call(|| Ok(past.layout()))
}

/// The worker id that was taken on last.
#[napi]
pub(crate) fn past_worker_id(past: &Past) -> Result<f64> {
    call(|| past.worker_id().map(number_of))
}

/// The state, as JSON.
#[napi]
pub(crate) fn past_status(past: &Past) -> Result<String> {
    call(|| Ok(past.status()))
}

/// Ends all takes. Nothing waits.
#[napi]
pub(crate) fn close_past(past: &Past) -> Result<()> {
    call(|| past.close())
}
