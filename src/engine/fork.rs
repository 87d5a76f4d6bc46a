//! What becomes of generators when the process forks.
//!
//! ```text
//!   parent   ── takes ──┐ prepare: the list is locked   ┌ parent: unlocked ── takes ──▶ as before
//!                       └──────────── fork ─────────────┤
//!   child                                               └ child: every generator marked, then unlocked ──▶ `Forked`
//! ```
//!
//! The child has a copy of each ring, and would repeat the parent's UIDs from it. Takes do not ask
//! for it: `fork` itself runs the handlers below, and the child's mark is one that takers fall over
//! anyway, as it closes the ring.
//!
//! The child has the forking thread alone, whatever the others were doing. So the list is locked
//! across the fork, lest the child find it half written or locked for ever, and the child's handler
//! waits for nothing, allocates nothing and cannot panic. The lock is taken before any of the
//! allocator's: an allocator's own handlers are installed before these, and the last to be
//! installed is the first to prepare.
//!
//! A child that is made without these handlers, by the bare system call or by `_Fork`, is not
//! noticed. One made by `vfork` or `posix_spawn` runs another program at once.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;

use crate::engine::Engine;
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering, Weak, lock};

type List = Vec<Weak<Engine>>;

/// The generators of this process, and those of the ones that it was forked from.
static GENERATORS: Mutex<List> = Mutex::new(Vec::new());

/// Whether `fork` runs the handlers.
static INSTALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The lock of the list while this thread forks. It has no destructor, so that it can be had at
    /// any time, even while the thread ends.
    static LOCKED: Cell<Option<ManuallyDrop<MutexGuard<'static, List>>>> = const { Cell::new(None) };
}

/// From now on `generator` is marked in every child process.
pub fn watch(generator: &Arc<Engine>) -> io::Result<()> {
    install_handlers()?;
    let mut generators = lock(&GENERATORS);
    generators.retain(|known| known.strong_count() > 0);
    generators.push(Arc::downgrade(generator));
    Ok(())
}

/// The end of `watch`.
pub fn unwatch(generator: &Arc<Engine>) {
    lock(&GENERATORS).retain(|known| known.as_ptr() != Arc::as_ptr(generator));
}

/// Has the handlers run by each fork to come.
///
/// Threads that come at once may each install them, which does no harm: the first of several to run
/// does the work. To wait for one another would: a child that is forked meanwhile would wait for
/// ever.
fn install_handlers() -> io::Result<()> {
    // ORDERING: pairs with the store below: who finds the mark set forks with the handlers.
    if INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: the three are functions of the type asked for, which stay as long as this code. They
    // do not unwind. The one that runs in the child touches only memory, and locks that the forking
    // thread holds or that it does not wait for.
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
        // Nobody can take from one that is found dropped. And none is dropped here: whoever else
        // holds it does not let go of it meanwhile, as there is no other thread.
        generators.iter().filter_map(Weak::upgrade).for_each(|generator| generator.abandon());
    }
}

/// What `prepare` locked.
fn take_lock() -> Option<MutexGuard<'static, List>> {
    LOCKED.with(Cell::take).map(ManuallyDrop::into_inner)
}
