//! The shapes that a take could have, beside the one that it has: what a taker must read beside the
//! add, and when it reads it.
//!
//! * `fetch_add`: the add alone, the least that any shared counter costs.
//! * `read a word, then claim`: one word is read before the add. A taker that reads anything does
//!   this much.
//! * `read a range, then claim`: end and origin of the ready range are read before the add. The
//!   ticket's tick is then worked out while other threads wait for the next claim; what that needs
//!   of the layout is read after the claim.
//! * `read a range and the layout, then claim`: what `take` does. Nothing is read after the add.
//! * `read a slot, then claim`: the front says which slot (stamp, word, stamp). One call in each
//!   block takes the slow path.
//! * `claim, then read a slot`: the add comes first, then the slot of the ticket.
//!
//! Only the fast path is measured: nothing refills, and each ticket lies in the block at the front.
//! Shapes take turns in slices of 200,000 calls. Threads are pinned, and start each slice on a
//! barrier. The benchmark prints the speed of each shape as a share of that of `fetch_add` in the
//! same round: the median of the rounds, and their quartiles.
//!
//! ```text
//! cargo bench -p uidring-benches --bench shapes
//! cargo bench -p uidring-benches --bench shapes -- --threads 1,2 --rounds 300
//! ```

#![allow(clippy::panic, clippy::unwrap_used)] // a panic says where the benchmark failed

mod turns;

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use crossbeam_utils::CachePadded;
use turns::Turns;

/// Calls in a slice.
const SLICE: u64 = 200_000;
const SLOTS: usize = 8;
/// The first UID. It has zeros where the ticket's place goes, like a base of the ring.
const BASE: u64 = 1 << 50;
/// The block lasts for all slices.
const SHIFT: u32 = 48;
/// The widths of the sequence and of the worker id, for the shapes that use them.
const SEQUENCE_BITS: u32 = 13;
const WORKER_BITS: u32 = 20;

/// The front, as in the ring.
struct Front {
    end: AtomicU64,
    origin: AtomicU64,
}

/// One block, as in the ring.
struct Slot {
    stamp: AtomicU64,
    word: AtomicU64,
}

struct Shape {
    cursor: CachePadded<AtomicU64>,
    front: CachePadded<Front>,
    /// Which slot is at the front.
    block: CachePadded<AtomicU64>,
    slots: Box<[CachePadded<Slot>]>,
    max_offset: u64,
    max_sequence: u64,
    worker_bits: u32,
}

/// What a read of a slot finds: stamp and word, and whether they belong together.
type SlotRead = (u64, u64, bool);

impl Slot {
    fn new() -> CachePadded<Slot> {
        CachePadded::new(Slot { stamp: AtomicU64::new(0), word: AtomicU64::new(BASE) })
    }

    #[inline]
    fn read(&self) -> SlotRead {
        let stamp = self.stamp.load(Ordering::Acquire);
        let word = self.word.load(Ordering::Acquire);
        (stamp, word, self.stamp.load(Ordering::Relaxed) == stamp)
    }
}

impl Shape {
    fn new() -> Shape {
        Shape {
            // Not 0: the shapes that read a slot do not hand out ticket 0.
            cursor: CachePadded::new(AtomicU64::new(1)),
            front: CachePadded::new(Front {
                end: AtomicU64::new(1 << SHIFT),
                origin: AtomicU64::new(BASE),
            }),
            block: CachePadded::default(),
            slots: (0..SLOTS).map(|_| Slot::new()).collect(),
            max_offset: (1 << SHIFT) - 1,
            max_sequence: (1 << SEQUENCE_BITS) - 1,
            worker_bits: WORKER_BITS,
        }
    }

    #[inline]
    fn claim(&self) -> u64 {
        self.cursor.fetch_add(1, Ordering::Relaxed)
    }

    #[inline]
    fn slot(&self, block: u64) -> &Slot {
        #[allow(clippy::cast_possible_truncation)]
        &self.slots[block as usize & (self.slots.len() - 1)]
    }

    /// The ticket's UID, if the slot that was read holds its block.
    #[inline]
    fn uid(&self, ticket: u64, (stamp, word, is_steady): SlotRead) -> u64 {
        let offset = ticket.wrapping_sub(stamp);
        if offset.wrapping_sub(1) < self.max_offset && is_steady {
            word & (u64::MAX >> 1) | offset
        } else {
            missed(ticket)
        }
    }

    #[inline]
    fn word_then_claim(&self) -> u64 {
        let stamp = self.block.load(Ordering::Relaxed);
        let ticket = self.claim();
        self.uid(ticket, (stamp, BASE, true))
    }

    /// End and origin.
    #[inline]
    fn range(&self) -> (u64, u64) {
        let end = self.front.end.load(Ordering::Acquire);
        (end, self.front.origin.load(Ordering::Acquire))
    }

    #[inline]
    fn range_then_claim(&self) -> u64 {
        let (end, origin) = self.range();
        let ticket = self.claim();
        if ticket < end {
            let base = origin.wrapping_add((ticket & !self.max_sequence) << self.worker_bits);
            base | ticket & self.max_sequence
        } else {
            missed(ticket)
        }
    }

    #[inline]
    fn range_and_layout_then_claim(&self) -> u64 {
        let (end, origin) = self.range();
        let Shape { max_sequence, worker_bits, .. } = *self;
        let ticket = self.claim();
        if ticket < end {
            let ticks = (ticket & !max_sequence) << worker_bits;
            ticks.wrapping_add(origin.wrapping_add(ticket & max_sequence))
        } else {
            missed(ticket)
        }
    }

    #[inline]
    fn slot_then_claim(&self) -> u64 {
        let read = self.slot(self.block.load(Ordering::Relaxed)).read();
        self.uid(self.claim(), read)
    }

    #[inline]
    fn claim_then_slot(&self) -> u64 {
        let ticket = self.claim();
        self.uid(ticket, self.slot(ticket >> SHIFT).read())
    }
}

#[cold]
#[inline(never)]
fn missed(ticket: u64) -> u64 {
    panic!("ticket {ticket} is not of the block at the front")
}

/// One slice of one thread. Returns the last number.
type Slice = fn(&Shape) -> u64;

/// Each number is larger than the one before.
#[inline]
fn slice(mut take: impl FnMut() -> u64) -> u64 {
    (0..SLICE).fold(0, |last, _| {
        let number = black_box(take());
        debug_assert!(number > last);
        number
    })
}

const SHAPES: [(&str, Slice); 6] = [
    ("fetch_add", |shape| slice(|| shape.claim())),
    ("read a word, then claim", |shape| slice(|| shape.word_then_claim())),
    ("read a range, then claim", |shape| slice(|| shape.range_then_claim())),
    ("read a range and the layout, then claim", |shape| {
        slice(|| shape.range_and_layout_then_claim())
    }),
    ("read a slot, then claim", |shape| slice(|| shape.slot_then_claim())),
    ("claim, then read a slot", |shape| slice(|| shape.claim_then_slot())),
];

/// How long each round of each shape took, in seconds.
fn measure(threads: usize, rounds: usize) -> Vec<Vec<f64>> {
    let shapes: Vec<Shape> = SHAPES.iter().map(|_| Shape::new()).collect();
    let start = Barrier::new(threads);
    let body = |thread: usize| {
        turns::pin(thread);
        let mut times = vec![Vec::new(); SHAPES.len()];
        for round in 0..rounds {
            for place in 0..SHAPES.len() {
                // The order is a circle that begins elsewhere in each round.
                let index = (round + place) % SHAPES.len();
                start.wait();
                let begin = Instant::now();
                let last = SHAPES[index].1(&shapes[index]);
                times[index].push((begin, Instant::now()));
                assert!(last & (BASE - 1) >= SLICE * (round as u64 + 1));
            }
        }
        times
    };
    let all: Vec<Vec<Vec<(Instant, Instant)>>> = thread::scope(|scope| {
        let body = &body;
        let running: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || body(thread))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let taken = SLICE * (rounds * threads) as u64 + 1;
    for shape in &shapes {
        assert_eq!(shape.cursor.load(Ordering::Relaxed), taken, "each call has claimed one ticket");
    }
    let seconds = |shape: usize, round: usize| {
        let of = || all.iter().map(|thread| thread[shape][round]);
        (of().map(|(_, end)| end).max().unwrap() - of().map(|(begin, _)| begin).min().unwrap())
            .as_secs_f64()
    };
    (0..SHAPES.len())
        .map(|shape| (0..rounds).map(|round| seconds(shape, round)).collect())
        .collect()
}

fn main() {
    let Turns { threads, rounds } = Turns::from_env(200);
    println!("| threads | shape | of fetch_add | quartiles |");
    println!("|---:|---|---:|---:|");
    for threads in threads {
        let times = measure(threads, rounds);
        for ((name, _), own) in SHAPES.iter().zip(&times).skip(1) {
            let mut shares: Vec<f64> =
                times[0].iter().zip(own).map(|(least, own)| least / own).collect();
            shares.sort_unstable_by(f64::total_cmp);
            let at = |quarter: usize| shares[(shares.len() - 1) * quarter / 4];
            println!("| {threads} | {name} | {:.2} | {:.2} to {:.2} |", at(2), at(1), at(3));
        }
    }
}
