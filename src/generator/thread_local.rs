//! A thread's own claims, kept by the thread: a local taker that nobody has to carry along.
//!
//! ```text
//!   CURRENT   the generator that this thread used last, its next UID      read by each take
//!   TAKERS    the claims of up to 16 generators, that one's among them    once per span
//! ```
//!
//! `CURRENT` has no destructor, so reading it costs as much as reading any other variable.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU64;

use crate::engine::TakeError;
use crate::generator::UidGenerator;
use crate::generator::local::{Claims, Position};
use crate::sync::{AtomicU64, Ordering};
use crate::uid::Uid;

struct Current {
    /// The id of the generator, or 0.
    generator: Cell<u64>,
    position: Cell<Position>,
}

/// The claims of one generator.
struct Taker {
    generator: u64,
    /// Up to date unless it is the current one's.
    position: Position,
    claims: Claims,
}

/// A thread that uses more generators by turns loses the claim of the one it has not used for
/// longest.
const MOST_TAKERS: usize = 16;

thread_local! {
    static CURRENT: Current =
        const { Current { generator: Cell::new(0), position: Cell::new(Position::NONE) } };
    /// The one used last is the last.
    static TAKERS: RefCell<Vec<Taker>> = const { RefCell::new(Vec::new()) };
}

/// A number that no other generator of this process has, or of those that it was forked from.
pub fn new_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    // ORDERING: the counter alone makes them different.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Takes the next UID of this thread's claim.
#[inline]
pub fn take(uids: &UidGenerator, id: u64) -> Result<Uid, TakeError> {
    CURRENT.with(|current| {
        let Position { next, shift } = current.position.get();
        if current.generator.get() == id
            && !uids.engine.is_used_up(next)
            && let Some(uid) = NonZeroU64::new(next.wrapping_add(shift))
        {
            current.position.set(Position { next: next + 1, shift });
            return Ok(Uid::from_nonzero(uid));
        }
        take_slowly(uids, id, current)
    })
}

#[cold]
#[inline(never)]
fn take_slowly(uids: &UidGenerator, id: u64, current: &Current) -> Result<Uid, TakeError> {
    // A thread that is about to end has lost its takers.
    TAKERS.try_with(|takers| switch_to(id, current, takers)).map_or_else(
        |_| uids.take(),
        |mut taker| {
            // Outside of any borrow, because a clock or a waker may come back here.
            let result = taker.take(uids);
            // The thread is not about to end, see above.
            let _ = TAKERS.try_with(|takers| {
                let mut takers = takers.borrow_mut();
                // What came back here may have made another generator the current one.
                store_position(current, &mut takers);
                // Or it has claimed from this one. Either claim may be the later one, so neither
                // goes on.
                if let Some(index) = takers.iter().position(|other| other.generator == id) {
                    takers.remove(index);
                    taker = Taker::new(id);
                }
                current.position.set(taker.position);
                current.generator.set(id);
                takers.push(taker);
            });
            result
        },
    )
}

/// Takes the taker of the generator `id` out of `takers`, and has that of the current generator go
/// on where it is.
fn switch_to(id: u64, current: &Current, takers: &RefCell<Vec<Taker>>) -> Taker {
    let mut takers = takers.borrow_mut();
    store_position(current, &mut takers);
    current.generator.set(0);
    if let Some(index) = takers.iter().position(|taker| taker.generator == id) {
        return takers.remove(index);
    }
    if takers.len() >= MOST_TAKERS {
        takers.remove(0);
    }
    Taker::new(id)
}

/// Has the taker of the current generator go on where that generator is.
fn store_position(current: &Current, takers: &mut [Taker]) {
    let generator = current.generator.get();
    if let Some(taker) = takers.iter_mut().find(|taker| taker.generator == generator) {
        taker.position = current.position.get();
    }
}

impl Taker {
    fn new(generator: u64) -> Taker {
        Taker { generator, position: Position::NONE, claims: Claims::default() }
    }

    fn take(&mut self, uids: &UidGenerator) -> Result<Uid, TakeError> {
        let Position { next, shift } = self.position;
        // As after a switch from another generator.
        if !uids.engine.is_used_up(next)
            && let Some(uid) = NonZeroU64::new(next.wrapping_add(shift))
        {
            self.position.next += 1;
            return Ok(Uid::from_nonzero(uid));
        }
        let span = self.claims.next_span(&uids.engine)?;
        let (uid, position) = self.claims.enter(span);
        self.position = position;
        Ok(uid)
    }
}
