//! [`PastUids`], a generator of ids of times that were.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use uidring::{Layout, PastGenerator, PastStatus, TakeAtError, TakeError};

use crate::error::Error;
use crate::options::{self, UidOptions};
use crate::status;
use crate::store::{Close, Open, OpenFile};
use crate::uids::{Parts, builder_on, layout_text, parts_of};
use crate::watched::Answers;

/// A generator of ids of times that were. Clones are cheap, and each is a handle of the same.
///
/// Times are in milliseconds since 1970.
#[derive(Clone, Debug)]
pub struct PastUids {
    /// Read without a lock, which a fork could leave locked.
    state: Arc<ArcSwap<State>>,
    layout: Layout,
    file: OpenFile,
    answers: Answers,
}

#[derive(Debug)]
enum State {
    Open(PastGenerator),
    /// With what it had done.
    Closed(PastStatus),
}

impl Open for PastUids {
    fn open(address: &str, options: &[(&str, &str)]) -> Result<PastUids, Error> {
        let options: UidOptions = options::parse(options)?;
        // Before a worker id is asked for.
        if options.generator.is_leased() {
            return Err(Error::argument(
                "ids of the past need a worker id that nobody had before, and one that is leased \
                 is lent again and again: leave out the option lease",
            ));
        }
        let (builder, file, answers) = builder_on(address, &options)?;
        let past = builder.build_past()?;
        let layout = *past.layout();
        let state = Arc::new(ArcSwap::from_pointee(State::Open(past)));
        Ok(PastUids { state, layout, file, answers })
    }
}

impl Close for PastUids {
    fn close(&self) -> Result<(), Error> {
        if let State::Open(past) = &**self.state.load() {
            self.state.store(Arc::new(State::Closed(past.status())));
        }
        self.file.close();
        Ok(())
    }
}

impl PastUids {
    /// Takes a UID whose time is the tick of `unix_ms`, which is not after now.
    ///
    /// # Errors
    /// The time is before the layout's epoch or after now, there is no further worker id where one
    /// is needed, or the generator has ended. Nothing is taken then.
    pub fn take_at(&self, unix_ms: i64) -> Result<u64, Error> {
        let time = time(unix_ms)?;
        self.with(|past| Ok(past.take_at(time)?.get()))
    }

    /// Takes a UID for each of the times, in their order.
    ///
    /// # Errors
    /// As [`take_at`](PastUids::take_at), with which time it is. All times are looked at before the
    /// first UID is taken; those that were taken before a further worker id could not be had are
    /// given to nobody.
    pub fn take_times(&self, unix_ms: &[i64]) -> Result<Vec<u64>, Error> {
        // Numbered as the library numbers those that it refuses.
        let numbered = (1..).zip(unix_ms).map(|(number, &unix_ms)| {
            let refused = |error: Error| Error::argument(format!("time {number}: {error}"));
            time(unix_ms).map_err(refused)
        });
        let times = numbered.collect::<Result<Vec<_>, _>>()?;
        self.with(|past| {
            let uids = past.take_times(&times)?;
            Ok(uids.into_iter().map(uidring::Uid::get).collect())
        })
    }

    /// Decodes a UID of this generator's layout.
    ///
    /// # Errors
    /// It is not a UID, or has a time that this platform cannot represent.
    pub fn parts(&self, uid: u64) -> Result<Parts, Error> {
        parts_of(&self.layout, uid)
    }

    /// The layout as the options write it, as [`Uids::layout`](crate::Uids::layout).
    #[must_use]
    pub fn layout(&self) -> String {
        layout_text(&self.layout)
    }

    /// The worker id that was taken on last.
    ///
    /// # Errors
    /// The generator was closed, or the process was forked from the one that opened it.
    pub fn worker_id(&self) -> Result<u64, Error> {
        self.with(|past| {
            let status = past.status();
            obstacle(&status).map_or(Ok(status.worker_id), |error| Err(error.into()))
        })
    }

    /// The state, as a JSON object.
    #[must_use]
    pub fn status(&self) -> String {
        let (status, obstacle) = match &**self.state.load() {
            State::Open(past) => {
                let status = past.status();
                let obstacle = obstacle(&status).map(Error::from);
                (status, obstacle)
            }
            State::Closed(status) => (status.clone(), Some(Error::from(TakeError::ShutDown))),
        };
        status::past(&status, obstacle.as_ref(), &self.answers, &self.layout())
    }

    /// Calls `call` with the generator, unless it was closed.
    fn with<T>(&self, call: impl FnOnce(&PastGenerator) -> Result<T, Error>) -> Result<T, Error> {
        match &**self.state.load() {
            State::Open(past) => call(past),
            State::Closed(_) => Err(Error::from(TakeError::ShutDown)),
        }
    }
}

/// Why there are no UIDs, whatever the time.
fn obstacle(status: &PastStatus) -> Option<TakeAtError> {
    // One that can be used has a worker id.
    if status.workers == 0 {
        return Some(TakeAtError::Forked);
    }
    status.broken_rule.map(TakeAtError::BrokenRule)
}

fn time(unix_ms: i64) -> Result<SystemTime, Error> {
    let length = Duration::from_millis(unix_ms.unsigned_abs());
    let time = if unix_ms < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(length)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(length)
    };
    let problem = || format!("this platform has no time {unix_ms} ms after the begin of 1970");
    time.ok_or_else(|| Error::argument(problem()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;
    use crate::error::Kind;

    const SECOND: i64 = 1000;
    /// The begin of 2026, when the default layout begins.
    const EPOCH: i64 = 1_767_225_600 * SECOND;

    fn opened(options: &[(&str, &str)]) -> (tempfile::TempDir, Result<PastUids, Error>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let past = PastUids::open(file.to_str().unwrap(), options);
        (folder, past)
    }

    fn field(past: &PastUids, name: &str) -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&past.status()).unwrap()[name].clone()
    }

    #[test]
    fn a_uid_has_the_tick_of_the_time_asked_for() {
        let (_folder, past) = opened(&[]);
        let past = past.unwrap();
        let times = [EPOCH + 70 * SECOND + 999, EPOCH, EPOCH + 70 * SECOND];
        let mut uids = past.take_times(&times).unwrap();
        uids.push(past.take_at(EPOCH).unwrap());
        let parts = uids.iter().map(|uid| past.parts(*uid).unwrap());
        let of =
            |seconds, sequence| Parts { unix_ms: EPOCH + seconds * SECOND, worker: 1, sequence };
        assert!(parts.eq([of(70, 0), of(0, 0), of(70, 1), of(0, 1)]));
        assert_eq!((field(&past, "taken"), field(&past, "ticks")), (4.into(), 2.into()));
        assert_eq!((field(&past, "worker_id"), field(&past, "workers")), (1.into(), 1.into()));
        assert_eq!(past.take_times(&[]).unwrap(), [] as [u64; 0]);
    }

    #[test]
    fn times_that_have_no_id_are_refused_and_take_nothing() {
        let (_folder, past) = opened(&[]);
        let past = past.unwrap();
        let [early, late] = if cfg!(windows) {
            ["this platform has no time -", "this platform has no time 9"]
        } else {
            [
                "the layout begins at 2026-01-01T00:00:00Z; choose a layout with an earlier",
                "and ids of the past are for times that were",
            ]
        };
        for (time, said) in [
            (EPOCH - 1, "no UID of 2025-12-31T23:59:59.999Z: the layout begins at 2026-01-01"),
            (i64::MIN, early),
            (i64::MAX, late),
        ] {
            for (error, before) in [
                (past.take_at(time).unwrap_err(), ""),
                (past.take_times(&[EPOCH, time]).map(drop).unwrap_err(), "time 2: "),
            ] {
                assert_eq!(error.kind, Kind::InvalidArgument);
                let message = &error.message;
                assert!(message.starts_with(before) && message.contains(said), "{message}");
            }
        }
        assert_eq!(field(&past, "taken"), 0);
        assert_eq!(field(&past, "state"), "running");
    }

    #[test]
    fn a_full_tick_takes_as_many_further_worker_ids_as_are_allowed() {
        let options = [("layout", "30,20,3"), ("max_new_workers", "1")];
        let (_folder, past) = opened(&options);
        let past = past.unwrap();
        let uids = past.take_times(&[EPOCH; 16]).unwrap();
        assert_eq!(past.parts(uids[15]).unwrap().worker, 2);
        let error = past.take_at(EPOCH).unwrap_err();
        assert_eq!(error.kind, Kind::Unavailable, "{error}");
        assert!(error.message.contains("as many as max_new_workers allows"), "{error}");
        assert_eq!(past.worker_id().unwrap(), 2);
        let (_folder, past) = opened(&[("layout", "30,20,3"), ("max_new_workers", "0")]);
        let error = past.unwrap().take_times(&[EPOCH; 9]).unwrap_err();
        assert_eq!(error.kind, Kind::Refused, "{error}");
        assert!(error.message.starts_with("time 9: no UID of 2026-01-01T00:00:00Z: all of"));
    }

    #[test]
    fn what_is_not_for_the_past_is_refused_with_the_way() {
        for (options, said) in [
            (&[("lease", "10m")], "lent again and again: leave out the option lease"),
            (&[("state", "uidring.state")], "is for a worker id of your own: leave it out"),
        ] {
            let (folder, past) = opened(options);
            let error = past.unwrap_err();
            assert_eq!(error.kind, Kind::InvalidArgument);
            assert!(error.message.contains(said), "{error}");
            // No worker id was used up, and nothing was made.
            assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
    }

    #[test]
    fn after_a_close_it_tells_what_it_had_done() {
        let (_folder, past) = opened(&[]);
        let past = past.unwrap();
        let uid = past.take_at(EPOCH).unwrap();
        past.close().unwrap();
        past.close().unwrap();
        let closed = Error::from(TakeError::ShutDown);
        assert_eq!(past.take_at(EPOCH), Err(closed.clone()));
        assert_eq!(past.take_times(&[]), Err(closed.clone()));
        assert_eq!(past.worker_id(), Err(closed.clone()));
        assert_eq!((field(&past, "state"), field(&past, "taken")), ("closed".into(), 1.into()));
        assert_eq!(field(&past, "obstacle"), closed.message);
        assert_eq!(past.parts(uid).unwrap().worker, 1);
        assert!(past.layout().starts_with("layout=30,20,13 tick=1000ms epoch=2026"));
    }
}
