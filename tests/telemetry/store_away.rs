//! A loan whose store is away for a while.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use uidring::Store;
use uidring::lend::{LendOptions, LentWorker};

/// Takes the store of a new loan away until this is so, and puts it back.
pub fn lose_the_store(file: &Path, lease: u64, until: impl Fn(&LentWorker) -> bool) -> LentWorker {
    let pool = Store::open(file).unwrap().worker_pool("shop", 4).unwrap();
    let worker = pool.lend(LendOptions::new().lease(Duration::from_secs(lease))).unwrap();
    let away = file.with_extension("away");
    fs::rename(file, &away).unwrap();
    let since = Instant::now();
    while !until(&worker) {
        assert!(since.elapsed() < Duration::from_secs(60), "{worker:?}");
        thread::sleep(Duration::from_millis(10));
    }
    fs::rename(&away, file).unwrap();
    worker
}
