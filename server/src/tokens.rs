//! Where tokens come from, and reading them again.

use std::time::Instant;

use crate::access::Tokens;
use crate::app::App;
use crate::db::{Db, Unusable};

/// The tokens that were read last. Where reading them again fails, these stay.
pub(crate) struct TokenKeeper {
    file: Tokens,
    table: Vec<(String, String)>,
    read: Option<Instant>,
}

impl TokenKeeper {
    /// Begins with the tokens of the file.
    pub(crate) fn new(file: Tokens) -> TokenKeeper {
        TokenKeeper { file, table: Vec::new(), read: None }
    }

    /// Reads the tokens for the first time.
    pub(crate) fn read(&mut self, app: &App, db: &Db) -> Result<(), Unusable> {
        if app.options.has_token_table() {
            self.table = pairs(db)?;
        }
        self.read = Some(Instant::now());
        app.access.set(&self.file, &self.table);
        Ok(())
    }

    /// Reads the tokens again, if it is time.
    pub(crate) fn refresh(&mut self, app: &App, db: &Db) {
        let pause = app.options.security.token_refresh;
        if app.access.is_open() || self.read.is_some_and(|read| read.elapsed() < pause) {
            return;
        }
        self.read = Some(Instant::now());
        if let Some(path) = &app.options.security.tokens {
            match Tokens::read(path) {
                Ok(tokens) => self.file = tokens,
                Err(problem) => tracing::warn!(problem, "the tokens stay as they were"),
            }
        }
        if app.options.has_token_table() {
            match pairs(db) {
                Ok(pairs) => self.table = pairs,
                Err(error) => tracing::warn!(error.problem, "the tokens stay as they were"),
            }
        }
        app.access.set(&self.file, &self.table);
    }
}

fn pairs(db: &Db) -> Result<Vec<(String, String)>, Unusable> {
    Ok(db.tokens()?.into_iter().map(|row| (row.token, row.tag)).collect())
}
