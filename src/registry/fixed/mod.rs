//! A worker id that the caller chose.

mod pod;
mod state_file;

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Lease, Request, WorkerRegistry};
use crate::layout::Layout;
use crate::registry::RegistryError;
use state_file::StateFile;

/// A number of the caller's own: from configuration, an environment variable, or the ordinal of a
/// pod.
///
/// The caller guarantees that no other generator, on any machine, has the same number and layout at
/// the same time; a forked process, too, needs a number other than its parent's. And a generator
/// must begin only after every tick that the one before it with this number used, which may be
/// later than when it stopped: a busy generator borrows from the ticks to come, and a clock can be
/// set back. A [state file](FixedWorker::with_state) sees to that; without one the caller
/// guarantees it too, which suits tests, benchmarks and programs that start once.
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
    path: Option<PathBuf>,
    /// The present lease.
    current: Option<CurrentLease>,
}

#[derive(Debug)]
struct CurrentLease {
    /// The first tick of the lease, by which it is known.
    first: u64,
    layout: Layout,
    /// Open, and locked, while the number is in use: also from the loss of a lease to the next one,
    /// so that nobody else is let in between.
    state: Option<StateFile>,
    /// The last tick of a lost lease. Whatever the file says then, the next lease begins after it.
    lost: Option<u64>,
}

/// How far ahead an idle generator reserves. It writes twice in this time, which is about as often
/// as a file system writes what has changed (ext4: every five seconds). After a crash, a generator
/// without a lead waits for it.
const RESERVE: Duration = Duration::from_secs(10);
/// How far ahead a start reserves, so that crashes in quick succession cost no more.
const FIRST_RESERVE: Duration = Duration::from_secs(2);

impl FixedWorker {
    /// Gives `worker`, once.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn new(worker: u64) -> FixedWorker {
        FixedWorker { worker, path: None, current: None }
    }

    /// Gives the number in the environment variable `name`.
    ///
    /// ```
    /// # use uidring::registry::FixedWorker;
    /// let error = FixedWorker::from_env("UIDRING_EXAMPLE_WORKER").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no worker id in the environment variable UIDRING_EXAMPLE_WORKER: it is not set; \
    ///      a worker id is a whole number"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::NoNumber`] when it is not set, or holds anything else.
    pub fn from_env(name: &str) -> Result<FixedWorker, RegistryError> {
        let refuse = |problem: String| RegistryError::NoNumber {
            place: format!("the environment variable {name}"),
            problem,
        };
        let text = env::var_os(name).ok_or_else(|| refuse("it is not set".to_owned()))?;
        let text = text.to_string_lossy();
        let number =
            text.trim().parse().map_err(|error| refuse(format!("it holds {text:?}: {error}")))?;
        Ok(FixedWorker::new(number))
    }

    /// Gives the ordinal of a pod in a Kubernetes `StatefulSet`: 3 in the pod `orders-3`. Several
    /// sets that share a layout need numbers of their own.
    ///
    /// The pod's label `apps.kubernetes.io/pod-index` says it, which the downward API gives to a
    /// variable `POD_INDEX`, or to the file `/etc/podinfo/labels`:
    ///
    /// ```yaml
    /// env:
    ///   - name: POD_INDEX
    ///     valueFrom:
    ///       fieldRef:
    ///         fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
    /// ```
    ///
    /// Without either, it is the number at the end of the pod's name, its host name. A name whose
    /// number need not be an ordinal is refused: `web-7d4b9c6d5f-24567` of a Deployment,
    /// `ip-10-0-3-17` of a machine, any of a pod with `hostNetwork: true`, which has the name of
    /// its node, and, as they look like these, ordinals of five digits and sets like `orders-2`.
    ///
    /// Kubernetes runs one pod of each ordinal at a time, unless somebody removes a pod by force
    /// (`kubectl delete --force`) whose node is cut off: it goes on beside the one that takes its
    /// place. Keep the [state file](FixedWorker::with_state) on a volume that one pod at a time can
    /// have, with the access mode `ReadWriteOncePod`.
    ///
    /// ```no_run
    /// # use uidring::registry::FixedWorker;
    /// let registry = FixedWorker::from_stateful_set()?.with_state("/data/uidring.state");
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::NoNumber`] where none of them has an ordinal.
    pub fn from_stateful_set() -> Result<FixedWorker, RegistryError> {
        pod::ordinal().map(FixedWorker::new)
    }

    /// Keeps in the file `path` up to which tick the number has been used, so that a restart goes
    /// on after it, even under a clock that was set back. The file is made if it does not exist;
    /// links are followed, also those that lead to a file which is yet to be made. A relative path
    /// is one in the directory that the program is in when the generator is built.
    ///
    /// Ticks are written to the file ahead of their use: two seconds of them at the start, then
    /// about every five seconds those of the next ten, and more if UIDs are taken faster. A crash
    /// passes over what was written and not used. Where [`max_lead`](crate::Builder::max_lead) is
    /// less than twice that, the next start waits for the clock, if it gets there before
    /// [`start_deadline`](crate::Builder::start_deadline).
    ///
    /// The state file is locked, and so is a file beside it with `.lock` added to its name: a
    /// second generator of this machine is kept out by whatever name it opens the state file, and
    /// where one of the two is removed. Before each write a generator sees whether the file still
    /// says what it wrote, and after it whether `path` still leads there. If not, it goes on with
    /// the ticks it has written, and asks for the number anew, behind these. It is refused while
    /// another generator has the file; takes then fail with
    /// [`LeaseExhausted`](crate::TakeError::LeaseExhausted), until the other has ended.
    ///
    /// The file belongs to the number: keep both on a volume that follows the program. Losing it is
    /// safe as long as the clock is past all that was used. Do not remove both files, or put
    /// another volume in their place, while a generator runs: until its next write it uses the same
    /// ticks as one that is started there.
    ///
    /// A forked process inherits the lock with the open file, though it cannot use its parent's
    /// generator. It is refused the number while the parent has it; and where the parent ends
    /// first, its next start is refused the number until the children have ended too, or have
    /// started other programs. Children that outlive their parent are best made before it builds.
    ///
    /// On Windows nobody can remove, rename or read either file while a generator runs.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("uidring.state");
    /// let build = || {
    ///     let registry = FixedWorker::new(7).with_state(&file);
    ///     UidGenerator::builder().registry(registry).build()
    /// };
    /// let before = build()?.take()?;
    /// assert!(build()?.take()? > before); // the next generator goes on after the one before
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_state(self, path: impl AsRef<Path>) -> FixedWorker {
        FixedWorker { path: Some(path.as_ref().to_owned()), ..self }
    }

    /// The state file that is locked.
    fn held(&self) -> Option<&StateFile> {
        self.current.as_ref()?.state.as_ref()
    }
}

impl CurrentLease {
    /// The state file, unless the lease is lost.
    fn usable(&mut self) -> Option<&mut StateFile> {
        self.state.as_mut().filter(|_| self.lost.is_none())
    }
}

impl WorkerRegistry for FixedWorker {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let (worker, layout) = (self.worker, request.layout);
        let used_before = match &self.current {
            None => None,
            Some(CurrentLease { lost: Some(last), .. }) => Some(*last),
            Some(_) => return Err(RegistryError::FixedInUse { worker }),
        };
        // Ticks before may have been used.
        let mut lease = Lease { first: request.now, ..Lease::permanent(worker, &layout) };
        let mut state = None;
        if let Some(path) = &self.path {
            let (mut file, used) = StateFile::open(path, worker, &layout, self.held())?;
            let used = used.max(used_before);
            let first = request.now.max(used.map_or(0, |used| used.saturating_add(1)));
            if first > request.latest {
                return Err(used_ahead(worker, first - 1, request, request.latest));
            }
            let ticks = layout.ticks_in(FIRST_RESERVE).max(2);
            let last = first.saturating_add(ticks - 1).min(layout.max_tick());
            lease = Lease::leased(worker, first..=last, RESERVE, first.to_string());
            file.write(last)?;
            state = Some(file);
        }
        self.current = Some(CurrentLease { first: lease.first, layout, state, lost: None });
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let Some(current) = &mut self.current else { return Ok(lease.last) };
        if current.lost.is_some() {
            return Err(RegistryError::LeaseLost { worker: self.worker });
        }
        let Some(state) = current.usable() else { return Ok(lease.last) };
        let result = state.write(last);
        if let Err(RegistryError::LeaseLost { .. }) = result {
            // The number must be requested anew.
            current.lost = Some(lease.last);
        }
        result.map(|()| last)
    }

    fn name(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "a fixed number".to_owned(),
        }
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let Some(path) = &self.path else { return Ok(()) };
        // A lease that has been lost begins before its successor.
        let Some(current) = self.current.as_mut().filter(|current| current.first == lease.first)
        else {
            return Ok(());
        };
        let result = match current.usable().map(|state| state.write(used)) {
            // The lease is lost. The next one must begin after all used ticks, whatever the file
            // says.
            None | Some(Err(RegistryError::LeaseLost { .. })) => {
                let held = current.state.as_ref();
                let (mut state, found) = StateFile::open(path, self.worker, &current.layout, held)?;
                if found.is_none_or(|found| found < used) { state.write(used) } else { Ok(()) }
            }
            Some(result) => result,
        };
        current.state = None;
        result
    }
}

/// The error if the clock is still too far behind the ticks used, as the next must be no later than
/// `latest`.
pub(super) fn used_ahead(worker: u64, used: u64, request: &Request, latest: u64) -> RegistryError {
    let Request { layout, now, .. } = request;
    let [used_until, now] = [used, *now].map(|tick| layout.begin_of(tick.min(layout.max_tick())));
    let ticks = u32::try_from(used.saturating_add(1) - latest).unwrap_or(u32::MAX);
    RegistryError::UsedAhead {
        worker,
        used: used_until,
        now,
        wait: layout.tick().saturating_mul(ticks),
    }
}
