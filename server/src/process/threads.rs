//! Threads that do not die unnoticed: one that fails or panics is logged, counted, and run again.
//! One that fails again and again ends the program.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::{self, Runtime};

use crate::process::end::{EndSender, fail};

/// How often in a row a thread may fail.
const TRIES: u32 = 8;
/// A thread that has run for so long does not fail in a row.
const LONG: Duration = Duration::from_secs(60);
/// Before the first of these tries. It doubles with each.
const PAUSE: Duration = Duration::from_millis(10);

/// A runtime for one thread, which may have so many others for blocking calls.
pub(crate) fn one_threaded(blocking: usize) -> Result<Runtime, String> {
    let mut builder = runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(blocking).build();
    runtime.map_err(|error| format!("cannot start: {error}"))
}

/// The panics of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panics {
    pub(crate) count: u64,
    pub(crate) last: Option<SystemTime>,
}

static PANICS: Mutex<Panics> = Mutex::new(Panics { count: 0, last: None });

fn lock() -> MutexGuard<'static, Panics> {
    // Nothing panics while it is locked.
    PANICS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn panics() -> Panics {
    *lock()
}

/// From now on panics are counted, and are events in place of lines on stderr.
pub(crate) fn note_panics() {
    panic::set_hook(Box::new(note));
}

fn note(info: &PanicHookInfo<'_>) {
    {
        let mut panics = lock();
        panics.count += 1;
        panics.last = Some(SystemTime::now());
    }
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let thread = thread::current();
    let (thread, text) = (thread.name().unwrap_or_default(), text.unwrap_or_default());
    tracing::error!(thread, place, text, "a thread panicked");
}

/// A call panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

/// The result of `call`, also where it panics. What it leaves behind is not used any more, or is
/// never half changed.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| Panicked)
}

/// Runs `body` on a thread of its own until it succeeds.
pub(crate) fn begin(
    name: impl Into<String>,
    end: &EndSender,
    mut body: impl FnMut() -> Result<(), String> + Send + 'static,
) -> Result<JoinHandle<()>, String> {
    let (name, end) = (name.into(), end.clone());
    let thread = thread::Builder::new().name(name.clone());
    let run = move || {
        let mut tries = 0;
        loop {
            let start = Instant::now();
            let problem = match caught(&mut body) {
                Ok(Ok(())) => return,
                Ok(Err(problem)) => problem,
                Err(Panicked) => "it panicked".to_owned(),
            };
            tries = if start.elapsed() < LONG { tries + 1 } else { 1 };
            if tries == TRIES {
                let problem = format!("the thread {name} fails again and again: {problem}");
                tracing::error!(problem, "the service ends");
                fail(&end, problem);
                return;
            }
            tracing::error!(thread = name, problem, "a thread failed, and starts again");
            thread::sleep(PAUSE * 2_u32.pow(tries));
        }
    };
    thread.spawn(run).map_err(|error| format!("cannot start a thread: {error}"))
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::process::end::End;

    #[test]
    fn what_panics_or_fails_runs_again() {
        let (end, ended) = watch::channel(None);
        let mut runs = 0;
        let thread = begin("tried", &end, move || {
            runs += 1;
            match runs {
                1 => panic!("for a test"),
                2 => Err("it failed".to_owned()),
                _ => Ok(()),
            }
        });
        thread.unwrap().join().unwrap();
        assert!(ended.borrow().is_none(), "{ended:?}");
    }

    #[test]
    fn what_always_panics_ends_the_program() {
        let (end, ended) = watch::channel(None);
        let thread = begin("doomed", &end, || panic!("for a test"));
        thread.unwrap().join().unwrap();
        let end = ended.borrow().clone();
        let Some(End::Failed(problem)) = end else { panic!("{end:?}") };
        assert_eq!(problem, "the thread doomed fails again and again: it panicked");
    }
}
