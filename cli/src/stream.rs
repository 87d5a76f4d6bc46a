//! From the generator to standard output: one or more threads take and format UIDs, and another
//! thread writes them.
//!
//! ```text
//!              ┌──────── empty buffers ────────┐
//!              ▼                               │
//!   fill ─▶ takers ──────── full buffers ─▶ writer ─▶ standard output
//! ```
//!
//! The few buffers are reused, so memory stays small however slow the reader is. The lines of one
//! taker come out in the order in which the UIDs were taken.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};
use uidring::segment::SegmentGenerator;
use uidring::{TakeError, Uid, UidGenerator};

use crate::lines::Lines;
use crate::load::{BATCH, Run, joined};
use crate::output::{Failure, unbuffered_stdout};
use crate::progress::Progress;

/// One is written while each taker fills one; another keeps all threads busy where they are not in
/// step. A batch is some 80 KiB of text, which stay in the cache.
const SPARE_BUFFERS: usize = 2;

/// Lines, and how many.
struct Buffer {
    text: Vec<u8>,
    lines: usize,
}

/// A generator, and how to take from it.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Uids(&'a UidGenerator),
    /// A generator that may wait at the lead limit. The run waits instead, because it has to end in
    /// time.
    PatientUids(&'a UidGenerator),
    Tag(&'a SegmentGenerator),
}

impl Source<'_> {
    /// Fills the front of `batch`. Returns how many UIDs there are, and why there are not more.
    fn fill(self, batch: &mut [Uid]) -> (usize, Result<(), TakeError>) {
        let filled = match self {
            Source::Uids(uids) => uids.fill(batch),
            Source::PatientUids(uids) => return fill_without_waiting(uids, batch),
            Source::Tag(numbers) => numbers.fill(batch),
        };
        match filled {
            Ok(()) => (batch.len(), Ok(())),
            Err(error) => (error.filled(), Err(error.cause())),
        }
    }
}

fn fill_without_waiting(uids: &UidGenerator, batch: &mut [Uid]) -> (usize, Result<(), TakeError>) {
    for (filled, place) in batch.iter_mut().enumerate() {
        *place = match uids.try_take() {
            Ok(uid) => uid,
            Err(TakeError::LeadLimit { .. }) => return (filled, Ok(())),
            // The registry's answer is not far.
            Err(TakeError::LeaseExhausted { .. }) => match uids.take() {
                Ok(uid) => uid,
                Err(error) => return (filled, Err(error)),
            },
            Err(error) => return (filled, Err(error)),
        };
    }
    (batch.len(), Ok(()))
}

/// Takes what is due and writes a line for each UID. Meanwhile calls `look` at each `interval`.
pub(crate) fn print(
    source: Source<'_>,
    run: &Run,
    lines: &Lines,
    progress: Option<Progress>,
    interval: Duration,
    look: impl FnMut(),
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let buffers = usize::from(run.load().threads) + SPARE_BUFFERS;
        let (full_in, full_out) = bounded(buffers);
        let (empty_in, empty_out) = bounded(buffers);
        for _ in 0..buffers {
            // There is room for each of them.
            let _ = empty_in.send(Buffer { text: Vec::new(), lines: 0 });
        }
        // A thread that ends drops its ends of the channels, which ends the other threads.
        let writer = scope.spawn(move || write(run, &full_out, &empty_in, progress));
        let taker = || {
            let (full, empty) = (full_in.clone(), empty_out.clone());
            let (mut lines, mut batch) = (lines.clone(), vec![Uid::MIN; BATCH]);
            move |count: usize| take(source, &mut batch[..count], &mut lines, &empty, &full)
        };
        let takers = (0..run.load().threads).map(|_| taker()).collect();
        drop((full_in, empty_out));
        let done = run.drive(takers, interval, look);
        let written = joined(writer);
        // If writing failed, that is why the takers stopped: report it first.
        written.map_err(Failure::Output).and(done)
    })
}

/// Takes what is due and drops it. Meanwhile calls `look` at each `interval`.
pub(crate) fn drop_all(
    source: Source<'_>,
    run: &Run,
    interval: Duration,
    look: impl FnMut(),
) -> Result<(), Failure> {
    let taker = || {
        let mut batch = vec![Uid::MIN; BATCH];
        move |count: usize| {
            let (filled, result) = source.fill(&mut batch[..count]);
            run.advance(filled);
            result?;
            Ok(Some(filled))
        }
    };
    run.drive((0..run.load().threads).map(|_| taker()).collect(), interval, look)
}

/// Fills a buffer and passes it on. Returns how many lines it has, or `None` if the writer has
/// ended.
fn take(
    source: Source<'_>,
    batch: &mut [Uid],
    lines: &mut Lines,
    empty: &Receiver<Buffer>,
    full: &Sender<Buffer>,
) -> Result<Option<usize>, Failure> {
    let Ok(mut buffer) = empty.recv() else { return Ok(None) };
    let (filled, result) = source.fill(batch);
    buffer.text.clear();
    buffer.lines = filled;
    lines.append(&batch[..filled], &mut buffer.text);
    if full.send(buffer).is_err() {
        return Ok(None);
    }
    result?;
    Ok(Some(filled))
}

/// Writes the full buffers, and sends them back empty.
fn write(
    run: &Run,
    full: &Receiver<Buffer>,
    empty: &Sender<Buffer>,
    mut progress: Option<Progress>,
) -> io::Result<()> {
    let mut stdout = unbuffered_stdout()?;
    for buffer in full {
        let (written, result) = write_text(&mut stdout, &buffer.text);
        let lines = match &result {
            Ok(()) => buffer.lines,
            Err(_) => buffer.text[..written].split(|&byte| byte == b'\n').count() - 1,
        };
        run.advance(lines);
        result?;
        if let Some(progress) = &mut progress {
            progress.set(run.done());
        }
        // The other end is gone when everything has been taken.
        let _ = empty.send(buffer);
    }
    if let Some(progress) = progress {
        progress.finish();
    }
    Ok(())
}

/// Like `write_all`, but also returns how many bytes were written.
fn write_text(to: &mut impl Write, text: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < text.len() {
        match to.write(&text[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}
