//! Handles: numbers that stand for generators.
//!
//! A table leads from numbers to generators. A thread remembers the generator that it used last, so
//! that a loop of takes looks nothing up:
//!
//! ```text
//! handle 7 ──► the thread's last: 7, generator ──► take
//!                    │ another number
//!                    ▼
//!              the table of all ──► remember, take
//! ```
//!
//! What a thread remembers keeps the memory of a generator, but not its life: after a close, takes
//! fail by the generator's own state. The memory goes when the thread uses another, or ends.
//!
//! The table is read and changed without a lock: a fork while another thread changes it would leave
//! a lock closed in the child for ever.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::LocalKey;

use arc_swap::ArcSwapOption;
use uidring_bindings::{Error, keep_loaded};

/// Handles of all kinds are counted together, so that one never stands for two things.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Without random keys, as the keys are the library's own numbers.
type Map<T> = HashMap<u64, T, BuildHasherDefault<std::collections::hash_map::DefaultHasher>>;

/// All of a kind that are open. It is empty without a map.
pub(crate) struct Table<T>(ArcSwapOption<Map<T>>);

/// What a thread used last.
pub(crate) type LastUsed<T> = RefCell<Option<(u64, T)>>;

/// A kind of what handles stand for.
pub(crate) trait HandleKind: Clone + 'static {
    /// What it is called in a sentence: "the generator was".
    const WAS: &'static str;

    fn table() -> &'static Table<Self>;

    fn last() -> &'static LocalKey<LastUsed<Self>>;

    /// Keeps this under a new handle.
    fn insert(self) -> u64 {
        keep_loaded();
        // ORDERING: Relaxed, because only the count itself matters.
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        Self::table().0.rcu(|map| {
            let mut map = map.as_deref().cloned().unwrap_or_default();
            map.insert(handle, self.clone());
            Some(Arc::new(map))
        });
        handle
    }

    /// Calls `call` with what the handle stands for. One that was closed a moment ago may still be
    /// called, and fails by itself.
    #[inline]
    fn with<R>(handle: u64, call: impl FnOnce(&Self) -> R) -> Result<R, Error> {
        let mut call = Some(call);
        let result = Self::last().try_with(|last| match &*last.try_borrow().ok()? {
            Some((known, kept)) if *known == handle => call.take().map(|call| call(kept)),
            _ => None,
        });
        if let Ok(Some(result)) = result {
            return Ok(result);
        }
        // A call that was taken has returned.
        call.map_or_else(
            || Err(Error::internal("a call has no result")),
            |call| Self::look_up(handle, call),
        )
    }

    #[cold]
    fn look_up<R>(handle: u64, call: impl FnOnce(&Self) -> R) -> Result<R, Error> {
        let kept = Self::find(handle)?;
        let result = call(&kept);
        // A thread that ends, and a signal's handler that came in between, remember nothing.
        let _ = Self::last().try_with(|last| {
            if let Ok(mut last) = last.try_borrow_mut() {
                *last = Some((handle, kept));
            }
        });
        Ok(result)
    }

    fn find(handle: u64) -> Result<Self, Error> {
        if let Some(kept) = Self::table().0.load().as_ref().and_then(|map| map.get(&handle)) {
            return Ok(kept.clone());
        }
        // ORDERING: Relaxed, because a caller that has a handle has synchronised with its opener.
        if (1..NEXT.load(Ordering::Relaxed)).contains(&handle) {
            return Err(Error::closed(Self::WAS));
        }
        let problem = "this is no handle: use one that an open has written, after it has succeeded";
        Err(Error::argument(problem))
    }

    /// Takes what the handle stands for out of the table. `None` if it was closed before.
    fn remove(handle: u64) -> Result<Option<Self>, Error> {
        let kept = match Self::find(handle) {
            Ok(kept) => kept,
            Err(error) if error.kind == uidring_bindings::Kind::Closed => return Ok(None),
            Err(error) => return Err(error),
        };
        Self::retain(|other, _| other != handle);
        let _ = Self::last().try_with(|last| {
            if let Ok(mut last) = last.try_borrow_mut() {
                last.take_if(|(known, _)| *known == handle);
            }
        });
        Ok(Some(kept))
    }

    /// Keeps only those of which `is_kept` says so.
    fn retain(is_kept: impl Fn(u64, &Self) -> bool) {
        Self::table().0.rcu(|map| {
            let map = map.as_deref()?;
            let kept = map.iter().filter(|&(&handle, kept)| is_kept(handle, kept));
            Some(Arc::new(kept.map(|(&handle, kept)| (handle, kept.clone())).collect()))
        });
    }
}

impl<T> Table<T> {
    pub(crate) const fn new() -> Table<T> {
        Table(ArcSwapOption::const_empty())
    }
}

/// The table of a kind, and what a thread used last of it.
macro_rules! handle_kind {
    ($kind:ty, $was:literal) => {
        impl $crate::handles::HandleKind for $kind {
            const WAS: &'static str = $was;

            fn table() -> &'static $crate::handles::Table<Self> {
                static TABLE: $crate::handles::Table<$kind> = $crate::handles::Table::new();
                &TABLE
            }

            #[inline]
            fn last() -> &'static std::thread::LocalKey<$crate::handles::LastUsed<Self>> {
                thread_local! {
                    static LAST: $crate::handles::LastUsed<$kind> =
                        const { std::cell::RefCell::new(None) };
                }
                &LAST
            }
        }
    };
}

pub(crate) use handle_kind;
