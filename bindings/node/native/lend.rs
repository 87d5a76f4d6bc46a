//! Worker ids that are lent to generators of others.

use std::sync::Arc;

use napi::bindgen_prelude::External;
use napi_derive::napi;
use uidring_bindings::{Close as _, LentId};

use crate::door::{Answer, Door, tell};
use crate::errors::{Result, call};
use crate::events;
use crate::handle::Handle;
use crate::values::{number_of, paired};

type Lent = External<Handle<LentId>>;

/// Lends an id of a pool. `on_loss` is answered once, when the id is about to be lost: with the
/// milliseconds that are left, and a line for people.
#[napi]
pub(crate) fn lend(
    door: &External<Arc<Door>>,
    to: u32,
    on_loss: u32,
    address: String,
    pool: String,
    bits: u32,
    options: Vec<String>,
) {
    events::start(tell);
    let told = Arc::clone(door);
    door.ask(to, move || {
        let lent = LentId::lend(&address, &pool, bits, &paired(&options), move |loss| {
            let left = loss.time_left.as_millis().to_string();
            told.answer(on_loss, Ok(Answer::Texts(vec![left, loss.to_string()])));
        })?;
        Ok(Answer::held(lent))
    });
}

/// The id.
#[napi]
pub(crate) fn lent_id(lent: &Lent) -> Result<f64> {
    call(|| lent.id().map(number_of))
}

/// Whether ids may be made with it now.
#[napi]
pub(crate) fn is_lent_held(lent: &Lent) -> bool {
    lent.is_held().unwrap_or(false)
}

/// The state, as JSON.
#[napi]
pub(crate) fn lent_status(lent: &Lent) -> Result<String> {
    call(|| lent.status())
}

/// Returns the id.
#[napi]
pub(crate) fn close_lent(door: &External<Arc<Door>>, to: u32, lent: &Lent) {
    door.close(to, LentId::clone(lent));
}

/// The same at the end of the program, which waits.
#[napi]
pub(crate) fn close_lent_now(lent: &Lent) -> Result<()> {
    call(|| lent.close())
}
