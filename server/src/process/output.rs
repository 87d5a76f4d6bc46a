//! Output to stdout and stderr.
//!
//! Writing may block: a disk may be full, a pipe closed, its reader stopped. So lines go through a
//! queue to one thread that may block, and no other thread waits. A line that does not fit the
//! queue or cannot be written is lost and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use crate::process::end::EndSender;
use crate::process::threads;

/// The most lines in the queue.
const LINES: usize = 4096;
/// How long the end of the program waits for the queue.
const LAST_LINES: Duration = Duration::from_secs(1);

enum Line {
    Out(Vec<u8>),
    Err(Vec<u8>),
    /// A request to confirm that all earlier lines are written.
    Flush(SyncSender<()>),
}

/// One queue for the process, because there is one stdout and one stderr.
static QUEUE: OnceLock<SyncSender<Line>> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);
static LAST_LOST: Mutex<Option<SystemTime>> = Mutex::new(None);

/// Starts the thread that writes.
pub(crate) fn begin(end: &EndSender) -> Result<(), String> {
    let (queue, lines) = mpsc::sync_channel(LINES);
    let _ = QUEUE.set(queue);
    threads::begin("uidring-log", end, move || {
        write_lines(&lines);
        Ok(())
    })
    .map(drop)
}

fn write_lines(lines: &Receiver<Line>) {
    let mut told = lost();
    while let Ok(line) = lines.recv() {
        let written = match line {
            Line::Out(line) => write(&mut io::stdout(), &line),
            Line::Err(line) => write(&mut io::stderr(), &line),
            Line::Flush(done) => {
                let _ = done.send(());
                continue;
            }
        };
        let lost = if written.is_err() { count_lost() } else { lost() };
        if written.is_ok() && lost > told {
            tracing::warn!(lines = lost - told, "lines of the log were lost");
            told = lost;
        }
    }
}

fn write(stream: &mut impl Write, line: &[u8]) -> io::Result<()> {
    stream.write_all(line)?;
    stream.flush()
}

fn send(line: Line) {
    if let Some(queue) = QUEUE.get()
        && queue.try_send(line).is_err()
    {
        count_lost();
    }
}

/// Counts a lost line, and returns the number of lost lines.
fn count_lost() -> u64 {
    *LAST_LOST.lock().unwrap_or_else(PoisonError::into_inner) = Some(SystemTime::now());
    // ORDERING: a statistic.
    LOST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The number of lost lines.
pub(crate) fn lost() -> u64 {
    // ORDERING: a statistic.
    LOST.load(Ordering::Relaxed)
}

/// When a line was last lost.
pub(crate) fn last_lost() -> Option<SystemTime> {
    *LAST_LOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Queues `text` for stdout.
pub(crate) fn print(text: String) {
    send(Line::Out(text.into_bytes()));
}

/// Writes the reason of the program's end to stderr, after all earlier lines. Waits for them only
/// for a short time.
pub(crate) fn end(problem: Option<&str>) {
    let text = problem.map(|problem| format!("uidring-server: {problem}\n"));
    let Some(queue) = QUEUE.get() else {
        let _ = io::stderr().write_all(text.unwrap_or_default().as_bytes());
        return;
    };
    if let Some(text) = text {
        send(Line::Err(text.into_bytes()));
    }
    let (done, is_done) = mpsc::sync_channel(1);
    if queue.try_send(Line::Flush(done)).is_ok() {
        let _ = is_done.recv_timeout(LAST_LINES);
    }
}

/// The log's writer. Each call of `write` is one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        send(Line::Err(line.to_vec()));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
