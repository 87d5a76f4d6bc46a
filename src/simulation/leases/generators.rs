//! The generators on the flaky registry: each UID comes once, whatever becomes of their leases.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::clock::ManualClock;
use crate::engine::Engine;
use crate::engine::by_kind;
use crate::engine::limits::LeadLimit;
use crate::engine::timing::Timing;
use crate::filler::maintenance::Maintenance;
use crate::generator::builder::Builder;
use crate::layout::Parts;
use crate::ring::{Block, is_closed};
use crate::simulation::take_or_wait;
use crate::uid::Uid;

struct Generator {
    clock: ManualClock,
    engine: Arc<Engine>,
    maintenance: Maintenance,
    /// The tickets of takers that have claimed, and do not go on yet.
    held: Vec<u64>,
}

impl Generator {
    fn start(registry: &Registry, clock: ManualClock) -> Option<Generator> {
        Generator::start_with(registry, clock, |builder| builder)
    }

    fn start_with(
        registry: &Registry,
        clock: ManualClock,
        options: impl Fn(Builder) -> Builder,
    ) -> Option<Generator> {
        let builder =
            Builder::new().registry(registry.clone()).layout(registry.layout).clock(clock.clone());
        let builder = options(builder.slots(4).start_deadline(Duration::ZERO));
        let (engine, maintenance, _) = builder.assemble(fastrand::Rng::with_seed(7)).ok()?;
        let mut generator = Generator { clock, engine, maintenance, held: Vec::new() };
        generator.run_filler();
        Some(generator)
    }

    /// Takes a UID. The filler runs if it was woken.
    fn take(&mut self) -> Option<Uid> {
        let uid = self.engine.try_take().ok();
        if self.engine.signal.take_wake_up() {
            self.run_filler();
        }
        uid
    }

    /// As many takers claim a ticket each.
    fn hold(&mut self, takers: u16) {
        let tickets = (0..takers).map(|_| self.engine.ring.cursor.claim(1));
        self.held.extend(tickets.filter(|ticket| !is_closed(*ticket)));
    }

    /// The takers with tickets go on. Those whose tick is still to come keep their tickets.
    fn go_on(&mut self) -> Vec<Uid> {
        let engine = &self.engine;
        let mut uids = Vec::new();
        self.held.retain(|&ticket| {
            let block = by_kind!(engine, resolve, ticket);
            match block {
                Block::Published(base) => uids.push(engine.ring.uid(ticket, base)),
                Block::Overwritten => by_kind!(engine, drop_tickets, 1),
                Block::Beyond => {}
            }
            matches!(block, Block::Beyond)
        });
        uids
    }

    /// Returns the UIDs of takers that have claimed their tickets before, and go on after. One more
    /// claims the next ticket or, if `is_ahead`, one of a block that is not published yet.
    fn shut_down(mut self, is_ahead: bool) -> Vec<Uid> {
        let engine = Arc::clone(&self.engine);
        let ring = &engine.ring;
        if is_ahead && !ring.cursor.is_closed() {
            let position = ring.cursor.position();
            let end = (ring.tail() << ring.shift()).max(position + ring.max_offset() + 1);
            ring.cursor.claim(end - position);
        }
        self.hold(1);
        ring.cursor.shut_down();
        let held = mem::take(&mut self.held);
        self.end();
        let go_on = |ticket: u64| {
            let base = engine.wait_for_base(ticket..ticket + 1).ok()??;
            Some(ring.uid(ticket, base))
        };
        held.into_iter().filter_map(go_on).collect()
    }

    fn end(mut self) {
        drop(self.maintenance.finish(&self.engine));
    }

    fn run_filler(&mut self) {
        self.maintenance.run_once(&self.engine);
        while self.maintenance.is_call_pending() {
            self.maintenance.run_once(&self.engine);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Starts a generator whose clock is this many seconds ahead.
    Start(i64),
    Take(u16),
    /// As many takers claim tickets, and do not go on yet.
    Hold(u16),
    /// The takers with tickets go on.
    GoOn,
    /// Makes claims without using them, as at the end of what is reserved.
    Lose(u64),
    Maintain,
    /// Moves all clocks by this many milliseconds.
    Pass(u64),
    /// Moves one clock by this many seconds.
    Jump(i64),
    Kill,
    End,
    /// Shuts a generator down while takers hold tickets. One more claims the next ticket, or one of
    /// a block that is not published yet.
    ShutDown(bool),
    FaultMode(FaultMode),
    /// Calls that failed as `Late` take effect.
    RunLate,
    /// All leases expire.
    Expire,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let mode = prop_oneof![
        4 => Just(FaultMode::Good),
        2 => Just(FaultMode::Down),
        1 => Just(FaultMode::Mute),
        1 => Just(FaultMode::Late),
    ];
    let step = prop_oneof![
        3 => prop_oneof![Just(0), -50i64..50].prop_map(Step::Start),
        10 => prop_oneof![0u16..60, 0u16..400].prop_map(Step::Take),
        3 => prop_oneof![1u16..4, 1u16..40].prop_map(Step::Hold),
        3 => Just(Step::GoOn),
        2 => (1u64..4).prop_map(Step::Lose),
        6 => Just(Step::Maintain),
        3 => prop_oneof![1u64..6000, 1u64..100].prop_map(Step::Pass),
        1 => (-50i64..50).prop_map(Step::Jump),
        2 => Just(Step::Kill),
        2 => Just(Step::End),
        2 => any::<bool>().prop_map(Step::ShutDown),
        3 => mode.prop_map(Step::FaultMode),
        1 => Just(Step::RunLate),
        5 => Just(Step::Expire),
    ];
    (0usize..3, step)
}

/// A clock that is `by` seconds ahead.
fn moved(clock: &ManualClock, by: i64) -> ManualClock {
    let (now, distance) = (clock.now(), Duration::from_secs(by.unsigned_abs()));
    ManualClock::new(if by < 0 { now - distance } else { now + distance })
}

/// When a generator ends, its ring may be older than the ticks that another generator has used of
/// the same worker id since.
#[test]
fn an_id_that_came_back_unused_starts_after_its_holder_in_between() {
    let (registry, clock) = (Registry::new(Memory::default()), clock());
    let start = || Generator::start(&registry, clock.clone()).unwrap();
    let mut seen = HashSet::new();
    let mut take_many = |generator: &mut Generator| {
        for _ in 0..100 {
            assert!(generator.take().is_none_or(|uid| seen.insert(uid)), "a UID came twice");
        }
    };

    let mut idle = start();
    registry.pass(10 * LEASE);
    let mut meanwhile = start();
    assert_eq!(meanwhile.engine.worker(), 1);
    take_many(&mut meanwhile);
    meanwhile.end();
    registry.pass(10 * LEASE);
    // It finds its lease lost, and gets the same id again.
    while idle.engine.status().new_workers == 0 {
        idle.clock.advance(Duration::from_millis(1));
        idle.run_filler();
    }
    assert_eq!(idle.engine.worker(), 1);
    idle.end();
    let mut next = start();
    assert_eq!(next.engine.worker(), 1);
    take_many(&mut next);
}

#[test]
fn a_lease_is_reserved_by_its_own_ticks_not_by_those_of_the_previous_one() {
    let (registry, clock) = (Registry::new(Memory::default()), clock());
    let mut busy = Generator::start(&registry, clock.clone()).unwrap();
    for _ in 0..8 * 2000 {
        while busy.take().is_none() {}
    }
    registry.pass(10 * LEASE);
    let other = Generator::start(&registry, clock).unwrap();
    assert_eq!(other.engine.worker(), 1);
    while busy.engine.worker() == 1 {
        busy.take();
    }
    // Now the ring is full of blocks that are far ahead.
    busy.run_filler();
    let reserved = busy.engine.codec.tick_of(busy.engine.ring.window().get().reserved_base);
    let now = busy.engine.limits.fresh_tick(busy.engine.now_ms());
    assert!(reserved <= now + 3 * LEASE, "{} s reserved ahead", reserved - now);
}

#[test]
fn while_the_registry_is_down_failed_takes_do_not_keep_the_filler_awake() {
    let registry = Registry::new(Memory::default());
    let mut generator = Generator::start(&registry, clock()).unwrap();
    registry.flaky().mode = FaultMode::Down;
    while generator.take().is_some() {}
    assert!(generator.engine.flags.is_registry_down());
    for _ in 0..3 {
        take_or_wait(&generator.engine).unwrap_err();
        assert_eq!(generator.maintenance.run_once(&generator.engine), Duration::from_secs(1));
    }
    // The lease is used up, not the lead.
    assert!(!generator.engine.flags.is_at_lead_limit(), "the lead is not used up");
}

/// Leases worker ids 1, 2 and so on, and does not take the second one back.
struct Picky(u64);

impl WorkerRegistry for Picky {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        let ticks = request.now..=request.now + 3600;
        Ok(Lease::leased(self.0, ticks, Duration::from_secs(3600), "one"))
    }

    fn release(&mut self, lease: &Lease, _: u64) -> Result<(), RegistryError> {
        if lease.worker == 2 { Err(RegistryError::unreachable("it is away")) } else { Ok(()) }
    }
}

#[test]
fn a_shutdown_names_the_worker_id_that_was_not_given_back() {
    let builder = Builder::new().registry(Picky(0)).layout(layout()).clock(clock());
    let builder = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::NewWorker);
    let (engine, mut maintenance, _) = builder.assemble(fastrand::Rng::with_seed(7)).unwrap();
    while engine.try_take().is_ok() {}
    // This requests the second worker id, which is not taken on any more.
    maintenance.run_once(&engine);
    engine.ring.cursor.shut_down();
    let (worker, error) = maintenance.finish(&engine).unwrap_err();
    assert_eq!((worker, engine.worker()), (2, 1), "{error}");
}

/// Runs `steps`. Returns a UID that was taken twice, if there is one.
fn first_duplicate(
    registry: &Registry,
    options: impl Fn(Builder) -> Builder,
    steps: Vec<(usize, Step)>,
) -> Option<Parts> {
    let clock = clock();
    let mut generators = [const { None::<Generator> }; 3];
    let mut seen = HashSet::new();
    let mut passed = Duration::ZERO;
    for (which, step) in steps {
        let place = &mut generators[which];
        let mut taken = Vec::new();
        match (step, place.as_mut()) {
            (Step::Start(by), None) => {
                *place = Generator::start_with(registry, moved(&clock, by), &options);
            }
            (Step::Take(count), Some(generator)) => {
                taken.extend((0..count).map_while(|_| generator.take()));
            }
            (Step::Hold(takers), Some(generator)) => generator.hold(takers),
            (Step::GoOn, Some(generator)) => taken = generator.go_on(),
            (Step::Lose(count), Some(generator)) => {
                generator.engine.ring.cursor.claim(count);
                generator.engine.ring.cursor.close();
            }
            (Step::Maintain, Some(generator)) => generator.run_filler(),
            (Step::Jump(by), Some(generator)) => {
                generator.clock.set(moved(&generator.clock, by).now());
            }
            (Step::Kill, Some(_)) => *place = None,
            (Step::End, Some(_)) => place.take().unwrap().end(),
            (Step::ShutDown(is_ahead), Some(_)) => {
                taken = place.take().unwrap().shut_down(is_ahead);
            }
            (Step::Pass(ms), _) => {
                let time = Duration::from_millis(ms);
                let clocks = generators.iter().flatten().map(|generator| &generator.clock);
                clocks.chain([&clock]).for_each(|clock| clock.advance(time));
                passed += time;
                registry.pass(passed.as_secs());
                passed = Duration::from_millis(passed.subsec_millis().into());
            }
            (Step::FaultMode(mode), _) => registry.flaky().mode = mode,
            (Step::RunLate, _) => registry.flaky().run_late(),
            (Step::Expire, _) => registry.pass(LEASE),
            (_, None) | (Step::Start(_), Some(_)) => {}
        }
        if let Some(twice) = taken.into_iter().find(|uid| !seen.insert(*uid)) {
            return Some(registry.layout.parts(twice));
        }
    }
    None
}

proptest! {
    #[test]
    fn unique_whatever_becomes_of_leases(
        steps in proptest::collection::vec(step(), 1..120),
        order in prop_oneof![Just(FieldOrder::TimeFirst), Just(FieldOrder::WorkerFirst)],
        sequence_bits in 1u32..5,
    ) {
        let registry = Registry::new(Memory::default()).with_layout(order, sequence_bits);
        prop_assert_eq!(first_duplicate(&registry, |builder| builder, steps), None);
    }

    #[test]
    fn unique_in_exact_time_whatever_becomes_of_leases(
        steps in proptest::collection::vec(step(), 1..120),
        order in prop_oneof![Just(FieldOrder::TimeFirst), Just(FieldOrder::WorkerFirst)],
        sequence_bits in 1u32..5,
        max_lead in prop_oneof![Just(0u64), 0u64..60],
    ) {
        let registry = Registry::new(Memory::default()).with_layout(order, sequence_bits);
        let max_lead = Duration::from_secs(max_lead);
        let options = |builder: Builder| builder.exact_time().max_lead(max_lead);
        prop_assert_eq!(first_duplicate(&registry, options, steps), None);
    }
}

#[cfg(feature = "sqlite")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]
    #[test]
    fn unique_whatever_becomes_of_leases_in_a_sqlite_file(
        steps in proptest::collection::vec(step(), 1..120),
    ) {
        let registry = Registry::new(File::new());
        prop_assert_eq!(first_duplicate(&registry, |builder| builder, steps), None);
    }
}
