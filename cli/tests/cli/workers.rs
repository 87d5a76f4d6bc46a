//! `uidring workers`.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use uidring::registry::{Lease, RegistryAdmin, Request, SqliteRegistry, WorkerRegistry};
use uidring::{Layout, RegistryError};

use crate::{Around, folder, json, registry, stderr, stdout, uids, with_registry};

#[test]
fn workers_shows_the_newest_first() {
    let folder = folder();
    let around = Around::now();
    for _ in 0..4 {
        stdout(folder.path(), &["take"]);
    }
    let rows = |args: &[&str]| -> Vec<u64> {
        let page = stdout(folder.path(), args);
        page.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    };
    // The last line, "4 of ...", begins with a number as well.
    assert_eq!(rows(&["workers"]), [4, 3, 2, 1, 4]);
    assert_eq!(rows(&["workers", "--last", "2"]), [4, 3, 4]);
    assert!(
        stdout(folder.path(), &["workers", "--last", "3"])
            .contains("\nand 1 older; --last 4 shows all")
    );
    assert!(stdout(folder.path(), &["workers"]).ends_with("\n4 of 1,048,575 worker ids used\n"));

    let report = json(&stdout(folder.path(), &["workers", "--json", "--last", "2"]));
    assert_eq!((&report["used"], &report["rows"]), (&Value::from(4), &Value::from(4)));
    assert_eq!(report["capacity"], Layout::DEFAULT.max_worker());
    let shown = report["workers"].as_array().unwrap();
    let remembered = with_registry(folder.path()).workers().unwrap();
    assert_eq!(shown.len(), 2);
    for (row, worker) in shown.iter().zip(remembered[2..].iter().rev()) {
        assert_eq!(row["id"], worker.id);
        assert_eq!(row["host"], worker.host_name.as_str());
        assert_eq!(row["port"], worker.port.as_str());
        assert_eq!(row["type"], worker.kind.to_string());
        let launched: jiff::Timestamp = row["launched"].as_str().unwrap().parse().unwrap();
        assert!(around.contains(launched.into()));
    }
}

/// The most memory that the tool has had while it listed so many ids, in KiB.
#[cfg(target_os = "linux")]
fn memory_of_list(folder: &Path, ids: usize) -> u64 {
    use std::io::Read as _;
    use std::process::Stdio;

    let count = ids.to_string();
    let mut tool = crate::uidring(folder, &["workers", "--json", "--last", &count])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", tool.id());
    let (mut most, mut text, mut part) = (0, Vec::new(), vec![0; 1 << 16]);
    // It goes on when what it has written is read.
    while let Some(read) =
        Some(tool.stdout.as_mut().unwrap().read(&mut part).unwrap()).filter(|read| *read > 0)
    {
        text.extend_from_slice(&part[..read]);
        let status = fs::read_to_string(&status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(kib.unwrap_or(0));
    }
    assert!(tool.wait().unwrap().success());
    let report = json(std::str::from_utf8(&text).unwrap());
    let listed = report["workers"].as_array().unwrap();
    assert_eq!(listed.len(), ids);
    assert!(listed.windows(2).all(|two| two[0]["id"].as_u64() > two[1]["id"].as_u64()));
    most
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_list_takes_no_more_memory_than_a_short_one() {
    let folder = folder();
    stdout(folder.path(), &["take"]);
    let db = rusqlite::Connection::open(registry(folder.path())).unwrap();
    db.execute_batch(
        "WITH RECURSIVE ids (new) AS (SELECT 2 UNION ALL SELECT new + 1 FROM ids WHERE new < 100000)
         INSERT INTO worker_node (id, host_name, port, type, launch_date, modified, created)
         SELECT new, host_name, port, type, launch_date, modified, created
         FROM ids, worker_node WHERE id = 1",
    )
    .unwrap();
    let (short, long) =
        (memory_of_list(folder.path(), 10_000), memory_of_list(folder.path(), 100_000));
    assert!(long < short + 8 * 1024, "{short} KiB, and {long} KiB for a long list");
}

#[test]
fn workers_makes_no_registry() {
    let folder = folder();
    let complaint = stderr(folder.path(), &["workers"], 1);
    let path = registry(folder.path());
    assert!(complaint.contains(&format!("no registry yet: {}", path.display())), "{complaint}");
    let complaint = stderr(folder.path(), &["workers", "--db", "here.db"], 1);
    assert!(complaint.contains("here.db") && complaint.contains("no such file"), "{complaint}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// What a start asks now.
pub fn request() -> Request {
    let since = SystemTime::now().duration_since(Layout::DEFAULT.epoch()).unwrap();
    Request::new(Layout::DEFAULT, since.as_secs(), Layout::DEFAULT.max_tick())
}

pub const HOUR: Duration = Duration::from_secs(3600);

/// A registry in which the worker ids 1 and 2 are held, the first by `web-1/4321`, the lease of 3
/// has expired, 4 was given back, and 5 was given once; and the leases of 1 and 3.
pub fn leases(folder: &Path) -> (SqliteRegistry, [Lease; 2]) {
    let registry = with_registry(folder);
    let assign = |host, lease| {
        registry.clone().with_host(host, "4321").leased(lease).assign(&request()).unwrap()
    };
    let held = assign("web-1", HOUR);
    assign("web-2", HOUR);
    let expired = assign("web-3", Duration::from_secs(1));
    let given_back = assign("web-4", HOUR);
    registry.clone().release(&given_back, given_back.first).unwrap();
    registry.clone().assign(&request()).unwrap();
    assert_eq!((held.worker, expired.worker, given_back.worker), (1, 3, 4));
    // As if a little more than the second of that lease had passed.
    let sql = "UPDATE worker_node SET lease_until = lease_until - 1100 WHERE id = ?1";
    let db = rusqlite::Connection::open(self::registry(folder)).unwrap();
    assert_eq!(db.execute(sql, [expired.worker]), Ok(1));
    (registry, [held, expired])
}

/// When the second `tick` begins.
pub fn second(tick: u64) -> String {
    jiff::Timestamp::try_from(Layout::DEFAULT.epoch() + Duration::from_secs(tick))
        .unwrap()
        .to_string()
}

fn is_lost(registry: &SqliteRegistry, lease: &Lease) -> bool {
    match registry.clone().reserve(lease, lease.last + 1) {
        Ok(_) => false,
        Err(RegistryError::LeaseLost { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn leased_ids_are_given_again() {
    let folder = folder();
    let worker = |args: &[&str]| {
        let taken = uids(&stdout(folder.path(), &[&["take", "-n", "10"], args].concat()));
        assert_eq!(taken.len(), 10);
        (Layout::DEFAULT.parts(taken[0]).worker, taken)
    };
    let mut all = Vec::new();
    for (args, expected) in
        [(&["--lease", "10m"][..], 1), (&["--lease", "1h"], 1), (&[], 2), (&["--lease", "10m"], 1)]
    {
        let (worker, taken) = worker(args);
        assert_eq!(worker, expected, "{args:?}");
        all.extend(taken);
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 40);
    let db = registry(folder.path());
    let db = db.to_str().unwrap();
    let status = ["status", "--for", "50ms", "--json", "--db", db, "--lease", "10m"];
    assert_eq!(json(&stdout(folder.path(), &status))["worker_id"], 1);
}

#[test]
fn ids_that_ran_out_are_told_with_the_time_and_the_command() {
    let folder = folder();
    let path = folder.path().join("small.db");
    let layout = Layout::new(33, 2, 28).unwrap();
    let registry = SqliteRegistry::open(&path).unwrap();
    let lease = Duration::from_secs(3600);
    let request = Request::new(layout, 1000, layout.max_tick());
    let take = || registry.clone().leased(lease).assign(&request).map(|lease| lease.worker);
    assert_eq!([(); 3].map(|()| take().unwrap()), [1, 2, 3]);
    let until = registry.workers().unwrap()[0].lease.clone().unwrap().until;
    let until = jiff::Timestamp::try_from(until).unwrap();
    let args = ["take", "--lease", "1h", "--db", path.to_str().unwrap(), "--layout", "33,2,28"];
    let complaint = stderr(folder.path(), &args, 1);
    let minute = until.strftime("%Y-%m-%dT%H:%M").to_string();
    assert!(complaint.contains("3 of 3 used; the first lease ends at"), "{complaint}");
    assert!(complaint.contains(&minute), "{minute} is not in {complaint}");
    stdout(folder.path(), &["workers", "release", "2", "--force", "--db", path.to_str().unwrap()]);
    stdout(folder.path(), &args);
}

#[test]
fn a_partition_has_ids_of_its_own() {
    let folder = folder();
    let size = (Layout::DEFAULT.max_worker() + 1) / 4;
    let part = ["take", "--partition", "1/4"];
    for worker in size..size + 2 {
        let taken = uids(&stdout(folder.path(), &part));
        assert_eq!(Layout::DEFAULT.parts(taken[0]).worker, worker);
    }
    assert!(stdout(folder.path(), &["workers"]).ends_with("\n2 of 262,144 worker ids used\n"));
    let complaint = stderr(folder.path(), &["take"], 1);
    assert!(complaint.contains("the worker ids 262144 to 524287, and 1 to"), "{complaint}");
    let complaint = stderr(folder.path(), &["workers", "release", "7"], 1);
    assert!(
        complaint.contains("has not given worker id 7: the largest so far is 262145"),
        "{complaint}"
    );
}

#[test]
fn worker_ids_of_another_system_are_left_alone() {
    let folder = folder();
    let range = ["take", "--preset", "twitter", "--max-lead", "0s", "--worker-ids", "1022-1023"];
    for worker in [1022, 1023] {
        let taken = uids(&stdout(folder.path(), &range));
        assert_eq!(Layout::TWITTER.parts(taken[0]).worker, worker);
    }
    assert!(stderr(folder.path(), &range, 1).contains("2 of 2 used"));
    for (wrong, said) in [("5-4", "write 4-5"), ("0-0", "id is 1"), ("x", "such as")] {
        assert!(stderr(folder.path(), &["take", "--worker-ids", wrong], 2).contains(said));
    }
    let too_many = ["take", "--preset", "twitter", "--worker-ids", "1000-1024", "--db", "other.db"];
    let complaint = stderr(folder.path(), &too_many, 1);
    assert!(complaint.contains("1000 to 1024, but the layout 41 | 10 | 12"), "{complaint}");
}

#[test]
fn workers_shows_leases() {
    let folder = folder();
    let (_, [held, expired]) = leases(folder.path());
    let page = stdout(folder.path(), &["workers"]);
    let rows: Vec<&str> = page.lines().collect();
    assert!(rows[0].starts_with("ID  HOST/PORT OR PID  LAUNCHED (UTC)        LEASE "), "{page}");
    assert!(rows[0].ends_with("  RESERVED UNTIL (UTC)"), "{page}");
    assert!(
        rows[5].starts_with(" 1  web-1/4321        20") && rows[5].contains("  held, 59 min "),
        "{page}"
    );
    assert!(rows[5].ends_with(&second(held.last)), "{page}");
    assert!(rows[3].contains("web-3/4321") && rows[3].contains("  expired "), "{page}");
    assert!(rows[3].ends_with(&second(expired.last)), "{page}");
    assert!(rows[2].contains("web-4/4321") && rows[2].contains("  given back "), "{page}");
    assert!(rows[1].ends_with("  given once"), "{page}");
    assert_eq!(
        rows[6],
        "5 of 1,048,575 worker ids used; 4 leased, 2 of them free to be given again"
    );
    assert_eq!(rows.len(), 7, "a registry of today has no pace: {page}");
    assert!(rows.iter().all(|row| row.chars().count() <= 100), "{page}");

    let report = json(&stdout(folder.path(), &["workers", "--json", "--last", "3"]));
    assert_eq!(
        report["leased"],
        serde_json::json!({ "held": 2, "expired": 1, "given_back": 1, "free": 2 })
    );
    assert_eq!(report["pace"], Value::Null);
    let workers = report["workers"].as_array().unwrap();
    assert_eq!(
        workers.iter().map(|worker| worker["lease"]["state"].as_str()).collect::<Vec<_>>(),
        [None, Some("given_back"), Some("expired")]
    );
    assert_eq!(workers[2]["lease"]["reserved_until"], second(expired.last));
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let (created, until) = (time(&workers[2]["created"]), time(&workers[2]["lease"]["until"]));
    // A second, less the 1.1 s that have been taken off; both times are shown without their parts.
    assert!((-1..=0).contains(&until.duration_since(created).as_secs()), "{report}");
}

#[test]
fn workers_says_how_long_the_ids_last() {
    let folder = folder();
    stdout(folder.path(), &["take"]);
    let day = 86_400_000;
    let age = |id: u64, days: u64| {
        let db = rusqlite::Connection::open(registry(folder.path())).unwrap();
        let sql = "UPDATE worker_node SET created = created - ?1 WHERE id = ?2";
        assert_eq!(db.execute(sql, (days * day, id)), Ok(1));
    };
    let last_line = || stdout(folder.path(), &["workers"]).lines().last().unwrap().to_owned();
    assert_eq!(last_line(), "1 of 1,048,575 worker ids used");
    age(1, 4);
    assert_eq!(last_line(), "no new one in the last 4 days");
    for _ in 0..4 {
        stdout(folder.path(), &["take"]);
    }
    assert_eq!(
        last_line(),
        "at 1.0 new ones a day, as in the last 4 days, the rest last 2,870 years"
    );
    age(1, 6);
    age(2, 9);
    assert_eq!(
        last_line(),
        "at 0.43 new ones a day, as in the last 7 days, the rest last 6,698 years"
    );
    let pace = json(&stdout(folder.path(), &["workers", "--json"]))["pace"].clone();
    assert_eq!(pace["over_days"], 7.0);
    assert!((pace["per_day"].as_f64().unwrap() - 3.0 / 7.0).abs() < 1e-9, "{pace}");
    assert!((pace["days_left"].as_f64().unwrap() - 1_048_570.0 / 3.0 * 7.0).abs() < 1e-3, "{pace}");
}

#[test]
fn release_frees_what_its_holder_left() {
    let folder = folder();
    let (registry, [_, expired]) = leases(folder.path());
    let said = stdout(folder.path(), &["workers", "release", "3"]);
    assert!(said.starts_with("worker id 3 is free: the lease of web-3/4321 expired "), "{said}");
    let next = format!(
        "\nthis is safe: its next holder begins after {}, the last tick reserved, ",
        second(expired.last)
    );
    assert!(said.contains(&next), "{said}");
    assert!(is_lost(&registry, &expired));
    let complaint = stderr(folder.path(), &["workers", "release", "3"], 1);
    assert!(complaint.contains("worker id 3 is free already, since "), "{complaint}");
}

#[test]
fn release_refuses_what_is_held_unless_forced() {
    let folder = folder();
    let (registry, [held, _]) = leases(folder.path());
    let release = ["workers", "release", "1"];
    let complaint = stderr(folder.path(), &release, 1);
    assert!(complaint.contains("worker id 1 is held by web-1/4321 until 20"), "{complaint}");
    assert!(complaint.contains("--force") && complaint.contains(&second(held.last)), "{complaint}");
    assert!(!is_lost(&registry, &held));

    let said = stdout(folder.path(), &[&release[..], &["--force"]].concat());
    assert!(
        said.starts_with("worker id 1 was taken from web-1/4321, and is free\nthis is safe: "),
        "{said}"
    );
    // By the refused reservation.
    assert!(said.contains(&second(held.last + 1)), "{said}");
    assert!(is_lost(&registry, &held));
    // And of those free it was reserved for longest.
    let next: Vec<Lease> =
        (0..3).map(|_| registry.clone().leased(HOUR).assign(&request()).unwrap()).collect();
    let again = next.iter().find(|lease| lease.worker == 1).unwrap();
    assert_eq!(again.first, held.last + 2);
}

#[test]
fn release_refuses_what_is_nobodys_to_give() {
    let folder = folder();
    leases(folder.path());
    rusqlite::Connection::open(registry(folder.path()))
        .unwrap()
        .execute("DELETE FROM worker_node WHERE id = 2", [])
        .unwrap();
    let before = fs::read(registry(folder.path())).unwrap();
    for (worker, why) in [
        ("0", "has not given worker id 0: the largest so far is 5"),
        ("2", "does not remember worker id 2: its row is gone"),
        ("4", "worker id 4 is free already, since 20"),
        ("5", "once and for all"),
        ("6", "has not given worker id 6: the largest so far is 5"),
    ] {
        let complaint = stderr(folder.path(), &["workers", "release", worker, "--force"], 1);
        assert!(complaint.contains(why), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    assert!(fs::read(registry(folder.path())).unwrap() == before, "nothing was written");
}
