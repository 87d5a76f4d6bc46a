//! Ten years of the wall clock, in steps of half a year: libfaketime moves what the system tells
//! the program.
//!
//! The monotonic clock stays as it is. libfaketime cannot move it for a program whose threads wait
//! for times of that clock by a system call of their own, as Rust's do.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use uidring::{Layout, Uid};

use crate::common::{Answer, Server, folder, signal};

const SECOND: i64 = 1;
const DAY: i64 = 24 * 3600;
/// The generator reads the clock once a second, so that smaller steps would take longer.
const HALF_YEAR: i64 = 182 * DAY;
const STEPS: usize = 20;
/// How far UIDs may be ahead of the clock: `max_lead`, unless set.
const MAX_LEAD: Duration = Duration::from_secs(24 * 3600);
/// A UID that is older is one of the last step.
const NEAR: Duration = Duration::from_secs(3600);
const TAGS: usize = 10;
/// What else happens in some of the steps.
const EVENTS: [Event; 6] =
    [Event::Nothing, Event::Outage, Event::LeapSecond, Event::Back, Event::FarBack, Event::Nothing];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Nothing,
    /// The database is locked while the step begins.
    Outage,
    /// The last second of the step comes twice.
    LeapSecond,
    /// The clock is set back by less than UIDs may be ahead.
    Back,
    /// It is set back by more.
    FarBack,
}

/// The wall clock of the program.
struct WallClock {
    file: PathBuf,
    /// In seconds, from that of this process.
    offset: i64,
}

impl WallClock {
    fn new(folder: &Path) -> WallClock {
        let clock = WallClock { file: folder.join("offset"), offset: 0 };
        clock.write();
        clock
    }

    fn variables(&self) -> [(&'static str, String); 4] {
        let library = ["x86_64-linux-gnu", "aarch64-linux-gnu", "../lib64", "."]
            .map(|folder| Path::new("/usr/lib").join(folder).join("faketime/libfaketimeMT.so.1"))
            .into_iter()
            .find(|file| file.exists())
            .unwrap();
        [
            ("LD_PRELOAD", library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }

    fn write(&self) {
        let new = self.file.with_extension("new");
        fs::write(&new, format!("{:+}s", self.offset)).unwrap();
        fs::rename(new, &self.file).unwrap();
    }

    fn advance(&mut self, by: i64) {
        self.offset += by;
        self.write();
    }

    fn now(&self) -> SystemTime {
        SystemTime::now() + Duration::from_secs(self.offset.unsigned_abs())
    }
}

/// All ids that the program has given.
#[derive(Default)]
struct Taken {
    uids: HashSet<Uid>,
    /// The largest number of each tag.
    numbers: [u64; TAGS],
}

impl Taken {
    /// Takes UIDs, and returns how far the last one is ahead of and behind the clock.
    fn uids(&mut self, server: &Server, clock: &WallClock) -> Option<(Duration, Duration)> {
        let answer = server.get("/v1/uids?n=50");
        if answer.status == 503 {
            return None;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut last = None;
        for uid in answer.json()["uids"].as_array().unwrap() {
            let uid: Uid = uid.as_str().unwrap().parse().unwrap();
            assert!(self.uids.insert(uid), "{uid} came twice");
            last = Some(uid);
        }
        let (time, now) = (Layout::DEFAULT.parts(last?).time, clock.now());
        let [ahead, behind] =
            [time.duration_since(now), now.duration_since(time)].map(Result::unwrap_or_default);
        Some((ahead, behind))
    }

    /// Takes numbers of a tag. They are dense, and each is larger than those before.
    fn numbers(&mut self, server: &Server, tag: usize) -> bool {
        let answer = server.get(&format!("/v1/tags/tag-{tag}/ids?n=7"));
        if answer.status == 503 {
            return false;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        for number in answer.json()["ids"].as_array().unwrap() {
            let number = number.as_str().unwrap().parse().unwrap();
            assert_eq!(number, self.numbers[tag] + 1, "tag {tag}");
            self.numbers[tag] = number;
        }
        true
    }
}

/// The threads and open files of the program, while it answers nobody.
fn held(server: &Server) -> [usize; 2] {
    let count = |what| fs::read_dir(format!("/proc/{}/{what}", server.id())).unwrap().count();
    ["task", "fd"].map(count)
}

#[test]
#[ignore = "needs libfaketime, Debian's package faketime"]
fn the_clock_goes_through_ten_years() {
    let folder = folder();
    let mut clock = WallClock::new(folder.path());
    let tokens = "public = [\"*\"]\npublic_uids = true\n";
    fs::write(folder.path().join("tokens.toml"), tokens).unwrap();
    let mut variables = clock.variables().to_vec();
    variables.push(("UIDRING_SERVER_ADMIN_TOKEN", "0123456789abcdef-admin".to_owned()));
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let options = ["--lease=1h", "--tokens=tokens.toml"];
    let server = Server::launch_with(folder, &options, &variables);
    server.wait_until_ready();
    let admin = "authorization: Bearer 0123456789abcdef-admin";
    for tag in 0..TAGS {
        let path = format!("/v1/tags/tag-{tag}");
        let headers = ["content-type: application/json", admin];
        assert_eq!(server.send("PUT", &path, &headers, "{}").status, 201);
    }
    let mut taken = Taken::default();
    // Nobody asks for the last tag until the end.
    let is_taken = |taken: &mut Taken, tag| taken.numbers(&server, tag);
    assert!(is_taken(&mut taken, TAGS - 1));
    let mut first = None;
    for step in 0..STEPS {
        let event = EVENTS[step % EVENTS.len()];
        let locked = (event == Event::Outage).then(|| {
            let file = rusqlite::Connection::open(server.file()).unwrap();
            file.busy_timeout(Duration::from_secs(30)).unwrap();
            file.execute_batch("BEGIN EXCLUSIVE").unwrap();
            file
        });
        clock.advance(HALF_YEAR);
        match event {
            Event::Nothing => {}
            Event::Outage => {
                // The lease is over, and nothing can be reserved.
                wait_for(&server, "out of UIDs", || taken.uids(&server, &clock).is_none());
                assert_eq!(server.get("/livez").status, 200);
            }
            Event::LeapSecond => clock.advance(-SECOND),
            Event::Back => {
                wait_for(&server, "of this step", || is_near(taken.uids(&server, &clock)));
                clock.advance(-50 * SECOND);
            }
            Event::FarBack => {
                wait_for(&server, "of this step", || is_near(taken.uids(&server, &clock)));
                clock.advance(-3 * DAY);
            }
        }
        drop(locked);
        signal(server.id(), "HUP");
        wait_for(&server, "of this step", || is_near(taken.uids(&server, &clock)));
        let (ahead, _) = taken.uids(&server, &clock).unwrap();
        assert!(ahead <= MAX_LEAD, "step {step}, {event:?}: {ahead:?} ahead");
        for tag in 0..TAGS - 1 {
            wait_for(&server, "given again", || is_taken(&mut taken, tag));
        }
        server.wait_until_ready();
        assert_eq!(server.send("GET", "/v1/status", &[admin], "").status, 200);
        if step % 2 == 0 {
            let [threads, files] = *first.get_or_insert_with(|| held(&server));
            server.wait_for("as in the first step", || {
                let [now_threads, now_files] = held(&server);
                now_threads <= threads && now_files <= files
            });
        }
    }
    assert!(is_taken(&mut taken, TAGS - 1));
    let page = server.send("GET", "/metrics", &[admin], "");
    let [steps, workers] =
        ["uidring_clock_steps_total", "uidring_new_workers_total"].map(|name| sum(&page, name));
    let (uids, numbers) = (taken.uids.len(), taken.numbers);
    println!("{uids} UIDs, {steps} steps back, {workers} new worker ids, numbers {numbers:?}");
    assert!(steps > 0.0 && workers > 0.0, "nothing happens");
    drop(server.stop());
}

/// A machine whose clock has no battery starts years ago, and learns the time later.
#[test]
#[ignore = "needs libfaketime, Debian's package faketime"]
fn a_service_waits_until_its_clock_is_set() {
    let folder = folder();
    let mut clock = WallClock::new(folder.path());
    clock.advance(-20 * 365 * DAY);
    let variables = clock.variables();
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::launch_with(folder, &[], &variables);
    server.wait_for("told what is wrong", || {
        let answer = server.get("/v1/uids");
        answer.status == 503 && answer.text().contains("the clock has not been set")
    });
    // Each try finds another time. The log says it once, and once that UIDs cannot be given.
    std::thread::sleep(Duration::from_secs(3));
    let log = server.log();
    assert_eq!(log.matches("the clock is wrong; set it").count(), 2, "{log}");
    clock.advance(20 * 365 * DAY);
    server.wait_for("given UIDs", || server.get("/v1/uids").status == 200);
    drop(server.stop());
}

/// Waits until `is_so`.
fn wait_for(server: &Server, what: &str, is_so: impl FnMut() -> bool) {
    let is_so = RefCell::new(is_so);
    server.wait_for(what, || is_so.borrow_mut()());
}

/// The sum of a metric's series.
fn sum(page: &Answer, name: &str) -> f64 {
    let series = page.text().lines().filter(|line| line.starts_with(name));
    series.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// Whether UIDs are of the time that the clock shows.
fn is_near(distance: Option<(Duration, Duration)>) -> bool {
    distance.is_some_and(|(ahead, behind)| ahead <= NEAR && behind <= NEAR)
}
