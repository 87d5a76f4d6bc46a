//! Long answers: sent in slices, with reserved memory until they are sent.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::Response;
use axum::response::IntoResponse as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::app::App;
use crate::app::in_flight::{Reservation, SLICE};
use crate::http::problem::Problem;
use crate::http::take_failure::TakeFailure;
use crate::routes::Route;

/// An answer up to this length is sent as a whole.
pub(crate) const WHOLE: usize = 32 << 10;

/// A marker of answers whose memory is reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted;

/// Sends a long answer in slices. Used for lists and pages, which use up no ids. If no memory can
/// be reserved, the client is told to try again.
pub(crate) fn bounded(
    app: &'static App,
    route: Option<Route>,
    answer: Response<Body>,
) -> Response<Body> {
    let length = usize::try_from(answer.body().size_hint().lower()).unwrap_or(usize::MAX);
    if length <= WHOLE || answer.extensions().get::<Counted>().is_some() {
        return answer;
    }
    // Anybody may see the description.
    let is_theirs = |route: Route| route.is_for_operators() && route != Route::OpenApi;
    let in_flight = if route.is_some_and(is_theirs) { &app.for_operators } else { &app.in_flight };
    match in_flight.try_reserve(length) {
        Some(reservation) => answer
            .map(|body| Body::new(Sliced { body, rest: Bytes::new(), left: length, reservation })),
        None => Problem::from(TakeFailure::Full).into_response(),
    }
}

/// A body in slices. The connection copies each slice, so slices bound the copied memory.
struct Sliced {
    body: Body,
    rest: Bytes,
    left: usize,
    reservation: Reservation,
}

impl HttpBody for Sliced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let left = self.left;
        if let Err(late) = self.reservation.check_time(left) {
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

/// A body whose slices are produced when they are read.
pub(crate) struct GeneratedBody<F> {
    /// Appends the next slice.
    make: F,
    left: usize,
    reservation: Option<Reservation>,
}

/// A response with a body of `length` bytes that is produced while it is sent.
pub(crate) fn generated<F>(
    make: F,
    length: usize,
    reservation: Option<Reservation>,
) -> Response<Body>
where
    F: FnMut(&mut Vec<u8>) + Send + Unpin + 'static,
{
    let body = GeneratedBody { make, left: length, reservation };
    let mut answer = Response::new(Body::new(body));
    answer.extensions_mut().insert(Counted);
    answer
}

impl<F: FnMut(&mut Vec<u8>) + Unpin> HttpBody for GeneratedBody<F> {
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
        if let Some(reservation) = &mut self.reservation {
            reservation.check_time(left)?;
        }
        // The last id may exceed the slice a little.
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
    use std::time::Duration;

    use super::*;
    use crate::app::in_flight::InFlight;

    /// Reads the second slice of a long answer, for a client that has paused for a millisecond.
    async fn second_slice(write_timeout: Duration) -> Option<io::Result<usize>> {
        let in_flight: &InFlight = Box::leak(Box::new(InFlight::new(1 << 20, write_timeout)));
        let reservation = in_flight.reserve(SLICE).await;
        let make = |slice: &mut Vec<u8>| slice.resize(SLICE, b'x');
        let mut body = GeneratedBody { make, left: 10 * SLICE, reservation };
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
