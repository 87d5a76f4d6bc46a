//! What stores cost: a start of a generator, a renewal of its lease, a load of a segment, and on a
//! database a gapless number, from the begin of a transaction to its commit.
//!
//! ```sh
//! cargo bench -p uidring-benches --features stores --bench stores -- \
//!     etcd://127.0.0.1:2379/bench postgres://ids@127.0.0.1/ids
//! ```
//!
//! The stores take turns, call by call, so that what else the machine does meets all of them alike.
//! Of each it prints the median and the 99th percentile.
//!
//! With `--starts`, it measures starts alone: one with an id that is given once, the same where the
//! clock is checked, and one with a leased id. `benches/fill-store` makes stores with many ids.

#![allow(clippy::expect_used)] // a bench that cannot go on ends

#[path = "stores/gapless.rs"]
mod gapless;

use std::env;
use std::time::{Duration, Instant, SystemTime};

use gapless::Gapless;
use uidring::registry::{RegistryAdmin, WorkerRegistry};
use uidring::segment::{SegmentSource, Tag};
use uidring::store::{StoreRegistry, StoreSegments};
use uidring::{Layout, RegistryOptions, Store, UidGenerator, registry};

const ROUNDS: usize = 200;
const LEASE: Duration = Duration::from_secs(600);
const LONGEST_JUMP: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

struct Measured {
    name: String,
    registry: StoreRegistry,
    segments: StoreSegments,
    /// Where the store is a database.
    gapless: Option<Gapless>,
    times: [Vec<Duration>; 4],
}

fn main() {
    let addresses = env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    if env::args().any(|argument| argument == "--starts") {
        return starts(addresses.collect());
    }
    let mut stores: Vec<Measured> = addresses.map(|address| open(&address)).collect();
    if stores.is_empty() {
        eprintln!("name the addresses of stores whose contents do not matter");
        return;
    }
    for _ in 0..ROUNDS {
        for store in &mut stores {
            measure(store);
        }
    }
    println!("| ms: median, 99 % | start | renewal | load | gapless number |");
    println!("|---|---|---|---|---|");
    for Measured { name, times, .. } in &mut stores {
        let [start, renewal, load, gapless] = times.each_mut().map(|times| told(times));
        println!("| {name} | {start} | {renewal} | {load} | {gapless} |");
    }
}

fn open(address: &str) -> Measured {
    let store = Store::open(address).expect("an address");
    let registry = store.registry_with(RegistryOptions::new().leased(LEASE)).expect("a registry");
    let segments = store.segments().expect("a source");
    segments.create("bench", &Tag::new()).expect("a tag");
    let gapless = Gapless::open(&store, address);
    Measured { name: store.to_string(), registry, segments, gapless, times: Default::default() }
}

fn measure(store: &mut Measured) {
    let since = Instant::now();
    let uids = UidGenerator::builder().registry(store.registry.clone()).build().expect("a start");
    store.times[0].push(since.elapsed());
    // At the end its id is given back, so that the next start has it again.
    drop(uids);

    let layout = Layout::DEFAULT;
    let now = store.times[0].len() as u64;
    let request = registry::Request::new(layout, now, layout.max_tick());
    let lease = store.registry.assign(&request).expect("a lease");
    let since = Instant::now();
    store.registry.reserve(&lease, lease.last + 1).expect("a renewal");
    store.times[1].push(since.elapsed());
    store.registry.release(&lease, lease.first).expect("an end");

    let since = Instant::now();
    store.segments.load("bench", Some(1000)).expect("a load");
    store.times[2].push(since.elapsed());

    if let Some(gapless) = &mut store.gapless {
        let since = Instant::now();
        gapless.count();
        store.times[3].push(since.elapsed());
    }
}

/// The starts of a store, with the times of each kind.
struct Starts {
    store: Store,
    ids: u64,
    times: [Vec<Duration>; 3],
}

fn starts(addresses: Vec<String>) {
    let open = |address: String| {
        let store = Store::open(address).expect("an address");
        let registry = store.registry().expect("a registry");
        let ids = registry.count_workers(SystemTime::now()).expect("ids").all;
        Starts { store, ids, times: Default::default() }
    };
    let mut stores: Vec<Starts> = addresses.into_iter().map(open).collect();
    for _ in 0..ROUNDS {
        for Starts { store, times, .. } in &mut stores {
            let once = || UidGenerator::builder().registry(store.registry().expect("a registry"));
            let options = RegistryOptions::new().leased(LEASE);
            let leased = store.registry_with(options).expect("a registry");
            let kinds = [
                once(),
                once().max_forward_jump(LONGEST_JUMP),
                UidGenerator::builder().registry(leased),
            ];
            for (kind, times) in kinds.into_iter().zip(times) {
                let since = Instant::now();
                let uids = kind.build().expect("a start");
                times.push(since.elapsed());
                drop(uids);
            }
        }
    }
    println!("| ms: median, 99 % | ids used | start | clock checked | leased |");
    println!("|---|---|---|---|---|");
    for Starts { store, ids, times } in &mut stores {
        let [start, checked, leased] = times.each_mut().map(|times| told(times));
        println!("| {store} | {ids} | {start} | {checked} | {leased} |");
    }
}

fn told(times: &mut [Duration]) -> String {
    if times.is_empty() {
        return String::new();
    }
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let (median, slow) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    format!("{:.1}, {:.1}", ms(median), ms(slow))
}
