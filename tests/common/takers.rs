//! What the storms share: processes that take until they are told to end, and a server that fares
//! badly.
#![allow(dead_code)] // each storm uses a part
#![allow(clippy::unwrap_used)]

#[path = "signal.rs"]
#[allow(clippy::duplicate_mod)] // servers of stores of keys have it, too
mod signal;

use std::env;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use signal::signal;

use crate::databases::OwnServer;

/// A process that takes until its standard input ends: the ignored test `child` of this program.
pub struct Taker {
    pub child: Child,
    /// Which of the processes of a storm it is.
    pub number: usize,
    pub stopped: bool,
}

impl Taker {
    pub fn start(number: usize, environment: impl FnOnce(&mut Command)) -> Taker {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture"]);
        Taker::run(number, command, environment)
    }

    /// A program of another language, by a command that `sh` runs.
    pub fn start_command(
        number: usize,
        other: &str,
        environment: impl FnOnce(&mut Command),
    ) -> Taker {
        let mut command = Command::new("sh");
        // In place of the shell, so that it is what is killed.
        command.args(["-c", &format!("exec {other}")]);
        Taker::run(number, command, environment)
    }

    fn run(number: usize, mut command: Command, environment: impl FnOnce(&mut Command)) -> Taker {
        environment(&mut command);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        Taker { child, number, stopped: false }
    }

    pub fn stop(&mut self) {
        signal(&self.child, "-STOP");
        self.stopped = true;
    }

    pub fn go_on(&mut self) {
        signal(&self.child, "-CONT");
        self.stopped = false;
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// A stopped process that keeps a SQLite file locked can hold the end up, but not for ever.
    /// Where it does, the process is left to be looked at.
    pub fn wait_for_end(&mut self) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                since.elapsed() < Duration::from_secs(120),
                "process {} does not end",
                self.child.id()
            );
            thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
    }
}

/// What can happen to a server, or to several that serve together.
pub trait Fragile {
    fn url(&self) -> String;
    /// Ends it without giving it time to do anything, and starts it again.
    fn crash_and_restart(&mut self);
    /// Stops it where it is: connections are accepted by the system, and nobody answers.
    fn pause(&mut self);
    fn resume(&mut self);
    /// Ends all connections.
    fn cut_connections(&mut self);
}

impl Fragile for OwnServer {
    fn url(&self) -> String {
        OwnServer::url(self)
    }

    fn crash_and_restart(&mut self) {
        OwnServer::crash_and_restart(self);
    }

    fn pause(&mut self) {
        OwnServer::pause(self);
    }

    fn resume(&mut self) {
        OwnServer::resume(self);
    }

    fn cut_connections(&mut self) {
        OwnServer::cut_connections(self);
    }
}

/// A server that crashes and starts again, hangs, and loses its connections.
pub struct BadServer {
    pub server: Box<dyn Fragile>,
    resume_at: Option<Instant>,
    pub crashes: u32,
    pub pauses: u32,
    pub cuts: u32,
}

impl BadServer {
    pub fn new(server: impl Fragile + 'static) -> BadServer {
        let server = Box::new(server);
        BadServer { server, resume_at: None, crashes: 0, pauses: 0, cuts: 0 }
    }

    /// Whether it hangs.
    pub fn is_paused(&self) -> bool {
        self.resume_at.is_some()
    }

    /// Does now and then what is bad for its clients.
    pub fn maybe_disturb(&mut self, rng: &mut fastrand::Rng) {
        if let Some(at) = self.resume_at {
            if Instant::now() >= at {
                self.resume();
            }
            return;
        }
        match rng.u8(0..60) {
            0 => {
                self.server.crash_and_restart();
                self.crashes += 1;
            }
            1..=2 => {
                self.server.pause();
                // Longer than a lease, and than any call to it.
                let pause = Duration::from_millis(rng.u64(100..5000));
                self.resume_at = Some(Instant::now() + pause);
                self.pauses += 1;
            }
            3..=6 => {
                self.server.cut_connections();
                self.cuts += 1;
            }
            _ => {}
        }
    }

    pub fn resume(&mut self) {
        if self.resume_at.take().is_some() {
            self.server.resume();
        }
    }
}

/// What happened to the processes of a storm.
#[derive(Debug, Default)]
pub struct Counts {
    pub started: usize,
    pub killed: u32,
    pub paused: u32,
    pub ended: u32,
}

/// Has processes take in so many `places` for `seconds`, and kills, stops, wakes and ends them, and
/// does the server what is bad for it. Where one is gone, `start` starts the next: by its number,
/// from 1 on, and its place. What runs in a place from `slow` on takes seconds to start, and is
/// disturbed less often.
pub fn disturb(
    seconds: u64,
    rng: &mut fastrand::Rng,
    mut server: Option<&mut BadServer>,
    (places, slow): (usize, usize),
    start: impl Fn(usize, usize) -> Taker,
) -> Counts {
    let mut counts = Counts::default();
    let start = |counts: &mut Counts, place: usize| {
        counts.started += 1;
        start(counts.started, place)
    };
    let mut takers: Vec<Taker> = (0..places).map(|place| start(&mut counts, place)).collect();
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        thread::sleep(Duration::from_millis(50));
        if let Some(server) = &mut server {
            server.maybe_disturb(rng);
        }
        let place = rng.usize(0..places);
        if place >= slow && !takers[place].stopped && rng.u8(0..4) > 0 {
            continue;
        }
        let taker = &mut takers[place];
        match rng.u8(0..20) {
            0 => {
                taker.kill();
                counts.killed += 1;
                takers[place] = start(&mut counts, place);
            }
            1 if !taker.stopped => {
                drop(taker.child.stdin.take());
                taker.wait_for_end();
                counts.ended += 1;
                takers[place] = start(&mut counts, place);
            }
            2 if !taker.stopped => {
                taker.stop();
                counts.paused += 1;
            }
            3..=5 if taker.stopped => taker.go_on(),
            _ => {}
        }
        if let Some(server) = &mut server
            && server.is_paused()
        {
            // A clean end waits for the server.
            server.resume();
        }
    }
    if let Some(server) = server {
        server.resume();
    }
    // All go on before any is waited for: one that is stopped may hold the lock of a row.
    for taker in takers.iter_mut().filter(|taker| taker.stopped) {
        taker.go_on();
    }
    for mut taker in takers {
        drop(taker.child.stdin.take());
        taker.wait_for_end();
    }
    counts
}

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// How long the first storm lasts. What has to happen in a storm is counted by these seconds, also
/// in a longer one: a busy machine needs more time for it.
pub fn storm_seconds() -> u64 {
    number("UIDRING_STORM_SECONDS", 20)
}

/// Runs a storm of [`storm_seconds`], and longer ones if it was too short to show anything, as on a
/// busy machine. `storm` takes the seconds, and returns whether enough has happened.
pub fn until_shown(storm: impl FnMut(u64) -> bool) {
    let all = [1, 3, 9].map(|times| times * storm_seconds());
    assert!(all.into_iter().any(storm), "too little happens");
}
