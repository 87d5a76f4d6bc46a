//! What happens to generators when the process forks.
//!
//! ```text
//!   parent  ── takes ──┐ prepare: list locked  ┌ parent: list unlocked ── takes ──▶ as before
//!                      └───────── fork ────────┤
//!   child                                      └ child: rings closed, list unlocked ──▶ `Forked`
//! ```
//!
//! docs/design/events.md, "A fork", tells what a fork does to a generator, and what the child can
//! rely on.
//!
//! The list of generators is locked across the fork, because otherwise the child could find it half
//! written, or locked for ever. The child's handler waits for nothing, allocates nothing and cannot
//! panic. The lock of the list is taken before any lock of the allocator: an allocator installs its
//! handlers before these, and the `prepare` handler that was installed last runs first.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;

use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering, Weak, lock};

/// State of the parent that a child process must not use.
pub trait Abandon: Send + Sync {
    /// Called in the child, which has one thread. It neither waits nor allocates, nor can panic.
    fn abandon(&self);
}

type List = Vec<Weak<dyn Abandon>>;

/// The generators of this process and of the processes that it was forked from. A generator of
/// segments has an entry for each tag.
static GENERATORS: Mutex<List> = Mutex::new(Vec::new());

/// Whether the handlers are installed.
static INSTALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The lock of the list while this thread forks. It has no destructor, so it is accessible at
    /// any time, even while the thread ends.
    static LOCKED: Cell<Option<ManuallyDrop<MutexGuard<'static, List>>>> =
        const { Cell::new(None) };
}

/// Abandons `generator` in every child process from now on.
pub fn watch<T: Abandon + 'static>(generator: &Arc<T>) -> io::Result<()> {
    install_handlers()?;
    let generator: Weak<T> = Arc::downgrade(generator);
    let mut generators = lock(&GENERATORS);
    // Only when the list would grow, as it may be long.
    if generators.len() == generators.capacity() {
        generators.retain(|known| known.strong_count() > 0);
    }
    generators.push(generator);
    Ok(())
}

/// Undoes `watch`.
pub fn unwatch<T: Abandon>(generator: &Arc<T>) {
    lock(&GENERATORS).retain(|known| !std::ptr::addr_eq(known.as_ptr(), Arc::as_ptr(generator)));
}

/// Removes from the list everything that has been dropped, whose memory it keeps.
pub fn forget_dropped() {
    lock(&GENERATORS).retain(|known| known.strong_count() > 0);
}

/// When dropped, removes from the list everything that has been dropped before.
#[derive(Debug)]
pub struct ForgetDropped;

impl Drop for ForgetDropped {
    fn drop(&mut self) {
        forget_dropped();
    }
}

/// Installs the handlers, which every later fork runs.
///
/// Several threads may install them at the same time. That does no harm: of several identical
/// handlers, the first one to run does the work. Waiting for each other would be worse, because a
/// child that is forked meanwhile would wait for ever.
fn install_handlers() -> io::Result<()> {
    // ORDERING: pairs with the store below: a thread that sees it forks with the handlers.
    if INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: all three are functions of the required type that live as long as this code. They do
    // not unwind. The one that runs in the child touches only memory, locks that the forking thread
    // holds, and locks that it only tries to take.
    match unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) } {
        0 => {
            // ORDERING: Release, see above.
            INSTALLED.store(true, Ordering::Release);
            Ok(())
        }
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Runs in the forking thread, before the fork.
extern "C" fn prepare() {
    LOCKED.with(|locked| {
        let guard = locked.take().unwrap_or_else(|| ManuallyDrop::new(lock(&GENERATORS)));
        locked.set(Some(guard));
    });
}

/// Runs in the forking thread, after the fork.
extern "C" fn in_parent() {
    drop(take_lock());
}

/// Runs in the child's only thread, before the fork returns there.
extern "C" fn in_child() {
    if let Some(generators) = take_lock() {
        // Nobody can take from a generator that is dropped already. And none is dropped here: its
        // other owners cannot release it meanwhile, because there is no other thread.
        generators.iter().filter_map(Weak::upgrade).for_each(|generator| generator.abandon());
    }
}

/// The lock that `prepare` took.
fn take_lock() -> Option<MutexGuard<'static, List>> {
    LOCKED.with(Cell::take).map(ManuallyDrop::into_inner)
}
