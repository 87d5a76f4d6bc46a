//! What a number of a series allocates. One test, since the counts are those of the whole process.

use stats_alloc::Region;
use uidring::series::Pattern;

use crate::MEMORY;
use crate::alone::alone;

#[test]
fn a_number_is_written_with_one_allocation() {
    alone("series::a_number_is_written_with_one_allocation", || {
        let date = "2026-11-24".parse().unwrap();
        for (text, scope) in [
            ("SO{yyyy}{MM}{dd}-{n:6}", None),
            ("{scope}-{GGGG}W{ww}-{n}{check:mod97_10}", Some("shop-7")),
            ("{yy}{DDD}Q-{n:18}{check:damm}", None),
        ] {
            let pattern: Pattern = text.parse().unwrap();
            let numbers = Region::new(MEMORY);
            for number in 0..10_000 {
                let written = pattern.format(date, scope, number).unwrap();
                assert_eq!(written.capacity(), written.len());
            }
            // The thread that waits for the test may allocate a little as well.
            let change = numbers.change();
            assert!((10_000..10_100).contains(&change.allocations), "{text}: {change:?}");
            assert!(change.reallocations < 100, "{text}: {change:?}");
        }
    });
}
