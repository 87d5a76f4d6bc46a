//! What the scenarios share: how they are run, the threads that take, and the checks of what these
//! have taken.
#![cfg(uidring_shuttle)]

mod history;
pub mod registry;
pub mod source;

pub use history::History;

use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use shuttle::rand::{Rng, RngCore, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use uidring::clock::{Clock, ManualClock};
use uidring::{Builder, Layout, UidGenerator, scenario};

pub const MS: Duration = Duration::from_millis(1);
pub const SECOND: Duration = Duration::from_secs(1);
pub const DAY: Duration = Duration::from_secs(24 * 3600);

/// How many schedules of each scenario are explored, unless `UIDRING_SHUTTLE_SCHEDULES` says it.
const SCHEDULES: usize = 800;
/// More steps than any schedule takes that comes to its end.
const MAX_STEPS: usize = 1_000_000;
/// How often PCT changes its mind about which thread is the most urgent one.
const PCT_DEPTH: usize = 3;
/// The filler reads the clock no more often than this each time it runs.
const READINGS_A_RUN: usize = 3;

/// Runs `scenario` in many schedules, half of them random and half of them by PCT, and prints how
/// many there were, and their steps and seconds. A failing schedule is written to a file in the
/// folder `UIDRING_SHUTTLE_FAILURES`; with the file's name in `UIDRING_SHUTTLE_REPLAY`, it alone is
/// run again.
pub fn explore(name: &str, scenario: fn()) {
    let steps = Arc::new(AtomicUsize::new(0));
    let seeded = {
        let steps = Arc::clone(&steps);
        move || {
            fastrand::seed(thread_rng().next_u64());
            scenario();
            steps.fetch_add(shuttle::current::context_switches(), Ordering::Relaxed);
        }
    };
    if let Ok(file) = env::var("UIDRING_SHUTTLE_REPLAY") {
        let schedule = ReplayScheduler::new_from_file(file).expect("the file holds a schedule");
        return run(schedule, seeded);
    }
    let count = env::var("UIDRING_SHUTTLE_SCHEDULES")
        .map_or(SCHEDULES, |text| text.parse().expect("UIDRING_SHUTTLE_SCHEDULES is a number"));
    let (random, pct) = (count.div_ceil(2), count / 2);
    let since = Instant::now();
    run(RandomScheduler::new(random), seeded.clone());
    run(PctScheduler::new(PCT_DEPTH, pct), seeded);
    let steps = steps.load(Ordering::Relaxed) / count.max(1);
    let seconds = since.elapsed().as_secs_f64();
    eprintln!("scenario {name} {random} random, {pct} PCT, {steps} steps each, {seconds:.1} s");
}

/// Runs `scenario`, which is a long one, in a single random schedule.
pub fn explore_once(name: &str, scenario: fn()) {
    let since = Instant::now();
    let seeded = move || {
        fastrand::seed(thread_rng().next_u64());
        scenario();
    };
    let mut config = config();
    config.max_steps = MaxSteps::None;
    Runner::new(RandomScheduler::new(1), config).run(seeded);
    eprintln!("scenario {name} {:.1} s", since.elapsed().as_secs_f64());
}

fn run(scheduler: impl Scheduler + 'static, scenario: impl Fn() + Send + Sync + 'static) {
    Runner::new(scheduler, config()).run(scenario);
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(MAX_STEPS);
    config.silence_warnings = true;
    config.failure_persistence = match env::var("UIDRING_SHUTTLE_FAILURES") {
        Ok(folder) => FailurePersistence::File(Some(PathBuf::from(folder))),
        Err(_) => FailurePersistence::None,
    };
    config
}

/// Whether something happens that happens once in `rarity` times, as the schedule decides.
pub fn is_one_of(rarity: u32) -> bool {
    thread_rng().gen_ratio(1, rarity)
}

/// Lets other threads run, up to `most` times.
pub fn linger(most: u32) {
    for _ in 0..thread_rng().gen_range(0..=most) {
        thread::yield_now();
    }
}

/// How often the clock was set back, and whether the filler has followed it.
#[derive(Default)]
struct SetBack {
    /// How often the filler has read the clock.
    readings: AtomicUsize,
    /// The lock is from std, as that of the history. Nothing that shuttle sees is called while it
    /// is held.
    steps: Mutex<Vec<Step>>,
}

/// One step back.
struct Step {
    /// What the clock showed before.
    from: SystemTime,
    /// How often the filler had read the clock just afterwards. The largest number until then.
    readings: usize,
}

impl SetBack {
    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that counts how often the filler reads it.
struct Counted {
    clock: ManualClock,
    set_back: Arc<SetBack>,
}

impl Clock for Counted {
    fn now(&self) -> SystemTime {
        if thread::current().name() == Some("uidring-filler") {
            self.set_back.readings.fetch_add(1, Ordering::Relaxed);
        }
        self.clock.now()
    }
}

/// A generator's clock, the threads of a scenario, and what they have taken.
#[derive(Clone)]
pub struct World {
    pub layout: Layout,
    pub clock: ManualClock,
    pub history: Arc<History>,
    set_back: Arc<SetBack>,
    /// How many threads that were started with [`spawn`](World::spawn) have not ended.
    running: Arc<AtomicUsize>,
}

impl World {
    /// Ticks of a second with four UIDs each, and a clock that stands still.
    pub fn new() -> World {
        let layout = Layout::new(40, 4, 2).unwrap();
        let clock = ManualClock::new(layout.epoch() + 100 * SECOND);
        let (history, set_back, running) = Default::default();
        World { layout, clock, history, set_back, running }
    }

    /// For a generator with a ring of four blocks.
    pub fn builder(&self) -> Builder {
        let (clock, set_back) = (self.clock.clone(), Arc::clone(&self.set_back));
        UidGenerator::builder()
            .layout(self.layout)
            .clock(Counted { clock, set_back })
            .slots(4)
            // No shutdown ends for lack of time.
            .shutdown_deadline(DAY)
    }

    /// Runs `body` on another thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        body: impl FnOnce(&World) -> T + Send + 'static,
    ) -> JoinHandle<T> {
        struct Ends(Arc<AtomicUsize>);
        impl Drop for Ends {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let world = self.clone();
        self.running.fetch_add(1, Ordering::Relaxed);
        let ends = Ends(Arc::clone(&self.running));
        thread::spawn(move || {
            let _ends = ends;
            body(&world)
        })
    }

    /// Sets the clock back.
    pub fn set_back(&self, by: Duration) {
        // Noted first, so that nobody sees the clock go back for no reason.
        let from = self.clock.now();
        self.set_back.steps().push(Step { from, readings: usize::MAX });
        self.clock.rewind(by);
        let readings = self.readings();
        if let Some(step) = self.set_back.steps().last_mut() {
            step.readings = readings;
        }
    }

    /// How often the only filler has read the clock.
    fn readings(&self) -> usize {
        self.set_back.readings.load(Ordering::Relaxed)
    }

    /// How many of the steps back the only filler has followed: a run that began later has ended.
    pub fn followed(&self) -> usize {
        // It may have been in the middle of a run. The one after that has ended when another one
        // has begun.
        let readings = self.readings();
        let is_followed =
            |step: &Step| readings >= step.readings.saturating_add(2 * READINGS_A_RUN);
        self.set_back.steps().partition_point(is_followed)
    }

    /// Lets time pass until the filler has followed the clock.
    pub fn pass_until_followed(&self) {
        let steps = self.set_back.steps().len();
        self.pass_while(|world| world.followed() < steps);
    }

    /// What the clock shows or, if that is later, what it showed before it was set back, other than
    /// in the first `followed` steps back.
    pub fn latest(&self, followed: usize) -> SystemTime {
        // Read first: a step back that it shows has been noted.
        let now = self.clock.now();
        let steps = self.set_back.steps();
        steps[followed..].iter().map(|step| step.from).fold(now, SystemTime::max)
    }

    /// Lets time pass, for all that sleep and for the clock.
    pub fn pass(&self, length: Duration) {
        self.clock.advance(length);
        scenario::pass(length);
    }

    /// Calls `change`, and lets time pass, until all threads that were started with
    /// [`spawn`](World::spawn) have ended.
    pub fn pass_until_all_end(&self, mut change: impl FnMut(&World)) {
        self.pass_while(|world| {
            change(world);
            world.running.load(Ordering::Relaxed) > 0
        });
    }

    /// Lets time pass while `goes_on` says so, often up to the next timeout.
    pub fn pass_while(&self, mut goes_on: impl FnMut(&World) -> bool) {
        while goes_on(self) {
            let step = MS * thread_rng().gen_range(1..400);
            let next = scenario::next_timeout().filter(|_| is_one_of(2));
            // A day passes for nobody who waits for something else.
            self.pass(next.map_or(step, |next| next.min(5 * SECOND)));
            linger(20);
        }
    }
}

impl Default for World {
    fn default() -> World {
        World::new()
    }
}
