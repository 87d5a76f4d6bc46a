//! [`Builder`]: a generator's configuration, checked and put together.

use std::fmt;
use std::time::Duration;

use crate::clock::{Clock, Stopwatch, SystemClock};
use crate::engine::events;
use crate::engine::limits::LeadLimit;
use crate::engine::limits::Limits;
use crate::engine::{Engine, Setup};
use crate::filler::Filler;
use crate::filler::allowance::Allowance;
use crate::filler::lease_manager::LeaseManager;
use crate::filler::maintenance::Maintenance;
use crate::generator::BuildError;
use crate::generator::UidGenerator;
#[cfg(feature = "async")]
use crate::generator::blocking;
use crate::generator::past::PastGenerator;
use crate::generator::start::{Patience, check_jump, check_time};
use crate::layout::Layout;
use crate::registry::{Request, WorkerRegistry};
use crate::ring::{MAX_SLOTS, MIN_SLOTS};
use crate::sync::{Arc, Parker};

/// Configures a [`UidGenerator`].
pub struct Builder {
    registry: Option<Box<dyn WorkerRegistry>>,
    clock: Arc<dyn Clock>,
    layout: Layout,
    /// Whether a layout that the registry remembers goes before `layout`.
    asks_for_layout: bool,
    slots: usize,
    refill_at: u32,
    max_lead: Option<Duration>,
    max_lag: Duration,
    is_exact: bool,
    max_forward_jump: Option<Duration>,
    on_lead_limit: Option<LeadLimit>,
    max_new_workers: Option<u32>,
    start_deadline: Duration,
    shutdown_deadline: Duration,
}

impl Builder {
    pub(crate) fn new() -> Builder {
        Builder {
            registry: None,
            clock: Arc::new(SystemClock),
            layout: Layout::DEFAULT,
            asks_for_layout: false,
            slots: 64,
            refill_at: 50,
            max_lead: None,
            max_lag: Duration::from_secs(1),
            is_exact: false,
            max_forward_jump: None,
            on_lead_limit: None,
            max_new_workers: None,
            start_deadline: Duration::from_secs(30),
            shutdown_deadline: Duration::from_secs(15),
        }
    }

    /// Where the worker id comes from. A `Box<dyn WorkerRegistry>` is accepted as well. There is no
    /// default, because a guessed id sooner or later is a duplicate.
    ///
    /// ```
    /// # use uidring::UidGenerator;
    /// use uidring::registry::{FixedWorker, WorkerRegistry};
    ///
    /// let registry: Box<dyn WorkerRegistry> = Box::new(FixedWorker::new(7));
    /// let uids = UidGenerator::builder().registry(registry).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn registry(self, registry: impl WorkerRegistry) -> Builder {
        Builder { registry: Some(Box::new(registry)), ..self }
    }

    /// How UIDs are split. [`Layout::DEFAULT`] unless set.
    ///
    /// ```
    /// # use uidring::{Layout, UidGenerator, registry::FixedWorker};
    /// let layout = Layout::new(31, 16, 16)?; // 65,536 UIDs per second, 65,536 workers
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).layout(layout).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn layout(self, layout: Layout) -> Builder {
        Builder { layout, ..self }
    }

    /// Uses the layout that the registry was first used with, if there is one. What
    /// [`layout`](Builder::layout) sets is for a registry that is new, or does not know.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use uidring::registry::SqliteRegistry;
    /// use uidring::{Layout, UidGenerator};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("ids.db");
    /// let build = || UidGenerator::builder().registry(SqliteRegistry::open(&file).unwrap());
    /// build().layout(Layout::TWITTER).build()?;
    /// let uids = build().remembered_layout().build()?;
    /// assert_eq!(*uids.layout(), Layout::TWITTER);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn remembered_layout(self) -> Builder {
        Builder { asks_for_layout: true, ..self }
    }

    /// What tells the time. [`SystemClock`] unless set.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{Layout, UidGenerator, registry::FixedWorker};
    /// use uidring::clock::ManualClock;
    ///
    /// let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(3600));
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).clock(clock).build()?;
    /// assert_eq!(uids.take()?, Layout::DEFAULT.compose(3600, 7, 0).unwrap());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Builder {
        Builder { clock: Arc::new(clock), ..self }
    }

    /// How many blocks the ring holds, one per tick: a power of two from 2 to 65,536, 64 unless
    /// set. A slot takes 64 bytes. With more slots the filler sleeps longer under load, and the
    /// generator borrows that many ticks from the start.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let builder = UidGenerator::builder().registry(FixedWorker::new(7));
    /// let error = builder.slots(1000).build().unwrap_err();
    /// assert!(error.to_string().ends_with("the nearest are 512 and 1024"));
    /// ```
    #[must_use]
    pub fn slots(self, slots: usize) -> Builder {
        Builder { slots, ..self }
    }

    /// Takers wake the filler when at most this percentage of the ring remains: 1 to 99, 50 unless
    /// set. If the filler runs twice within 50 ms, takers refill the ring themselves for a while.
    /// Near 1 and near 99 more takes use the slow path, because a ready range is no longer than the
    /// part of the ring above this mark, and no longer than the part below it.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).refill_at(25).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn refill_at(self, percent: u32) -> Builder {
        Builder { refill_at: percent, ..self }
    }

    /// How far the time of a UID may lie ahead of the clock, that is, how much time may be
    /// borrowed. One day unless set. With less than an hour, takes at the limit wait for the clock
    /// unless [`on_lead_limit`](Builder::on_lead_limit) says otherwise.
    ///
    /// A clock that is set back is followed when the filler reads it next, usually within a second.
    /// Until then UIDs are ahead of it by up to `max_lead` and the length of the step: those in the
    /// ring are of the time before. From then on, takes get only what is within `max_lead` again.
    /// In [exact time](Builder::exact_time) each take reads the clock.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let registry = FixedWorker::new(7);
    /// // No UID of a time that has not come. If a second is used up, takes wait for the next.
    /// let uids = UidGenerator::builder().registry(registry).max_lead(Duration::ZERO).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn max_lead(self, max_lead: Duration) -> Builder {
        Builder { max_lead: Some(max_lead), ..self }
    }

    /// How far the time of a UID may lie behind the clock. One second unless set.
    ///
    /// The filler reads the clock twice within this limit, but at most once a tick, and at least
    /// once a second. Each time it drops what would become stale before the next one. If the filler
    /// runs late, UIDs can be older by as much.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let registry = FixedWorker::new(7);
    /// let builder = UidGenerator::builder().registry(registry).max_lag(Duration::from_secs(5));
    /// let uids = builder.build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn max_lag(self, max_lag: Duration) -> Builder {
        Builder { max_lag, ..self }
    }

    /// Has each take read the clock: the tick of a UID is the clock's at the take, neither older
    /// nor ahead, as in a Snowflake. Meant for ticks of a few milliseconds, with
    /// [`Layout::TWITTER`] and the other presets.
    ///
    /// * A take costs what reading the clock costs, some 20 ns more than without. Nothing is
    ///   published ahead, so [`slots`](Builder::slots), [`refill_at`](Builder::refill_at) and
    ///   [`max_lag`](Builder::max_lag) have no effect, and the filler sleeps while nobody takes.
    /// * When all UIDs of a tick are taken, a take sleeps until the next tick, or fails, as
    ///   [`on_lead_limit`](Builder::on_lead_limit) says: `Wait` unless set.
    /// * When the clock goes back, takes wait until it has caught up, or fail. With a
    ///   [`max_lead`](Builder::max_lead), zero unless set, a step back by up to that much is
    ///   tolerated, and as much may be borrowed when a tick is full. No UID is repeated in any
    ///   case.
    /// * The first tick after a pause begins at a place that differs from tick to tick, in the
    ///   first quarter of its UIDs or in the 64 after that, so that the UIDs of a quiet service do
    ///   not all end in the same bits. At the limit every UID of a tick is taken.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use uidring::{Layout, UidGenerator, registry::FixedWorker};
    /// let layout = Layout::TWITTER; // 41 bits of milliseconds, 10 for the worker, 4,096 UIDs each
    /// let builder = UidGenerator::builder().registry(FixedWorker::new(7)).layout(layout);
    /// let uids = builder.exact_time().build()?;
    /// let before = layout.tick_at(SystemTime::now()).unwrap();
    /// let uid = uids.take()?;
    /// let after = layout.tick_at(SystemTime::now()).unwrap();
    /// assert!((before..=after).contains(&layout.tick_at(layout.parts(uid).time).unwrap()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn exact_time(self) -> Builder {
        Builder { is_exact: true, ..self }
    }

    /// What happens when `max_lead` is used up. Unless set, this depends on `max_lead`:
    /// [`LeadLimit::NewWorker`] if it is an hour or more, [`LeadLimit::Wait`] if it is less, and in
    /// [exact time](Builder::exact_time) whatever it is. With a short lead a busy generator is at
    /// the limit all the time, and would use up worker ids that are never given back. Setting the
    /// clock back uses up as much of it as the step is long.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{LeadLimit, UidGenerator, registry::FixedWorker};
    /// let uids = UidGenerator::builder()
    ///     .registry(FixedWorker::new(7))
    ///     .max_lead(Duration::ZERO)
    ///     .on_lead_limit(LeadLimit::Fail)
    ///     .build()?;
    /// let mut all = vec![uidring::Uid::MIN; 100_000]; // more than two seconds have
    /// let error = uids.fill(&mut all).unwrap_err();
    /// assert!(error.cause().retry_in().is_some());
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn on_lead_limit(self, on_lead_limit: LeadLimit) -> Builder {
        Builder { on_lead_limit: Some(on_lead_limit), ..self }
    }

    /// How many further worker ids the generator may take on per hour under
    /// [`LeadLimit::NewWorker`]. It may take on this many at once; they become available again one
    /// by one, evenly over an hour. Unless set, this is a ten-thousandth of the layout's worker
    /// ids, but at least one: 104 for [`Layout::DEFAULT`]. A single generator that is always at the
    /// limit then uses up that layout in 14 months. With zero it takes on none.
    ///
    /// While none is available, takes at the limit wait as with [`LeadLimit::Wait`], and
    /// [`status`](UidGenerator::status) says so.
    ///
    /// Leased ids come back and do not count. But one that was used up to the lead limit comes back
    /// only after half of [`max_lead`](Builder::max_lead). So that ids are left for others that
    /// start, a generator takes on at most a sixteenth of the registry's in that time, and at least
    /// one. An id that replaces a lost lease is taken on in any case.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let builder = UidGenerator::builder().registry(FixedWorker::new(7));
    /// let uids = builder.max_new_workers(10).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn max_new_workers(self, per_hour: u32) -> Builder {
        Builder { max_new_workers: Some(per_hour), ..self }
    }

    /// The longest forward jump of the clock that is followed. Unlimited unless set.
    ///
    /// A clock that is set years ahead by mistake burns those years of the time field. A running
    /// generator does not follow a longer jump: it continues from the time it had, reports the jump
    /// in [`status`](UidGenerator::status), and follows again when the clock comes back. And
    /// building a generator fails if the clock is further than this ahead of the last start that
    /// the registry knows of. So choose a limit longer than any time out of service.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let uids = UidGenerator::builder()
    ///     .registry(FixedWorker::new(7))
    ///     .max_forward_jump(Duration::from_secs(90 * 24 * 3600))
    ///     .build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn max_forward_jump(self, max_forward_jump: Duration) -> Builder {
        Builder { max_forward_jump: Some(max_forward_jump), ..self }
    }

    /// How long [`build`](Builder::build) keeps trying while the registry cannot be reached or is
    /// locked: 30 seconds unless set. Between tries it pauses for a random time, whose maximum
    /// doubles up to five seconds, so that a fleet that starts together does not retry together.
    /// The last try may end later, by the registry's own timeout. With zero there is one try.
    ///
    /// If a [`FixedWorker`](crate::registry::FixedWorker) has been used too far ahead of the clock,
    /// `build` waits until it may start. If that is after the deadline, `build` fails at once.
    ///
    /// `build` also waits while the clock is before the layout's epoch: a machine without a clock
    /// of its own learns the time from the network some seconds after it has started.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let builder = UidGenerator::builder().registry(FixedWorker::new(7));
    /// let uids = builder.start_deadline(Duration::from_secs(5)).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn start_deadline(self, start_deadline: Duration) -> Builder {
        Builder { start_deadline, ..self }
    }

    /// How long a shutdown waits for the registry to take the worker id back: 15 seconds unless
    /// set. With one worker id to give back, a database that does not answer takes less than that:
    /// five seconds for a call that is under way, and five for the one that gives the id back,
    /// unless `with_timeout` says otherwise. See [`UidGenerator::shutdown`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let builder = UidGenerator::builder().registry(FixedWorker::new(7));
    /// let uids = builder.shutdown_deadline(Duration::from_secs(2)).build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn shutdown_deadline(self, shutdown_deadline: Duration) -> Builder {
        Builder { shutdown_deadline, ..self }
    }

    /// Takes a worker id, fills the ring and starts the filler. This waits for the registry, at
    /// most until [`start_deadline`](Builder::start_deadline) and one more answer.
    ///
    /// A program that forks builds a generator in each process, after the fork, because a child
    /// cannot use its parent's.
    ///
    /// ```
    /// # use uidring::UidGenerator;
    /// let error = UidGenerator::builder().build().unwrap_err();
    /// assert!(error.to_string().starts_with("a generator needs a registry"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what is wrong and what to do. The registry is called only after
    /// everything else has been checked.
    pub fn build(self) -> Result<UidGenerator, BuildError> {
        let shutdown_deadline = self.shutdown_deadline;
        let (engine, maintenance, parker) = self.assemble(fastrand::Rng::new())?;
        let filler = Filler::start(Arc::clone(&engine), parker, maintenance, shutdown_deadline);
        Ok(UidGenerator::new(engine, filler.map_err(BuildError::Spawn)?))
    }

    /// Does what [`build`](Builder::build) does, on a thread of its own, so that no runtime is
    /// blocked. It needs no particular runtime. The thread is started when the future is first
    /// polled. If the future is dropped after that, the thread ends what it has begun, and then
    /// gives a leased worker id back. So does another thread if the generator is ready and the
    /// future is dropped before it could hand it over, as by a timeout. Neither blocks the runtime.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # pollster::block_on(async {
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).build_async().await?;
    /// # Ok::<(), uidring::BuildError>(())
    /// # })?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build`](Builder::build).
    #[cfg(feature = "async")]
    pub async fn build_async(self) -> Result<UidGenerator, BuildError> {
        let result = blocking::run("uidring-build", || self.build()).await;
        result.unwrap_or_else(|error| Err(BuildError::Spawn(error)))
    }

    /// Takes a worker id for UIDs of times that were. The registry, the layout, the clock,
    /// [`max_new_workers`](Builder::max_new_workers) and
    /// [`start_deadline`](Builder::start_deadline) count; the other settings are about takes of the
    /// present. There is no thread.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// // Nobody knows what a number of one's own was used for before.
    /// let builder = UidGenerator::builder().registry(FixedWorker::new(7));
    /// let error = builder.build_past().unwrap_err();
    /// assert!(error.to_string().starts_with("ids of the past need a worker id that"));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build`](Builder::build), and [`BuildError::NotForThePast`] where the registry leases
    /// its worker ids, or gives a number of the caller's own.
    pub fn build_past(self) -> Result<PastGenerator, BuildError> {
        let mut registry = self.registry.ok_or(BuildError::NoRegistry)?;
        let patience = Patience { deadline: self.start_deadline, since: Stopwatch::start() };
        let layout = patience.layout(&mut *registry, self.asks_for_layout, self.layout)?;
        let lease = patience.retry(|| {
            check_time(&layout, &*self.clock)?;
            let now = layout.tick_at(self.clock.now()).unwrap_or(layout.final_tick());
            Ok(registry.assign(&Request::new(layout, now, now))?.check(&layout)?)
        })?;
        if !lease.is_permanent() || lease.first > 0 {
            let is_leased = !lease.is_permanent();
            if is_leased && let Err(error) = registry.release(&lease, lease.first.saturating_sub(1))
            {
                events::not_released(lease.worker, &error);
            }
            return Err(BuildError::NotForThePast { worker: lease.worker, is_leased });
        }
        events::started(&lease, &registry.name(), &layout, "past");
        let allowance = permanent_workers(self.max_new_workers, &layout);
        let past = PastGenerator::new(layout, self.clock, registry, &lease, allowance);
        past.map_err(BuildError::Spawn)
    }

    /// Does what [`build_past`](Builder::build_past) does, on a thread of its own, as
    /// [`build_async`](Builder::build_async).
    ///
    /// # Errors
    ///
    /// As [`build_past`](Builder::build_past).
    #[cfg(feature = "async")]
    pub async fn build_past_async(self) -> Result<PastGenerator, BuildError> {
        let result = blocking::run("uidring-build", || self.build_past()).await;
        result.unwrap_or_else(|error| Err(BuildError::Spawn(error)))
    }

    /// Everything but the thread.
    pub(crate) fn assemble(
        self,
        rng: fastrand::Rng,
    ) -> Result<(Arc<Engine>, Maintenance, Parker), BuildError> {
        let Builder { layout, slots, refill_at, max_lag, is_exact, .. } = self;
        let max_lead = self.max_lead.unwrap_or(if is_exact { Duration::ZERO } else { DAY });
        let usual = if is_exact { LeadLimit::Wait } else { LeadLimit::of(max_lead) };
        let policy = self.on_lead_limit.unwrap_or(usual);
        if !slots.is_power_of_two() || !(MIN_SLOTS..=MAX_SLOTS).contains(&slots) {
            return Err(BuildError::Slots { slots });
        }
        if !(1..=99).contains(&refill_at) {
            return Err(BuildError::RefillAt { percent: refill_at });
        }
        if is_exact && policy == LeadLimit::NewWorker {
            return Err(BuildError::ExactTime);
        }
        let mut registry = self.registry.ok_or(BuildError::NoRegistry)?;
        let patience = Patience { deadline: self.start_deadline, since: Stopwatch::start() };
        let layout = patience.layout(&mut *registry, self.asks_for_layout, layout)?;
        let tick = layout.tick();
        if !is_exact && max_lag < tick && max_lead < tick {
            return Err(BuildError::Limits { max_lead, max_lag, tick });
        }
        patience.retry(|| check_time(&layout, &*self.clock))?;
        // In exact time no UID lags.
        let max_lag = if is_exact { max_lag.max(tick) } else { max_lag };
        let limits = Limits::new(layout, max_lead, max_lag, self.max_forward_jump);
        let lease = patience.retry(|| {
            if let Some(max_forward_jump) = self.max_forward_jump {
                check_jump(&mut *registry, self.clock.now(), max_forward_jump)?;
            }
            Ok(registry.assign(&limits.request(limits.ms_at(self.clock.now())))?.check(&layout)?)
        })?;
        // Checked again, because a registry call may take long.
        patience.retry(|| check_time(&layout, &*self.clock))?;
        let (engine, parker) = Engine::new(Setup {
            clock: self.clock,
            limits,
            policy,
            takers_read_clock: is_exact || self.max_forward_jump.is_none(),
            is_exact,
            lease: &lease,
            worker_ids: registry.worker_ids_of(&layout),
            slots,
            refill_mark: (slots as u64 * u64::from(refill_at) / 100).max(1),
        });
        let time = if is_exact { "exact" } else { "borrowed" };
        events::started(&lease, &registry.name(), &layout, time);
        let oldest = engine.tick_of_block(engine.ring.cursor_block()).unwrap_or(lease.first);
        let allowance = if lease.is_permanent() {
            permanent_workers(self.max_new_workers, &layout)
        } else {
            let ids = engine.worker_id_count().unwrap_or_else(|| layout.max_worker());
            Allowance::new(leased_workers_of(ids), max_lead / 2)
        };
        let mut workers = LeaseManager::new(registry, lease, allowance);
        workers.compare_clocks(&engine);
        let mut maintenance = Maintenance::new(workers, rng, self.max_forward_jump, oldest);
        maintenance.follow(engine.now_ms());
        Ok((Arc::new(engine), maintenance, parker))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("layout", &self.layout)
            .field("slots", &self.slots)
            .field("refill_at", &self.refill_at)
            .field("max_lead", &self.max_lead)
            .field("max_lag", &self.max_lag)
            .field("is_exact", &self.is_exact)
            .field("on_lead_limit", &self.on_lead_limit)
            .field("max_new_workers", &self.max_new_workers)
            .field("max_forward_jump", &self.max_forward_jump)
            .field("start_deadline", &self.start_deadline)
            .field("shutdown_deadline", &self.shutdown_deadline)
            .finish_non_exhaustive()
    }
}

/// How many further permanent worker ids a generator may take on.
fn permanent_workers(max_new_workers: Option<u32>, layout: &Layout) -> Allowance {
    let per_hour = max_new_workers.unwrap_or_else(|| new_workers_of(layout));
    Allowance::new(per_hour.into(), Duration::from_secs(3600))
}

/// How many of so many leased worker ids a generator may take on in half of `max_lead`. One that
/// was used up comes back after that time, so a generator never has more than an eighth of many.
fn leased_workers_of(ids: u64) -> u64 {
    (ids / 16).max(1)
}

/// How many worker ids a generator may take on per hour unless `max_new_workers` is set.
fn new_workers_of(layout: &Layout) -> u32 {
    u32::try_from(layout.max_worker() / 10_000).unwrap_or(u32::MAX).max(1)
}

const DAY: Duration = Duration::from_secs(24 * 3600);
