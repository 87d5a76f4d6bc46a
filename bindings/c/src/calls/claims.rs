//! Ids that a program hands out by itself, without a call for each.

use std::ptr;

use uidring_bindings::{Claimed, Error, Source as _, TagNumbers, Uids};

use crate::calls::generator::uidring_generator;
use crate::calls::segments::{OpenTag, uidring_tag};
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::texts;

/// What ids are claimed from. It keeps the word that they are compared with.
#[derive(Clone)]
enum Claims {
    Uids(Uids),
    Tag(TagNumbers),
}

handle_kind!(Claims, "the claims were");

/// Claims ids of a generator, or numbers of a tag. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_claims {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// Ids for the program to hand out: `first`, `first + step`, and so on, `length` of them. Each has
/// a place: that of the last is `end - 1`, that of the first `end - length`. An id may be given if
/// its place is below the word of `uidring_claims_open` now. The first may be given whatever the
/// word says.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_claimed {
    /// The first id; 0 if there was none.
    pub first: u64,
    /// How many there are, at most as many as were asked for; 0 if there was none.
    pub length: u64,
    /// The distance from one to the next.
    pub step: u64,
    /// The place past the last.
    pub end: u64,
}

/// Opens claims of a generator's ids, which a program hands out to its threads by atomic adds of
/// its own, without a call for each. Writes to `word` where the library has the number that the
/// places of claimed ids are compared with. It lowers that number when ids have become too old, or
/// the generator has ended, and so does a fork in the child. Read it as an atomic, with acquire.
/// It stays where it is until `uidring_claims_close`, also after `uidring_close`.
///
/// Where ids are not claimed, as with `exact_time`, `word` becomes null and `claims` all zero: take
/// each id by a call then. Ids that are taken by calls are larger than those that were claimed
/// before, so do not take by calls while a claim has ids, if the order matters.
///
/// # Safety
/// `claims` and `word` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_claims_open(
    generator: uidring_generator,
    claims: *mut uidring_claims,
    word: *mut *const u64,
) -> uidring_code {
    guarded(|| {
        let uids = Uids::find(generator.id)?;
        // SAFETY: as the caller promises.
        unsafe { open(Claims::Uids(uids), claims, word) }
    })
}

/// Opens claims of a tag's numbers, as `uidring_claims_open` does. With the option
/// `max_in_memory` numbers are not claimed.
///
/// # Safety
/// As `uidring_claims_open`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_tag_claims_open(
    tag: uidring_tag,
    claims: *mut uidring_claims,
    word: *mut *const u64,
) -> uidring_code {
    guarded(|| {
        let numbers = OpenTag::find(tag.id)?.numbers.with_claims_of_its_own();
        // SAFETY: as the caller promises.
        unsafe { open(Claims::Tag(numbers), claims, word) }
    })
}

/// # Safety
/// As `uidring_claims_open`.
unsafe fn open(
    opened: Claims,
    claims: *mut uidring_claims,
    word: *mut *const u64,
) -> Result<(), Error> {
    // SAFETY: as the caller promises.
    let (claims, word) = unsafe { (texts::place(claims, "claims")?, texts::place(word, "word")?) };
    (claims.id, *word) = (0, ptr::null());
    let end = match &opened {
        Claims::Uids(uids) => uids.claims_end(),
        Claims::Tag(numbers) => numbers.claims_end(),
    };
    if let Some(end) = end {
        // It lies in what the clones of `opened` share, and the table keeps one.
        *word = end.as_ptr();
        claims.id = opened.insert();
    }
    Ok(())
}

/// Claims up to `count` ids. It never waits: where there is none now, it writes zeros to `claimed`.
/// What is left of an earlier claim is lost, unless it was given back.
///
/// # Safety
/// `claimed` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_claim(
    claims: uidring_claims,
    count: u32,
    claimed: *mut uidring_claimed,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { texts::place(claimed, "claimed") }?;
        *place = uidring_claimed { first: 0, length: 0, step: 0, end: 0 };
        if count == 0 {
            return Err(Error::argument("a claim has at least one id, and not 0"));
        }
        let claimed = Claims::with(claims.id, |claims| match claims {
            Claims::Uids(uids) => uids.try_claim(count),
            Claims::Tag(numbers) => numbers.try_claim(count),
        })??;
        if let Some(Claimed { first, length, step, end }) = claimed {
            *place = uidring_claimed { first, length, step, end };
        }
        Ok(())
    })
}

/// Gives back what is left of the last claim of a tag's numbers, of which the first `used` were
/// given, at least one. They come again if nobody has taken a number since, and are lost otherwise.
/// Ids of a generator are not given back: nothing happens.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn uidring_claims_give_back(claims: uidring_claims, used: u64) -> uidring_code {
    guarded(|| {
        if used == 0 {
            return Err(Error::argument("of a claim the first id was given at least, and not 0"));
        }
        Claims::with(claims.id, |claims| {
            if let Claims::Tag(numbers) = claims {
                numbers.give_back(used);
            }
        })
    })
}

/// Forgets the claims. Nobody reads the word any more. A second close succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_claims_close(claims: uidring_claims) -> uidring_code {
    guarded(|| Claims::remove(claims.id).map(drop))
}
