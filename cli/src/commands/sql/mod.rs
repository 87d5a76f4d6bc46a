//! `uidring sql`: functions for queries about UIDs.

mod arithmetic;
mod mysql;
mod postgres;
mod sqlite;

use uidring::Layout;

use crate::args::layout::LayoutOrDb;
use crate::text::{self, Failure};

/// Print functions that decode UIDs in SQL
///
/// They are for one layout: `uid_time(id)`, `uid_worker(id)`, `uid_sequence(id)`; the first and the
/// last id of a time, `uid_first(time)` and `uid_last(time)`; base32, `uid_base32(id)` and
/// `uid_from_base32(text)`; and `uid_safe_bound(seconds)`, below which no id is to be expected any
/// more. PostgreSQL and MySQL get statements that make or replace these functions. SQLite, which
/// has none, gets queries with the parameters :id, :time, :text and :seconds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring sql postgres --db postgres://db.example.com/ids | psql shop
  uidring sql mysql --layout 41,10,12 --tick 1ms | mysql shop
  uidring sql postgres --drop | psql shop
  SELECT * FROM orders WHERE id >= uid_first('2026-11-28') AND id < uid_first('2026-11-29');")]
pub(crate) struct Args {
    /// Whose language
    #[arg(value_name = "DATABASE")]
    database: Database,

    /// Print statements that remove the functions
    #[arg(long)]
    drop: bool,

    #[command(flatten)]
    layout: LayoutOrDb,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Database {
    /// `PostgreSQL`, from version 12 on
    Postgres,
    /// `MySQL` from version 8 on, and `MariaDB`
    #[value(name = "mysql")]
    MySql,
    /// `SQLite`
    Sqlite,
}

/// A function, in the order in which they are made: the last ones call those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Time,
    Worker,
    Sequence,
    First,
    Last,
    Base32,
    FromBase32,
    SafeBound,
}

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Id,
    Time,
    Text,
    /// How many seconds an id may come late.
    Seconds,
}

impl Function {
    const ALL: [Function; 8] = [
        Function::Time,
        Function::Worker,
        Function::Sequence,
        Function::First,
        Function::Last,
        Function::Base32,
        Function::FromBase32,
        Function::SafeBound,
    ];

    fn name(self) -> &'static str {
        match self {
            Function::Time => "uid_time",
            Function::Worker => "uid_worker",
            Function::Sequence => "uid_sequence",
            Function::First => "uid_first",
            Function::Last => "uid_last",
            Function::Base32 => "uid_base32",
            Function::FromBase32 => "uid_from_base32",
            Function::SafeBound => "uid_safe_bound",
        }
    }

    fn takes(self) -> Takes {
        match self {
            Function::Time | Function::Worker | Function::Sequence | Function::Base32 => Takes::Id,
            Function::First | Function::Last => Takes::Time,
            Function::FromBase32 => Takes::Text,
            Function::SafeBound => Takes::Seconds,
        }
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let layout = self.layout.layout()?;
        let lines = match (self.database, self.drop) {
            (Database::Postgres, false) => postgres::create(&layout),
            (Database::Postgres, true) => postgres::drop(),
            (Database::MySql, false) => mysql::create(&layout),
            (Database::MySql, true) => mysql::drop(),
            (Database::Sqlite, false) => sqlite::queries(&layout),
            (Database::Sqlite, true) => {
                return Err(Failure::Usage(
                    "SQLite has no functions to remove: leave --drop out".to_owned(),
                ));
            }
        };
        text::print_raw(&lines)
    }
}

/// The first line of the statements.
fn heading(layout: &Layout) -> String {
    format!("-- UIDs of the layout {layout}\n")
}
