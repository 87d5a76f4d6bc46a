//! What an operator hears of a lent worker id whose store is away for a while: each change of state
//! once, in order.

use std::thread;
use std::time::{Duration, Instant};

use crate::alone::alone;
use crate::observer::EVENTS;
use crate::store_away::lose_the_store;

fn names() -> Vec<&'static str> {
    let events = EVENTS.lock().unwrap();
    events.iter().map(|event| event.name).filter(|name| *name != "worker_renewed").collect()
}

fn wait_until(is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}", EVENTS.lock().unwrap());
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn each_change_of_a_loan_is_told_once() {
    alone("loan_events::each_change_of_a_loan_is_told_once", || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let worker = lose_the_store(&file, 15, |worker| worker.status().failed_renewals >= 3);
        wait_until(|| names().contains(&"worker_renewed_again"));
        worker.close().unwrap();
        let renewed = ["worker_lent", "worker_not_renewed", "worker_renewed_again"];
        let told = [&renewed[..], &["worker_returned"]].concat();
        wait_until(|| names().ends_with(&["worker_returned"]));
        assert!(names().ends_with(&told), "{:?}", names());

        let worker = lose_the_store(&file, 2, |worker| !worker.is_held());
        wait_until(|| names().ends_with(&["worker_lost"]));
        assert!(worker.close().is_err());
        let lost = ["worker_lent", "worker_not_renewed", "worker_about_to_be_lost", "worker_lost"];
        let names = names();
        let since = names.iter().rposition(|name| *name == "worker_lent").unwrap();
        assert_eq!(names[since..], lost);
    });
}
