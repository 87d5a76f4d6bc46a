//! The end of the program: how all threads learn of it, and the exit code.

use tokio::sync::watch;

/// The exit code where the options make no sense, as clap has it.
pub(crate) const USAGE: u8 = 2;
/// The exit code of a check where a database is away.
pub(crate) const AWAY: u8 = 3;

/// Why the program ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// It was asked to.
    Asked,
    /// It cannot work.
    Failed(String),
}

/// Tells all threads of the end.
pub(crate) type EndSender = watch::Sender<Option<End>>;
pub(crate) type EndReceiver = watch::Receiver<Option<End>>;

/// Ends the program, unless it ends already.
pub(crate) fn fail(end: &EndSender, problem: String) {
    end.send_if_modified(|end| {
        let is_first = end.is_none();
        end.get_or_insert(End::Failed(problem));
        is_first
    });
}
