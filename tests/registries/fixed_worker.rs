//! Worker ids that the caller chose: no second twice across restarts and set-back clocks, and clear
//! refusals.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::{Clock, ManualClock, SystemClock};
use uidring::registry::FixedWorker;
#[cfg(unix)]
use uidring::registry::{Request, WorkerRegistry};
use uidring::{BuildError, Layout, LeadLimit, RegistryError, TakeError, Uid, UidGenerator};

use crate::alone::alone;
use crate::folder::folder;

/// Few UIDs a tick, so that thousands of ticks are soon taken.
const A_TICK: u64 = 256;

fn build(file: &Path, clock: &ManualClock) -> Result<UidGenerator, BuildError> {
    UidGenerator::builder()
        .registry(FixedWorker::new(7).with_state(file))
        .layout(Layout::new(30, 20, A_TICK.ilog2()).unwrap())
        .clock(clock.clone())
        .build()
}

#[test]
fn a_restart_under_a_clock_set_back_repeats_nothing() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    let mut all = HashSet::new();
    for round in 0..30 {
        let uids = build(&file, &clock).unwrap();
        for _ in 0..20_000 {
            assert!(all.insert(uids.take().unwrap()), "round {round}");
        }
        clock.rewind(Duration::from_secs(1200));
    }
    clock.rewind(Duration::from_secs(24 * 3600));
    let error = build(&file, &clock).unwrap_err().to_string();
    assert!(
        error.starts_with("worker id 7 has been used up to ") && error.contains("set the clock"),
        "{error}"
    );
}

/// With a lag that is shorter than a tick, a start begins a tick later, whatever the lead.
#[test]
fn a_generator_that_must_hardly_be_ahead_starts_at_each_moment_of_a_second() {
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_800_000);
    for ms in (0..1000).step_by(100) {
        let dir = folder();
        let registry = FixedWorker::new(7).with_state(dir.path().join("uidring.state"));
        let uids = UidGenerator::builder()
            .registry(registry)
            .clock(ManualClock::new(second + Duration::from_millis(ms)))
            .max_lag(Duration::from_millis(200))
            .max_lead(Duration::from_secs(1))
            .start_deadline(Duration::ZERO)
            .build();
        assert!(uids.is_ok(), "{ms} ms: {uids:?}");
    }
}

/// As after a crash: what was reserved counts as used.
#[test]
fn a_stop_without_a_farewell_repeats_nothing() {
    let dir = folder();
    let (file, kept) = (dir.path().join("uidring.state"), dir.path().join("kept"));
    let clock = ManualClock::new(SystemClock.now());
    let mut all = HashSet::new();
    for _ in 0..20 {
        let uids = build(&file, &clock).unwrap();
        for _ in 0..20_000 {
            assert!(all.insert(uids.take().unwrap()));
        }
        fs::copy(&file, &kept).unwrap();
        drop(uids);
        fs::rename(&kept, &file).unwrap();
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    let refused = |text: &str| {
        let error = build(&file, &clock).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("cannot use the state file {}", file.display())),
            "{error}"
        );
        assert!(error.contains(text), "{error}");
    };

    let held = build(&file, &clock).unwrap();
    refused("another generator has it; give each a number and a file of its own");
    drop(held);

    let good = fs::read_to_string(&file).unwrap();
    for damaged in [
        &good[..good.len() - 1],
        &good[..good.len() / 2],
        &good.replace("used until ", "used until x"),
    ] {
        fs::write(&file, damaged).unwrap();
        refused("it is damaged");
    }
    fs::write(&file, "worker=7\n").unwrap();
    refused("it is not a state file of uidring");
    fs::write(&file, good.replace("worker 7", "worker 8")).unwrap();
    refused(
        "it belongs to worker 8, layout 30 | 20 | 8 in seconds from 2026-01-01T00:00:00Z, and \
         not to worker 7",
    );
    fs::write(&file, good.replace("30 | 20 | 8", "29 | 21 | 8")).unwrap();
    refused("and not to worker 7, layout 30 | 20 | 8");
    fs::write(&file, &good).unwrap();
    build(&file, &clock).unwrap();

    let missing = build(&dir.path().join("no/uidring.state"), &clock).unwrap_err().to_string();
    assert!(missing.contains("(os error "), "{missing}");
}

#[test]
fn an_idle_generator_reserves_ahead_and_a_busy_one_goes_on() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    let uids = build(&file, &clock).unwrap();
    // More than an idle generator has in store.
    for _ in 0..2000 * (Layout::DEFAULT.max_sequence() + 1) {
        uids.take().unwrap();
    }
    // The content of the later of two writes.
    let used = || -> u64 {
        let text = fs::read_to_string(&file).unwrap();
        let numbers = |name: &str| -> Vec<u64> {
            let found = text.lines().filter_map(|line| line.strip_prefix(name));
            found.map(|rest| rest.split(',').next().unwrap().parse().unwrap()).collect()
        };
        let writes = numbers("write ").into_iter().zip(numbers("used until "));
        writes.max().unwrap().1
    };
    let reserved = used();
    drop(uids);
    assert!(used() < reserved, "a clean stop gives back what was not used");
}

/// What was used of the number stays known, wherever the program goes: a service goes to `/` when
/// it has started.
#[test]
fn a_relative_path_stays_the_same_file() {
    alone("fixed_worker::a_relative_path_stays_the_same_file", || {
        let dir = folder();
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let clock = ManualClock::new(SystemClock.now());
        env::set_current_dir(&dir).unwrap();
        let uids = build(Path::new("uidring.state"), &clock).unwrap();
        env::set_current_dir(&elsewhere).unwrap();
        // More than is reserved at the start.
        for _ in 0..700 * (Layout::DEFAULT.max_sequence() + 1) {
            uids.take().unwrap();
        }
        let last = uids.take().unwrap();
        drop(uids);
        assert!(build(&dir.path().join("uidring.state"), &clock).unwrap().take().unwrap() > last);
        assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
    });
}

const CHILD: &str = "UIDRING_FIXED_CHILD";

/// Whatever the name of the machine is that the tests run on.
#[test]
fn the_index_of_a_pod_comes_from_the_downward_api() {
    if env::var_os(CHILD).is_some() {
        match FixedWorker::from_stateful_set() {
            Ok(fixed) => {
                let uids = UidGenerator::builder().registry(fixed).build().unwrap();
                println!("<{}>", uids.worker_id());
            }
            Err(error) => println!("<{error}>"),
        }
        return;
    }
    let said = |index: &str| {
        let mut command = Command::new(env::current_exe().unwrap());
        let test = "fixed_worker::the_index_of_a_pod_comes_from_the_downward_api";
        command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").env("POD_INDEX", index);
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        out.split_once('<').unwrap().1.split_once('>').unwrap().0.to_owned()
    };
    assert_eq!(said("3"), "3");
    assert_eq!(said("24567"), "24567");
    assert_eq!(
        said("web-3"),
        "no worker id in the environment variable POD_INDEX: it holds \"web-3\", which is not the \
         index of a pod; a worker id is a whole number"
    );
}

#[test]
fn the_environment_gives_a_number() {
    if env::var_os(CHILD).is_some() {
        match FixedWorker::from_env("WORKER") {
            Ok(fixed) => {
                let uids = UidGenerator::builder().registry(fixed).build().unwrap();
                println!("<{}>", uids.worker_id());
            }
            Err(error) => println!("<{error}>"),
        }
        return;
    }
    let said = |worker: Option<&str>| {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["--exact", "fixed_worker::the_environment_gives_a_number", "--nocapture"])
            .env(CHILD, "1");
        let command = match worker {
            Some(worker) => command.env("WORKER", worker),
            None => command.env_remove("WORKER"),
        };
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        out.split_once('<').unwrap().1.split_once('>').unwrap().0.to_owned()
    };
    assert_eq!(said(Some("42")), "42");
    assert_eq!(said(Some(" 42\n")), "42");
    let place = "no worker id in the environment variable WORKER";
    assert_eq!(said(None), format!("{place}: it is not set; a worker id is a whole number"));
    for text in ["", "x", "-1", "18446744073709551616"] {
        assert!(said(Some(text)).starts_with(&format!("{place}: it holds {text:?}: ")), "{text}");
    }
}

/// Takes more than a start reserves, so that the state file is written again.
fn take_on(uids: &UidGenerator, all: &mut HashSet<Uid>) {
    for _ in 0..40 * A_TICK {
        assert!(all.insert(take(uids)), "a UID came twice");
    }
}

/// Takes one. If the filler has read the state file while the test wrote over it, it tries again.
fn take(uids: &UidGenerator) -> Uid {
    let since = Instant::now();
    loop {
        match uids.take() {
            Err(TakeError::LeaseExhausted { .. }) if since.elapsed() < Duration::from_secs(30) => {
                thread::sleep(Duration::from_millis(5));
            }
            taken => return taken.unwrap(),
        }
    }
}

fn assert_is_held(built: Result<UidGenerator, BuildError>) {
    let error = built.expect_err("a second holder was let in").to_string();
    assert!(error.contains("another generator has it"), "{error}");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A program's image has a link to a file on a volume; the image is restored, the volume is
    /// not.
    #[test]
    fn a_linked_state_file_is_kept_where_the_link_leads() {
        let dir = folder();
        let (image, volume) = (dir.path().join("image"), dir.path().join("volume"));
        fs::create_dir(&volume).unwrap();
        let (link, target) = (image.join("uidring.state"), volume.join("uidring.state"));
        let clock = ManualClock::new(SystemClock.now());
        let mut all = HashSet::new();
        // At first the link leads to a file that does not exist.
        for _ in 0..3 {
            fs::create_dir(&image).unwrap();
            symlink("../volume/uidring.state", &link).unwrap();
            take_on(&build(&link, &clock).unwrap(), &mut all);
            assert!(link.is_symlink(), "the link was replaced");
            assert!(target.is_file());
            fs::remove_dir_all(&image).unwrap();
            clock.rewind(Duration::from_secs(60));
        }
    }

    #[test]
    fn a_file_with_two_names_has_one_holder() {
        let dir = folder();
        let file = dir.path().join("uidring.state");
        let clock = ManualClock::new(SystemClock.now());
        drop(build(&file, &clock).unwrap());
        let names = ["linked", "hard", "elsewhere/linked", "folder/uidring.state"]
            .map(|name| dir.path().join(name));
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        symlink(&file, &names[0]).unwrap();
        fs::hard_link(&file, &names[1]).unwrap();
        symlink("../linked", &names[2]).unwrap();
        symlink(".", dir.path().join("folder")).unwrap();
        for name in &names {
            let mut all = HashSet::new();
            let first = build(name, &clock).unwrap();
            take_on(&first, &mut all);
            assert_is_held(build(&file, &clock));
            drop(first);
            let second = build(&file, &clock).unwrap();
            take_on(&second, &mut all);
            assert_is_held(build(name, &clock));
        }
    }
}

/// What may be done to a file that a generator has open. Windows does not let it happen.
#[allow(clippy::needless_pass_by_value)] // a result as it comes
fn disturb(done: io::Result<()>) {
    assert_eq!(done.is_ok(), cfg!(unix), "{done:?}");
}

/// Each file that a generator keeps, removed while it runs.
#[test]
fn a_removed_file_lets_nobody_else_in_and_repeats_nothing() {
    let clock = ManualClock::new(SystemClock.now());
    let names = |dir: &Path| -> Vec<_> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let kept = {
        let dir = folder();
        let _uids = build(&dir.path().join("uidring.state"), &clock).unwrap();
        names(dir.path())
    };
    assert!(kept.contains(&"uidring.state".into()));
    for name in kept {
        for is_used_after in [false, true] {
            let dir = folder();
            let file = dir.path().join("uidring.state");
            let mut all = HashSet::new();
            let uids = build(&file, &clock).unwrap();
            take_on(&uids, &mut all);
            disturb(fs::remove_file(dir.path().join(&name)));
            assert_is_held(build(&file, &clock));
            if is_used_after {
                take_on(&uids, &mut all);
            }
            drop(uids);
            take_on(&build(&file, &clock).unwrap(), &mut all);
        }
    }
}

/// From the moment on in which the holder notices until it has the number anew.
#[cfg(unix)]
#[test]
fn a_holder_that_has_lost_its_file_lets_nobody_else_in() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let [mut holder, mut other] = [0, 1].map(|_| FixedWorker::new(7).with_state(&file));
    let request = Request::new(Layout::DEFAULT, 1000, Layout::DEFAULT.max_tick());
    let lease = holder.assign(&request).unwrap();
    fs::remove_file(&file).unwrap();
    // Each time, as the one who asks may not have taken note of it.
    for _ in 0..2 {
        let lost = holder.reserve(&lease, lease.last + 10).unwrap_err();
        assert!(matches!(lost, RegistryError::LeaseLost { worker: 7 }), "{lost}");
    }
    let refused = other.assign(&request).unwrap_err().to_string();
    assert!(refused.contains("another generator has it"), "{refused}");
    assert_eq!(holder.assign(&request).unwrap().first, lease.last + 1);
    other.assign(&request).unwrap_err();
}

#[test]
fn an_old_copy_put_back_while_a_generator_runs_repeats_nothing() {
    let clock = ManualClock::new(SystemClock.now());
    for is_new_file in [false, true] {
        for is_used_after in [false, true] {
            let dir = folder();
            let (file, copy) = (dir.path().join("uidring.state"), dir.path().join("copy"));
            let mut all = HashSet::new();
            drop(build(&file, &clock).unwrap());
            fs::copy(&file, &copy).unwrap();
            let uids = build(&file, &clock).unwrap();
            take_on(&uids, &mut all);
            if is_new_file {
                let done = fs::rename(&copy, &file);
                assert!(done.is_ok() || cfg!(windows), "{done:?}");
            } else {
                let done = fs::write(&file, fs::read(&copy).unwrap());
                assert!(done.is_ok() || cfg!(windows), "{done:?}");
            }
            if is_used_after {
                take_on(&uids, &mut all);
            }
            drop(uids);
            take_on(&build(&file, &clock).unwrap(), &mut all);
        }
    }
}

/// Whose file has become another's uses what it has reserved, and goes on when the other has ended.
#[cfg(unix)] // Windows renames no folder of an open file
#[test]
fn who_has_lost_the_number_stops_until_it_is_free() {
    let clock = ManualClock::new(SystemClock.now());
    // On a busy machine, the first may notice the change and take the new file sooner.
    let started = (0..10).find_map(|_| {
        let dir = folder();
        let (here, away) = (dir.path().join("here"), dir.path().join("away"));
        fs::create_dir(&here).unwrap();
        let file = here.join("uidring.state");
        let first = build(&file, &clock).unwrap();
        let mut all = HashSet::new();
        take_on(&first, &mut all);
        // The volume is changed for another.
        fs::rename(&here, &away).unwrap();
        fs::create_dir(&here).unwrap();
        let second = build(&file, &clock).ok()?;
        Some((dir, file, first, second, all))
    });
    let (_dir, file, first, second, mut all) = started.expect("the second starts once");
    let worker = first.worker_id();
    let mut used = 0;
    let error = loop {
        match first.take() {
            Ok(uid) => assert!(all.insert(uid)),
            Err(error) => break error,
        }
        used += 1;
        assert!(used < 100_000 * A_TICK, "it goes on beyond what it had reserved");
    };
    assert_eq!(error, TakeError::LeaseExhausted { worker });
    assert_eq!(first.try_take(), Err(error));
    drop(second);
    let since = Instant::now();
    while first.try_take().map(|uid| assert!(all.insert(uid))).is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "it does not go on");
        thread::sleep(Duration::from_millis(10));
    }
    take_on(&first, &mut all);
    drop(first);
    take_on(&build(&file, &clock).unwrap(), &mut all);
}

#[test]
fn what_is_no_state_file_is_left_as_it_is() {
    let dir = folder();
    let clock = ManualClock::new(SystemClock.now());
    let refused = |file: &Path, text: &str| {
        let error = build(file, &clock).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("cannot use the state file {}", file.display())),
            "{error}"
        );
        assert!(error.contains(text), "{error}");
    };
    refused(dir.path(), "it is not a file");
    #[cfg(unix)]
    {
        refused(Path::new("/dev/null"), "it is not a file");
        let pipe = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        refused(&pipe, "it is not a file");
    }
    let file = dir.path().join("uidring.state");
    for text in [
        "uidring: ticks used by a fixed worker id, version 1\nworker 7\n",
        "no state\n",
        &" ".repeat(100_000),
        &"\0".repeat(100_000),
    ] {
        fs::write(&file, text).unwrap();
        refused(&file, "it is not a state file of uidring, version 2");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

/// As when a start is killed, or the power fails, before the first UID.
#[test]
fn a_file_that_was_never_written_is_as_none() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    for text in [String::new(), "\0".repeat(8192), "\0".repeat(100), " ".repeat(5000)] {
        fs::write(&file, text).unwrap();
        let uids = build(&file, &clock).unwrap();
        let time = uids.layout().parts(uids.take().unwrap()).time;
        assert!(time <= clock.now());
    }
}

const STATE: &str = "UIDRING_CRASHING_STATE";
const BATCH: &str = "UIDRING_CRASHING_BATCH";

/// Not a test: takes UIDs and says the first and the last of each batch, until it is killed.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child_takes() {
    let Some(file) = env::var_os(STATE) else { return };
    let mut batch = vec![Uid::MIN; env::var(BATCH).unwrap().parse().unwrap()];
    let uids =
        UidGenerator::builder().registry(FixedWorker::new(7).with_state(file)).build().unwrap();
    loop {
        uids.fill(&mut batch).unwrap();
        // Fails when nobody listens any more.
        println!("<{} {}>", batch[0], batch[batch.len() - 1]);
        if batch.len() == 1 {
            thread::sleep(Duration::from_secs(60));
        }
    }
}

/// The first and the last UID of a process that is killed when it has taken so many batches.
fn crash(file: &Path, batches: usize, batch: u64) -> (Uid, Uid) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "fixed_worker::child_takes", "--ignored", "--nocapture"]);
    command.env(STATE, file).env(BATCH, batch.to_string());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.filter_map(|line| {
        let (first, last) = line.split_once('<')?.1.split_once('>')?.0.split_once(' ')?;
        Some((first.parse::<Uid>().unwrap(), last.parse::<Uid>().unwrap()))
    });
    let said: Vec<_> = said.take(batches).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(said.len(), batches, "it ended by itself: {stderr}");
    assert!(said.is_sorted());
    (said[0].0, said[batches - 1].1)
}

#[test]
fn killed_under_load_and_each_run_begins_behind_the_one_before() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let mut before = Uid::MIN;
    for batches in 1..=30 {
        let (first, last) = crash(&file, batches, 20_000);
        assert!(first > before, "{batches}");
        before = last;
    }
}

/// A start reserves two seconds, and no more while it is ahead of the clock.
#[test]
fn a_hundred_crashes_in_a_row_cost_seconds() {
    const CRASHES: u32 = 100;
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let mut last = Uid::MIN;
    for round in 0..CRASHES {
        let (uid, _) = crash(&file, 1, 1);
        assert!(uid > last, "round {round}");
        last = uid;
    }
    let lead =
        Layout::DEFAULT.parts(last).time.duration_since(SystemTime::now()).unwrap_or_default();
    println!("{lead:?} ahead of the clock after {CRASHES} crashes");
    // And what it reserves while it idles.
    assert!(lead <= 2 * Duration::from_secs(1) * CRASHES + Duration::from_secs(10), "{lead:?}");
}

#[test]
fn without_a_lead_a_start_after_a_crash_waits_for_what_was_reserved() {
    let dir = folder();
    let file = dir.path().join("uidring.state");
    let (before, _) = crash(&file, 1, 1);
    let builder = || {
        let registry = FixedWorker::new(7).with_state(&file);
        UidGenerator::builder()
            .registry(registry)
            .max_lead(Duration::ZERO)
            .on_lead_limit(LeadLimit::Wait)
    };
    // Two seconds are reserved at least, and one try is made.
    match builder().start_deadline(Duration::ZERO).build().unwrap_err() {
        BuildError::Registry(error @ RegistryError::UsedAhead { .. }) => {
            assert!(error.to_string().contains("try again in "), "{error}");
        }
        error => panic!("{error}"),
    }
    let uids = builder().build().unwrap();
    assert!(uids.take().unwrap() > before);
}
