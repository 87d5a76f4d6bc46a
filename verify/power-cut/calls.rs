//! Calls of a store in a random order, each of which is told before it is made, and what it gave
//! before the next one.
#![allow(dead_code)] // the worker and the test each use a part

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use uidring::registry::{FixedWorker, Lease, RegistryError, Request, WorkerRegistry};
use uidring::segment::{Segment, SegmentError, SegmentSource, Tag};
use uidring::store::{StoreRegistry, StoreSegments};
use uidring::{Layout, RegistryOptions, Store};

/// All kinds of calls.
pub const CALLS: [&str; 12] = [
    "open",
    "fresh",
    "lease",
    "reserve",
    "release",
    "create",
    "load",
    "give_back",
    "state start",
    "state reserve",
    "state release",
    "wal",
];
/// The shortest: ids of holders that are gone are soon given again.
const LEASE: Duration = Duration::from_secs(1);
/// Long ago, so that a lease begins right after what was reserved before it.
const NOW: u64 = 1000;
const FIXED: u64 = 7;
const TAGS: [&str; 5] = ["customers", "invoices", "orders", "parcels", "refunds"];

pub type Outcome = Result<(), Box<dyn Error>>;

/// One user of a store, and of a state file if it has one.
pub struct Caller<'a> {
    rng: Rng,
    /// Hears what happens, in words that [`Account`](crate::account::Account) knows.
    tell: &'a mut dyn FnMut(&str),
    fresh: StoreRegistry,
    leased: StoreRegistry,
    segments: StoreSegments,
    leases: Vec<Lease>,
    /// The tags that are there, each with the segment loaded last.
    tags: Vec<(String, Option<Segment>)>,
    state: State<'a>,
}

/// The state file, and the lease on it.
struct State<'a> {
    path: Option<&'a Path>,
    held: Option<(FixedWorker, Lease)>,
}

impl<'a> Caller<'a> {
    /// Opens `store`, which must succeed whatever the disk has kept.
    pub fn open(
        store: &Store,
        state: Option<&'a Path>,
        seed: u64,
        tell: &'a mut dyn FnMut(&str),
    ) -> Result<Caller<'a>, Box<dyn Error>> {
        tell("do open");
        let fresh = store.registry()?;
        let leased = store.registry_with(RegistryOptions::new().leased(LEASE))?;
        let segments = store.segments()?;
        let tags = segments.tags()?.into_iter().map(|tag| (tag.tag, None)).collect();
        let state = State { path: state, held: None };
        let rng = Rng::with_seed(seed);
        Ok(Caller { rng, tell, fresh, leased, segments, leases: Vec::new(), tags, state })
    }

    /// Tells which tags are there, and what each gives next, while nobody else takes any.
    pub fn tell_tags(&mut self) -> Outcome {
        let tags = self.segments.tags()?;
        for tag in &tags {
            (self.tell)(&format!("next {} {}", tag.tag, tag.next));
        }
        let names: Vec<_> = tags.iter().map(|tag| tag.tag.as_str()).collect();
        (self.tell)(&format!("tags {}", names.join(" ")));
        Ok(())
    }

    /// Makes one call, or none where the one that chance has chosen is not possible.
    pub fn step(&mut self) -> Outcome {
        match self.rng.u8(..17) {
            0 => self.assign_fresh(),
            1..=3 => self.lease(),
            4..=6 => self.reserve(),
            7 | 8 => self.release(),
            9 => self.create(),
            10..=12 => self.load(),
            13 => self.give_back(),
            _ => self.use_state(),
        }
    }

    /// Several calls, because each of them changes little on the disk.
    fn use_state(&mut self) -> Outcome {
        let Some(path) = self.state.path else { return self.reserve() };
        for _ in 0..10 {
            self.call_state(path)?;
        }
        Ok(())
    }

    fn assign_fresh(&mut self) -> Outcome {
        (self.tell)("do fresh");
        let lease = self.fresh.assign(&request())?;
        self.took(&format!("worker-{}", lease.worker), lease.first, lease.last);
        Ok(())
    }

    fn lease(&mut self) -> Outcome {
        (self.tell)("do lease");
        let lease = self.leased.assign(&request())?;
        self.took(&format!("worker-{}", lease.worker), lease.first, lease.last);
        self.leases.push(lease);
        Ok(())
    }

    /// A lease that is held, or none.
    fn any_lease(&mut self) -> Option<Lease> {
        let count = self.leases.len();
        (count > 0).then(|| self.leases.swap_remove(self.rng.usize(..count)))
    }

    fn reserve(&mut self) -> Outcome {
        let Some(mut lease) = self.any_lease() else { return self.lease() };
        (self.tell)("do reserve");
        let wanted = lease.last + self.rng.u64(1..100);
        let last = match self.leased.reserve(&lease, wanted) {
            // A process that was not run for a second has lost it.
            Err(RegistryError::LeaseLost { .. }) => return Ok(()),
            last => last?,
        };
        self.took(&format!("worker-{}", lease.worker), lease.last + 1, last);
        lease.last = last;
        self.leases.push(lease);
        Ok(())
    }

    fn release(&mut self) -> Outcome {
        let Some(lease) = self.any_lease() else { return self.lease() };
        let used = self.rng.u64(lease.first..=lease.last);
        self.gives(&format!("worker-{}", lease.worker), used + 1, lease.last);
        (self.tell)("do release");
        match self.leased.release(&lease, used) {
            Err(RegistryError::LeaseLost { .. }) => Ok(()),
            done => Ok(done?),
        }
    }

    fn create(&mut self) -> Outcome {
        let tag = TAGS[self.rng.usize(..TAGS.len())];
        (self.tell)("do create");
        self.segments.create(tag, &Tag::new().step(20))?;
        (self.tell)(&format!("created {tag}"));
        if !self.tags.iter().any(|(there, _)| there == tag) {
            self.tags.push((tag.to_owned(), None));
        }
        Ok(())
    }

    fn load(&mut self) -> Outcome {
        if self.tags.is_empty() {
            return self.create();
        }
        let index = self.rng.usize(..self.tags.len());
        let (tag, last) = &mut self.tags[index];
        (self.tell)("do load");
        let count = self.rng.bool().then(|| self.rng.u64(1..50));
        let segment = self.segments.load(tag, count)?;
        let line = format!("took {tag} {} {}", segment.first, end(&segment)?);
        *last = Some(segment);
        (self.tell)(&line);
        Ok(())
    }

    fn give_back(&mut self) -> Outcome {
        let loaded = self.tags.iter_mut().find(|(_, segment)| segment.is_some());
        let Some((tag, segment)) = loaded.map(|(tag, segment)| (tag.clone(), segment.take()))
        else {
            return self.load();
        };
        let mut unused = segment.ok_or("a segment was there")?;
        let used = self.rng.u64(..unused.count);
        (unused.first, unused.count) = (unused.first + used, unused.count - used);
        unused.row_start += used;
        self.gives(&tag, unused.first, end(&unused)?);
        (self.tell)("do give_back");
        match self.segments.give_back(&tag, &unused) {
            // The row has moved on.
            Ok(_) => Ok(()),
            Err(error) => Err(SegmentError::into(error)),
        }
    }

    fn call_state(&mut self, path: &Path) -> Outcome {
        let key = "state";
        match self.state.held.take() {
            None => {
                (self.tell)("do state start");
                let mut registry = FixedWorker::new(FIXED).with_state(path);
                let lease = registry.assign(&request())?;
                self.took(key, lease.first, lease.last);
                self.state.held = Some((registry, lease));
            }
            Some((mut registry, mut lease)) if self.rng.u8(..3) > 0 => {
                (self.tell)("do state reserve");
                let last = registry.reserve(&lease, lease.last + self.rng.u64(1..100))?;
                self.took(key, lease.last + 1, last);
                lease.last = last;
                self.state.held = Some((registry, lease));
            }
            Some((mut registry, lease)) => {
                let used = self.rng.u64(lease.first..=lease.last);
                self.gives(key, used + 1, lease.last);
                (self.tell)("do state release");
                registry.release(&lease, used)?;
            }
        }
        Ok(())
    }

    fn took(&mut self, key: &str, first: u64, last: u64) {
        (self.tell)(&format!("took {key} {first} {last}"));
    }

    fn gives(&mut self, key: &str, first: u64, last: u64) {
        (self.tell)(&format!("gives {key} {first} {last}"));
    }
}

fn request() -> Request {
    Request::new(Layout::DEFAULT, NOW, Layout::DEFAULT.max_tick())
}

/// The last number of `segment`.
fn end(segment: &Segment) -> Result<u64, Box<dyn Error>> {
    let Segment { first, count, delta, .. } = *segment;
    if delta == 1 { Ok(first + count - 1) } else { Err("the tags count by ones".into()) }
}

/// What the error and its causes say.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
