//! Exact time: takers read the clock while it goes on, and goes back.

use super::*;

#[test]
fn each_uid_is_of_the_tick_of_its_take() {
    let clock = Ticks::new();
    let uids = builder(1, &clock).exact_time().build().unwrap();
    let take = || {
        many(5, || {
            let before = clock.get();
            let uid = uids.take()?;
            let tick = tick_of(&uids, uid);
            assert!((before..=clock.get()).contains(&tick), "{tick} from {before} on");
            Ok::<_, uidring::TakeError>(uid)
        })
    };
    let taken = thread::scope(|scope| {
        let takers = [scope.spawn(take), scope.spawn(take)];
        clock.run_until(|| takers.iter().all(|taker| taker.is_finished()));
        takers.map(|taker| taker.join().unwrap())
    });
    checked(&taken);
}

#[test]
fn the_clock_goes_back_while_threads_take() {
    let clock = Ticks::new();
    let uids = builder(1, &clock).exact_time().max_lead(2 * TICK).build().unwrap();
    let newest = Newest::default();
    let take = || many(5, || newest.before(|| uids.take(), |uid| uid.unwrap().get()));
    let taken = thread::scope(|scope| {
        let takers = [scope.spawn(take), scope.spawn(take)];
        thread::sleep(TICK);
        clock.rewind(4);
        clock.run_until(|| takers.iter().all(|taker| taker.is_finished()));
        takers.map(|taker| taker.join().unwrap())
    });
    checked(&taken);
}
