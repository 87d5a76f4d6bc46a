//! UIDs of times that were.

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use uidring::{Layout, PastGenerator, PastStatus, UidGenerator};
use uidring_args::{Db, RegistryConfig, with_registry};

use crate::app::lock;
use crate::config::db::{self, Mode, StoreFailure};

/// The generator of UIDs of times that were. It starts when a client first asks for one, because
/// each start uses a worker id up.
#[derive(Default)]
pub(crate) struct AppPast {
    db: OnceLock<Db>,
    generator: OnceLock<PastGenerator>,
    /// Of the one that starts it.
    start: Mutex<()>,
}

impl AppPast {
    /// Sets the database, which has answered.
    pub(crate) fn set_db(&self, db: Db) {
        let _ = self.db.set(db);
    }

    /// What it has done. `None` before it has started.
    pub(crate) fn status(&self) -> Option<PastStatus> {
        self.generator.get().map(PastGenerator::status)
    }

    /// The generator of this `layout`, whose worker ids are given once, whatever `config` says of
    /// those of the present. Blocks on the database where it starts.
    pub(crate) fn generator(
        &self,
        config: &RegistryConfig,
        layout: Layout,
    ) -> Result<PastGenerator, StoreFailure> {
        let _start = lock(&self.start);
        if let Some(known) = self.generator.get() {
            return Ok(known.clone());
        }
        let Some(db) = self.db.get() else {
            return Err(StoreFailure::for_now("the database has not answered yet".to_owned()));
        };
        let config = RegistryConfig { lease: None, ..config.clone() };
        let registry = db::registry(db, &config, Mode::Start)?;
        let builder = UidGenerator::builder().start_deadline(Duration::ZERO);
        let started = with_registry(builder, registry, Some(layout)).build_past()?;
        Ok(self.generator.get_or_init(|| started).clone())
    }
}
