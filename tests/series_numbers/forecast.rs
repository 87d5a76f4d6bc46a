//! When the numbers of a period run out.

use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use uidring::clock::ManualClock;

use super::{definition, file, series};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_forecast_tells_of_each_scope_when_its_numbers_run_out() {
    let (folder, store) = file();
    let begin = SystemTime::now();
    let clock = ManualClock::new(begin);
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{scope}-{n:3}").step(50)).unwrap();
    assert_eq!(orders.forecast().unwrap(), []);
    for scope in ["shop-1", "shop-2"] {
        orders.scope(scope).take().unwrap();
    }
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute("UPDATE uidring_series_counter SET last_number = 900 WHERE scope = 'shop-2'", [])
        .unwrap();
    let now = begin + 2 * HOUR;
    clock.set(now);
    let all = orders.forecast().unwrap();
    let told = all.iter().map(|it| (&*it.scope, it.last, it.given, it.percent(), it.is_tight()));
    let expected = [("shop-1", 50, 50, 5, false), ("shop-2", 900, 900, 90, true)];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    for (forecast, hours) in all.iter().zip([37.96, 0.22]) {
        assert_eq!((forecast.largest, forecast.expected), (999, None));
        // The store has noted the first number by its own clock, a moment after `begin`.
        let until = forecast.full_at.unwrap().duration_since(now).unwrap();
        let least = HOUR.mul_f64(hours * 0.9);
        assert!((least..HOUR.mul_f64(hours) + HOUR / 60).contains(&until), "{until:?}");
    }
}

#[test]
fn a_period_that_is_over_is_told_as_it_ended() {
    let (_folder, store) = file();
    let clock = super::clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n:2}")).unwrap();
    for (day, count) in [("2026-11-20", 9), ("2026-11-22", 5), ("2026-11-30", 99)] {
        orders.take_n_for(day.parse().unwrap(), count).unwrap();
    }
    let told = |forecast: &uidring::series::Forecast| {
        (forecast.period.to_string(), forecast.last, forecast.expected, forecast.full_at)
    };
    let all = orders.forecast().unwrap();
    assert_eq!(
        all.iter().map(told).collect::<Vec<_>>(),
        [("2026-11-22".to_owned(), 5, Some(5), None)]
    );
}
