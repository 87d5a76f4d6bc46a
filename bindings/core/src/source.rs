//! [`Source`]: what numbers are taken from.

use std::sync::atomic::AtomicU64;

use uidring::{FillError, TakeError};

use crate::error::Error;

/// Ids that are taken from the library at once to be copied to a caller's buffer.
const AT_ONCE: usize = 512;

/// The most numbers in a small array.
const FEW: usize = 16;

/// Up to so many numbers are taken one by one, which costs less than a claim of them.
const ONE_BY_ONE: usize = 3;

/// Numbers for the language to hand out, as a [`ClaimedSpan`](uidring::ClaimedSpan) explains.
#[derive(Clone, Copy, Debug)]
pub struct Claimed {
    /// The first number, which may be given whatever happens.
    pub first: u64,
    /// How many there are, at least one.
    pub length: u64,
    /// The distance from one to the next.
    pub step: u64,
    /// What `claims_end` held before the claim.
    pub end: u64,
}

/// A generator of UIDs, or a tag.
pub trait Source: Clone + Send + Sync + 'static {
    /// Takes a number. Lock-free, unless it has to wait.
    ///
    /// # Errors
    /// There is no number for now, or the generator has ended.
    fn take(&self) -> Result<u64, Error>;

    /// Takes a number if there is one now. `None` if it may be worth waiting for one.
    ///
    /// # Errors
    /// The generator has ended.
    fn try_take(&self) -> Result<Option<u64>, Error>;

    /// Takes a number in turn, as [`take`](Source::take) does. No number is lost if it is dropped.
    fn take_async(&self) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Fills `buffer` with ascending numbers. UIDs ascend within one worker id.
    ///
    /// # Errors
    /// As [`take`](Source::take), with how many numbers from the start of the buffer are new and
    /// the caller's to use.
    fn fill(&self, buffer: &mut [u64]) -> Result<(), (usize, Error)>;

    /// Claims up to `count` numbers for the language to hand out. `None` if there are none now.
    ///
    /// # Errors
    /// The generator has ended.
    fn try_claim(&self, count: u32) -> Result<Option<Claimed>, Error>;

    /// The word that claimed numbers are compared with, which lives as long as this value. `None`
    /// if numbers are not claimed.
    fn claims_end(&self) -> Option<&AtomicU64>;

    /// How many numbers [`fill`](Source::fill) gives now without a long wait.
    fn available(&self) -> usize;

    /// The state, as a JSON object.
    fn status(&self) -> String;
}

/// What a try to take has given, with the error of a take as a binding has it.
#[inline]
pub(crate) fn tried<T: Into<u64>>(
    number: Result<T, TakeError>,
    failed: fn(TakeError) -> Error,
) -> Result<Option<u64>, Error> {
    match number {
        Ok(number) => Ok(Some(number.into())),
        Err(error @ (TakeError::ShutDown | TakeError::Forked | TakeError::BrokenRule { .. })) => {
            Err(failed(error))
        }
        Err(_) => Ok(None),
    }
}

/// Fills `buffer` with the numbers in what `fill` takes, or `take` if there are few. A number that
/// is not set yet is `unset`.
///
/// # Errors
/// That of `fill`, with how many numbers from the start of the buffer are new.
pub(crate) fn fill<T: Copy + Into<u64>>(
    buffer: &mut [u64],
    unset: T,
    take: impl Fn() -> Result<T, TakeError>,
    fill: impl Fn(&mut [T]) -> Result<(), FillError>,
) -> Result<(), (usize, Error)> {
    if buffer.len() <= ONE_BY_ONE {
        for (filled, place) in buffer.iter_mut().enumerate() {
            *place = take().map_err(|error| (filled, Error::from(error)))?.into();
        }
        return Ok(());
    }
    // To set what few numbers do not need would last longer than to take them.
    if buffer.len() <= FEW {
        fill_by(&mut [unset; FEW], buffer, fill)
    } else {
        fill_by(&mut [unset; AT_ONCE], buffer, fill)
    }
}

fn fill_by<T: Copy + Into<u64>>(
    taken: &mut [T],
    buffer: &mut [u64],
    fill: impl Fn(&mut [T]) -> Result<(), FillError>,
) -> Result<(), (usize, Error)> {
    let mut filled = 0;
    for part in buffer.chunks_mut(taken.len()) {
        let taken = &mut taken[..part.len()];
        let result = fill(taken);
        let count = result.as_ref().err().map_or(part.len(), FillError::filled);
        for (place, &id) in part.iter_mut().zip(&taken[..count]) {
            *place = id.into();
        }
        filled += count;
        result.map_err(|error| (filled, Error::from(error)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use uidring::{Rule, Uid};

    #[test]
    fn a_try_fails_where_no_wait_can_help_because_the_generator_has_ended() {
        let tried = |error| tried(Err::<Uid, _>(error), Error::from);
        let broken = TakeError::BrokenRule { rule: Rule::BlockAbove };
        for ended in [TakeError::ShutDown, TakeError::Forked, broken] {
            assert_eq!(tried(ended), Err(Error::from(ended)));
        }
        assert_eq!(tried(TakeError::LeadLimit { retry_in_ms: 1 }), Ok(None));
    }
}
