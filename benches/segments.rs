//! How long takes wait for a slow database, beside a double buffer as Leaf has it.
//!
//! One tag is taken from at a steady pace, 10 million numbers a second unless `--rate` says
//! otherwise, from a source of which each load takes 50 ms. Printed are the takes that found
//! nothing in memory and had to wait, and their longest wait: in the first ten seconds, and after
//! them. Both sides begin with the row's step of 1,000.
//!
//! `leaf` is the policy of Leaf's `SegmentIDGenImpl`: the next segment is loaded when 10 % of the
//! present one are used, one of twice the size if the present one lasts for less than 15 minutes,
//! up to 1,000,000, and one of half the size if it lasts for more than 30. Where Leaf would answer
//! with an error, here the taker waits.
//!
//! With the feature `http` there is a third line: takes through `HttpSegments`, from a server on
//! this machine in front of the same source.
//!
//! ```text
//! cargo bench -p uidring-benches --bench segments
//! cargo bench -p uidring-benches --bench segments --features http
//! cargo bench -p uidring-benches --bench segments -- --rate 1000000 --seconds 60 --threads 4
//! ```

#![allow(clippy::panic, clippy::unwrap_used)] // a panic says where the benchmark failed

use std::env;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use uidring::segment::{Segment, SegmentError, SegmentSource, Segments, Tag, TagRecord};

const DELAY: Duration = Duration::from_millis(50);
const STEP: u64 = 1000;
/// The time in which waits are expected.
const FIRST: Duration = Duration::from_secs(10);
/// How often a thread takes.
const PACE_MS: u64 = 1;

/// A row that takes its time.
#[derive(Clone, Default)]
struct Row(Arc<(AtomicU64, AtomicU64)>);

impl Row {
    /// The first of `count` numbers.
    fn take(&self, count: u64) -> u64 {
        thread::sleep(DELAY);
        self.0.1.fetch_add(1, Ordering::Relaxed);
        self.0.0.fetch_add(count, Ordering::Relaxed) + 1
    }

    fn loads(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }
}

impl SegmentSource for Row {
    fn name(&self) -> String {
        "a row that takes its time".to_owned()
    }

    fn load(&self, _: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let count = count.unwrap_or(STEP);
        let first = self.take(count);
        let mut segment = Segment::new(first, count, 1, first + count);
        segment.step = STEP;
        Ok(segment)
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(TagRecord::new(tag, 1, STEP, 1))
    }
}

/// Leaf's double buffer.
struct Leaf {
    row: Row,
    buffer: RwLock<Buffer>,
    is_loading: AtomicBool,
    waits: AtomicU64,
    longest_us: AtomicU64,
}

#[derive(Default)]
struct Buffer {
    current: Part,
    next: Option<Part>,
    loaded_at: Option<Instant>,
}

/// One of the two segments.
#[derive(Default)]
struct Part {
    next: AtomicU64,
    end: u64,
    step: u64,
}

impl Leaf {
    const LARGEST: u64 = 1_000_000;
    const DURATION: Duration = Duration::from_secs(15 * 60);

    fn new(row: Row) -> Arc<Leaf> {
        let leaf = Arc::new(Leaf {
            row,
            buffer: RwLock::default(),
            is_loading: AtomicBool::new(false),
            waits: AtomicU64::new(0),
            longest_us: AtomicU64::new(0),
        });
        let first = leaf.row.take(STEP);
        leaf.buffer.write().unwrap().current =
            Part { next: AtomicU64::new(first), end: first + STEP, step: STEP };
        leaf
    }

    fn load(&self) {
        let buffer = self.buffer.read().unwrap();
        let step = buffer.current.step;
        let step = match buffer.loaded_at.map(|at| at.elapsed()) {
            None => STEP,
            Some(lasted) if lasted < Self::DURATION => {
                if step * 2 > Self::LARGEST {
                    step
                } else {
                    step * 2
                }
            }
            Some(lasted) if lasted < 2 * Self::DURATION => step,
            Some(_) => (step / 2).max(STEP),
        };
        drop(buffer);
        let first = self.row.take(step);
        let mut buffer = self.buffer.write().unwrap();
        buffer.next = Some(Part { next: AtomicU64::new(first), end: first + step, step });
        buffer.loaded_at = Some(Instant::now());
        self.is_loading.store(false, Ordering::Release);
    }

    fn take(self: &Arc<Self>) -> u64 {
        let mut since = None;
        loop {
            let buffer = self.buffer.read().unwrap();
            let Part { next, end, step } = &buffer.current;
            let idle = end.saturating_sub(next.load(Ordering::Relaxed));
            if buffer.next.is_none()
                && idle * 10 < step * 9
                && !self.is_loading.swap(true, Ordering::AcqRel)
            {
                let leaf = Arc::clone(self);
                thread::spawn(move || leaf.load());
            }
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number < *end {
                if let Some(since) = since {
                    self.waited(since);
                }
                return number;
            }
            drop(buffer);
            let mut buffer = self.buffer.write().unwrap();
            if buffer.current.next.load(Ordering::Relaxed) < buffer.current.end {
                continue;
            }
            if let Some(next) = buffer.next.take() {
                buffer.current = next;
                continue;
            }
            drop(buffer);
            since.get_or_insert_with(Instant::now);
            thread::sleep(Duration::from_micros(100));
        }
    }

    fn waited(&self, since: Instant) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let us = since.elapsed().as_micros().try_into().unwrap();
        self.longest_us.fetch_max(us, Ordering::Relaxed);
    }

    fn waits(&self) -> (u64, Duration) {
        let longest = Duration::from_micros(self.longest_us.swap(0, Ordering::Relaxed));
        (self.waits.load(Ordering::Relaxed), longest)
    }
}

/// `HttpSegments`, and a server that answers as uidring-server does.
#[cfg(feature = "http")]
mod http {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use uidring::segment::HttpSegments;

    use super::{Row, STEP};

    /// A source of numbers from `row`, through a server that goes on until the benchmark ends.
    pub fn source(row: Row) -> HttpSegments {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for connection in listener.incoming() {
                answer(&connection.unwrap(), &row);
            }
        });
        HttpSegments::new([format!("http://{address}")], "")
    }

    fn answer(mut connection: &TcpStream, row: &Row) {
        let lines = BufReader::new(connection).lines().map(Result::unwrap);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let size = head[0].split_once("?size=").and_then(|(_, rest)| rest.split(' ').next());
        let count = size.map_or(STEP, |size| size.parse().unwrap());
        let first = row.take(count);
        let body = format!(
            "{{\"first\":\"{first}\",\"count\":\"{count}\",\"delta\":\"1\",\"step\":\"{STEP}\"}}"
        );
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        connection.write_all((head + &body).as_bytes()).unwrap();
    }
}

/// Takes at the pace that the command line asks for, and prints the waits.
fn measure(
    name: &str,
    load: &Load,
    row: &Row,
    take: &(dyn Fn() -> u64 + Sync),
    waits: &dyn Fn() -> (u64, Duration),
) {
    let begin = Instant::now();
    let end = begin + load.time;
    let each = load.rate / 1000 * PACE_MS / load.threads;
    let taken = Mutex::new(0);
    let at_first = thread::scope(|scope| {
        for _ in 0..load.threads {
            scope.spawn(|| {
                let (mut due, mut count, mut last) = (begin, 0, 0);
                while due < end {
                    for _ in 0..each {
                        let number = black_box(take());
                        assert!(number > last, "{number} came after {last}");
                        last = number;
                    }
                    count += each;
                    // After a wait, the taker catches up.
                    due += Duration::from_millis(PACE_MS);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                }
                *taken.lock().unwrap() += count;
            });
        }
        thread::sleep(FIRST.min(load.time));
        waits()
    });
    let (in_all, longest) = waits();
    let later = in_all - at_first.0;
    let longest = if later > 0 { longest } else { Duration::ZERO };
    println!(
        "{name:8} {:>12} a second, {:>4} loads; takes that waited: {} in the first 10 s ({:?} at \
         most), {later} after that ({longest:?} at most)",
        *taken.lock().unwrap() * 1000 / u64::try_from(begin.elapsed().as_millis()).unwrap(),
        row.loads(),
        at_first.0,
        at_first.1,
    );
}

/// What the command line asks for.
struct Load {
    rate: u64,
    threads: u64,
    time: Duration,
}

impl Load {
    fn from_env() -> Load {
        // As a test, the benchmark only has to run.
        let is_bench = env::args().any(|arg| arg == "--bench");
        let (rate, seconds) = if is_bench { (10_000_000, 30) } else { (10_000, 1) };
        let mut load = Load { rate, threads: 2, time: Duration::from_secs(seconds) };
        let mut args = env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || -> u64 {
                args.next().and_then(|value| value.parse().ok()).unwrap_or_else(|| {
                    panic!("{arg} needs a number");
                })
            };
            match arg.as_str() {
                "--rate" => load.rate = value(),
                "--threads" => load.threads = value(),
                "--seconds" => load.time = Duration::from_secs(value()),
                // Cargo passes this.
                "--bench" => {}
                other => panic!("what is {other}? There are --rate, --threads and --seconds"),
            }
        }
        load
    }
}

fn main() {
    let load = Load::from_env();
    let row = Row::default();
    measure_segments("uidring", &load, &row, row.clone());
    let row = Row::default();
    let leaf = Leaf::new(row.clone());
    measure("leaf", &load, &row, &|| leaf.take(), &|| leaf.waits());
    #[cfg(feature = "http")]
    {
        let row = Row::default();
        measure_segments("http", &load, &row, http::source(row.clone()));
    }
}

fn measure_segments(name: &str, load: &Load, row: &Row, source: impl SegmentSource) {
    let segments = Segments::builder().source(source).build().unwrap();
    let tag = segments.tag("orders").unwrap();
    measure(name, load, row, &|| tag.take().unwrap().get(), &|| {
        let status = tag.status();
        (status.waits, status.longest_wait)
    });
}
