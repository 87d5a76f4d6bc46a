//! `uidring workers list`: who has which worker id of a pool, and which pools there are.

use std::time::SystemTime;

use anstyle::Style;
use indicatif::HumanCount;
use serde::{Serialize, Serializer};
use uidring::lend::{LendError, Loan, LoanState, PoolRecord};
use uidring_args::{Db, quantity};

use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::text::table::{Column, Table};
use crate::text::words::counted;
use crate::text::{
    self, BOLD, DIM, Failure, GREEN, TIME, Times, WORKER, YELLOW, footnote, hidden, paint,
};

/// List who has which worker id of a pool, or the pools
///
/// The ids of pools are those that `uidring workers lend`, the library and the service lend to
/// other generators. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring workers list
  uidring workers list --pool shop --last 5
  uidring workers list --pool shop --json | jq .held")]
pub(crate) struct Args {
    /// The pool; all pools, and how their ids are used, without this option
    #[arg(long, value_name = "NAME")]
    pool: Option<String>,

    /// Show only the N ids that were lent last
    #[arg(long, value_name = "N", default_value = "20", value_parser = quantity::count)]
    last: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    db: DbArg,
}

#[derive(Serialize)]
struct Pools {
    pools: Vec<Pool>,
}

#[derive(Serialize)]
struct Pool {
    #[serde(rename = "pool")]
    name: String,
    bits: u32,
    held: u64,
    resting: u64,
    free: u64,
}

#[derive(Serialize)]
struct Loans {
    #[serde(flatten)]
    pool: Pool,
    /// How many ids were ever lent, shown or not.
    lent: u64,
    #[serde(rename = "loans")]
    shown: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: u64,
    #[serde(serialize_with = "word")]
    state: LoanState,
    host: String,
    since: Option<String>,
    until: Option<String>,
    rests_until: Option<String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        let Some(name) = &self.pool else {
            let pools = with_wait_notice(&db, || pools(&db))?;
            let pools: Vec<Pool> = pools.into_iter().map(Pool::of).collect();
            return text::print(&if self.json {
                text::json(&Pools { pools })?
            } else {
                table_of_pools(&pools)
            });
        };
        let loans = with_wait_notice(&db, || self.loans(&db, name))?;
        text::print(&if self.json { text::json(&loans)? } else { page(&loans) })
    }

    fn loans(&self, db: &Db, name: &str) -> Result<Loans, Failure> {
        let Some(pool) = db::lent(db)?.find_worker_pool(name)? else {
            return Err(unknown(name, db, &pools(db)?));
        };
        let mut loans = pool.loans()?;
        let lent = loans.len() as u64;
        let in_state = |state| loans.iter().filter(|loan| loan.state == state).count() as u64;
        let (held, resting) = (in_state(LoanState::Held), in_state(LoanState::Resting));
        let bits = pool.bits();
        let free = ((1 << bits) - 1_u64).saturating_sub(held + resting);
        let pool = Pool { name: name.to_owned(), bits, held, resting, free };
        loans.sort_by_key(|loan| (std::cmp::Reverse(loan.since), loan.id));
        loans.truncate(quantity::size(self.last));
        let shown = loans.into_iter().map(Row::of).collect();
        Ok(Loans { pool, lent, shown })
    }
}

fn pools(db: &Db) -> Result<Vec<PoolRecord>, Failure> {
    Ok(db::lent(db)?.worker_pools()?)
}

fn unknown(name: &str, db: &Db, pools: &[PoolRecord]) -> Failure {
    let names: Vec<&str> = pools.iter().map(|pool| pool.name.as_str()).collect();
    let there = match names.as_slice() {
        [] => "no pool yet".to_owned(),
        names => names.join(", "),
    };
    Failure::Failed(format!(
        "the registry {db} has no pool {name}: it has {there}, and `uidring workers lend --pool \
         {name}` makes one"
    ))
}

impl From<LendError> for Failure {
    fn from(error: LendError) -> Failure {
        Failure::Failed(uidring_args::with_causes(&error))
    }
}

impl Pool {
    fn of(record: PoolRecord) -> Pool {
        let counts = record.counts;
        Pool {
            name: record.name,
            bits: record.bits,
            held: counts.held,
            resting: counts.resting,
            free: counts.free,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn word<S: Serializer>(state: &LoanState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.as_str())
}

impl Row {
    fn of(loan: Loan) -> Row {
        let text = |time: SystemTime| Times::registry().rfc3339(time);
        Row {
            id: loan.id,
            state: loan.state,
            since: text(loan.since),
            until: text(loan.until),
            rests_until: text(loan.rests_until),
            host: loan.host,
        }
    }
}

fn table_of_pools(pools: &[Pool]) -> String {
    if pools.is_empty() {
        return footnote("no pool yet: `uidring workers lend --pool NAME` makes one");
    }
    let mut table = Table::new([
        Column::text("POOL", BOLD),
        Column::number("BITS", DIM),
        Column::number("HELD", WORKER),
        Column::number("RESTING", Style::new()),
        Column::number("FREE", Style::new()),
    ]);
    for pool in pools {
        let counts = [pool.held, pool.resting, pool.free].map(|it| HumanCount(it).to_string());
        let [held, resting, free] = counts;
        table.row([pool.name.clone(), pool.bits.to_string(), held, resting, free]);
    }
    table.to_string()
}

fn page(loans: &Loans) -> String {
    let mut table = Table::new([
        Column::number("ID", WORKER),
        Column::text("HOST", BOLD),
        Column::text("STATE", Style::new()).painted(),
        Column::text("SINCE (UTC)", TIME),
        Column::text("LEASE ENDS (UTC)", TIME),
        Column::text("RESTS UNTIL (UTC)", TIME),
    ]);
    for row in &loans.shown {
        let style = match row.state {
            LoanState::Held => GREEN,
            LoanState::Resting => YELLOW,
            LoanState::Free => DIM,
        };
        let state = paint(style, row.state.as_str());
        let times = [&row.since, &row.until, &row.rests_until].map(Clone::clone);
        let [since, until, rests] = times.map(Option::unwrap_or_default);
        table.row([row.id.to_string(), row.host.clone(), state, since, until, rests]);
    }
    let Pool { name, held, resting, free, .. } = &loans.pool;
    let mut page = if loans.shown.is_empty() { String::new() } else { table.to_string() };
    page += &hidden(loans.lent, loans.shown.len() as u64);
    page += &footnote(&format!(
        "of the pool {name}, {} held, {} resting, {} free",
        counted(*held, "id"),
        HumanCount(*resting),
        HumanCount(*free)
    ));
    page
}
