//! Ids of the past of any times and layouts.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{FieldOrder, Layout, RegistryError, UidGenerator};

/// Gives 1, 2, 3 and so on.
struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any times in any order, of any layout: all different, each with its tick, and ascending
    /// within a tick.
    #[test]
    fn uids_are_different_and_have_their_times(
        time_bits in 20_u32..40,
        sequence_bits in 1_u32..6,
        is_worker_first: bool,
        is_fine: bool,
        seconds in prop::collection::vec(0_u32..30, 1..200),
    ) {
        let order = if is_worker_first { FieldOrder::WorkerFirst } else { FieldOrder::TimeFirst };
        let layout = Layout::new(time_bits, 12, sequence_bits).unwrap().with_order(order);
        let tick = Duration::from_millis(if is_fine { 10 } else { 1000 });
        let layout = layout.with_tick(tick).unwrap();
        let clock = ManualClock::new(layout.epoch() + tick * 40);
        let builder = UidGenerator::builder().registry(Counting(0)).layout(layout);
        let past = builder.clock(clock).max_new_workers(1000).build_past().unwrap();
        let times: Vec<_> = seconds.iter().map(|at| layout.epoch() + tick * *at).collect();
        let uids = past.take_times(&times).unwrap();
        prop_assert_eq!(uids.iter().collect::<BTreeSet<_>>().len(), uids.len());
        for (uid, time) in uids.iter().zip(&times) {
            prop_assert_eq!(layout.parts(*uid).time, *time);
        }
        for second in seconds.iter().collect::<BTreeSet<_>>() {
            let of_tick = uids.iter().zip(&seconds).filter(|(_, at)| *at == second);
            prop_assert!(of_tick.map(|(uid, _)| uid).is_sorted_by(|a, b| a < b));
        }
    }
}
