//! Ten thousand tags in one process: what an idle tag costs, and that nothing is left of it. One
//! test, since the counts are those of the whole process.

use std::thread;
use std::time::Duration;

use stats_alloc::Region;
use uidring::segment::SegmentGenerator;

use crate::alone::alone;
use crate::rows::{Rows, row, wait_for};
use crate::{MEMORY, held, threads};

const TAGS: usize = 10_000;

#[test]
fn an_idle_tag_costs_930_bytes_no_thread_and_no_call() {
    alone("tags::an_idle_tag_costs_930_bytes_no_thread_and_no_call", || {
        let threads_before = threads();
        let names: Vec<String> = (0..TAGS).map(|tag| format!("tag-{tag}")).collect();
        let rows = names.iter().fold(Rows::default(), |rows, name| rows.with(name, row(1000)));
        // What the platform allocates once is not ours.
        drop(rows.segments().tag(&names[0]).unwrap());
        wait_for("end of the first threads", || threads() == threads_before);
        let all = Region::new(MEMORY);

        let segments = rows.segments();
        let tags: Vec<SegmentGenerator> =
            names.iter().map(|name| segments.tag(name).unwrap()).collect();
        for tag in &tags {
            assert_eq!(tag.take().unwrap().get(), 1);
        }
        thread::sleep(Duration::from_millis(50));
        let each = held(&all) / TAGS.cast_signed();
        assert!(each < 930, "{each} bytes a tag");
        assert!(threads() <= threads_before + 1, "{} threads", threads());
        let calls = rows.calls();
        let idle = Region::new(MEMORY);
        thread::sleep(Duration::from_secs(1));
        assert_eq!(rows.calls(), calls);
        assert_eq!(idle.change().allocations, 0, "nothing happens while nobody takes");

        drop((tags, segments));
        assert!(names.iter().all(|name| rows.next(name) == 2), "all was given back");
        wait_for("end of the threads", || threads() == threads_before);
        // The list of generators that a fork visits keeps its capacity.
        drop(rows.segments());
        let left = held(&all);
        assert!(left < 512 * 1024, "{left} bytes are left");
    });
}
