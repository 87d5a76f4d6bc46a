//! How threads of another language share a claim: what `Claims.java` does, step by step, on
//! shuttle's threads.

use std::sync::PoisonError;

use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::sync::{Arc, Mutex, MutexGuard};
use uidring::registry::FixedWorker;
use uidring::{TakeError, Uid, UidGenerator};
use uidring_shuttle_tests::{World, explore, is_one_of, linger};

/// `Claims.java`, with its names.
struct Claims {
    uids: UidGenerator,
    state: Mutex<State>,
    claim: Mutex<Arc<Claim>>,
}

/// What the lock guards.
struct State {
    length: u32,
    direct: u32,
}

struct Claim {
    next: AtomicU64,
    shift: u64,
    end: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Claims {
    fn new(uids: UidGenerator) -> Claims {
        let end = uids.claims_end().load(Ordering::Acquire);
        let claim = Claim { next: AtomicU64::new(end), shift: 0, end };
        let state = Mutex::new(State { length: 1, direct: 0 });
        Claims { uids, state, claim: Mutex::new(Arc::new(claim)) }
    }

    fn end(&self) -> u64 {
        self.uids.claims_end().load(Ordering::Acquire)
    }

    /// Shuttle has no atomic pointer; the lock is held for the one step that reads it.
    fn current(&self) -> Arc<Claim> {
        Arc::clone(&lock(&self.claim))
    }

    fn try_take(&self) -> Option<u64> {
        let claim = self.current();
        let number = claim.next.fetch_add(1, Ordering::SeqCst);
        (number < self.end()).then(|| number.wrapping_add(claim.shift))
    }

    fn take(&self) -> Result<u64, TakeError> {
        match self.try_take() {
            Some(uid) => Ok(uid),
            None => self.take_slowly(),
        }
    }

    fn take_slowly(&self) -> Result<u64, TakeError> {
        {
            let mut state = lock(&self.state);
            if let Some(uid) = self.try_take() {
                return Ok(uid);
            }
            if let Some(uid) = self.claim(&mut state)? {
                return Ok(uid);
            }
            state.direct += 1;
        }
        let result = self.uids.take();
        lock(&self.state).direct -= 1;
        result.map(Uid::get)
    }

    fn claim(&self, state: &mut State) -> Result<Option<u64>, TakeError> {
        if state.direct > 0 {
            return Ok(None);
        }
        let was_used_up = self.end() == self.current().end;
        state.length = if was_used_up { (2 * state.length).min(8) } else { 1 };
        let span = match self.uids.try_claim(state.length) {
            Ok(span) => span,
            Err(error @ TakeError::ShutDown) => return Err(error),
            Err(_) => return Ok(None),
        };
        let (uid, number) = (span.first.get(), span.end - span.length);
        let next = AtomicU64::new(number + 1);
        let claim = Claim { next, shift: uid.wrapping_sub(number), end: span.end };
        *lock(&self.claim) = Arc::new(claim);
        Ok(Some(uid))
    }
}

/// Four threads take, and each id is above all that were returned before its take began.
#[test]
fn shared_claims() {
    explore("shared_claims", || {
        let world = World::new();
        let uids = world.builder().registry(FixedWorker::new(1)).build().unwrap();
        let claims = Arc::new(Claims::new(uids.clone()));
        let largest = Arc::new(AtomicU64::new(0));
        let threads = [3, 5, 8, 13].map(|count| {
            let (claims, largest) = (Arc::clone(&claims), Arc::clone(&largest));
            world.spawn(move |world| {
                for _ in 0..count {
                    let before = largest.load(Ordering::SeqCst);
                    let Ok(uid) = claims.take() else { return };
                    world.history.add("a thread that shares claims", uid);
                    assert!(before < uid, "{uid} comes after {before}");
                    largest.fetch_max(uid, Ordering::SeqCst);
                }
            })
        });
        if is_one_of(2) {
            linger(40);
            uids.shutdown().unwrap();
            assert_eq!(claims.take(), Err(TakeError::ShutDown));
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
