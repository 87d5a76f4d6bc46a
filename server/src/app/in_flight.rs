//! The memory of answers that are being sent. It is bounded, because a client may ask for much and
//! read nothing.
//!
//! An answer that is short is not counted: a connection has one at a time, beside buffers that are
//! as large. A longer one has its place before it is made, and is handed on in slices.

use std::io;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The length of a slice.
pub(crate) const SLICE: usize = 16 << 10;
/// What an answer needs beside what it holds: a slice, and what the connection has of the last one.
const BESIDE: usize = 2 * SLICE;
/// What is counted as one.
const UNIT: usize = 1 << 10;
/// How long an answer waits for its place.
const PATIENCE: Duration = Duration::from_secs(5);
/// A client has the time of `--write-timeout` for each part of this length. Otherwise one that
/// reads a little now and then would keep a place for ever.
const PART: usize = 256 << 10;
/// The places of answers to operators, in bytes: they are answered while clients have all others.
pub(crate) const FOR_OPERATORS: u64 = 8 << 20;

/// The places of answers.
#[derive(Debug)]
pub(crate) struct InFlight {
    places: Semaphore,
    most: u32,
    write_timeout: Duration,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    place: SemaphorePermit<'static>,
    write_timeout: Duration,
    /// Until when the client may read. Its time begins with the first slice.
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

    /// A place for an answer that holds so many bytes, soon or not at all. One that is larger than
    /// all places together has them all.
    pub(crate) async fn reserve(&'static self, bytes: usize) -> Option<Held> {
        let units = units(bytes).min(self.most);
        let place = timeout(PATIENCE, self.places.acquire_many(units)).await;
        // They are never closed.
        Some(self.held(place.ok()?.ok()?))
    }

    /// The same at once.
    pub(crate) fn try_reserve(&'static self, bytes: usize) -> Option<Held> {
        Some(self.held(self.places.try_acquire_many(units(bytes).min(self.most)).ok()?))
    }

    fn held(&self, place: SemaphorePermit<'static>) -> Held {
        Held { place, write_timeout: self.write_timeout, until: None }
    }

    /// How many bytes are held.
    pub(crate) fn bytes(&self) -> u64 {
        (self.most as usize).saturating_sub(self.places.available_permits()) as u64 * UNIT as u64
    }
}

impl Held {
    /// So many bytes are enough.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let left = self.place.num_permits().saturating_sub(units(bytes) as usize);
        drop(self.place.split(left));
    }

    /// Fails if the client has not read the answer in time, of which so many bytes are left.
    pub(crate) fn check_time(&mut self, left: usize) -> io::Result<()> {
        let now = Instant::now();
        let parts = u32::try_from(left.div_ceil(PART)).unwrap_or(u32::MAX);
        let until = self.until.get_or_insert_with(|| now + self.write_timeout * parts);
        if now > *until { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}
