//! The process-wide generator. There is one in each process, so each test runs in a process of its
//! own.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use uidring::registry::FixedWorker;
use uidring::{BuildError, Layout, TakeError, UidGenerator};

use crate::alone::alone;

fn generator(worker: u64) -> UidGenerator {
    UidGenerator::builder().registry(FixedWorker::new(worker)).build().unwrap()
}

fn worker_of_a_take() -> u64 {
    Layout::DEFAULT.parts(uidring::take().unwrap()).worker
}

#[test]
fn nothing_is_installed_and_nothing_is_guessed() {
    alone("installed::nothing_is_installed_and_nothing_is_guessed", || {
        assert_eq!(uidring::take(), Err(TakeError::NotInstalled));
        assert_eq!(
            TakeError::NotInstalled.to_string(),
            "no generator is installed: call uidring::install before uidring::take"
        );
        uidring::install(generator(1)).unwrap();
        assert!(uidring::take().unwrap() < uidring::take().unwrap());
    });
}

#[test]
fn the_second_to_be_installed_is_given_back() {
    alone("installed::the_second_to_be_installed_is_given_back", || {
        uidring::install(generator(1)).unwrap();
        let error = uidring::install(generator(2)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a process-wide generator is installed already: install once, at the start of the \
             program"
        );
        assert_eq!(worker_of_a_take(), 1);
        // It works still, beside the one installed.
        assert_eq!(Layout::DEFAULT.parts(error.into_generator().take().unwrap()).worker, 2);
        // And one that is there is not built anew.
        let there = uidring::get_or_try_init(|| -> Result<_, BuildError> { panic!("built again") });
        assert_eq!(there.unwrap().worker_id(), 1);
    });
}

#[test]
fn a_build_that_fails_installs_nothing_and_may_be_tried_again() {
    alone("installed::a_build_that_fails_installs_nothing_and_may_be_tried_again", || {
        for _ in 0..2 {
            let error = uidring::get_or_try_init(|| UidGenerator::builder().build()).unwrap_err();
            assert!(matches!(error, BuildError::NoRegistry));
            assert_eq!(uidring::take(), Err(TakeError::NotInstalled));
        }
        let installed = uidring::get_or_try_init(|| Ok::<_, BuildError>(generator(3))).unwrap();
        assert_eq!(installed.worker_id(), 3);
        assert_eq!(worker_of_a_take(), 3);
        assert_eq!(uidring::install(generator(4)).unwrap_err().into_generator().worker_id(), 4);
    });
}

#[test]
fn of_many_threads_that_come_at_once_one_builds() {
    alone("installed::of_many_threads_that_come_at_once_one_builds", || {
        const THREADS: u64 = 16;
        let (start, built) = (Barrier::new(16), AtomicU64::new(0));
        let workers: Vec<u64> = thread::scope(|scope| {
            let (start, built) = (&start, &built);
            let get = |worker| {
                move || {
                    start.wait();
                    let make = || {
                        built.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, BuildError>(generator(worker))
                    };
                    let got = uidring::get_or_try_init(make).unwrap().worker_id();
                    assert_eq!(worker_of_a_take(), got);
                    got
                }
            };
            let threads: Vec<_> = (1..=THREADS).map(|worker| scope.spawn(get(worker))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(built.load(Ordering::Relaxed), 1);
        assert!(
            workers.iter().all(|&worker| worker == workers[0] && (1..=THREADS).contains(&worker))
        );
    });
}

#[test]
fn of_many_threads_that_install_at_once_one_succeeds() {
    alone("installed::of_many_threads_that_install_at_once_one_succeeds", || {
        let start = Barrier::new(16);
        let installed: Vec<bool> = thread::scope(|scope| {
            let start = &start;
            let install = |worker| {
                move || {
                    let uids = generator(worker);
                    start.wait();
                    match uidring::install(uids) {
                        Ok(()) => {
                            assert_eq!(worker_of_a_take(), worker);
                            true
                        }
                        Err(error) => {
                            assert_eq!(error.into_generator().worker_id(), worker);
                            assert_ne!(worker_of_a_take(), worker);
                            false
                        }
                    }
                }
            };
            let threads: Vec<_> = (1..=16).map(|worker| scope.spawn(install(worker))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(installed.iter().filter(|&&installed| installed).count(), 1);
    });
}
