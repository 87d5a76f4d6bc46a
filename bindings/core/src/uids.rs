//! [`Uids`], a generator of time-ordered ids.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;
use uidring::clock::ManualClock;
use uidring::registry::FixedWorker;
use uidring::{
    Audience, BuildError, Builder, ClaimedSpan, FieldOrder, Layout, RegistryError, TakeError, Uid,
    UidGenerator,
};
use uidring_args::{check_build, with_causes, with_registry};

use crate::error::Error;
use crate::options::{self, LoginOptions, UidOptions};
use crate::source::{Claimed, Source, fill, tried};
use crate::status;
use crate::store::{Close, Open, OpenFile, open_store};
use crate::watched::{Answers, Watched};

/// A generator of time-ordered ids. Clones are cheap, and each is a handle of the same.
#[derive(Clone, Debug)]
pub struct Uids {
    generator: UidGenerator,
    is_closed: Arc<AtomicBool>,
    file: OpenFile,
    /// Those of the store, if there is one.
    answers: Answers,
}

/// What a UID holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The time of its tick, in milliseconds since 1970.
    pub unix_ms: i64,
    /// The worker id.
    pub worker: u64,
    /// The number within the tick.
    pub sequence: u64,
}

impl Open for Uids {
    fn open(address: &str, options: &[(&str, &str)]) -> Result<Uids, Error> {
        let (builder, file, answers) = builder_on(address, &options::parse(options)?)?;
        Ok(Uids { file, answers, ..Uids::of(builder.build()?) })
    }
}

impl Close for Uids {
    fn close(&self) -> Result<(), Error> {
        // ORDERING: as in `worker_id`.
        self.is_closed.store(true, Ordering::Relaxed);
        self.generator.clone().shutdown()?;
        self.file.close();
        Ok(())
    }
}

impl Source for Uids {
    #[inline]
    fn take(&self) -> Result<u64, Error> {
        match self.generator.take() {
            Ok(uid) => Ok(uid.get()),
            Err(error) => Err(failed(error)),
        }
    }

    #[inline]
    fn try_take(&self) -> Result<Option<u64>, Error> {
        tried(self.generator.try_take(), failed)
    }

    async fn take_async(&self) -> Result<u64, Error> {
        self.generator.take_async().await.map(Uid::get).map_err(failed)
    }

    fn fill(&self, buffer: &mut [u64]) -> Result<(), (usize, Error)> {
        fill(buffer, Uid::MIN, || self.generator.take(), |uids| self.generator.fill(uids))
    }

    fn available(&self) -> usize {
        usize::try_from(self.generator.status().available).unwrap_or(usize::MAX)
    }

    fn try_claim(&self, count: u32) -> Result<Option<Claimed>, Error> {
        match self.generator.try_claim(count) {
            Ok(ClaimedSpan { first, length, end, .. }) => {
                Ok(Some(Claimed { first: first.get(), length, step: 1, end }))
            }
            Err(error) => tried(Err::<Uid, _>(error), failed).map(|_| None),
        }
    }

    /// `None` in exact time, where each UID is taken when it is needed.
    fn claims_end(&self) -> Option<&AtomicU64> {
        (!self.generator.status().exact_time).then(|| self.generator.claims_end())
    }

    fn status(&self) -> String {
        status::uids(&self.generator.status(), &self.answers, &self.layout())
    }
}

impl Uids {
    /// Opens a generator with a worker id of the caller's own, which no other generator may have.
    /// Without the option `state`, a restart may repeat UIDs.
    ///
    /// # Errors
    /// The options are wrong, or the state file cannot be used.
    pub fn fixed(worker: u64, options: &[(&str, &str)]) -> Result<Uids, Error> {
        let options: UidOptions = options::parse(options)?;
        let LoginOptions { user, password, only_for_tests } = &options.login;
        let wants_store =
            user.is_some() || password.is_some() || *only_for_tests || options.timeout.is_some();
        if options.generator.wants_registry() || wants_store {
            return Err(Error::argument(
                "lease, partition, worker_ids, uid_generator, user, password, only_for_tests and \
                 timeout are about a store: open one, or leave them out",
            ));
        }
        check_test_time(&options)?;
        Audience::Binding.set();
        let mut registry = FixedWorker::new(worker);
        if let Some(path) = &options.state {
            registry = registry.with_state(path);
        }
        let layout = asked_layout(&options)?.unwrap_or_default();
        let mut builder = builder(&options).registry(registry).layout(layout);
        if let Some(time) = options.test_time {
            builder = builder.clock(ManualClock::new(time));
        }
        let generator = builder.build().map_err(|error| match error {
            // Of a store, it would be the store's fault.
            BuildError::Registry(error @ RegistryError::WorkerRange { .. }) => {
                Error::argument(error.to_string())
            }
            error => Error::from(error),
        })?;
        skip(&generator, options.test_sequence.unwrap_or_default())?;
        Ok(Uids::of(generator))
    }

    fn of(generator: UidGenerator) -> Uids {
        Uids {
            generator,
            is_closed: Arc::default(),
            file: OpenFile::default(),
            answers: Answers::default(),
        }
    }

    /// Decodes a UID of this generator's layout.
    ///
    /// # Errors
    /// It is not a UID, or has a time that this platform cannot represent.
    pub fn parts(&self, uid: u64) -> Result<Parts, Error> {
        parts_of(self.generator.layout(), uid)
    }

    /// The layout as the options write it: `layout=28,22,13 tick=1s epoch=2026-01-01T00:00:00Z`.
    #[must_use]
    pub fn layout(&self) -> String {
        layout_text(self.generator.layout())
    }

    /// The worker id in the UIDs that are given now.
    ///
    /// # Errors
    /// The generator was closed, so that another may have the worker id.
    pub fn worker_id(&self) -> Result<u64, Error> {
        // ORDERING: nothing else is read because of it.
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(failed(TakeError::ShutDown));
        }
        Ok(self.generator.worker_id())
    }

    /// How it has ended, if it has, in a word: `closed` or `forked`.
    #[must_use]
    pub fn ended(&self) -> Option<&'static str> {
        match self.generator.status().obstacle {
            Some(TakeError::ShutDown) => Some("closed"),
            Some(TakeError::Forked) => Some("forked"),
            _ => None,
        }
    }
}

/// The error for `number`, which is out of the range of ids. `what` names it in the sentence, such
/// as `a UID`.
#[must_use]
pub fn not_an_id(what: &str, number: impl fmt::Display) -> Error {
    Error::argument(format!("{what} is a whole number from 1 to {}, not {number}", Uid::MAX))
}

/// What `uid` holds, which is of this `layout`.
pub(crate) fn parts_of(layout: &Layout, uid: u64) -> Result<Parts, Error> {
    let uid = Uid::new(uid).ok_or_else(|| not_an_id("a UID", uid))?;
    let parts = layout.try_parts(uid).map_err(|error| Error::argument(error.to_string()))?;
    let unix_ms = match parts.time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    };
    Ok(Parts { unix_ms, worker: parts.worker, sequence: parts.sequence })
}

/// A layout as the options write it.
pub(crate) fn layout_text(layout: &Layout) -> String {
    let order = match layout.order() {
        FieldOrder::WorkerFirst => " order=worker-first",
        FieldOrder::TimeFirst => "",
    };
    let epoch = Timestamp::try_from(layout.epoch()).map(|time| time.to_string());
    format!(
        "layout={},{},{} tick={}ms epoch={}{order}",
        layout.time_bits(),
        layout.worker_bits(),
        layout.sequence_bits(),
        layout.tick().as_millis(),
        epoch.unwrap_or_default()
    )
}

/// Of a clock that stands still, nothing else can be asked.
fn check_test_time(options: &UidOptions) -> Result<(), Error> {
    if options.test_time.is_some() && (options.state.is_some() || options.generator.exact_time) {
        return Err(Error::argument(
            "at test_time the clock stands still, so that a state file would keep a wrong time, \
             and exact_time would wait for ever: leave out state and exact_time",
        ));
    }
    Ok(())
}

/// Takes the first ids of a tick, so that the next one has this `sequence`.
fn skip(generator: &UidGenerator, sequence: u64) -> Result<(), Error> {
    let bits = generator.layout().sequence_bits();
    if sequence >> bits != 0 {
        return Err(Error::argument(format!(
            "test_sequence is {sequence}, and a sequence of {bits} bits ends at {}",
            (1_u64 << bits) - 1
        )));
    }
    (0..sequence).try_for_each(|_| generator.take().map(drop)).map_err(failed)
}

#[cold]
fn failed(error: TakeError) -> Error {
    Error::from(error)
}

fn asked_layout(options: &UidOptions) -> Result<Option<Layout>, Error> {
    options.layout.requested().map_err(|error| Error::argument(with_causes(&error)))
}

/// What builds a generator on the store at `address`, with the file that is open for it, and what
/// the store has answered.
pub(crate) fn builder_on(
    address: &str,
    options: &UidOptions,
) -> Result<(Builder, OpenFile, Answers), Error> {
    if options.state.is_some() {
        return Err(Error::argument(
            "the option state is for a worker id of your own: leave it out, because a store keeps \
             the times that its worker ids have used",
        ));
    }
    if options.test_time.is_some() {
        return Err(Error::argument(
            "the option test_time is for a worker id of your own: a store would keep that time",
        ));
    }
    let asked = asked_layout(options)?;
    let asked_well = options.generator.check_requested(asked);
    asked_well.map_err(|problem| Error::argument(options::about_uid_options(problem)))?;
    let (store, file) = open_store(address, &options.login, options.timeout)?;
    // Before a file is made for it.
    if asked.is_some() || store.file().is_some_and(|file| !file.exists()) {
        check_build(builder(options), asked.unwrap_or_default())?;
    }
    let registry = store.registry_with((&options.generator.registry_config()).into())?;
    let (registry, answers) = Watched::new(registry);
    Ok((with_registry(builder(options), registry, asked), file, answers))
}

fn builder(options: &UidOptions) -> Builder {
    let builder = options
        .generator
        .builder()
        .start_deadline(options.start_deadline)
        .shutdown_deadline(options.shutdown_deadline);
    match options.max_forward_jump {
        Some(jump) => builder.max_forward_jump(jump),
        None => builder,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_librarys() {
        let options: UidOptions = options::parse(&[]).unwrap();
        assert_eq!(format!("{:?}", builder(&options)), format!("{:?}", UidGenerator::builder()));
    }

    fn field(status: &str, name: &str) -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(status).unwrap()[name].clone()
    }

    /// What a health check reads.
    #[test]
    fn the_status_says_that_takes_fail_and_that_it_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, away] = ["uidring.db", "away.db"].map(|name| folder.path().join(name));
        let uids = Uids::open(file.to_str().unwrap(), &[("lease", "1s")]).unwrap();
        assert_eq!(field(&uids.status(), "state"), "running");
        assert!(field(&uids.status(), "obstacle").is_null());
        std::fs::rename(&file, &away).unwrap();
        let error = loop {
            if let Err(error) = uids.take() {
                break error;
            }
        };
        let status = uids.status();
        assert_eq!(field(&status, "state"), "failing", "{status}");
        assert_eq!(field(&status, "obstacle"), error.message, "{status}");
        let store = field(&status, "store");
        assert_eq!((&store["name"], &store["reachable"]), (&file.to_str().into(), &false.into()));
        assert!(store["error"].as_str().unwrap().contains("there is no such file"), "{status}");
        assert!(store["since"].as_str() <= store["asked_at"].as_str(), "{status}");
        assert_eq!((uids.ended(), uids.worker_id().unwrap()), (None, 1));
        std::fs::rename(&away, &file).unwrap();
        while uids.take().is_err() {
            std::thread::yield_now();
        }
        let status = uids.status();
        assert_eq!(field(&status, "state"), "running");
        assert_eq!(field(&status, "store")["reachable"], true, "{status}");
        assert!(field(&status, "store")["error"].is_null(), "{status}");
        assert!(field(&status, "leased").as_bool().unwrap(), "{status}");
        assert!(field(&status, "lease_left_ms").as_u64().unwrap() <= 10_000, "{status}");
        let taken = field(&status, "taken");
        uids.close().unwrap();
        let status = uids.clone().status();
        assert_eq!(field(&status, "state"), "closed", "{status}");
        assert_eq!(field(&status, "filler"), "stopped", "{status}");
        assert_eq!(field(&status, "taken"), taken, "{status}");
        for zero in ["available", "lead_ms", "lag_ms"] {
            assert_eq!(field(&status, zero), 0, "{status}");
        }
        for gone in ["store", "worker_id", "oldest", "newest", "reserved_until", "lease_left_ms"] {
            assert!(field(&status, gone).is_null(), "{status}");
        }
        assert_eq!(uids.ended(), Some("closed"));
        assert_eq!(uids.clone().worker_id().unwrap_err().kind, crate::Kind::Closed);
    }

    #[test]
    fn an_error_names_options_and_no_methods() {
        let options = [("exact_time", "true"), ("on_lead_limit", "new-worker")];
        let error = Uids::fixed(1, &options).unwrap_err().to_string();
        assert!(error.ends_with("set on_lead_limit to wait or fail, or leave it out"), "{error}");
    }
}
