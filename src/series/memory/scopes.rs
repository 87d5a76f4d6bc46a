//! [`Scopes`], the scopes of a series that this process counts in.

use std::collections::HashSet;
use std::fmt;

use arc_swap::ArcSwap;

use super::current::Current;
use super::series_cache::{KnownSeries, Rested};
use crate::support::named::ByName;
use crate::sync::{Arc, Mutex, lock};

/// The scopes of one series.
pub(crate) struct Scopes {
    pub series: Box<str>,
    /// The series as this process knows it.
    pub known: Arc<ArcSwap<KnownSeries>>,
    rested: Arc<Rested>,
    map: Mutex<Map>,
}

#[derive(Default)]
struct Map {
    scopes: HashSet<ByName<Current>>,
    /// How many scopes there may be before those that rest are removed.
    limit: usize,
}

impl Map {
    /// Forgets what is kept of a scope that rests.
    fn forget(&mut self, scope: &str) {
        let is_over = self.scopes.get(scope).is_some_and(|ByName(current)| {
            current.forget_retired();
            current.rests() && Arc::strong_count(current) == 1
        });
        if is_over {
            self.scopes.remove(scope);
        }
    }
}

/// How many scopes are kept at least.
const FEW: usize = 1024;

impl Scopes {
    pub fn new(series: &str, known: Arc<ArcSwap<KnownSeries>>, rested: Arc<Rested>) -> Scopes {
        Scopes { series: series.into(), known, rested, map: Mutex::default() }
    }

    /// The scope of this name, which is empty if none was named.
    pub fn get(&self, scope: &str) -> Arc<Current> {
        let mut map = lock(&self.map);
        for rested in lock(&self.rested).drain() {
            map.forget(&rested);
        }
        if let Some(ByName(current)) = map.scopes.get(scope) {
            return Arc::clone(current);
        }
        let current = Arc::new(Current::new(scope));
        // Texts that are no scopes cost nothing later.
        if current.check().is_err() {
            return current;
        }
        if map.scopes.len() >= map.limit.max(FEW) {
            // Each removal looks at all scopes, and comes after at least as many new ones as are
            // left.
            map.scopes.retain(|ByName(known)| Arc::strong_count(known) > 1 || !known.rests());
            map.limit = map.scopes.len() * 2;
        }
        map.scopes.insert(ByName(Arc::clone(&current)));
        current
    }

    /// The scopes that this process has.
    pub fn all(&self) -> Vec<Arc<Current>> {
        lock(&self.map).scopes.iter().map(|ByName(current)| Arc::clone(current)).collect()
    }

    /// Gives up what is open of this version in each scope, so that the next one goes on.
    pub fn leave(&self, version: u32) {
        self.all().iter().for_each(|current| current.leave_version(version));
    }

    /// How many scopes this process has.
    pub fn len(&self) -> usize {
        lock(&self.map).scopes.len()
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scopes").field("series", &self.series).finish_non_exhaustive()
    }
}
