//! Several generators that share leased ids, on a registry that fails in every way: it refuses, it does what is asked
//! and says that it failed, or it says so and does it later. Each has a clock of its own.

use std::collections::HashSet;
use std::mem;
use std::time::Duration;

use proptest::prelude::*;

use crate::builder::Builder;
use crate::clock::{Clock, ManualClock};
use crate::error::RegistryError;
use crate::keeper::Keeper;
use crate::layout::Layout;
use crate::registry::{Lease, Request, WorkerRegistry};
use crate::shared::Shared;
use crate::sync::{Arc, Mutex, MutexGuard, lock};
use crate::uid::Uid;

/// How long a lease lasts, in seconds.
const LEASE: u64 = 3;

/// What is stored, as `registry::table` and the databases do it.
#[derive(Default)]
struct Store {
    /// The database's clock, in seconds.
    now: u64,
    /// Of the ids 1, 2 and so on.
    rows: Vec<Row>,
    mood: Mood,
    /// Writes that were given up and will come about.
    late: Vec<Write>,
    holders: u64,
}

struct Row {
    holder: Option<String>,
    reserved_until: u64,
    lease_until: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Mood {
    #[default]
    Good,
    /// Nothing is done.
    Down,
    /// What is asked is done; the answer is lost.
    Mute,
    /// What is asked is done later; the asker is told that it failed.
    Late,
}

/// One conditional write to one row.
#[derive(Clone, Debug)]
enum Write {
    Reserve {
        lease: Lease,
        last: u64,
    },
    Release {
        lease: Lease,
        used: u64,
    },
    /// To an id that was found with these reserved seconds; `None` for a new one.
    Lend {
        found: Option<u64>,
        lease: Lease,
    },
}

impl Store {
    fn row(&mut self, worker: u64) -> &mut Row {
        &mut self.rows[worker as usize - 1]
    }

    /// The row of a lease, if it is still the holder's.
    fn held(&mut self, lease: &Lease) -> Option<&mut Row> {
        Some(self.row(lease.worker)).filter(|row| row.holder.as_ref() == Some(&lease.holder))
    }

    /// Returns whether the row was as the condition says.
    fn write(&mut self, write: &Write) -> bool {
        let now = self.now;
        match write {
            Write::Reserve { lease, last } => {
                let Some(row) = self.held(lease) else { return false };
                (row.reserved_until, row.lease_until) = (row.reserved_until.max(*last), now + LEASE);
            }
            Write::Release { lease, used } => {
                let Some(row) = self.held(lease) else { return false };
                *row = Row { holder: None, reserved_until: *used, lease_until: now };
            }
            Write::Lend { found, lease } => {
                let row =
                    Row { holder: Some(lease.holder.clone()), reserved_until: lease.last, lease_until: now + LEASE };
                match found {
                    None if self.rows.len() as u64 == lease.worker - 1 => self.rows.push(row),
                    Some(found) if self.row(lease.worker).reserved_until == *found => *self.row(lease.worker) = row,
                    _ => return false,
                }
            }
        }
        true
    }

    /// Writes as the mood is.
    fn try_write(&mut self, write: Write) -> Result<bool, RegistryError> {
        match self.mood {
            Mood::Good => return Ok(self.write(&write)),
            Mood::Down => {}
            Mood::Mute => {
                self.write(&write);
            }
            Mood::Late => self.late.push(write),
        }
        Err(RegistryError::Unreachable { registry: "store".into(), problem: "it is moody".into(), source: None })
    }

    fn settle(&mut self) {
        for write in mem::take(&mut self.late) {
            self.write(&write);
        }
    }
}

#[derive(Clone, Default)]
struct Registry(Arc<Mutex<Store>>);

impl Registry {
    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.0)
    }
}

fn held(is_held: bool, lease: &Lease) -> Result<(), RegistryError> {
    if is_held { Ok(()) } else { Err(RegistryError::LeaseLost { worker: lease.worker }) }
}

impl WorkerRegistry for Registry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let mut store = self.store();
        let is_free = |row: &Row| row.lease_until <= store.now && row.reserved_until < request.latest;
        let free =
            (1..).zip(&store.rows).filter(|(_, row)| is_free(row)).map(|(id, row)| (row.reserved_until, id)).min();
        let (worker, first) = match free {
            Some((reserved_until, id)) => (id, request.now.max(reserved_until + 1)),
            None => (store.rows.len() as u64 + 1, request.now),
        };
        store.holders += 1;
        let lease = Lease {
            worker,
            first,
            last: first + LEASE,
            duration: Some(Duration::from_secs(LEASE)),
            holder: store.holders.to_string(),
        };
        let found = free.map(|(reserved_until, _)| reserved_until);
        let is_written = store.try_write(Write::Lend { found, lease: lease.clone() })?;
        assert!(is_written, "nobody else writes meanwhile");
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let is_held = self.store().try_write(Write::Reserve { lease: lease.clone(), last })?;
        held(is_held, lease).map(|()| last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let is_held = self.store().try_write(Write::Release { lease: lease.clone(), used })?;
        held(is_held, lease)
    }
}

/// Eight UIDs a second.
fn layout() -> Layout {
    Layout::new(40, 12, 3).unwrap()
}

fn clock() -> ManualClock {
    ManualClock::new(layout().epoch() + Duration::from_secs(100_000))
}

struct Generator {
    clock: ManualClock,
    shared: Arc<Shared>,
    keeper: Keeper,
}

impl Generator {
    fn start(registry: &Registry, clock: ManualClock) -> Option<Generator> {
        let builder = Builder::new().registry(registry.clone()).layout(layout()).clock(clock.clone());
        let builder = builder.slots(4).start_deadline(Duration::ZERO);
        let (shared, keeper, _) = builder.assemble(fastrand::Rng::with_seed(7)).ok()?;
        let mut generator = Generator { clock, shared, keeper };
        generator.look();
        Some(generator)
    }

    /// Takes a UID; the filler answers when it is asked.
    fn take(&mut self) -> Option<Uid> {
        let uid = self.shared.try_take().ok();
        if self.shared.signal.take_asked() {
            self.look();
        }
        uid
    }

    fn end(mut self) {
        self.keeper.finish(&self.shared);
    }

    fn look(&mut self) {
        self.keeper.look(&self.shared);
        while self.keeper.is_waiting() {
            self.keeper.look(&self.shared);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// With a clock that is so many seconds ahead.
    Start(i64),
    Take(u16),
    /// Claims that come to nothing, as at the end of what is reserved.
    Lose(u64),
    Look,
    /// In milliseconds; for all clocks.
    Pass(u64),
    /// In seconds; for one clock.
    Jump(i64),
    Kill,
    End,
    Mood(Mood),
    /// What is late comes about.
    Settle,
    /// All leases expire.
    Expire,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let mood = prop_oneof![4 => Just(Mood::Good), 2 => Just(Mood::Down), 1 => Just(Mood::Mute), 1 => Just(Mood::Late)];
    let step = prop_oneof![
        3 => (-50i64..50).prop_map(Step::Start),
        10 => prop_oneof![0u16..60, 0u16..400].prop_map(Step::Take),
        2 => (1u64..4).prop_map(Step::Lose),
        6 => Just(Step::Look),
        3 => prop_oneof![1u64..6000, 1u64..100].prop_map(Step::Pass),
        1 => (-50i64..50).prop_map(Step::Jump),
        2 => Just(Step::Kill),
        3 => Just(Step::End),
        3 => mood.prop_map(Step::Mood),
        1 => Just(Step::Settle),
        5 => Just(Step::Expire),
    ];
    (0usize..3, step)
}

/// A clock that is `by` seconds ahead.
fn moved(clock: &ManualClock, by: i64) -> ManualClock {
    let (now, distance) = (clock.now(), Duration::from_secs(by.unsigned_abs()));
    ManualClock::new(if by < 0 { now - distance } else { now + distance })
}

/// What a generator finds in its ring when it ends can be older than what another has done with its id since.
#[test]
fn an_id_that_came_back_and_was_not_used_is_given_on_behind_who_had_it_meanwhile() {
    let (registry, clock) = (Registry::default(), clock());
    let start = || Generator::start(&registry, clock.clone()).unwrap();
    let mut seen = HashSet::new();
    let mut take_many = |generator: &mut Generator| {
        for _ in 0..100 {
            assert!(generator.take().is_none_or(|uid| seen.insert(uid)), "a UID came twice");
        }
    };

    let mut idle = start();
    registry.store().now += 10 * LEASE;
    let mut meanwhile = start();
    assert_eq!(meanwhile.shared.worker(), 1);
    take_many(&mut meanwhile);
    meanwhile.end();
    registry.store().now += 10 * LEASE;
    // It finds its lease lost, and gets the same id once more.
    while idle.shared.status().new_workers == 0 {
        idle.clock.advance(Duration::from_millis(1));
        idle.look();
    }
    assert_eq!(idle.shared.worker(), 1);
    idle.end();
    let mut next = start();
    assert_eq!(next.shared.worker(), 1);
    take_many(&mut next);
}

proptest! {
    #[test]
    fn unique_whatever_becomes_of_leases(steps in proptest::collection::vec(step(), 1..120)) {
        let (registry, clock) = (Registry::default(), clock());
        let mut generators = [const { None::<Generator> }; 3];
        let mut seen = HashSet::new();
        let mut passed = Duration::ZERO;
        for (which, step) in steps {
            let place = &mut generators[which];
            match (step, place.as_mut()) {
                (Step::Start(by), None) => *place = Generator::start(&registry, moved(&clock, by)),
                (Step::Take(count), Some(generator)) => {
                    for _ in 0..count {
                        let Some(uid) = generator.take() else { break };
                        prop_assert!(seen.insert(uid), "{:?} came twice", layout().parts(uid));
                    }
                }
                (Step::Lose(count), Some(generator)) => {
                    generator.shared.ring.claim(count);
                    generator.shared.ring.close();
                }
                (Step::Look, Some(generator)) => generator.look(),
                (Step::Jump(by), Some(generator)) => {
                    generator.clock.set(moved(&generator.clock, by).now());
                }
                (Step::Kill, Some(_)) => *place = None,
                (Step::End, Some(_)) => place.take().unwrap().end(),
                (Step::Pass(ms), _) => {
                    let time = Duration::from_millis(ms);
                    let clocks = generators.iter().flatten().map(|generator| &generator.clock);
                    clocks.chain([&clock]).for_each(|clock| clock.advance(time));
                    passed += time;
                    registry.store().now += passed.as_secs();
                    passed = Duration::from_millis(passed.subsec_millis().into());
                }
                (Step::Mood(mood), _) => registry.store().mood = mood,
                (Step::Settle, _) => registry.store().settle(),
                (Step::Expire, _) => registry.store().now += LEASE,
                (_, None) | (Step::Start(_), Some(_)) => {}
            }
        }
    }
}
