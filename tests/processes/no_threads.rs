//! Segments in a process that can start no threads: loads go on, and operators are told.

use std::fs;
use std::process::{self, Command};
use std::sync::{Barrier, RwLock};
use std::thread;
use std::time::Duration;

use crate::alone::alone;
use crate::observer::EVENTS;
use crate::rows::{Row, Rows, row, wait_for};

/// Limits the memory of this process to what it has now and 1 MiB, which is no stack, or not at
/// all.
fn limit_memory(is_limited: bool) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kib: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    let most = if is_limited { ((kib + 1024) * 1024).to_string() } else { "unlimited".into() };
    let pid = process::id().to_string();
    let limit = Command::new("prlimit").args(["--pid", &pid, &format!("--as={most}:")]).status();
    assert!(limit.unwrap().success());
}

fn times(name: &str) -> usize {
    EVENTS.lock().unwrap().iter().filter(|event| event.name == name).count()
}

#[test]
fn without_threads_loads_come_one_after_the_other() {
    alone("no_threads::without_threads_loads_come_one_after_the_other", || {
        crate::observer::observe();
        let small = Row { max_step: Some(5), ..row(5) };
        let rows = Rows::default().with("a", small).with("b", small);
        let segments = rows.segments();
        let (a, b) = (segments.tag("a").unwrap(), segments.tag("b").unwrap());
        // Threads of loads may still be ending: left are the test's, that of `main` and the loader.
        wait_for("end", || fs::read_dir("/proc/self/task").unwrap().count() == 3);
        let (started, end) = (Barrier::new(17), RwLock::new(()));
        thread::scope(|scope| {
            let running = end.write().unwrap();
            // These have the stacks that the platform keeps of threads that have ended.
            for _ in 0..16 {
                scope.spawn(|| {
                    started.wait();
                    drop(end.read());
                });
            }
            started.wait();
            limit_memory(true);
            for tag in [&a, &b, &a] {
                assert!((0..100).map(|_| tag.take().unwrap()).is_sorted());
            }
            wait_for("event", || times("no_load_thread") > 0);
            thread::sleep(Duration::from_millis(100));
            limit_memory(false);
            drop(running);
        });
        assert_eq!(times("no_load_thread"), 1, "{:?}", EVENTS.lock().unwrap());
        assert!((0..100).map(|_| a.take().unwrap()).is_sorted());
        drop((a, b));
        segments.shutdown().unwrap();
        assert_eq!((times("no_load_thread"), times("segments_stopped")), (1, 1));
    });
}
