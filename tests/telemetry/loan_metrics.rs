//! The metrics of a pool say how its ids are used, and count the renewals that failed.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use uidring::Store;
use uidring::lend::LendOptions;

use crate::alone::alone;
use crate::recorder::Keeping;

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
        let used = || ["held", "resting", "free"].map(|name| show(&format!("{name}_workers")));
        let pool = Store::open(&file).unwrap().worker_pool("shop", 3).unwrap();
        assert_eq!(used(), [None; 3]);
        let lend = || pool.lend(LendOptions::new().lease(Duration::from_secs(15))).unwrap();
        let (returned, kept) = (lend(), lend());
        returned.close().unwrap();
        // They are shown when somebody counts.
        pool.counts().unwrap();
        assert_eq!(used(), [Some(1.0), Some(1.0), Some(5.0)]);

        assert_eq!(show("renewal_failures_total"), None);
        let away = file.with_extension("away");
        fs::rename(&file, &away).unwrap();
        let since = Instant::now();
        while kept.status().failed_renewals < 2 {
            assert!(since.elapsed() < Duration::from_secs(60), "no renewal fails");
            thread::sleep(Duration::from_millis(10));
        }
        fs::rename(&away, &file).unwrap();
        kept.close().unwrap();
        let failed = show("renewal_failures_total");
        assert!(failed.is_some_and(|failed| failed >= 2.0), "{failed:?}");
    });
}
