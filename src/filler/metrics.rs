//! [`StatusMetrics`]: gauges and counters of any status, for the facade `metrics`. [`Metrics`]:
//! those of a generator.

use std::time::SystemTime;

use metrics::{Counter, Gauge, counter, describe_counter, describe_gauge, gauge};

use crate::clock::unix_ms;
use crate::engine::Engine;
use crate::engine::filler_signal::FillerState;
use crate::engine::status::Status;

/// Reads the value of a metric from a status.
type Of<T, N> = fn(&T) -> N;

/// The labels of metrics, each with its value.
pub type Labels = Vec<(&'static str, String)>;

/// Metrics with the same labels, and how each is read from a status of type `T`. The recorder must
/// be installed before they are created.
pub struct StatusMetrics<T> {
    labels: Labels,
    gauges: Vec<(Gauge, Of<T, f64>)>,
    /// Each counter with the value that it has reached. Several generators in succession may raise
    /// the counter of the same labels.
    counters: Vec<(Counter, Of<T, u64>, u64)>,
}

impl<T> StatusMetrics<T> {
    pub fn new(labels: Labels) -> StatusMetrics<T> {
        StatusMetrics { labels, gauges: Vec::new(), counters: Vec::new() }
    }

    pub fn gauge(
        mut self,
        name: &'static str,
        what: &'static str,
        of: Of<T, f64>,
    ) -> StatusMetrics<T> {
        describe_gauge!(name, what);
        self.gauges.push((gauge!(name, &self.labels), of));
        self
    }

    pub fn counter(
        mut self,
        name: &'static str,
        what: &'static str,
        of: Of<T, u64>,
    ) -> StatusMetrics<T> {
        describe_counter!(name, what);
        self.counters.push((counter!(name, &self.labels), of, 0));
        self
    }

    pub fn show(&mut self, status: &T) {
        self.gauges.iter().for_each(|(gauge, of)| gauge.set(of(status)));
        for (counter, of, raised) in &mut self.counters {
            // A count that is read from several words while takers change them may come out smaller
            // than before.
            let value = of(status).max(*raised);
            counter.increment(value - *raised);
            *raised = value;
        }
    }
}

#[allow(clippy::cast_precision_loss)] // a gauge shows 53 bits
pub fn gauge_of(number: u64) -> f64 {
    number as f64
}

#[allow(clippy::cast_precision_loss)] // a gauge shows 53 bits
fn seconds_of_ms(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

fn seconds_of(time: SystemTime) -> f64 {
    // Exact to the millisecond until the year 287396.
    #[allow(clippy::cast_precision_loss)]
    let ms = unix_ms(time) as f64;
    ms / 1000.0
}

/// The metrics of one generator. Their labels are its first worker id and the name of its registry:
/// another registry, or one for another layout, gives the same worker id.
pub struct Metrics {
    running: Gauge,
    series: StatusMetrics<Status>,
}

impl Metrics {
    /// The metrics of a generator whose first worker id is `generator` of `registry`.
    pub fn new(generator: u64, registry: &str) -> Metrics {
        let labels = vec![("generator", generator.to_string()), ("registry", registry.to_owned())];
        let name = "uidring_filler_running";
        describe_gauge!(name, "1 if the filler runs.");
        Metrics { running: gauge!(name, &labels), series: series(labels) }
    }

    pub fn update(&mut self, engine: &Engine) {
        // First, because `status` reads the clock. If the clock panics, the gauge must still show
        // that the filler does not run.
        self.running.set(f64::from(engine.signal.state() == FillerState::Running));
        self.series.show(&engine.status());
    }
}

fn series(labels: Labels) -> StatusMetrics<Status> {
    StatusMetrics::<Status>::new(labels)
        .gauge("uidring_worker_id", "The worker id in the UIDs published now.", |status| {
            gauge_of(status.worker_id)
        })
        .gauge(
            "uidring_worker_ids",
            "Worker ids that the registry gives in all; infinite if they do not run out.",
            |status| status.worker_ids.map_or(f64::INFINITY, gauge_of),
        )
        .gauge(
            "uidring_worker_ids_left",
            "Of these, worker ids that are larger than the one in use.",
            |status| status.worker_ids_left.map_or(f64::INFINITY, gauge_of),
        )
        .gauge(
            "uidring_lead_seconds",
            "How far the newest tick in the ring is ahead of the clock.",
            |status| status.lead.as_secs_f64(),
        )
        .gauge(
            "uidring_lag_seconds",
            "How far the tick of the next UID is behind the clock.",
            |status| status.lag.as_secs_f64(),
        )
        .gauge("uidring_available_uids", "UIDs that can be taken now.", |status| {
            gauge_of(status.available)
        })
        .gauge("uidring_giving_uids", "0 if takes fail, or wait for long.", |status| {
            f64::from(status.obstacle.is_none())
        })
        .gauge(
            "uidring_reserved_until_timestamp_seconds",
            "When the reserved ticks of a leased worker id end, in seconds since 1970; infinite if \
             it is permanent.",
            |status| status.reserved_until.map_or(f64::INFINITY, seconds_of),
        )
        .gauge("uidring_at_lead_limit", "1 if max_lead is used up.", |status| {
            f64::from(status.at_lead_limit)
        })
        .gauge(
            "uidring_at_worker_limit",
            "1 if no further worker id may be taken on for now.",
            |status| f64::from(status.at_worker_limit),
        )
        .gauge(
            "uidring_refused_jump_seconds",
            "How far the clock is ahead after a jump that is not followed.",
            |status| status.refused_jump.unwrap_or_default().as_secs_f64(),
        )
        .gauge(
            "uidring_clock_skew_seconds",
            "How far the clock of this machine is ahead of the registry's; negative if it is \
             behind, and 0 where the registry has no clock of its own.",
            |status| status.clock_skew_ms.map_or(0.0, seconds_of_ms),
        )
        .gauge(
            "uidring_expires_timestamp_seconds",
            "When the clock reaches the end of the time field, in seconds since 1970.",
            |status| seconds_of(status.expires_at),
        )
        .counter("uidring_taken_uids_total", "UIDs taken or claimed.", |status| status.taken)
        .counter("uidring_lost_uids_total", "UIDs that nobody will get.", |status| status.lost)
        .counter("uidring_skipped_uids_total", "UIDs skipped as stale.", |status| status.skipped)
        .counter("uidring_new_workers_total", "Worker ids after the first.", |status| {
            status.new_workers
        })
        .counter("uidring_waits_total", "Takes that had to wait.", |status| status.waits)
        .counter(
            "uidring_clock_steps_total",
            "How often the clock was seen to have gone back.",
            |status| status.clock_steps,
        )
        .counter("uidring_filler_blocks_total", "Blocks published by the filler.", |status| {
            status.refilled_by_filler
        })
        .counter("uidring_taker_blocks_total", "Blocks published by takers.", |status| {
            status.refilled_inline
        })
}
