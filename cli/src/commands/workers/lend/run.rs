//! Lends the id, starts the command, and returns the id.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

use crossbeam::channel::{Sender, unbounded};
use nix::sys::wait::WaitStatus;
use uidring::lend::{LendError, LentWorker, Loan, LoanState, Loss, WorkerPool};
use uidring_args::with_causes;

use crate::args::db;
use crate::args::wait_notice::with_wait_notice;
use crate::commands::workers::lend::event::Event;
use crate::commands::workers::lend::group::Group;
use crate::commands::workers::lend::signals::Signals;
use crate::commands::workers::lend::supervisor::{Held, Outcome, Supervisor};
use crate::commands::workers::lend::watcher::Watcher;
use crate::commands::workers::lend::words::Split;
use crate::commands::workers::lend::{Args, child, supervisor};
use crate::text::words::{counted, span_in_seconds};
use crate::text::{Failure, Times, print_error};

/// The exit statuses of the tool itself. The first is that of `timeout`, the second that of a
/// temporary failure in `sysexits.h`, the last that of `env` and others.
const LOST: u8 = 124;
const FULL: u8 = 75;
const FAILED: u8 = 125;

/// How many holders are named where a pool is full.
const MOST_HOLDERS: usize = 10;

impl Held for LentWorker {
    fn is_held(&self) -> bool {
        LentWorker::is_held(self)
    }

    fn time_left(&self) -> Duration {
        LentWorker::time_left(self)
    }
}

pub(super) fn run(args: &Args, split: Split) -> Result<(), Failure> {
    let (events_in, events) = unbounded();
    let signals = Signals::listen(events_in.clone()).map_err(|error| failed(&error))?;
    supervisor::adopt_descendants();
    let worker = lend(args, events_in.clone())?;
    let (id, pool, program) = (worker.id(), &args.pool, child::shown(&args.command[0]));
    args.say(&format!("{program} has worker id {id} of the pool {pool}"));
    let began = Instant::now();
    let outcome = begin(args, split, &worker, events_in, &signals);
    let outcome = outcome.map(|begun| match begun {
        Begun::Runs(supervisor) => supervisor.run(&events),
        Begun::Ended(status) => Outcome::Status(supervisor::status(status)),
    });
    let ran = span_in_seconds(began.elapsed());
    let returned = worker.close();
    match outcome {
        Ok(Outcome::Status(status)) => {
            match returned {
                Ok(()) => args.say(&format!("returned worker id {id} after {ran}")),
                Err(error) => print_error(&format!(
                    "worker id {id} could not be returned, and is free when its lease and its rest \
                     are over: {}",
                    with_causes(&error)
                )),
            }
            Err(Failure::Ended(status))
        }
        Ok(Outcome::Lost(why)) => Err(Failure::Status {
            status: LOST,
            sentence: format!("ended {program} before worker id {id} is another's: {why}"),
        }),
        Err(error) => Err(failed(&error)),
    }
}

enum Begun<'a> {
    Runs(Box<Supervisor<'a>>),
    /// It had ended before it could begin.
    Ended(WaitStatus),
}

/// Starts the command up to its first step, with a watcher that knows it.
fn begin<'a>(
    args: &Args,
    split: Split,
    worker: &'a LentWorker,
    events: Sender<Event>,
    signals: &Signals,
) -> io::Result<Begun<'a>> {
    let watcher = Watcher::start()?;
    let (command, variables) = told(args, split, worker.id());
    match child::start(&command, &variables)? {
        Err(status) => Ok(Begun::Ended(status)),
        Ok(process) => {
            let supervisor = Supervisor::new(worker, Group(process), watcher, args.loan.lease)?;
            supervisor::look_after_children(events)?;
            signals.begin();
            Ok(Begun::Runs(Box::new(supervisor)))
        }
    }
}

/// The command and its variables with the id in them.
fn told(args: &Args, split: Split, id: u64) -> (Vec<OsString>, Vec<(String, OsString)>) {
    let command = args.command.iter().map(|text| split.filled(text, id)).collect();
    let filled = args.variables.iter().map(|it| (it.name.clone(), split.filled(&it.text, id)));
    (command, filled.collect())
}

/// Lends an id. If the pool is full, says who has it.
fn lend(args: &Args, events: Sender<Event>) -> Result<LentWorker, Failure> {
    let db = args.db.db()?;
    let store = db::lending(&db)?;
    let on_loss = move |loss: &Loss| drop(events.send(Event::Loss(loss.to_string())));
    let options = args.loan.options().on_loss(on_loss);
    let pool = store.worker_pool(&args.pool, args.bits.into()).map_err(|error| failed(&error))?;
    with_wait_notice(&db, || pool.lend(options)).map_err(|error| match error {
        LendError::Full { .. } => full(&error, &pool),
        error => failed(&error),
    })
}

/// Says who has the ids of a pool, and until when, those first that are free first.
fn full(error: &LendError, pool: &WorkerPool) -> Failure {
    let mut loans = pool.loans().unwrap_or_default();
    loans.sort_by_key(|loan| loan.rests_until);
    let shown: Vec<String> = loans.iter().take(MOST_HOLDERS).map(holder).collect();
    let more = match loans.len().saturating_sub(MOST_HOLDERS) {
        0 => String::new(),
        more => format!("; and {} more, see uidring workers list", counted(more as u64, "id")),
    };
    let sentence = format!("{}. {}{more}", with_causes(error), shown.join("; "));
    Failure::Status { status: FULL, sentence }
}

fn holder(loan: &Loan) -> String {
    let (id, host, times) = (loan.id, &loan.host, Times::registry());
    let [until, free] = [loan.until, loan.rests_until].map(|time| times.utc(time));
    if loan.state == LoanState::Held {
        format!("{id} is held by {host} until {until} at least")
    } else {
        format!("{id}, of {host}, rests until {free}")
    }
}

fn failed(error: &dyn Error) -> Failure {
    Failure::Status { status: FAILED, sentence: with_causes(error) }
}
