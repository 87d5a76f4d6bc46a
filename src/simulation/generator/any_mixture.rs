//! Any mixture of takes and jumps of the clock, with any limits.

use proptest::prelude::*;

use super::*;
use crate::layout::FieldOrder;
use crate::simulation::DAY;

#[derive(Clone, Copy, Debug)]
enum Step {
    Take(u16),
    Fill(usize),
    /// By one of three local takers.
    Local(usize, u16),
    Pass(u32),
    Back(u32),
    Forward(u32),
    /// To a time before the epoch.
    Before,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u16..300).prop_map(Step::Take),
        2 => (0usize..40).prop_map(Step::Fill),
        2 => (0usize..3, 0u16..100).prop_map(|(taker, count)| Step::Local(taker, count)),
        8 => prop_oneof![0u32..20_000, 0u32..50].prop_map(Step::Pass),
        2 => prop_oneof![0u32..3_000, 0u32..100_000_000].prop_map(Step::Back),
        2 => prop_oneof![0u32..3_000, 0u32..100_000_000].prop_map(Step::Forward),
        1 => Just(Step::Before),
    ]
}

proptest! {
    #[test]
    fn a_uid_at_every_moment_of_any_bounds(
        tick_ms in 1u64..=1000,
        max_lead_ms in prop_oneof![Just(0u64), 0u64..3000],
        max_lag_ms in 0u64..3000,
    ) {
        // Building fails if both limits are shorter than a tick.
        let max_lag_ms = if max_lead_ms < tick_ms { max_lag_ms.max(tick_ms) } else { max_lag_ms };
        let ms = Duration::from_millis;
        a_uid_at_every_moment(tick_ms, ms(max_lead_ms), ms(max_lag_ms));
    }

    #[test]
    fn any_mixture_keeps_the_promises(
        steps in proptest::collection::vec(step(), 1..60),
        policy in prop_oneof![
            Just(LeadLimit::NewWorker),
            Just(LeadLimit::Wait),
            Just(LeadLimit::Fail),
        ],
        slots in prop_oneof![Just(2usize), Just(8), Just(64)],
        max_lead_ms in prop_oneof![Just(0u64), 0u64..200_000],
        max_lag_ms in prop_oneof![0u64..5_000, 0u64..50],
        tick_ms in prop_oneof![Just(1u64), Just(10), Just(300), Just(1000)],
        order in prop_oneof![Just(FieldOrder::TimeFirst), Just(FieldOrder::WorkerFirst)],
        is_exact in any::<bool>(),
    ) {
        // In exact time, another worker id is never taken on.
        let is_new_worker = policy == LeadLimit::NewWorker;
        let policy = if is_exact && is_new_worker { LeadLimit::Wait } else { policy };
        let tick = Duration::from_millis(tick_ms);
        let layout = Layout::new(40, 12, 2).unwrap().with_tick(tick).unwrap().with_order(order);
        // Building fails if both limits are shorter than a tick.
        let max_lag_ms = if max_lead_ms < tick_ms { max_lag_ms.max(tick_ms) } else { max_lag_ms };
        let mut world = World::new(Settings {
            layout,
            start: layout.epoch() + YEAR,
            slots,
            max_lead: Duration::from_millis(max_lead_ms),
            max_lag: Duration::from_millis(max_lag_ms),
            policy,
            is_exact,
            max_forward_jump: None,
        });
        let mut local = [(); 3].map(|()| (world.uids.local().with_claim_length(5), Uid::MIN));
        for step in steps {
            let ms = |ms: u32| Duration::from_millis(ms.into());
            // In a simulation nobody wakes a waiting take.
            let may_fail = policy == LeadLimit::Fail;
            match step {
                Step::Take(count) => {
                    let way = if may_fail { take_or_wait } else { Engine::try_take };
                    for _ in 0..count {
                        match world.take_by(way) {
                            Ok(uid) => prop_assert!(world.seen.insert(uid), "twice: {uid:?}"),
                            Err(error) => {
                                prop_assert!(error.retry_in().is_some(), "{error}");
                                world.check_failure();
                            }
                        }
                    }
                }
                Step::Fill(length) if may_fail => {
                    if world.fill(length) < length {
                        world.check_failure();
                    }
                }
                Step::Local(taker, count) if may_fail => {
                    let (taker, last) = &mut local[taker];
                    for _ in 0..count {
                        if world.take_local(taker, last).is_err() {
                            world.check_failure();
                        }
                    }
                }
                Step::Fill(_) | Step::Local(..) => {}
                Step::Pass(time) => world.pass(ms(time)),
                Step::Back(by) => { let to = world.now() - ms(by); world.jump(to) }
                Step::Forward(by) => { let to = world.now() + ms(by); world.jump(to) }
                Step::Before => world.jump(layout.epoch() - ms(1)),
            }
            if !matches!(step, Step::Take(_) | Step::Fill(_) | Step::Local(..)) {
                world.failures = 0;
            }
        }
        // In any case there are UIDs again when the clock is past all that it has shown.
        let to = world.latest + DAY;
        world.jump(to);
        world.take().unwrap();
    }
}
