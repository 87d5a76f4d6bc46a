//! Taking ids without holding up a thread.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use uidring::segment::{SegmentError, SegmentGenerator};
use uidring::{SegmentFailure, TakeError, Uid, UidGenerator};

use crate::app::{App, NotReady};
use crate::db::Table;

/// How long a batch waits for loads. One for each number would take for ever.
const BATCH_TIME: Duration = Duration::from_secs(5);

/// What somebody is told whose batch took longer.
pub(crate) const TOO_MANY: &str = "the tag's segments are too short for so long a batch; ask for \
                                   fewer, or raise its step and max_step";

/// Why there are no numbers of a tag.
#[derive(Debug)]
pub(crate) enum NoNumbers {
    NotReady,
    /// The tag cannot be used, or not for now.
    Source(SegmentError),
    Take(TakeError),
    /// The segments of the tag are too short for so long a batch.
    TooMany,
    /// The call was dropped: the service ends.
    Ending,
}

impl From<NotReady> for NoNumbers {
    fn from(_: NotReady) -> NoNumbers {
        NoNumbers::NotReady
    }
}

impl NoNumbers {
    /// Whether the tag is not there.
    pub(crate) fn is_unknown_tag(&self) -> bool {
        matches!(
            self,
            NoNumbers::Source(SegmentError::NoSuchTag { .. } | SegmentError::BadTag { .. })
                | NoNumbers::Take(TakeError::SegmentExhausted { cause: SegmentFailure::NoSuchTag })
        )
    }
}

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

/// Runs `call`, which may wait for the database, on a thread that it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, SegmentError> + Send + 'static,
) -> Result<T, NoNumbers> {
    match tokio::task::spawn_blocking(call).await {
        Ok(result) => result.map_err(NoNumbers::Source),
        Err(error) if error.is_panic() => {
            Err(NoNumbers::Source(SegmentError::other("a call to the database panicked")))
        }
        Err(_) => Err(NoNumbers::Ending),
    }
}

/// Makes the tag known to this thread.
async fn know(app: &App, tag: &str) -> Result<SegmentGenerator, NoNumbers> {
    let segments = app.tags()?.segments.clone();
    let name = tag.to_owned();
    let known = blocking(move || segments.tag(&name)).await?;
    app.remember_tag(tag, known.clone());
    Ok(known)
}

/// The next number of `tag`.
pub(crate) async fn take_one(app: &App, tag: &str) -> Result<Uid, NoNumbers> {
    // A handle is cloned only where that is not the hot path.
    let tried = App::known_tag(tag, |known| known.try_take().map_err(|_| known.clone()));
    let patient = match tried {
        Some(Ok(number)) => return Ok(number),
        Some(Err(known)) => known,
        None => know(app, tag).await?,
    };
    patient.take_async().await.map_err(NoNumbers::Take)
}

/// The next `count` numbers of `tag`. If there are fewer, those are lost.
pub(crate) async fn take_many(app: &App, tag: &str, count: usize) -> Result<Vec<Uid>, NoNumbers> {
    let known = match App::known_tag(tag, Clone::clone) {
        Some(known) => known,
        None => know(app, tag).await?,
    };
    let mut numbers = Vec::with_capacity(count);
    let mut until = None;
    for _ in 0..count {
        numbers.push(if let Ok(number) = known.try_take() {
            number
        } else {
            let until = *until.get_or_insert_with(|| Instant::now() + BATCH_TIME);
            let taken = timeout_at(until, known.take_async()).await;
            taken.map_err(|_| NoNumbers::TooMany)?.map_err(NoNumbers::Take)?
        });
    }
    Ok(numbers)
}

/// The next `count` UIDs of time.
pub(crate) async fn take_uids(uids: &UidGenerator, count: usize) -> Result<Vec<Uid>, TakeError> {
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        ids.push(match uids.try_take() {
            Ok(uid) => uid,
            Err(_) => uids.take_async().await?,
        });
    }
    Ok(ids)
}
