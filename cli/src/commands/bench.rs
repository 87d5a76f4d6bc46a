//! `uidring bench`: how fast this machine takes UIDs, beside a lower bound.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anstyle::Style;
use console::{Term, measure_text_width};
use crossbeam::utils::CachePadded;
use indicatif::{HumanCount, ProgressDrawTarget};
use serde::Serialize;
use uidring::registry::FixedWorker;
use uidring::segment::{
    Number, Segment, SegmentError, SegmentGenerator, SegmentSource, Segments, Tag, TagRecord,
};
use uidring::{Layout, Uid, UidGenerator};
use uidring_args::quantity::{self, rounded};
use uidring_args::some_length;

use crate::run::load::joined;
use crate::run::progress::{self, target};
use crate::text::words::{counted, measured, span_in_seconds};
use crate::text::{self, BOLD, DIM, Failure, SEQUENCE, TIME, WORKER, paint};

/// How many UIDs a buffer holds and a local taker claims, and how many numbers a counter claims.
const BATCH: u32 = 1024;
/// How long one side of a pair runs at a time: long compared with the start of its threads, short
/// compared with disturbances of the machine.
const SLICE: Duration = Duration::from_millis(4);
/// The width of a bar, in characters.
const WIDTH: usize = 20;
/// The width of the texts beside a bar: the number of threads, and the ratio.
const BESIDE_BAR: usize = 13 + 2 + 2 + 4;

/// Measure this machine
///
/// Takes UIDs in three ways, with 1, 2, 4 and more threads, and compares each way with the least
/// work that any generator would have to do. The two sides take turns of a few milliseconds, so
/// that other work on the machine disturbs both alike. Each ratio is the median over all turns. The
/// UIDs are dropped, and nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring bench                          in 20 seconds
  uidring bench --threads 1,16 --for 1m
  uidring bench --tag                    the numbers of a tag
  uidring bench --json | jq '.results[] | select(.threads == 1)'")]
pub(crate) struct Args {
    /// How long the whole measurement lasts
    #[arg(long = "for", value_name = "LENGTH", default_value = "20s",
        value_parser = some_length)]
    length: Duration,

    /// Numbers of threads [default: 1, 2, 4, 8 and the number of cores]
    #[arg(long, value_name = "N,..", value_delimiter = ',',
        value_parser = quantity::threads)]
    threads: Vec<u16>,

    /// Measure the numbers of a tag instead of UIDs. The tag is in memory: no registry is used
    #[arg(long)]
    tag: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let threads = if self.threads.is_empty() { usual_threads() } else { self.threads };
        let sources = if self.tag { Sources::with_tag()? } else { Sources::with_uids()? };
        let mut cells = Vec::new();
        for method in [Method::Take, Method::Local, Method::Fill] {
            cells.extend(threads.iter().map(|&threads| Cell::new(method, threads)));
        }
        // The other target too is hidden where it is no terminal.
        let target =
            if self.json { ProgressDrawTarget::hidden() } else { target(Term::buffered_stderr()) };
        let bar = progress::redrawn(target);
        let started = Instant::now();
        // Each cell has at least one turn, however short the time is.
        for turn in 0.. {
            if turn > 0 && started.elapsed() >= self.length {
                break;
            }
            for index in 0..cells.len() {
                cells[index].measure_round(&sources, turn)?;
                if !bar.is_hidden() {
                    let left = self.length.saturating_sub(started.elapsed());
                    let picture = picture(&cells, text::error_columns());
                    bar.set_message(
                        picture + &paint(DIM, format_args!("{} left", span_in_seconds(left))),
                    );
                    bar.tick();
                }
            }
        }
        bar.finish_and_clear();
        if self.json {
            let results = cells.iter().map(Cell::result).collect();
            return text::print(&text::json(&Report {
                cores: cores(),
                version: env!("CARGO_PKG_VERSION"),
                results,
            })?);
        }
        let turns = cells.first().map_or(0, |cell| cell.rates.len());
        let footer = format!(
            "{}; medians of {} in {}",
            counted(cores().into(), "core"),
            counted(turns as u64, "turn"),
            measured(started.elapsed())
        );
        text::print(&(picture(&cells, text::columns()) + &text::footnote(&footer)))
    }
}

fn cores() -> u16 {
    thread::available_parallelism()
        .map_or(1, |cores| u16::try_from(cores.get()).unwrap_or(u16::MAX))
}

fn usual_threads() -> Vec<u16> {
    let mut threads = vec![1, 2, 4, 8, cores().min(1024)];
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// A way to take UIDs, and what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Take,
    Local,
    Fill,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Take => "take",
            Method::Local => "local take",
            Method::Fill => "fill",
        }
    }

    fn heading(self) -> String {
        let (style, rest) = match self {
            Method::Take => (TIME, "one a call, beside a bare fetch_add"),
            Method::Local => (WORKER, "a thread's own, beside a thread's own counter"),
            Method::Fill => (SEQUENCE, "1,024 a call, beside writing consecutive numbers"),
        };
        format!("{}  {}\n", paint(style.bold(), self.name()), paint(DIM, rest))
    }
}

struct Sources {
    counter: CachePadded<AtomicU64>,
    generator: Generator,
}

/// What is measured. Both have the same verbs.
enum Generator {
    Uids(UidGenerator),
    Tag(SegmentGenerator),
}

/// A tag in memory, whose first segment outlasts any measurement.
struct EndlessSource(AtomicU64);

impl EndlessSource {
    const SEGMENT: u64 = 1 << 50;
}

impl SegmentSource for EndlessSource {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn load(&self, _: &str, _: Option<u64>) -> Result<Segment, SegmentError> {
        // ORDERING: relaxed, as nothing but the number itself is communicated.
        let first = self.0.fetch_add(EndlessSource::SEGMENT, Ordering::Relaxed);
        Ok(Segment::new(first, EndlessSource::SEGMENT, 1, first + EndlessSource::SEGMENT - 1))
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        let _ = new;
        // ORDERING: relaxed, as nothing but the number itself is communicated.
        Ok(TagRecord::new(tag, self.0.load(Ordering::Relaxed), EndlessSource::SEGMENT, 1))
    }
}

/// Takes one thread's part of a slice from a generator. A macro, as the generators share no trait.
macro_rules! take_from {
    ($Id:ident, $generator:expr, $method:expr, $count:expr) => {{
        let (generator, count) = ($generator, $count);
        match $method {
            Method::Take => {
                for _ in 0..count {
                    black_box(generator.take()?);
                }
            }
            Method::Local => {
                // Both sides are behind a pointer, like a taker that is used beyond one loop.
                let mut mine = black_box(Box::new(generator.local().with_claim_length(BATCH)));
                for _ in 0..count {
                    black_box(mine.take()?);
                }
            }
            Method::Fill => {
                let mut buffer = [$Id::MIN; BATCH as usize];
                for _ in 0..count / u64::from(BATCH) {
                    generator.fill(&mut buffer).map_err(|error| error.cause())?;
                    black_box(&mut buffer);
                }
            }
        }
        Ok(())
    }};
}

impl Sources {
    /// A generator with the default sequence whose time field outlasts any measurement.
    fn with_uids() -> Result<Sources, Failure> {
        let layout = Layout::new(48, 2, 13)?;
        let builder = UidGenerator::builder().layout(layout).registry(FixedWorker::new(1));
        let uids = builder.max_lead(Duration::from_secs(1 << 40)).build()?;
        Ok(Sources::of(Generator::Uids(uids)))
    }

    fn with_tag() -> Result<Sources, Failure> {
        let segments = Segments::builder().source(EndlessSource(AtomicU64::new(1))).build()?;
        Ok(Sources::of(Generator::Tag(segments.tag("bench")?)))
    }

    fn of(generator: Generator) -> Sources {
        Sources { counter: CachePadded::new(AtomicU64::new(1)), generator }
    }

    /// Takes one thread's part of a slice of UIDs.
    fn take_share(&self, method: Method, count: u64) -> Result<(), Failure> {
        match &self.generator {
            Generator::Uids(uids) => take_from!(Uid, uids, method, count),
            Generator::Tag(numbers) => take_from!(Number, numbers, method, count),
        }
    }

    /// Takes the same part of bare numbers.
    fn bare(&self, method: Method, count: u64) {
        // ORDERING: relaxed, as nothing but the number itself is communicated.
        let claim = |count| self.counter.fetch_add(count, Ordering::Relaxed);
        match method {
            Method::Take => {
                for _ in 0..count {
                    black_box(claim(1));
                }
            }
            Method::Local => {
                let mut mine =
                    black_box(Box::new(Block { counter: &self.counter, next: 0, end: 0 }));
                for _ in 0..count {
                    black_box(mine.take());
                }
            }
            Method::Fill => {
                let mut buffer = [0; BATCH as usize];
                for _ in 0..count / u64::from(BATCH) {
                    for (place, number) in buffer.iter_mut().zip(claim(u64::from(BATCH))..) {
                        *place = number;
                    }
                    black_box(&mut buffer);
                }
            }
        }
    }

    /// Takes `count` on each thread, and returns the time from the first start to the last end.
    fn slice(
        &self,
        method: Method,
        ours: bool,
        threads: u16,
        count: u64,
    ) -> Result<Duration, Failure> {
        let start = Barrier::new(threads.into());
        let body = || {
            start.wait();
            let begin = Instant::now();
            if ours {
                self.take_share(method, count)?;
            } else {
                self.bare(method, count);
            }
            Ok::<_, Failure>((begin, Instant::now()))
        };
        let times: Vec<(Instant, Instant)> = thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(body)).collect();
            running.into_iter().map(joined).collect::<Result<_, _>>()
        })?;
        let begin = times.iter().map(|(begin, _)| begin).min();
        let end = times.iter().map(|(_, end)| end).max();
        Ok(begin.zip(end).map_or(Duration::ZERO, |(begin, end)| *end - *begin))
    }
}

/// A thread's own counter, which claims numbers in blocks.
struct Block<'a> {
    counter: &'a AtomicU64,
    next: u64,
    end: u64,
}

impl Block<'_> {
    #[inline]
    fn take(&mut self) -> u64 {
        if self.next == self.end {
            // ORDERING: relaxed, as nothing but the number itself is communicated.
            self.next = self.counter.fetch_add(u64::from(BATCH), Ordering::Relaxed);
            self.end = self.next + u64::from(BATCH);
        }
        self.next += 1;
        self.next - 1
    }
}

/// One way to take UIDs, with a number of threads.
#[derive(Debug)]
struct Cell {
    method: Method,
    threads: u16,
    /// How many UIDs and bare numbers each thread takes in a slice. Doubled until they fill it.
    counts: [u64; 2],
    /// UIDs and bare numbers a second, in each turn.
    rates: Vec<[f64; 2]>,
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    cores: u16,
    results: Vec<CellResult>,
}

#[derive(Serialize)]
struct CellResult {
    method: &'static str,
    threads: u16,
    uids_per_second: f64,
    limit_per_second: f64,
    ratio: f64,
}

impl Cell {
    fn new(method: Method, threads: u16) -> Cell {
        Cell { method, threads, counts: [16 * u64::from(BATCH); 2], rates: Vec::new() }
    }

    /// Runs a slice of each side, in an order that alternates.
    #[allow(clippy::cast_precision_loss)] // three digits are shown
    fn measure_round(&mut self, sources: &Sources, turn: usize) -> Result<(), Failure> {
        let mut rates = [0.0; 2];
        for place in 0..2 {
            let side = (place + turn) % 2;
            let time = loop {
                let time =
                    sources.slice(self.method, side == 0, self.threads, self.counts[side])?;
                if time >= SLICE || self.counts[side] >= 1 << 40 {
                    break time;
                }
                // A slice this short would mostly measure how threads start.
                self.counts[side] *= 2;
            };
            let count = self.counts[side] * u64::from(self.threads);
            rates[side] = count as f64 / time.as_secs_f64().max(1e-9);
        }
        self.rates.push(rates);
        Ok(())
    }

    fn result(&self) -> CellResult {
        let median = |of: fn(&[f64; 2]) -> f64| median(self.rates.iter().map(of).collect());
        CellResult {
            method: self.method.name(),
            threads: self.threads,
            uids_per_second: median(|[ours, _]| *ours),
            limit_per_second: median(|[_, bare]| *bare),
            ratio: median(|[ours, bare]| ours / bare),
        }
    }

    /// The bar and the rates, which come below it if they do not fit beside it.
    fn line(&self, columns: usize) -> String {
        let threads = counted(self.threads.into(), "thread");
        let CellResult { uids_per_second, limit_per_second, ratio, .. } = self.result();
        let thousandths = rounded(ratio * 1000.0).into();
        let width = WIDTH.min(columns.saturating_sub(BESIDE_BAR));
        let bar = text::gauge(["█", "─"], width, thousandths, 1000, Style::new());
        let line = format!("{threads:>13}  {bar}");
        if self.rates.is_empty() {
            return line + "\n";
        }
        let numbers = format!(
            "{:>5} of {} million a second",
            three_digits(uids_per_second / 1e6),
            three_digits(limit_per_second / 1e6)
        );
        let line = format!("{line}  {}", paint(BOLD, three_digits(ratio)));
        if measure_text_width(&line) + 2 + numbers.len() <= columns {
            format!("{line}  {numbers}\n")
        } else {
            format!("{line}\n  {numbers:>26}\n")
        }
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

/// A number with three digits, in at most four characters below 1,000.
fn three_digits(number: f64) -> String {
    match number {
        few @ ..9.995 => format!("{few:.2}"),
        some @ ..99.95 => format!("{some:.1}"),
        many => HumanCount(rounded(many)).to_string(),
    }
}

fn picture(cells: &[Cell], columns: usize) -> String {
    let mut text = String::new();
    let mut method = None;
    for cell in cells {
        if method != Some(cell.method) {
            method = Some(cell.method);
            text += &text::folded(&cell.method.heading(), columns, 2);
        }
        text += &cell.line(columns);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Cell, Method, WIDTH, median, text, three_digits};

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [1.234, 98.76, 459.4, 5430.0].map(three_digits),
            ["1.23", "98.8", "459", "5,430"]
        );
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(Vec::new()).abs() < f64::EPSILON);
    }

    #[test]
    fn a_line_fits_whatever_the_ratio() {
        for (bare, shown) in [(1e9, "0.10"), (1e8, "1.00"), (3.61e6, "27.7"), (1e6, "100")] {
            let cell = Cell { rates: vec![[1e8, bare]], ..Cell::new(Method::Take, 1) };
            let page = anstream::adapter::strip_str(&cell.line(40)).to_string();
            let line = page.lines().next().unwrap_or_default();
            assert!(line.ends_with(&format!("  {shown}")), "{line}");
            assert!(super::measure_text_width(line) <= 40, "{line}");
        }
    }

    #[test]
    fn lines_fit_with_any_number_of_threads() {
        for threads in [1, 2, 16, 100, 1024] {
            let cell = Cell { rates: vec![[4.6e8, 5.43e9]], ..Cell::new(Method::Fill, threads) };
            for columns in [40, 80] {
                let page = anstream::adapter::strip_str(&cell.line(columns)).to_string();
                assert!(page.contains(&text::words::counted(threads.into(), "thread")), "{page}");
                for line in page.lines() {
                    assert!(super::measure_text_width(line) <= columns, "{line}");
                }
            }
        }
    }

    #[test]
    fn a_cell_without_a_turn_has_an_empty_bar() {
        let line = |columns| {
            anstream::adapter::strip_str(&Cell::new(Method::Take, 1).line(columns)).to_string()
        };
        assert_eq!(line(80), format!("     1 thread  {}\n", "─".repeat(WIDTH)));
        assert_eq!(line(40), format!("     1 thread  {}\n", "─".repeat(19)));
    }
}
