//! Takes ids without blocking the thread's other requests.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};
use uidring::segment::{Number, Segment, SegmentError, SegmentGenerator, SegmentStatus};
use uidring::{TakeError, UidGenerator};
use uidring_args::Table;

use crate::app::App;
use crate::http::batch::{BYTES_PER_ID, Batch, Ids};
use crate::http::problem::Problem;
use crate::http::take_failure::TakeFailure;
use crate::security::access::Permission;
use crate::stats::trouble::Cause;

/// How long a request waits for a permit to call the database, and how long for its ids.
const PATIENCE: Duration = Duration::from_secs(5);

/// The message if a batch takes longer.
const TOO_MANY_NUMBERS: &str = "the tag's segments are too short for so long a batch; ask for \
                                fewer, or raise its step and max_step";
const TOO_MANY_UIDS: &str = "the layout has too few UIDs a second for so long a batch; ask for \
                             fewer, or choose a layout with a longer sequence";

/// The longest tag name in `table`, in characters.
pub(crate) fn longest_tag(table: Table) -> usize {
    match table {
        Table::Own | Table::Leaf => 128,
        Table::TinyId => 63,
        Table::CosId => 100,
    }
}

/// Whether `tag` is a valid name in `table`.
pub(crate) fn is_tag(table: Table, tag: &str) -> bool {
    !tag.is_empty() && tag.chars().count() <= longest_tag(table) && !tag.contains(char::is_control)
}

/// The problem of a `tag` that is no valid name in `table`.
pub(crate) fn check_tag(table: Table, tag: &str) -> Result<(), Problem> {
    if is_tag(table, tag) {
        return Ok(());
    }
    let longest = longest_tag(table);
    Err(Problem::bad_request("bad-tag", "there can be no such tag")
        .detail(format!("a tag has 1 to {longest} characters, none of them a control character"))
        .value(tag))
}

/// The next UID as clients get it, if they may have it and it can be taken at once.
pub(crate) fn uid_in_memory(app: &App, token: Option<&[u8]>) -> Option<u64> {
    if !app.options.uids {
        return None;
    }
    app.access.check(token, Permission::Uids).ok()?;
    let uid = app.uids().ok()?.try_take().ok()?;
    app.counters().uids.add(1);
    Some(match &app.masked {
        None => uid.get(),
        Some(masked) => masked.mask(uid),
    })
}

/// The next number of a tag that this thread has used before, if the client may have it and it can
/// be taken at once.
pub(crate) fn number_in_memory(app: &App, token: Option<&[u8]>, tag: &str) -> Option<Number> {
    app.access.check(token, Permission::Tag(tag)).ok()?;
    let number = App::known_tag(tag, |tag| tag.try_take().ok()).flatten()?;
    app.counters().numbers.add(1);
    Some(number)
}

/// Runs `call`, which may block on the database, on a blocking thread. If the client disconnects
/// while the request waits for a permit, the call is not made.
pub(crate) async fn blocking<T: Send + 'static>(
    turns: &'static Semaphore,
    call: impl FnOnce() -> Result<T, SegmentError> + Send + 'static,
) -> Result<T, TakeFailure> {
    run_blocking(turns, call).await?.map_err(TakeFailure::Source)
}

/// Waits for a permit.
pub(crate) async fn acquire_permit(
    turns: &'static Semaphore,
) -> Result<SemaphorePermit<'static>, TakeFailure> {
    // Nobody closes a semaphore.
    let turn = timeout(PATIENCE, turns.acquire()).await.ok().and_then(Result::ok);
    turn.ok_or(TakeFailure::Busy)
}

/// Runs `call` as [`blocking`] does, whatever its result.
pub(crate) async fn run_blocking<T: Send + 'static>(
    turns: &'static Semaphore,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TakeFailure> {
    let turn = acquire_permit(turns).await?;
    let call = move || {
        // The permit is held until the call ends, even if its client has disconnected.
        let _turn = turn;
        call()
    };
    match tokio::task::spawn_blocking(call).await {
        Ok(result) => Ok(result),
        Err(error) if error.is_panic() => {
            Err(TakeFailure::Source(SegmentError::other("a call to the database panicked")))
        }
        Err(_) => Err(TakeFailure::Ending),
    }
}

/// Reads a list of all tags or of all series. The permit that comes with it is to be kept until the
/// answer is made: a list may be long, so there is one at a time in memory.
pub(crate) async fn one_list<T: Send + 'static, E: Send + 'static>(
    app: &'static App,
    read: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<Result<(T, SemaphorePermit<'static>), E>, TakeFailure> {
    let turn = acquire_permit(&app.lists).await?;
    // The call has the permit, so that it is held even if the client has disconnected.
    run_blocking(&app.calls, move || read().map(|list| (list, turn))).await
}

/// The tag's generator, which is then remembered for this thread.
async fn look_up(app: &'static App, tag: &str) -> Result<SegmentGenerator, TakeFailure> {
    // If another thread has used the tag, no call to the database is needed.
    let known = if let Some(known) = app.used_tag(tag) {
        known
    } else {
        let (segments, name) = (app.tags()?.segments.clone(), tag.to_owned());
        let known = blocking(&app.first_uses, move || segments.tag(&name)).await;
        known.inspect_err(|none| first_use_failed(app, none))?
    };
    app.remember_tag(tag, known.clone());
    Ok(known)
}

/// The next number of `tag`.
pub(crate) async fn take_one(app: &'static App, tag: &str) -> Result<Number, TakeFailure> {
    // The handle is cloned only on failure, off the hot path.
    let tried = App::known_tag(tag, |known| known.try_take().map_err(|_| known.clone()));
    let patient = match tried {
        Some(Ok(number)) => return Ok(number),
        Some(Err(known)) => known,
        None => look_up(app, tag).await?,
    };
    patient.take_async().await.map_err(|error| failed(app, &patient, error))
}

/// The next number of `tag`, if it is at most `most`; else that number, which is used up only where
/// others take numbers of the tag in the same moment.
pub(crate) async fn take_up_to(
    app: &'static App,
    tag: &str,
    most: u64,
) -> Result<Result<Number, u64>, TakeFailure> {
    let known = match App::known_tag(tag, Clone::clone) {
        Some(known) => known,
        None => look_up(app, tag).await?,
    };
    if let Some(next) = next_number(&known.status()).filter(|next| *next > most) {
        return Ok(Err(next));
    }
    let number = match known.try_take() {
        Ok(number) => number,
        Err(_) => known.take_async().await.map_err(|error| failed(app, &known, error))?,
    };
    Ok(if number.get() > most { Err(number.get()) } else { Ok(number) })
}

/// The next number of a tag, or one shortly after it where its row has left numbers out.
fn next_number(status: &SegmentStatus) -> Option<u64> {
    let last = status.last_number?;
    Some(match status.in_memory.checked_sub(1) {
        Some(after) => last.saturating_sub(after.saturating_mul(status.delta)),
        None => last.saturating_add(status.delta),
    })
}

/// Records the failed take of a tag that was loaded before.
fn failed(app: &App, tag: &SegmentGenerator, error: TakeError) -> TakeFailure {
    app.watch.demand.tag_failed(tag.tag(), tag.status().taken);
    TakeFailure::Take(error)
}

/// Takes the next `count` numbers of `tag`. All are taken before the answer begins. If there are
/// too few, or if the client disconnects, those already taken are lost.
pub(crate) async fn take_many(
    app: &'static App,
    tag: &str,
    count: usize,
) -> Result<Ids, TakeFailure> {
    let mut numbers = Batch::with_room(app, count, BYTES_PER_ID).await?;
    let known = match App::known_tag(tag, Clone::clone) {
        Some(known) => known,
        None => look_up(app, tag).await?,
    };
    let mut until = None;
    for _ in 0..count {
        let number = if let Ok(number) = known.try_take() {
            number
        } else {
            let until = *until.get_or_insert_with(|| Instant::now() + PATIENCE);
            let taken = timeout_at(until, known.take_async()).await;
            let taken = taken.map_err(|_| TakeFailure::TooMany(TOO_MANY_NUMBERS))?;
            taken.map_err(|error| failed(app, &known, error))?
        };
        numbers.push(number.into());
    }
    Ok(numbers.finish())
}

/// Loads the next segment of `tag`, for a client that hands out its numbers itself.
pub(crate) async fn load(
    app: &'static App,
    tag: &str,
    size: Option<u64>,
) -> Result<Segment, TakeFailure> {
    let (source, name) = (app.tags()?.source.clone(), tag.to_owned());
    app.watch.demand.client_asked();
    let loaded = blocking(&app.calls, move || source.load(&name, size)).await;
    loaded.inspect_err(|none| first_use_failed(app, none))
}

/// Records a failed request for a tag that may not have been loaded before. Errors of one row are
/// ignored, because a client may name any row, so they say nothing about the service.
fn first_use_failed(app: &App, none: &TakeFailure) {
    let is_of_row = matches!(none, TakeFailure::Source(error) if Cause::of(error).is_of_row());
    if !is_of_row {
        app.watch.demand.first_use_failed();
    }
}

/// Takes the next `count` UIDs of a generator. If there are too few, those already taken are lost.
pub(crate) async fn take_uids(
    app: &'static App,
    (kind, uids): (&'static str, &UidGenerator),
    count: usize,
) -> Result<Ids, TakeFailure> {
    let mut ids = Batch::with_room(app, count, BYTES_PER_ID).await?;
    let mut until = None;
    for index in 0..count {
        let uid = match uids.try_take() {
            Ok(uid) => uid,
            Err(reason) => {
                let until = *until.get_or_insert_with(|| Instant::now() + PATIENCE);
                let is_soon = reason.retry_in().is_some_and(|time| time < PATIENCE);
                let late = if is_soon && index > 0 {
                    TakeFailure::TooMany(TOO_MANY_UIDS)
                } else {
                    TakeFailure::Take(reason)
                };
                let taken = timeout_at(until, uids.take_async()).await;
                let taken = taken.map_err(|_| late).and_then(|uid| uid.map_err(TakeFailure::Take));
                taken.inspect_err(|none| {
                    if none.is_failure() {
                        let error =
                            if let TakeFailure::Take(error) = none { *error } else { reason };
                        app.watch.demand.generator_failed(kind, uids.status().taken, error);
                    }
                })?
            }
        };
        ids.push(uid.into());
    }
    Ok(ids.finish())
}
