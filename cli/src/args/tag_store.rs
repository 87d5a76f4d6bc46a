//! The store of tags.

use clap::ValueEnum;
use uidring::segment::SegmentError;
use uidring_args::{Db, Table, with_causes};

use crate::args::db::{self, DbArg};
use crate::text::{Failure, failure_with_command};

/// Where the tags are.
#[derive(Debug, clap::Args)]
pub(crate) struct TagStoreArgs {
    #[command(flatten)]
    db: DbArg,

    /// The table with the tags
    #[arg(long, value_name = "TABLE", value_enum, default_value_t = Table::Own)]
    table: Table,
}

impl TagStoreArgs {
    pub(crate) fn table(&self) -> Table {
        self.table
    }

    pub(crate) fn db(&self) -> Result<Db, Failure> {
        self.db.db()
    }

    pub(crate) fn store<'a>(&self, db: &'a Db) -> TagStore<'a> {
        TagStore { db, table: self.table }
    }
}

/// The store of tags, for suggested commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagStore<'a> {
    pub(crate) db: &'a Db,
    pub(crate) table: Table,
}

impl TagStore<'_> {
    /// `uidring tags create`.
    pub(crate) fn create(self, tag: &str, first: Option<u64>) -> Vec<String> {
        let first = first.map_or_else(Vec::new, |first| strings(["--first", &first.to_string()]));
        let begin = strings(["uidring", "tags", "create"]);
        if tag.starts_with('-') {
            [begin, first, self.options(), strings(["--", tag])].concat()
        } else {
            [begin, strings([tag]), first, self.options()].concat()
        }
    }

    /// `uidring take`.
    pub(crate) fn take(self, tag: &str) -> Vec<String> {
        let tag = if tag.starts_with('-') {
            strings([&*format!("--tag={tag}")])
        } else {
            strings(["--tag", tag])
        };
        [strings(["uidring", "take"]), tag, self.options()].concat()
    }

    /// The failure for `error`, with the command that fixes it. A tag begins at `first` then.
    pub(crate) fn failure(self, error: &SegmentError, first: Option<u64>) -> Failure {
        let why = with_causes(error);
        match error {
            SegmentError::NoSuchTag { tag, .. } => {
                failure_with_command(&(why + ":"), &self.create(tag, first))
            }
            _ => Failure::Failed(why),
        }
    }

    /// The options that name the store.
    pub(crate) fn options(self) -> Vec<String> {
        let mut options = db::option(self.db);
        if self.table != Table::Own {
            let table = self.table.to_possible_value();
            options.push("--table".to_owned());
            options.extend(table.map(|table| table.get_name().to_owned()));
        }
        options
    }
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
