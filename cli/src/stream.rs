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
use std::panic;
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};
use uidring::{Uid, UidGenerator};

use crate::lines::Lines;
use crate::load::{BATCH, Run};
use crate::output::Failure;
use crate::progress::Progress;

/// One is written while each taker fills one; another keeps all threads busy where they are not in
/// step. A batch is some 80 KiB of text, which stay in the cache.
const SPARE_BUFFERS: usize = 2;

/// Lines, and how many.
struct Buffer {
    text: Vec<u8>,
    lines: usize,
}

/// Takes what is due and writes a line for each UID. Meanwhile calls `look` at each `interval`.
pub(crate) fn print(
    uids: &UidGenerator,
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
        let writer = scope.spawn(move || write(&full_out, &empty_in, progress));
        let taker = || {
            let (full, empty) = (full_in.clone(), empty_out.clone());
            let (mut lines, mut batch) = (lines.clone(), vec![Uid::MIN; BATCH]);
            move |count: usize| take(uids, &mut batch[..count], &mut lines, &empty, &full)
        };
        let takers = (0..run.load().threads).map(|_| taker()).collect();
        drop((full_in, empty_out));
        let done = run.drive(takers, interval, look);
        let written = writer.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        // If writing failed, that is why the takers stopped: report it first.
        written.map_err(Failure::Output).and(done)
    })
}

/// Takes what is due and drops it. Meanwhile calls `look` at each `interval`.
pub(crate) fn drop_all(
    uids: &UidGenerator,
    run: &Run,
    interval: Duration,
    look: impl FnMut(),
) -> Result<(), Failure> {
    let taker = || {
        let mut batch = vec![Uid::MIN; BATCH];
        move |count: usize| match uids.fill(&mut batch[..count]) {
            Ok(()) => Ok(true),
            Err(error) => Err(error.cause().into()),
        }
    };
    run.drive((0..run.load().threads).map(|_| taker()).collect(), interval, look)
}

/// Fills a buffer and passes it on. Returns false if the writer has ended.
fn take(
    uids: &UidGenerator,
    batch: &mut [Uid],
    lines: &mut Lines,
    empty: &Receiver<Buffer>,
    full: &Sender<Buffer>,
) -> Result<bool, Failure> {
    let Ok(mut buffer) = empty.recv() else { return Ok(false) };
    let filled = uids.fill(batch);
    let good = match &filled {
        Ok(()) => batch.len(),
        Err(error) => error.filled(),
    };
    buffer.text.clear();
    buffer.lines = good;
    lines.append(&batch[..good], &mut buffer.text);
    if full.send(buffer).is_err() {
        return Ok(false);
    }
    filled.map_err(|error| error.cause())?;
    Ok(true)
}

/// Writes the full buffers, and sends them back empty.
fn write(
    full: &Receiver<Buffer>,
    empty: &Sender<Buffer>,
    mut progress: Option<Progress>,
) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for buffer in full {
        stdout.write_all(&buffer.text)?;
        if let Some(progress) = &mut progress {
            progress.advance(buffer.lines as u64);
        }
        // The other end is gone when everything has been taken.
        let _ = empty.send(buffer);
    }
    stdout.flush()?;
    if let Some(progress) = progress {
        progress.finish();
    }
    Ok(())
}
