//! Counters of the commands of the Redis protocol, by command and by the kind of the answer.

use std::time::Duration;

use crate::commands::Command;
use crate::stats::counter::Counter;
use crate::stats::times::Times;

/// The kind of an answer: the first word of an error, if it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    Good,
    /// The client has to do something else.
    Error,
    NoToken,
    WrongToken,
    NotAllowed,
    NoProtocol,
    /// The database has not answered yet since the start.
    Loading,
    /// A later try may succeed.
    TryAgain,
}

impl AnswerKind {
    const ALL: [AnswerKind; 8] = [
        AnswerKind::Good,
        AnswerKind::Error,
        AnswerKind::NoToken,
        AnswerKind::WrongToken,
        AnswerKind::NotAllowed,
        AnswerKind::NoProtocol,
        AnswerKind::Loading,
        AnswerKind::TryAgain,
    ];

    /// The first word of such an error, which clients know from Redis.
    pub(crate) fn error_prefix(self) -> &'static str {
        match self {
            AnswerKind::Good => "OK",
            AnswerKind::Error => "ERR",
            AnswerKind::NoToken => "NOAUTH",
            AnswerKind::WrongToken => "WRONGPASS",
            AnswerKind::NotAllowed => "NOPERM",
            AnswerKind::NoProtocol => "NOPROTO",
            AnswerKind::Loading => "LOADING",
            AnswerKind::TryAgain => "TRYAGAIN",
        }
    }
}

/// The commands of the table, and one entry for all others. An unknown name is never shown, because
/// it may be any text.
const COMMANDS: usize = Command::ALL.len() + 1;

/// The commands that one thread has answered.
#[derive(Debug)]
pub(crate) struct Commands {
    commands: [CommandCounters; COMMANDS],
    /// Of all commands: those of a pipeline are answered together.
    pub(crate) times: Times,
}

#[derive(Debug, Default)]
struct CommandCounters {
    kinds: [Counter; AnswerKind::ALL.len()],
    failures: Counter,
}

impl Default for Commands {
    fn default() -> Commands {
        let commands = std::array::from_fn(|_| CommandCounters::default());
        Commands { commands, times: Times::default() }
    }
}

impl Commands {
    /// Counts an answer. `None` stands for an unknown command. `has_failed` says whether the
    /// service is to blame.
    pub(crate) fn answered(&self, command: Option<Command>, kind: AnswerKind, has_failed: bool) {
        let command = command.map_or(COMMANDS - 1, |command| command as usize);
        let counters = &self.commands[command];
        counters.kinds[kind as usize].add(1);
        if has_failed {
            counters.failures.add(1);
        }
    }

    /// Counts the time of `count` commands that were answered together.
    pub(crate) fn took(&self, count: u64, took: Duration) {
        self.times.add(count, took);
    }

    pub(crate) fn failures(&self) -> u64 {
        self.commands.iter().map(|counters| counters.failures.get()).fold(0, u64::wrapping_add)
    }
}

/// The answers to one command, over all threads.
#[derive(Debug)]
pub(crate) struct CommandTotals {
    pub(crate) command: &'static str,
    pub(crate) kinds: Vec<(AnswerKind, u64)>,
    pub(crate) failures: u64,
}

/// The totals of all commands that were sent.
pub(crate) fn totals<'a>(
    threads: impl Iterator<Item = &'a Commands> + Clone,
) -> impl Iterator<Item = CommandTotals> {
    (0..COMMANDS).filter_map(move |index| {
        let sum = |of: &dyn Fn(&CommandCounters) -> &Counter| {
            let threads = threads.clone();
            threads.map(|thread| of(&thread.commands[index]).get()).fold(0, u64::wrapping_add)
        };
        let kinds = AnswerKind::ALL.map(|kind| (kind, sum(&|of| &of.kinds[kind as usize])));
        let kinds: Vec<_> = kinds.into_iter().filter(|&(_, count)| count > 0).collect();
        let command = Command::ALL.get(index).map_or("other", |command| command.row().name);
        let totals = CommandTotals { command, kinds, failures: sum(&|of| &of.failures) };
        (!totals.kinds.is_empty()).then_some(totals)
    })
}
