//! [`Scopes`], the scopes of a series that this process counts in.

use std::collections::HashSet;
use std::fmt;

use arc_swap::ArcSwap;

use super::scope::Scope;
use super::series_cache::{CachedSeries, IdleScopes};
use crate::support::named::ByName;
use crate::sync::{Arc, Mutex, lock};

/// The scopes of one series.
pub(crate) struct Scopes {
    pub series: Box<str>,
    /// The series as this process knows it.
    pub cached: Arc<ArcSwap<CachedSeries>>,
    idle: Arc<IdleScopes>,
    map: Mutex<Map>,
}

#[derive(Default)]
struct Map {
    scopes: HashSet<ByName<Scope>>,
    /// How many scopes there may be before those that rest are removed.
    limit: usize,
}

impl Map {
    /// Forgets what is kept of a scope that rests.
    fn forget(&mut self, name: &str) {
        let is_over = self.scopes.get(name).is_some_and(|ByName(scope)| {
            scope.forget_retired();
            scope.is_idle() && Arc::strong_count(scope) == 1
        });
        if is_over {
            self.scopes.remove(name);
        }
    }
}

/// How many scopes are kept at least.
const FEW: usize = 1024;

impl Scopes {
    pub fn new(series: &str, cached: Arc<ArcSwap<CachedSeries>>, idle: Arc<IdleScopes>) -> Scopes {
        Scopes { series: series.into(), cached, idle, map: Mutex::default() }
    }

    /// The scope of this name, which is empty if none was named.
    pub fn get(&self, name: &str) -> Arc<Scope> {
        let mut map = lock(&self.map);
        for name in lock(&self.idle).drain() {
            map.forget(&name);
        }
        if let Some(ByName(scope)) = map.scopes.get(name) {
            return Arc::clone(scope);
        }
        let scope = Arc::new(Scope::new(name));
        // Texts that are no scopes cost nothing later.
        if scope.check().is_err() {
            return scope;
        }
        if map.scopes.len() >= map.limit.max(FEW) {
            // Each removal looks at all scopes, and comes after at least as many new ones as are
            // left.
            map.scopes.retain(|ByName(scope)| Arc::strong_count(scope) > 1 || !scope.is_idle());
            map.limit = map.scopes.len() * 2;
        }
        map.scopes.insert(ByName(Arc::clone(&scope)));
        scope
    }

    /// The scopes that this process has.
    pub fn all(&self) -> Vec<Arc<Scope>> {
        lock(&self.map).scopes.iter().map(|ByName(scope)| Arc::clone(scope)).collect()
    }

    /// Gives up what is open of this version in each scope, so that the next one goes on.
    pub fn retire_version(&self, version: u32) {
        self.all().iter().for_each(|scope| scope.retire_version(version));
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
