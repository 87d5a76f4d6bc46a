//! The metrics of a pool say how its ids are used, and count the renewals that failed.

use uidring::Store;
use uidring::lend::LendOptions;

use crate::alone::alone;
use crate::recorder::Keeping;
use crate::store_away::lose_the_store;

#[test]
fn the_metrics_of_a_pool_say_how_its_ids_are_used() {
    alone("loan_metrics::the_metrics_of_a_pool_say_how_its_ids_are_used", || {
        let recorder = Keeping::install();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let show = |name: &str| {
            let values = recorder.values(&["pool", "store"]).into_iter();
            let mut values =
                values.filter(|((found, _), _)| *found == format!("uidring_pool_{name}"));
            let ((_, labels), value) = values.next()?;
            assert_eq!(labels, ["shop", file.to_str().unwrap()]);
            Some(value)
        };
        let used = || ["held", "resting", "free"].map(|name| show(&format!("{name}_ids")));
        let pool = Store::open(&file).unwrap().worker_pool("shop", 4).unwrap();
        assert_eq!(used(), [None; 3]);
        pool.lend(LendOptions::new()).unwrap().close().unwrap();
        assert_eq!(show("renewal_failures_total"), None);
        let kept = lose_the_store(&file, 15, |worker| worker.status().failed_renewals >= 2);
        // They are shown when somebody counts.
        pool.counts().unwrap();
        assert_eq!(used(), [Some(1.0), Some(1.0), Some(13.0)]);
        kept.close().unwrap();
        let failed = show("renewal_failures_total");
        assert!(failed.is_some_and(|failed| failed >= 2.0), "{failed:?}");
    });
}
