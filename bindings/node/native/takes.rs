//! Takes of ids and numbers.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use napi::Env;
use napi::bindgen_prelude::{ArrayBuffer, BigInt64ArraySlice, BigUint64ArraySlice, External};
use napi_derive::napi;
use uidring_bindings::{Claimed, Error, Source as _};

use crate::door::{Answer, Door};
use crate::errors::{Result, call, node_failed};
use crate::handle::Handle;
use crate::taker::{Taker, Takers, either};

/// A number if there is one now.
#[napi]
pub(crate) fn try_take(taker: &Takers) -> Result<Option<u64>> {
    call(|| taker.try_take())
}

/// Claims up to `count` numbers for JavaScript to hand out. Writes the first, how many there are,
/// the distance from one to the next, and what the word held. False if there is none now.
#[napi]
pub(crate) fn claim(
    taker: &Takers,
    count: u32,
    mut written: BigUint64ArraySlice<'_>,
) -> Result<bool> {
    // SAFETY: the memory is JavaScript's, whose only thread is in this call.
    let written = unsafe { written.as_mut() };
    call(|| {
        let Some(Claimed { first, length, step, end }) = taker.try_claim(count)? else {
            return Ok(false);
        };
        written.copy_from_slice(&[first, length, step, end]);
        Ok(true)
    })
}

/// The word that JavaScript compares claims with. Null if numbers are not claimed.
#[napi]
pub(crate) fn claims_end<'env>(
    env: &'env Env,
    taker: &Takers,
) -> Result<Option<ArrayBuffer<'env>>> {
    // What keeps the word alive as long as JavaScript can read it.
    let keeper = Handle::new(Taker::clone(taker));
    let Some(word) = either!(&***taker, source => source.claims_end()) else { return Ok(None) };
    let start: *mut u8 = word.as_ptr().cast();
    // SAFETY: `keeper` is a clone of what has the word, which lives as long as any of them. Nobody
    // but JavaScript frees `keeper`, and JavaScript only reads the word.
    let made = unsafe { ArrayBuffer::from_external(env, start, 8, keeper, |_, _| ()) };
    let made = made.map_err(node_failed)?;
    // Where there is no memory of others, as in Electron, it is a copy, which tells nothing.
    Ok(Some(made).filter(|made| made.as_ptr() == start.cast_const()))
}

/// Fills an array from an element on with the numbers that there are now. Returns how many elements
/// are filled then.
#[napi]
pub(crate) fn fill(taker: &Takers, mut numbers: BigInt64ArraySlice<'_>, from: u32) -> Result<u32> {
    // SAFETY: as in `claim`. What other workers do with shared memory meanwhile is theirs to order,
    // as with each array of JavaScript's.
    fill_with(taker, unsafe { numbers.as_mut() }, from, u64::cast_signed)
}

/// The same for an array of unsigned numbers.
#[napi]
pub(crate) fn fill_unsigned(
    taker: &Takers,
    mut numbers: BigUint64ArraySlice<'_>,
    from: u32,
) -> Result<u32> {
    // SAFETY: as in `fill`.
    fill_with(taker, unsafe { numbers.as_mut() }, from, |number| number)
}

fn fill_with<T>(taker: &Taker, numbers: &mut [T], from: u32, of: impl Fn(u64) -> T) -> Result<u32> {
    let mut filled = usize::try_from(from).unwrap_or(usize::MAX).min(numbers.len());
    call(|| {
        while filled < numbers.len() {
            let rest = &mut numbers[filled..];
            let count = u32::try_from(rest.len()).unwrap_or(u32::MAX);
            let claimed = match taker.try_claim(count) {
                Ok(Some(claimed)) => claimed,
                Err(error) if filled == 0 => return Err(error),
                Ok(None) | Err(_) => break,
            };
            let mut next = claimed.first;
            let length = usize::try_from(claimed.length).unwrap_or(usize::MAX).min(rest.len());
            for number in &mut rest[..length] {
                *number = of(next);
                next += claimed.step;
            }
            filled += length;
        }
        Ok(u32::try_from(filled).unwrap_or(u32::MAX))
    })
}

/// Gives back what is left of the last claim of a tag.
#[napi]
pub(crate) fn give_back(taker: &Takers, used: u32) -> Result<()> {
    call(|| {
        if let Taker::Tag(tag) = &***taker {
            tag.give_back(u64::from(used));
        }
        Ok(())
    })
}

/// The state, as JSON.
#[napi]
pub(crate) fn status(taker: &Takers) -> Result<String> {
    call(|| Ok(either!(&***taker, source => source.status())))
}

type Future = Pin<Box<dyn std::future::Future<Output = std::result::Result<u64, Error>> + Send>>;

/// A take that waits. Only the thread of JavaScript polls it.
pub(crate) struct Taking {
    /// `None` when it has ended.
    future: Mutex<Option<Future>>,
    waker: Waker,
}

/// Tells JavaScript that a take has something to look for.
struct Woken {
    door: Arc<Door>,
    to: u32,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.door.answer(self.to, Ok(Answer::Nothing));
    }
}

/// Begins to take a number in turn. The door tells when to poll it.
#[napi]
pub(crate) fn begin_take(
    door: &External<Arc<Door>>,
    to: u32,
    taker: &Takers,
) -> External<Handle<Taking>> {
    let taker = Taker::clone(taker);
    let future: Future = match taker {
        Taker::Uids(uids) => Box::pin(async move { uids.take_async().await }),
        Taker::Tag(tag) => Box::pin(async move { tag.take_async().await }),
    };
    let waker = Waker::from(Arc::new(Woken { door: Arc::clone(door), to }));
    External::new(Handle::new(Taking { future: Mutex::new(Some(future)), waker }))
}

/// The number of a take that waits, if it has come.
#[napi]
pub(crate) fn poll_take(taking: &External<Handle<Taking>>) -> Result<Option<u64>> {
    let mut future = taking.future.lock().unwrap_or_else(PoisonError::into_inner);
    call(|| {
        let Some(waiting) = future.as_mut() else { return Ok(None) };
        match waiting.as_mut().poll(&mut Context::from_waker(&taking.waker)) {
            Poll::Pending => Ok(None),
            Poll::Ready(number) => number.map(Some),
        }
    })
}

/// Ends a take that waits. No number is lost.
#[napi]
pub(crate) fn end_take(taking: &External<Handle<Taking>>) {
    taking.future.lock().unwrap_or_else(PoisonError::into_inner).take();
}
