//! A worker id that the caller chose.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::state_file::StateFile;
use super::{Lease, Request, WorkerRegistry};
use crate::error::RegistryError;

/// A number of the caller's own: from configuration, an environment variable, or the ordinal of a pod.
///
/// The caller guarantees that no other generator, on any machine, has the same number and layout at the same time; a
/// forked process, too, needs a number other than its parent's. And a generator must begin only after every second
/// that the one before it with this number used, which may be later than when it stopped: a busy generator borrows
/// from the seconds to come, and a clock can be set back. A [state file](FixedWorker::with_state) sees to that;
/// without one the caller guarantees it too, which suits tests, benchmarks and programs that start once.
///
/// ```
/// use uidring::UidGenerator;
/// use uidring::registry::FixedWorker;
///
/// # let dir = tempfile::tempdir()?;
/// # let file = dir.path().join("uidring.state");
/// let registry = FixedWorker::new(7).with_state(file);
/// let uids = UidGenerator::builder().registry(registry).build()?;
/// assert_eq!(uids.layout().parts(uids.take()?).worker, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FixedWorker {
    worker: u64,
    given: bool,
    path: Option<PathBuf>,
    /// Open, and locked, while the number is in use.
    state: Option<StateFile>,
}

/// How far ahead an idle generator reserves.
const RESERVE: Duration = Duration::from_secs(600);

impl FixedWorker {
    /// Gives `worker`, once.
    #[must_use]
    pub fn new(worker: u64) -> FixedWorker {
        FixedWorker { worker, given: false, path: None, state: None }
    }

    /// Gives the number in the environment variable `name`.
    ///
    /// # Errors
    ///
    /// [`RegistryError::NoNumber`] when it is not set, or holds anything else.
    pub fn from_env(name: &str) -> Result<FixedWorker, RegistryError> {
        let refuse =
            |problem: String| RegistryError::NoNumber { place: format!("the environment variable {name}"), problem };
        let text = env::var_os(name).ok_or_else(|| refuse("it is not set".to_owned()))?;
        let text = text.to_string_lossy();
        let number = text.trim().parse().map_err(|error| refuse(format!("it holds {text:?}: {error}")))?;
        Ok(FixedWorker::new(number))
    }

    /// Gives the ordinal of a pod in a Kubernetes `StatefulSet`: 3 on the host `orders-3`. No two pods of a set have
    /// the same at a time; several sets that share a layout need numbers of their own.
    ///
    /// # Errors
    ///
    /// [`RegistryError::NoNumber`] when the host name does not end in a hyphen and a number.
    pub fn from_stateful_set() -> Result<FixedWorker, RegistryError> {
        // The kubelet writes the pod's name to the file; the variable can be changed by a shell.
        let name = fs::read_to_string("/etc/hostname").ok().or_else(|| env::var("HOSTNAME").ok()).unwrap_or_default();
        ordinal(name.trim()).map(FixedWorker::new).ok_or_else(|| RegistryError::NoNumber {
            place: "the host name".to_owned(),
            problem: format!(
                "{:?} does not end in a hyphen and an ordinal, as a pod's of a StatefulSet does",
                name.trim()
            ),
        })
    }

    /// Keeps in the file `path` up to which second the number has been used, so that a restart goes on after it, even
    /// under a clock that was set back. The file is made if it does not exist; seconds are written to it ahead of
    /// their use, a few times an hour. A lock beside it keeps a second generator of this machine out. A relative path is
    /// one in the directory that the program is in when the generator is built.
    ///
    /// The file belongs to the number: keep both on a volume that follows the program. Losing it is safe as long as the
    /// clock is past all that was used.
    ///
    /// A forked process inherits the lock with the open file, though it cannot use its parent's generator. It is
    /// refused the number while the parent has it; and where the parent ends first, its next start is refused the
    /// number until the children have ended too, or have started other programs. Children that outlive their parent
    /// are best made before it builds.
    #[must_use]
    pub fn with_state(self, path: impl AsRef<Path>) -> FixedWorker {
        FixedWorker { path: Some(path.as_ref().to_owned()), ..self }
    }
}

/// The number after the last hyphen, as Kubernetes writes it: without leading zeros.
fn ordinal(name: &str) -> Option<u64> {
    let (_, digits) = name.rsplit_once('-')?;
    let number = digits.parse().ok()?;
    (u64::to_string(&number) == digits).then_some(number)
}

impl WorkerRegistry for FixedWorker {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let worker = self.worker;
        if self.given {
            return Err(RegistryError::FixedInUse { worker });
        }
        let mut lease = Lease::fresh(worker, &request.layout);
        if let Some(path) = &self.path {
            let (mut state, used) = StateFile::open(path, worker, &request.layout)?;
            lease.first = request.now.max(used.map_or(0, |used| used.saturating_add(1)));
            lease.last = lease.first.saturating_add(request.layout.ticks_in(RESERVE)).min(request.layout.max_tick());
            lease.duration = Some(RESERVE);
            if lease.first > request.latest {
                let (used, now) = (lease.first - 1, request.now);
                let [used, now] = [used, now].map(|tick| request.layout.time_of(tick.min(request.layout.max_tick())));
                return Err(RegistryError::UsedAhead { worker, used, now });
            }
            state.write(lease.last)?;
            self.state = Some(state);
        }
        self.given = true;
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        match &mut self.state {
            None => Ok(lease.last),
            Some(state) => state.write(last).map(|()| last),
        }
    }

    fn release(&mut self, _: &Lease, used: u64) -> Result<(), RegistryError> {
        self.state.take().map_or(Ok(()), |mut state| state.write(used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinal_is_what_kubernetes_appends() {
        assert_eq!(ordinal("orders-0"), Some(0));
        assert_eq!(ordinal("orders-eu-17"), Some(17));
        for name in ["", "orders", "orders-", "orders-x", "orders-07", "orders-+7", "7", "orders-18446744073709551616"]
        {
            assert_eq!(ordinal(name), None, "{name:?}");
        }
    }
}
