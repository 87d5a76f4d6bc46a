//! Ids that tell nothing of those that they stand for.

use napi::bindgen_prelude::{BigInt, BigUint64ArraySlice, External};
use napi_derive::napi;
use uidring_bindings::{Close as _, MaskedIds, OpaqueIds, Zeroizing};

use crate::errors::{Result, call};
use crate::values::id_of;

/// Keys for masked ids.
#[napi]
pub(crate) fn open_masked(keys: String) -> Result<External<MaskedIds>> {
    let keys = Zeroizing::new(keys);
    call(|| Ok(External::new(MaskedIds::new(&keys)?)))
}

/// The masked form of an id.
#[napi]
pub(crate) fn mask(masked: &External<MaskedIds>, id: BigInt) -> Result<u64> {
    call(|| masked.mask(id_of("an id", &id)?))
}

/// Writes the masked forms of many ids over them.
#[napi]
pub(crate) fn mask_many(
    masked: &External<MaskedIds>,
    mut ids: BigUint64ArraySlice<'_>,
) -> Result<()> {
    // SAFETY: the memory is JavaScript's, whose only thread is in this call.
    let ids = unsafe { ids.as_mut() };
    call(|| {
        ids.copy_from_slice(&masked.mask_many(ids)?);
        Ok(())
    })
}

/// The id of a masked form.
#[napi]
pub(crate) fn unmask(masked: &External<MaskedIds>, id: BigInt) -> Result<u64> {
    call(|| masked.unmask(id_of("a masked id", &id)?))
}

/// Forgets the keys.
#[napi]
pub(crate) fn close_masked(masked: &External<MaskedIds>) -> Result<()> {
    call(|| masked.close())
}

/// Keys for opaque ids.
#[napi]
pub(crate) fn open_opaque(keys: String, prefix: String) -> Result<External<OpaqueIds>> {
    let keys = Zeroizing::new(keys);
    call(|| Ok(External::new(OpaqueIds::new(&keys, &prefix)?)))
}

/// The text of an id.
#[napi]
pub(crate) fn encode(opaque: &External<OpaqueIds>, id: BigInt) -> Result<String> {
    call(|| opaque.encode(id_of("an id", &id)?))
}

/// The id of a text.
#[napi]
pub(crate) fn decode(opaque: &External<OpaqueIds>, text: String) -> Result<u64> {
    call(|| opaque.decode(&text))
}

/// Forgets the keys.
#[napi]
pub(crate) fn close_opaque(opaque: &External<OpaqueIds>) -> Result<()> {
    call(|| opaque.close())
}
