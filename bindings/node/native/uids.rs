//! Generators of UIDs.

use std::sync::Arc;

use napi::bindgen_prelude::{BigInt, External};
use napi_derive::napi;
use uidring_bindings::{Close as _, Error, Uids};

use crate::door::{Answer, Door, tell};
use crate::errors::{Result, call};
use crate::events;
use crate::taker::{Taker, Takers};
use crate::values::{id_of, number_of, numbers_of, paired};

fn opened(uids: Uids) -> Answer {
    Answer::held(Taker::Uids(uids))
}

/// Opens a generator with a worker id from a store.
#[napi]
pub(crate) fn open_uids(
    door: &External<Arc<Door>>,
    to: u32,
    address: String,
    options: Vec<String>,
) {
    door.open(to, address, options, opened);
}

/// Opens a generator with a worker id of the program's.
#[napi]
pub(crate) fn fixed_uids(
    door: &External<Arc<Door>>,
    to: u32,
    worker: BigInt,
    options: Vec<String>,
) {
    events::start(tell);
    let (is_negative, worker, is_lossless) = worker.get_u64();
    door.ask(to, move || {
        if is_negative || !is_lossless {
            return Err(Error::argument("a worker id is a whole number from 0 on"));
        }
        Ok(opened(Uids::fixed(worker, &paired(&options))?))
    });
}

fn uids(taker: &Takers) -> std::result::Result<&Uids, Error> {
    match &***taker {
        Taker::Uids(uids) => Ok(uids),
        Taker::Tag(_) => Err(Error::internal("a tag is no generator of UIDs")),
    }
}

/// Ends all takes.
#[napi]
pub(crate) fn close_uids(door: &External<Arc<Door>>, to: u32, taker: &Takers) -> Result<()> {
    door.close(to, call(|| uids(taker).cloned())?);
    Ok(())
}

/// The same at the end of the program, which waits.
#[napi]
pub(crate) fn close_uids_now(taker: &Takers) -> Result<()> {
    call(|| uids(taker)?.close())
}

/// What a UID holds: its time in milliseconds since 1970, worker and sequence.
#[napi]
pub(crate) fn uid_parts(taker: &Takers, uid: BigInt) -> Result<Vec<f64>> {
    call(|| Ok(numbers_of(uids(taker)?.parts(id_of("a UID", &uid)?)?)))
}

/// The layout, as options.
#[napi]
pub(crate) fn layout(taker: &Takers) -> Result<String> {
    call(|| Ok(uids(taker)?.layout()))
}

/// The worker id in the UIDs that are given now.
#[napi]
pub(crate) fn worker_id(taker: &Takers) -> Result<f64> {
    call(|| uids(taker)?.worker_id().map(number_of))
}
