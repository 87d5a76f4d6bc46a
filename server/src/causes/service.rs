//! A service with a registry, a source and a clock that fail when they are told to, and what its
//! views say.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::Parser as _;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Runtime;
use tracing_subscriber::layer::SubscriberExt as _;
use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::segment::{Segment, SegmentError, SegmentSource, Segments, Tag, TagRecord};
use uidring::series::{Series, SeriesDefinition};
use uidring::{LeadLimit, RegistryError, UidGenerator};

use crate::app::health::Observer;
use crate::app::{self, App, DenseNumbers};
use crate::config::db::{self, Mode};
use crate::config::open_files::Plan;
use crate::config::options::Options;
use crate::http;
use crate::process::threads::one_threaded;
use crate::security::access::Access;
use crate::stats::grants::RecordedRegistry;
use crate::stats::loads::{RecordedSource, Use};

/// Nothing that a test waits for takes so long, unless it never comes.
const FOREVER: Duration = Duration::from_secs(60);
/// How many ticks of a second are reserved at a time. So few, because a filler that nobody takes
/// from looks at its lease after a quarter of it, by a clock that no test sets.
pub(super) const LEASE: u64 = 8;

/// What makes an error, or panics.
pub(super) type Fault<E> = Arc<dyn Fn() -> E + Send + Sync>;

/// A registry that reserves ticks until it has a fault, or forgets what it has confirmed.
#[derive(Clone, Default)]
pub(super) struct Registry(pub(super) Arc<Mutex<Option<Fault<RegistryError>>>>, Arc<AtomicBool>);

impl Registry {
    pub(super) fn forget(&self) {
        self.1.store(true, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), RegistryError> {
        let fault = self.0.lock().unwrap().clone();
        fault.map_or(Ok(()), |fault| Err(fault()))
    }
}

impl WorkerRegistry for Registry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.check()?;
        let ticks = request.now..=request.now + LEASE;
        Ok(Lease::leased(1, ticks, Duration::from_secs(LEASE), "one"))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let forgets = self.1.load(Ordering::Relaxed);
        self.check().map(|()| if forgets { lease.last - 1 } else { last })
    }
}

/// A source of a hundred numbers at a time, until it has a fault.
#[derive(Clone, Default)]
pub(super) struct Source(pub(super) Arc<Mutex<(u64, Option<Fault<SegmentError>>)>>);

impl SegmentSource for Source {
    fn name(&self) -> String {
        "ids.db".to_owned()
    }

    fn load(&self, _: &str, _: Option<u64>) -> Result<Segment, SegmentError> {
        let fault = {
            let (last, fault) = &mut *self.0.lock().unwrap();
            *last += 100;
            fault.clone().ok_or(*last)
        };
        match fault {
            Ok(fault) => Err(fault()),
            Err(last) => Ok(Segment::new(last - 99, 100, 1, last)),
        }
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(TagRecord::new(tag, 1, 100, 1))
    }
}

/// A service with a registry, a source and a clock that fail when they are told to.
pub(super) struct Service {
    pub(super) app: &'static App,
    http: http::Service,
    runtime: Runtime,
    pub(super) registry: Registry,
    pub(super) source: Source,
    pub(super) clock: ManualClock,
    pub(super) observer: Observer,
    log: Log,
    _folder: tempfile::TempDir,
}

/// What is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Service {
    pub(super) fn start() -> Service {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ids.db");
        let args = ["uidring-server", "--leaf-snowflake", "--lease=100s", "--db"];
        let options = Options::parse_from(args.into_iter().chain([file.to_str().unwrap()]));
        let checked = options.check().unwrap();
        let files = Plan::make(1, 1, options.limits.max_connections).unwrap();
        let access = Access::new(options.is_open(), None);
        let app = App::new(options, files, access, None, checked.leaf_layout, None);
        let app: &'static App = Box::leak(Box::new(app));
        app::enter_thread(0);
        let (registry, source) = (Registry::default(), Source::default());
        let clock = ManualClock::new(SystemTime::now());
        // A fault of the clock is to be seen as it is. The service would take other worker ids.
        let builder =
            || UidGenerator::builder().clock(clock.clone()).on_lead_limit(LeadLimit::Fail);
        let recorded = |grants| RecordedRegistry { registry: registry.clone(), grants };
        let watch = &app.watch;
        let uids = builder().registry(recorded(&watch.uid_grants)).build().unwrap();
        app.set_uids(uids);
        let snowflakes = builder().exact_time();
        let snowflakes = snowflakes.registry(recorded(&watch.snowflake_grants)).build().unwrap();
        app.set_snowflakes(snowflakes);
        let recorded = |of| {
            let source = Arc::new(source.clone()) as Arc<dyn SegmentSource>;
            RecordedSource { source, loads: &watch.loads, of }
        };
        let store = db::source(&checked.db, app.options.table, Mode::Start).unwrap();
        let segments = Segments::builder().source(recorded(Use::Here));
        let segments = segments.max_wait(Duration::ZERO).build().unwrap();
        let source_of_clients = Arc::new(recorded(Use::Client));
        app.set_tags(DenseNumbers { segments, source: source_of_clients, store });
        let series = Series::builder().store(&checked.db.store().unwrap()).build().unwrap();
        series.create("invoices", SeriesDefinition::new("R{n}").unwrap()).unwrap();
        app.series.set_db(checked.db.clone());
        let _ = app.set_trouble(None);
        app.set_started();
        let (http, runtime) = (http::Service::new(app), one_threaded(4).unwrap());
        let (observer, log) = (Observer::new(), Log::default());
        Service { app, http, runtime, registry, source, clock, observer, log, _folder: folder }
    }

    /// The status and the body of an answer.
    pub(super) fn get(&self, path: &str) -> (u16, String) {
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
        let answer = self.runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(1 << 20);
            let answered =
                http1::Builder::new().serve_connection(TokioIo::new(server), self.http.clone());
            let mut answer = String::new();
            let asked = async {
                client.write_all(request.as_bytes()).await.unwrap();
                client.read_to_string(&mut answer).await.unwrap();
            };
            let (_, ()) = tokio::join!(answered, asked);
            answer
        });
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.get("/v1/status").1).unwrap()
    }

    /// Looks as the service does each second.
    pub(super) fn log_changes(&mut self) {
        let log = self.log.clone();
        let writer = move || log.clone();
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || self.observer.log_changes(self.app));
    }

    /// What was logged since this was last asked.
    fn logged(&mut self) -> String {
        self.log_changes();
        let bytes = std::mem::take(&mut *self.log.0.lock().unwrap());
        String::from_utf8(bytes).unwrap()
    }

    #[track_caller]
    pub(super) fn wait_for(&mut self, what: &str, is_so: impl Fn(&Service) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < FOREVER, "never {what}: {}", self.json());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The metrics make these alerts fire, as each compares one metric with a number.
    #[track_caller]
    pub(super) fn assert_alerts(&self, alerts: &[&str]) {
        let (_, metrics) = self.get("/metrics");
        let rules = include_str!("../../deploy/alerts.yml");
        for alert in alerts {
            let (_, rule) = rules.split_once(&format!("- alert: {alert}\n        expr: ")).unwrap();
            let [metric, operator, number] =
                rule.lines().next().unwrap().split(' ').collect::<Vec<_>>().try_into().unwrap();
            let (name, label) = metric.split_once('{').unwrap_or((metric, "}"));
            let label = label.trim_end_matches('}');
            let number: f64 = number.parse().unwrap();
            let fires = metrics.lines().any(|line| {
                let Some((series, value)) = line.rsplit_once(' ') else { return false };
                let is_of = series.split('{').next() == Some(name) && series.contains(label);
                is_of
                    && value.parse::<f64>().is_ok_and(|value| match operator {
                        "==" => (value - number).abs() < f64::EPSILON,
                        ">" => value > number,
                        _ => panic!("{operator}"),
                    })
            });
            assert!(fires, "{alert} does not fire: {metrics}");
        }
    }

    /// Of what is given, this has this state for this reason, and all views say so.
    #[track_caller]
    pub(super) fn assert_told(
        &mut self,
        Thing { list, name, label }: Thing,
        state: &str,
        why: &str,
    ) {
        let what = format!("{name} {state} {why}");
        let status = self.json();
        let entries = status[list].as_array().unwrap();
        let key = ["kind", "tag", "series"].into_iter().find(|key| entries[0][key].is_string());
        let entry = entries.iter().find(|entry| entry[key.unwrap()] == name).unwrap();
        assert_eq!(entry["state"], state, "{what}: {entry}");
        assert_eq!(entry["problem"], why, "{what}: {entry}");
        assert!(entry["advice"].as_str().is_some_and(|advice| !advice.is_empty()), "{entry}");
        let health = &status["health"];
        assert_ne!(health["level"], "ok", "{what}: {health}");
        assert!(health["text"].as_str().unwrap().contains(why), "{what}: {health}");
        let (_, page) = self.get("/");
        let shown = page.split("Last events").next().unwrap();
        assert!(!shown.contains("Healthy") && !shown.contains("All is well"), "{what}: {shown}");
        let escaped = why.replace('&', "&amp;").replace('"', "&quot;");
        assert!(shown.contains(&escaped), "{what}: {escaped} is not in {shown}");
        let word = match (list, state) {
            ("generators", "empty") => ">NOT GIVEN<",
            ("generators", _) => ">until 20",
            (_, "empty") => ">empty<",
            (_, "went-back") => ">went back<",
            _ => ">from memory",
        };
        assert!(shown.contains(word), "{what}: {word} is not in {shown}");
        let (_, metrics) = self.get("/metrics");
        for line in gauges(list, state).map(|(gauge, value)| format!("{gauge}{{{label}}} {value}"))
        {
            assert!(metrics.lines().any(|one| one == line), "{what}: {line} is not in {metrics}");
        }
        let of_kind = health["conditions"][0]["kind"].as_str().unwrap();
        let line = format!("uidring_condition{{kind=\"{of_kind}\"}} 1");
        assert!(metrics.contains(&line), "{what}: {line} is not in {metrics}");
        let logged = self.logged().replace("\\\"", "\"");
        assert!(logged.contains(why), "{what}: it is not in the log: {logged}");
    }
}

/// Something that the service gives: where it is in the status, and the label of its metrics.
#[derive(Clone, Copy)]
pub(super) struct Thing {
    list: &'static str,
    name: &'static str,
    label: &'static str,
}

pub(super) const UIDS: Thing =
    Thing { list: "generators", name: "uids", label: "generator=\"uids\"" };
pub(super) const SNOWFLAKES: Thing =
    Thing { list: "generators", name: "snowflakes", label: "generator=\"snowflakes\"" };
pub(super) const TAG: Thing = Thing { list: "tags", name: "orders", label: "tag=\"orders\"" };
pub(super) const SERIES: Thing =
    Thing { list: "series", name: "invoices", label: "series=\"invoices\"" };

/// The gauges of something in this state.
fn gauges(list: &str, state: &str) -> impl Iterator<Item = (&'static str, u8)> {
    let is_out = state != "from-memory";
    let gauges = match list {
        "generators" => [("uidring_giving_uids", !is_out), ("uidring_uids_from_memory", !is_out)],
        "tags" if state == "went-back" => {
            [("uidring_tag_failing", true), ("uidring_tag_went_back", true)]
        }
        "tags" => [("uidring_tag_failing", true), ("uidring_tag_empty", is_out)],
        _ => [("uidring_series_failing", is_out), ("uidring_series_from_memory", !is_out)],
    };
    gauges.into_iter().map(|(gauge, is_so)| (gauge, u8::from(is_so)))
}
