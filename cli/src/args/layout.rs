//! The options that name a layout, or the registry whose layout is meant.

use uidring::Layout;
use uidring::registry::RegistryAdmin;
use uidring_args::{Db, LayoutArgs};

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

    /// `None` where neither a layout nor a registry was named.
    pub(crate) fn chosen(&self) -> Result<Option<Layout>, Failure> {
        if let Some(db) = &self.db {
            return remembered(db).map(Some);
        }
        match (self.layout.requested()?, db::of_environment()) {
            (None, Some(db)) => remembered(&db).map(Some),
            (asked, _) => Ok(asked),
        }
    }
}

fn remembered(db: &Db) -> Result<Layout, Failure> {
    let layout =
        with_wait_notice(db, || Ok::<_, Failure>(db::open_existing(db, false)?.layout()?))?;
    layout.ok_or_else(|| {
        Failure::Failed(format!("the registry {db} has not been used with a layout yet"))
    })
}
