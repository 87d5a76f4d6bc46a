//! The process-wide generator.

use once_cell::sync::OnceCell;

use crate::engine::TakeError;
use crate::generator::InstallError;
use crate::generator::UidGenerator;
use crate::uid::Uid;

static INSTALLED: OnceCell<UidGenerator> = OnceCell::new();

/// Makes `generator` the process-wide one, for [`take`]. It stays until the process ends, and is
/// never dropped: a leased worker id is not given back then, but is free when its lease has
/// expired.
///
/// A program that forks installs in each child, after the fork. What the parent installed before
/// stays installed in the child as well, where it hands out nothing ([`TakeError::Forked`]) and
/// cannot be replaced.
///
/// ```
/// use uidring::{UidGenerator, registry::FixedWorker};
///
/// assert!(uidring::take().is_err()); // nothing is installed, and nothing is guessed
/// uidring::install(UidGenerator::builder().registry(FixedWorker::new(1)).build()?)?;
/// let uid = uidring::take()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`InstallError`] gives `generator` back if there is one already.
pub fn install(generator: UidGenerator) -> Result<(), InstallError> {
    INSTALLED.set(generator).map_err(InstallError)
}

/// The process-wide generator; if there is none, builds and installs one. When several threads come
/// at once, one builds and the others wait for it.
///
/// In a forked process it is the parent's if there was one at the fork, as with [`install`].
///
/// # Errors
///
/// What `build` returns. Then nothing is installed, and the next call tries again.
pub fn get_or_try_install<E>(
    build: impl FnOnce() -> Result<UidGenerator, E>,
) -> Result<&'static UidGenerator, E> {
    INSTALLED.get_or_try_init(build)
}

/// Takes a UID from the process-wide generator.
///
/// # Errors
///
/// [`TakeError::NotInstalled`] before [`install`]; [`TakeError::Forked`] where that was before a
/// fork; else as [`UidGenerator::take`].
#[inline]
pub fn take() -> Result<Uid, TakeError> {
    INSTALLED.get().ok_or(TakeError::NotInstalled)?.take()
}
