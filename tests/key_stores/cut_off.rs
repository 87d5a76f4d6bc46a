//! Three members, of which the one that leads is cut off from the others, together with its own
//! clients, and comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant, SystemTime};
use std::{env, iter};

use uidring::segment::{SegmentSource, Tag};
use uidring::{Builder, Layout, LeadLimit, Parts, RegistryOptions, Store, Uid, UidGenerator};

use crate::key_servers::etcd::Etcds;
use crate::key_servers::etcd::network::{Machine, with_network};
use crate::key_servers::zookeeper::ZooKeepers;
use crate::key_servers::zookeeper::network::Machine as ZooKeeperMachine;

const ADDRESS: &str = "UIDRING_TEST_ADDRESS";
const OUT: &str = "UIDRING_TEST_OUT";
const LEASE: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(2);
/// How long a test waits for what has to happen.
const PATIENCE: Duration = Duration::from_secs(120);

fn layout() -> Layout {
    Layout::new(41, 13, 9).unwrap().with_tick(Duration::from_millis(1)).unwrap()
}

/// UIDs of exact time, so that nobody borrows ticks of the time after its lease.
fn builder(store: &Store, options: RegistryOptions) -> Builder {
    let builder = UidGenerator::builder().layout(layout()).exact_time();
    let builder = builder.on_lead_limit(LeadLimit::Fail).start_deadline(TIMEOUT);
    builder.registry(store.registry_with(options).unwrap())
}

fn open(address: &str) -> Store {
    Store::open(address).unwrap().with_timeout(TIMEOUT)
}

/// What a client notes, one in a line: what it is, and a number.
///
/// * `uid`: it has taken a UID; `worker`: its worker id is this now.
/// * `number`: it has taken a number of a tag.
/// * `start`: a UID of a generator with a permanent worker id that it has started for it.
/// * `no uid`, `no number` and `no start`: there was none.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn client() {
    let (Ok(address), Ok(out)) = (env::var(ADDRESS), env::var(OUT)) else { return };
    let out = Mutex::new(File::create(out).unwrap());
    let note = |what: &str, number: u64| {
        out.lock().unwrap().write_all(format!("{what} {number}\n").as_bytes()).unwrap();
    };
    let (store, is_over) = (open(&address), AtomicBool::new(false));
    let again = || {
        sleep(Duration::from_millis(20));
        !is_over.load(Ordering::Relaxed)
    };
    // Each start changes what all starts read: with many of them on a busy machine, one that leases
    // its id, and takes longer, is overtaken for minutes.
    let start_again = || {
        sleep(Duration::from_millis(250));
        again()
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let build = || builder(&store, RegistryOptions::new().leased(LEASE)).build();
            // On a busy machine, others may overtake a start for longer than it tries.
            let uids = loop {
                match build() {
                    Ok(uids) => break uids,
                    Err(_) if again() => {}
                    Err(_) => return,
                }
            };
            let mut worker = None;
            while again() {
                if let Ok(uid) = uids.take() {
                    if worker.replace(uids.worker_id()) != worker {
                        note("worker", uids.worker_id());
                    }
                    note("uid", uid.get());
                } else {
                    note("no uid", 0);
                }
                assert_eq!(uids.status().broken_rule, None);
            }
        });
        scope.spawn(|| {
            let tags = store.segments().unwrap();
            while again() {
                if let Ok(segment) = tags.load("orders", None) {
                    (0..segment.count).for_each(|more| note("number", segment.first + more));
                } else {
                    note("no number", 0);
                }
            }
        });
        scope.spawn(|| {
            while start_again() {
                if let Ok(uids) = builder(&store, RegistryOptions::new()).build() {
                    note("start", uids.take().unwrap().get());
                } else {
                    note("no start", 0);
                }
            }
        });
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        is_over.store(true, Ordering::Relaxed);
    });
}

/// A process with such a client, which ends with this.
struct Client {
    process: Child,
    out: PathBuf,
}

impl Client {
    fn start(mut command: Command, address: &str, out: PathBuf) -> Client {
        command.args(["--exact", "cut_off::client", "--ignored", "--nocapture"]);
        command.env(ADDRESS, address).env(OUT, &out).stdin(Stdio::piped()).stdout(Stdio::null());
        Client { process: command.spawn().unwrap(), out }
    }

    /// All that it has noted so far.
    fn notes(&self) -> Vec<(String, u64)> {
        let text = fs::read_to_string(&self.out).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let notes = whole.lines().map(|line| {
            let (what, number) = line.rsplit_once(' ').unwrap();
            (what.to_owned(), number.parse().unwrap())
        });
        notes.collect()
    }

    /// Waits until it has noted all of these several times since it had noted so many.
    fn await_notes(&mut self, since: usize, expected: &[&str]) {
        let begin = Instant::now();
        loop {
            let notes = self.notes().split_off(since);
            let count = |what: &&&str| notes.iter().filter(|note| note.0 == **what).count() < 3;
            let missing: Vec<_> = expected.iter().filter(count).collect();
            if missing.is_empty() {
                return;
            }
            let last = &notes[notes.len().saturating_sub(20)..];
            assert!(begin.elapsed() < PATIENCE, "there is no {missing:?}; the last were {last:?}");
            assert_eq!(self.process.try_wait().unwrap(), None, "the client ends");
            sleep(Duration::from_millis(50));
        }
    }

    fn worker(&self) -> u64 {
        self.notes().iter().rfind(|note| note.0 == "worker").unwrap().1
    }

    /// Has it end, and returns all that it has noted.
    fn end(mut self) -> Vec<(String, u64)> {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
        self.notes()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const GOOD: [&str; 3] = ["uid", "number", "start"];
const BAD: [&str; 3] = ["no uid", "no number", "no start"];

/// Who takes UIDs with a worker id that it leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Client(usize),
    Heir(usize),
}

/// Whoever gets a worker id has it for a lease at least. So a holder that uses an id again after
/// another has used it was away from it for a lease. Two that share an id alternate much faster.
fn assert_each_worker_has_one_holder_at_a_time(mut uids: Vec<(Holder, Uid)>) {
    uids.sort_by_key(|(_, uid)| *uid);
    let mut uses: BTreeMap<u64, Vec<(Holder, SystemTime)>> = BTreeMap::new();
    for (holder, uid) in uids {
        let Parts { time, worker, .. } = layout().parts(uid);
        let uses = uses.entry(worker).or_default();
        if uses.last().is_some_and(|(last, _)| *last != holder) {
            let before = uses.iter().rfind(|(earlier, _)| *earlier == holder);
            let away = before.map(|(_, before)| time.duration_since(*before).unwrap());
            assert!(
                away.is_none_or(|away| away >= LEASE),
                "{holder:?} was away from worker id {worker} for {away:?} only: {:?} had it",
                uses.last()
            );
        }
        uses.push((holder, time));
    }
}

/// The members at these places have `machines`. `leader` says which one of those that are connected
/// leads.
fn check(
    scheme: &str,
    places: &[String],
    machines: &[Machine],
    leader: impl Fn(&[usize]) -> Option<usize>,
    folder: &Path,
) {
    let url = |places: &str| format!("{scheme}://{places}/ids");
    let of_all = url(&places.join(","));
    let await_leader = |among: &[usize]| {
        let begin = Instant::now();
        let found = iter::repeat_with(|| {
            sleep(Duration::from_millis(50));
            assert!(begin.elapsed() < PATIENCE, "one of {among:?} leads");
            leader(among)
        });
        found.flatten().next().unwrap()
    };
    open(&of_all).segments().unwrap().create("orders", &Tag::new().step(3)).unwrap();
    let old = await_leader(&[0, 1, 2]);
    let others: Vec<usize> = (0..3).filter(|&member| member != old).collect();
    let program = env::current_exe().unwrap();
    let start = |name: &str, machine: &Machine, address: &str| {
        Client::start(machine.command(&program), address, folder.join(name))
    };
    let mut most = start("most", &machines[others[0]], &of_all);
    // One knows all members, but reaches its own alone. The other one knows no other.
    let mut cut =
        [start("all", &machines[old], &of_all), start("own", &machines[old], &url(&places[old]))];
    most.await_notes(0, &GOOD);
    for client in &mut cut {
        client.await_notes(0, &GOOD);
    }
    let held = cut.each_ref().map(Client::worker);

    machines[old].connect(false);
    let new = await_leader(&others);
    assert_ne!(new, old);
    let since = most.notes().len();
    most.await_notes(since, &GOOD);
    // The others get nothing any more when their leases have ended.
    for client in &mut cut {
        let since = client.notes().len();
        client.await_notes(since, &BAD);
    }
    let silent = cut.each_ref().map(|client| client.notes().len());
    // Their worker ids are given to others.
    let mut heirs: Vec<UidGenerator> = Vec::new();
    let begin = Instant::now();
    while held.iter().any(|worker| heirs.iter().all(|heir| heir.worker_id() != *worker)) {
        assert!(begin.elapsed() < PATIENCE, "{held:?} are free");
        heirs.extend(builder(&open(&of_all), RegistryOptions::new().leased(LEASE)).build());
    }
    let taken = |heirs: &[UidGenerator]| {
        sleep(Duration::from_millis(10));
        let uids = heirs.iter().enumerate();
        uids.map(|(heir, uids)| (Holder::Heir(heir), uids.take().unwrap())).collect::<Vec<_>>()
    };
    let mut uids: Vec<(Holder, Uid)> = (0..100).flat_map(|_| taken(&heirs)).collect();
    for (client, silent) in cut.iter().zip(silent) {
        let notes = client.notes().split_off(silent);
        assert!(notes.iter().all(|note| BAD.contains(&&*note.0)), "{notes:?}");
        assert!(!notes.is_empty());
    }

    machines[old].connect(true);
    for client in &mut cut {
        let since = client.notes().len();
        client.await_notes(since, &GOOD);
    }
    let since = most.notes().len();
    most.await_notes(since, &GOOD);
    uids.extend((0..100).flat_map(|_| taken(&heirs)));
    let mut seen: BTreeSet<(&str, u64)> = BTreeSet::new();
    for (client, notes) in cut.into_iter().chain([most]).map(Client::end).enumerate() {
        for (what, number) in notes {
            match &*what {
                "uid" => uids.push((Holder::Client(client), Uid::new(number).unwrap())),
                "start" => assert!(seen.insert(("uid", number)), "the UID {number} came twice"),
                "number" => assert!(seen.insert(("number", number)), "{number} came twice"),
                _ => {}
            }
        }
    }
    assert!(uids.iter().all(|(_, uid)| seen.insert(("uid", uid.get()))), "a UID came twice");
    assert_each_worker_has_one_holder_at_a_time(uids);
    println!("{} UIDs and numbers, none twice", seen.len());
}

#[test]
#[ignore = "needs etcd's server, root and network namespaces"]
fn etcd_whose_leader_is_cut_off() {
    with_network("cut_off::etcd_whose_leader_is_cut_off", || {
        let machines: Vec<Machine> = (1..=3).map(Machine::new).collect();
        let members = Etcds::start_on(&machines, &[]);
        let places: Vec<String> = (0..3).map(|member| members.place(member)).collect();
        let leader = |among: &[usize]| among.iter().copied().find(|&it| members.leads(it));
        let folder = tempfile::tempdir().unwrap();
        check("etcd", &places, &machines, leader, folder.path());
    });
}

#[test]
#[ignore = "needs ZooKeeper, root and network namespaces"]
fn zookeeper_whose_leader_is_cut_off() {
    with_network("cut_off::zookeeper_whose_leader_is_cut_off", || {
        let machines: Vec<Machine> = (1..=3).map(Machine::new).collect();
        let same: Vec<_> = (1..=3).map(ZooKeeperMachine::Apart).collect();
        let servers = ZooKeepers::start_on(&same, "");
        let places: Vec<String> = (0..3).map(|server| servers.place(server)).collect();
        let leader = |among: &[usize]| among.iter().copied().find(|&it| servers.leads(it));
        let folder = tempfile::tempdir().unwrap();
        check("zookeeper", &places, &machines, leader, folder.path());
    });
}
