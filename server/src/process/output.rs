//! What the service writes to stdout and stderr.
//!
//! A disk may be full, a pipe may be closed, and whoever reads it may have been stopped. So lines
//! wait in a queue for a thread that may be held up, and nobody else waits: a line that does not
//! fit, or cannot be written, is lost and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use crate::process::end::EndSender;
use crate::process::threads;

/// The most lines that wait.
const LINES: usize = 4096;
/// How long the end of the program waits for them.
const LAST_LINES: Duration = Duration::from_secs(1);

enum Line {
    Out(Vec<u8>),
    Err(Vec<u8>),
    /// Everything before has been written.
    Flush(SyncSender<()>),
}

/// Like stdout and stderr, there is one for the process.
static QUEUE: OnceLock<SyncSender<Line>> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);
static LAST_LOST: Mutex<Option<SystemTime>> = Mutex::new(None);

/// Begins to write, on a thread of its own.
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
        let lost = if written.is_err() { lose() } else { lost() };
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
        lose();
    }
}

/// Counts a line that is lost, and returns how many are.
fn lose() -> u64 {
    *LAST_LOST.lock().unwrap_or_else(PoisonError::into_inner) = Some(SystemTime::now());
    // ORDERING: a statistic.
    LOST.fetch_add(1, Ordering::Relaxed) + 1
}

/// How many lines have been lost.
pub(crate) fn lost() -> u64 {
    // ORDERING: a statistic.
    LOST.load(Ordering::Relaxed)
}

/// When the last of them was lost.
pub(crate) fn last_lost() -> Option<SystemTime> {
    *LAST_LOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes `text` to stdout, some time.
pub(crate) fn say(text: String) {
    send(Line::Out(text.into_bytes()));
}

/// Writes the reason of the program's end to stderr, after all lines before. What does not come
/// out soon is not waited for.
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

/// Takes lines of the log, one a call.
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
