//! The commands that give ids and numbers.

use std::io;

use uidring::segment::Number;
use uidring::series::SeriesNumber;

use crate::app::App;
use crate::app::in_flight::{Reservation, SLICE};
use crate::commands::Command;
use crate::config::limits::MAX_IDS;
use crate::http::ids::Listed;
use crate::http::masking::MaskedIds;
use crate::http::series_numbers::{self, Wanted};
use crate::http::take_failure::TakeFailure;
use crate::http::{numbers, params, series_problem};
use crate::resp::codec::Arguments;
use crate::resp::keys;
use crate::resp::protocol_error::escaped;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;
use crate::resp::request::{Request, text};
use crate::resp::workers;
use crate::security::access::Permission;
use crate::stats::loads::MAX_EXACT;

/// The most bytes of a number in an answer.
const EACH: usize = 80;

/// The values of a list that are still to be written.
pub(crate) struct RemainingValues {
    left: usize,
    /// Writes the next value, if there is one.
    write: Box<dyn FnMut(&mut Reply) -> bool + Send>,
    /// The reserved memory of a long answer.
    reservation: Option<Reservation>,
}

impl RemainingValues {
    /// Begins a list with `count` values.
    fn new(
        reply: &mut Reply,
        count: usize,
        reservation: Option<Reservation>,
        write: impl FnMut(&mut Reply) -> bool + Send + 'static,
    ) -> RemainingValues {
        reply.array(count);
        RemainingValues { left: count, write: Box::new(write), reservation }
    }

    /// Writes values until there is enough to be sent. Whether there are more then. An error if the
    /// client is too slow.
    pub(crate) fn write(&mut self, reply: &mut Reply) -> io::Result<bool> {
        if let Some(reservation) = &mut self.reservation {
            reservation.check_time(self.left * EACH)?;
        }
        while reply.bytes.len() < SLICE {
            if !(self.write)(reply) {
                return Ok(false);
            }
            self.left = self.left.saturating_sub(1);
        }
        Ok(true)
    }
}

/// Answers a command that asks for one id or number, if that is in memory. Nearly all do. Returns
/// whether it has answered.
pub(crate) fn at_once(app: &App, asked: Request<'_>, reply: &mut Reply) -> bool {
    let Request { token, command, arguments } = asked;
    let is_one = arguments.len() == command.row().least + 1;
    let number = || {
        let tag = std::str::from_utf8(arguments.get(1)?).ok()?;
        numbers::number_in_memory(app, token, tag)
    };
    let is_given = match command {
        Command::UidNext if is_one => numbers::uid_in_memory(app, token).map(|id| reply.digits(id)),
        Command::TagNext if is_one => number().map(|number| reply.digits(number.into())),
        // The number is looked at before it is taken where one may be too large.
        Command::Incr | Command::IncrBy
            if is_one && is_by_1(arguments) && !app.watch.loads.has_inexact() =>
        {
            number().map(|number| integer(arguments, number, reply))
        }
        _ => None,
    };
    is_given.is_some()
}

/// Answers a command that gives ids or numbers or looks for tags, and may wait for the database.
/// Returns what of a list is still to be written.
pub(crate) async fn in_time(
    app: &'static App,
    asked: Request<'_>,
    reply: &mut Reply,
) -> Result<Option<RemainingValues>, Refusal> {
    app.first_try().await;
    match asked.command {
        Command::WorkerLend | Command::WorkerRenew | Command::WorkerReturn => {
            workers::answer(app, asked, reply).await.map(|()| None)
        }
        Command::UidNext => uids(app, asked, reply).await,
        Command::SeriesNext => series(app, asked, reply).await,
        Command::TagNext | Command::Incr | Command::IncrBy => tag(app, asked, reply).await,
        _ => keys::answer(app, asked, reply).await.map(|()| None),
    }
}

/// How many are asked for.
fn count(bytes: &[u8]) -> Result<usize, Refusal> {
    let count = std::str::from_utf8(bytes).ok().and_then(|text| params::number(text, MAX_IDS));
    count.and_then(|count| usize::try_from(count).ok()).ok_or_else(|| {
        Refusal::error(format!(
            "value is not an integer or out of range: '{}'; a count is a whole number from 1 to \
             {MAX_IDS}",
            escaped(bytes)
        ))
    })
}

async fn uids(
    app: &'static App,
    asked: Request<'_>,
    reply: &mut Reply,
) -> Result<Option<RemainingValues>, Refusal> {
    if !app.options.uids {
        let text = "there are no time-ordered ids here: the service has the option --uids=false";
        return Err(Refusal::error(text));
    }
    asked.check(app, Permission::Uids)?;
    let counted = asked.arguments.get(1).map(count).transpose()?;
    let count = counted.unwrap_or(1);
    let uids = numbers::take_uids(app, ("uids", app.uids()?), count).await?;
    app.counters().uids.add(count as u64);
    Ok(match &app.masked {
        None => listed(uids, counted.is_some(), reply),
        Some(masked) => listed(MaskedIds::new(uids, masked), counted.is_some(), reply),
    })
}

/// Writes one id, or begins a list of ids.
fn listed(mut ids: impl Listed, is_list: bool, reply: &mut Reply) -> Option<RemainingValues> {
    if !is_list {
        reply.digits(ids.next().unwrap_or_default());
        return None;
    }
    let (reservation, count) = (ids.reservation(), ids.len());
    let write = move |reply: &mut Reply| ids.next().map(|id| reply.digits(id)).is_some();
    Some(RemainingValues::new(reply, count, reservation, write))
}

/// Whether a command for an integer asks for the next one. Some clients send `INCRBY tag 1` for
/// `INCR tag`.
fn is_by_1(arguments: Arguments<'_>) -> bool {
    arguments.get(2).is_none_or(|increment| increment == b"1")
}

async fn tag(
    app: &'static App,
    asked: Request<'_>,
    reply: &mut Reply,
) -> Result<Option<RemainingValues>, Refusal> {
    let Request { command, arguments, .. } = asked;
    let tag = text("a tag", arguments.get(1).unwrap_or_default())?;
    numbers::check_tag(app.options.table, tag)?;
    asked.check(app, Permission::Tag(tag))?;
    let is_integer = command != Command::TagNext;
    if is_integer && !is_by_1(arguments) {
        return Err(Refusal::error(format!(
            "value is not an integer or out of range: '{}'; the increment is 1, and TAG.NEXT tag \
             count takes several numbers",
            escaped(arguments.get(2).unwrap_or_default())
        )));
    }
    if is_integer {
        let number = numbers::take_up_to(app, tag, MAX_EXACT).await?;
        reply.integer(number.map_err(|next| inexact(tag.as_bytes(), next))?.get());
        app.counters().numbers.add(1);
        return Ok(None);
    }
    let counted = arguments.get(2).map(count).transpose()?;
    let count = counted.unwrap_or(1);
    let numbers = numbers::take_many(app, tag, count).await?;
    app.counters().numbers.add(count as u64);
    Ok(listed(numbers, counted.is_some(), reply))
}

/// Answers with a number that was taken, if it is exact as an integer.
fn integer(arguments: Arguments<'_>, number: Number, reply: &mut Reply) {
    match number.get() {
        exact @ ..=MAX_EXACT => reply.integer(exact),
        // The first segment with such numbers has come in this moment.
        number => inexact(arguments.get(1).unwrap_or_default(), number).write(reply),
    }
}

/// The refusal of a number that is not given as an integer, because many clients would round it.
fn inexact(tag: &[u8], next: u64) -> Refusal {
    let tag = escaped(tag);
    Refusal::error(format!(
        "value is too large for an integer: the tag '{tag}' has come to {next}, and JavaScript and \
         Lua round integers above {MAX_EXACT}; take it as a text, with TAG.NEXT {tag}"
    ))
}

async fn series(
    app: &'static App,
    asked: Request<'_>,
    reply: &mut Reply,
) -> Result<Option<RemainingValues>, Refusal> {
    let name = text("a series", asked.arguments.get(1).unwrap_or_default())?;
    series_numbers::check_name(name)?;
    asked.check(app, Permission::Series(name))?;
    let (wanted, is_list) = wanted(asked.arguments)?;
    let room = series_numbers::AnswerMemory::reserve(app, wanted.count).await?;
    let refusal = |none| series_problem::for_client(app, asked.token, none);
    let series = series_numbers::find(app, name.to_owned()).await?.map_err(refusal)?;
    let numbers = series_numbers::take(app, &series, wanted).await?.map_err(refusal)?;
    app.counters().series_numbers.add(numbers.len() as u64);
    let (count, mut numbers) = (numbers.len(), numbers.into_iter().map(SeriesNumber::into_string));
    if is_list {
        let write = move |reply: &mut Reply| {
            numbers.next().map(|number| reply.bulk(number.as_bytes())).is_some()
        };
        return Ok(Some(RemainingValues::new(reply, count, room.reservation(), write)));
    }
    // Where a period has no more numbers, taking one fails.
    let number = numbers.next().ok_or(TakeFailure::Busy)?;
    reply.bulk(number.as_bytes());
    Ok(None)
}

/// Which numbers of a series are wanted, and whether as a list. What is empty is not said.
fn wanted(arguments: Arguments<'_>) -> Result<(Wanted, bool), Refusal> {
    let said = |index: usize, what: &str| {
        let bytes = arguments.get(index).filter(|bytes| !bytes.is_empty());
        bytes.map(|bytes| text(what, bytes)).transpose()
    };
    let mut wanted = Wanted::read(said(2, "a scope")?.map(str::to_owned), said(3, "a date")?)?;
    let counted = arguments.get(4).map(count).transpose()?;
    wanted.count = counted.unwrap_or(wanted.count);
    Ok((wanted, counted.is_some()))
}
