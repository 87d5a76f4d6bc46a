//! A store that nobody has used before is told as a warning, by whatever it is used for.

use tracing::Level;
use uidring::segment::{Segments, Tag};
use uidring::series::{Series, SeriesDefinition};
use uidring::{Store, UidGenerator};

use crate::alone::alone;
use crate::observer::EVENTS;

fn told() -> usize {
    let events = EVENTS.lock().unwrap();
    let new: Vec<_> = events.iter().filter(|event| event.name == "new_store").collect();
    let start = format!("{} nothing was taken from this store before", Level::WARN);
    assert!(new.iter().all(|event| event.text.contains(&start)), "{new:?}");
    new.len()
}

#[test]
fn a_store_that_is_new_is_told_once() {
    alone("new_store::a_store_that_is_new_is_told_once", || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let uids = |store: &Store| {
            let registry = store.registry().unwrap();
            UidGenerator::builder().registry(registry).build().unwrap().take().unwrap();
        };
        let tags = |store: &Store| {
            let segments = Segments::builder().source(store.segments().unwrap()).build().unwrap();
            segments.create("orders", Tag::new()).unwrap().take().unwrap();
        };
        let series = |store: &Store| {
            let series = Series::builder().store(store).build().unwrap();
            let definition = SeriesDefinition::new("{n:6}").unwrap();
            series.create("orders", definition).unwrap().take().unwrap();
        };
        let uses: [&dyn Fn(&Store); 3] = [&uids, &tags, &series];
        for (index, first) in uses.iter().enumerate() {
            let open = || Store::open(folder.path().join(format!("{index}.db"))).unwrap();
            let store = open();
            first(&store);
            assert_eq!(told(), index + 1);
            // The same store, in this process and in the next one.
            for store in [store, open()] {
                first(&store);
                assert_eq!(told(), index + 1);
            }
        }
        // Nobody has taken a worker id from the file that was made for tags.
        uids(&Store::open(folder.path().join("1.db")).unwrap());
        assert_eq!(told(), 4);
    });
}
