//! Keeps the signal SIGPIPE from a program whose server goes away.
//!
//! The signal ends a program in C that does not say otherwise. Rust's own programs ignore it, and
//! not all that the library is made of writes to its sockets without it. Whether the whole program
//! ignores it is the program's to decide, so it is blocked in single threads: in that of a call
//! while it asks a store, and in all that the library starts, as a thread begins with the mask of
//! the one that starts it.

use std::mem::MaybeUninit;
use std::ptr;

use libc::{SIG_BLOCK, SIG_SETMASK, SIGPIPE, sigset_t};

/// Makes a call that may ask a store or start threads.
pub(crate) fn without_sigpipe<T>(call: impl FnOnce() -> T) -> T {
    let _blocked = Blocked::begin();
    call()
}

/// While it lives, its thread does not get the signal.
struct Blocked {
    /// What the thread blocked before.
    before: sigset_t,
}

impl Blocked {
    fn begin() -> Option<Blocked> {
        let (set, mut before) = (sigpipe(), MaybeUninit::uninit());
        // SAFETY: the set is initialised, and `before` can be written to.
        let result =
            unsafe { libc::pthread_sigmask(SIG_BLOCK, &raw const set, before.as_mut_ptr()) };
        // It fails for nothing but wrong arguments.
        // SAFETY: the call has written it.
        (result == 0).then(|| Blocked { before: unsafe { before.assume_init() } })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let (set, before) = (sigpipe(), &raw const self.before);
        // SAFETY: the sets are initialised, and what may be null is.
        unsafe {
            // Where the program has blocked it before, one that waits may be the program's.
            if libc::sigismember(before, SIGPIPE) == 0 {
                // One that waits now came from this call.
                take_waiting(&set);
            }
            libc::pthread_sigmask(SIG_SETMASK, before, ptr::null_mut());
        }
    }
}

/// Takes a signal of the set if one waits for this thread.
///
/// # Safety
///
/// The set is initialised.
#[cfg(not(target_vendor = "apple"))]
unsafe fn take_waiting(set: &sigset_t) {
    let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set is initialised, and what may be null is.
    unsafe { libc::sigtimedwait(set, ptr::null_mut(), &raw const none) };
}

/// The same where there is no `sigtimedwait`. A signal that was seen to wait is there to be taken:
/// a write sends it to its own thread, so no other thread takes it meanwhile.
#[cfg(target_vendor = "apple")]
unsafe fn take_waiting(set: &sigset_t) {
    let (mut waiting, mut signal) = (MaybeUninit::uninit(), 0);
    // SAFETY: the set is initialised, and the others can be written to.
    unsafe {
        if libc::sigpending(waiting.as_mut_ptr()) == 0
            && libc::sigismember(waiting.as_ptr(), SIGPIPE) == 1
        {
            libc::sigwait(set, &raw mut signal);
        }
    }
}

/// The set of this signal alone.
fn sigpipe() -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initialises the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), SIGPIPE);
        set.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked() -> bool {
        let mut mask = MaybeUninit::uninit();
        // SAFETY: `mask` can be written to, and is.
        unsafe {
            libc::pthread_sigmask(SIG_BLOCK, ptr::null(), mask.as_mut_ptr());
            libc::sigismember(mask.as_ptr(), SIGPIPE) == 1
        }
    }

    fn is_waiting() -> bool {
        let mut set = MaybeUninit::uninit();
        // SAFETY: `set` can be written to, and is.
        unsafe {
            libc::sigpending(set.as_mut_ptr());
            libc::sigismember(set.as_ptr(), SIGPIPE) == 1
        }
    }

    #[test]
    fn a_write_to_a_server_that_is_gone_ends_no_program() {
        // SAFETY: neither has arguments that are pointers. A program of tests ignores the signal.
        unsafe { libc::signal(SIGPIPE, libc::SIG_DFL) };
        let raise = || {
            // SAFETY: as above. It comes to this thread.
            unsafe { libc::raise(SIGPIPE) };
            assert!(is_blocked() && is_waiting());
            std::thread::spawn(is_blocked).join()
        };
        assert_eq!(without_sigpipe(raise).ok(), Some(true));
        assert!(!is_blocked() && !is_waiting());
        // One that the program has blocked and that waits is left to it.
        let within = || {
            without_sigpipe(|| {});
            is_blocked() && is_waiting()
        };
        assert!(without_sigpipe(|| {
            // SAFETY: as above.
            unsafe { libc::raise(SIGPIPE) };
            within()
        }));
        assert!(!is_blocked() && !is_waiting());
    }
}
