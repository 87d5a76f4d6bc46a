//! The library's generator of the past beside the model's, on the same times in the same order.

use std::time::Duration;

use proptest::prelude::*;
use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError, TakeAtError, UidGenerator};
use uidring_protocols::past::{Past, Rule, Rules, Sizes, Tick};

use crate::past::Answer::{Ended, Given};

/// Gives worker ids in order, but for one that it gives again.
struct Counting {
    next: u64,
    repeated: u64,
}

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.next += 1;
        let worker = if self.next == self.repeated { self.next - 1 } else { self.next };
        Ok(Lease::permanent(worker, &request.layout))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Given(u64, u64, u64),
    Ended,
}

/// What the library answers where each of `ticks` is asked for.
fn of_library(ticks: &[Tick], repeated: u64) -> Vec<Answer> {
    let layout = Layout::new(30, 20, 1).unwrap();
    let time = |tick: u8| layout.epoch() + Duration::from_secs(tick.into());
    let builder = UidGenerator::builder().registry(Counting { next: 0, repeated });
    let builder = builder.layout(layout).clock(ManualClock::new(time(u8::MAX)));
    let past = builder.max_new_workers(1000).build_past().unwrap();
    let take = |tick: &Tick| match past.take_at(time(*tick)) {
        Ok(uid) => {
            let parts = layout.parts(uid);
            Given(layout.tick_at(parts.time).unwrap(), parts.worker, parts.sequence)
        }
        Err(TakeAtError::BrokenRule(_)) => Ended,
        Err(error) => panic!("{error}"),
    };
    ticks.iter().map(take).collect()
}

/// What the model answers.
fn of_model(ticks: &[Tick], repeated: u64, rules: Rules) -> Vec<Answer> {
    let sizes = Sizes { ticks: usize::MAX, per_worker: 2 };
    let (mut past, mut next) = (Past::new(1), 1);
    let mut take = |tick: &Tick| {
        if !past.has_ended && past.needs_worker(*tick, sizes, rules) {
            next += 1;
            let worker = if u64::from(next) == repeated { next - 1 } else { next };
            past.take_on(*tick, worker, rules);
        }
        if past.has_ended {
            return Ended;
        }
        let (tick, worker, place) = past.take(*tick, sizes, rules);
        Given(tick.into(), worker.into(), place.into())
    };
    ticks.iter().map(&mut take).collect()
}

proptest! {
    #[test]
    fn the_library_takes_as_the_model(
        ticks in prop::collection::vec(1_u8..6, 0..60),
        repeated in 2_u64..40,
    ) {
        prop_assert_eq!(of_library(&ticks, repeated), of_model(&ticks, repeated, Rules::ALL));
    }
}

#[test]
fn the_comparison_sees_each_rule() {
    let ticks = [1, 2, 1, 2, 1, 2, 2, 1, 1, 2];
    for rule in [Rule::EachTickCounts, Rule::FullIsOver, Rule::NewWorker] {
        let model = of_model(&ticks, 3, Rules::without(rule));
        assert_ne!(of_library(&ticks, 3), model, "{rule:?}");
    }
}
