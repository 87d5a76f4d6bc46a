//! A connection that is cut off when its client does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// `stream`, whose client may take so long to read an answer.
pub(crate) struct Connection<S> {
    stream: S,
    timeout: Duration,
    /// Made when the first write has to wait.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether something waits to be written since the timer was set.
    is_stalled: bool,
}

impl<S> Connection<S> {
    pub(crate) fn new(stream: S, timeout: Duration) -> Connection<S> {
        Connection { stream, timeout, timer: None, is_stalled: false }
    }

    /// The write has to wait. Fails when it has waited for too long.
    fn stall<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
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
            Poll::Pending => self.stall(context),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(context, buffers) {
            Poll::Pending => self.stall(context),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Only a whole answer that is written ends the client's time: one byte now and then does not.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(context) {
            Poll::Pending => self.stall(context),
            ready @ Poll::Ready(_) => {
                self.is_stalled = false;
                ready
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_shutdown(context) {
            Poll::Pending => self.stall(context),
            ready @ Poll::Ready(_) => ready,
        }
    }
}
