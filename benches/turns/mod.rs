//! What the benchmarks share: how many threads take turns, how often, and on which cores.
#![allow(dead_code)] // each uses a part
#![allow(clippy::panic, clippy::unwrap_used)] // a panic says where the benchmark failed

use std::{env, thread};

/// The threads and rounds that the command line asks for.
pub struct Turns {
    pub threads: Vec<usize>,
    pub rounds: usize,
}

impl Turns {
    /// Reads the command line. `rounds` is the number of rounds if it does not say one.
    pub fn from_env(rounds: usize) -> Turns {
        // As a test, the benchmark only has to run.
        let is_bench = env::args().any(|arg| arg == "--bench");
        let (threads, rounds) =
            if is_bench { (up_to_the_cores(&[1, 2, 4, 8]), rounds) } else { (vec![1, 2], 2) };
        let mut turns = Turns { threads, rounds };
        let mut args = env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
            match arg.as_str() {
                "--threads" => {
                    turns.threads =
                        value().split(',').map(|number| number.parse().unwrap()).collect();
                }
                "--rounds" => turns.rounds = value().parse().unwrap(),
                // Cargo passes this.
                "--bench" => {}
                other => panic!("what is {other}? There are --threads 1,2,4 and --rounds N"),
            }
        }
        turns
    }
}

/// These numbers of threads, and as many threads as there are cores.
pub fn up_to_the_cores(usual: &[usize]) -> Vec<usize> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut threads = usual.to_vec();
    threads.push(cores);
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// Keeps this thread on one core; threads get the cores in turn.
pub fn pin(thread: usize) {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(&core) = cores.get(thread % cores.len().max(1)) {
        core_affinity::set_for_current(core);
    }
}
