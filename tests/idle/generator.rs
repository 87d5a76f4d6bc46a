//! What a generator costs that nobody takes from. A process of its own, so that its filler is the
//! only one.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use uidring::UidGenerator;
use uidring::registry::FixedWorker;

use crate::alone::alone;
use crate::size::size;

#[test]
fn an_idle_generator_wakes_once_a_second_at_most() {
    alone("generator::an_idle_generator_wakes_once_a_second_at_most", || {
        let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build().unwrap();
        // The start is over then, and the thread has its name.
        thread::sleep(Duration::from_millis(1200));
        let task = filler_task();
        let sleeps = || -> u64 {
            let status = fs::read_to_string(task.join("status")).unwrap();
            let line =
                status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
            line.rsplit('\t').next().unwrap().parse().unwrap()
        };
        let (before, since) = (sleeps(), Instant::now());
        thread::sleep(Duration::from_secs(size(4, 2)));
        let woken = sleeps() - before;
        let seconds = since.elapsed().as_secs();
        // It looks at the clock, too: without that, seconds would go stale.
        assert!((seconds - 1..=seconds + 1).contains(&woken), "{woken} times in {seconds} s");
        assert!(uids.status().lag <= Duration::from_secs(2));
    });
}

/// The filler of this test's only generator.
fn filler_task() -> PathBuf {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let is_filler = |task: &PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "uidring-filler")
    };
    let fillers: Vec<_> = tasks.filter(is_filler).collect();
    assert_eq!(fillers.len(), 1);
    fillers[0].clone()
}
