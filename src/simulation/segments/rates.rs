//! Takes at a steady rate: how often the source is asked, and that nobody waits.

use super::*;
use crate::simulation::HOUR;

/// Takes `rate` numbers a second for `time`, in steps of `pace`, from a source that takes 50 ms.
/// Returns how many numbers did not come at once, in each step.
fn run(simulation: &mut Simulation, rate: u64, time: Duration, pace: Duration) -> Vec<u64> {
    run_with(simulation, rate, time, pace, Answer::Numbers)
}

/// Like `run`, from a source that answers in this way.
fn run_with(
    simulation: &mut Simulation,
    rate: u64,
    time: Duration,
    pace: Duration,
    answer: Answer,
) -> Vec<u64> {
    let each = rate * pace.as_millis() as u64 / 1000;
    let mut missing = Vec::new();
    let end = simulation.now + time;
    while simulation.now < end {
        let tag = Arc::clone(&simulation.tag);
        let mut left = each;
        while left > 0 {
            let Ok(mut claim) = tag.engine.claim(left) else { break };
            while let Some(numbers) = tag.engine.next_numbers(&mut claim) {
                left -= numbers.count;
            }
        }
        missing.push(left);
        simulation.run_due();
        simulation.now += pace;
        let now = simulation.now;
        while let Some(due) = simulation.calls.iter().position(|call| now >= call.since + 50 * MS) {
            simulation.answer(due, answer);
        }
    }
    missing
}

#[test]
fn a_source_that_is_away_for_ten_seconds_is_not_felt() {
    let mut simulation = Simulation::new(1000);
    run(&mut simulation, 10_000, 600 * SECOND, 100 * MS);
    for outage in 0..10 {
        // It begins with a load.
        while simulation.calls.is_empty() {
            run(&mut simulation, 10_000, 10 * MS, 10 * MS);
        }
        let missing = run_with(&mut simulation, 10_000, 10 * SECOND, 10 * MS, Answer::Away);
        assert_eq!(missing.iter().sum::<u64>(), 0, "in outage {outage}");
        let missing = run(&mut simulation, 10_000, 60 * SECOND, 10 * MS);
        assert_eq!(missing.iter().sum::<u64>(), 0, "after outage {outage}");
    }
    assert!(simulation.tag.engine.counters.failures.get() >= 50);
}

#[test]
fn a_steady_tag_asks_less_than_twice_a_minute() {
    let mut simulation = Simulation::new(1000);
    run(&mut simulation, 10_000, HOUR, 100 * MS);
    let before = simulation.loads;
    let missing = run(&mut simulation, 10_000, HOUR, 100 * MS);
    let loads = simulation.loads - before;
    assert!(loads <= 120, "{loads} loads in an hour");
    assert!(loads >= 36, "no segment is larger than max_step: {loads}");
    assert_eq!(missing.iter().sum::<u64>(), 0);
}

#[test]
fn at_ten_million_a_second_nobody_waits_after_ten_seconds() {
    let mut simulation = Simulation::new(1000);
    let missing = run(&mut simulation, 10_000_000, 60 * SECOND, 10 * MS);
    let (first, later) = missing.split_at(1000);
    assert!(first.iter().sum::<u64>() > 0, "it begins with 1,000 numbers");
    assert_eq!(later.iter().sum::<u64>(), 0, "{:?}", later.iter().position(|&count| count > 0));
    let in_memory = simulation.tag.engine.left();
    assert!(in_memory >= 90_000_000, "{in_memory}: nearly ten seconds of the demand");
}

#[test]
fn a_tag_that_slows_down_loads_less_and_an_idle_one_nothing() {
    let mut simulation = Simulation::new(1000);
    run(&mut simulation, 1000, 1800 * SECOND, 100 * MS);
    assert_eq!(lock(&simulation.tag.state).last_size, 900_000, "15 minutes of the demand");
    let before = simulation.loads;
    run(&mut simulation, 0, HOUR, SECOND);
    assert_eq!(simulation.loads, before);
    // The rate of the last seconds counts.
    run(&mut simulation, 10, 24 * HOUR, SECOND);
    let size = lock(&simulation.tag.state).last_size;
    assert!((8_900..9_200).contains(&size), "{size}");
}

#[test]
fn a_first_load_that_outlasts_the_end_gives_takers_nothing() {
    let mut simulation = Simulation::new(10);
    let (first, _) = simulation.scheduler.enter("others", &simulation.requests, SECOND);
    let Some(Job::Load { tag, .. }) = simulation.scheduler.next_job(SECOND) else { panic!("none") };
    assert!(Arc::ptr_eq(&tag, &first));
    for tag in simulation.scheduler.end() {
        tag.engine.shut_down();
    }
    simulation.scheduler.loaded(&first, Ok(Segment::new(1, 10, 1, 11)), SECOND, 2 * SECOND);
    assert_eq!(first.engine.try_take(), Err(TakeError::ShutDown));
    simulation.scheduler.clear_out(2 * SECOND);
    let jobs = std::iter::from_fn(|| simulation.scheduler.next_job(2 * SECOND));
    let given_back: Vec<Job> = jobs.collect();
    let is_whole = |job: &Job| match job {
        Job::GiveBack { tag, unused } => Arc::ptr_eq(tag, &first) && unused.count == 10,
        Job::Load { .. } => false,
    };
    assert!(given_back.iter().any(is_whole), "{given_back:?}");
}

/// Takes from one tag that is well, and from eight for each slot whose rows others hold: a load of
/// those fails after two seconds. Returns how many numbers of the first did not come at once after
/// each of the others had failed, and how often these were tried.
fn take_while_rows_are_held(loads: usize) -> (u64, u64) {
    let rng = fastrand::Rng::with_seed(7);
    let mut scheduler =
        Scheduler::new(policy(), loads, "the rows".to_owned(), Reporting::default(), rng);
    let requests = Arc::new(RequestList::new().0);
    let mut tags = Vec::new();
    for index in 0..=8 * loads {
        let name = if index == 0 { "well".to_owned() } else { format!("held {index}") };
        let (tag, _) = scheduler.enter(&name, &requests, Duration::ZERO);
        let Some(Job::Load { .. }) = scheduler.next_job(Duration::ZERO) else { panic!("none") };
        let segment = Segment::new(1, 100, 1, 101);
        scheduler.loaded(&tag, Ok(segment), 10 * MS, Duration::ZERO);
        tags.push(tag);
    }
    let (mut calls, mut missing, mut retries) = (Vec::<Call>::new(), 0, 0);
    let mut now = Duration::ZERO;
    while now < 120 * SECOND {
        for tag in &tags {
            let is_taken = tag.engine.try_take().is_ok();
            let is_known = now > 40 * SECOND;
            missing += u64::from(!is_taken && &*tag.name == "well" && is_known);
            if !is_taken {
                tag.engine.request_maintenance();
            }
        }
        scheduler.run_due(&requests, now);
        let takes = |call: &Call| match &call.job {
            Job::Load { tag, .. } if &*tag.name == "well" => 10 * MS,
            _ => 2 * SECOND,
        };
        while let Some(due) = calls.iter().position(|call| now >= call.since + takes(call)) {
            let Call { job: Job::Load { tag, count, .. }, since } = calls.remove(due) else {
                panic!("nothing ends")
            };
            let result = if &*tag.name == "well" {
                let (first, count) = (tag.engine.loaded.get() + 1, count.unwrap());
                Ok(Segment { step: 100, ..Segment::new(first, count, 1, first + count) })
            } else {
                retries += 1;
                Err(StorageError::Locked { what: "the rows".to_owned(), waited: SECOND }.into())
            };
            scheduler.loaded(&tag, result, now - since, now);
        }
        while let Some(job) = scheduler.next_job(now) {
            calls.push(Call { job, since: now });
        }
        scheduler.take_wake_ups().wake_takers();
        now += 10 * MS;
    }
    (missing, retries)
}

#[test]
fn a_tag_gets_its_numbers_ahead_while_others_wait_for_rows_that_are_held() {
    for loads in [2, 4, 5] {
        let (missing, retries) = take_while_rows_are_held(loads);
        assert_eq!(missing, 0, "with {loads} loads at once");
        // The others are tried again all the time, in half of the slots.
        assert!(retries as usize >= 40 * (loads / 2), "{retries} with {loads} loads at once");
    }
    // The only slot is free in between.
    assert!(take_while_rows_are_held(1).1 >= 20);
}
