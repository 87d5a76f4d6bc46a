//! The memory budget of answers that are being sent. Without it, a client that asks for much and
//! reads nothing could use up the memory.
//!
//! A short answer is not counted: each connection has at most one, as large as its own buffers. A
//! longer one reserves its memory before it is made, and is sent in slices.

use std::io;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The length of a slice.
pub(crate) const SLICE: usize = 16 << 10;
/// Memory that an answer needs besides its content: one slice, and the connection's copy of the
/// slice before.
const BESIDE: usize = 2 * SLICE;
/// The unit of the budget.
const UNIT: usize = 1 << 10;
/// How long an answer waits for memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// A client has the time of `--write-timeout` for each part of this length. Without this limit, a
/// client that reads a few bytes now and then would keep its memory reserved for ever.
const PART: usize = 256 << 10;
/// The budget for answers to operators, in bytes. It is separate, so that clients cannot use it up.
pub(crate) const FOR_OPERATORS: u64 = 8 << 20;

/// A memory budget.
#[derive(Debug)]
pub(crate) struct InFlight {
    places: Semaphore,
    most: u32,
    write_timeout: Duration,
}

/// Reserved memory. Dropping it releases it.
#[derive(Debug)]
pub(crate) struct Reservation {
    place: SemaphorePermit<'static>,
    write_timeout: Duration,
    /// The client's deadline for the current part. It starts with the first slice.
    until: Option<Instant>,
}

fn units(bytes: usize) -> u32 {
    u32::try_from((bytes + BESIDE).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl InFlight {
    pub(crate) fn new(bytes: u64, write_timeout: Duration) -> InFlight {
        let most = u32::try_from(bytes / UNIT as u64).unwrap_or(u32::MAX);
        InFlight { places: Semaphore::new(most as usize), most, write_timeout }
    }

    /// Reserves memory for an answer of this length. Waits for up to [`PATIENCE`]. An answer longer
    /// than the whole budget reserves all of it.
    pub(crate) async fn reserve(&'static self, bytes: usize) -> Option<Reservation> {
        let units = units(bytes).min(self.most);
        let place = timeout(PATIENCE, self.places.acquire_many(units)).await;
        // The semaphore is never closed.
        Some(self.reservation(place.ok()?.ok()?))
    }

    /// Reserves memory without waiting.
    pub(crate) fn try_reserve(&'static self, bytes: usize) -> Option<Reservation> {
        Some(self.reservation(self.places.try_acquire_many(units(bytes).min(self.most)).ok()?))
    }

    fn reservation(&self, place: SemaphorePermit<'static>) -> Reservation {
        Reservation { place, write_timeout: self.write_timeout, until: None }
    }

    /// How many bytes are reserved.
    pub(crate) fn bytes(&self) -> u64 {
        (self.most as usize).saturating_sub(self.places.available_permits()) as u64 * UNIT as u64
    }
}

impl Reservation {
    /// Releases all but this many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let left = self.place.num_permits().saturating_sub(units(bytes) as usize);
        drop(self.place.split(left));
    }

    /// Returns an error if the client is too slow. `left` is the number of bytes that are still to
    /// be sent.
    pub(crate) fn check_time(&mut self, left: usize) -> io::Result<()> {
        let now = Instant::now();
        let parts = u32::try_from(left.div_ceil(PART)).unwrap_or(u32::MAX);
        let until = self.until.get_or_insert_with(|| now + self.write_timeout * parts);
        if now > *until { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}
