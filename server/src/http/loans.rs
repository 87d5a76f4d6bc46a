//! Lends worker ids, for HTTP and for the Redis protocol, and says why none is lent. The texts do
//! not name the database, because any client may read them.

use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use serde::Serialize;
use uidring::lend::{Grant, LendError, LoanRequest, PoolRecord};
use uidring::segment::SegmentError;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::loans::LoanFailure;
use crate::http::idempotency::secret_of;
use crate::http::numbers::run_blocking;
use crate::http::params;
use crate::http::problem::{Problem, broken};

/// The largest id of any pool.
const LARGEST: u64 = (1 << 22) - 1;
/// How many bits ids have unless it is said.
const BITS: u32 = 10;
/// The longest name of a host.
const LONGEST_HOST: usize = 255;

/// A pool, and how its ids are used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PoolRow {
    pub(crate) pool: String,
    pub(crate) bits: u32,
    pub(crate) held: u64,
    /// Ids without a holder that may not be lent yet.
    pub(crate) resting: u64,
    pub(crate) free: u64,
}

impl From<PoolRecord> for PoolRow {
    fn from(record: PoolRecord) -> PoolRow {
        let counts = record.counts;
        PoolRow {
            pool: record.name,
            bits: record.bits,
            held: counts.held,
            resting: counts.resting,
            free: counts.free,
        }
    }
}

/// What a client asks for.
#[derive(Debug)]
pub(crate) struct WantedLoan {
    pub(crate) pool: String,
    pub(crate) bits: Option<u32>,
    pub(crate) lease: Option<Duration>,
    pub(crate) rest: Option<Duration>,
    pub(crate) clock: Option<SystemTime>,
    pub(crate) host: Option<String>,
}

/// A loan that a client has.
#[derive(Debug)]
pub(crate) struct KnownLoan {
    pub(crate) pool: String,
    pub(crate) id: u64,
    pub(crate) secret: String,
    pub(crate) clock: Option<SystemTime>,
}

impl WantedLoan {
    pub(crate) fn bits(&self) -> u32 {
        self.bits.unwrap_or(BITS)
    }

    /// The request, whose secret follows from the `key` of the client with this `token`, if it has
    /// one. So the same request has the same id, whichever server it reaches, as long as the loan
    /// lasts.
    fn request(&self, token: Option<&[u8]>, key: Option<&str>) -> Result<LoanRequest, Problem> {
        let mut request = LoanRequest::new();
        request.lease = self.lease.unwrap_or(request.lease);
        request.rest = self.rest.unwrap_or(request.rest);
        request.clock = self.clock.unwrap_or(request.clock);
        request.host = match &self.host {
            None => format!("a client of {}", request.host),
            Some(host) if host.chars().count() <= LONGEST_HOST => host.clone(),
            Some(host) => {
                return Err(Problem::bad_request("bad-host", "this is no name of a host")
                    .detail(format!("host has at most {LONGEST_HOST} characters"))
                    .value(host));
            }
        };
        let (lease, rest) = (request.lease.as_millis(), request.rest.as_millis());
        let asked = format!("worker {} {} {lease} {rest}", self.pool, self.bits());
        request.secret = key.map(|key| secret_of(token, key, &asked));
        Ok(request)
    }
}

/// Lends an id. Returns also how long it rests after its lease.
pub(crate) async fn lend(
    app: &'static App,
    wanted: WantedLoan,
    token: Option<&[u8]>,
    key: Option<&str>,
) -> Result<(Grant, Duration), Problem> {
    let request = wanted.request(token, key)?;
    let rest = request.rest;
    let bits = wanted.bits();
    let lend = move || Ok(app.loans.pool(&wanted.pool, bits)?.grant(&request)?);
    let grant = run_blocking(&app.calls, lend).await?.map_err(problem)?;
    app.counters().worker_ids.add(1);
    app.loans.note_use();
    Ok((grant, rest))
}

pub(crate) async fn renew(app: &'static App, loan: KnownLoan) -> Result<(), Problem> {
    let renew = move || {
        let clock = loan.clock.unwrap_or_else(SystemTime::now);
        Ok(app.loans.pool_of_loan(&loan.pool)?.renew(loan.id, &loan.secret, clock)?)
    };
    run_blocking(&app.calls, renew).await?.map_err(problem)?;
    app.counters().renewals.add(1);
    Ok(())
}

pub(crate) async fn give_back(app: &'static App, loan: KnownLoan) -> Result<(), Problem> {
    let give_back = move || {
        let clock = loan.clock.unwrap_or_else(SystemTime::now);
        Ok(app.loans.pool_of_loan(&loan.pool)?.give_back(loan.id, &loan.secret, clock)?)
    };
    run_blocking(&app.calls, give_back).await?.map_err(problem)?;
    app.counters().returns.add(1);
    Ok(())
}

/// The id of a loan.
pub(crate) fn id(text: &str) -> Result<u64, Problem> {
    params::number(text, LARGEST).ok_or_else(|| {
        Problem::bad_request("bad-id", "this is no worker id")
            .detail(format!("a worker id is a whole number from 1 to {LARGEST}"))
            .value(text)
    })
}

/// What the client's clock shows.
pub(crate) fn clock(text: &str) -> Result<SystemTime, Problem> {
    uidring_args::time(text).map_err(|problem| {
        Problem::bad_request("bad-time", "this is not a time").detail(problem).value(text)
    })
}

/// The seconds until `time`, at least one.
fn seconds_until(time: SystemTime) -> u32 {
    seconds(time.duration_since(SystemTime::now()).unwrap_or_default())
}

fn seconds(length: Duration) -> u32 {
    u32::try_from(length.as_secs()).unwrap_or(u32::MAX).saturating_add(1)
}

pub(crate) fn problem(none: LoanFailure) -> Problem {
    match none {
        LoanFailure::NotReady(none) => none.into(),
        LoanFailure::NoSuchPool(name) => {
            Problem::new(StatusCode::NOT_FOUND, "no-such-pool", "there is no such pool")
                .detail("the first loan of a name makes the pool")
                .value(&name)
        }
        LoanFailure::Error(error) => of(error),
    }
}

fn of(error: LendError) -> Problem {
    let detail = error.to_string();
    let bad = |kind, title| Problem::bad_request(kind, title).detail(detail.clone());
    let conflict =
        |kind, title| Problem::new(StatusCode::CONFLICT, kind, title).detail(detail.clone());
    match error {
        // The library's text names the database.
        LendError::Storage(error) => {
            tracing::warn!(problem = %error, "no worker id was lent, renewed or returned");
            SegmentError::Storage(error).into()
        }
        LendError::Name { name } => bad("bad-pool", "there can be no such pool").value(&name),
        LendError::Bits { bits } => {
            bad("bad-bits", "there can be no such pool").value(&bits.to_string())
        }
        LendError::Lease { lease } => {
            bad("bad-lease", "no lease is so long").value(&lease.as_secs().to_string())
        }
        LendError::Rest { rest } => {
            bad("bad-rest", "no rest is so long").value(&rest.as_secs().to_string())
        }
        LendError::Secret => bad("bad-secret", "this is no secret of a loan"),
        LendError::OtherBits { asked, .. } => {
            conflict("differs", "the pool is there, and is another")
                .field("bits")
                .value(&asked.to_string())
        }
        LendError::Full { first_free, .. } => {
            conflict("pool-full", "the pool has no free id").retry_after(seconds_until(first_free))
        }
        LendError::ClockBehind { by } => {
            conflict("clock-behind", "the clock is behind").retry_after(seconds(by))
        }
        LendError::Lost { id } => {
            let title = "the loan is over";
            let problem = Problem::new(StatusCode::GONE, "loan-over", title).detail(detail);
            problem.value(&id.to_string())
        }
        _ => broken(detail),
    }
}
