//! A generator under load, as seen while it runs: a panel that is redrawn in place, or a record a
//! second.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use anstyle::Style;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget};
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::{FillerState, Layout, Status, UidGenerator};
use uidring_args::GeneratorArgs;
use uidring_args::quantity::{millis, rounded};

use crate::run::load::{Load, Run};
use crate::run::progress::{self, FREE_COLUMNS};
use crate::text::words::{self, counted, measured, span_in_seconds};
use crate::text::{self, BOLD, DIM, Failure, RED, SEQUENCE, TIME, Times, WORKER, YELLOW, paint};

/// The rate shown is an average over this long.
const RATE_OF: Duration = Duration::from_secs(1);

/// Measures the recent rate, in UIDs a second.
#[derive(Debug)]
pub(crate) struct RateMeter {
    /// How many UIDs had been taken at which time.
    seen: VecDeque<(Duration, u64)>,
}

impl RateMeter {
    pub(crate) fn new() -> RateMeter {
        RateMeter { seen: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    #[allow(clippy::cast_precision_loss)] // it is rounded to whole numbers
    pub(crate) fn rate(&mut self, elapsed: Duration, taken: u64) -> u64 {
        while self.seen.len() > 1
            && self.seen.get(1).is_some_and(|&(when, _)| when + RATE_OF <= elapsed)
        {
            self.seen.pop_front();
        }
        let (since, before) = self.seen.front().copied().unwrap_or_default();
        self.seen.push_back((elapsed, taken));
        let seconds = elapsed.saturating_sub(since).as_secs_f64().max(1e-3);
        rounded(taken.saturating_sub(before) as f64 / seconds)
    }
}

/// A panel on a terminal, and what does not change while it is shown.
#[derive(Debug)]
pub(crate) struct Panel {
    bar: ProgressBar,
    /// The width of the terminal, which may change.
    columns: fn() -> usize,
    meter: RateMeter,
    first: Status,
    load: Load,
    layout: Layout,
    max_lead: Duration,
    slots: usize,
}

impl Panel {
    pub(crate) fn new(
        target: ProgressDrawTarget,
        columns: fn() -> usize,
        uids: &UidGenerator,
        load: Load,
        generator: &GeneratorArgs,
    ) -> Panel {
        Panel {
            bar: progress::redrawn(target),
            columns,
            meter: RateMeter::new(),
            first: uids.status(),
            load,
            layout: *uids.layout(),
            max_lead: generator.max_lead(),
            slots: generator.slots,
        }
    }

    pub(crate) fn show(&mut self, status: &Status, elapsed: Duration) {
        let text = self.text(status, elapsed);
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Leaves the panel where it is on standard output.
    pub(crate) fn keep_on_screen(self) -> Result<(), Failure> {
        self.bar.abandon();
        text::print("\n")
    }

    /// Removes the panel.
    pub(crate) fn clear(self) {
        self.bar.finish_and_clear();
    }

    fn text(&mut self, status: &Status, elapsed: Duration) -> String {
        let columns = (self.columns)().saturating_sub(FREE_COLUMNS);
        let row = |name, style, text: String| text::unfolded_row::<6>(name, style, text);
        let wanted = match self.load.rate {
            Some(rate) => format!("of {rate} a second"),
            None => "a second, as fast as possible".to_owned(),
        };
        let rate = paint(BOLD, HumanCount(self.meter.rate(elapsed, status.taken)));
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
            + &row("lag", TIME, measured(status.lag) + &skipped(status))
            + &row("worker", WORKER, worker(status, elapsed))
            + &row("ring", SEQUENCE, self.ring(status, columns.saturating_sub(8)))
            + &row(
                "filler",
                DIM,
                format!("{filler}, {by_filler} refills, and {by_takers} by takers"),
            )
            + &row("ends", DIM, self.end(status, elapsed));
        text::folded(text.trim_end(), columns, 8)
    }

    /// The time that has passed, as a bar if the run has an end.
    fn time(&self, elapsed: Duration) -> String {
        let done = match (self.load.length, self.load.count, self.load.rate) {
            (Some(length), ..) => length,
            (None, Some(count), Some(rate)) if rate.thousandths > 0 => {
                millis(u128::from(count) * 1_000_000 / u128::from(rate.thousandths))
            }
            _ => {
                return format!("{} {}\n", measured(elapsed), paint(DIM, "so far; Ctrl-C ends it"));
            }
        };
        let elapsed = elapsed.min(done);
        let left = done.saturating_sub(elapsed);
        format!(
            "{}  {} of {}, {} left\n",
            gauge(20, elapsed, done, TIME),
            span_in_seconds(elapsed),
            span_in_seconds(done),
            span_in_seconds(left)
        )
    }

    fn lead(&self, status: &Status) -> String {
        if status.exact_time && self.max_lead.is_zero() && !status.at_lead_limit {
            let waits = words::counted(status.waits, "wait");
            return format!("none: each UID has the time of its take; {waits} for the next tick");
        }
        let style = if status.at_lead_limit {
            RED
        } else if status.lead > self.max_lead / 2 {
            YELLOW
        } else {
            TIME
        };
        let gauge = gauge(20, status.lead, self.max_lead, style);
        let lead = measured(status.lead);
        let most = words::span(self.max_lead);
        if status.at_lead_limit {
            format!("{gauge}  {lead} of {most}{}", paint(RED, ": the limit is reached"))
        } else {
            format!("{gauge}  {lead} of {most} that may be borrowed")
        }
    }

    /// A mark for each slot, full or empty, up to the width of a line.
    fn ring(&self, status: &Status, columns: usize) -> String {
        if status.exact_time {
            let (left, all) = (status.available, self.layout.max_sequence() + 1);
            return format!(
                "none; {} of {} UIDs left in this tick",
                HumanCount(left),
                HumanCount(all)
            );
        }
        let all = self.slots as u64 * (self.layout.max_sequence() + 1);
        let signs = self.slots.min(32).min(columns).max(1);
        let gauge = text::gauge(["▮", "▯"], signs, status.available.into(), all.into(), SEQUENCE);
        format!("{gauge}  {} of {} UIDs ready", HumanCount(status.available), HumanCount(all))
    }

    fn end(&self, status: &Status, elapsed: Duration) -> String {
        let (times, now) = (Times::of(&self.layout), SystemClock.now());
        let end = format!(
            "{}, {}",
            times.utc(status.expires_at),
            words::distance(status.expires_at, now)
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
                    format_args!("; at this pace {}", words::distance(at_pace, now)),
                )
            }
            _ => end,
        }
    }
}

/// The worker id. If ids are being used up, also how long the others last.
fn worker(status: &Status, elapsed: Duration) -> String {
    let worker = paint(BOLD, status.worker_id);
    if status.new_workers == 0 {
        return worker;
    }
    let others = counted(status.new_workers, "other");
    let Some(left) = status.worker_ids_left else {
        return worker + &paint(YELLOW, format_args!(" after {others}"));
    };
    let lasts = u128::from(left) * elapsed.as_millis() / u128::from(status.new_workers);
    let lasts = words::span(millis(lasts));
    worker + &paint(YELLOW, format_args!(" after {others}; at this pace ids last for {lasts}"))
}

/// The summary after a run: how many UIDs, how fast, and the generator's status.
pub(crate) fn summary(run: &Run, status: &Status) -> String {
    let elapsed = run.elapsed();
    let rate = RateMeter::new().rate(elapsed, run.done());
    let Status { worker_id, new_workers, filler, lead, lag, refused_jump, expires_at, .. } =
        *status;
    let others = match new_workers {
        0 => String::new(),
        _ if status.at_worker_limit => {
            format!(" (after {}, and no further one for now)", counted(new_workers, "other"))
        }
        _ => format!(" (after {})", counted(new_workers, "other")),
    };
    let limit = if status.at_lead_limit { ", at the lead limit" } else { "" };
    let jump = refused_jump.map_or_else(String::new, |jump| {
        format!("the clock is {} ahead after a jump, which is not followed\n", measured(jump))
    });
    let skew = status.large_clock_skew_ms().map_or_else(String::new, |ms| {
        let by = measured(Duration::from_millis(ms.unsigned_abs()));
        let side = if ms > 0 { "ahead of" } else { "behind" };
        format!("the clock is {by} {side} the store's\n")
    });
    let obstacle = status
        .obstacle
        .map_or_else(String::new, |obstacle| format!("takes get no UID: {obstacle}\n"));
    let (uids, waits, steps) =
        (account(status), HumanCount(status.waits), HumanCount(status.clock_steps));
    let page = format!(
        "{} in {}: {} a second\n\
         worker {worker_id}{others}, filler {filler}\n\
         lead {}{limit}; lag {}\n\
         {obstacle}{jump}{skew}\
         {uids}\n\
         takes waited: {waits}; steps of the clock back: {steps}\n\
         the time field ends at {}, {}\n",
        counted(run.done(), "UID"),
        measured(elapsed),
        HumanCount(rate),
        measured(lead),
        measured(lag),
        Times::registry().utc(expires_at),
        words::distance(expires_at, SystemClock.now())
    );
    text::folded(&page, text::columns(), 2)
}

/// What became of the UIDs.
fn account(status: &Status) -> String {
    let [taken, available, skipped, lost, by_filler, by_takers] = [
        status.taken,
        status.available,
        status.skipped,
        status.lost,
        status.refilled_by_filler,
        status.refilled_inline,
    ]
    .map(HumanCount);
    if status.exact_time {
        return format!("UIDs: {taken} taken, {available} left in this tick, {lost} lost");
    }
    format!(
        "UIDs: {taken} taken, {available} in the ring, {skipped} skipped as stale, {lost} lost\n\
         refills: {by_filler} by the filler, {by_takers} by takers"
    )
}

/// A status in JSON.
#[derive(Serialize)]
pub(crate) struct Record {
    time: Option<String>,
    elapsed_ms: u128,
    /// The recent rate.
    uids_per_second: u64,
    worker_id: u64,
    worker_ids: Option<u64>,
    worker_ids_left: Option<u64>,
    new_workers: u64,
    at_worker_limit: bool,
    oldest: Option<String>,
    newest: Option<String>,
    lead_ms: u128,
    lag_ms: u128,
    exact_time: bool,
    waits: u64,
    clock_steps: u64,
    at_lead_limit: bool,
    refused_jump_ms: Option<u128>,
    clock_skew_ms: Option<i64>,
    available: u64,
    obstacle: Option<String>,
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
        meter: &mut RateMeter,
    ) -> Record {
        let times = Times::of(layout);
        let now: SystemTime = SystemClock.now();
        Record {
            time: times.rfc3339(now),
            elapsed_ms: elapsed.as_millis(),
            uids_per_second: meter.rate(elapsed, status.taken),
            worker_id: status.worker_id,
            worker_ids: status.worker_ids,
            worker_ids_left: status.worker_ids_left,
            new_workers: status.new_workers,
            at_worker_limit: status.at_worker_limit,
            oldest: times.rfc3339(status.oldest),
            newest: times.rfc3339(status.newest),
            lead_ms: status.lead.as_millis(),
            lag_ms: status.lag.as_millis(),
            exact_time: status.exact_time,
            waits: status.waits,
            clock_steps: status.clock_steps,
            at_lead_limit: status.at_lead_limit,
            refused_jump_ms: status.refused_jump.map(|jump| jump.as_millis()),
            clock_skew_ms: status.clock_skew_ms,
            available: status.available,
            obstacle: status.obstacle.map(|obstacle| obstacle.to_string()),
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
        skipped => paint(DIM, format_args!(", {} skipped as stale", counted(skipped, "UID"))),
    }
}

/// `part` of `all` as a bar of `width`.
fn gauge(width: usize, part: Duration, all: Duration, style: Style) -> String {
    text::gauge(["━", "─"], width, part.as_millis(), all.as_millis(), style)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use std::time::Duration;

    use anstream::adapter::strip_str;
    use clap::{Args, FromArgMatches};
    use indicatif::ProgressDrawTarget;
    use uidring::registry::FixedWorker;
    use uidring::{Layout, UidGenerator};
    use uidring_args::GeneratorArgs;
    use uidring_args::quantity::Quantity;

    use super::{FREE_COLUMNS, Panel};
    use crate::run::load::Load;

    #[test]
    fn the_panel_fits_80_columns() {
        the_panel_fits(80, || 80);
    }

    #[test]
    fn the_panel_fits_40_columns() {
        the_panel_fits(40, || 40);
    }

    fn the_panel_fits(width: usize, columns: fn() -> usize) {
        let layout = Layout::new(31, 27, 5).unwrap();
        let uids =
            UidGenerator::builder().layout(layout).registry(FixedWorker::new(1)).build().unwrap();
        let options = GeneratorArgs::augment_args(clap::Command::new("uidring"));
        let options = options.get_matches_from(["uidring", "--max-lead", "59m"]);
        let generator = GeneratorArgs::from_arg_matches(&options).unwrap();
        let long = Duration::from_secs(36_500 * 24 * 3600);
        let rate = Some(Quantity::whole(1_000_000_000_000));
        for load in [
            Load { threads: 1, rate, count: None, length: Some(long) },
            Load { threads: 1, rate: None, count: None, length: None },
        ] {
            let hidden = ProgressDrawTarget::hidden();
            let mut panel = Panel::new(hidden, columns, &uids, load, &generator);
            for at_lead_limit in [false, true] {
                let mut status = uids.status();
                status.at_lead_limit = at_lead_limit;
                status.worker_id = layout.max_worker() - 1;
                status.worker_ids_left = Some(1);
                status.new_workers = 88_888_888;
                (status.lead, status.lag) = (Duration::from_secs(3539), Duration::from_secs(86399));
                status.taken = 888_888_888_888;
                status.skipped = status.taken;
                (status.refilled_by_filler, status.refilled_inline) = (status.taken, status.taken);
                for elapsed in [Duration::from_secs(7), long] {
                    let text = strip_str(&panel.text(&status, elapsed)).to_string();
                    for line in text.lines() {
                        assert!(line.chars().count() <= width - FREE_COLUMNS, "{line}");
                    }
                }
            }
        }
    }
}
