//! In exact time nothing runs while nobody takes. A process of its own, so that its filler is the
//! only one.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(feature = "async")]
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

use uidring::clock::ManualClock;
use uidring::registry::FixedWorker;
use uidring::{Builder, Layout, UidGenerator};

use crate::alone::alone;
use crate::size::size;

fn builder() -> Builder {
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).layout(Layout::TWITTER);
    builder.exact_time()
}

#[test]
fn one_take_a_second_wakes_no_filler() {
    alone("exact::one_take_a_second_wakes_no_filler", || {
        let uids = builder().build().unwrap();
        // The start is over then, and the thread has its name.
        thread::sleep(Duration::from_millis(200));
        let task = filler_task();
        let before = switches(&task);
        for _ in 0..size(4, 2) {
            thread::sleep(Duration::from_secs(1));
            let tick = || uids.layout().tick_at(SystemTime::now()).unwrap();
            let (earliest, uid, latest) = (tick(), uids.take().unwrap(), tick());
            let taken = uids.layout().tick_at(uids.layout().parts(uid).time).unwrap();
            assert!((earliest..=latest).contains(&taken));
        }
        // With the feature `metrics`, the filler brings them up to date once a second.
        let expected = if cfg!(feature = "metrics") { 6 } else { 0 };
        let woken = switches(&task) - before;
        assert!(woken <= expected, "{woken} switches");
    });
}

/// A step of the clock back that is tolerated: the filler looks once a second until it is over.
#[test]
fn a_step_back_wakes_the_filler_once_a_second() {
    alone("exact::a_step_back_wakes_the_filler_once_a_second", || {
        let clock = ManualClock::new(SystemTime::now());
        let lead = Duration::from_secs(60);
        let uids = builder().max_lead(lead).clock(clock.clone()).build().unwrap();
        uids.take().unwrap();
        clock.rewind(Duration::from_secs(5));
        uids.take().unwrap();
        thread::sleep(Duration::from_millis(200));
        let task = filler_task();
        let before = switches(&task);
        thread::sleep(Duration::from_secs(2));
        let woken = switches(&task) - before;
        assert!(woken <= 8, "{woken} switches");
    });
}

/// Tasks that were called and are not polled: the filler looks once a tick, also where ticks to
/// come may be used.
#[cfg(feature = "async")]
#[test]
fn tasks_that_are_not_polled_cost_little() {
    alone("exact::tasks_that_are_not_polled_cost_little", || {
        let layout = Layout::new(31, 22, 1).unwrap();
        let lead = Duration::from_secs(2);
        let uids = builder().layout(layout).max_lead(lead).build().unwrap();
        // Each task that is called makes room for the next one after 20 ms.
        let mut tasks: Vec<_> = (0..1000).map(|_| Box::pin(uids.take_async())).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = 0;
        for task in &mut tasks {
            waiting += usize::from(task.as_mut().poll(&mut context).is_pending());
        }
        assert!(waiting > 900, "{waiting}");
        // The first tick after these has been called.
        thread::sleep(Duration::from_millis(1500));
        let task = filler_task();
        let before = switches(&task);
        thread::sleep(Duration::from_secs(2));
        let woken = switches(&task) - before;
        assert!(woken <= 20, "{woken} switches");
    });
}

fn switches(task: &Path) -> u64 {
    let status = fs::read_to_string(task.join("status")).unwrap();
    let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
    lines.map(|line| line.rsplit('\t').next().unwrap().parse::<u64>().unwrap()).sum()
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
