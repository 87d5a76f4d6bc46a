//! A soak in real time: a generator, ten tags and the service at full load, for as long as is
//! wanted. At its end all is as it was at its start: memory, threads, open files and latency. No id
//! comes twice.
//!
//! Worker ids are leased for a second, databases are locked or away every few seconds, and
//! clients and other generators come and go. The service reads its tokens again twice a second.
//!
//! ```sh
//! verify/soak/run 2h
//! ```

mod client;
mod latency;
mod ledger;
mod outages;
mod process;
mod service;
mod slices;
mod state;
mod takers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use clap::Parser;
use service::Service;
use slices::{Both, Slice};
use state::{FOREVER, State};
use uidring::segment::{SegmentGenerator, Segments};
use uidring::{Store, UidGenerator, segment};

/// Nobody takes for so long when it is measured what is held at rest. The service's threads for
/// database calls end after ten idle seconds.
const REST: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(15)];
const SAMPLE: Duration = Duration::from_millis(50);
const CLIENTS: usize = 4;
/// What an outage need not lead to.
const MAY_BE_NONE: [&str; 4] =
    ["failed takes", "failed renewals", "failed visits", "refused requests"];

/// A generator, ten tags and the service at full load in real time.
#[derive(Debug, Parser)]
struct Options {
    /// How long the load lasts, such as 10s or 2h
    #[arg(value_name = "LENGTH", default_value = "10s", value_parser = uidring_args::some_length)]
    length: Duration,

    /// In how many slices it is measured
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(4..=1000))]
    slices: u32,

    /// The service's program [default: that beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let since = Instant::now();
    let found = run(&options).unwrap_or_else(|error| vec![error]);
    let seconds = since.elapsed().as_secs();
    if found.is_empty() {
        println!("soak GOOD, in {seconds} s");
        return ExitCode::SUCCESS;
    }
    for what in &found {
        println!("FAILED: {what}");
    }
    println!("soak FAILED, in {seconds} s");
    ExitCode::FAILURE
}

/// What is under load.
struct Subject {
    state: Arc<State>,
    uids: UidGenerator,
    tags: Vec<SegmentGenerator>,
    service: Service,
    file: PathBuf,
    rest: Duration,
}

/// Returns what is wrong.
fn run(options: &Options) -> Result<Vec<String>, String> {
    let told = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).map_err(told)?;
    let [own, of_service] = ["own", "service"].map(|name| folder.path().join(name));
    for folder in [&own, &of_service] {
        std::fs::create_dir(folder).map_err(told)?;
    }
    let program = match &options.server {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(told)?.with_file_name("uidring-server"),
    };
    let (state, file) = (Arc::new(State::new()), own.join("ids.db"));
    let store = Store::open(&file).map_err(|error| error.to_string())?;
    let uids = takers::generator(&store, &state, FOREVER)?;
    let segments = takers::segments(&store)?;
    let tags = takers::create_tags(&segments)?;
    let service = Service::start(&program, &of_service)?;
    let rest = (options.length / 10).clamp(REST[0], REST[1]);
    let subject = Subject { state, uids, tags, service, file, rest };

    // All that is made when it is first needed, such as threads, is there afterwards.
    let warm_up = (options.length / 5).min(Duration::from_secs(10));
    subject.load(warm_up, 1)?;
    let before = subject.at_rest()?;
    println!("before, at rest: {before}");
    let slices = subject.load(options.length, options.slices)?;
    subject.recovers()?;
    let after = subject.comes_to_rest(&before)?;
    println!("after, at rest: {after}");
    let mut found = subject.state.troubles();
    found.extend(after.growth_at_rest(&before));
    found.extend(slices::changes(&slices));
    found.extend(subject.what_never_happened());
    for (name, count) in subject.state.counts.all() {
        println!("{count} {name}");
    }
    found.extend(subject.end(segments));
    Ok(found)
}

impl Subject {
    /// Lets all threads of the load run, and measures them in slices.
    fn load(&self, length: Duration, slices: u32) -> Result<Vec<Slice>, String> {
        let Subject { state, uids, tags, service, file, .. } = self;
        state.is_over.store(false, Ordering::Relaxed);
        state.latencies.end_slice();
        let counter = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                spawn(scope, state, || takers::take_uids(state, uids, &counter));
                spawn(scope, state, || takers::take_numbers(state, tags));
            }
            spawn(scope, state, || takers::take_local_uids(state, uids));
            spawn(scope, state, || takers::visit(state, file));
            for _ in 0..CLIENTS {
                spawn(scope, state, || client::ask(state, service.address));
            }
            spawn(scope, state, || client::connect(state, service.address));
            spawn(scope, state, || service::operate(state, service));
            spawn(scope, state, || outages::disturb(state, [file, &service.file()], length));
            let slices = self.measure(length, slices);
            state.end();
            slices
        })
    }

    fn measure(&self, length: Duration, count: u32) -> Result<Vec<Slice>, String> {
        let begin = Instant::now();
        let mut slices = Vec::new();
        for number in 1..=count {
            let since = Instant::now();
            let mut held = Both::now(self.service.id())?;
            while begin.elapsed() < length * number / count && self.state.goes_on() {
                thread::sleep(SAMPLE);
                self.service.check()?;
                held = held.min(Both::now(self.service.id())?);
            }
            let (length, calls) = (since.elapsed(), self.state.latencies.end_slice());
            let slice = Slice { length, held, calls };
            if count > 1 {
                println!("slice {number}, {:.1} s:", begin.elapsed().as_secs_f64());
                print!("{slice}");
            }
            slices.push(slice);
            if !self.state.goes_on() {
                break;
            }
        }
        Ok(slices)
    }

    /// What is held while nobody takes. Leases are still renewed.
    fn at_rest(&self) -> Result<Both, String> {
        let since = Instant::now();
        let mut held = Both::now(self.service.id())?;
        while since.elapsed() < self.rest {
            thread::sleep(SAMPLE);
            held = held.min(Both::now(self.service.id())?);
        }
        Ok(held)
    }

    /// The same, once no more is held than `before`, if that comes.
    fn comes_to_rest(&self, before: &Both) -> Result<Both, String> {
        let since = Instant::now();
        loop {
            let held = self.at_rest()?;
            if held.growth_at_rest(before).is_empty() || since.elapsed() > FOREVER {
                return Ok(held);
            }
        }
    }

    /// All outages are over, so that there are ids of each kind.
    fn recovers(&self) -> Result<(), String> {
        let since = Instant::now();
        loop {
            let uid = self.uids.take().map(|uid| vec![uid.get()]);
            let number = |tag: &SegmentGenerator| tag.take().map(segment::Number::get);
            let numbers: Result<Vec<u64>, _> = self.tags.iter().map(number).collect();
            let service = client::ask_for_each(&self.state, self.service.address);
            let service = service.map_err(|error| format!("no answer of the service: {error}"))?;
            match (uid, numbers) {
                (Ok(uid), Ok(numbers)) if service.is_ok() => {
                    self.state.check(self.state.own.note_uids(&uid));
                    for (tag, number) in numbers.iter().enumerate() {
                        self.state.check(self.state.own.note_numbers(tag, &[*number]));
                    }
                    return Ok(());
                }
                (uid, numbers) if since.elapsed() > FOREVER => {
                    return Err(format!("it does not recover: {uid:?}, {numbers:?}, {service:?}"));
                }
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Without these the soak shows nothing.
    fn what_never_happened(&self) -> Vec<String> {
        let all = self.state.counts.all();
        let never = all.iter().filter(|(name, count)| *count == 0 && !MAY_BE_NONE.contains(name));
        never.map(|(name, _)| format!("there were no {name}")).collect()
    }

    fn end(self, segments: Segments) -> Vec<String> {
        let Subject { uids, tags, service, .. } = self;
        drop(tags);
        let uids = uids.shutdown().map_err(|error| error.to_string());
        let segments = segments.shutdown().map_err(|error| error.to_string());
        [uids, segments, service.stop()].into_iter().filter_map(Result::err).collect()
    }
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    state: &'scope State,
    body: impl FnOnce() + Send + 'scope,
) {
    scope.spawn(move || {
        let _ends = EndsIfItPanics(state);
        body();
    });
}

/// Ends the load if the thread panics.
struct EndsIfItPanics<'a>(&'a State);

impl Drop for EndsIfItPanics<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.trouble("a thread panicked");
        }
    }
}
