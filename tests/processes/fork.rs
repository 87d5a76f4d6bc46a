//! Generators and `fork`: a child process never repeats a UID of its parent's, and its parent does
//! not notice that it was made.
//!
//! What other threads do at the time of a fork is left undone in the child, so each test runs in a
//! process of its own.

#[cfg(feature = "sqlite")]
use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fork::Fork;
use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
#[cfg(feature = "sqlite")]
use uidring::registry::{RegistryAdmin, SqliteRegistry};
use uidring::segment::Number;
use uidring::{
    BuildError, Builder, FillerState, Layout, LeadLimit, LocalTaker, RegistryError, TakeAtError,
    TakeError, Uid, UidGenerator,
};

use crate::alone::alone;

/// A child that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Forks, runs `body` in the child, and waits for its end. The UIDs that `body` returned there.
fn in_child(body: impl FnOnce() -> Vec<Uid>) -> Vec<Uid> {
    // The two processes share it, and the place in it.
    let mut file = tempfile::tempfile().unwrap();
    match fork::fork().unwrap() {
        Fork::Child => {
            let wrote = catch_unwind(AssertUnwindSafe(|| {
                let bytes: Vec<u8> =
                    body().into_iter().flat_map(|uid| uid.get().to_le_bytes()).collect();
                file.write_all(&bytes).unwrap();
            }));
            // Not back to the harness, which has lost its threads, and not by `process::exit`: that
            // waits for a lock of the standard library, which another thread may have held to start
            // or to end.
            panic!("{}", Command::new(if wrote.is_ok() { "true" } else { "false" }).exec());
        }
        Fork::Parent(child) => {
            let since = Instant::now();
            let status = loop {
                if let Some(status) = fork::waitpid_nohang(child).unwrap() {
                    break status;
                }
                if since.elapsed() > PATIENCE {
                    Command::new("kill").args(["-9", &child.to_string()]).status().unwrap();
                    fork::waitpid(child).unwrap();
                    break 9;
                }
                thread::sleep(Duration::from_millis(1));
            };
            assert_eq!(status, 0, "the child has failed, or hangs (9)");
        }
    }
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
        .chunks_exact(8)
        .map(|uid| u64::from_le_bytes(uid.try_into().unwrap()).try_into().unwrap())
        .collect()
}

fn builder(worker: u64) -> Builder {
    UidGenerator::builder().registry(FixedWorker::new(worker))
}

/// All ways to take, each a few times: the UIDs that there were, and the errors.
fn take_all_ways(uids: &UidGenerator, local: &mut LocalTaker) -> (Vec<Uid>, Vec<TakeError>) {
    let mut results = Vec::new();
    let mut fresh_local = uids.clone().local();
    for length in 1..4 {
        results.extend([uids.take(), uids.try_take(), local.take(), fresh_local.take()]);
        results.push(uids.take_local());
        results.extend(uids.take_n(length));
        #[cfg(feature = "async")]
        results.push(pollster::block_on(uids.take_async()));
        let mut buffer = vec![Uid::MIN; length * 100];
        match uids.fill(&mut buffer) {
            Ok(()) => results.extend(buffer.into_iter().map(Ok)),
            Err(error) => {
                results.extend(buffer[..error.filled()].iter().copied().map(Ok));
                results.push(Err(error.cause()));
            }
        }
    }
    let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    (
        good.into_iter().map(Result::unwrap).collect(),
        bad.into_iter().map(Result::unwrap_err).collect(),
    )
}

/// That a generator of the parent's gives nothing in its child, and says why.
fn assert_refuses(uids: &UidGenerator, local: &mut LocalTaker) {
    let (good, bad) = take_all_ways(uids, local);
    assert_eq!(good, []);
    assert!(bad.len() >= 15 && bad.iter().all(|&error| error == TakeError::Forked), "{bad:?}");
}

/// A subscriber that forks while other events wait to be told: the child does not tell them, though
/// it continues in the thread that would.
#[cfg(feature = "tracing")]
#[test]
fn a_child_tells_nothing_of_its_parents_tags() {
    use std::io::{BufRead, BufReader, PipeWriter};
    use std::process;
    use std::sync::OnceLock;

    static TOLD: OnceLock<PipeWriter> = OnceLock::new();
    static MAY_FORK: AtomicBool = AtomicBool::new(false);

    fn listen(event: &tracing::Event<'_>) {
        let name = event.metadata().name();
        writeln!(TOLD.get().unwrap(), "{} {name}", process::id()).unwrap();
        if name != "source_unreachable" {
            return;
        }
        crate::rows::wait_for("change", || MAY_FORK.load(Ordering::SeqCst));
        if let Fork::Parent(child) = fork::fork().unwrap() {
            assert_eq!(fork::waitpid(child).unwrap(), 0);
        }
    }

    alone("fork::a_child_tells_nothing_of_its_parents_tags", || {
        let (reader, writer) = std::io::pipe().unwrap();
        TOLD.set(writer).unwrap();
        let mut lines = BufReader::new(reader).lines().map(Result::unwrap);
        let mut next =
            |name| assert_eq!(lines.next().unwrap(), format!("{} {name}", process::id()));
        crate::observer::listen(listen);
        let rows = crate::rows::Rows::default().with("a", crate::rows::row(5));
        let segments = rows.segments();
        let a = segments.tag("a").unwrap();
        next("segments_started");
        rows.fail(Some(crate::rows::unreachable));
        while a.try_take().is_ok() {}
        next("source_unreachable");
        rows.fail(None);
        crate::rows::wait_for("number", || a.try_take().is_ok());
        MAY_FORK.store(true, Ordering::SeqCst);
        next("source_recovered");
        drop(a);
        segments.shutdown().unwrap();
        next("segments_stopped");
    });
}

/// The numbers of tags, in all ways to take them.
#[test]
fn a_tag_gives_nothing_in_a_child_and_goes_on_in_the_parent() {
    alone("fork::a_tag_gives_nothing_in_a_child_and_goes_on_in_the_parent", || {
        let rows = crate::rows::Rows::default()
            .with("a", crate::rows::row(1000))
            .with("b", crate::rows::row(5));
        let segments = rows.segments();
        let (a, b) = (segments.tag("a").unwrap(), segments.tag("b").unwrap());
        let mut local = a.local();
        let taken = [a.take(), local.take(), b.take()].map(|uid| uid.unwrap().get());
        assert_eq!(taken, [1, 2, 1]);
        let (of_child, calls) = ((segments.clone(), a.clone(), b.clone(), a.local()), rows.calls());
        in_child(|| {
            for _ in 0..3 {
                for tag in [&a, &b] {
                    assert_eq!(tag.take(), Err(TakeError::Forked));
                    assert_eq!(tag.try_take(), Err(TakeError::Forked));
                    assert_eq!(tag.local().take(), Err(TakeError::Forked));
                    let error = tag.fill(&mut [Number::MIN; 10]).unwrap_err();
                    assert_eq!((error.filled(), error.cause()), (0, TakeError::Forked));
                    #[cfg(feature = "async")]
                    assert_eq!(pollster::block_on(tag.take_async()), Err(TakeError::Forked));
                }
                assert_eq!(local.take(), Err(TakeError::Forked));
            }
            assert!(a.status().taken > 0);
            assert!(segments.tag("a").unwrap_err().to_string().contains("ended"));
            assert!(segments.clone().shutdown().is_ok());
            drop(of_child);
            assert_eq!(rows.calls(), calls, "the child gives nothing back");
            // A child has tags of its own.
            assert!(rows.segments().tag("a").unwrap().take().is_ok());
            Vec::new()
        });
        assert_eq!(local.take().unwrap().get(), 3);
        drop(local);
        assert_eq!(a.take().unwrap().get(), 4);
        segments.shutdown().unwrap();
        assert_eq!([rows.next("a"), rows.next("b")], [5, 2]);
    });
}

fn assert_distinct(uids: impl IntoIterator<Item = Uid>) {
    let mut uids: Vec<Uid> = uids.into_iter().collect();
    uids.sort_unstable();
    let twice: Vec<_> =
        uids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    assert!(
        twice.is_empty(),
        "{} of {} came twice: {:?}",
        twice.len(),
        uids.len(),
        &twice[..twice.len().min(8)]
    );
}

#[test]
#[cfg(feature = "sqlite")]
fn leases_of_parent_and_child_are_told_apart() {
    alone("fork::leases_of_parent_and_child_are_told_apart", || {
        let dir = tempfile::tempdir().unwrap();
        let registry =
            SqliteRegistry::open(dir.path().join("uidring.db")).unwrap().leased(PATIENCE);
        let assign =
            || registry.clone().assign(&Request::new(Layout::DEFAULT, 1000, 1000)).unwrap();
        assign();
        in_child(|| {
            assign();
            vec![]
        });
        assign();
        let workers = registry.workers().unwrap();
        let holders: BTreeSet<_> =
            workers.into_iter().map(|worker| worker.lease.unwrap().holder).collect();
        assert_eq!(holders.len(), 3, "{holders:?}");
    });
}

#[test]
fn a_child_takes_nothing_from_its_parents_generator() {
    alone("fork::a_child_takes_nothing_from_its_parents_generator", || {
        let uids = builder(1).build().unwrap();
        let mut local = uids.local();
        // In the middle of a run, and of a run that spans two seconds.
        let mut long = uids.local().with_claim_length(4000);
        let mut batch = uids.take_n(1000);
        let mut before: Vec<Uid> = (0..10).map(|_| local.take().unwrap()).collect();
        before.extend((0..3000).map(|_| long.take().unwrap()));
        before.push(batch.next().unwrap().unwrap());
        before.extend(
            (0..2)
                .map(|_| uids.fill(&mut [Uid::MIN; 1500]).map(|()| uids.take().unwrap()).unwrap()),
        );
        for _ in 0..3 {
            let taken = uids.status().taken;
            let child = in_child(|| {
                assert_refuses(&uids, &mut local);
                assert_eq!(long.take(), Err(TakeError::Forked));
                assert_eq!(batch.next(), Some(Err(TakeError::Forked)));
                assert_eq!(TakeError::Forked.retry_in(), None);
                assert_eq!(
                    TakeError::Forked.to_string(),
                    "this process was forked from the one that opened the generator: open another \
                     here, after the fork"
                );
                let status = uids.status();
                assert_eq!(
                    (status.worker_id, status.filler, status.taken),
                    (1, FillerState::Stopped, taken)
                );
                assert_eq!(uids.worker_id(), 1);
                Vec::new()
            });
            assert_eq!(child, []);
            let (good, bad) = take_all_ways(&uids, &mut local);
            assert_eq!(bad, []);
            before.extend(good);
            before.push(long.take().unwrap());
            before.push(batch.next().unwrap().unwrap());
            assert_eq!(uids.status().filler, FillerState::Running);
        }
        assert_distinct(before);
    });
}

#[test]
fn a_child_waits_for_nothing_at_its_parents_limit() {
    alone("fork::a_child_waits_for_nothing_at_its_parents_limit", || {
        for policy in [LeadLimit::Wait, LeadLimit::Fail, LeadLimit::NewWorker] {
            let layout = Layout::new(30, 20, 3).unwrap();
            let clock = ManualClock::new(layout.epoch() + Duration::from_secs(1000));
            let limits =
                builder(1).layout(layout).max_lead(Duration::from_secs(3)).on_lead_limit(policy);
            let uids = limits.clock(clock.clone()).build().unwrap();
            let mut local = uids.local().with_claim_length(2);
            local.take().unwrap();
            while uids.try_take().is_ok() {}
            if policy == LeadLimit::Fail {
                // That closes the ring.
                assert!(matches!(uids.take(), Err(TakeError::LeadLimit { .. })));
            }
            let status = uids.status();
            assert_eq!(
                in_child(|| {
                    assert_refuses(&uids, &mut local);
                    assert_eq!(uids.status().taken, status.taken);
                    drop((uids.clone(), local));
                    Vec::new()
                }),
                []
            );
            clock.advance(Duration::from_secs(1));
            uids.take().unwrap();
        }
    });
}

/// Gives one worker id, and counts its calls in this process.
struct Counting;

static RELEASES: AtomicUsize = AtomicUsize::new(0);
static DROPS: AtomicUsize = AtomicUsize::new(0);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::permanent(1, &request.layout))
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        RELEASES.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_generator_dropped_in_a_child_is_the_parents_still() {
    alone("fork::a_generator_dropped_in_a_child_is_the_parents_still", || {
        let uids = UidGenerator::builder().registry(Counting).build().unwrap();
        let local = uids.local();
        let first = uids.take().unwrap();
        // The child's copies of the last handles are dropped, and the parent's are not.
        let mut handles = Some((uids, local));
        assert_eq!(
            in_child(|| {
                let since = Instant::now();
                drop(handles.take());
                assert!(since.elapsed() < PATIENCE / 10);
                assert_eq!((RELEASES.load(Ordering::SeqCst), DROPS.load(Ordering::SeqCst)), (0, 0));
                // Later takes are not disturbed either.
                vec![builder(2).build().unwrap().take().unwrap()]
            })
            .len(),
            1
        );
        let (uids, local) = handles.unwrap();
        assert!(uids.take().unwrap() > first);
        assert_eq!((RELEASES.load(Ordering::SeqCst), DROPS.load(Ordering::SeqCst)), (0, 0));
        drop((uids, local));
        assert_eq!((RELEASES.load(Ordering::SeqCst), DROPS.load(Ordering::SeqCst)), (1, 1));
    });
}

#[cfg(feature = "sqlite")]
#[test]
fn a_generator_built_in_a_child_has_its_own_worker_id() {
    alone("fork::a_generator_built_in_a_child_has_its_own_worker_id", || {
        use uidring::registry::SqliteRegistry;

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("uidring.db");
        let build = || {
            let registry = SqliteRegistry::open(&file).unwrap();
            UidGenerator::builder()
                .registry(registry.leased(Duration::from_secs(30)))
                .build()
                .unwrap()
        };
        let takes = |uids: &UidGenerator| {
            let (good, bad) = take_all_ways(uids, &mut uids.local());
            assert_eq!(bad, []);
            good
        };
        let uids = build();
        let mut all = takes(&uids);
        let child = in_child(|| {
            let mine = build();
            assert_ne!(mine.worker_id(), uids.worker_id());
            let mut good = takes(&mine);
            // And so on, in the next generation.
            good.extend(in_child(|| {
                assert_refuses(&uids, &mut uids.local());
                assert_refuses(&mine, &mut mine.local());
                let grandchilds = build();
                assert!(
                    grandchilds.worker_id() != uids.worker_id()
                        && grandchilds.worker_id() != mine.worker_id()
                );
                takes(&grandchilds)
            }));
            good.extend(takes(&mine));
            assert_refuses(&uids, &mut uids.local());
            good
        });
        assert!(child.len() > 1000);
        all.extend(child);
        all.extend(takes(&uids));
        assert_distinct(all);
        // The parent's lease is its own still: nobody is given it.
        assert_ne!(build().worker_id(), uids.worker_id());
    });
}

#[test]
fn a_child_is_refused_its_parents_state_file() {
    alone("fork::a_child_is_refused_its_parents_state_file", || {
        let dir = tempfile::tempdir().unwrap();
        let build = || {
            UidGenerator::builder()
                .registry(FixedWorker::new(7).with_state(dir.path().join("state")))
                .build()
        };
        let uids = build().unwrap();
        assert_eq!(
            in_child(|| {
                let error = build().unwrap_err();
                assert!(
                    matches!(error, BuildError::Registry(RegistryError::Storage(_))),
                    "{error}"
                );
                Vec::new()
            }),
            []
        );
        uids.take().unwrap();
    });
}

#[test]
fn an_installed_generator_is_forked_as_any_other() {
    alone("fork::an_installed_generator_is_forked_as_any_other", || {
        uidring::install(builder(1).build().unwrap()).unwrap();
        let first = uidring::take().unwrap();
        assert_eq!(
            in_child(|| {
                assert_eq!(uidring::take(), Err(TakeError::Forked));
                assert!(uidring::install(builder(2).build().unwrap()).is_err());
                Vec::new()
            }),
            []
        );
        assert!(uidring::take().unwrap() > first);
    });
}

#[test]
fn a_child_installs_its_own_after_the_fork() {
    alone("fork::a_child_installs_its_own_after_the_fork", || {
        let uids = builder(1).build().unwrap();
        let child = in_child(|| {
            uidring::install(builder(2).build().unwrap()).unwrap();
            assert_refuses(&uids, &mut uids.local());
            vec![uidring::take().unwrap()]
        });
        assert_eq!(Layout::DEFAULT.parts(child[0]).worker, 2);
        assert_eq!(uidring::take(), Err(TakeError::NotInstalled));
    });
}

/// Runs of consecutive UIDs: first, and how many.
#[derive(Default)]
struct Runs(Vec<(u64, u64)>);

impl Runs {
    fn push(&mut self, first: Uid, count: u64) {
        match self.0.last_mut() {
            Some((start, length)) if *start + *length == first.get() => *length += count,
            _ => self.0.push((first.get(), count)),
        }
    }

    fn assert_distinct(mut self) -> u64 {
        self.0.sort_unstable();
        for pair in self.0.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{} came twice", pair[1].0);
        }
        self.0.iter().map(|run| run.1).sum()
    }
}

/// Stops the threads that look at it, also where a test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn threads_take_flat_out_while_children_are_made() {
    const CHILDREN: u64 = 100;
    alone("fork::threads_take_flat_out_while_children_are_made", || {
        // More UIDs than the threads can take.
        let layout = Layout::new(30, 13, 20).unwrap();
        let uids = builder(1).layout(layout).build().unwrap();
        let stop = AtomicBool::new(false);
        let mut all = Runs::default();
        thread::scope(|scope| {
            let until_stopped = |mut take: Box<dyn FnMut(&mut Runs) + Send>| {
                let stop = &stop;
                scope.spawn(move || {
                    let mut runs = Runs::default();
                    while !stop.load(Ordering::Relaxed) {
                        take(&mut runs);
                    }
                    runs
                })
            };
            let mut takers = Vec::new();
            takers.push(until_stopped(Box::new(|runs| runs.push(uids.take().unwrap(), 1))));
            let mut local = uids.local();
            takers.push(until_stopped(Box::new(move |runs| runs.push(local.take().unwrap(), 1))));
            takers.push(until_stopped(Box::new(|runs| {
                let mut buffer = [Uid::MIN; 512];
                uids.fill(&mut buffer).unwrap();
                buffer
                    .chunk_by(|a, b| a.get() + 1 == b.get())
                    .for_each(|run| runs.push(run[0], run.len() as u64));
            })));
            let stop = Stop(&stop);
            let mut local = uids.local();
            for child in 0..CHILDREN {
                all.push(local.take().unwrap(), 1);
                let theirs = in_child(|| {
                    assert_refuses(&uids, &mut local);
                    if child % 10 == 0 {
                        let mine = builder(2 + child).layout(layout).build().unwrap();
                        return (0..100).map(|_| mine.take().unwrap()).collect();
                    }
                    Vec::new()
                });
                assert_eq!(theirs.len(), if child % 10 == 0 { 100 } else { 0 });
                for uid in theirs {
                    all.push(uid, 1);
                }
            }
            drop(stop);
            for taker in takers {
                all.0.extend(taker.join().unwrap().0);
            }
        });
        assert_eq!(uids.status().filler, FillerState::Running);
        assert!(all.assert_distinct() > 100_000);
    });
}

#[test]
fn a_child_waits_for_no_lock_that_another_thread_held() {
    alone("fork::a_child_waits_for_no_lock_that_another_thread_held", || {
        // At the limit all the time: failing takes close the ring, ask the filler, and see whether
        // it can be opened.
        let layout = Layout::new(30, 20, 1).unwrap();
        let limits = builder(1)
            .layout(layout)
            .max_lead(Duration::from_secs(1))
            .on_lead_limit(LeadLimit::Fail);
        let uids = limits.build().unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let _ = (uids.take(), uids.try_take(), uids.status());
                    }
                });
            }
            scope.spawn(|| {
                // The list of generators changes all the time, too.
                while !stop.load(Ordering::Relaxed) {
                    builder(2).build().unwrap().take().unwrap();
                }
            });
            let stop = Stop(&stop);
            for _ in 0..100 {
                let child = in_child(|| {
                    assert_refuses(&uids, &mut uids.local());
                    assert_eq!(uids.status().filler, FillerState::Stopped);
                    Vec::new()
                });
                assert_eq!(child, []);
            }
            drop(stop);
        });
    });
}

/// The same for series: also for a scope that is not in use, and that this child makes.
#[test]
#[cfg(all(feature = "series", feature = "sqlite"))]
fn a_child_waits_for_no_lock_of_its_parents_series() {
    use uidring::Store;
    use uidring::series::{Series, SeriesDefinition, SeriesError};

    alone("fork::a_child_waits_for_no_lock_of_its_parents_series", || {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("uidring.db")).unwrap();
        let series = Series::builder().store(&store).build().unwrap();
        let definition = SeriesDefinition::new("{n}").unwrap();
        let orders = series.create("orders", definition.clone()).unwrap();
        let today = "2026-11-24".parse().unwrap();
        orders.take().unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for taker in 0..3 {
                let (stop, series, orders) = (&stop, &series, &orders);
                scope.spawn(move || {
                    for number in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let scope = orders.scope(&format!("shop-{taker}-{}", number % 5000));
                        let _ = (scope.try_take(), scope.status(), series.get("orders"));
                    }
                });
            }
            let stop = Stop(&stop);
            for _ in 0..50 {
                let child = in_child(|| {
                    let is_forked =
                        |error: SeriesError| matches!(error, SeriesError::Take(TakeError::Forked));
                    for numbers in [orders.clone(), orders.scope("shop-0-1"), orders.scope("a")] {
                        let refused = [
                            numbers.take(),
                            numbers.try_take(),
                            numbers.take_for(today),
                            #[cfg(feature = "async")]
                            pollster::block_on(numbers.take_async()),
                        ];
                        assert!(refused.into_iter().all(|taken| taken.is_err_and(is_forked)));
                        assert!(numbers.take_batch(3).is_err_and(is_forked));
                        assert!(numbers.try_take_batch(3).is_err_and(is_forked));
                        assert!(numbers.take_n_for(today, 3).is_err_and(is_forked));
                        assert!(numbers.record().is_err_and(is_forked));
                        assert!(numbers.counters().is_err_and(is_forked));
                        assert!(numbers.forecast().is_err_and(is_forked));
                        assert!(numbers.recall("a").is_err_and(is_forked));
                        let _ = numbers.status();
                    }
                    assert!(series.get("orders").is_err_and(is_forked));
                    Vec::new()
                });
                assert_eq!(child, []);
            }
            drop(stop);
        });
    });
}

#[test]
fn programs_are_started_as_ever() {
    alone("fork::programs_are_started_as_ever", || {
        let uids = builder(1).build().unwrap();
        for _ in 0..10 {
            let first = uids.take().unwrap();
            assert!(Command::new("true").status().unwrap().success());
            // For this the standard library forks.
            let user = tempfile::tempfile().unwrap().metadata().unwrap().uid();
            assert!(Command::new("true").uid(user).status().unwrap().success());
            let echo = Command::new("echo").arg(first.to_string()).output().unwrap();
            assert_eq!(String::from_utf8(echo.stdout).unwrap().trim(), first.to_string());
            assert!(uids.take().unwrap() > first);
        }
    });
}

/// Neither does one of the past, whose lock another thread may hold at the fork.
#[cfg(feature = "sqlite")]
#[test]
fn a_child_gets_no_uid_of_its_parents_past() {
    alone("fork::a_child_gets_no_uid_of_its_parents_past", || {
        let folder = tempfile::tempdir().unwrap();
        let registry = SqliteRegistry::open(folder.path().join("uidring.db")).unwrap();
        let past = UidGenerator::builder().registry(registry).build_past().unwrap();
        let time = past.layout().epoch();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    past.take_at(time).unwrap();
                }
            });
            for _ in 0..20 {
                let got = in_child(|| {
                    let error = past.take_at(time).unwrap_err();
                    assert!(matches!(error, TakeAtError::Forked), "{error}");
                    assert_eq!(past.status().taken, 0);
                    Vec::new()
                });
                assert_eq!(got, []);
            }
            is_over.store(true, Ordering::Relaxed);
        });
    });
}
