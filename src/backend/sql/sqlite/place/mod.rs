//! What the system tells of where a file lies, and of the names that lead to it.

#[cfg(unix)]
mod mounts;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::Place;
#[cfg(windows)]
pub use windows::Place;
