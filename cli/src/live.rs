//! A generator under load, as seen while it runs: a panel that is redrawn in place, or a record a
//! second.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use anstyle::Style;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::{FillerState, Layout, Status, UidGenerator};

use crate::generator_args::GeneratorArgs;
use crate::load::{Load, Run};
use crate::output::{self, BOLD, DIM, RED, SEQUENCE, TIME, Times, WORKER, YELLOW, paint};

/// The rate shown is an average over this long.
const RATE_OF: Duration = Duration::from_secs(1);

/// A shorter lead is shown to the tenth of a second.
const SHORT: Duration = Duration::from_secs(120);

/// Measures the recent rate, in UIDs a second.
#[derive(Debug)]
pub(crate) struct Meter {
    /// How many UIDs had been taken at which time.
    seen: VecDeque<(Duration, u64)>,
}

impl Meter {
    pub(crate) fn new() -> Meter {
        Meter { seen: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    #[allow(clippy::cast_precision_loss)] // it is rounded to whole numbers
    pub(crate) fn rate(&mut self, elapsed: Duration, taken: u64) -> f64 {
        while self.seen.len() > 1
            && self.seen.get(1).is_some_and(|&(when, _)| when + RATE_OF <= elapsed)
        {
            self.seen.pop_front();
        }
        let (since, before) = self.seen.front().copied().unwrap_or_default();
        self.seen.push_back((elapsed, taken));
        taken.saturating_sub(before) as f64 / elapsed.saturating_sub(since).as_secs_f64().max(1e-3)
    }
}

/// A panel on a terminal, and what does not change while it is shown.
#[derive(Debug)]
pub(crate) struct Panel {
    bar: ProgressBar,
    meter: Meter,
    first: Status,
    load: Load,
    layout: Layout,
    max_lead: Duration,
    slots: usize,
}

impl Panel {
    pub(crate) fn new(
        target: ProgressDrawTarget,
        uids: &UidGenerator,
        load: Load,
        generator: &GeneratorArgs,
    ) -> Panel {
        let bar = ProgressBar::with_draw_target(None, target);
        // A constant: if it were wrong, the plain bar would show it.
        bar.set_style(
            ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Panel {
            bar,
            meter: Meter::new(),
            first: uids.status(),
            load,
            layout: *uids.layout(),
            max_lead: generator.max_lead(),
            slots: generator.slots(),
        }
    }

    pub(crate) fn show(&mut self, status: &Status, elapsed: Duration) {
        let text = self.text(status, elapsed);
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Leaves the panel where it is.
    pub(crate) fn leave(self) {
        self.bar.abandon();
    }

    /// Removes the panel.
    pub(crate) fn clear(self) {
        self.bar.finish_and_clear();
    }

    fn text(&mut self, status: &Status, elapsed: Duration) -> String {
        let row = |name: &str, style: Style, text: String| {
            format!("{}  {text}\n", paint(style, format_args!("{name:<6}")))
        };
        let wanted = match self.load.rate {
            Some(rate) => format!("of {rate} a second"),
            None => "a second, as fast as possible".to_owned(),
        };
        let rate = paint(BOLD, HumanCount(rounded(self.meter.rate(elapsed, status.taken))));
        let taken = paint(BOLD, HumanCount(status.taken));
        let filler = match status.filler {
            FillerState::Running => "running".to_owned(),
            other => paint(RED, other),
        };
        let (by_filler, by_takers) =
            (HumanCount(status.refilled_by_filler), HumanCount(status.refilled_inline));
        let text = self.time(elapsed)
            + &row("rate", Style::new(), format!("{rate} {wanted}, {taken} taken"))
            + &row("lead", TIME, self.lead(status))
            + &row("lag", TIME, seconds(status.lag) + &skipped(status))
            + &row("worker", WORKER, self.worker(status, elapsed))
            + &row("ring", SEQUENCE, self.ring(status))
            + &row(
                "filler",
                DIM,
                format!("{filler}, {by_filler} refills, and {by_takers} by takers"),
            )
            + &row("ends", DIM, self.end(status, elapsed));
        text.trim_end().to_owned()
    }

    /// The time that has passed, as a bar if the run has an end.
    fn time(&self, elapsed: Duration) -> String {
        let done = match (self.load.length, self.load.count, self.load.rate) {
            (Some(length), ..) => length,
            (None, Some(count), Some(rate)) if rate.thousandths > 0 => {
                Duration::from_millis(count.saturating_mul(1_000_000) / rate.thousandths)
            }
            _ => return format!("{} {}\n", seconds(elapsed), paint(DIM, "so far; Ctrl-C ends it")),
        };
        let elapsed = elapsed.min(done);
        let left = done.saturating_sub(elapsed);
        format!(
            "{}  {} of {}, {} left\n",
            gauge(40, elapsed, done, TIME),
            whole(elapsed),
            whole(done),
            whole(left)
        )
    }

    fn lead(&self, status: &Status) -> String {
        let style = if status.at_lead_limit {
            RED
        } else if status.lead > self.max_lead / 2 {
            YELLOW
        } else {
            TIME
        };
        let limit =
            if status.at_lead_limit { paint(RED, ": the limit is reached") } else { String::new() };
        let gauge = gauge(20, status.lead, self.max_lead, style);
        let lead =
            if status.lead < SHORT { seconds(status.lead) } else { output::span(status.lead) };
        format!("{gauge}  {lead} of {} that may be borrowed{limit}", output::span(self.max_lead))
    }

    /// The worker id. If ids are being used up, also how long the others last.
    fn worker(&self, status: &Status, elapsed: Duration) -> String {
        let worker = paint(BOLD, status.worker_id);
        if status.new_workers == 0 {
            return worker;
        }
        let left = self.layout.max_worker().saturating_sub(status.worker_id);
        let lasts = u128::from(left) * elapsed.as_millis() / u128::from(status.new_workers);
        let lasts = output::span(Duration::from_millis(u64::try_from(lasts).unwrap_or(u64::MAX)));
        let others = HumanCount(status.new_workers);
        worker
            + &paint(
                YELLOW,
                format_args!(" after {others} others; at this pace ids last for {lasts}"),
            )
    }

    /// A mark for each slot, full or empty, up to the width of a line.
    fn ring(&self, status: &Status) -> String {
        let all = self.slots as u64 * (self.layout.max_sequence() + 1);
        let signs = self.slots.clamp(1, 32);
        let full = usize::try_from(u128::from(status.available) * signs as u128 / u128::from(all))
            .unwrap_or(signs)
            .min(signs);
        let gauge = paint(SEQUENCE, "▮".repeat(full)) + &paint(DIM, "▯".repeat(signs - full));
        format!("{gauge}  {} of {} UIDs ready", HumanCount(status.available), HumanCount(all))
    }

    fn end(&self, status: &Status, elapsed: Duration) -> String {
        let (times, now) = (Times::of(&self.layout), SystemClock.now());
        let end = format!(
            "{}, {}",
            times.utc(status.expires_at),
            output::distance(status.expires_at, now)
        );
        let at_pace = status.expires_at_pace(&self.first, elapsed);
        let is_sooner = |pace: Duration, clock: Duration| pace < clock / 2;
        match (at_pace.duration_since(now), status.expires_at.duration_since(now)) {
            // The lead grows in steps, so a pace measured soon after the start would mislead.
            // With a new worker id the lead starts again from 0.
            (Ok(pace), Ok(clock))
                if elapsed > RATE_OF * 5 && status.new_workers == 0 && is_sooner(pace, clock) =>
            {
                end + &paint(
                    YELLOW,
                    format_args!("; at this pace {}", output::distance(at_pace, now)),
                )
            }
            _ => end,
        }
    }
}

/// The summary after a run: how many UIDs, how fast, and the generator's status.
pub(crate) fn summary(run: &Run, status: &Status) -> String {
    let elapsed = run.elapsed();
    let rate = Meter::new().rate(elapsed, status.taken);
    format!(
        "{} UIDs in {}: {} a second\n{status}\n",
        HumanCount(status.taken),
        seconds(elapsed),
        HumanCount(rounded(rate))
    )
}

/// A status in JSON.
#[derive(Serialize)]
pub(crate) struct Record {
    time: Option<String>,
    elapsed_ms: u64,
    /// The recent rate.
    uids_per_second: u64,
    worker_id: u64,
    new_workers: u64,
    at_worker_limit: bool,
    oldest: Option<String>,
    newest: Option<String>,
    lead_ms: u64,
    lag_ms: u64,
    at_lead_limit: bool,
    refused_jump_ms: Option<u64>,
    available: u64,
    taken: u64,
    lost: u64,
    skipped: u64,
    refilled_inline: u64,
    refilled_by_filler: u64,
    filler: String,
    expires: Option<String>,
}

impl Record {
    pub(crate) fn new(
        layout: &Layout,
        status: &Status,
        elapsed: Duration,
        meter: &mut Meter,
    ) -> Record {
        let times = Times::of(layout);
        let ms = |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        let now: SystemTime = SystemClock.now();
        Record {
            time: times.rfc3339(now),
            elapsed_ms: ms(elapsed),
            uids_per_second: rounded(meter.rate(elapsed, status.taken)),
            worker_id: status.worker_id,
            new_workers: status.new_workers,
            at_worker_limit: status.at_worker_limit,
            oldest: times.rfc3339(status.oldest),
            newest: times.rfc3339(status.newest),
            lead_ms: ms(status.lead),
            lag_ms: ms(status.lag),
            at_lead_limit: status.at_lead_limit,
            refused_jump_ms: status.refused_jump.map(ms),
            available: status.available,
            taken: status.taken,
            lost: status.lost,
            skipped: status.skipped,
            refilled_inline: status.refilled_inline,
            refilled_by_filler: status.refilled_by_filler,
            filler: status.filler.to_string(),
            expires: times.rfc3339(status.expires_at),
        }
    }
}

fn skipped(status: &Status) -> String {
    match status.skipped {
        0 => String::new(),
        skipped => paint(DIM, format_args!(", {} UIDs skipped as stale", HumanCount(skipped))),
    }
}

/// `part` of `all` as a bar of `width`.
fn gauge(width: usize, part: Duration, all: Duration, style: Style) -> String {
    let full = u128::try_from(width).unwrap_or(0) * part.as_millis() / all.as_millis().max(1);
    let full = usize::try_from(full).unwrap_or(width).min(width);
    paint(style, "━".repeat(full)) + &paint(DIM, "─".repeat(width - full))
}

// `rate` is not negative, and `as` saturates.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}

/// Seconds, with one decimal below 1,000: "7.2 s", "3,600 s".
fn seconds(length: Duration) -> String {
    if length.as_secs() < 1000 { format!("{:.1} s", length.as_secs_f64()) } else { whole(length) }
}

fn whole(length: Duration) -> String {
    format!("{} s", HumanCount(rounded(length.as_secs_f64())))
}
