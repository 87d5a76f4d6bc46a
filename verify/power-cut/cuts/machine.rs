//! Machines whose power fails again and again, and what that shows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use fastrand::Rng;

use crate::account::Account;

/// A machine with one store.
pub trait Machine {
    /// Runs the machine until its power fails, and says in which call it did.
    fn live(&mut self) -> String;

    fn account(&mut self) -> &mut Account;

    /// The machine runs once more, and its power does not fail.
    fn retire(&mut self);
}

/// What a number of cuts has shown.
#[derive(Default)]
pub struct Found {
    /// How many cuts there were in each call.
    pub cuts: BTreeMap<String, u32>,
    /// What was given twice.
    pub twice: Vec<String>,
    /// Stores that could not be opened, and the like.
    pub broken: Vec<String>,
}

/// How often a store is followed by a new one: making the files and the tables is cut, too.
const CUTS_OF_A_STORE: u32 = 25;

impl Found {
    fn add(&mut self, other: Found) {
        for (call, cuts) in other.cuts {
            *self.cuts.entry(call).or_default() += cuts;
        }
        self.twice.extend(other.twice);
        self.broken.extend(other.broken);
    }

    pub fn wrong(&self) -> Vec<&str> {
        self.twice.iter().chain(&self.broken).map(String::as_str).collect()
    }
}

/// Cuts the power on as many machines at once as there are cores. With `is_over`, it ends sooner.
pub fn cut<M: Machine>(
    seed: u64,
    cuts: u32,
    make: impl Fn(Rng) -> M + Sync,
    is_over: fn(&Found) -> bool,
) -> Found {
    let cores = u32::try_from(thread::available_parallelism().unwrap().get()).unwrap();
    let each = cuts.div_ceil(cores);
    let mut found = Found::default();
    let (make, is_ended) = (&make, &AtomicBool::new(false));
    let may_end = |found: &Found| {
        if is_over(found) {
            is_ended.store(true, Relaxed);
        }
        is_ended.load(Relaxed)
    };
    thread::scope(|scope| {
        let start = |core| scope.spawn(move || cut_one(seed + core, each, make, may_end));
        let threads: Vec<_> = (0..u64::from(cores)).map(start).collect();
        for thread in threads {
            found.add(thread.join().unwrap());
        }
    });
    found
}

/// Cuts the power so many times, on one machine after the other.
fn cut_one<M: Machine>(
    seed: u64,
    cuts: u32,
    make: impl Fn(Rng) -> M,
    is_over: impl Fn(&Found) -> bool,
) -> Found {
    let mut rng = Rng::with_seed(seed);
    let mut found = Found::default();
    let mut machine = make(rng.fork());
    for number in 0..cuts {
        let call = machine.live();
        *found.cuts.entry(call).or_default() += 1;
        let mut is_last = (number + 1).is_multiple_of(CUTS_OF_A_STORE) || number + 1 == cuts;
        if is_last {
            machine.retire();
        }
        let Account { twice, broken, .. } = machine.account();
        let (twice, broken) = (twice.take(), broken.take());
        is_last |= twice.is_some() || broken.is_some();
        let at = format!("seed {seed}, cut {number}");
        found.twice.extend(twice.map(|text| format!("{text}; {at}")));
        found.broken.extend(broken.map(|text| format!("{text}; {at}")));
        if is_over(&found) {
            break;
        }
        if is_last {
            machine = make(rng.fork());
        }
    }
    found
}
