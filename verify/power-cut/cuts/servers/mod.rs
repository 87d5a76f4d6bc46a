//! Cuts under PostgreSQL, MariaDB and MySQL. The layer goes between the server and its data folder.

#[path = "../../../../tests/common/free_port.rs"]
mod free_port;
mod server;
#[path = "../../../../tests/common/server_programs.rs"]
mod server_programs;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use fastrand::Rng;
use free_port::free_port;
use server::{Kind, Server};
use tempfile::TempDir;
use uidring::Store;

use crate::account::Account;
use crate::calls::{Caller, Outcome, with_causes};
use crate::disk::{Disk, Lie};
use crate::life::{Life, NEVER};
use crate::machine::{Found, Machine};
use crate::{life, machine, number, report, seed};

/// The most changes between two cuts, about those of ten calls beside what the server does by
/// itself.
const MOST_CHANGES: u64 = 200;
/// The same where the cut comes while the server starts.
const MOST_OF_A_START: u64 = 400;
/// More calls than have so few changes.
const MOST_CALLS: u32 = 1000;
/// How often it is looked whether the power is still there.
const PAUSE: Duration = Duration::from_millis(1);
/// How long a call may take: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine with a server.
struct ServerMachine<'a> {
    kind: Kind,
    layer: &'a Path,
    /// The folder of a server that has not run yet.
    template: &'a Path,
    folder: TempDir,
    port: u16,
    disk: Disk,
    account: Mutex<Account>,
    rng: Rng,
}

impl<'a> ServerMachine<'a> {
    fn new(
        kind: Kind,
        layer: &'a Path,
        template: &'a Path,
        rng: Rng,
        lie: Lie,
    ) -> ServerMachine<'a> {
        let folder = kind.folder();
        // The layer compares paths without links.
        let path = folder.path().canonicalize().unwrap();
        let disk =
            Disk { durable: path.join("durable"), live: path.join("live"), has_journal: true, lie };
        for to in [&disk.durable, &disk.live] {
            server::copy(template, to);
        }
        let (port, account) = (free_port(), Mutex::default());
        ServerMachine { kind, layer, template, folder, port, disk, account, rng }
    }

    /// A machine in the place of this one.
    fn anew(&mut self) -> ServerMachine<'a> {
        ServerMachine::new(self.kind, self.layer, self.template, self.rng.fork(), self.disk.lie)
    }

    fn tell(&self, line: &str) {
        self.account.lock().unwrap().hear(line);
    }

    fn shut_down(&self, life: &Life, server: Server) {
        self.tell("do stop");
        let (status, said) = server.shut_down(life);
        if !status.success() && life.has_power() {
            self.broke(&format!("the server ends with {status}: {said}"));
        }
    }

    fn start(&self, life: &Life) -> Server {
        self.tell("do start");
        self.disk.forget(self.kind.locks());
        if self.has_no_tc_log() {
            self.disk.forget(&["tc.log"]);
        }
        Server::start(self.kind, (self.folder.path(), &self.disk.live, self.port), life, self.layer)
    }

    /// Looks what is there, and then calls the server from so many threads at once. Each makes so
    /// many calls, fewer if the power fails.
    fn call(&self, life: &Life, server: &Server, seeds: &[u64], calls: u32) {
        thread::scope(|scope| {
            let watch = |caller: ScopedJoinHandle<'_, ()>| {
                while !caller.is_finished() {
                    thread::sleep(PAUSE);
                    if !life.has_power() {
                        server.kill();
                    }
                }
                caller.join().unwrap();
            };
            watch(scope.spawn(|| self.use_store(life, 0, look)));
            if !life.has_power() || self.account.lock().unwrap().broken.is_some() {
                return;
            }
            let make_calls = |caller: &mut Caller<'_>| (0..calls).try_for_each(|_| caller.step());
            let start = |seed| scope.spawn(move || self.use_store(life, seed, make_calls));
            let callers: Vec<_> = seeds.iter().copied().map(start).collect();
            callers.into_iter().for_each(watch);
        });
    }

    /// Nothing may fail while the power is there.
    fn use_store(&self, life: &Life, seed: u64, work: impl FnOnce(&mut Caller<'_>) -> Outcome) {
        let mut tell = |line: &str| self.tell(line);
        let outcome = Store::open(self.kind.address(self.port)).map_err(Box::from);
        let outcome = outcome.and_then(|store| {
            let store = store.with_timeout(PATIENCE);
            work(&mut Caller::open(&store, None, seed, &mut tell)?)
        });
        if let Err(error) = outcome
            && life.has_power()
        {
            self.broke(&with_causes(&*error));
        }
    }

    /// Whether the store says that it has some of its tables only, or one by name alone. MariaDB
    /// and MySQL commit each table by itself, so that a failure may come between two of them, or in
    /// the middle of one, before anything was given. Nothing is given then until somebody drops
    /// them.
    fn is_half_made(&self) -> bool {
        let account = self.account.lock().unwrap();
        let says_so = |text: &String| text.contains("if nothing has ever been given here");
        self.kind != Kind::Postgres && account.is_empty() && account.broken.iter().any(says_so)
    }

    /// Whether MySQL says that it has lost a page, or crashes where it reads one, so that somebody
    /// has to restore a backup. After one cut in a hundred it does, mostly of those that come while
    /// it starts.
    fn is_lost(&self) -> bool {
        let account = self.account.lock().unwrap();
        let says_so = |text: &String| {
            let signs = [
                "page corruption on disk",
                "unrecoverable by double-write buffer",
                "mysqld got signal 11",
            ];
            signs.iter().any(|sign| text.contains(sign))
        };
        self.kind == Kind::MySql && account.broken.iter().any(says_so)
    }

    /// Whether the power failed before the first sync of MariaDB's `tc.log`, which is for
    /// transactions of several engines. The server asks then that somebody deletes the file.
    fn has_no_tc_log(&self) -> bool {
        fs::read(self.disk.live.join("tc.log"))
            .is_ok_and(|found| !found.starts_with(&[0xfe, 0x23, 0x05, 0x74]))
    }

    /// Ends the server, and tells what it said if something went wrong.
    fn end(&self, server: Server) {
        let said = server.end();
        if let Some(broken) = &mut self.account.lock().unwrap().broken {
            *broken = format!("{broken}; the server said: {said}");
        }
    }

    /// The server ends in good order, and its files are what the log says.
    fn live_to_the_end(&mut self) {
        let life = Life::begin(self.folder.path(), NEVER);
        let seeds = [self.rng.u64(..), self.rng.u64(..)];
        let mut server = self.start(&life);
        if !server.await_ready(&life) {
            self.broke("the server does not start");
            return self.end(server);
        }
        self.call(&life, &server, &seeds, 10);
        if self.account().broken.is_some() {
            self.end(server);
        } else {
            self.shut_down(&life, server);
        }
        if self.is_half_made() || self.is_lost() {
            self.account().broken = None;
        } else if self.account().broken.is_none() {
            self.disk.check(&life.log().changes, |_| false);
        }
    }

    fn broke(&self, what: &str) {
        self.tell(&format!("broken {what}"));
    }
}

impl Machine for ServerMachine<'_> {
    fn live(&mut self) -> String {
        let is_cut_at_start = self.rng.u8(..3) == 0;
        let first = self.rng.u64(1..=MOST_OF_A_START);
        let life = Life::begin(self.folder.path(), if is_cut_at_start { first } else { NEVER });
        let mut server = self.start(&life);
        let mut lies_from = usize::MAX;
        if server.await_ready(&life) {
            // A server that recovers or makes its tables on a lying disk mostly cannot be read
            // then, which shows nothing.
            if !self.account().is_empty() {
                lies_from = usize::try_from(life.changes()).unwrap();
            }
            let ends = self.rng.u8(..6) == 0;
            let seeds = [self.rng.u64(..), self.rng.u64(..)];
            let seeds = &seeds[..self.rng.usize(1..=2)];
            let (calls, changes) = (self.rng.u32(1..10), self.rng.u64(1..=MOST_CHANGES));
            if ends {
                self.call(&life, &server, seeds, calls);
            }
            if !is_cut_at_start {
                life.cut_after(changes);
            }
            if ends && life.has_power() {
                self.shut_down(&life, server);
            } else {
                self.call(&life, &server, seeds, MOST_CALLS);
                self.end(server);
                let is_over = !life.has_power() || self.account().broken.is_some();
                assert!(is_over, "the layer sees what {MOST_CALLS} calls change");
            }
        } else {
            if life.has_power() {
                self.broke("the server does not start");
            }
            self.end(server);
        }
        if self.is_half_made() || self.is_lost() {
            *self = self.anew();
            return self.live();
        }
        self.disk.cut(&life.log().changes, lies_from, &mut self.rng);
        std::mem::take(&mut self.account().doing)
    }

    fn account(&mut self) -> &mut Account {
        self.account.get_mut().unwrap()
    }

    /// Once more on what is there, and once on a new disk, where the tables are made.
    fn retire(&mut self) {
        self.live_to_the_end();
        let Account { twice, broken, .. } = self.account();
        if twice.is_none() && broken.is_none() {
            *self = self.anew();
            self.live_to_the_end();
        }
    }
}

fn look(caller: &mut Caller<'_>) -> Outcome {
    caller.tell_tags()
}

/// Cuts the power of machines with a server.
fn cut(kind: Kind, cuts: u32, lie: Lie, is_over: fn(&Found) -> bool) -> Found {
    // The server's user reads what is in it.
    let folder = kind.folder();
    let (layer, seed) = (life::compile_layer(folder.path()), seed());
    let template = kind.template();
    let data = template.path().join("data");
    let make = |rng| ServerMachine::new(kind, &layer, &data, rng, lie);
    let found = machine::cut(seed, cuts, make, is_over);
    report(&format!("{kind:?}, {lie:?}"), seed, &found);
    found
}

/// What every run makes under each server.
const FEW: u32 = 20;

fn nothing_comes_twice(kind: Kind) {
    let cuts = number("UIDRING_SERVER_POWER_CUTS").unwrap_or(FEW);
    let found = cut(kind, cuts, Lie::None, |_| false);
    assert!(found.wrong().is_empty(), "{}", found.wrong().join("\n"));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn postgres() {
    nothing_comes_twice(Kind::Postgres);
}

#[test]
#[ignore = "needs MariaDB"]
fn mariadb() {
    nothing_comes_twice(Kind::MariaDb);
}

#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn mysql() {
    nothing_comes_twice(Kind::MySql);
}

fn must_come_twice(kind: Kind, lie: Lie) {
    let found = cut(kind, 10 * FEW, lie, |found| !found.twice.is_empty());
    assert!(!found.twice.is_empty(), "nothing came twice; broken: {:#?}", found.broken);
    println!("{}", found.twice[0]);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn without_the_syncs_of_postgres_log_ids_come_twice() {
    must_come_twice(Kind::Postgres, Lie::All("pg_wal/"));
}

#[test]
#[ignore = "needs MariaDB"]
fn without_the_syncs_of_mariadbs_log_ids_come_twice() {
    must_come_twice(Kind::MariaDb, Lie::All("ib_logfile0"));
}

#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn without_the_syncs_of_mysqls_log_ids_come_twice() {
    must_come_twice(Kind::MySql, Lie::All("#innodb_redo/"));
}
