//! The memory of answers that are being sent. It is bounded, because a client may ask for much and
//! read nothing.
//!
//! An answer that is short is not counted: a connection has one at a time, beside buffers that are
//! as large. A longer one has its place before it is made, and is handed on in slices.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Response;
use axum::response::IntoResponse as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::app::App;
use crate::http::numbers::NoNumbers;
use crate::http::problem::Problem;

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

/// The places of answers.
#[derive(Debug)]
pub(crate) struct InFlight {
    places: Semaphore,
    most: u32,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held(SemaphorePermit<'static>);

/// An answer that has its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted;

fn units(bytes: usize) -> u32 {
    u32::try_from((bytes + BESIDE).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl InFlight {
    pub(crate) fn new(bytes: u64) -> InFlight {
        let most = u32::try_from(bytes / UNIT as u64).unwrap_or(u32::MAX);
        InFlight { places: Semaphore::new(most as usize), most }
    }

    /// A place for an answer that holds so many bytes, soon or not at all. One that is larger than
    /// all places together has them all.
    pub(crate) async fn reserve(&'static self, bytes: usize) -> Option<Held> {
        let units = units(bytes).min(self.most);
        let place = timeout(PATIENCE, self.places.acquire_many(units)).await;
        // They are never closed.
        place.ok()?.ok().map(Held)
    }

    fn try_reserve(&'static self, bytes: usize) -> Option<Held> {
        self.places.try_acquire_many(units(bytes).min(self.most)).ok().map(Held)
    }

    /// How many bytes are held.
    pub(crate) fn bytes(&self) -> u64 {
        (self.most as usize).saturating_sub(self.places.available_permits()) as u64 * UNIT as u64
    }
}

impl Held {
    /// So many bytes are enough.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let left = self.0.num_permits().saturating_sub(units(bytes) as usize);
        drop(self.0.split(left));
    }
}

/// The answer in slices, if it is long: a list or a page, which is made when it is asked for and
/// uses no ids up. Where there is no place, the client is told to ask again.
pub(crate) fn bounded(app: &'static App, answer: Response<Body>) -> Response<Body> {
    let length = usize::try_from(answer.body().size_hint().lower()).unwrap_or(usize::MAX);
    if length <= WHOLE || answer.extensions().get::<Counted>().is_some() {
        return answer;
    }
    match app.in_flight.try_reserve(length) {
        Some(held) => {
            answer.map(|body| Body::new(Sliced { body, rest: Bytes::new(), _held: held }))
        }
        None => Problem::from(NoNumbers::Full).into_response(),
    }
}

/// A body that is handed on in slices. A connection copies what it is given.
struct Sliced {
    body: Body,
    rest: Bytes,
    _held: Held,
}

impl HttpBody for Sliced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
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
    _held: Option<Held>,
}

/// The answer with this body of `length` bytes.
pub(crate) fn made<F>(make: F, length: usize, held: Option<Held>) -> Response<Body>
where
    F: FnMut(&mut Vec<u8>) + Send + Unpin + 'static,
{
    let body = Made { make, left: length, _held: held };
    let mut answer = Response::new(Body::new(body));
    answer.extensions_mut().insert(Counted);
    answer
}

impl<F: FnMut(&mut Vec<u8>) + Unpin> HttpBody for Made<F> {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
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
