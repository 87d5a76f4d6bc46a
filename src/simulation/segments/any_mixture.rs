//! Any mixture of takes, loads, waits and answers: no number comes twice, and none is lost.

use proptest::prelude::*;

use super::*;
use crate::ring::chain::{Found, SegmentChain};
use crate::segment::tag::supply::Supply;

#[derive(Clone, Debug)]
enum Event {
    Wait(u64),
    Take(u64),
    Fill(u64),
    Local(u64, u64),
    Hold(u64),
    Release(usize),
    Join(u64),
    Leave(usize),
    RunDue,
    Answer(usize, Answer),
}

fn event() -> impl Strategy<Value = Event> {
    let answer = prop_oneof![
        8 => Just(Answer::Numbers),
        1 => Just(Answer::Few),
        2 => Just(Answer::AfterAnother),
        2 => Just(Answer::Away),
        1 => Just(Answer::Locked),
        1 => Just(Answer::Failed),
        1 => Just(Answer::WentBack),
        1 => Just(Answer::OtherDelta),
    ];
    prop_oneof![
        2 => (0_u64..6000).prop_map(Event::Wait),
        4 => (1_u64..100).prop_map(Event::Take),
        2 => (1_u64..300).prop_map(Event::Fill),
        1 => (1_u64..20).prop_map(Event::Hold),
        1 => (0_usize..4).prop_map(Event::Release),
        1 => (1_u64..100, 0_u64..100).prop_map(|(count, used)| Event::Local(count, used)),
        3 => (1_u64..20).prop_map(Event::Join),
        2 => (0_usize..4).prop_map(Event::Leave),
        5 => Just(Event::RunDue),
        5 => (0_usize..4, answer).prop_map(|(call, answer)| Event::Answer(call, answer)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    #[test]
    fn no_number_comes_twice_and_each_load_is_accounted_for(
        step in 1_u64..50,
        events in prop::collection::vec(event(), 1..120),
    ) {
        let mut simulation = Simulation::new(step);
        for event in events {
            match event {
                Event::Wait(ms) => simulation.now += Duration::from_millis(ms),
                Event::Take(count) => simulation.take(count),
                Event::Fill(count) => simulation.fill(count),
                Event::Local(count, used) => simulation.local(count, used),
                Event::Hold(count) => simulation.hold(count),
                Event::Join(count) => simulation.join(count),
                Event::Leave(index) => simulation.leave(index),
                Event::Release(index) => simulation.release(index),
                Event::RunDue => simulation.run_due(),
                Event::Answer(call, answer) => simulation.answer(call, answer),
            }
            simulation.check_waiting();
        }
        simulation.end();
    }
}

/// The front needs no lock. So the chain may get room between the two looks of one call: that which
/// finds no number to claim, and that which hands numbers out.
#[test]
fn what_is_given_back_to_a_chain_that_has_got_room_comes_before_the_rest() {
    let (chain, mut supply) = (SegmentChain::default(), Supply::default());
    for first in [1, 101, 201] {
        supply.add(first, 10, 1);
        assert!(supply.open(&chain));
    }
    // A taker claims all, and has not looked up where its tickets lead.
    let (held, _) = chain.claim_many(30);
    supply.add(301, 10, 1);
    assert!(!supply.open(&chain), "there is no room");
    assert!(matches!(chain.resolve(held + 25), (Found::Ready(_), true)));
    let mut claim = supply.hand_out(&chain, 4).unwrap();
    let origin = claim.range.take().unwrap().origin;
    assert_eq!(chain.number(claim.next, origin), 301);
    supply.take_back(&chain, claim.next + 1..claim.end, origin);
    assert!(supply.open(&chain));
    let mut rest = Vec::new();
    while let Ok((ticket, _)) = chain.try_claim() {
        let (Found::Ready(range), _) = chain.resolve(ticket) else { continue };
        rest.push(chain.number(ticket, range.origin));
    }
    assert_eq!(rest, (302..=310).collect::<Vec<_>>());
}

#[derive(Clone, Debug)]
enum Step {
    Event(Event),
    Retire,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    #[test]
    fn a_tag_that_is_given_up_gives_no_number_twice_and_loses_none(
        step in 1_u64..50,
        events in prop::collection::vec(
            prop_oneof![9 => event().prop_map(Step::Event), 1 => Just(Step::Retire)],
            1..120,
        ),
    ) {
        let mut simulation = Simulation::new(step);
        for event in events {
            match event {
                Step::Retire => simulation.retire(),
                Step::Event(Event::Wait(ms)) => simulation.now += Duration::from_millis(ms),
                Step::Event(Event::Take(count)) => simulation.take(count),
                Step::Event(Event::Fill(count)) => simulation.fill(count),
                Step::Event(Event::Hold(count)) => simulation.hold(count),
                Step::Event(Event::Join(count)) => simulation.join(count),
                Step::Event(Event::Leave(index)) => simulation.leave(index),
                Step::Event(Event::Release(index)) => simulation.release(index),
                Step::Event(Event::Local(..) | Event::RunDue) => simulation.run_due(),
                // The row stays that of this tag.
                Step::Event(Event::Answer(_, Answer::WentBack | Answer::OtherDelta)) => {}
                Step::Event(Event::Answer(call, answer)) => simulation.answer(call, answer),
            }
        }
        simulation.end_retired();
    }
}
