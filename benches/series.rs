//! What a number of a series costs: a fast one from memory, and a gapless one in a transaction of
//! SQLite, beside what they consist of. Each result is checked.

#![allow(clippy::unwrap_used)] // a panic says where the benchmark failed

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use rusqlite::{Connection, TransactionBehavior};
use uidring::Store;
use uidring::clock::{Clock, SystemClock};
use uidring::segment::{Segments, Tag};
use uidring::series::{Series, SeriesDefinition, SeriesGenerator};

/// So many numbers at a time that loads do not count.
const STEP: u64 = 1_000_000;

fn create(series: &Series, name: &str, pattern: &str) -> SeriesGenerator {
    let definition = SeriesDefinition::new(pattern).unwrap().step(STEP);
    series.create(name, definition).unwrap()
}

fn fast(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("uidring.db")).unwrap();
    let series = Series::builder().store(&store).build().unwrap();
    let segments = Segments::builder().source(store.segments().unwrap()).build().unwrap();
    let tag = segments.create("orders", Tag::new().step(STEP)).unwrap();
    let mut group = criterion.benchmark_group("series");

    group.bench_function("a take of a segment", |bencher| {
        let mut last = 0;
        bencher.iter(|| {
            let number = tag.take().unwrap().get();
            assert!(number > std::mem::replace(&mut last, number));
        });
    });
    group.bench_function("a reading of the clock", |bencher| {
        bencher.iter(|| black_box(SystemClock.now()));
    });
    for (name, pattern) in
        [("take, of a day", "SO{yyyy}{MM}{dd}-{n:12}"), ("take, for ever", "C{n:12}")]
    {
        let orders = create(&series, &name.replace([' ', ','], "-"), pattern);
        group.bench_function(name, |bencher| {
            let mut last = 0;
            bencher.iter(|| {
                let number = orders.take().unwrap();
                assert!(number.value() > std::mem::replace(&mut last, number.value()));
                number
            });
        });
    }
    let checked = create(&series, "checked", "SO{yyyy}{MM}{dd}-{n:12}{check:damm}");
    group.bench_function("take, with a check digit", |bencher| {
        bencher.iter(|| checked.take().unwrap());
    });
    let scoped = create(&series, "scoped", "{scope}/{yyyy}{MM}{dd}-{n:12}");
    group.bench_function("take, of a scope that is looked up", |bencher| {
        bencher.iter(|| scoped.scope(black_box("shop-7")).take().unwrap());
    });
    group.finish();
}

/// How many numbers a batch has.
const BATCH: usize = 1_000;

/// Batches of 1,000 from one thread and from two, beside the texts alone: each is made of twelve
/// digits behind a day that is written already. The time is that of a number of each thread.
fn batches(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("uidring.db")).unwrap();
    let series = Series::builder().store(&store).build().unwrap();
    let orders = create(&series, "batches", "SO{yyyy}{MM}{dd}-{n:12}");
    let texts = || -> Vec<String> {
        (0..BATCH as u64).map(|n| format!("SO20261129-{:012}", black_box(n))).collect()
    };
    let copies = || -> Vec<String> {
        (0..BATCH).map(|_| black_box("SO20261129-000000000001").to_owned()).collect()
    };
    let batch = || orders.take_batch(BATCH).unwrap();
    let mut group = criterion.benchmark_group("series, batches");
    for threads in [1, 2] {
        let mut bench = |name: &str, make: &(dyn Fn() + Sync)| {
            group.bench_function(format!("{name}, {threads} threads"), |bencher| {
                bencher.iter_custom(|times| {
                    let since = Instant::now();
                    std::thread::scope(|scope| {
                        for _ in 0..threads {
                            scope.spawn(|| (0..times).for_each(|_| make()));
                        }
                    });
                    since.elapsed() / u32::try_from(BATCH).unwrap()
                });
            });
        };
        bench("copies of one text", &|| drop(black_box(copies())));
        bench("texts by format!", &|| drop(black_box(texts())));
        bench("take_batch of 1,000", &|| drop(black_box(batch())));
    }
    group.finish();
}

fn gapless(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("uidring.db");
    let store = Store::open(&file).unwrap();
    let series = Series::builder().store(&store).build().unwrap();
    let definition = SeriesDefinition::new("{yyyy}-{n:12}").unwrap().gapless();
    let invoices = series.create("invoices", definition).unwrap();
    let mut db = Connection::open(&file).unwrap();
    db.execute_batch("CREATE TABLE invoice (number TEXT)").unwrap();
    let mut group = criterion.benchmark_group("gapless, SQLite");
    group.sample_size(20);
    for is_counted in [false, true] {
        let name = if is_counted { "a document with a number" } else { "a document" };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut transaction =
                    db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
                let number = is_counted.then(|| invoices.take_in(&mut transaction).unwrap());
                let text = number.as_ref().map_or("2026-000000000001", AsRef::as_ref);
                transaction.execute("INSERT INTO invoice VALUES (?1)", [text]).unwrap();
                transaction.commit().unwrap();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, fast, batches, gapless);
criterion_main!(benches);
