//! What it costs to mask a UID and to unmask it, one by one and many at once, and the same for
//! opaque ids. Each result is checked.

#![allow(clippy::unwrap_used)] // a panic says where the benchmark failed

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use uidring::Uid;
use uidring::masked::{Key, Masked, Opaque};

/// UIDs that are masked at once.
const MANY: usize = 1024;

fn uids() -> Vec<Uid> {
    (0..MANY as u64).map(|at| Uid::new(240_510_429_044_957_184 + at).unwrap()).collect()
}

fn masked(criterion: &mut Criterion) {
    let masked = Masked::new(&Key::from([7; 32]));
    let uids = uids();
    let public = masked.mask_all(&uids);
    let mut group = criterion.benchmark_group("masked");
    let mut at = 0;
    group.bench_function("mask", |bencher| {
        bencher.iter(|| {
            at = (at + 1) % MANY;
            let found = masked.mask(black_box(uids[at]));
            assert_eq!(found, public[at]);
        });
    });
    group.bench_function("unmask", |bencher| {
        bencher.iter(|| {
            at = (at + 1) % MANY;
            let found = masked.unmask(black_box(public[at]));
            assert_eq!(found, Ok(uids[at]));
        });
    });
    group.throughput(Throughput::Elements(MANY as u64));
    group.bench_function("mask_all, 1,024", |bencher| {
        bencher.iter(|| assert_eq!(masked.mask_all(black_box(&uids)), public));
    });
    group.finish();
}

fn opaque(criterion: &mut Criterion) {
    let opaque = Opaque::new(&Key::from([7; 32]), "ord");
    let uids = uids();
    let texts: Vec<String> = uids.iter().map(|&uid| opaque.encode(uid).to_string()).collect();
    let mut group = criterion.benchmark_group("opaque");
    let mut at = 0;
    group.bench_function("encode", |bencher| {
        bencher.iter(|| {
            at = (at + 1) % MANY;
            let found = opaque.encode(black_box(uids[at]));
            assert_eq!(found.digits().as_bytes()[..8], texts[at].as_bytes()[4..12]);
        });
    });
    group.bench_function("encode, as a String", |bencher| {
        bencher.iter(|| {
            at = (at + 1) % MANY;
            let found = opaque.encode(black_box(uids[at])).to_string();
            assert_eq!(found, texts[at]);
        });
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| {
            at = (at + 1) % MANY;
            let found = opaque.decode(black_box(&texts[at]));
            assert_eq!(found, Ok(uids[at]));
        });
    });
    group.finish();
}

criterion_group!(benches, masked, opaque);
criterion_main!(benches);
