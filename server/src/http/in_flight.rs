//! The memory of answers that are being sent. It is bounded, because a client may ask for much and
//! read nothing.
//!
//! An answer that is short is not counted: a connection has one at a time, beside buffers that are
//! as large. A longer one has its place before it is made, and is handed on in slices.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::Response;
use axum::response::IntoResponse as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::app::App;
use crate::http::numbers::NoNumbers;
use crate::http::problem::Problem;
use crate::stats::requests::PathIndex;

/// An answer up to this length is handed on as a whole.
pub(crate) const WHOLE: usize = 32 << 10;
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

/// An answer that has its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted;

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

    fn try_reserve(&'static self, bytes: usize) -> Option<Held> {
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
    fn check_time(&mut self, left: usize) -> io::Result<()> {
        let now = Instant::now();
        let parts = u32::try_from(left.div_ceil(PART)).unwrap_or(u32::MAX);
        let until = self.until.get_or_insert_with(|| now + self.write_timeout * parts);
        if now > *until { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

/// The answer in slices, if it is long: a list or a page, which is made when it is asked for and
/// uses no ids up. Where there is no place, the client is told to ask again.
pub(crate) fn bounded(
    app: &'static App,
    path: PathIndex,
    answer: Response<Body>,
) -> Response<Body> {
    let length = usize::try_from(answer.body().size_hint().lower()).unwrap_or(usize::MAX);
    if length <= WHOLE || answer.extensions().get::<Counted>().is_some() {
        return answer;
    }
    let in_flight = if path.is_for_operators() { &app.for_operators } else { &app.in_flight };
    match in_flight.try_reserve(length) {
        Some(held) => {
            answer.map(|body| Body::new(Sliced { body, rest: Bytes::new(), left: length, held }))
        }
        None => Problem::from(NoNumbers::Full).into_response(),
    }
}

/// A body that is handed on in slices. A connection copies what it is given.
struct Sliced {
    body: Body,
    rest: Bytes,
    left: usize,
    held: Held,
}

impl HttpBody for Sliced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let left = self.left;
        if let Err(late) = self.held.check_time(left) {
            return Poll::Ready(Some(Err(axum::Error::new(late))));
        }
        if self.rest.is_empty() {
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => frame,
                other => return other,
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(other) => return Poll::Ready(Some(Ok(other))),
            }
        }
        let end = self.rest.len().min(SLICE);
        let slice = self.rest.split_to(end);
        self.left = self.left.saturating_sub(end);
        Poll::Ready(Some(Ok(Frame::data(slice))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let of_body = self.body.size_hint();
        match of_body.exact() {
            Some(length) => SizeHint::with_exact(length + rest),
            None => SizeHint::default(),
        }
    }
}

/// A body that makes its slices when they are read.
pub(crate) struct Made<F> {
    /// Appends the next slice.
    make: F,
    left: usize,
    held: Option<Held>,
}

/// The answer with this body of `length` bytes.
pub(crate) fn made<F>(make: F, length: usize, held: Option<Held>) -> Response<Body>
where
    F: FnMut(&mut Vec<u8>) + Send + Unpin + 'static,
{
    let body = Made { make, left: length, held };
    let mut answer = Response::new(Body::new(body));
    answer.extensions_mut().insert(Counted);
    answer
}

impl<F: FnMut(&mut Vec<u8>) + Unpin> HttpBody for Made<F> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let left = self.left;
        if left == 0 {
            return Poll::Ready(None);
        }
        if let Some(held) = &mut self.held {
            held.check_time(left)?;
        }
        // The last id that fits may end a little later.
        let mut slice = Vec::with_capacity(SLICE + 128);
        (self.make)(&mut slice);
        self.left = self.left.saturating_sub(slice.len());
        Poll::Ready(Some(Ok(Frame::data(slice.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second slice of a long answer, for a client that has not read it for a millisecond.
    async fn second_slice(write_timeout: Duration) -> Option<io::Result<usize>> {
        let in_flight: &InFlight = Box::leak(Box::new(InFlight::new(1 << 20, write_timeout)));
        let held = in_flight.reserve(SLICE).await;
        let make = |slice: &mut Vec<u8>| slice.resize(SLICE, b'x');
        let mut body = Made { make, left: 10 * SLICE, held };
        let mut next = async || {
            let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
            frame.await.map(|frame| frame.map(|frame| frame.into_data().map_or(0, |it| it.len())))
        };
        assert!(next().await.is_some_and(|first| first.is_ok()), "its time begins with the first");
        tokio::time::sleep(Duration::from_millis(1)).await;
        next().await
    }

    #[tokio::test]
    async fn a_client_that_reads_too_slowly_gets_no_more() {
        let late = second_slice(Duration::ZERO).await;
        assert!(late.is_some_and(|slice| slice.is_err()));
        let in_time = second_slice(Duration::from_secs(3600)).await;
        assert!(in_time.is_some_and(|slice| slice.is_ok_and(|length| length == SLICE)));
    }
}
