//! UIDs spread over shards by their remainders.

use super::*;

#[test]
fn uids_of_a_quiet_service_spread_over_any_number_of_shards() {
    let layout = Layout::DEFAULT;
    let mut world = World::new(Settings { layout, start: layout.epoch() + YEAR, ..settings() });
    let mut uids = Vec::new();
    for _ in 0..50_000 {
        world.pass(SECOND);
        uids.push(world.take().unwrap().get());
    }
    let plain: Vec<u64> = uids.iter().map(|&uid| uid & !layout.max_sequence()).collect();
    let mut plain_failures = 0;
    for n in 2..=1024 {
        assert!(is_uniform(&uids, n), "uid % {n}");
        plain_failures += u32::from(!is_uniform(&plain, n));
    }
    assert!(
        plain_failures >= 512,
        "the test can fail: it refuses sequences that begin at 0 for {plain_failures} of 1023"
    );
}

/// The UIDs of `takes` takes, `rate` a second, each at some moment of its share of the time.
fn at_rate(settings: Settings, rate: f64, takes: u32) -> Vec<u64> {
    let mut world = World::new(settings);
    let mut rng = fastrand::Rng::with_seed(7);
    // A take when its time has come, looked at every millisecond at most.
    let mut passed = Duration::ZERO;
    let mut take = |nth: u32| {
        let due = Duration::from_secs_f64((f64::from(nth) + rng.f64()) / rate);
        if due > passed + Duration::from_millis(1) {
            world.pass(due - passed);
            passed = due;
        }
        world.take().unwrap().get()
    };
    (0..takes).map(&mut take).collect()
}

fn spread_over_shards(layout: Layout, rates: &[(f64, u32)]) {
    for &(rate, takes) in rates {
        // Blocks of a quiet service with short ticks begin when the filler runs, each half second.
        // So their bases have one remainder by 1000, and 4,096 offsets are not a multiple of it.
        let is_even = layout.tick() == SECOND || rate > 1_000.0;
        let start = layout.epoch() + YEAR;
        let uids = at_rate(Settings { layout, start, ..settings() }, rate, takes);
        check_shards(&uids, if is_even { &[2, 8, 64, 1000] } else { &[2, 8, 64] });
    }
}

#[test]
fn uids_of_any_rate_spread_over_shards() {
    let rates = [
        (1.0 / 3600.0, 40),
        (1.0 / 60.0, 5_000),
        (10.0, 50_000),
        (700.0, 100_000),
        (1_100.0, 100_000),
        (3_001.0, 100_000),
        (8_000.0, 100_000),
        (8_192.0, 100_000),
    ];
    spread_over_shards(Layout::DEFAULT, &rates);
}

#[test]
fn uids_of_any_rate_with_short_ticks_spread_over_shards() {
    let rates = [
        (1.0, 50_000),
        (999.0, 100_000),
        (100_000.0, 100_000),
        (600_000.0, 100_000),
        (3_001_000.0, 100_000),
        (4_096_000.0, 100_000),
    ];
    spread_over_shards(Layout::TWITTER, &rates);
    spread_over_shards(Layout::SEATA, &[(1.0, 50_000), (600_000.0, 100_000)]);
}

#[test]
fn uids_of_exact_time_spread_over_shards_at_any_rate() {
    for (layout, rate, takes) in [
        // With the feature `metrics` the filler runs each second, so few takes are a long test.
        (Layout::TWITTER, 1.0 / 3600.0, 400),
        (Layout::TWITTER, 1.0 / 60.0, 5_000),
        (Layout::TWITTER, 1.0, 30_000),
        (Layout::TWITTER, 8.0, 30_000),
        (Layout::TWITTER, 999.0, 30_000),
        (Layout::TWITTER, 1_000.0, 30_000),
        (Layout::TWITTER, 3_000.0, 30_000),
        (Layout::TWITTER, 100_000.0, 30_000),
        (Layout::TWITTER, 600_000.0, 50_000),
        (Layout::TWITTER, 3_001_000.0, 100_000),
        (Layout::SEATA, 1.0, 30_000),
        (Layout::SEATA, 600_000.0, 50_000),
        (Layout::DEFAULT, 1.0, 30_000),
        (Layout::DEFAULT, 3_001.0, 30_000),
    ] {
        let settings = Settings {
            layout,
            start: layout.epoch() + YEAR,
            policy: LeadLimit::Wait,
            // A take that comes a moment before a tick's end goes on in the next one.
            max_lead: layout.tick(),
            is_exact: true,
            ..settings()
        };
        check_shards(&at_rate(settings, rate, takes), &[2, 8, 64, 1000]);
    }
}

#[track_caller]
fn check_shards(uids: &[u64], numbers: &[u64]) {
    for &n in numbers {
        // With fewer than five UIDs for each remainder, the approximation is too coarse.
        assert!((uids.len() as u64) < 5 * n || is_uniform(uids, n), "uid % {n}");
    }
}

/// Pearson's chi-square test of `uid % n` at a level of 10^-7, with the Wilson-Hilferty
/// approximation of the quantile.
#[allow(clippy::cast_precision_loss)]
fn is_uniform(uids: &[u64], n: u64) -> bool {
    let mut counts = vec![0u32; n as usize];
    for uid in uids {
        counts[(uid % n) as usize] += 1;
    }
    let expected = uids.len() as f64 / n as f64;
    let statistic: f64 =
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    let freedom = (n - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    statistic <= freedom * (1.0 - spread + 5.2 * spread.sqrt()).powi(3)
}
