//! Takes of virtual threads, which wait in Java: a thread that waits here would keep its carrier.
//!
//! ```text
//! virtual thread ──► begin ──► 0: parks in Java          filler, loader ──► waker ──► [ woken ]
//!        ▲                                                                              │
//!        └── unpark ◄── `io.uidring.Waits`, in a thread of its own ◄── waitForWoken ◄───┘
//! ```
//!
//! Each wait has a number of Java's, by which its waker names it.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray};
use jni::sys::{jint, jlong};
use uidring_bindings::{Error, Source, TagNumbers, Uids};

use crate::errors::{Failure, call};
use crate::handles::{into_handle, value};
use crate::methods::Method;
use crate::takes::AT_ONCE;

pub(crate) fn methods() -> [Method; 8] {
    [
        Method("tryTakeUid", "(J)J", try_take::<Uids> as *mut c_void),
        Method("tryTakeNumber", "(J)J", try_take::<TagNumbers> as *mut c_void),
        Method("tryFillUids", "(J[JI)I", try_fill::<Uids> as *mut c_void),
        Method("tryFillNumbers", "(J[JI)I", try_fill::<TagNumbers> as *mut c_void),
        Method("beginUid", "(JJ)J", begin::<Uids> as *mut c_void),
        Method("beginNumber", "(JJ)J", begin::<TagNumbers> as *mut c_void),
        Method("poll", "(J)J", poll as *mut c_void),
        Method("waitForWoken", "(J)J", wait_for_woken as *mut c_void),
    ]
}

type Taking = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>>;

/// A take that waits.
struct Waiting {
    taking: Mutex<Taking>,
    waker: Waker,
}

impl Waiting {
    /// The number; 0 while there is none.
    fn poll(&self) -> Result<jlong, Failure> {
        // A panic of a taker leaves it as it was.
        let mut taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        match taking.as_mut().poll(&mut Context::from_waker(&self.waker)) {
            Poll::Ready(taken) => Ok(taken?.cast_signed()),
            Poll::Pending => Ok(0),
        }
    }
}

/// Names a wait to the thread that wakes Java's.
struct WaitWaker(jlong);

impl Wake for WaitWaker {
    fn wake(self: Arc<Self>) {
        let woken = &WOKEN;
        woken.lock().push_back(self.0);
        woken.changed.notify_one();
    }
}

/// The waits that have something to look for.
struct Woken {
    waits: Mutex<VecDeque<jlong>>,
    changed: Condvar,
}

static WOKEN: Woken = Woken { waits: Mutex::new(VecDeque::new()), changed: Condvar::new() };

impl Woken {
    fn lock(&self) -> MutexGuard<'_, VecDeque<jlong>> {
        // Nothing panics while it is locked.
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number if there is one now, else 0.
extern "system" fn try_take<S: Source>(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |_| Ok(source.try_take()?.unwrap_or_default().cast_signed()))
}

/// Fills an array from an element on with the numbers that there are now, at most [`AT_ONCE`].
/// Returns how many these are.
extern "system" fn try_fill<'local, S: Source>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    array: JLongArray<'local>,
    from: jint,
) -> jint {
    // SAFETY: as in `try_take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |env| {
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let most = array.len(env)?.saturating_sub(start).min(AT_ONCE);
        let taken = std::iter::from_fn(|| source.try_take().ok().flatten()).take(most);
        let numbers: Vec<jlong> = taken.map(u64::cast_signed).collect();
        array.set_region(env, from, &numbers)?;
        Ok(jint::try_from(numbers.len()).unwrap_or(jint::MAX))
    })
}

/// Takes a number in turn, for the wait of this number. Returns it, or the handle of the wait with
/// a minus before it.
extern "system" fn begin<S: Source>(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
    name: jlong,
) -> jlong {
    // SAFETY: as in `try_take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |_| {
        let source = source.clone();
        let taking: Taking = Box::pin(async move { source.take_async().await });
        let waiting =
            Waiting { taking: Mutex::new(taking), waker: Waker::from(Arc::new(WaitWaker(name))) };
        match waiting.poll()? {
            0 => Ok(-into_handle(waiting)),
            number => Ok(number),
        }
    })
}

/// The number of a wait; 0 while there is none.
extern "system" fn poll(mut env: EnvUnowned<'_>, _: JClass<'_>, wait: jlong) -> jlong {
    // SAFETY: the thread that waits frees the handle afterwards.
    let waiting = unsafe { value::<Waiting>(wait) };
    call(&mut env, |_| waiting.poll())
}

/// The number of a wait that has something to look for. Waits for one at most for so many
/// milliseconds, and then returns 0.
extern "system" fn wait_for_woken(mut env: EnvUnowned<'_>, _: JClass<'_>, most: jlong) -> jlong {
    call(&mut env, |_| {
        let most = Duration::from_millis(u64::try_from(most).unwrap_or_default());
        let waits = WOKEN.changed.wait_timeout_while(WOKEN.lock(), most, |waits| waits.is_empty());
        let mut waits = waits.unwrap_or_else(PoisonError::into_inner).0;
        Ok(waits.pop_front().unwrap_or_default())
    })
}
