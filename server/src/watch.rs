//! What people and monitoring look at: how the service is, and how its tags are.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use uidring::UidGenerator;
use uidring::registry::{RegistryAdmin, RegistryError};
use uidring::segment::SegmentStatus;

use crate::app::App;
use crate::loads::{Loads, TagLoads};
use crate::rates::{Rates, TagCount, TagRates};
use crate::reload::Readings;

/// How often the end of a lease is read. That reads the rows of all worker ids.
const READ_LEASE: Duration = Duration::from_secs(10);

/// What is remembered for that.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) loads: Loads,
    pub(crate) rates: Rates,
    pub(crate) readings: Readings,
    pub(crate) tag_rates: TagRates,
    pub(crate) started: SystemTime,
    since: Mutex<Since>,
}

#[derive(Clone, Copy, Debug)]
struct Since {
    /// When the database went away, or came back.
    database: SystemTime,
    /// Until when the worker id is reserved, where it is leased.
    lease_until: Option<SystemTime>,
    lease_read: Option<Instant>,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        let now = SystemTime::now();
        let since = Mutex::new(Since { database: now, lease_until: None, lease_read: None });
        let (loads, rates, readings) = Default::default();
        let tag_rates = TagRates::new(Instant::now());
        Watch { loads, rates, tag_rates, readings, started: now, since }
    }

    /// The database went away, or came back.
    pub(crate) fn database_changed(&self) {
        self.lock().database = SystemTime::now();
    }

    /// Since when the database has been as it is.
    pub(crate) fn database_since(&self) -> SystemTime {
        self.lock().database
    }

    /// Whether it is time to read the end of the lease. If so, the next time is later.
    fn lease_is_due(&self) -> bool {
        let mut since = self.lock();
        let is_due = since.lease_read.is_none_or(|read| read.elapsed() >= READ_LEASE);
        if is_due {
            since.lease_read = Some(Instant::now());
        }
        is_due
    }

    pub(crate) fn lease_until(&self) -> Option<SystemTime> {
        self.lock().lease_until
    }

    fn lock(&self) -> MutexGuard<'_, Since> {
        // Nothing panics while it is locked.
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until when the worker id is leased, if it is, now and then. Waits for the database.
pub(crate) fn read_lease(app: &App, registry: &dyn RegistryAdmin) -> Result<(), RegistryError> {
    let is_leased = app.options.generator.terms().lease.is_some();
    let Ok(uids) = app.uids() else { return Ok(()) };
    if is_leased && app.watch.lease_is_due() {
        let worker = uids.worker_id();
        let row = registry.workers()?.into_iter().find(|row| row.id == worker);
        app.watch.lock().lease_until = row.and_then(|row| row.lease).map(|lease| lease.until);
    }
    Ok(())
}

/// A tag that this process has loaded numbers of.
#[derive(Debug)]
pub(crate) struct TagState {
    pub(crate) name: Box<str>,
    /// Where this process hands its numbers out.
    pub(crate) status: Option<SegmentStatus>,
    pub(crate) loads: TagLoads,
}

/// The tags in their order.
pub(crate) fn tags(app: &App) -> Vec<TagState> {
    let mut tags = app.watch.loads.tags();
    let used = app.used_tags().into_iter().map(|tag| {
        let loads = tags.remove(tag.tag()).unwrap_or_default();
        TagState { name: tag.tag().into(), status: Some(tag.status()), loads }
    });
    let mut states: Vec<TagState> = used.collect();
    states.extend(tags.into_iter().map(|(name, loads)| TagState { name, status: None, loads }));
    states.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    states
}

/// How many numbers of each tag somebody got.
pub(crate) fn tag_counts(app: &App) -> HashMap<Box<str>, TagCount> {
    let to_clients = app.watch.loads.to_clients().into_iter();
    let mut counts: HashMap<Box<str>, TagCount> =
        to_clients.map(|(tag, to_clients)| (tag, TagCount { here: 0, to_clients })).collect();
    for tag in app.used_tags() {
        counts.entry(tag.tag().into()).or_default().here = tag.status().taken;
    }
    counts
}

impl TagState {
    pub(crate) fn count(&self) -> TagCount {
        let here = self.status.as_ref().map_or(0, |status| status.taken);
        TagCount { here, to_clients: self.loads.to_clients }
    }
}

/// The generators of UIDs that run, by what they make.
pub(crate) fn generators(app: &App) -> impl Iterator<Item = (&'static str, &UidGenerator)> {
    let uids = app.uids().ok().map(|uids| ("uids", uids));
    uids.into_iter().chain(app.snowflakes().ok().map(|uids| ("snowflakes", uids)))
}
