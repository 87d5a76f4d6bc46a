//! [`Taker`], what ids and numbers are taken from.

use napi::bindgen_prelude::External;
use uidring_bindings::{Claimed, Error, Source as _, TagNumbers, Uids};

use crate::handle::Handle;

/// What is taken from: a generator of UIDs, or a tag.
#[derive(Clone)]
pub(crate) enum Taker {
    Uids(Uids),
    Tag(TagNumbers),
}

/// The same for both.
macro_rules! either {
    ($taker:expr, $source:ident => $what:expr) => {
        match $taker {
            Taker::Uids($source) => $what,
            Taker::Tag($source) => $what,
        }
    };
}

pub(crate) type Takers = External<Handle<Taker>>;

pub(crate) use either;

impl Taker {
    pub(crate) fn try_take(&self) -> std::result::Result<Option<u64>, Error> {
        either!(self, source => source.try_take())
    }

    pub(crate) fn try_claim(&self, count: u32) -> std::result::Result<Option<Claimed>, Error> {
        either!(self, source => source.try_claim(count))
    }
}
