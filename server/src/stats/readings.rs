//! The outcome of each reload of tokens, certificates and addresses.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What is reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReloadKind {
    Tokens,
    TokenTable,
    Certificate,
    Stores,
}

impl ReloadKind {
    pub(crate) const ALL: [ReloadKind; 4] =
        [ReloadKind::Tokens, ReloadKind::TokenTable, ReloadKind::Certificate, ReloadKind::Stores];

    /// Its label in metrics.
    pub(crate) fn label(self) -> &'static str {
        match self {
            ReloadKind::Tokens => "tokens",
            ReloadKind::TokenTable => "token_table",
            ReloadKind::Certificate => "certificate",
            ReloadKind::Stores => "stores",
        }
    }

    /// The name of the thread that reads it.
    pub(crate) fn thread(self) -> &'static str {
        match self {
            ReloadKind::Tokens => "uidring-tokens",
            ReloadKind::TokenTable => "uidring-token-table",
            ReloadKind::Certificate => "uidring-tls",
            ReloadKind::Stores => "uidring-stores",
        }
    }

    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ReloadKind::Tokens => "the tokens of the file",
            ReloadKind::TokenTable => "the tokens of the table",
            ReloadKind::Certificate => "the certificate and its key",
            ReloadKind::Stores => "the addresses of the stores",
        }
    }
}

/// The outcome of the last reload of each.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<[Reading; ReloadKind::ALL.len()]>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// When it was read. `None` if it is not configured.
    pub(crate) at: Option<SystemTime>,
    /// Why the last reload failed, if it did.
    pub(crate) problem: Option<String>,
}

impl Readings {
    fn lock(&self) -> MutexGuard<'_, [Reading; ReloadKind::ALL.len()]> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outcomes for everything that is configured.
    pub(crate) fn outcomes(&self) -> Vec<(ReloadKind, Reading)> {
        let all = ReloadKind::ALL.into_iter().zip(self.lock().clone());
        all.filter(|(_, reading)| reading.at.is_some()).collect()
    }

    /// Records the outcome of a reload, and logs it if it is new or was asked for.
    pub(crate) fn record(&self, what: ReloadKind, is_asked: bool, result: Result<(), String>) {
        let problem = result.err();
        let before = {
            let reading = &mut self.lock()[what as usize];
            if problem.is_none() {
                reading.at = Some(SystemTime::now());
            }
            std::mem::replace(&mut reading.problem, problem.clone())
        };
        let name = what.name();
        match problem {
            Some(problem) if is_asked || before.as_ref() != Some(&problem) => {
                tracing::warn!(problem, "{name} stay as they were");
            }
            None if is_asked || before.is_some() => tracing::info!("{name} were read again"),
            _ => {}
        }
    }

    /// Records the first reading.
    pub(crate) fn begin(&self, what: ReloadKind) {
        self.lock()[what as usize].at = Some(SystemTime::now());
    }
}
