//! The service: the real program, in a folder of its own.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Connection, Request};
use crate::ledger::{BLOCK_BITS, TAGS, WORKER_BITS, WORKERS};
use crate::state::{FOREVER, LEASE, State, TICK};
use crate::takers::tag_name;

const ADMIN: &str = "a-long-secret-for-the-soak-alone";
/// All may take, and only an administrator sees the pages.
const TOKENS: &str = "public = [\"*\"]\npublic_uids = true\n";
/// Lines of the log that are shown if the service fails.
const LAST_LINES: usize = 40;

pub struct Service {
    child: Mutex<Child>,
    id: u32,
    pub address: SocketAddr,
    folder: PathBuf,
    log: Arc<Mutex<VecDeque<String>>>,
}

impl Service {
    /// Starts `program` in `folder`, waits until it is ready, and creates its tags.
    pub fn start(program: &Path, folder: &Path) -> Result<Service, String> {
        let told = |error: io::Error| format!("{} does not start: {error}", program.display());
        fs::write(folder.join("tokens.toml"), TOKENS).map_err(told)?;
        let mut command = Command::new(program);
        command.env_clear().current_dir(folder).env("HOME", folder);
        command.env("UIDRING_SERVER_ADMIN_TOKEN", ADMIN);
        command.args(["--db=ids.db", "--listen=127.0.0.1:0", "--tokens=tokens.toml"]);
        let time_bits = 63 - WORKER_BITS - BLOCK_BITS;
        command.arg(format!("--layout={time_bits},{WORKER_BITS},{BLOCK_BITS}"));
        command.arg(format!("--tick={}ms", TICK.as_millis()));
        command.arg(format!("--lease={}s", LEASE.as_secs()));
        command.arg(format!("--worker-ids=1-{WORKERS}"));
        command.arg("--token-refresh=1s");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(told)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let log = Arc::new(Mutex::new(VecDeque::with_capacity(LAST_LINES)));
        if let Some(stderr) = stderr {
            let log = Arc::clone(&log);
            thread::spawn(move || keep_last_lines(BufReader::new(stderr), &log));
        }
        let mut line = String::new();
        if let Some(stdout) = stdout {
            let mut stdout = BufReader::new(stdout);
            stdout.read_line(&mut line).map_err(told)?;
            thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
        }
        let (id, folder) = (child.id(), folder.to_owned());
        let address = ([0; 4], 0).into();
        let mut service = Service { child: Mutex::new(child), id, address, folder, log };
        let listens = line.trim_end().rsplit_once("://").and_then(|(_, rest)| rest.parse().ok());
        service.address = listens.ok_or_else(|| service.failure("does not listen"))?;
        let since = Instant::now();
        while service.get("/readyz")? != 200 {
            if since.elapsed() > FOREVER {
                return Err(service.failure("is not ready"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        for tag in 0..TAGS {
            let path = format!("/v1/tags/{}", tag_name(tag));
            let status = service.ask(&Request::new("PUT", &path).admin(ADMIN).json("{}"))?;
            if status != 201 {
                return Err(service.failure(&format!("answers {status} to PUT {path}")));
            }
        }
        Ok(service)
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    pub fn file(&self) -> PathBuf {
        self.folder.join("ids.db")
    }

    fn failure(&self, what: &str) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<_> = log.iter().map(String::as_str).collect();
        format!("the service {what}; the end of its log:\n{}", lines.join("\n"))
    }

    /// Whether it still runs.
    pub fn check(&self) -> Result<(), String> {
        match self.end()? {
            None => Ok(()),
            Some(status) => Err(self.failure(&format!("has ended: {status}"))),
        }
    }

    /// How it has ended.
    fn end(&self) -> Result<Option<ExitStatus>, String> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.try_wait().map_err(|error| error.to_string())
    }

    /// The status of the answer on a connection of its own.
    fn ask(&self, request: &Request) -> Result<u16, String> {
        let answer = Connection::open(self.address).and_then(|mut one| one.ask(request));
        match answer {
            Ok(answer) => Ok(answer.status),
            Err(error) => Err(self.failure(&format!("does not answer: {error}"))),
        }
    }

    fn get(&self, path: &str) -> Result<u16, String> {
        self.ask(&Request::new("GET", path).admin(ADMIN))
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(self) -> Result<(), String> {
        self.signal("TERM")?;
        let since = Instant::now();
        while since.elapsed() < FOREVER {
            match self.end()? {
                None => thread::sleep(Duration::from_millis(20)),
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.failure(&format!("ended with {status}"))),
            }
        }
        Err(self.failure("does not end"))
    }

    fn signal(&self, name: &str) -> Result<(), String> {
        let mut kill = Command::new("kill");
        let done = kill.args([&format!("-{name}"), &self.id().to_string()]).status();
        if done.as_ref().is_ok_and(ExitStatus::success) {
            Ok(())
        } else {
            Err(self.failure(&format!("gets no signal: {done:?}")))
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn keep_last_lines(stderr: impl BufRead, log: &Mutex<VecDeque<String>>) {
    for line in stderr.lines().map_while(Result::ok) {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() == LAST_LINES {
            log.pop_front();
        }
        log.push_back(line);
    }
}

/// What operators do: they look at the pages, and have the service read its tokens again, which are
/// wrong now and then.
pub fn operate(state: &State, service: &Service) {
    for turn in 0_u32.. {
        state.pause(Duration::from_millis(500));
        if !state.goes_on() {
            break;
        }
        let is_wrong = turn % 3 == 2;
        let tokens = if is_wrong { "public = 7\n" } else { TOKENS };
        state.check(replace_tokens(service, tokens).and_then(|()| service.signal("HUP")));
        state.counts.reloads.add(1);
        for path in ["/metrics", "/v1/status", "/", "/livez", "/v1/tags", "/readyz"] {
            match service.get(path) {
                Ok(200) => {}
                // The database is locked, or its file is missing.
                Ok(500 | 503) if matches!(path, "/readyz" | "/v1/tags") => {}
                Ok(status) => state.trouble(format!("{path} answers {status}")),
                Err(error) => state.trouble(error),
            }
        }
    }
    state.check(replace_tokens(service, TOKENS).and_then(|()| service.signal("HUP")));
}

fn replace_tokens(service: &Service, tokens: &str) -> Result<(), String> {
    let next = service.folder.join("next.toml");
    let written = fs::write(&next, tokens);
    let done = written.and_then(|()| fs::rename(&next, service.folder.join("tokens.toml")));
    done.map_err(|error| format!("the tokens cannot be replaced: {error}"))
}
