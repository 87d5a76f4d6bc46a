//! A connection with a time limit for a client that does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Wraps `stream` with a time limit for reading each answer.
pub(crate) struct Connection<S> {
    stream: S,
    timeout: Duration,
    /// Created when a write blocks for the first time.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether a write has blocked since the timer was set.
    is_stalled: bool,
}

impl<S> Connection<S> {
    pub(crate) fn new(stream: S, timeout: Duration) -> Connection<S> {
        Connection { stream, timeout, timer: None, is_stalled: false }
    }

    /// Handles a write that blocks. Fails when the time limit has passed.
    fn poll_timeout<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let until = Instant::now() + self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        if !self.is_stalled {
            self.is_stalled = true;
            timer.as_mut().reset(until);
        }
        timer.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.poll_timeout(context),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(context, buffers) {
            Poll::Pending => self.poll_timeout(context),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Only a completed flush stops the timer, so a client cannot extend it by reading single
    /// bytes.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(context) {
            Poll::Pending => self.poll_timeout(context),
            ready @ Poll::Ready(_) => {
                self.is_stalled = false;
                ready
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_shutdown(context) {
            Poll::Pending => self.poll_timeout(context),
            ready @ Poll::Ready(_) => ready,
        }
    }
}
