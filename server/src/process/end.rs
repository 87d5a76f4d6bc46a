//! The end of the program: how threads learn of it, and the exit codes.

use std::time::Duration;

use tokio::sync::watch;

/// The exit code for invalid options, the same as clap's.
pub(crate) const USAGE: u8 = 2;
/// The exit code of `--check` if a database is away.
pub(crate) const AWAY: u8 = 3;

/// How long an idle connection is kept open at the end, because a request may already be on its
/// way.
pub(crate) const LAST_REQUEST: Duration = Duration::from_millis(100);

/// Why the program ends.
#[derive(Clone, Debug)]
pub(crate) enum EndReason {
    /// A signal asked for it.
    Asked,
    /// The service cannot work.
    Failed(String),
}

/// Sends the reason to all threads.
pub(crate) type EndSender = watch::Sender<Option<EndReason>>;
pub(crate) type EndReceiver = watch::Receiver<Option<EndReason>>;

/// Ends the program, unless it is already ending.
pub(crate) fn fail(end: &EndSender, problem: String) {
    end.send_if_modified(|end| {
        let is_first = end.is_none();
        end.get_or_insert(EndReason::Failed(problem));
        is_first
    });
}
