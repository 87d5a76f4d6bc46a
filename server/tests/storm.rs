//! A storm over the service: clients take ids in all ways from three servers, of which one is
//! killed every few seconds and started again, and PostgreSQL crashes once and is away for a while.
//! Two servers stand on PostgreSQL, with time-ordered ids and tags of their own; one stands on
//! Leaf's table in MySQL. Half of the clients speak HTTP, the others the Redis protocol: they send
//! many commands at once, and now and then close the connection before they have read the answers.
//! At the end no id was answered twice, and each request was answered but those that a kill or the
//! client itself cut off.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=100 \
//!     cargo test -p uidring-server --all-features --test storm -- --ignored --nocapture
//! ```

#![cfg(all(target_os = "linux", feature = "mysql", feature = "postgres"))]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod common;
#[path = "../../tests/common/databases/mod.rs"]
mod databases;

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, mem};

use common::resp::{self, encoded};
use common::{Answer, Server};
use databases::{OwnServer, Server as Kind};

/// How often a server is killed.
const KILL_EVERY: Duration = Duration::from_secs(5);
/// How long PostgreSQL is away.
const AWAY: Duration = Duration::from_secs(3);
/// Clients of each server that speak HTTP, and as many that speak the Redis protocol.
const CLIENTS: usize = 2;
/// The most commands that a client sends at once.
const MOST_COMMANDS: usize = 20;
/// One in so many times a client closes its connection in place of reading the answers.
const CUT_ONE_IN: u32 = 20;
/// So few that the servers load often, and have enough in memory for a while.
const STEP: u64 = 1000;
/// Before a client that got nothing asks again.
const PAUSE: Duration = Duration::from_millis(20);
const RESP: &str = "--resp-listen=127.0.0.1:0";
const TAGS: [&str; 3] = ["orders", "invoices", "parcels"];

/// The requests of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ask {
    Uid,
    Uids,
    Number,
    Numbers,
    /// Leaf's path.
    Leaf,
    Segment,
}

const OF_POSTGRES: &[Ask] =
    &[Ask::Uid, Ask::Uids, Ask::Number, Ask::Numbers, Ask::Leaf, Ask::Segment];
const OF_LEAFS_TABLE: &[Ask] = &[Ask::Number, Ask::Numbers, Ask::Leaf, Ask::Segment];

/// Where one of the three servers stands, from one life to the next.
struct Place {
    url: String,
    options: &'static [&'static str],
    asks: &'static [Ask],
    /// Whose ids differ from one another: the same for servers of one database.
    realm: &'static str,
    life: Mutex<Life>,
}

#[derive(Default)]
struct Life {
    /// How many there were before.
    number: u64,
    server: Option<Server>,
}

impl Place {
    fn new(
        url: &str,
        options: &'static [&'static str],
        asks: &'static [Ask],
        realm: &'static str,
    ) -> Place {
        Place { url: url.to_owned(), options, asks, realm, life: Mutex::default() }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) {
        let variables = [("UIDRING_SERVER_DB", self.url.as_str())];
        let folder = tempfile::tempdir().unwrap();
        let server = Server::launch_with(folder, self.options, &variables);
        self.life().server = Some(server);
    }

    /// Kills it as it is.
    fn kill(&self) {
        let mut life = self.life();
        life.number += 1;
        drop(life.server.take());
    }

    fn wait_until_ready(&self) {
        self.life().server.as_ref().unwrap().wait_until_ready();
    }

    /// A connection in the present life, if it is not killed.
    fn connect(&self, door: Door) -> Option<Connection> {
        let life = self.life();
        let server = life.server.as_ref()?;
        let stream = match door {
            Door::Http => server.connect(),
            Door::Redis => server.connect_resp(),
        };
        stream.set_nodelay(true).unwrap();
        Some(Connection { life: life.number, stream: BufReader::new(stream) })
    }
}

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Door {
    Http,
    Redis,
}

/// A kept connection.
struct Connection {
    life: u64,
    stream: BufReader<TcpStream>,
}

/// Runs of ids that follow one another, with the distance between them: first, count, distance.
type Run = (u64, u64, u64);

/// The answers that a client got.
#[derive(Debug, Default)]
struct Seen {
    /// By realm, and by the name of what the ids are of.
    runs: BTreeMap<(&'static str, String), Vec<Run>>,
    counts: BTreeMap<&'static str, u64>,
}

impl Seen {
    fn count(&mut self, what: &'static str, by: u64) {
        *self.counts.entry(what).or_default() += by;
    }

    fn note(&mut self, realm: &'static str, name: &str, run: Run) {
        let runs = self.runs.entry((realm, name.to_owned())).or_default();
        // Ids that follow the last ones cost no memory.
        match runs.last_mut() {
            Some((first, count, delta)) if *delta == run.2 && *first + *count * *delta == run.0 => {
                *count += run.1;
            }
            _ => runs.push(run),
        }
    }
}

/// When PostgreSQL went away, and whether it still is.
#[derive(Default)]
struct Outage {
    is_now: AtomicBool,
    /// How often the outage began or ended.
    changes: AtomicU64,
    /// Ids that were answered while it was.
    ids: AtomicU64,
}

struct Client<'a> {
    place: &'a Place,
    door: Door,
    outage: &'a Outage,
    rng: fastrand::Rng,
    connection: Option<Connection>,
    seen: Seen,
}

impl<'a> Client<'a> {
    fn new(place: &'a Place, door: Door, outage: &'a Outage, rng: fastrand::Rng) -> Client<'a> {
        Client { place, door, outage, rng, connection: None, seen: Seen::default() }
    }

    fn run(mut self, stop: &AtomicBool) -> Seen {
        while !stop.load(Ordering::Relaxed) {
            let connection = self.connection.take().or_else(|| self.place.connect(self.door));
            match (connection, self.door) {
                (None, _) => thread::sleep(PAUSE),
                (Some(connection), Door::Http) => self.ask(connection),
                (Some(connection), Door::Redis) => self.ask_many(connection),
            }
        }
        self.seen
    }

    /// What to ask for, of which tag, and how many.
    fn any(&mut self) -> (Ask, &'static str, u64) {
        let ask = self.rng.choice(self.place.asks).copied().unwrap();
        (ask, self.rng.choice(TAGS).unwrap(), self.rng.u64(1..200))
    }

    fn ask(&mut self, mut connection: Connection) {
        let changes = self.outage.changes.load(Ordering::SeqCst);
        let (ask, tag, count) = self.any();
        let request = request(ask, tag, count);
        let stream = &mut connection.stream;
        let written = stream.get_mut().write_all(request.as_bytes());
        let answer = written.ok().and_then(|()| Answer::try_read(stream));
        self.seen.count("requests", 1);
        let Some(answer) = answer else {
            let was_killed = self.place.life().number > connection.life;
            assert!(was_killed, "no answer to {request:?}, and nobody killed the server");
            self.seen.count("cut by a kill", 1);
            return;
        };
        self.connection = Some(connection);
        match answer.status {
            200 => self.take(ask, tag, count, runs(ask, &answer), changes),
            // The database is away, or the server has just started.
            500 | 503 => {
                assert_eq!(answer.status == 500, ask == Ask::Leaf, "{answer:?}");
                let says_when = !answer.header("retry-after").is_empty();
                assert!(says_when || ask == Ask::Leaf, "{answer:?}");
                self.seen.count("told to come again", 1);
                thread::sleep(PAUSE);
            }
            _ => panic!("{request:?}: {answer:?}"),
        }
    }

    /// Sends many commands at once.
    fn ask_many(&mut self, mut connection: Connection) {
        let changes = self.outage.changes.load(Ordering::SeqCst);
        let asks: Vec<_> = (0..self.rng.usize(1..=MOST_COMMANDS)).map(|_| self.any()).collect();
        let commands =
            asks.iter().flat_map(|&(ask, tag, count)| encoded(&command(ask, tag, count)));
        let commands: Vec<u8> = commands.collect();
        let written = connection.stream.get_mut().write_all(&commands);
        self.seen.count("requests", asks.len() as u64);
        if self.rng.u32(..CUT_ONE_IN) == 0 {
            // In the middle of an answer, too.
            self.seen.count("cut by the client", asks.len() as u64);
            return;
        }
        let mut client = resp::Client(connection.stream);
        let mut is_away = false;
        for (index, &(ask, tag, count)) in asks.iter().enumerate() {
            let answer = written.is_ok().then(|| client.try_read()).flatten();
            let Some(answer) = answer else {
                let was_killed = self.place.life().number > connection.life;
                assert!(was_killed, "no answer, and nobody killed the server");
                self.seen.count("cut by a kill", (asks.len() - index) as u64);
                return;
            };
            if answer.starts_with('-') {
                let words = ["-TRYAGAIN ", "-LOADING "];
                let is_transient = words.iter().any(|word| answer.starts_with(word));
                assert!(is_transient, "{ask:?} {tag}: {answer}");
                self.seen.count("told to come again", 1);
                is_away = true;
            } else {
                let runs = resp::numbers(&answer).into_iter().map(|id| (id, 1, 1)).collect();
                self.take(ask, tag, count, runs, changes);
            }
        }
        if is_away {
            thread::sleep(PAUSE);
        }
        self.connection = Some(Connection { life: connection.life, stream: client.0 });
    }

    fn take(&mut self, ask: Ask, tag: &str, count: u64, runs: Vec<Run>, changes: u64) {
        let ids: u64 = runs.iter().map(|run| run.1).sum();
        if ask != Ask::Segment || self.door == Door::Redis {
            let expected = if ask == Ask::Uids || ask == Ask::Numbers { count } else { 1 };
            assert_eq!(ids, expected, "{ask:?} {tag} {count}: {runs:?}");
        }
        let name = if ask == Ask::Uid || ask == Ask::Uids { "" } else { tag };
        for run in runs {
            self.seen.note(self.place.realm, name, run);
        }
        self.seen.count("answers", 1);
        self.seen.count("ids", ids);
        // Only what begins and ends within the outage.
        let is_away = self.outage.is_now.load(Ordering::SeqCst)
            && self.outage.changes.load(Ordering::SeqCst) == changes;
        if is_away && self.place.realm == "postgres" && ask != Ask::Segment {
            self.outage.ids.fetch_add(ids, Ordering::SeqCst);
        }
    }
}

fn request(ask: Ask, tag: &str, count: u64) -> String {
    let (method, path) = match ask {
        Ask::Uid => ("GET", "/v1/uids".to_owned()),
        Ask::Uids => ("GET", format!("/v1/uids?n={count}")),
        Ask::Number => ("GET", format!("/v1/tags/{tag}/ids")),
        Ask::Numbers => ("GET", format!("/v1/tags/{tag}/ids?n={count}")),
        Ask::Leaf => ("GET", format!("/api/segment/get/{tag}")),
        Ask::Segment => ("POST", format!("/v1/tags/{tag}/segments?size={count}")),
    };
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n\r\n")
}

/// What is as near to a request as the Redis protocol has it.
fn command(ask: Ask, tag: &str, count: u64) -> String {
    match ask {
        Ask::Uid => "UID.NEXT".to_owned(),
        Ask::Uids => format!("UID.NEXT {count}"),
        Ask::Number | Ask::Leaf => format!("TAG.NEXT {tag}"),
        Ask::Numbers => format!("TAG.NEXT {tag} {count}"),
        Ask::Segment => format!("INCR {tag}"),
    }
}

fn runs(ask: Ask, answer: &Answer) -> Vec<Run> {
    let number = |value: &serde_json::Value| -> u64 { value.as_str().unwrap().parse().unwrap() };
    match ask {
        Ask::Leaf => vec![(answer.text().parse().unwrap(), 1, 1)],
        Ask::Segment => {
            let json = answer.json();
            vec![(number(&json["first"]), number(&json["count"]), number(&json["delta"]))]
        }
        Ask::Uid | Ask::Uids | Ask::Number | Ask::Numbers => {
            let json = answer.json();
            let ids = json.as_object().unwrap().values().next().unwrap();
            ids.as_array().unwrap().iter().map(|id| (number(id), 1, 1)).collect()
        }
    }
}

/// An id that is in two of the runs, if there is one.
fn twice(runs: &mut [Run]) -> Option<u64> {
    assert!(runs.iter().all(|run| run.2 == 1), "all tags count by 1");
    runs.sort_unstable();
    runs.windows(2).find(|pair| pair[0].0 + pair[0].1 > pair[1].0).map(|pair| pair[1].0)
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
#[ignore = "needs PostgreSQL's server and MySQL"]
fn no_id_comes_twice_in_a_storm_on_postgres_and_mysql() {
    let (seed, seconds) =
        (number("UIDRING_STORM_SEED", 1), number("UIDRING_STORM_SECONDS", 20).max(15));
    println!("seed {seed}, {seconds} s");
    let mut postgres = OwnServer::start(Kind::Postgres);
    let mysql = Kind::MySql.database();
    make_leafs_table(&mysql);
    let places = [
        Place::new(&postgres.url(), &[RESP, "--table=own"], OF_POSTGRES, "postgres"),
        Place::new(&postgres.url(), &[RESP, "--table=own"], OF_POSTGRES, "postgres"),
        Place::new(&mysql.url, &[RESP, "--table=leaf", "--uids=false"], OF_LEAFS_TABLE, "mysql"),
    ];
    for place in &places {
        place.start();
        place.wait_until_ready();
    }
    for tag in TAGS {
        let made = places[0].life().server.as_ref().unwrap().put(tag, r#"{"step":1000}"#);
        assert_eq!(made.status, 201, "{made:?}");
    }

    let (stop, outage) = (AtomicBool::new(false), Outage::default());
    let mut rng = fastrand::Rng::with_seed(seed);
    let (all, kills) = thread::scope(|scope| {
        let mut clients = Vec::new();
        for place in &places {
            for door in [[Door::Http; CLIENTS], [Door::Redis; CLIENTS]].concat() {
                let rng = fastrand::Rng::with_seed(rng.u64(..));
                let (outage, stop) = (&outage, &stop);
                let client = Client::new(place, door, outage, rng);
                clients.push(scope.spawn(move || client.run(stop)));
            }
        }
        // Whatever fails, the clients are to end.
        let kills = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            disturb(&places, &mut postgres, &outage, &mut rng, Duration::from_secs(seconds))
        }));
        stop.store(true, Ordering::Relaxed);
        let all: Vec<Seen> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        (all, kills.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    for place in &places {
        let server = place.life().server.take();
        drop(server.unwrap().stop());
    }
    judge(all, kills, &outage, seed);
}

fn make_leafs_table(mysql: &databases::Database) {
    mysql.run(
        "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) NOT NULL DEFAULT '', \
         max_id BIGINT NOT NULL DEFAULT 1, step INT NOT NULL, \
         description VARCHAR(256) DEFAULT NULL, \
         update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))",
    );
    for tag in TAGS {
        mysql.run(&format!("INSERT INTO leaf_alloc (biz_tag, step) VALUES ('{tag}', {STEP})"));
    }
}

/// What is done to the servers. Returns how many were killed.
fn disturb(
    places: &[Place],
    postgres: &mut OwnServer,
    outage: &Outage,
    rng: &mut fastrand::Rng,
    length: Duration,
) -> u64 {
    let (since, mut next_kill, mut kills) = (Instant::now(), KILL_EVERY, 0);
    // Between two kills, so that both servers have numbers in memory.
    let kills_before = length.as_secs() / 2 / KILL_EVERY.as_secs();
    let mut crash_at =
        Some(Duration::from_secs(kills_before * KILL_EVERY.as_secs()) + KILL_EVERY / 5);
    while since.elapsed() < length {
        thread::sleep(Duration::from_millis(rng.u64(10..100)));
        if crash_at.is_some_and(|at| since.elapsed() >= at) {
            crash_at = None;
            set(outage, true);
            postgres.crash();
            thread::sleep(AWAY);
            set(outage, false);
            postgres.restart();
        }
        if since.elapsed() >= next_kill {
            next_kill += KILL_EVERY;
            let place = rng.choice(places).unwrap();
            place.kill();
            kills += 1;
            thread::sleep(Duration::from_millis(rng.u64(0..500)));
            place.start();
        }
    }
    assert_eq!(crash_at, None, "the database crashed");
    for place in places {
        place.wait_until_ready();
    }
    kills
}

fn set(outage: &Outage, is_now: bool) {
    outage.changes.fetch_add(1, Ordering::SeqCst);
    outage.is_now.store(is_now, Ordering::SeqCst);
}

fn judge(all: Vec<Seen>, kills: u64, outage: &Outage, seed: u64) {
    let (mut runs, mut counts) = (BTreeMap::<_, Vec<Run>>::new(), BTreeMap::new());
    for mut seen in all {
        for (of, more) in mem::take(&mut seen.runs) {
            runs.entry(of).or_default().extend(more);
        }
        for (what, count) in seen.counts {
            *counts.entry(what).or_insert(0) += count;
        }
    }
    let from_memory = outage.ids.load(Ordering::SeqCst);
    println!("{counts:?}; {kills} kills; {from_memory} ids while PostgreSQL was away");
    for ((realm, name), runs) in &mut runs {
        let ids: u64 = runs.iter().map(|run| run.1).sum();
        println!("{realm} {name:?}: {ids} ids");
        let twice = twice(runs);
        assert_eq!(twice, None, "an id of {name:?} on {realm} came twice; seed {seed}");
    }
    // Three tags on each, and the time-ordered ids.
    assert_eq!(runs.len(), 2 * TAGS.len() + 1);
    let count = |what| counts.get(what).copied().unwrap_or(0);
    let cut = [count("cut by a kill"), count("cut by the client")];
    let known = count("answers") + count("told to come again") + cut[0] + cut[1];
    assert_eq!(count("requests"), known, "each request was answered, or cut off");
    let most = kills * 2 * (CLIENTS + CLIENTS * MOST_COMMANDS) as u64;
    assert!(cut[0] <= most && cut[1] > 0, "{counts:?}");
    assert!(kills > 0 && from_memory > 0 && count("ids") > 10_000, "{counts:?}");
}
