//! The thread that records the rates and checks the health, once a second.

use std::thread;
use std::time::Instant;

use crate::app::App;
use crate::app::health::Observer;
use crate::app::tags;
use crate::process::end::EndSender;
use crate::process::threads;
use crate::stats::rates::{STEP, Totals, rate};

/// How many seconds lie between two counts of all tags. The rate of a tag covers one or two such
/// intervals.
const TAG_STEPS: u32 = 10;

/// Starts the thread that measures.
pub(crate) fn begin(app: &'static App, end: &EndSender) -> Result<(), String> {
    let measure = || {
        let (mut before, mut since) = (Totals::of(&app.counters), Instant::now());
        let mut observer = Observer::new();
        loop {
            for _ in 0..TAG_STEPS {
                thread::sleep(STEP);
                observer.log_changes(app);
                let (now, took) = (Totals::of(&app.counters), since.elapsed());
                app.watch.rates.push(rate(before, now, took));
                (before, since) = (now, since + took);
            }
            app.watch.tag_rates.push(since, tags::counts(app));
            app.watch.series_rates.push(since, app.series.counts());
        }
    };
    threads::begin("uidring-rates", end, measure).map(drop)
}
