//! Reloading: tokens, certificates, and the addresses of stores in the file of options are read
//! again while the service runs. The addresses are read on request alone, or as often as the others
//! where no signal can ask for it.
//!
//! Each has a thread of its own, so that none waits for another, for a failing start, or for a
//! database that is away. If a reading fails, the previous values stay in use.

use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use uidring_args::Db;

use crate::app::App;
use crate::config::db::{self, StoreFailure};
use crate::config::options_file;
use crate::process::end::EndSender;
use crate::process::threads;
use crate::security::access::Tokens;
use crate::stats::readings::ReloadKind;

/// Sends requests to the threads that read something again.
#[derive(Debug, Default)]
pub(crate) struct Reload(Vec<SyncSender<()>>);

impl Reload {
    /// Makes all threads read again now.
    pub(crate) fn ask(&self) {
        tracing::info!(
            kinds = self.0.len(),
            "asked to read tokens, certificates and addresses again"
        );
        for reader in &self.0 {
            // The channel is full if an earlier request still waits, which then serves for both.
            let _ = reader.try_send(());
        }
    }

    /// Starts a thread that reads something again: on each request, and after each `pause`.
    pub(crate) fn add(
        &mut self,
        app: &'static App,
        end: &EndSender,
        what: ReloadKind,
        pause: Duration,
        mut read: impl FnMut() -> Result<(), String> + Send + 'static,
    ) -> Result<(), String> {
        let (reader, wishes) = mpsc::sync_channel(1);
        self.0.push(reader);
        let body = move || {
            while !app.is_ending() {
                let is_asked = match wishes.recv_timeout(pause) {
                    Ok(()) => true,
                    Err(RecvTimeoutError::Timeout) => false,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                app.watch.readings.record(what, is_asked, read());
            }
            Ok(())
        };
        threads::begin(what.thread(), end, body).map(drop)
    }
}

/// Starts the threads for everything that can be read again.
pub(crate) fn begin(
    app: &'static App,
    db: &Db,
    table: Option<TokenTable>,
    end: &EndSender,
) -> Result<Reload, String> {
    let mut reload = Reload::default();
    let security = &app.options.security;
    let pause = security.token_refresh;
    if let Some(path) = &security.tokens {
        app.watch.readings.begin(ReloadKind::Tokens);
        let read = || Tokens::read(path).map(|tokens| app.access.set_file(tokens));
        reload.add(app, end, ReloadKind::Tokens, pause, read)?;
    }
    if let Some(table) = table {
        let read = move || table.read(app).map_err(|unusable| unusable.problem);
        reload.add(app, end, ReloadKind::TokenTable, pause, read)?;
    }
    if let Some(tls) = &app.tls {
        app.watch.readings.begin(ReloadKind::Certificate);
        reload.add(app, end, ReloadKind::Certificate, pause, || tls.read_again())?;
    }
    app.watch.readings.begin(ReloadKind::Stores);
    let db = db.clone();
    let pause = if cfg!(unix) { Duration::MAX } else { pause };
    reload.add(app, end, ReloadKind::Stores, pause, move || read_addresses(app, &db))?;
    Ok(reload)
}

/// Reads the options again, and has the stores go by the addresses that these name now.
fn read_addresses(app: &App, db: &Db) -> Result<(), String> {
    let options = options_file::read(std::env::args_os()).map_err(|refusal| refusal.text())?;
    db::renew(db, &options.db()?).map_err(|problem| format!("--db: {problem}"))?;
    match (&app.options.paths.leaf_db, &options.paths.leaf_db) {
        (Some(db), Some(newer)) => {
            db::renew(db, newer).map_err(|problem| format!("--leaf-db: {problem}"))
        }
        _ => Ok(()),
    }
}

/// tinyid's pairs of token and tag.
#[derive(Clone)]
pub(crate) struct TokenTable {
    db: Db,
    /// Held while the table is read, so that an older reading never replaces a later one.
    turn: Arc<Mutex<()>>,
}

impl TokenTable {
    pub(crate) fn new(db: Db) -> TokenTable {
        TokenTable { db, turn: Arc::default() }
    }

    /// Reads the table and puts its tokens into effect.
    pub(crate) fn read(&self, app: &App) -> Result<(), StoreFailure> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs = db::tokens(&self.db)?.into_iter().map(|row| (row.token, row.tag));
        app.access.set_table(pairs.collect());
        app.watch.readings.begin(ReloadKind::TokenTable);
        Ok(())
    }
}
