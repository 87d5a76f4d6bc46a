//! `uidring parse`: decodes UIDs.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};
use std::{fmt, mem};

use clap::ValueEnum;
use jiff::tz::TimeZone;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::{FieldOrder, Layout, Parts, Uid};
use uidring_args::quantity::millis;
use uidring_args::{Preset, with_causes};

use crate::args::ids::{self, each};
use crate::args::layout::LayoutOrDb;
use crate::text::table::{Column, Stream, Table};
use crate::text::words;
use crate::text::{self, BOLD, DIM, Failure, RED, SEQUENCE, TIME, Times, WORKER, YELLOW, paint};

/// Decode UIDs into time, worker and sequence
///
/// A UID does not contain its layout: decoded with the wrong one, its fields are wrong. If neither
/// a layout nor a registry is named, the page of a single UID also says which layouts that have a
/// name would give it a time in the past. A text with a letter is read as base32, one of digits
/// alone as a decimal number. With a layout, a negative number is read as an id that a generator
/// made after the end of its time field.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring parse --db uidring.db 240475639809867779
  uidring parse 06NJQA8001003
  uidring parse --preset twitter 1256557484213448722
  uidring parse --layout 29,21,13 --epoch 2016-09-19T16:00:00Z 05067S0001009
  tail -f uids.txt | uidring parse
  cut -f1 orders.tsv | uidring parse --json")]
pub(crate) struct Args {
    /// UIDs in decimal or base32. `-`, or no UID, reads the lines of standard input
    /// and prints each as it comes
    #[arg(value_name = "UID", allow_negative_numbers = true)]
    uids: Vec<String>,

    /// Read texts without a letter as base32, too
    #[arg(long)]
    base32: bool,

    /// Print a JSON object for each UID, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    layout: LayoutOrDb,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let chosen = self.layout.chosen()?;
        let layout = chosen.unwrap_or_default();
        ids::check(&self.uids, "UID to parse")?;
        let mut reader = Reader {
            layout,
            is_chosen: chosen.is_some(),
            times: Times::of(&layout),
            base32: self.base32,
            wrong: false,
        };
        if self.json {
            reader.print_json(&self.uids)?;
        } else if self.uids.is_empty() || self.uids.iter().any(|uid| uid == "-") {
            reader.print_rows(&self.uids)?;
        } else {
            reader.print(&self.uids)?;
        }
        // Each wrong text has been reported.
        if reader.wrong { Err(Failure::Reported) } else { Ok(()) }
    }
}

/// Rows are printed together up to so many bytes.
const PAGE: usize = 64 * 1024;

/// A UID, or a negative number from a generator that went on after the end of its time field.
#[derive(Clone, Copy)]
enum Id {
    Uid(Uid),
    /// The time has run over into the sign.
    Negative(i64),
}

impl Id {
    fn parts(self, layout: &Layout) -> Parts {
        match self {
            Id::Uid(uid) => layout.parts(uid),
            Id::Negative(number) => {
                let bits = number.cast_unsigned();
                let ticks = bits >> (layout.worker_bits() + layout.sequence_bits());
                let since = layout.tick().as_millis() * u128::from(ticks);
                Parts {
                    time: layout.epoch().checked_add(millis(since)).unwrap_or(layout.expires_at()),
                    worker: bits >> layout.sequence_bits() & layout.max_worker(),
                    sequence: bits & layout.max_sequence(),
                }
            }
        }
    }

    /// Empty for a negative number.
    fn base32(self) -> String {
        match self {
            Id::Uid(uid) => uid.base32().to_string(),
            Id::Negative(_) => String::new(),
        }
    }

    fn is_of(self, layout: &Layout) -> bool {
        matches!(self, Id::Uid(uid) if layout.contains(uid))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Uid(uid) => uid.fmt(f),
            Id::Negative(number) => number.fmt(f),
        }
    }
}

/// A decoded UID, in JSON.
#[derive(Serialize)]
struct Record {
    uid: String,
    base32: String,
    time: Option<String>,
    local: Option<String>,
    worker: u64,
    sequence: u64,
    in_layout: bool,
    in_future: bool,
    plausible_presets: Vec<String>,
}

/// Parses texts as UIDs, and decodes them.
struct Reader {
    layout: Layout,
    /// Whether the layout was asked for.
    is_chosen: bool,
    times: Times,
    base32: bool,
    /// Whether one of the texts was not a UID.
    wrong: bool,
}

impl Reader {
    fn print_json(&mut self, texts: &[String]) -> Result<(), Failure> {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        each(texts, |text, more| {
            if let Some(uid) = self.uid(text) {
                let line = text::json(&self.record(uid))?;
                stdout.write_all(line.as_bytes()).map_err(Failure::Output)?;
            }
            // A program that sends one line and waits for the answer must get it.
            if more { Ok(()) } else { stdout.flush().map_err(Failure::Output) }
        })?;
        stdout.flush().map_err(Failure::Output)
    }

    /// Prints a row for each line, as soon as no other is there to print it with.
    fn print_rows(&mut self, texts: &[String]) -> Result<(), Failure> {
        let rows = self.rows();
        let mut page = String::new();
        let mut is_first = true;
        each(texts, |text, more| {
            if let Some(uid) = self.uid(text) {
                if is_first {
                    page += &rows.headings();
                    is_first = false;
                }
                let (now, time) = (SystemClock.now(), uid.parts(&self.layout).time);
                let local = self.times.local(time).unwrap_or_default();
                let remark = self.remark(uid, time, now).map_or("", |remark| remark.text);
                page += &rows.line(row(&self.layout, uid, [local, remark.to_owned()]));
            }
            if more && page.len() < PAGE { Ok(()) } else { text::print(&mem::take(&mut page)) }
        })?;
        if is_first { Ok(()) } else { text::print(&self.footer()) }
    }

    /// The columns, as wide as any UID of the layout makes them.
    fn rows(&self) -> Stream<7> {
        let Reader { layout, times, .. } = self;
        let (now, half_a_year) = (SystemClock.now(), Duration::from_secs(182 * 24 * 3600));
        let width = |text: Option<String>| text.map_or(0, |text| text.len());
        // With and without summer time.
        let is_elsewhere = [now, now + half_a_year].into_iter().any(text::differs_from_utc);
        let widths = [
            if self.is_chosen { i64::MIN.to_string() } else { Uid::MAX.to_string() }.len(),
            Uid::MAX.base32().as_str().len(),
            times.utc(layout.epoch()).len(),
            if is_elsewhere { width(times.local(layout.epoch())) } else { 0 },
            layout.max_worker().to_string().len(),
            layout.max_sequence().to_string().len(),
            "not of this layout".len(),
        ];
        Stream::new(columns(), widths, &[LOCAL, BASE32])
    }

    fn footer(&self) -> String {
        text::footnote(&format!("layout {}", self.layout))
    }

    fn print(&mut self, texts: &[String]) -> Result<(), Failure> {
        let mut uids = Vec::new();
        each(texts, |text, _| {
            uids.extend(self.uid(text));
            Ok(())
        })?;
        match uids[..] {
            [] => Ok(()),
            [uid] => text::print(&self.card(uid)),
            _ => text::print(&self.table(&uids)),
        }
    }

    fn uid(&mut self, text: &str) -> Option<Id> {
        match ids::parse(text, self.base32) {
            Ok(uid) => Some(Id::Uid(uid)),
            Err(error) => {
                // No generator of this library makes negative ones.
                if self.is_chosen
                    && let Some(id) = negative(text, &self.layout)
                {
                    return Some(id);
                }
                self.wrong = true;
                let is_negative = text.parse::<i64>().is_ok_and(|number| number < 0);
                let why = if is_negative && !self.is_chosen {
                    "it is negative; with the layout of its generator, such as --preset \
                     uid-generator, it is read as an id from after the end of the time field"
                        .to_owned()
                } else {
                    with_causes(&error)
                };
                text::print_error(&format!("{text:?} is not a UID: {why}"));
                None
            }
        }
    }

    fn record(&self, uid: Id) -> Record {
        let parts = uid.parts(&self.layout);
        Record {
            uid: uid.to_string(),
            base32: uid.base32(),
            time: self.times.rfc3339(parts.time),
            local: self.times.local(parts.time),
            worker: parts.worker,
            sequence: parts.sequence,
            in_layout: uid.is_of(&self.layout),
            in_future: parts.time > SystemClock.now(),
            plausible_presets: plausible(uid, SystemClock.now()).map(Preset::name).collect(),
        }
    }

    /// The page for a single UID.
    fn card(&self, uid: Id) -> String {
        let parts = uid.parts(&self.layout);
        let now = SystemClock.now();
        let utc = self.times.utc(parts.time);
        let local = self.times.local(parts.time).unwrap_or_default();
        let width = utc.len().max(local.len());
        let line = |name, value: String| text::row::<8>(name, DIM, value);
        let below = format!("\n{:10}", "");
        let time = |text: &str, remark: String| {
            let fits = 10 + width + 2 + remark.len() <= text::columns();
            // A remark about the UID comes below it, rather than in two parts.
            let beside = format!("{:1$}  ", "", width - text.len());
            paint(TIME, text) + if fits { &beside } else { &below } + &paint(DIM, remark)
        };

        let mut card = line("uid", paint(BOLD, uid));
        if matches!(uid, Id::Uid(_)) {
            card += &line("base32", uid.base32());
        }
        card += &line("time", time(&utc, words::distance(parts.time, now)));
        if !local.is_empty() {
            card += &line("local", time(&local, zone()));
        }
        card += &line("worker", paint(WORKER, parts.worker));
        card += &line("sequence", paint(SEQUENCE, parts.sequence));
        card += &line("layout", paint(DIM, self.layout));
        if let Some(remark) = self.remark(uid, parts.time, now) {
            card += &paint(remark.style, text::paragraph(remark.sentence));
        }
        if !self.is_chosen {
            card += &self.guesses(uid, now);
        }
        card
    }

    /// The meaning of the UID in other well-known layouts.
    fn guesses(&self, uid: Id, now: SystemTime) -> String {
        let mut table = Table::new([
            Column::text("WITH --preset", DIM),
            Column::text("TIME (UTC)", TIME),
            Column::number("WORKER", WORKER),
            Column::number("SEQUENCE", SEQUENCE),
        ]);
        let others = plausible(uid, now).filter(|preset| preset.layout() != self.layout);
        let mut is_any = false;
        for preset in others {
            let layout = preset.layout();
            let parts = uid.parts(&layout);
            is_any = true;
            table.row([
                preset.name(),
                Times::of(&layout).utc(parts.time),
                parts.worker.to_string(),
                parts.sequence.to_string(),
            ]);
        }
        if is_any {
            format!("\nIt may also be of one of these layouts:\n{table}")
        } else {
            String::new()
        }
    }

    /// The table for many UIDs, with one row for each.
    fn table(&self, uids: &[Id]) -> String {
        let now = SystemClock.now();
        // If local time is UTC, its column would only repeat the other.
        let elsewhere = uids.iter().any(|uid| text::differs_from_utc(uid.parts(&self.layout).time));
        let mut table = Table::new(columns());
        for &uid in uids {
            let time = uid.parts(&self.layout).time;
            let local = self.times.local(time).filter(|_| elsewhere).unwrap_or_default();
            let remark = self.remark(uid, time, now).map_or("", |remark| remark.text);
            table.row(row(&self.layout, uid, [local, remark.to_owned()]));
        }
        format!("{table}{}", self.footer())
    }

    /// A reason to doubt that this is the right layout.
    fn remark(&self, uid: Id, time: SystemTime, now: SystemTime) -> Option<Remark> {
        if matches!(uid, Id::Negative(_)) {
            Some(Remark {
                style: RED,
                text: "after the end",
                sentence: "This id is negative: its generator went on after the end of its time \
                           field.",
            })
        } else if !uid.is_of(&self.layout) {
            Some(Remark {
                style: RED,
                text: "not of this layout",
                sentence: "This UID cannot be of this layout: it has bits above its fields.",
            })
        } else if time > now {
            Some(Remark {
                style: YELLOW,
                text: "in the future",
                sentence: "This UID lies in the future: its tick was borrowed, or it is of \
                           another layout.",
            })
        } else {
            None
        }
    }
}

/// The presets by which `uid` was made in the past.
fn plausible(uid: Id, now: SystemTime) -> impl Iterator<Item = Preset> {
    Preset::value_variants().iter().copied().filter(move |preset| {
        let layout = preset.layout();
        uid.is_of(&layout) && uid.parts(&layout).time <= now
    })
}

struct Remark {
    style: anstyle::Style,
    text: &'static str,
    sentence: &'static str,
}

/// UIDs and their fields.
pub(crate) fn table(layout: &Layout, uids: &[Uid]) -> String {
    let mut table = Table::new(columns());
    for &uid in uids {
        table.row(row(layout, Id::Uid(uid), Default::default()));
    }
    table.to_string()
}

/// The places of two columns.
const BASE32: usize = 1;
const LOCAL: usize = 3;

fn columns() -> [Column; 7] {
    [
        Column::number("UID", BOLD),
        Column::text("BASE32", DIM),
        Column::text("TIME (UTC)", TIME),
        Column::text("TIME (LOCAL)", TIME),
        Column::number("WORKER", WORKER),
        Column::number("SEQUENCE", SEQUENCE),
        Column::text("", YELLOW),
    ]
}

fn row(layout: &Layout, uid: Id, [local, remark]: [String; 2]) -> [String; 7] {
    let parts = uid.parts(layout);
    [
        uid.to_string(),
        uid.base32(),
        Times::of(layout).utc(parts.time),
        local,
        parts.worker.to_string(),
        parts.sequence.to_string(),
        remark,
    ]
}

/// The name of the local time zone, if it has one.
fn zone() -> String {
    TimeZone::system().iana_name().unwrap_or("local time").to_owned()
}

/// A negative number in a layout in which it is what follows the last UID: one of 63 bits, with the
/// time on top.
fn negative(text: &str, layout: &Layout) -> Option<Id> {
    let bits = layout.time_bits() + layout.worker_bits() + layout.sequence_bits();
    let number = text.parse::<i64>().ok().filter(|number| *number < 0)?;
    (bits == 63 && layout.order() == FieldOrder::TimeFirst).then_some(Id::Negative(number))
}
