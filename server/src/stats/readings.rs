//! The outcome of each reload of tokens, certificates and addresses.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What is reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Tokens,
    TokenTable,
    Certificate,
    Stores,
}

impl What {
    pub(crate) const ALL: [What; 4] =
        [What::Tokens, What::TokenTable, What::Certificate, What::Stores];

    /// Its label in metrics.
    pub(crate) fn label(self) -> &'static str {
        match self {
            What::Tokens => "tokens",
            What::TokenTable => "token_table",
            What::Certificate => "certificate",
            What::Stores => "stores",
        }
    }

    /// The name of the thread that reads it.
    pub(crate) fn thread(self) -> &'static str {
        match self {
            What::Tokens => "uidring-tokens",
            What::TokenTable => "uidring-token-table",
            What::Certificate => "uidring-tls",
            What::Stores => "uidring-stores",
        }
    }

    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            What::Tokens => "the tokens of the file",
            What::TokenTable => "the tokens of the table",
            What::Certificate => "the certificate and its key",
            What::Stores => "the addresses of the stores",
        }
    }
}

/// The outcome of the last reload of each.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<[Reading; What::ALL.len()]>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// When it was read. `None` if it is not configured.
    pub(crate) at: Option<SystemTime>,
    /// Why the last reload failed, if it did.
    pub(crate) problem: Option<String>,
}

impl Readings {
    fn lock(&self) -> MutexGuard<'_, [Reading; What::ALL.len()]> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outcomes for everything that is configured.
    pub(crate) fn all(&self) -> Vec<(What, Reading)> {
        let all = What::ALL.into_iter().zip(self.lock().clone());
        all.filter(|(_, reading)| reading.at.is_some()).collect()
    }

    /// Records the outcome of a reload, and logs it if it is new or was asked for.
    pub(crate) fn note(&self, what: What, is_asked: bool, result: Result<(), String>) {
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
    pub(crate) fn begin(&self, what: What) {
        self.lock()[what as usize].at = Some(SystemTime::now());
    }
}
