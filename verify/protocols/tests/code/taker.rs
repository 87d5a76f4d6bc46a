//! The library's own takers of a tag on a table of the model, which loses requests and answers.
//! Each hands out what the model of a taker hands out, and gives back what that gives back.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use uidring::segment::{
    Number, Segment, SegmentError, SegmentGenerator, SegmentSource, Segments, Tag, TagRecord,
};
use uidring_protocols::segments::Rules;
use uidring_protocols::segments::table::Table;
use uidring_protocols::segments::taker::{Received, Taker};

const TAG: &str = "orders";
const STEP: u16 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    AnswerLost,
    RequestLost,
}

/// The store, and all processes that are or were.
struct World {
    table: Table,
    fate: Fate,
    takers: Vec<Taker>,
    /// What each gave back, and what the model gives back.
    ends: Vec<String>,
    problems: Vec<String>,
    counts: Counts,
}

/// How often something happened, so that a run shows what it came to.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    loads: usize,
    unanswered: usize,
    taken: usize,
    back: usize,
    refused: usize,
    old: usize,
}

struct Source {
    process: usize,
    world: Arc<Mutex<World>>,
}

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn away() -> SegmentError {
    SegmentError::unreachable("it is flaky")
}

impl SegmentSource for Source {
    fn name(&self) -> String {
        "the model".to_owned()
    }

    fn load(&self, _: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let world = &mut *lock(&self.world);
        let taker = &mut world.takers[self.process];
        if !taker.may_load(Rules::ALL) {
            world.problems.push(format!("{} loads although its row went back", self.process));
        }
        // A source may give fewer than are wished.
        let count = count.map_or(STEP, |count| u16::try_from(count).unwrap_or(STEP).min(3 * STEP));
        if world.fate == Fate::RequestLost {
            world.counts.unanswered += 1;
            return Err(away());
        }
        let (segment, key) = world.table.load(taker.key, count, Rules::ALL).map_err(|_| away())?;
        if world.fate == Fate::AnswerLost {
            world.counts.unanswered += 1;
            return Err(away());
        }
        world.counts.loads += 1;
        if taker.receive(segment, key, Rules::ALL) == Received::WentBack {
            world.counts.old += 1;
        }
        let [first, count, row_end] = [segment.first, count, segment.row_end].map(u64::from);
        let mut segment = Segment::new(first, count, 1, row_end);
        segment.step = STEP.into();
        Ok(segment)
    }

    fn give_back(&self, _: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let world = &mut *lock(&self.world);
        let taker = std::mem::take(&mut world.takers[self.process]);
        let modelled = taker.unused(Rules::ALL);
        let range = modelled.map(|s| [s.first, s.count, s.row_end].map(u64::from));
        if range != Some([unused.first, unused.count, unused.row_end]) {
            let process = self.process;
            world.problems.push(format!("{process} gives back {unused:?}, the model {modelled:?}"));
        }
        let Some(modelled) = modelled else { return Ok(false) };
        if world.fate == Fate::RequestLost {
            return Err(away());
        }
        let is_back = world.table.give_back(taker.key, modelled, Rules::ALL);
        world.counts.back += usize::from(is_back);
        world.counts.refused += usize::from(!is_back);
        if world.fate == Fate::AnswerLost { Err(away()) } else { Ok(is_back) }
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(TagRecord::new(tag, 1, STEP.into(), 1))
    }
}

struct Process {
    index: usize,
    segments: Segments,
    numbers: SegmentGenerator,
}

impl Process {
    fn start(world: &Arc<Mutex<World>>) -> Option<Process> {
        let index = {
            let mut world = lock(world);
            world.takers.push(Taker::default());
            world.takers.len() - 1
        };
        let source = Source { process: index, world: Arc::clone(world) };
        let builder = Segments::builder().source(source).max_wait(Duration::from_millis(20));
        let segments = builder.build().ok()?;
        let numbers = segments.tag(TAG).ok()?;
        Some(Process { index, segments, numbers })
    }

    fn take(&self, world: &Mutex<World>) {
        let taken = self.numbers.take().ok().map(Number::get);
        let world = &mut *lock(world);
        let Some(number) = taken else { return };
        let modelled = world.takers[self.index].take().map(u64::from);
        world.counts.taken += 1;
        if modelled != Some(number) {
            let index = self.index;
            world.problems.push(format!("{index} hands out {number}, the model {modelled:?}"));
        }
    }

    fn end(self, world: &Mutex<World>) {
        drop(self.numbers);
        let _ = self.segments.shutdown();
        let left = std::mem::take(&mut lock(world).takers[self.index]).unused(Rules::ALL);
        if let Some(left) = left {
            lock(world).ends.push(format!("{} does not give {left:?} back", self.index));
        }
    }
}

/// What happens to three processes, as `seed` has it.
fn run(seed: u64) -> (Vec<String>, Counts) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut table = Table::default();
    table.create(1);
    let world = Arc::new(Mutex::new(World {
        table,
        fate: Fate::Answered,
        takers: Vec::new(),
        ends: Vec::new(),
        problems: Vec::new(),
        counts: Counts::default(),
    }));
    let mut processes: Vec<Process> = Vec::new();
    for _ in 0..60 {
        let one = (!processes.is_empty()).then(|| rng.usize(0..processes.len()));
        match (rng.u32(0..20), one) {
            (0..=4, _) if processes.len() < 3 => processes.extend(Process::start(&world)),
            (5..=12, Some(one)) => (0..rng.u32(1..8)).for_each(|_| processes[one].take(&world)),
            (13..=14, Some(one)) => processes.swap_remove(one).end(&world),
            (15, _) => {
                let fates = [Fate::AnswerLost, Fate::RequestLost];
                lock(&world).fate = fates[rng.usize(0..fates.len())];
            }
            (16..=18, _) => lock(&world).fate = Fate::Answered,
            // An old copy is put back in every fourth run.
            (19, _) if seed.is_multiple_of(4) => {
                if let Some(row) = &mut lock(&world).table.row {
                    row.last /= 2;
                }
            }
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
    for process in processes {
        process.end(&world);
    }
    let world = &mut *lock(&world);
    world.problems.append(&mut world.ends);
    (world.problems.clone(), world.counts)
}

#[test]
fn takers_hand_out_and_give_back_what_the_model_does() {
    let runs: Vec<_> = (0..24).map(|seed| thread::spawn(move || (seed, run(seed)))).collect();
    let mut sum = Counts::default();
    for run in runs {
        let (seed, (problems, counts)) = run.join().unwrap();
        assert!(problems.is_empty(), "seed {seed}: {problems:#?}");
        sum.loads += counts.loads;
        sum.unanswered += counts.unanswered;
        sum.taken += counts.taken;
        sum.back += counts.back;
        sum.refused += counts.refused;
        sum.old += counts.old;
    }
    println!("{sum:?}");
    let Counts { loads, unanswered, taken, back, refused, old } = sum;
    for count in [loads, unanswered, taken, back, refused, old] {
        assert!(count > 0, "{sum:?}");
    }
}
