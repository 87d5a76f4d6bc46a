//! What happens to the tool.

use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

#[derive(Debug)]
pub(super) enum Event {
    Signal(Signal),
    /// A child has stopped or ended.
    Child(WaitStatus),
    /// The id is about to be lost, for this reason.
    Loss(String),
}
