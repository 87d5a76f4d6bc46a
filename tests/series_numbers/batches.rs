//! Batches: what so many takes of one thread would get.

use std::collections::BTreeSet;
use std::thread;

use proptest::prelude::*;
use uidring::series::{SeriesGenerator, SeriesNumber};

use super::{clock, definition, file, series, texts, time};

fn values(numbers: &[SeriesNumber]) -> Vec<u64> {
    numbers.iter().map(SeriesNumber::value).collect()
}

/// Those of a fresh year with two digits, in one batch and in some.
#[test]
fn a_batch_passes_no_number_over_and_is_shorter_only_at_the_end() {
    for sizes in [&[99][..], &[98, 1], &[40, 40, 19], &[50; 2], &[150], &[10, 200]] {
        let (_folder, store) = file();
        let series = series(&store, &clock("2026-11-24T12:00:00Z"));
        let invoices = series.create("invoices", definition("{yyyy}-{n:2}")).unwrap();
        let mut next = 1;
        for &size in sizes {
            let taken = values(&invoices.take_batch(size).unwrap());
            let end = (next + size as u64).min(100);
            assert_eq!(taken, (next..end).collect::<Vec<_>>(), "{sizes:?}");
            next = end;
        }
        assert!(invoices.take_batch(1).is_err());
    }
}

#[test]
fn a_take_goes_on_behind_a_batch_of_any_kind() {
    let (_folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let day = "2026-03-01".parse().unwrap();
    let orders = series.create("orders", definition("{yyyy}-{n:5}")).unwrap();
    let mut all = values(&[orders.take().unwrap()]);
    all.extend(values(&orders.take_batch(150).unwrap()));
    all.extend(values(&[orders.take().unwrap()]));
    all.extend(values(&orders.take_n_for(day, 1000).unwrap()));
    all.extend(values(&[orders.take_for(day).unwrap()]));
    let some = orders.try_take_batch(5000).unwrap();
    all.extend(values(&orders.rest_of(some, 5000).unwrap()));
    all.extend(values(&[orders.take().unwrap()]));
    assert_eq!(all, (1..=1 + 150 + 1 + 1000 + 1 + 5000 + 1).collect::<Vec<_>>());
}

/// Where loads are small, because the period is nearly over.
#[test]
fn a_batch_in_the_last_second_of_a_period_is_whole() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:59:59.500Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n:9}")).unwrap();
    let all = values(&orders.take_batch(200_000).unwrap());
    assert_eq!(all, (1..=200_000).collect::<Vec<_>>());
    // Those of takes bring one number each by now.
    let loads = orders.status().numbers.unwrap().loads;
    assert!(loads < 1000, "{loads}");
}

/// What is in memory of a day that has just ended comes before what the store gives.
#[test]
fn the_rest_of_a_day_is_taken_first_when_it_is_over() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n:4}")).unwrap();
    let yesterday = "2026-11-24".parse().unwrap();
    assert_eq!(orders.take().unwrap().value(), 1);
    clock.set(time("2026-11-25T00:00:01Z"));
    assert_eq!(values(&orders.take_n_for(yesterday, 300).unwrap()), (2..=301).collect::<Vec<_>>());
    assert_eq!(orders.take_for(yesterday).unwrap().value(), 302);
    assert_eq!(texts(orders.take_n(2)), ["20261125-0001", "20261125-0002"]);
    assert_eq!(values(&orders.take_n_for(yesterday, 3).unwrap()), [303, 304, 305]);
}

/// All numbers of a period are given, each once, whoever takes how many at a time.
#[test]
fn threads_leave_no_number_out() {
    let (_folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let orders = series.create("orders", definition("{yyyy}-{n:4}")).unwrap();
    let take = |orders: SeriesGenerator, size: usize| {
        let mut all = Vec::new();
        while let Ok(numbers) = orders.take_batch(size) {
            assert!(numbers.is_sorted_by(|one, other| one.value() < other.value()));
            assert!(all.last() < numbers.first().map(SeriesNumber::value).as_ref());
            all.extend(values(&numbers));
        }
        all
    };
    let mut all: Vec<u64> = thread::scope(|scope| {
        let takers: Vec<_> = [1, 7, 70, 700]
            .map(|size| {
                scope.spawn({
                    let orders = orders.clone();
                    move || take(orders, size)
                })
            })
            .into();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert_eq!(all, (1..=9999).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any mixture of takes and batches, in any step, ends with the same numbers.
    #[test]
    fn any_mixture_gives_the_numbers_of_takes(
        step in 1_u64..40,
        sizes in prop::collection::vec((0_u8..5, 1_usize..90), 1..20),
    ) {
        let (_folder, store) = file();
        let series = series(&store, &clock("2026-11-24T12:00:00Z"));
        let orders = series.create("orders", definition("{yyyy}-{n:3}").step(step)).unwrap();
        let today = "2026-11-24".parse().unwrap();
        let mut all = Vec::new();
        for (kind, size) in sizes {
            let taken = match kind {
                0 => orders.take_batch(size),
                1 => orders.take_n_for(today, size as u64),
                2 => orders.take_for(today).map(|number| vec![number]),
                3 => orders.try_take_batch(size).or_else(|_| orders.take_batch(size)),
                _ => orders.take_n(size).collect(),
            };
            match taken {
                Ok(numbers) => all.extend(values(&numbers)),
                // The end, of which several takes tell when they have some.
                Err(_) => break,
            }
        }
        let different: BTreeSet<u64> = all.iter().copied().collect();
        prop_assert_eq!(different.len(), all.len());
        prop_assert_eq!(all, (1..=different.len() as u64).collect::<Vec<_>>());
    }
}
