//! From the generator to standard output: one or more threads take and format ids, and another
//! thread writes them. A single batch needs no further thread.
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
use uidring::segment::{Number, SegmentGenerator};
use uidring::{FillError, TakeError, Uid, UidGenerator};
use uidring_args::GeneratorArgs;

use crate::run::lines::Lines;
use crate::run::load::{BATCH, Run, joined};
use crate::run::progress::Progress;
use crate::text::{Failure, unbuffered_stdout};

/// One is written while each taker fills one; another keeps all threads busy where they are not in
/// step. A batch is some 80 KiB of text, which stay in the cache.
const SPARE_BUFFERS: usize = 2;

/// Lines, and how many.
struct Buffer {
    text: Vec<u8>,
    lines: usize,
}

/// A generator, and how to take from it.
pub(crate) trait Source: Copy + Send + Sync {
    type Id: Copy + Send;

    /// What a buffer holds before it is filled.
    const BLANK: Self::Id;

    /// Fills the front of `batch`. Returns how many ids there are, and why there are not more.
    fn fill(self, batch: &mut [Self::Id]) -> (usize, Result<(), TakeError>);
}

/// A generator of UIDs.
#[derive(Clone, Copy)]
pub(crate) enum Uids<'a> {
    Plain(&'a UidGenerator),
    /// A generator that may wait at the lead limit. The run waits instead, because it has to end in
    /// time.
    Patient(&'a UidGenerator),
}

impl<'a> Uids<'a> {
    /// How to take from `uids`, which was built by these options.
    pub(crate) fn of(uids: &'a UidGenerator, options: &GeneratorArgs) -> Uids<'a> {
        if options.may_wait() { Uids::Patient(uids) } else { Uids::Plain(uids) }
    }
}

impl Source for Uids<'_> {
    type Id = Uid;

    const BLANK: Uid = Uid::MIN;

    fn fill(self, batch: &mut [Uid]) -> (usize, Result<(), TakeError>) {
        match self {
            Uids::Plain(uids) => filled(batch.len(), uids.fill(batch)),
            Uids::Patient(uids) => fill_without_waiting(uids, batch),
        }
    }
}

impl Source for &SegmentGenerator {
    type Id = Number;

    const BLANK: Number = Number::MIN;

    fn fill(self, batch: &mut [Number]) -> (usize, Result<(), TakeError>) {
        filled(batch.len(), SegmentGenerator::fill(self, batch))
    }
}

fn filled(length: usize, result: Result<(), FillError>) -> (usize, Result<(), TakeError>) {
    match result {
        Ok(()) => (length, Ok(())),
        Err(error) => (error.filled(), Err(error.cause())),
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

/// A buffer for a batch.
fn blank<S: Source>() -> Vec<S::Id> {
    vec![S::BLANK; BATCH]
}

/// Takes what is due and writes a line for each id. Meanwhile calls `look` at each `interval`.
pub(crate) fn print<S: Source>(
    source: S,
    run: &Run,
    lines: &impl Lines<S::Id>,
    progress: Option<Progress>,
    interval: Duration,
    look: impl FnMut(),
) -> Result<(), Failure> {
    if run.load().is_one_batch() {
        return print_one_batch(source, run, lines, progress);
    }
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
            let (mut lines, mut batch) = (lines.clone(), blank::<S>());
            move |count: usize| take(source, &mut batch[..count], &mut lines, &empty, &full)
        };
        let takers = (0..run.load().threads).map(|_| taker()).collect();
        drop((full_in, empty_out));
        let done = run.run_takers(takers, interval, look);
        let written = joined(writer);
        // If writing failed, that is why the takers stopped: report it first.
        written.map_err(Failure::Output).and(done)
    })
}

/// Takes one batch and writes it, on this thread. It takes no time that anybody could look at.
fn print_one_batch<S: Source>(
    source: S,
    run: &Run,
    lines: &impl Lines<S::Id>,
    mut progress: Option<Progress>,
) -> Result<(), Failure> {
    let mut stdout = unbuffered_stdout().map_err(Failure::Output)?;
    let mut lines = lines.clone();
    let mut batch = blank::<S>();
    let mut buffer = Buffer { text: Vec::new(), lines: 0 };
    let done = run.take_share(0, |count| {
        let result = fill(source, &mut batch[..count], &mut lines, &mut buffer);
        write_buffer(run, &mut stdout, &buffer, progress.as_mut()).map_err(Failure::Output)?;
        result?;
        Ok(Some(buffer.lines))
    });
    if let Some(progress) = progress.filter(|_| done.is_ok()) {
        progress.finish();
    }
    done
}

/// Takes what is due and drops it. Meanwhile calls `look` at each `interval`.
pub(crate) fn drop_all<S: Source>(
    source: S,
    run: &Run,
    interval: Duration,
    look: impl FnMut(),
) -> Result<(), Failure> {
    let taker = || {
        let mut batch = blank::<S>();
        move |count: usize| {
            let (filled, result) = source.fill(&mut batch[..count]);
            run.advance(filled);
            result?;
            Ok(Some(filled))
        }
    };
    run.run_takers((0..run.load().threads).map(|_| taker()).collect(), interval, look)
}

/// Fills a buffer and passes it on. Returns how many lines it has, or `None` if the writer has
/// ended.
fn take<S: Source>(
    source: S,
    batch: &mut [S::Id],
    lines: &mut impl Lines<S::Id>,
    empty: &Receiver<Buffer>,
    full: &Sender<Buffer>,
) -> Result<Option<usize>, Failure> {
    let Ok(mut buffer) = empty.recv() else { return Ok(None) };
    let result = fill(source, batch, lines, &mut buffer);
    let filled = buffer.lines;
    if full.send(buffer).is_err() {
        return Ok(None);
    }
    result?;
    Ok(Some(filled))
}

/// Takes a batch, and puts a line for each id into `buffer`, in place of what it held.
fn fill<S: Source>(
    source: S,
    batch: &mut [S::Id],
    lines: &mut impl Lines<S::Id>,
    buffer: &mut Buffer,
) -> Result<(), TakeError> {
    let (filled, result) = source.fill(batch);
    buffer.text.clear();
    buffer.lines = filled;
    lines.append(&batch[..filled], &mut buffer.text);
    result
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
        write_buffer(run, &mut stdout, &buffer, progress.as_mut())?;
        // The other end is gone when everything has been taken.
        let _ = empty.send(buffer);
    }
    if let Some(progress) = progress {
        progress.finish();
    }
    Ok(())
}

/// Writes the lines of `buffer`, and counts those that were written.
fn write_buffer(
    run: &Run,
    stdout: &mut impl Write,
    buffer: &Buffer,
    progress: Option<&mut Progress>,
) -> io::Result<()> {
    let (written, result) = write_text(stdout, &buffer.text);
    let lines = match &result {
        Ok(()) => buffer.lines,
        Err(_) => buffer.text[..written].split(|&byte| byte == b'\n').count() - 1,
    };
    run.advance(lines);
    result?;
    if let Some(progress) = progress {
        progress.set(run.done());
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
