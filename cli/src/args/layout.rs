//! The options that name a layout, or the registry whose layout is meant.

use uidring::Layout;
use uidring::registry::RegistryAdmin;
use uidring_args::{Db, LayoutArgs};
use uidring_layouts::Format;

use crate::args::db;
use crate::args::wait_notice::with_wait_notice;
use crate::text::Failure;

/// [`LayoutArgs`], or the layout of a registry.
#[derive(Debug, clap::Args)]
pub(crate) struct LayoutOrDb {
    #[command(flatten)]
    layout: LayoutArgs,

    /// Use the layout of this registry: a SQLite file, or the address of a server, as for `take`.
    /// Without this option and without a layout, `UIDRING_DB` names the registry
    #[arg(
        long, value_name = "FILE|URL", value_parser = Db::parser(),
        conflicts_with_all = ["preset", "layout", "order", "epoch", "tick"]
    )]
    db: Option<Db>,
}

impl LayoutOrDb {
    pub(crate) fn layout(&self) -> Result<Layout, Failure> {
        Ok(self.chosen()?.unwrap_or_default())
    }

    fn chosen(&self) -> Result<Option<Layout>, Failure> {
        match self.db() {
            Some(db) => remembered(&db).map(Some),
            None => Ok(self.layout.requested()?),
        }
    }

    /// How ids are read, also those that no generator here makes. `None` where neither a layout nor
    /// a registry was named.
    pub(crate) fn format(&self) -> Result<Option<Format>, Failure> {
        match self.db() {
            Some(db) => remembered(&db).map(|layout| Some(layout.into())),
            None => Ok(self.layout.choice().format()?),
        }
    }

    /// The registry whose layout is meant: that of the environment only without a layout.
    fn db(&self) -> Option<Db> {
        let is_named = self.layout.choice().is_any();
        self.db.clone().or_else(|| if is_named { None } else { db::of_environment() })
    }
}

fn remembered(db: &Db) -> Result<Layout, Failure> {
    let layout =
        with_wait_notice(db, || Ok::<_, Failure>(db::open_existing(db, false)?.layout()?))?;
    layout.ok_or_else(|| {
        Failure::Failed(format!("the registry {db} has not been used with a layout yet"))
    })
}
