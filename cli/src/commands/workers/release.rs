//! `uidring workers release`: frees a leased worker id whose holder is gone.

use uidring::clock::{Clock, SystemClock};
use uidring::registry::RegistryAdmin;
use uidring_args::{Db, worker_id};

use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::commands::workers::lease::{State, time_of};
use crate::text::words::distance;
use crate::text::{self, Failure, Times, footnote, paragraph};

/// Free a leased worker id whose holder is gone
///
/// An id whose lease has expired is free already; releasing it makes sure that its holder does not
/// return to it. This never repeats a UID: the next holder begins after the last tick reserved, and
/// a holder that is still running finds its lease lost and takes another id.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring workers release 7
  uidring workers release 7 --db postgres://orders@db.example.com/orders
  uidring workers release 7 --force   take it though its lease has not expired")]
pub(crate) struct Args {
    /// The worker id
    #[arg(value_name = "ID", value_parser = worker_id, allow_negative_numbers = true)]
    worker: u64,

    /// Release it even if its lease has not expired
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    db: DbArg,

    /// Ask the table `WORKER_NODE` of `UidGenerator`, whose ids are given once and never free
    #[arg(long)]
    uid_generator: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        text::print(&with_wait_notice(&db, || self.release(&db))?)
    }

    /// Releases the id, and returns what is to be said about it.
    fn release(&self, db: &Db) -> Result<String, Failure> {
        let registry = db::open_existing(db, self.uid_generator)?;
        let layout = registry.layout()?.unwrap_or_default();
        let found = registry.workers_below(self.worker.saturating_add(1), 1)?;
        let Some(worker) = found.first().filter(|worker| worker.id == self.worker) else {
            return Err(Failure::Failed(unknown(self.worker, db, &registry)?));
        };
        let (id, now) = (worker.id, SystemClock.now());
        let holder = format!("{}/{}", worker.host_name, worker.port);
        let Some(lease) = &worker.lease else {
            return Err(Failure::Failed(format!(
                "worker id {id} was given to {holder} once and for all: it is never given again, \
                 so there is nothing to free"
            )));
        };
        let reserved = time_of(&layout, lease.reserved_until).unwrap_or(layout.expires_at());
        let next = format!("its next holder begins after {}", Times::of(&layout).utc(reserved));
        let safe = format!(
            "{next}, the last tick reserved, and {holder}, if it is still running, finds its lease \
             lost and takes another id"
        );
        let until = Times::registry().utc(lease.until);
        let freed = match State::of(lease, now) {
            State::GivenBack => {
                return Err(Failure::Failed(format!(
                    "worker id {id} is free already, since {until}; {next}"
                )));
            }
            State::Held if !self.force => {
                return Err(Failure::Failed(format!(
                    "worker id {id} is held by {holder} until {until}: \
                     stop it, or if it is gone, wait; or take the id away with --force, which is \
                     safe: {safe}"
                )));
            }
            State::Held => format!("worker id {id} was taken from {holder}, and is free"),
            State::Expired => {
                format!(
                    "worker id {id} is free: the lease of {holder} expired {}",
                    distance(lease.until, now)
                )
            }
        };
        registry.revoke(id)?;
        Ok(paragraph(&freed) + &footnote(&format!("this is safe: {safe}")))
    }
}

/// Why there is nothing to free of an id that has no row.
fn unknown(worker: u64, db: &Db, registry: &dyn RegistryAdmin) -> Result<String, Failure> {
    let largest = registry.largest_given()?;
    let first = registry.ids()?.map_or(1, |ids| *ids.start());
    Ok(if (first..=largest).contains(&worker) {
        format!(
            "the registry {db} does not remember worker id {worker}: its row is gone, \
             and the id is never given again"
        )
    } else {
        format!(
            "the registry {db} has not given worker id {worker}: the largest so far is {largest}"
        )
    })
}
