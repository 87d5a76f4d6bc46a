//! The commands that lend worker ids.

use std::time::{Duration, SystemTime};

use crate::app::App;
use crate::commands::Command;
use crate::http::idempotency::is_key;
use crate::http::loans::{self, KnownLoan, WantedLoan};
use crate::http::params;
use crate::resp::protocol_error::escaped;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;
use crate::resp::request::{Request, text};
use crate::security::access::Permission;

/// Answers a command about a loan.
pub(crate) async fn answer(
    app: &'static App,
    asked: Request<'_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let pool = text("a pool", asked.arguments.get(1).unwrap_or_default())?;
    asked.check(app, Permission::Pool(pool))?;
    match asked.command {
        Command::WorkerLend => lend(app, asked, pool, reply).await,
        Command::WorkerRenew => {
            loans::renew(app, known(asked, pool)?).await?;
            reply.simple("OK");
            Ok(())
        }
        _ => {
            loans::give_back(app, known(asked, pool)?).await?;
            reply.simple("OK");
            Ok(())
        }
    }
}

/// Answers with the id, the secret, and the seconds of the lease.
async fn lend(
    app: &'static App,
    asked: Request<'_>,
    pool: &str,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let (wanted, key) = options(asked, pool)?;
    let (grant, _) = loans::lend(app, wanted, asked.token, key.as_deref()).await?;
    reply.array(3);
    reply.integer(grant.id);
    reply.bulk(grant.secret.as_bytes());
    reply.integer(grant.lease.as_secs());
    Ok(())
}

/// What is asked for, and the key of the request, if it has one.
fn options(asked: Request<'_>, pool: &str) -> Result<(WantedLoan, Option<String>), Refusal> {
    let pool = pool.to_owned();
    let (bits, lease, rest, clock, host) = (None, None, None, None, None);
    let mut wanted = WantedLoan { pool, bits, lease, rest, clock, host };
    let mut key = None;
    let mut words = asked.arguments.from(2);
    while let Some(word) = words.next() {
        let advice = "write BITS, LEASE, REST, CLOCK, HOST or KEY, each with a value";
        let value = words.next().ok_or_else(|| Refusal::argument(word, advice))?;
        match word.to_ascii_uppercase().as_slice() {
            b"BITS" => {
                let bits = u32::try_from(number("BITS", value)?);
                let too_many = |_| Refusal::argument(value, "an id has 1 to 22 bits");
                wanted.bits = Some(bits.map_err(too_many)?);
            }
            b"LEASE" => wanted.lease = Some(Duration::from_secs(number("LEASE", value)?)),
            b"REST" => wanted.rest = Some(Duration::from_secs(number("REST", value)?)),
            b"CLOCK" => wanted.clock = Some(clock_of(value)?),
            b"HOST" => wanted.host = Some(text("a host", value)?.to_owned()),
            b"KEY" if is_key(value) => key = Some(text("a key", value)?.to_owned()),
            _ => return Err(Refusal::argument(word, advice)),
        }
    }
    Ok((wanted, key))
}

/// The loan that a command is about: its pool, id and secret, and what the clock shows.
fn known(asked: Request<'_>, pool: &str) -> Result<KnownLoan, Refusal> {
    let argument = |index| asked.arguments.get(index).unwrap_or_default();
    let clock = asked.arguments.get(4).map(clock_of).transpose()?;
    Ok(KnownLoan {
        pool: pool.to_owned(),
        id: loans::id(text("an id", argument(2))?)?,
        secret: text("a secret", argument(3))?.to_owned(),
        clock,
    })
}

/// A time in milliseconds since 1970.
fn clock_of(bytes: &[u8]) -> Result<SystemTime, Refusal> {
    let ms = number("CLOCK, in milliseconds since 1970,", bytes)?;
    Ok(SystemTime::UNIX_EPOCH + Duration::from_millis(ms))
}

/// No number is larger: a time in milliseconds of the year 9999 is less.
const MOST: u64 = 253_402_300_799_999;

fn number(what: &str, bytes: &[u8]) -> Result<u64, Refusal> {
    let number = std::str::from_utf8(bytes).ok().and_then(|text| params::number(text, MOST));
    number.ok_or_else(|| {
        Refusal::error(format!("{what} is a whole number from 1 on, and not '{}'", escaped(bytes)))
    })
}
