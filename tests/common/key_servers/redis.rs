//! Servers of Redis of a test's own, to be stopped and killed.

#[path = "../folder.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod folder;
#[path = "../free_port.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod free_port;
#[path = "../signal.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod signal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use folder::folder;
use free_port::free_port;
use signal::signal;

/// A server with an empty database, in a folder of its own. It ends with this.
pub struct OwnRedis {
    folder: tempfile::TempDir,
    port: u16,
    has_tls: bool,
    process: Option<Child>,
}

/// What a server of ids needs.
const USUAL: &str = "appendonly yes\nappendfsync always\nsave \"\"\n";

impl OwnRedis {
    /// With these lines in its file behind those that it needs.
    pub fn start(lines: &str) -> OwnRedis {
        OwnRedis::make(lines, &[])
    }

    /// With TLS alone, by a certificate of the tests with this name.
    pub fn start_with_tls(certificate: &str, lines: &str) -> OwnRedis {
        let file = |name: &str| certificate_file(name).display().to_string();
        OwnRedis::make(
            lines,
            &[
                ("tls-cert-file", file(&format!("{certificate}.pem"))),
                ("tls-key-file", file(&format!("{certificate}-key.pem"))),
                ("tls-ca-cert-file", file("authority.pem")),
            ],
        )
    }

    /// A Sentinel that watches `master`.
    pub fn start_sentinel(master: &OwnRedis) -> OwnRedis {
        let port = master.port;
        let mut server = OwnRedis::new(&format!("sentinel monitor ids 127.0.0.1 {port} 1\n"), &[]);
        server.launch(&["--sentinel"]);
        server
    }

    fn make(lines: &str, tls: &[(&str, String)]) -> OwnRedis {
        let mut server = OwnRedis::new(&format!("{USUAL}{lines}\n"), tls);
        server.launch(&[]);
        server
    }

    fn new(lines: &str, tls: &[(&str, String)]) -> OwnRedis {
        let folder = folder();
        let port = free_port();
        let dir = folder.path().display();
        let ports = match tls {
            [] => format!("port {port}\n"),
            files => {
                let files = files.iter().map(|(name, file)| format!("{name} {file}\n"));
                format!("port 0\ntls-port {port}\n{}", files.collect::<String>())
            }
        };
        let text = format!(
            "bind 127.0.0.1\ndir {dir}\nlogfile {dir}/log\n{ports}cluster-port {}\n{lines}",
            // Else a cluster takes the port that is higher by 10,000, which a client may have.
            free_port()
        );
        fs::write(folder.path().join("redis.conf"), text).expect("a file");
        OwnRedis { folder, port, has_tls: !tls.is_empty(), process: None }
    }

    /// Its address with `rest` behind the port.
    pub fn url(&self, rest: &str) -> String {
        let scheme = if self.has_tls { "rediss" } else { "redis" };
        format!("{scheme}://{}{rest}", self.place())
    }

    /// Host and port.
    pub fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs a command, and returns what it answers.
    pub fn run(&self, words: &[&str]) -> String {
        let mut client = Command::new("redis-cli");
        client.args(["-p", &self.port.to_string()]);
        if self.has_tls {
            let file = |name: &str| certificate_file(name).display().to_string();
            client.args(["--tls", "--cacert", &file("authority.pem")]);
            client.args(["--cert", &file("127.0.0.1.pem"), "--key", &file("127.0.0.1-key.pem")]);
            // Its certificate may be of another name on purpose.
            client.arg("--insecure");
        }
        let output = client.args(words).output().expect("redis-cli is installed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs a command that is answered by OK.
    pub fn set(&self, words: &[&str]) {
        assert_eq!(self.run(words), "OK", "{words:?}");
    }

    /// Kills it without giving it time to do anything.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            signal(&process, "-KILL");
            process.wait().expect("the server ends");
        }
    }

    /// Starts it again after it was killed.
    pub fn restart(&mut self) {
        self.launch(&[]);
    }

    /// Starts it again, and does not wait until it has read its files.
    pub fn restart_without_waiting(&mut self) {
        self.spawn(&[]);
        self.wait_until(|answer| answer.contains("LOADING"));
    }

    /// Stops it where it is: connections are accepted by the system, and nobody answers.
    pub fn pause(&self) {
        signal(self.process.as_ref().expect("the server runs"), "-STOP");
    }

    pub fn resume(&self) {
        signal(self.process.as_ref().expect("the server runs"), "-CONT");
    }

    fn launch(&mut self, arguments: &[&str]) {
        self.spawn(arguments);
        self.wait_until(|answer| answer == "PONG" || answer.contains("NO"));
    }

    fn spawn(&mut self, arguments: &[&str]) {
        let mut command = Command::new("redis-server");
        command.arg(self.folder.path().join("redis.conf")).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        self.process = Some(command.spawn().expect("redis-server is installed"));
    }

    /// Waits for such an answer to `PING`. A user without a right is an answer, too.
    fn wait_until(&self, is_it: impl Fn(&str) -> bool) {
        let since = Instant::now();
        loop {
            let answer = self.run(&["PING"]);
            if is_it(&answer) {
                return;
            }
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            let is_in_time = since.elapsed() < Duration::from_secs(60);
            assert!(is_in_time, "the server answers {answer:?}; its log: {log}");
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for OwnRedis {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A file with a certificate of the tests.
pub fn certificate_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(name)
}
