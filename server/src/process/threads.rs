//! Supervised threads: a thread that fails or panics is logged, counted and restarted. One that
//! fails again and again ends the program.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::{self, Runtime};

use crate::process::end::{EndSender, fail};

/// The most failures in a row.
const TRIES: u32 = 8;
/// A run of at least this length breaks the row of failures.
const LONG: Duration = Duration::from_secs(60);
/// The unit of the pause before a restart. The pause doubles with each failure.
const PAUSE: Duration = Duration::from_millis(10);

/// A single-threaded runtime with at most this many extra threads for blocking calls.
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
    // No code panics while it holds the lock.
    PANICS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn panics() -> Panics {
    *lock()
}

/// Counts panics from now on, and logs them instead of printing them.
pub(crate) fn install_panic_hook() {
    panic::set_hook(Box::new(record));
}

fn record(info: &PanicHookInfo<'_>) {
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

/// The result of `call`, or `Panicked`. `AssertUnwindSafe` is correct because callers either drop
/// the state of the call or never leave it half changed.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| Panicked)
}

/// Starts a thread that runs `body` until it succeeds.
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
    use crate::process::end::EndReason;

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
        let Some(EndReason::Failed(problem)) = end else { panic!("{end:?}") };
        assert_eq!(problem, "the thread doomed fails again and again: it panicked");
    }
}
