//! How the last readings of tokens and of the certificate went.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Something that is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Tokens,
    TokenTable,
    Certificate,
}

impl What {
    pub(crate) const ALL: [What; 3] = [What::Tokens, What::TokenTable, What::Certificate];

    /// Its label in metrics.
    pub(crate) fn label(self) -> &'static str {
        match self {
            What::Tokens => "tokens",
            What::TokenTable => "token_table",
            What::Certificate => "certificate",
        }
    }

    /// The name of the thread that reads it.
    pub(crate) fn thread(self) -> &'static str {
        match self {
            What::Tokens => "uidring-tokens",
            What::TokenTable => "uidring-token-table",
            What::Certificate => "uidring-tls",
        }
    }

    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            What::Tokens => "the tokens of the file",
            What::TokenTable => "the tokens of the table",
            What::Certificate => "the certificate and its key",
        }
    }
}

/// How the last reading went.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<[Reading; What::ALL.len()]>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// When it was read. Nothing, where there is nothing to read.
    pub(crate) at: Option<SystemTime>,
    /// Why it could not be read again, if it could not.
    pub(crate) problem: Option<String>,
}

impl Readings {
    fn lock(&self) -> MutexGuard<'_, [Reading; What::ALL.len()]> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that there are.
    pub(crate) fn all(&self) -> Vec<(What, Reading)> {
        let all = What::ALL.into_iter().zip(self.lock().clone());
        all.filter(|(_, reading)| reading.at.is_some()).collect()
    }

    /// Notes a reading, with an event if it is worth one.
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

    /// It has been read for the first time.
    pub(crate) fn begin(&self, what: What) {
        self.lock()[what as usize].at = Some(SystemTime::now());
    }
}
