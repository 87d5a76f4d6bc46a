//! `uidring parse`: decodes UIDs.

use std::io::{self, Write};
use std::mem;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use uidring::clock::{Clock, SystemClock};
use uidring::{Layout, Uid};
use uidring_args::with_causes;
use uidring_layouts::{Doubt, Format, Id, Record, Times, plausible};

use crate::args::ids::{self, each};
use crate::args::layout::LayoutOrDb;
use crate::text::table::{Column, Stream, Table};
use crate::text::words;
use crate::text::{self, BOLD, DIM, Failure, RED, SEQUENCE, TIME, WORKER, YELLOW, paint};

/// Decode UIDs into time, worker and sequence
///
/// A UID does not contain its layout: decoded with the wrong one, its fields are wrong. If neither
/// a layout nor a registry is named, the page of a single UID also says which layouts that have a
/// name would give it a time in the past. A text with a letter is read as base32, one of digits
/// alone as a decimal number. With a layout, a negative number is read as an id that a generator
/// made after the end of its time field. The presets `sonyflake`, `sonyflake-2` and `mastodon` are
/// read here alone.
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
        let chosen = self.layout.format()?;
        let format = chosen.unwrap_or(Layout::DEFAULT.into());
        ids::check(&self.uids, "UID to parse")?;
        let mut reader = Reader {
            format,
            is_chosen: chosen.is_some(),
            times: Times::of(format.time_layout()),
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

/// Parses texts as UIDs, and decodes them.
struct Reader {
    format: Format,
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
                let (now, time) = (SystemClock.now(), uid.fields(&self.format).time);
                let local = text::local(self.times, time).unwrap_or_default();
                let remark = self.remark(uid, now).map_or("", |remark| remark.text);
                page += &rows.line(row(&self.format, uid, [local, remark.to_owned()]));
            }
            if more && page.len() < PAGE { Ok(()) } else { text::print(&mem::take(&mut page)) }
        })?;
        if is_first { Ok(()) } else { text::print(&self.footer()) }
    }

    /// The columns, as wide as any UID of the layout makes them.
    fn rows(&self) -> Stream<7> {
        let Reader { format, times, .. } = self;
        let epoch = format.time_layout().epoch();
        let (now, half_a_year) = (SystemClock.now(), Duration::from_secs(182 * 24 * 3600));
        let width = |text: Option<String>| text.map_or(0, |text| text.len());
        // With and without summer time.
        let is_elsewhere = [now, now + half_a_year].into_iter().any(text::differs_from_utc);
        let widths = [
            if self.is_chosen { i64::MIN.to_string() } else { Uid::MAX.to_string() }.len(),
            Uid::MAX.base32().as_str().len(),
            times.utc(epoch).len(),
            if is_elsewhere { width(text::local(*times, epoch)) } else { 0 },
            format.max_worker().map_or(1, |most| most.to_string().len()),
            format.max_sequence().to_string().len(),
            "not of this layout".len(),
        ];
        Stream::new(columns(), widths, &[LOCAL, BASE32])
    }

    fn footer(&self) -> String {
        text::footnote(&format!("layout {}", self.format))
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
        match Id::read(text, self.base32, self.is_chosen.then_some(&self.format)) {
            Ok(id) => Some(id),
            Err(error) => {
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
        let local = text::local(self.times, uid.fields(&self.format).time);
        Record { local, ..Record::of(uid, &self.format, SystemClock.now()) }
    }

    /// The page for a single UID.
    fn card(&self, uid: Id) -> String {
        let parts = uid.fields(&self.format);
        let now = SystemClock.now();
        let utc = self.times.utc(parts.time);
        let local = text::local(self.times, parts.time).unwrap_or_default();
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
        if let Some(worker) = parts.worker {
            card += &line("worker", paint(WORKER, worker));
        }
        card += &line("sequence", paint(SEQUENCE, parts.sequence));
        card += &line("layout", paint(DIM, self.format));
        if let Some(remark) = self.remark(uid, now) {
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
        let others = plausible(uid, now).filter(|preset| preset.format() != self.format);
        let mut is_any = false;
        for preset in others {
            let [_, _, time, _, worker, sequence, _] =
                row(&preset.format(), uid, Default::default());
            is_any = true;
            table.row([preset.name().to_owned(), time, worker, sequence]);
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
        let elsewhere =
            uids.iter().any(|uid| text::differs_from_utc(uid.fields(&self.format).time));
        let mut table = Table::new(columns());
        for &uid in uids {
            let time = uid.fields(&self.format).time;
            let local = text::local(self.times, time).filter(|_| elsewhere).unwrap_or_default();
            let remark = self.remark(uid, now).map_or("", |remark| remark.text);
            table.row(row(&self.format, uid, [local, remark.to_owned()]));
        }
        format!("{table}{}", self.footer())
    }

    /// A reason to doubt that this is the right layout.
    fn remark(&self, uid: Id, now: SystemTime) -> Option<Remark> {
        Doubt::of(uid, &self.format, now).map(|doubt| match doubt {
            Doubt::AfterTheEnd => Remark {
                style: RED,
                text: "after the end",
                sentence: "This id is negative: its generator went on after the end of its time \
                           field.",
            },
            Doubt::BitsAbove => Remark {
                style: RED,
                text: "not of this layout",
                sentence: "This UID cannot be of this layout: it has bits above its fields.",
            },
            Doubt::InFuture => Remark {
                style: YELLOW,
                text: "in the future",
                sentence: "This UID lies in the future: its tick was borrowed, or it is of \
                           another layout.",
            },
        })
    }
}

struct Remark {
    style: anstyle::Style,
    text: &'static str,
    sentence: &'static str,
}

/// UIDs and their fields.
pub(crate) fn table(layout: &Layout, uids: &[Uid]) -> String {
    let mut table = Table::new(columns());
    let format = Format::from(*layout);
    for &uid in uids {
        table.row(row(&format, Id::Uid(uid), Default::default()));
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

fn row(format: &Format, uid: Id, [local, remark]: [String; 2]) -> [String; 7] {
    let parts = uid.fields(format);
    [
        uid.to_string(),
        uid.base32(),
        Times::of(format.time_layout()).utc(parts.time),
        local,
        parts.worker.map(|worker| worker.to_string()).unwrap_or_default(),
        parts.sequence.to_string(),
        remark,
    ]
}

/// The name of the local time zone, if it has one.
fn zone() -> String {
    TimeZone::system().iana_name().unwrap_or("local time").to_owned()
}
