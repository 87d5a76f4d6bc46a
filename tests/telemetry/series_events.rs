//! What an operator hears of series: that the numbers of a period come to an end, and what becomes
//! of scopes that rest.

use std::time::Duration;

use uidring::Store;
use uidring::series::{Series, SeriesDefinition};

use crate::alone::alone;
use crate::observer::EVENTS;
use crate::rows::wait_for;

#[test]
fn a_period_that_is_nearly_full_is_told_once() {
    alone("series_events::a_period_that_is_nearly_full_is_told_once", || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("uidring.db")).unwrap();
        let rest = Duration::from_millis(50);
        let series = Series::builder().store(&store).rest(rest).build().unwrap();
        let definition = SeriesDefinition::new("{scope}-{n:2}").unwrap().step(1);
        let tickets = series.create("tickets", definition).unwrap();
        let (hall, other) = (tickets.scope("hall"), tickets.scope("other"));
        assert!(hall.take_n(99).all(|number| number.is_ok()));
        assert!(other.take_n(5).all(|number| number.is_ok()));
        let told = || -> Vec<_> {
            let events = EVENTS.lock().unwrap();
            let fields = |event: &crate::observer::Event| (event.name, event.fields.clone());
            events.iter().map(fields).filter(|(name, _)| *name == "tag_nearly_full").collect()
        };
        wait_for("event", || !told().is_empty());
        let [(_, fields)] = &told()[..] else { panic!("{:?}", told()) };
        assert!(fields.contains("tag=\"tickets/1/ever/hall\""), "{fields}");
        assert!(fields.ends_with("largest=99 "), "{fields}");
        // Scopes that rest end without a word, and nothing of them fails.
        let last = |scope: &str| {
            let counters = tickets.counters().unwrap();
            counters.iter().find(|counter| counter.scope == scope).unwrap().last
        };
        wait_for("rest", || last("other") == 5);
        drop((tickets, hall, other));
        series.shutdown().unwrap();
        let names: Vec<_> = EVENTS.lock().unwrap().iter().map(|event| event.name).collect();
        let usual = ["segments_started", "segments_stopped", "tag_nearly_full", "tag_ran_out"];
        assert!(names.iter().all(|name| usual.contains(name)), "{names:?}");
    });
}
