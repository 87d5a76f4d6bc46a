//! A take that fails holds nothing, and costs the same however many have failed before it. One
//! test, since the counts are those of the whole process.

use std::time::Duration;

use stats_alloc::Region;
use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Builder, Layout, LeadLimit, RegistryError, TakeError, Uid, UidGenerator};

use crate::MEMORY;
use crate::alone::alone;

/// Gives a lease of a few ticks, and is then away.
struct Away;

impl WorkerRegistry for Away {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 3;
        Ok(Lease::leased(1, ticks, Duration::from_secs(3600), "one"))
    }

    fn reserve(&mut self, _: &Lease, _: u64) -> Result<u64, RegistryError> {
        Err(RegistryError::unreachable("it is away"))
    }
}

fn builder() -> Builder {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    UidGenerator::builder()
        .registry(FixedWorker::new(1))
        .clock(clock)
        .on_lead_limit(LeadLimit::Fail)
}

#[test]
fn a_failing_take_holds_nothing_however_many_there_were() {
    alone("failing_takes::a_failing_take_holds_nothing_however_many_there_were", || {
        let at_the_end = Layout::DEFAULT.expires_at() - Duration::from_secs(1);
        for (name, builder) in [
            ("a clock that stands still", builder().max_lead(Duration::ZERO)),
            (
                "time exhausted",
                builder().clock(ManualClock::new(at_the_end)).on_lead_limit(LeadLimit::Wait),
            ),
            ("a lease exhausted, and its registry away", builder().registry(Away)),
        ] {
            let uids = builder.build().unwrap();
            let mut local = uids.local();
            let mut buffer = [Uid::MIN; 100];
            let mut fail = |times| {
                let errors = (0..times).map(|_| {
                    let error: TakeError = uids.fill(&mut buffer).unwrap_err().into();
                    assert_eq!(
                        [local.take(), uids.try_take(), uids.take()],
                        [Err(error); 3],
                        "{name}"
                    );
                });
                errors.count()
            };
            while uids.take().is_ok() {}
            // What the first failures may allocate.
            fail(1000);
            let failures = Region::new(MEMORY);
            fail(25_000);
            let change = failures.change();
            assert!(change.allocations < 100, "{name}: {change:?}");
            assert!(
                change.bytes_allocated <= change.bytes_deallocated + 4096,
                "{name}: {change:?}"
            );
        }
    });
}
