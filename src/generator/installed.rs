//! The process-wide generator.

use once_cell::sync::OnceCell;

use crate::engine::TakeError;
use crate::generator::InstallError;
use crate::generator::UidGenerator;
use crate::uid::Uid;

static INSTALLED: OnceCell<UidGenerator> = OnceCell::new();

/// Makes `generator` the process-wide one, for [`take`]. It stays installed until the process ends
/// and is never dropped. So a program whose worker id is leased should shut it down at its end, as
/// below. Otherwise the id becomes free only when its lease has expired. A generator that was shut
/// down stays installed: takes fail with [`TakeError::ShutDown`], and no other can be installed.
///
/// A program that forks installs a generator in each child, after the fork. A generator that the
/// parent installed before the fork stays installed in the child. There it hands out nothing
/// ([`TakeError::Forked`]) and cannot be replaced.
///
/// ```
/// use uidring::{UidGenerator, registry::FixedWorker};
///
/// assert!(uidring::take().is_err()); // nothing is installed, and nothing is guessed
/// uidring::install(UidGenerator::builder().registry(FixedWorker::new(1)).build()?)?;
/// let uid = uidring::take()?;
///
/// // At the end of the program.
/// if let Some(uids) = uidring::installed().cloned() {
///     uids.shutdown()?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a generator is installed already, [`InstallError`] gives `generator` back.
pub fn install(generator: UidGenerator) -> Result<(), InstallError> {
    INSTALLED.set(generator).map_err(|generator| InstallError { generator })
}

/// The process-wide generator, if there is one.
///
/// ```
/// use uidring::{UidGenerator, registry::FixedWorker};
///
/// assert!(uidring::installed().is_none());
/// uidring::install(UidGenerator::builder().registry(FixedWorker::new(1)).build()?)?;
/// if let Some(uids) = uidring::installed() {
///     println!("{:?}", uids.status());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn installed() -> Option<&'static UidGenerator> {
    INSTALLED.get()
}

/// Returns the process-wide generator. If there is none, builds and installs one. If several
/// threads call this at the same time, one builds and the others wait for it.
///
/// If the parent of a forked process had installed a generator before the fork, this returns that
/// one, as with [`install`].
///
/// ```
/// use uidring::{BuildError, UidGenerator, registry::FixedWorker};
///
/// fn uids() -> Result<&'static UidGenerator, BuildError> {
///     uidring::get_or_try_init(|| UidGenerator::builder().registry(FixedWorker::new(1)).build())
/// }
///
/// let uid = uids()?.take()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The error of `build`. Then nothing is installed, and the next call tries again.
pub fn get_or_try_init<E>(
    build: impl FnOnce() -> Result<UidGenerator, E>,
) -> Result<&'static UidGenerator, E> {
    INSTALLED.get_or_try_init(build)
}

/// Takes a UID from the process-wide generator.
///
/// ```
/// # use uidring::{UidGenerator, registry::FixedWorker};
/// # uidring::install(UidGenerator::builder().registry(FixedWorker::new(1)).build()?)?;
/// let uid = uidring::take()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`TakeError::NotInstalled`] before [`install`]; [`TakeError::Forked`] in a child process if the
/// parent installed the generator; otherwise as [`UidGenerator::take`].
#[inline]
pub fn take() -> Result<Uid, TakeError> {
    installed().ok_or(TakeError::NotInstalled)?.take()
}

/// Takes a UID from this thread's own claim of the process-wide generator, as
/// [`UidGenerator::take_local`] does.
///
/// ```
/// # use uidring::{UidGenerator, registry::FixedWorker};
/// # uidring::install(UidGenerator::builder().registry(FixedWorker::new(1)).build()?)?;
/// assert!(uidring::take_local()? < uidring::take_local()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`take`].
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
#[inline]
pub fn take_local() -> Result<Uid, TakeError> {
    installed().ok_or(TakeError::NotInstalled)?.take_local()
}
