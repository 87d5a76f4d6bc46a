//! Registries that break what uniqueness rests on: the generator ends with an error and an event
//! that say which rule did not hold, and with which numbers, and another one goes on.

use std::collections::HashSet;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{
    Layout, LeadLimit, RegistryError, Rule, ShutdownError, TakeError, Uid, UidGenerator,
};

use crate::alone::alone;
use crate::observer::{EVENTS, observe};

const WORKER: u64 = 7;

/// What a registry does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// It gives one permanent id to all.
    GivesTwice,
    /// It gives a lost lease again, with the same ticks.
    GivesLeaseTwice,
    /// It confirms fewer ticks than before.
    ConfirmsLess,
}

impl WorkerRegistry for Wrong {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if *self == Wrong::GivesTwice {
            return Ok(Lease::permanent(WORKER, &request.layout));
        }
        // The same whenever it is asked.
        Ok(Lease::leased(WORKER, 0..=request.now + 20, Duration::from_secs(3600), "one"))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        match self {
            Wrong::ConfirmsLess => Ok(lease.last - 1),
            Wrong::GivesLeaseTwice => Err(RegistryError::LeaseLost { worker: lease.worker }),
            Wrong::GivesTwice => Ok(last),
        }
    }
}

fn wait_until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}", EVENTS.lock().unwrap());
        thread::sleep(Duration::from_millis(1));
    }
}

/// Takes until the rule is found broken, and checks what is said of it.
fn check(wrong: Wrong, rule: Rule) {
    EVENTS.lock().unwrap().clear();
    let layout = Layout::new(40, 10, 4).unwrap().with_tick(Duration::from_millis(10)).unwrap();
    let builder = UidGenerator::builder().registry(wrong).layout(layout).slots(4);
    let policy = LeadLimit::NewWorker;
    let builder = builder.max_lead(Duration::from_millis(200)).on_lead_limit(policy);
    let uids = builder.max_new_workers(100).build().unwrap();
    let mut local = uids.local();

    let mut taken = HashSet::<Uid>::new();
    let mut take = || match uids.try_take().and_then(|_| local.take()) {
        Ok(uid) => {
            assert!(taken.insert(uid), "{uid} twice");
            None
        }
        Err(TakeError::LeadLimit { .. } | TakeError::LeaseExhausted { .. }) => None,
        Err(error) => Some(error),
    };
    // Many at a time: a sleep may last for longer than a tick.
    let error = wait_until(|| (0..100).find_map(|_| take()));
    assert_eq!(error, TakeError::BrokenRule { rule });
    assert!(error.to_string().contains(&rule.to_string()), "{error}");

    let told = || EVENTS.lock().unwrap().iter().any(|event| event.name == "rule_broken");
    wait_until(|| told().then_some(()));
    let status = uids.status();
    let broken = status.broken_rule.unwrap();
    assert_eq!((broken.rule, status.obstacle), (rule, Some(error)));
    assert!(broken.found <= broken.bound, "{broken}");
    assert!(status.to_string().contains(&broken.to_string()), "{status}");

    // Nothing comes from it any more.
    thread::sleep(Duration::from_millis(50));
    assert_eq!((uids.take(), uids.try_take()), (Err(error), Err(error)));
    assert_eq!((local.take(), uids.local().take()), (Err(error), Err(error)));
    assert_eq!(uids.fill(&mut [Uid::MIN; 3]).unwrap_err().filled(), 0);
    assert_eq!(status.available, 0);

    let other = UidGenerator::builder().registry(FixedWorker::new(1)).build().unwrap();
    other.take().unwrap();

    // Others begin after what was reserved.
    match uids.shutdown() {
        Ok(()) => assert_eq!(wrong, Wrong::GivesTwice),
        Err(ShutdownError::NotReleased { worker: WORKER, source }) => {
            assert!(format!("{source:?}").contains(&format!("{rule:?}")), "{source:?}");
        }
        Err(error) => panic!("{error}"),
    }
    let events = EVENTS.lock().unwrap();
    let told: Vec<_> = events.iter().filter(|event| event.name == "rule_broken").collect();
    let [told] = told[..] else { panic!("{events:#?}") };
    assert!(told.text.starts_with("ERROR") && told.text.contains(&broken.to_string()), "{told:?}");
    let fields = format!("rule={rule:?} found={} bound={} ", broken.found, broken.bound);
    assert!(told.fields.ends_with(&fields), "{told:?}");
}

/// A registry that confirms fewer ticks than before, and takes its time for that.
struct Slow(mpsc::Sender<&'static str>);

impl WorkerRegistry for Slow {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Wrong::ConfirmsLess.assign(request)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.0.send("reserve").unwrap();
        thread::sleep(Duration::from_millis(300));
        Wrong::ConfirmsLess.reserve(lease, last)
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        self.0.send("release").unwrap();
        Ok(())
    }
}

/// Shuts a generator down while the answer is awaited that breaks a rule.
fn check_shutdown() {
    EVENTS.lock().unwrap().clear();
    let (sender, calls) = mpsc::channel();
    let layout = Layout::new(40, 10, 4).unwrap().with_tick(Duration::from_millis(10)).unwrap();
    let uids = UidGenerator::builder().registry(Slow(sender)).layout(layout).slots(4);
    let uids = uids.build().unwrap();
    wait_until(|| {
        let _ = uids.try_take();
        calls.try_recv().ok()
    });
    let error = uids.shutdown().unwrap_err();
    assert!(format!("{error:?}").contains("ReservationKept"), "{error:?}");
    assert_eq!(calls.try_iter().count(), 0, "not given back");
    let names: Vec<_> = EVENTS.lock().unwrap().iter().map(|event| event.name).collect();
    assert_eq!(names.iter().filter(|name| **name == "rule_broken").count(), 1, "{names:?}");
}

#[test]
fn a_generator_whose_registry_breaks_a_rule_ends() {
    alone("broken_rules::a_generator_whose_registry_breaks_a_rule_ends", || {
        observe();
        check_shutdown();
        check(Wrong::GivesTwice, Rule::WorkerIdOnce);
        check(Wrong::GivesLeaseTwice, Rule::WorkerIdOnce);
        check(Wrong::ConfirmsLess, Rule::ReservationKept);
    });
}
