//! Shuttle's atomics, locks and threads, and a simulated time.
//!
//! Shuttle has no time, so the time is simulated here. It stands still until a scenario lets some
//! pass, with [`pass`]. So no timeout ends by itself: where no time passes, a lost wake-up is a
//! deadlock, which shuttle reports. Where time passes, each sleep whose timeout lies in that time
//! ends, when shuttle lets the sleeper run: at once, or after anything that other threads do
//! meanwhile. Now and then a parked thread wakes without a reason, as one of std may.
//!
//! Each execution begins at time 0. What is in `std::sync` here orders nothing that the library
//! relies on: shuttle runs one thread at a time, and switches to another only in its own functions.

pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};
pub(crate) use shuttle::sync::{Mutex, MutexGuard, RwLock};
pub(crate) use shuttle::thread::ThreadId;

use std::collections::BTreeMap;
use std::sync::{Arc, LockResult, PoisonError};
use std::time::Duration;

use shuttle::rand::{Rng, thread_rng};

use super::park_token::Token;

pub(crate) mod thread {
    //! Shuttle's threads, with another way to park: those of shuttle wake without a reason again
    //! and again for as long as another thread runs, so that hardly a lost wake-up shows.

    pub(crate) use shuttle::thread::{Builder, JoinHandle};

    use super::Token;

    shuttle::thread_local! {
        /// What this thread waits for while it is parked.
        pub(super) static TOKEN: Token = Token::default();
    }

    #[derive(Clone, Debug)]
    pub(crate) struct Thread {
        token: Token,
    }

    impl Thread {
        pub(crate) fn unpark(&self) {
            self.token.unpark();
        }
    }

    pub(crate) fn current() -> Thread {
        Thread { token: TOKEN.with(Token::clone) }
    }
}

/// The calling thread.
pub(crate) fn thread_id() -> ThreadId {
    shuttle::thread::current().id()
}

/// The time since the execution began, and who sleeps until when.
#[derive(Default)]
struct Time {
    now: Duration,
    /// By the end of the timeout, then in the order in which they went to sleep.
    sleepers: BTreeMap<(Duration, u64), Sleeper>,
    count: u64,
}

/// A thread that sleeps, and how it is woken.
#[derive(Clone)]
enum Sleeper {
    Parked(Token),
    /// Wakes the others that wait there as well, for which each of them is prepared.
    Waiting(Arc<shuttle::sync::Condvar>),
}

shuttle::lazy_static! {
    // Of std, because shuttle need not explore who looks at the time first.
    static ref TIME: std::sync::Mutex<Time> = std::sync::Mutex::default();
}

fn with_time<T>(use_it: impl FnOnce(&mut Time) -> T) -> T {
    use_it(&mut TIME.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The time since the execution began.
pub(crate) fn time() -> Duration {
    with_time(|time| time.now)
}

/// Lets time pass, and wakes the sleepers whose timeouts have ended. One that has not been able to
/// fall asleep meanwhile is woken by the next call.
pub(crate) fn pass(length: Duration) {
    let due: Vec<Sleeper> = with_time(|time| {
        time.now = time.now.saturating_add(length);
        time.sleepers.range(..=(time.now, u64::MAX)).map(|(_, sleeper)| sleeper.clone()).collect()
    });
    for sleeper in due {
        sleeper.wake();
    }
}

/// How long it takes until the next timeout ends. `None` if nobody sleeps with one.
pub(crate) fn next_timeout() -> Option<Duration> {
    with_time(|time| {
        let (end, _) = *time.sleepers.first_key_value()?.0;
        Some(end.saturating_sub(time.now))
    })
}

impl Sleeper {
    fn wake(&self) {
        match self {
            Sleeper::Parked(token) => token.unpark(),
            Sleeper::Waiting(changed) => changed.notify_all(),
        }
    }

    /// Runs `sleep`, which `self` ends when this timeout does.
    fn until_timeout<T>(self, timeout: Duration, sleep: impl FnOnce() -> T) -> T {
        let key = with_time(|time| {
            time.count += 1;
            let key = (time.now.saturating_add(timeout), time.count);
            time.sleepers.insert(key, self);
            key
        });
        let slept = sleep();
        with_time(|time| time.sleepers.remove(&key));
        slept
    }
}

/// Waits for `token`, at most for `timeout`.
fn park(token: &Token, timeout: Duration) {
    if timeout.is_zero() {
        shuttle::thread::yield_now();
    } else {
        Sleeper::Parked(token.clone()).until_timeout(timeout, || token.take());
    }
}

pub(crate) fn park_timeout(timeout: Duration) {
    let is_without_reason = thread_rng().gen_ratio(1, 16);
    let timeout = if is_without_reason { Duration::ZERO } else { timeout };
    park(&thread::TOKEN.with(Token::clone), timeout);
}

pub(crate) fn sleep(length: Duration) {
    park(&Token::default(), length);
}

/// Replaces crossbeam's `Parker`, whose atomics shuttle cannot see.
#[derive(Debug, Default)]
pub(crate) struct Parker(Token);

pub(crate) type Unparker = Token;

impl Parker {
    pub(crate) fn new() -> Parker {
        Parker::default()
    }

    pub(crate) fn unparker(&self) -> &Unparker {
        &self.0
    }

    pub(crate) fn park_timeout(&self, timeout: Duration) {
        park(&self.0, timeout);
    }
}

/// Shuttle's, with timeouts.
#[derive(Debug, Default)]
pub(crate) struct Condvar(Arc<shuttle::sync::Condvar>);

impl Condvar {
    pub(crate) fn new() -> Condvar {
        Condvar::default()
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    /// With nothing behind the guard: nobody asks whether the timeout has ended.
    pub(crate) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, ())> {
        let sleeper = Sleeper::Waiting(Arc::clone(&self.0));
        let waited = sleeper.until_timeout(timeout, || self.0.wait(guard));
        waited.map(|guard| (guard, ())).map_err(|guard| PoisonError::new((guard.into_inner(), ())))
    }
}
