//! `/metrics` in Prometheus' text format. All values are read on request.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
};
use prometheus::{TEXT_FORMAT, TextEncoder};
use uidring::Status;
use uidring::lend::{PoolCounts, PoolRecord};

use crate::app::App;
use crate::app::condition::Kind;
use crate::app::health::Health;
use crate::app::series::SeriesState;
use crate::app::supply::{self, Supply};
use crate::app::tags::{self, TagState};
use crate::http::describe::Problems;
use crate::http::operator_access::{AccessDenied, check_metrics};
use crate::http::operators::metric_tables::{
    COUNTERS, PAST_COUNTERS, PAST_GAUGES, POOL_GAUGES, SERIES_COUNTERS, SERIES_GAUGES,
    TAG_COUNTERS, TAG_GAUGES, TAG_SUMS, UID_COUNTERS, UID_GAUGES, seconds_of,
};
use crate::process::{output, threads};
use crate::routes::Route;
use crate::security::tls::Tls;
use crate::stats::commands::{self, CommandTotals};
use crate::stats::counter::float;
use crate::stats::counters::sum;
use crate::stats::readings::Reading;
use crate::stats::requests::{self, PathTotals};
use crate::stats::times::TimeTotals;

/// The most tags, and the most series of numbers, with metrics of their own.
const MOST: usize = 5000;

/// Metrics.
#[utoipa::path(
    get, path = Route::Metrics.text(), operation_id = "metrics", tag = "Operation",
    responses(
        (status = 200, description = "For Prometheus", body = String, content_type = "text/plain"),
        Problems,
    ),
)]
pub(crate) async fn metrics(
    State(app): State<&'static App>,
    headers: HeaderMap,
) -> Result<Response, AccessDenied> {
    check_metrics(app, &headers)?;
    let mut families = Families::default();
    let (tags, series) = (tags::states(app), app.series_states());
    // Before the database: a service that is ready has heard from it.
    let health = Health::of(app, &tags, &series);
    families.service(app);
    families.health(&health);
    families.requests(app);
    families.commands(app);
    families.uids(app);
    families.past(app);
    families.loads(app);
    families.tags(tags);
    families.series(series);
    families.pools(&app.loans.seen());
    Ok(match TextEncoder::new().encode_to_string(&families.0) {
        Ok(text) => ([(CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        // Cannot happen: every metric family above has a metric.
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    })
}

/// The labels of one series.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// The metric families of an answer.
#[derive(Default)]
struct Families(Vec<MetricFamily>);

impl Families {
    fn push(&mut self, name: &str, help: &str, of: MetricType, metrics: Vec<Metric>) {
        if metrics.is_empty() {
            return;
        }
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(of);
        family.set_metric(metrics);
        self.0.push(family);
    }

    /// Adds a gauge with one series for each of `items` that has a value.
    fn gauges<T>(&mut self, name: &str, help: &str, items: &[(Metric, T)], value: Of<'_, T>) {
        let metrics = items.iter().filter_map(|(metric, item)| {
            let mut gauge = Gauge::default();
            gauge.set_value(value(item)?);
            let mut metric = metric.clone();
            metric.set_gauge(gauge);
            Some(metric)
        });
        self.push(name, help, MetricType::GAUGE, metrics.collect());
    }

    fn counters<T>(&mut self, name: &str, help: &str, items: &[(Metric, T)], value: Of<'_, T>) {
        let metrics = items.iter().filter_map(|(metric, item)| {
            let mut counter = Counter::default();
            counter.set_value(value(item)?);
            let mut metric = metric.clone();
            metric.set_counter(counter);
            Some(metric)
        });
        self.push(name, help, MetricType::COUNTER, metrics.collect());
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.gauges(name, help, &[(labelled(&[]), value)], &|&value| Some(value));
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.counters(name, help, &[(labelled(&[]), value)], &|&value| Some(float(value)));
    }

    fn service(&mut self, app: &App) {
        self.gauges(
            "uidring_build_info",
            "1, with the version of the service.",
            &[(labelled(&[("version", env!("CARGO_PKG_VERSION"))]), 1.0)],
            &|&one| Some(one),
        );
        self.gauge(
            "uidring_start_timestamp_seconds",
            "When the service started, in seconds since 1970.",
            seconds_of(app.watch.started),
        );
        self.gauge(
            "uidring_database_up",
            "1 if the database answered when it was last asked.",
            f64::from(app.database_trouble().is_none()),
        );
        self.gauge(
            "uidring_database_since_timestamp_seconds",
            "When the database went away or came back, in seconds since 1970.",
            seconds_of(app.watch.database_since()),
        );
        let name = "uidring_panics_total";
        self.counter(name, "How often a thread panicked, and went on.", threads::panics().count);
        let name = "uidring_log_lines_lost_total";
        self.counter(name, "Lines of the log that could not be written.", output::lost());
        self.readings(app);
        self.gauge(
            "uidring_answer_memory_bytes",
            "Memory for large answers that are being sent.",
            float(app.in_flight.bytes()),
        );
        self.gauge(
            "uidring_answer_memory_limit_bytes",
            "The most that there may be.",
            float(app.options.limits.max_answer_memory),
        );
        // ORDERING: a statistic.
        let open = app.connections.load(Ordering::Relaxed);
        self.gauge(
            "uidring_http_connections",
            "Connections that are open, those of the Redis protocol included.",
            float(open as u64),
        );
        let limit = float(app.options.limits.max_connections.into());
        let help = "How many may be open: --max-connections.";
        self.gauge("uidring_http_connections_limit", help, limit);
        for (name, help, of) in COUNTERS {
            self.counter(name, help, sum(&app.counters, of));
        }
    }

    fn readings(&mut self, app: &App) {
        let all = app.watch.readings.outcomes().into_iter();
        let all: Vec<(Metric, Reading)> =
            all.map(|(what, reading)| (labelled(&[("what", what.label())]), reading)).collect();
        self.gauges(
            "uidring_reload_failing",
            "1 if it could not be read again, so that it is as it was.",
            &all,
            &|reading| Some(f64::from(reading.problem.is_some())),
        );
        self.gauges(
            "uidring_reload_timestamp_seconds",
            "When it was last read, in seconds since 1970.",
            &all,
            &|reading| reading.at.map(seconds_of),
        );
        if let Some(ends) = app.tls.as_ref().and_then(Tls::ends) {
            self.gauge(
                "uidring_tls_certificate_expires_timestamp_seconds",
                "When the first certificate of TLS ends, in seconds since 1970.",
                seconds_of(ends),
            );
        }
    }

    fn health(&mut self, health: &Health) {
        self.gauge("uidring_ready", "1 if /readyz answers 200.", f64::from(health.ready));
        let conditions: Vec<(Metric, bool)> = Kind::ALL
            .into_iter()
            .map(|kind| (labelled(&[("kind", kind.json_name())]), health.has(kind)))
            .collect();
        let help = "1 if it is so: what the page and /v1/status say in a sentence.";
        self.gauges("uidring_condition", help, &conditions, &|&is_so| Some(f64::from(is_so)));
    }

    fn requests(&mut self, app: &App) {
        let threads = app.counters.iter().map(|thread| &thread.requests);
        let paths: Vec<PathTotals> = requests::totals(threads).collect();
        let (mut answers, mut failed) = (Vec::new(), Vec::new());
        let mut times = Vec::new();
        for PathTotals { path, statuses, failures, times: of_path } in paths {
            failed.push((labelled(&[("path", path)]), failures));
            for (status, count) in statuses {
                let status = status.map_or_else(|| "other".to_owned(), |status| status.to_string());
                answers.push((labelled(&[("path", path), ("status", &status)]), count));
            }
            let TimeTotals { buckets, count, seconds } = of_path;
            times.push(histogram(&[("path", path)], &buckets, count, seconds));
        }
        let name = "uidring_http_requests_total";
        self.counters(name, "Answers, by path and status.", &answers, &|&count| Some(float(count)));
        let name = "uidring_http_failures_total";
        let help = "Answers with a 5xx, and those of tinyid that say with 200 that they failed. \
                    What a client did wrong does not count, nor does /readyz.";
        self.counters(name, help, &failed, &|&count| Some(float(count)));
        let name = "uidring_http_request_duration_seconds";
        let help = "From the head of a request to the head of its answer.";
        self.push(name, help, MetricType::HISTOGRAM, times);
    }

    fn commands(&mut self, app: &App) {
        let threads = app.counters.iter().map(|thread| &thread.requests.commands);
        let (mut answers, mut failed) = (Vec::new(), Vec::new());
        for CommandTotals { command, kinds, failures } in commands::totals(threads.clone()) {
            failed.push((labelled(&[("command", command)]), failures));
            for (kind, count) in kinds {
                answers.push((
                    labelled(&[("command", command), ("answer", kind.error_prefix())]),
                    count,
                ));
            }
        }
        if answers.is_empty() {
            return;
        }
        let name = "uidring_resp_requests_total";
        let help = "Answers in the Redis protocol, by command and by the first word of errors.";
        self.counters(name, help, &answers, &|&count| Some(float(count)));
        let name = "uidring_resp_failures_total";
        let help = "Answers for which HTTP has a 5xx. What a client did wrong does not count.";
        self.counters(name, help, &failed, &|&count| Some(float(count)));
        let TimeTotals { buckets, count, seconds } = TimeTotals::of(threads.map(|of| &of.times));
        let name = "uidring_resp_request_duration_seconds";
        let help = "From the last byte of a command, or of a pipeline, to the answer.";
        let times = histogram(&[], &buckets, count, seconds);
        self.push(name, help, MetricType::HISTOGRAM, vec![times]);
    }

    fn uids(&mut self, app: &App) {
        let generators = app.generators();
        let generators: Vec<(Metric, Status)> = generators
            .map(|(name, uids)| (labelled(&[("generator", name)]), uids.status()))
            .collect();
        for (name, help, value) in UID_GAUGES {
            self.gauges(name, help, &generators, &|status| Some(value(status)));
        }
        for (name, help, value) in UID_COUNTERS {
            self.counters(name, help, &generators, &|status| Some(float(value(status))));
        }
        let supplies: Vec<(Metric, Supply)> = supply::generators(app)
            .map(|of| (labelled(&[("generator", of.kind)]), of.supply(app)))
            .collect();
        self.gauges("uidring_giving_uids", "0 if no UIDs are given.", &supplies, &|supply| {
            Some(f64::from(!supply.is_out()))
        });
        let name = "uidring_uids_from_memory";
        let help = "1 if the registry reserves no further ticks, so that UIDs end.";
        self.gauges(name, help, &supplies, &|supply| Some(f64::from(supply.is_from_memory())));
    }

    /// Nothing before a client has asked for UIDs of times that were.
    fn past(&mut self, app: &App) {
        let status = app.past.status();
        let status: Vec<_> = status.map(|status| (labelled(&[]), status)).into_iter().collect();
        for (name, help, value) in PAST_GAUGES {
            self.gauges(name, help, &status, &|status| Some(value(status)));
        }
        for (name, help, value) in PAST_COUNTERS {
            self.counters(name, help, &status, &|status| Some(float(value(status))));
        }
    }

    fn loads(&mut self, app: &App) {
        let totals = app.watch.loads.totals();
        let buckets = totals.buckets();
        let count = buckets.last().map_or(0, |&(_, count)| count);
        let times = histogram(&[], &buckets, count, totals.seconds);
        self.push(
            "uidring_load_duration_seconds",
            "Loads of numbers from the database, also those that failed.",
            MetricType::HISTOGRAM,
            vec![times],
        );
        self.counter("uidring_loads_total", "Loads that succeeded.", totals.loads);
        let name = "uidring_load_failures_total";
        self.counter(
            name,
            "Loads in which the database failed, or did not answer.",
            totals.failures,
        );
        let name = "uidring_source_up";
        let help = "0 if the database failed in the last load, or did not answer, until it gives \
                    numbers again.";
        self.gauge(name, help, f64::from(!totals.is_failing));
    }

    fn tags(&mut self, mut tags: Vec<TagState>) {
        self.gauge("uidring_tags", "Tags that this process has used.", float(tags.len() as u64));
        for (name, help, is_so) in TAG_SUMS {
            self.gauge(name, help, float(tags.iter().filter(|tag| is_so(tag)).count() as u64));
        }
        // If there are too many tags, the failing ones come first.
        tags.sort_by_key(|tag| tag.trouble.is_none());
        let tags: Vec<(Metric, &TagState)> =
            tags.iter().take(MOST).map(|tag| (labelled(&[("tag", &tag.name)]), tag)).collect();
        for (name, help, value) in TAG_GAUGES {
            self.gauges(name, help, &tags, &|tag| value(tag));
        }
        for (name, help, value) in TAG_COUNTERS {
            self.counters(name, help, &tags, &|tag| value(tag).map(float));
        }
    }

    fn series(&mut self, mut series: Vec<SeriesState>) {
        let name = "uidring_series";
        self.gauge(name, "Series that this process has used.", float(series.len() as u64));
        // If there are too many, the failing ones come first, and then those that are full.
        series.sort_by_key(|series| {
            (series.supply.why().is_none(), series.full_count == 0, series.nearly_full_count == 0)
        });
        let labelled = |series: SeriesState| (labelled(&[("series", &series.name)]), series);
        let series: Vec<(Metric, SeriesState)> =
            series.into_iter().take(MOST).map(labelled).collect();
        for (name, help, value) in SERIES_GAUGES {
            self.gauges(name, help, &series, &|series| Some(float(value(series))));
        }
        for (name, help, value) in SERIES_COUNTERS {
            self.counters(name, help, &series, &|series| Some(float(value(series))));
        }
    }

    fn pools(&mut self, pools: &[PoolRecord]) {
        let pools: Vec<(Metric, PoolCounts)> = pools
            .iter()
            .take(MOST)
            .map(|pool| (labelled(&[("pool", &pool.name)]), pool.counts))
            .collect();
        for (name, help, value) in POOL_GAUGES {
            self.gauges(name, help, &pools, &|counts| Some(float(value(counts))));
        }
    }
}

/// Reads the value of a metric from an item, if it has one.
type Of<'a, T> = &'a dyn Fn(&T) -> Option<f64>;

fn labelled(labels: Labels<'_>) -> Metric {
    let pairs = labels.iter().map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    });
    Metric::from_label(pairs.collect())
}

fn histogram(labels: Labels<'_>, buckets: &[(f64, u64)], count: u64, sum: f64) -> Metric {
    // The encoder adds the bucket without an upper bound itself.
    let buckets = buckets.iter().filter(|(bound, _)| bound.is_finite()).map(|&(bound, count)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(bound);
        bucket.set_cumulative_count(count);
        bucket
    });
    let mut histogram = Histogram::default();
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(count);
    histogram.set_sample_sum(sum);
    let mut metric = labelled(labels);
    metric.set_histogram(histogram);
    metric
}
