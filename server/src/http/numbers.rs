//! Taking ids without holding up a thread.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use uidring::segment::{Number, Segment, SegmentError, SegmentGenerator};
use uidring::{TakeError, UidGenerator};
use uidring_args::Table;

use crate::app::App;
use crate::http::batch::{Batch, Ids};
use crate::http::no_numbers::NoNumbers;
use crate::stats::trouble::Cause;

/// How long a request waits for its turn at the database, and how long for its ids. In a batch, a
/// wait for each id would take for ever.
const PATIENCE: Duration = Duration::from_secs(5);

/// What somebody is told whose batch took longer.
const TOO_MANY_NUMBERS: &str = "the tag's segments are too short for so long a batch; ask for \
                                fewer, or raise its step and max_step";
const TOO_MANY_UIDS: &str = "the layout has too few UIDs a second for so long a batch; ask for \
                             fewer, or choose a layout with a longer sequence";

/// The most characters of a tag in `table`.
pub(crate) fn longest_tag(table: Table) -> usize {
    match table {
        Table::Own | Table::Leaf => 128,
        Table::TinyId => 63,
    }
}

/// Whether a table can have such a tag.
pub(crate) fn is_tag(table: Table, tag: &str) -> bool {
    !tag.is_empty() && tag.chars().count() <= longest_tag(table) && !tag.contains(char::is_control)
}

/// Runs `call`, which may wait for the database, on a thread that it may block. A client that goes
/// away while others have their turn asks for nothing.
pub(crate) async fn blocking<T: Send + 'static>(
    turns: &'static Semaphore,
    call: impl FnOnce() -> Result<T, SegmentError> + Send + 'static,
) -> Result<T, NoNumbers> {
    let turn = timeout(PATIENCE, turns.acquire()).await.map_err(|_| NoNumbers::Busy)?;
    let call = move || {
        // Held until the call has ended, also where nobody waits for it any more.
        let _turn = turn;
        call()
    };
    match tokio::task::spawn_blocking(call).await {
        Ok(result) => result.map_err(NoNumbers::Source),
        Err(error) if error.is_panic() => {
            Err(NoNumbers::Source(SegmentError::other("a call to the database panicked")))
        }
        Err(_) => Err(NoNumbers::Ending),
    }
}

/// Makes the tag known to this thread.
async fn know(app: &'static App, tag: &str) -> Result<SegmentGenerator, NoNumbers> {
    // It needs no database if another thread knows it.
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
pub(crate) async fn take_one(app: &'static App, tag: &str) -> Result<Number, NoNumbers> {
    // A handle is cloned only where that is not the hot path.
    let tried = App::known_tag(tag, |known| known.try_take().map_err(|_| known.clone()));
    let patient = match tried {
        Some(Ok(number)) => return Ok(number),
        Some(Err(known)) => known,
        None => know(app, tag).await?,
    };
    patient.take_async().await.map_err(|error| failed(app, &patient, error))
}

/// Notes that a tag that was loaded before has no number.
fn failed(app: &App, tag: &SegmentGenerator, error: TakeError) -> NoNumbers {
    app.watch.asked.tag_failed(tag.tag(), tag.status().taken);
    NoNumbers::Take(error)
}

/// The next `count` numbers of `tag`. If there are fewer, those are lost. So are those of a client
/// that goes away before it has read them: all are taken before the answer begins.
pub(crate) async fn take_many(
    app: &'static App,
    tag: &str,
    count: usize,
) -> Result<Ids, NoNumbers> {
    let mut numbers = Batch::with_room(app, count).await?;
    let known = match App::known_tag(tag, Clone::clone) {
        Some(known) => known,
        None => know(app, tag).await?,
    };
    let mut until = None;
    for _ in 0..count {
        let number = if let Ok(number) = known.try_take() {
            number
        } else {
            let until = *until.get_or_insert_with(|| Instant::now() + PATIENCE);
            let taken = timeout_at(until, known.take_async()).await;
            let taken = taken.map_err(|_| NoNumbers::TooMany(TOO_MANY_NUMBERS))?;
            taken.map_err(|error| failed(app, &known, error))?
        };
        numbers.push(number.into());
    }
    Ok(numbers.finish())
}

/// The next segment of `tag`, for a client that hands it out by itself.
pub(crate) async fn load(
    app: &'static App,
    tag: &str,
    size: Option<u64>,
) -> Result<Segment, NoNumbers> {
    let (source, name) = (app.tags()?.source.clone(), tag.to_owned());
    app.watch.asked.segment();
    let loaded = blocking(&app.calls, move || source.load(&name, size)).await;
    loaded.inspect_err(|none| first_use_failed(app, none))
}

/// Notes that there are no numbers of a tag that this process may not have loaded before. What is
/// wrong with a row alone says nothing of the service: it may be any that a client names.
fn first_use_failed(app: &App, none: &NoNumbers) {
    let is_of_row = matches!(none, NoNumbers::Source(error) if Cause::of(error).is_of_row());
    if !is_of_row {
        app.watch.asked.first_use_failed();
    }
}

/// The next `count` time-ordered ids of a kind of generator. If there are fewer, those are lost.
pub(crate) async fn take_uids(
    app: &'static App,
    (kind, uids): (&'static str, &UidGenerator),
    count: usize,
) -> Result<Ids, NoNumbers> {
    let mut ids = Batch::with_room(app, count).await?;
    let mut until = None;
    for index in 0..count {
        let uid = match uids.try_take() {
            Ok(uid) => uid,
            Err(reason) => {
                let until = *until.get_or_insert_with(|| Instant::now() + PATIENCE);
                let is_soon = reason.retry_in().is_some_and(|time| time < PATIENCE);
                let late = if is_soon && index > 0 {
                    NoNumbers::TooMany(TOO_MANY_UIDS)
                } else {
                    NoNumbers::Take(reason)
                };
                let taken = timeout_at(until, uids.take_async()).await;
                let taken = taken.map_err(|_| late).and_then(|uid| uid.map_err(NoNumbers::Take));
                taken.inspect_err(|none| {
                    if none.is_failure() {
                        app.watch.asked.generator_failed(kind, uids.status().taken);
                    }
                })?
            }
        };
        ids.push(uid.into());
    }
    Ok(ids.finish())
}
