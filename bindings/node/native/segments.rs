//! Dense numbers.

use std::sync::Arc;

use napi::bindgen_prelude::External;
use napi_derive::napi;
use uidring_bindings::{Close as _, Numbers, TagNumbers};

use crate::door::{Answer, Door};
use crate::errors::{Result, call};
use crate::handle::Handle;
use crate::taker::Taker;
use crate::values::paired;

type Segments = External<Handle<Numbers>>;

/// Opens the dense numbers of a store.
#[napi]
pub(crate) fn open_segments(
    door: &External<Arc<Door>>,
    to: u32,
    address: String,
    options: Vec<String>,
) {
    door.open(to, address, options, Answer::held::<Numbers>);
}

fn found(tag: TagNumbers) -> Answer {
    Answer::held(Taker::Tag(tag))
}

/// Creates a tag.
#[napi]
pub(crate) fn create_tag(
    door: &External<Arc<Door>>,
    to: u32,
    segments: &Segments,
    tag: String,
    options: Vec<String>,
) {
    let segments = Numbers::clone(segments);
    door.ask(to, move || Ok(found(segments.create(&tag, &paired(&options))?)));
}

/// Finds a tag.
#[napi]
pub(crate) fn find_tag(door: &External<Arc<Door>>, to: u32, segments: &Segments, tag: String) {
    let segments = Numbers::clone(segments);
    door.ask(to, move || Ok(found(segments.tag(&tag)?)));
}

/// Ends all takes.
#[napi]
pub(crate) fn close_segments(door: &External<Arc<Door>>, to: u32, segments: &Segments) {
    door.close(to, Numbers::clone(segments));
}

/// The same at the end of the program, which waits.
#[napi]
pub(crate) fn close_segments_now(segments: &Segments) -> Result<()> {
    call(|| segments.close())
}
