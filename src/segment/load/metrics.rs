//! [`Metrics`]: the gauges and counters of a source and of its tags, for the facade `metrics`.

use std::mem;
use std::time::Duration;

use metrics::{Histogram, describe_histogram, histogram};

use crate::clock::Stopwatch;
use crate::filler::metrics::{StatusMetrics, gauge_of};
use crate::segment::SegmentStatus;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::Policy;
use crate::segment::load::scheduler::{Scheduler, Source, Totals};
use crate::segment::load::supplier::{Fullness, Reporting, TagLabel};
use crate::sync::{Arc, Mutex, lock};

/// How often metrics are brought up to date.
pub const PERIOD: Duration = Duration::from_secs(1);
/// How many tags are read each time for the totals. This takes some 100 µs.
const LOOKED_AT: usize = 2_000;
/// The most failing tags that get metrics of their own.
const MOST_FAILING: usize = 100;

/// The state that the metrics of a source show.
#[derive(Debug, Default)]
struct State {
    is_running: bool,
    source: Source,
    sums: Totals,
    fullness: Fullness,
}

/// The metrics of a source. The recorder must be installed before they are made.
pub struct Metrics {
    label: String,
    reporting: Reporting,
    source: StatusMetrics<State>,
    state: State,
    /// The tags that have metrics of their own.
    tags: Vec<(Arc<LoadedTag>, StatusMetrics<SegmentStatus>)>,
    failing: usize,
    /// Names of tags that get metrics of their own once they have numbers.
    named: Vec<String>,
    /// The totals of the tags read so far, and the index of the next one.
    sums: Totals,
    looked_at: usize,
    chunk: Vec<Arc<LoadedTag>>,
    updated: Option<Stopwatch>,
    /// The time over which the demand is measured.
    policy: Policy,
}

/// The histogram of load times.
pub fn load_times(label: &str) -> Histogram {
    let name = "uidring_source_load_duration_seconds";
    describe_histogram!(name, "Loads of numbers, also those that failed.");
    histogram!(name, "source" => label.to_owned())
}

impl Metrics {
    pub fn new(label: &str, reporting: Reporting, named: Vec<String>, policy: Policy) -> Metrics {
        Metrics {
            label: label.to_owned(),
            reporting,
            source: source_metrics(label, reporting),
            state: State { is_running: true, ..State::default() },
            tags: Vec::new(),
            failing: 0,
            named,
            sums: Totals::default(),
            looked_at: 0,
            chunk: Vec::with_capacity(LOOKED_AT),
            updated: None,
            policy,
        }
    }

    /// Updates the metrics if an update is due. Returns the time until the next one. `now` is the
    /// scheduler's time.
    pub fn update_if_due(
        &mut self,
        scheduler: &Mutex<Scheduler>,
        fullness: impl FnOnce() -> Fullness,
        now: Duration,
    ) -> Duration {
        let since = self.updated.map(Stopwatch::elapsed);
        if let Some(since) = since.filter(|since| *since < PERIOD) {
            return PERIOD.saturating_sub(since);
        }
        self.updated = Some(Stopwatch::start());
        self.state.fullness = fullness();
        self.update(scheduler, now);
        PERIOD
    }

    /// Publishes the final state after the loader has ended.
    pub fn finish(&mut self, scheduler: &Mutex<Scheduler>, fullness: Fullness, now: Duration) {
        (self.state.is_running, self.state.fullness) = (false, fullness);
        (self.sums, self.looked_at) = (Totals::default(), 0);
        while !self.update(scheduler, now) {}
    }

    /// Reads some tags. Returns whether the totals now include all tags.
    fn update(&mut self, scheduler: &Mutex<Scheduler>, now: Duration) -> bool {
        let mut source = lock(scheduler).measure(
            self.looked_at..self.looked_at + LOOKED_AT,
            &mut self.chunk,
            &self.named,
        );
        self.label_tags(mem::take(&mut source.named), mem::take(&mut source.failed));
        self.chunk.drain(..).for_each(|tag| self.sums.add(&tag.engine));
        self.looked_at = source.next.unwrap_or(0);
        let is_complete = source.next.is_none();
        if is_complete {
            let sums = mem::take(&mut self.sums);
            self.state.sums = without_falling(sums, source.retired_totals, self.state.sums);
        }
        self.state.source = source;
        self.source.show(&self.state);
        self.tags.retain_mut(|(tag, metrics)| {
            let is_retired = lock(&tag.state).is_retired();
            let mut status = SegmentStatus::of(tag, now, &self.policy);
            if is_retired {
                // It is shown for the last time, and these would stay for ever.
                (status.failing_for, status.empty_in) = (None, None);
                (status.in_memory, status.segment) = (0, 0);
                (status.load_time, status.longest_wait) = (Duration::ZERO, Duration::ZERO);
            }
            metrics.show(&status);
            !is_retired
        });
        is_complete
    }

    /// Gives tags metrics of their own: those that the program named, and some of those that fail.
    fn label_tags(&mut self, named: Vec<Arc<LoadedTag>>, failed: Vec<Arc<LoadedTag>>) {
        self.named.retain(|name| !named.iter().any(|tag| *tag.name == **name));
        for tag in named {
            self.label(tag);
        }
        for tag in failed {
            if self.failing < MOST_FAILING && self.label(tag) {
                self.failing += 1;
            }
        }
    }

    /// Gives `tag` metrics of its own, unless it already has them.
    fn label(&mut self, tag: Arc<LoadedTag>) -> bool {
        let is_new = !self.tags.iter().any(|(known, _)| Arc::ptr_eq(known, &tag));
        if is_new {
            let metrics = tag_metrics(&self.label, (self.reporting.tag_label)(&tag.name));
            self.tags.push((tag, metrics));
        }
        is_new
    }
}

/// The totals of the tags in use and of those that were given up. None of them falls below those
/// shown `before`, as they would for a moment where a tag was given up between two readings.
fn without_falling(in_use: Totals, retired_totals: Totals, before: Totals) -> Totals {
    Totals {
        in_memory: in_use.in_memory,
        taken: (in_use.taken + retired_totals.taken).max(before.taken),
        lost: (in_use.lost + retired_totals.lost).max(before.lost),
        waits: (in_use.waits + retired_totals.waits).max(before.waits),
        longest_wait: in_use.longest_wait.max(retired_totals.longest_wait),
    }
}

fn source_metrics(label: &str, reporting: Reporting) -> StatusMetrics<State> {
    let metrics = StatusMetrics::<State>::new(vec![("source", label.to_owned())]);
    let metrics = if reporting.is_of_series { of_fullness(metrics) } else { metrics };
    metrics
        .gauge("uidring_loader_running", "1 until the loader has ended.", |state| {
            f64::from(state.is_running)
        })
        .gauge("uidring_source_up", "0 while the source is away.", |state| {
            f64::from(!state.source.measured.is_away)
        })
        .gauge("uidring_source_tags", "Tags that this process has used.", |state| {
            gauge_of(state.source.tags as u64)
        })
        .gauge(
            "uidring_source_failing_tags",
            "Tags that fail or wait for a reason of their own.",
            |state| gauge_of(state.source.measured.failing_tags),
        )
        .gauge(
            "uidring_source_in_memory_numbers",
            "Numbers that can be taken without a load.",
            |state| gauge_of(state.sums.in_memory),
        )
        .gauge("uidring_source_longest_wait_seconds", "The longest wait of a take.", |state| {
            state.sums.longest_wait.as_secs_f64()
        })
        .counter("uidring_source_taken_numbers_total", "Numbers taken or claimed.", |state| {
            state.sums.taken
        })
        .counter("uidring_source_loaded_numbers_total", "Numbers loaded.", |state| {
            state.source.measured.counts.loaded
        })
        .counter("uidring_source_lost_numbers_total", "Numbers that nobody will get.", |state| {
            state.sums.lost + state.source.measured.counts.refused
        })
        .counter("uidring_source_given_back_numbers_total", "Numbers given back.", |state| {
            state.source.measured.given_back
        })
        .counter("uidring_source_loads_total", "Loads that succeeded.", |state| {
            state.source.measured.counts.loads
        })
        .counter("uidring_source_load_failures_total", "Loads that failed.", |state| {
            state.source.measured.counts.failures
        })
        .counter(
            "uidring_source_nearly_full_tags_total",
            "Tags that came to 80 % of the numbers that they can give.",
            |state| state.source.measured.counts.nearly_full,
        )
        .counter("uidring_source_waits_total", "Takes that waited for a load.", |state| {
            state.sums.waits
        })
}

/// The gauges of the counters of series.
fn of_fullness(metrics: StatusMetrics<State>) -> StatusMetrics<State> {
    metrics
        .gauge(
            "uidring_source_full_series",
            "Scopes of series whose period has given all its numbers.",
            |state| gauge_of(state.fullness.full),
        )
        .gauge(
            "uidring_source_nearly_full_series",
            "Scopes of series whose period has given 80 % of its numbers, and not all.",
            |state| gauge_of(state.fullness.nearly_full),
        )
}

fn tag_metrics(label: &str, tag_label: TagLabel<'_>) -> StatusMetrics<SegmentStatus> {
    let mut labels = vec![("source", label.to_owned())];
    let is_tag = match tag_label {
        TagLabel::Tag(tag) => {
            labels.push(("tag", tag.to_owned()));
            true
        }
        TagLabel::Series { series, period, scope } => {
            let of_series = [("series", series), ("period", period), ("scope", scope)];
            labels.extend(of_series.map(|(label, value)| (label, value.to_owned())));
            false
        }
    };
    let name = |of_tag, of_series| if is_tag { of_tag } else { of_series };
    StatusMetrics::<SegmentStatus>::new(labels)
        .gauge(
            name("uidring_tag_failing", "uidring_series_failing"),
            "1 if the last load failed, or is slow.",
            |status| f64::from(status.failing_for.is_some()),
        )
        .gauge(
            name("uidring_tag_in_memory_numbers", "uidring_series_in_memory_numbers"),
            "Numbers that can be taken without a load.",
            |status| gauge_of(status.in_memory),
        )
        .gauge(
            name("uidring_tag_seconds_until_empty", "uidring_series_seconds_until_empty"),
            "For how long the numbers in memory last.",
            |status| status.empty_in.map_or(f64::INFINITY, |time| time.as_secs_f64()),
        )
        .gauge(
            name("uidring_tag_segment_numbers", "uidring_series_segment_numbers"),
            "Numbers that the last load gave.",
            |status| gauge_of(status.segment),
        )
        .gauge(
            name("uidring_tag_load_seconds", "uidring_series_load_seconds"),
            "How long the last loads took.",
            |status| status.load_time.as_secs_f64(),
        )
        .gauge(
            name("uidring_tag_longest_wait_seconds", "uidring_series_longest_wait_seconds"),
            "The longest wait of a take.",
            |status| status.longest_wait.as_secs_f64(),
        )
        .counter(
            name("uidring_tag_taken_numbers_total", "uidring_series_taken_numbers_total"),
            "Numbers taken or claimed.",
            |status| status.taken,
        )
        .counter(
            name("uidring_tag_lost_numbers_total", "uidring_series_lost_numbers_total"),
            "Numbers that nobody will get.",
            |status| status.lost,
        )
        .counter(
            name("uidring_tag_loads_total", "uidring_series_loads_total"),
            "Loads that succeeded.",
            |status| status.loads,
        )
        .counter(
            name("uidring_tag_load_failures_total", "uidring_series_load_failures_total"),
            "Loads that failed.",
            |status| status.failures,
        )
        .counter(
            name("uidring_tag_waits_total", "uidring_series_waits_total"),
            "Takes that waited for a load.",
            |status| status.waits,
        )
}
