//! The library's own generators on a registry of the model, which loses requests and answers. The
//! model of a holder says what each of them may do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use uidring::clock::ManualClock;
use uidring::registry::{Lease, LeaseKind, Request, WorkerRegistry};
use uidring::{Layout, RegistryError, UidGenerator};
use uidring_protocols::leases::holder::Holder;
use uidring_protocols::leases::registry::{self as model, Registry, Terms};
use uidring_protocols::leases::{Rules, Text, Tick, Worker};

/// How many ticks a lease has, and how long it lasts by the store's clock.
const LEASE: u16 = 4;
/// By a generator's clock, so that it reserves often.
const DURATION: Duration = Duration::from_millis(200);
const TERMS: Terms = Terms { ids: (1, 5), lease: Some((LEASE, 4)), max_tick: u16::MAX };

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    AnswerLost,
    RequestLost,
    /// It comes to the store later.
    Late,
}

/// A request that comes to the store later.
type Late = Box<dyn FnOnce(&mut Registry) + Send>;

/// All generators, and the store.
struct World {
    registry: Registry,
    late: Vec<Late>,
    fate: Fate,
    /// All leases that the generators have had, by their texts: whose, and whether one was given
    /// back.
    holders: BTreeMap<Text, Held>,
    /// Whose each tick of a worker id is.
    used: BTreeMap<(Worker, Tick), Text>,
    /// What a generator did that the model does not allow.
    problems: Vec<String>,
    counts: Counts,
}

struct Held {
    generator: usize,
    holder: Holder,
    is_released: bool,
}

/// How often something happened, so that a run shows what it came to.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    ids: usize,
    reserved: usize,
    unanswered: usize,
    lost: usize,
    taken_over: usize,
    released: usize,
}

#[derive(Clone)]
struct Flaky {
    generator: usize,
    world: Arc<Mutex<World>>,
    /// Whether the process was killed: nothing of what it sends arrives.
    is_dead: Arc<Mutex<bool>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn tick(tick: u64) -> Tick {
    Tick::try_from(tick).unwrap()
}

fn text(lease: &Lease) -> Text {
    match &lease.kind {
        LeaseKind::Leased { holder, .. } => holder.parse().unwrap(),
        kind => panic!("all ids are leased: {kind:?}"),
    }
}

impl World {
    fn new() -> Arc<Mutex<World>> {
        Arc::new(Mutex::new(World {
            registry: Registry::default(),
            late: Vec::new(),
            fate: Fate::Answered,
            holders: BTreeMap::new(),
            used: BTreeMap::new(),
            problems: Vec::new(),
            counts: Counts::default(),
        }))
    }

    fn check(&mut self, is_allowed: bool, problem: impl FnOnce() -> String) {
        if !is_allowed {
            self.problems.push(problem());
        }
    }

    /// Has a request done as its fate will have it. Returns the answer, if there is one.
    fn call<T>(
        &mut self,
        is_dead: bool,
        operation: impl FnOnce(&mut Registry) -> T + Send + 'static,
    ) -> Option<T> {
        match self.fate {
            _ if is_dead => {}
            Fate::Answered => return Some(operation(&mut self.registry)),
            Fate::AnswerLost => drop(operation(&mut self.registry)),
            Fate::RequestLost => {}
            Fate::Late => {
                self.late.push(Box::new(|registry: &mut Registry| drop(operation(registry))));
            }
        }
        self.counts.unanswered += 1;
        None
    }

    fn arrive(&mut self) {
        for late in std::mem::take(&mut self.late) {
            late(&mut self.registry);
        }
    }

    fn took(&mut self, generator: usize, worker: Worker, tick: Tick) {
        let mut of_generator = self.holders.iter().filter(|(_, held)| held.generator == generator);
        let fits = |held: &Held| held.holder.worker == worker && held.holder.may_use(tick);
        let owner = self.used.get(&(worker, tick)).copied();
        let known = of_generator.clone().any(|(text, _)| owner == Some(*text));
        if known {
            return;
        }
        let found = of_generator.find(|(_, held)| fits(held)).map(|(text, _)| *text);
        match (owner, found) {
            (None, Some(text)) => {
                self.used.insert((worker, tick), text);
                let held = self.holders.get_mut(&text).unwrap();
                held.holder.use_up_to(tick);
            }
            other => self.check(false, || {
                format!("generator {generator} used tick {tick} of {worker}: {other:?}")
            }),
        }
    }
}

impl WorkerRegistry for Flaky {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let mut world = lock(&self.world);
        let request = model::Request { now: tick(request.now), latest: tick(request.latest) };
        let assign = move |registry: &mut Registry| registry.assign(&TERMS, request, Rules::ALL);
        let is_held = |registry: &Registry, worker: Worker| {
            registry.rows.iter().any(|row| {
                row.worker == worker && row.lease.is_some_and(|lease| lease.holder.is_some())
            })
        };
        let before = world.registry.clone();
        let Some(Ok(lease)) = world.call(*lock(&self.is_dead), assign) else {
            return Err(RegistryError::unreachable("it is flaky"));
        };
        world.counts.ids += 1;
        world.counts.taken_over += usize::from(is_held(&before, lease.worker));
        let text = lease.text.unwrap();
        // A generator uses the ticks from the one of its clock on, or from the first that is left.
        let holder = Holder::new(&lease, lease.first);
        let held = Held { generator: self.generator, holder, is_released: false };
        world.holders.insert(text, held);
        let ticks = lease.first.into()..=lease.last.into();
        Ok(Lease::leased(lease.worker.into(), ticks, DURATION, text.to_string()))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let mut world = lock(&self.world);
        let (text, last) = (text(lease), tick(last));
        let held = &world.holders[&text];
        let is_allowed = held.holder.may_reserve()
            && !held.is_released
            && last >= held.holder.last
            && held.generator == self.generator;
        let problem = format!("generator {} reserved {last} of {:?}", self.generator, held.holder);
        world.check(is_allowed, || problem);
        let id = (world.holders[&text].holder.worker, text);
        let reserve = move |registry: &mut Registry| registry.reserve(id, last, 4, Rules::ALL);
        let answer = world.call(*lock(&self.is_dead), reserve);
        if let Some(answer) = answer {
            world.holders.get_mut(&text).unwrap().holder.answered(last, answer, Rules::ALL);
            world.counts.reserved += usize::from(answer.is_ok());
            world.counts.lost += usize::from(answer.is_err());
        }
        match answer {
            Some(Ok(())) => Ok(last.into()),
            Some(Err(model::LeaseLost)) => Err(RegistryError::LeaseLost { worker: lease.worker }),
            None => Err(RegistryError::unreachable("it is flaky")),
        }
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let mut world = lock(&self.world);
        let (text, used) = (text(lease), tick(used));
        let held = world.holders.get_mut(&text).unwrap();
        let at_least = held.holder.used_at_end(false, Rules::ALL);
        let is_allowed = !held.is_released && used >= at_least && used <= held.holder.last;
        held.is_released = true;
        let problem = format!("generator {} gave {used} back of {:?}", self.generator, held.holder);
        let id = (held.holder.worker, text);
        world.check(is_allowed, || problem);
        let release = move |registry: &mut Registry| registry.release(id, used, Rules::ALL);
        let answer = world.call(*lock(&self.is_dead), release);
        world.counts.released += usize::from(answer == Some(Ok(())));
        match answer {
            Some(Ok(())) => Ok(()),
            Some(Err(model::LeaseLost)) => Err(RegistryError::LeaseLost { worker: lease.worker }),
            None => Err(RegistryError::unreachable("it is flaky")),
        }
    }
}

/// Eight UIDs a tick, of a second.
fn layout() -> Layout {
    Layout::new(40, 12, 3).unwrap()
}

struct Generator {
    index: usize,
    uids: UidGenerator,
    clock: ManualClock,
    is_dead: Arc<Mutex<bool>>,
}

impl Generator {
    fn start(world: &Arc<Mutex<World>>, index: usize, at: u64) -> Option<Generator> {
        let is_dead = Arc::default();
        let (world, is_dead) = (Arc::clone(world), Arc::clone(&is_dead));
        let registry = Flaky { generator: index, world, is_dead: Arc::clone(&is_dead) };
        let clock = ManualClock::new(layout().epoch() + Duration::from_secs(at));
        let builder = UidGenerator::builder().registry(registry).layout(layout());
        let builder = builder.clock(clock.clone()).slots(4).start_deadline(Duration::ZERO);
        let uids = builder.max_lead(Duration::from_secs(300)).build().ok()?;
        Some(Generator { index, uids, clock, is_dead })
    }

    fn take(&self, world: &Mutex<World>, count: usize) {
        for _ in 0..count {
            let Ok(uid) = self.uids.try_take() else {
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            let parts = self.uids.layout().parts(uid);
            let seconds = parts.time.duration_since(layout().epoch()).unwrap().as_secs();
            let worker = Worker::try_from(parts.worker).unwrap();
            lock(world).took(self.index, worker, tick(seconds));
        }
    }
}

/// What happens to three generators, as `seed` has it. Returns what the model does not allow.
fn run(seed: u64) -> (Vec<String>, Counts) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let world = World::new();
    let mut generators: Vec<Generator> = Vec::new();
    let mut started = 0;
    for _ in 0..60 {
        let one = (!generators.is_empty()).then(|| rng.usize(0..generators.len()));
        let by = Duration::from_secs(rng.u64(0..20));
        match (rng.u32(0..20), one) {
            (0..=3, _) if generators.len() < 3 => {
                started += 1;
                let generator = Generator::start(&world, started, rng.u64(950..1050));
                generators.extend(generator);
            }
            (4..=9, Some(one)) => generators[one].take(&world, rng.usize(1..120)),
            (10, Some(one)) => generators[one].clock.advance(by),
            (11, Some(one)) => generators[one].clock.rewind(by),
            // Its handle gives its ids back.
            (12, Some(one)) => drop(generators.swap_remove(one)),
            (13, Some(one)) => {
                *lock(&generators[one].is_dead) = true;
                drop(generators.swap_remove(one));
            }
            (14..=15, _) => lock(&world).registry.pass(5),
            (16, _) => lock(&world).arrive(),
            (17, _) => lock(&world).fate = Fate::Answered,
            (18, _) => {
                let fates = [Fate::Answered, Fate::AnswerLost, Fate::RequestLost, Fate::Late];
                lock(&world).fate = fates[rng.usize(0..fates.len())];
            }
            // Reservations come due.
            _ => thread::sleep(DURATION / 2),
        }
    }
    drop(generators);
    let world = lock(&world);
    (world.problems.clone(), world.counts)
}

#[test]
fn generators_do_only_what_the_model_allows() {
    let runs: Vec<_> = (0..24).map(|seed| thread::spawn(move || (seed, run(seed)))).collect();
    let mut sum = Counts::default();
    for run in runs {
        let (seed, (problems, counts)) = run.join().unwrap();
        assert!(problems.is_empty(), "seed {seed}: {problems:#?}");
        sum.ids += counts.ids;
        sum.reserved += counts.reserved;
        sum.unanswered += counts.unanswered;
        sum.lost += counts.lost;
        sum.taken_over += counts.taken_over;
        sum.released += counts.released;
    }
    println!("{sum:?}");
    let Counts { ids, reserved, unanswered, lost, taken_over, released } = sum;
    for count in [ids, reserved, unanswered, lost, taken_over, released] {
        assert!(count > 0, "{sum:?}");
    }
}

/// The check itself: a tick of another, and one that is not reserved.
#[test]
fn what_the_model_does_not_allow_is_noted() {
    let world = World::new();
    let generator = Generator::start(&world, 1, 1000).unwrap();
    let holder = lock(&world).holders[&1].holder;
    let (worker, last) = (holder.worker, holder.last);
    lock(&world).took(generator.index, worker, last);
    assert!(lock(&world).problems.is_empty());
    lock(&world).took(2, worker, last);
    lock(&world).took(generator.index, worker, last + 1000);
    assert_eq!(lock(&world).problems.len(), 2);
}
