//! [`LentWorker`]: it renews, tells in time when it cannot, and ends.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use tempfile::TempDir;
use uidring::Store;
use uidring::lend::{LendError, LendOptions, LentWorker, LoanRequest, LoanState, Loss, WorkerPool};

use crate::folder::folder;

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

struct File(TempDir);

impl File {
    fn new() -> File {
        File(folder())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("uidring.db")
    }

    fn pool(&self) -> WorkerPool {
        Store::open(self.path()).unwrap().worker_pool("shop", 1).unwrap()
    }

    fn run(&self, sql: &str) {
        Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

fn options(lease: Duration) -> LendOptions {
    LendOptions::new().lease(lease).rest(SECOND).host("test")
}

/// Options that tell of a loss, with the instant.
fn told(lease: Duration) -> (LendOptions, Receiver<(Loss, Instant)>) {
    let (send, receive): (Sender<_>, _) = channel();
    let tell = move |loss: &Loss| send.send((loss.clone(), Instant::now())).unwrap();
    (options(lease).on_loss(tell), receive)
}

fn is_lost(result: &Result<(), LendError>) -> bool {
    matches!(result, Err(LendError::Lost { id: 1 }))
}

#[test]
fn a_worker_is_held_past_its_lease_and_returned() {
    let file = File::new();
    let pool = file.pool();
    let (options, losses) = told(SECOND);
    let worker = pool.lend(options).unwrap();
    let since = Instant::now();
    while since.elapsed() < 3 * SECOND {
        assert!(worker.is_held() && worker.time_left() <= SECOND, "{worker:?}");
        thread::sleep(20 * MS);
    }
    let status = worker.status();
    assert!(status.renewals >= 5 && status.failed_renewals == 0, "{status:?}");
    assert_eq!((worker.id(), &*pool.loans().unwrap()[0].host), (1, "test"));
    assert!(matches!(pool.lend(LendOptions::new()), Err(LendError::Full { held: 1, .. })));
    worker.close().unwrap();
    assert_eq!(pool.counts().unwrap().held, 0);
    assert!(losses.try_recv().is_err());
}

#[test]
fn dropping_it_returns_the_id() {
    let file = File::new();
    let pool = file.pool();
    drop(pool.lend(options(600 * SECOND)).unwrap());
    let counts = pool.counts().unwrap();
    assert_eq!((counts.held, counts.resting), (0, 1));
}

/// The store is away. What is told comes ahead of the end, and nobody else gets the id before.
#[test]
fn a_loss_is_told_ahead_of_the_end() {
    let file = File::new();
    let pool = file.pool();
    let lease = 3 * SECOND;
    let asked = Instant::now();
    let (options, losses) = told(lease);
    let worker = pool.lend(options).unwrap();
    let away = file.path().with_extension("away");
    fs::rename(file.path(), &away).unwrap();
    let (loss, at) = losses.recv_timeout(10 * SECOND).unwrap();
    // The renewal is due at a third; two thirds of what is left then are over at 7/9.
    let after = at - asked;
    assert!(after + 20 * MS >= lease * 7 / 9 && after < lease * 8 / 9, "{after:?}");
    assert!(loss.id == 1 && loss.time_left > SECOND / 3, "{loss:?}");
    assert!(loss.time_left + after <= lease + 20 * MS, "{loss:?} after {after:?}");
    assert!(worker.is_held(), "it ends only then");
    let status = worker.status();
    assert!(status.failed_renewals >= 2 && status.last_error.is_some(), "{status:?}");
    // It comes back too late: what was told stays.
    fs::rename(&away, file.path()).unwrap();
    thread::sleep(loss.time_left);
    assert!(!worker.is_held());
    assert!(losses.try_recv().is_err(), "it is told once");
    assert!(is_lost(&worker.close()));
    // The store counts from when it lent the id, which is a little later.
    thread::sleep(200 * MS);
    let loan = pool.loans().unwrap().remove(0);
    assert!(loan.state == LoanState::Resting && loan.lease == lease, "{loan:?}");
}

/// A store that is away for less than the lease costs nothing.
#[test]
fn a_store_that_comes_back_is_used_again() {
    let file = File::new();
    let (options, losses) = told(4 * SECOND);
    let worker = file.pool().lend(options).unwrap();
    let away = file.path().with_extension("away");
    fs::rename(file.path(), &away).unwrap();
    thread::sleep(2 * SECOND);
    fs::rename(&away, file.path()).unwrap();
    thread::sleep(3 * SECOND);
    let status = worker.status();
    assert!(status.is_held && status.failed_renewals > 0 && status.renewals > 0, "{status:?}");
    assert!(losses.try_recv().is_err());
    worker.close().unwrap();
}

/// A reader of the file, who keeps what was written from being committed until it is dropped.
fn reader(file: &File) -> Connection {
    let reader = Connection::open(file.path()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    reader.query_row("SELECT COUNT(*) FROM uidring_loan", [], |_| Ok(())).unwrap();
    reader
}

/// However long the store takes to answer, the holder's end comes first: it counts from before it
/// asked, and the store from when it wrote.
#[test]
fn a_holder_ends_before_the_store_takes_its_id_back() {
    let file = File::new();
    let pool = file.pool();
    let check = |worker: &LentWorker, what: &str| {
        let end = SystemTime::now() + worker.time_left();
        let until = pool.loans().unwrap()[0].until;
        // The store's times have whole milliseconds.
        assert!(end <= until + MS, "{what}: {end:?}, and {until:?} in the store");
    };
    let during = |reader: Connection, time: Duration| {
        thread::spawn(move || {
            thread::sleep(time);
            drop(reader);
        })
    };
    let first = during(reader(&file), 700 * MS);
    let worker = pool.lend(options(6 * SECOND)).unwrap();
    check(&worker, "lent");
    first.join().unwrap();
    // The renewal at a third of the lease is written meanwhile.
    let second = during(reader(&file), 2_700 * MS);
    while worker.is_held() && worker.status().renewals == 0 {
        thread::sleep(5 * MS);
    }
    check(&worker, "renewed");
    second.join().unwrap();
}

/// One pool is found, and its loans are read, whatever the others are.
#[test]
fn a_pool_is_found_without_the_others() {
    let file = File::new();
    let store = Store::open(file.path()).unwrap();
    for name in ["shop", "other"] {
        store.worker_pool(name, 4).unwrap().grant(&LoanRequest::new()).unwrap();
    }
    file.run(
        "PRAGMA ignore_check_constraints = ON;
        UPDATE uidring_loan SET is_returned = 'x' WHERE pool = 'other';
        UPDATE uidring_pool SET bits = -1 WHERE name = 'other';",
    );
    assert!(store.worker_pools().is_err() && store.find_worker_pool("other").is_err());
    let pool = store.find_worker_pool("shop").unwrap().unwrap();
    assert_eq!((pool.bits(), pool.loans().unwrap().len()), (4, 1));
    assert!(store.find_worker_pool("none").unwrap().is_none());
    assert!(matches!(store.find_worker_pool("a b"), Err(LendError::Name { .. })));
}

/// An operator, or an old copy, has given it to another.
#[test]
fn a_refused_renewal_ends_it_at_once() {
    let file = File::new();
    let (options, losses) = told(3 * SECOND);
    let worker = file.pool().lend(options).unwrap();
    file.run("UPDATE uidring_loan SET holder = 'another'");
    let (loss, _) = losses.recv_timeout(10 * SECOND).unwrap();
    assert!(loss.time_left.is_zero() && !worker.is_held(), "{loss:?}");
    assert!(loss.reason.contains("worker id 1 is not lent to this holder any more"), "{loss}");
    assert!(is_lost(&worker.close()));
}

#[test]
fn who_is_told_may_drop_it_or_panic() {
    let file = File::new();
    let slot: Arc<Mutex<Option<LentWorker>>> = Arc::default();
    let (send, dropped) = channel();
    let mine = Arc::clone(&slot);
    let options = options(SECOND).on_loss(move |_| {
        drop(mine.lock().unwrap().take());
        send.send(()).unwrap();
        panic!("after that");
    });
    *slot.lock().unwrap() = Some(file.pool().lend(options).unwrap());
    file.run("UPDATE uidring_loan SET holder = 'another'");
    dropped.recv_timeout(10 * SECOND).unwrap();
    assert!(slot.lock().is_err() || slot.lock().unwrap().is_none());
}

/// Only the hash is in the file.
#[test]
fn a_reader_of_the_table_cannot_return_the_id() {
    let file = File::new();
    let pool = file.pool();
    let secret = Some("0123456789abcdef".to_owned());
    let request = LoanRequest { secret, ..LoanRequest::new() };
    let grant = pool.grant(&request).unwrap();
    assert!(!format!("{grant:?} {request:?}").contains("0123456789abcdef"));
    let db = Connection::open(file.path()).unwrap();
    let holder: String =
        db.query_row("SELECT holder FROM uidring_loan", [], |row| row.get(0)).unwrap();
    assert_eq!(holder, "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f");
    assert!(is_lost(&pool.give_back(1, &holder, SystemTime::now())));
    for secret in ["short", "with a space in its text", &"x".repeat(129)] {
        let secret = Some(secret.to_owned());
        let request = LoanRequest { secret, ..LoanRequest::new() };
        assert!(matches!(pool.grant(&request), Err(LendError::Secret)));
    }
}

/// An old copy of the file would lend ids again that are lent.
#[test]
fn an_old_copy_is_noticed_by_a_process_that_knows_more() {
    let file = File::new();
    let pool = Store::open(file.path()).unwrap().worker_pool("shop", 4).unwrap();
    pool.grant(&LoanRequest::new()).unwrap();
    let copy = file.path().with_extension("copy");
    fs::copy(file.path(), &copy).unwrap();
    let second = pool.grant(&LoanRequest::new()).unwrap();
    fs::rename(&copy, file.path()).unwrap();
    for error in [
        pool.grant(&LoanRequest::new()).unwrap_err(),
        pool.renew(second.id, &second.secret, SystemTime::now()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("or an old copy"), "{error}");
    }
}

#[test]
fn there_are_names_widths_and_lengths() {
    let file = File::new();
    let store = Store::open(file.path()).unwrap();
    for name in ["", "a b", "ü", &"x".repeat(65)] {
        assert!(matches!(store.worker_pool(name, 10), Err(LendError::Name { .. })), "{name}");
    }
    for bits in [0, 23] {
        assert!(matches!(store.worker_pool("a", bits), Err(LendError::Bits { .. })), "{bits}");
    }
    let pool = store.worker_pool(&"x".repeat(64), 22).unwrap();
    for length in [999 * MS, 30 * 24 * 3600 * SECOND + MS] {
        assert!(matches!(pool.lend(options(length)), Err(LendError::Lease { .. })));
        let rest = LendOptions::new().rest(length);
        assert!(matches!(pool.lend(rest), Err(LendError::Rest { .. })));
    }
}

#[cfg(feature = "async")]
#[test]
fn a_worker_is_lent_and_closed_without_blocking() {
    let file = File::new();
    let pool = file.pool();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let worker = pool.lend_async(options(600 * SECOND)).await.unwrap();
        assert!(worker.is_held());
        worker.close_async().await.unwrap();
        // A future that is dropped leaves no loan behind.
        thread::sleep(2100 * MS);
        drop(pool.lend_async(options(600 * SECOND)));
    });
    assert_eq!(pool.counts().unwrap().held, 0);
}

#[cfg(unix)]
#[test]
fn a_child_has_no_loan() {
    crate::alone::alone("worker::a_child_has_no_loan", in_a_child);
}

#[cfg(unix)]
fn in_a_child() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let file = File::new();
    let pool = file.pool();
    let worker = pool.lend(options(2 * SECOND)).unwrap();
    match fork::fork().unwrap() {
        fork::Fork::Child => {
            let is_good = !worker.is_held() && worker.status().renewals == 0;
            drop(worker);
            panic!("{}", Command::new(if is_good { "true" } else { "false" }).exec());
        }
        fork::Fork::Parent(child) => assert_eq!(fork::waitpid(child).unwrap(), 0),
    }
    thread::sleep(3 * SECOND);
    assert!(worker.is_held() && pool.counts().unwrap().held == 1, "the parent goes on");
    worker.close().unwrap();
}
