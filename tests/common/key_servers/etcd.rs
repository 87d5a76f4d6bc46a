//! Members of etcd of a test's own, to be stopped and killed, and what stands between them and a
//! client.

#[path = "../folder.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod folder;
#[path = "../free_port.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod free_port;
#[path = "network.rs"]
#[allow(clippy::duplicate_mod, dead_code)] // other servers have it, too, and some use a part
pub mod network;
#[path = "../signal.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod signal;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use folder::folder;
pub use free_port::free_port;
use network::Machine;
use signal::signal;

/// A cluster, which ends with this.
pub struct Etcds {
    members: Vec<Member>,
    /// Removed at the end.
    folder: tempfile::TempDir,
}

struct Member {
    folder: PathBuf,
    machine: Machine,
    port: u16,
    /// What it is started with.
    arguments: Vec<String>,
    is_secret: bool,
    process: Option<Child>,
}

impl Etcds {
    /// So many members, with these arguments beside the usual ones.
    pub fn start(count: usize, arguments: &[&str]) -> Etcds {
        Etcds::start_on(&vec![Machine::Here; count], arguments)
    }

    /// The same, with a member on each of these machines.
    pub fn start_on(machines: &[Machine], arguments: &[&str]) -> Etcds {
        let folder = folder();
        let peers: Vec<u16> = machines.iter().map(|_| free_port()).collect();
        let all = machines.iter().zip(&peers).enumerate();
        let cluster = all.map(|(index, (machine, peer))| {
            format!("m{index}=http://{}:{peer}", machine.address())
        });
        let cluster = cluster.collect::<Vec<_>>().join(",");
        let all = machines.iter().zip(&peers).enumerate();
        let members = all.map(|(index, (machine, peer))| {
            Member::new(folder.path(), index, machine, *peer, &cluster, arguments)
        });
        let mut all = Etcds { members: members.collect(), folder };
        for member in &mut all.members {
            member.launch();
        }
        for member in &all.members {
            member.wait();
        }
        all
    }

    /// Adds a member that is a learner, and returns its place.
    pub fn add_learner(&mut self) -> usize {
        let (peer, index) = (free_port(), self.members.len());
        let said = self.ctl(
            0,
            &[
                "member",
                "add",
                &format!("m{index}"),
                "--learner",
                &format!("--peer-urls=http://127.0.0.1:{peer}"),
            ],
        );
        let cluster = said.lines().find_map(|line| line.strip_prefix("ETCD_INITIAL_CLUSTER="));
        let cluster = cluster.expect("the cluster").trim_matches('"');
        let arguments = ["--initial-cluster-state=existing"];
        let here = Machine::Here;
        let member = Member::new(self.folder.path(), index, &here, peer, cluster, &arguments);
        self.members.push(member);
        self.members[index].launch();
        // A learner says that it is not healthy.
        let since = Instant::now();
        while self.members[index].ask("/version").is_empty() {
            assert!(since.elapsed() < Duration::from_secs(60), "the learner answers");
            sleep(Duration::from_millis(50));
        }
        index
    }

    /// The members as an address names them.
    pub fn places(&self) -> String {
        self.members.iter().map(Member::place).collect::<Vec<_>>().join(",")
    }

    pub fn place(&self, member: usize) -> String {
        self.members[member].place()
    }

    /// Which member leads; `None` where none does for now.
    pub fn leader(&self) -> Option<usize> {
        (0..self.members.len()).find(|&member| self.leads(member))
    }

    /// Whether a member says that it leads.
    pub fn leads(&self, member: usize) -> bool {
        let status = self.ask(member, "/v3/maintenance/status", "{}");
        let id = |name: &str| {
            let text = status.split_once(&format!("\"{name}\":\""))?.1;
            text.split_once('"').map(|(id, _)| id.to_owned())
        };
        id("leader").is_some_and(|leader| Some(leader) == id("member_id"))
    }

    /// Where other members reach a member.
    pub fn peer_place(&self, member: usize) -> String {
        let mut arguments = self.members[member].arguments.iter();
        let url =
            arguments.find_map(|argument| argument.strip_prefix("--listen-peer-urls=http://"));
        url.expect("a place").to_owned()
    }

    /// Runs etcdctl, and returns what it says.
    pub fn ctl(&self, member: usize, arguments: &[&str]) -> String {
        let output = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .args(["--endpoints", &self.place(member)])
            .args(arguments)
            .output()
            .expect("etcdctl runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "etcdctl {arguments:?}: {said}{complaint}");
        said + &complaint
    }

    /// Asks the gateway of a member.
    pub fn ask(&self, member: usize, path: &str, body: &str) -> String {
        self.ask_as(member, "", path, body)
    }

    /// The same, with a token.
    pub fn ask_as(&self, member: usize, token: &str, path: &str, body: &str) -> String {
        let token = match token {
            "" => String::new(),
            token => format!("authorization: {token}\r\n"),
        };
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\n{token}connection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        exchange(&self.place(member), request.as_bytes())
    }

    /// Ends a member without giving it time to do anything.
    pub fn kill(&mut self, member: usize) {
        self.members[member].kill();
    }

    /// Starts these again.
    pub fn restart(&mut self, members: &[usize]) {
        for &member in members {
            self.members[member].launch();
        }
        for &member in members {
            self.members[member].wait();
        }
    }

    /// Starts a member again, as the only one of a new cluster with the data that it has.
    pub fn force_new_cluster(&mut self, member: usize) {
        let member = &mut self.members[member];
        member.arguments.push("--force-new-cluster".to_owned());
        member.launch();
        member.wait();
        member.arguments.pop();
    }

    /// Sends a signal, such as `-STOP`.
    pub fn signal(&self, member: usize, name: &str) {
        let process = self.members[member].process.as_ref().expect("the member runs");
        signal(process, name);
    }

    /// Saves what the only member holds in a file of this name.
    pub fn save(&self, name: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        self.ctl(0, &["snapshot", "save", file.to_str().expect("a path")]);
        file
    }

    /// Ends the only member, and starts it from a snapshot, as a cluster of this `token`.
    pub fn restore(&mut self, snapshot: &Path, token: &str) {
        self.kill(0);
        let member = &self.members[0];
        let data = member.folder.join("data");
        fs::remove_dir_all(&data).expect("its data");
        let value = |name: &str| {
            let argument = member.arguments.iter().find(|argument| argument.starts_with(name));
            argument.expect("an argument").clone()
        };
        self.ctl(
            0,
            &[
                "snapshot",
                "restore",
                snapshot.to_str().expect("a path"),
                "--skip-hash-check",
                &format!("--data-dir={}", data.display()),
                &format!("--initial-cluster-token={token}"),
                &value("--name="),
                &value("--initial-cluster="),
                &value("--initial-advertise-peer-urls="),
            ],
        );
        self.restart(&[0]);
    }
}

impl Member {
    fn new(
        folder: &Path,
        index: usize,
        machine: &Machine,
        peer: u16,
        cluster: &str,
        more: &[&str],
    ) -> Member {
        let (port, host) = (free_port(), machine.address());
        let folder = folder.join(format!("m{index}"));
        fs::create_dir_all(&folder).expect("a folder");
        let is_secret = more.iter().any(|argument| argument.starts_with("--cert-file"));
        let scheme = if is_secret { "https" } else { "http" };
        let mut arguments = vec![
            format!("--name=m{index}"),
            format!("--data-dir={}", folder.join("data").display()),
            format!("--listen-client-urls={scheme}://{host}:{port}"),
            format!("--advertise-client-urls={scheme}://{host}:{port}"),
            format!("--listen-peer-urls=http://{host}:{peer}"),
            format!("--initial-advertise-peer-urls=http://{host}:{peer}"),
            format!("--initial-cluster={cluster}"),
            "--logger=zap".to_owned(),
        ];
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        Member { folder, machine: machine.clone(), port, arguments, is_secret, process: None }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.machine.address(), self.port)
    }

    fn launch(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.expect("a log");
        let process = self
            .machine
            .command("etcd")
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn();
        self.process = Some(process.expect("etcd runs"));
    }

    fn wait(&self) {
        let since = Instant::now();
        while !self.is_ready() {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(20).collect();
            let elapsed = since.elapsed();
            assert!(elapsed < Duration::from_secs(60), "etcd answers; its last lines: {last:#?}");
            sleep(Duration::from_millis(50));
        }
    }

    fn is_ready(&self) -> bool {
        if self.is_secret {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            return log.contains("serving client traffic");
        }
        self.ask("/health").contains("true")
    }

    fn ask(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        exchange(&self.place(), request.as_bytes())
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What becomes of a request.
#[derive(Clone)]
pub enum Act {
    /// The server gets it, and the client its answer.
    Pass,
    /// The server gets it, and the client no answer.
    Lose,
    /// Nobody gets it, and the connection stays open.
    Hang,
    /// Nobody gets it, and the connection is closed.
    Close,
    /// The client gets this status and this body.
    Say(u16, String),
}

/// What stands between a client and a member, or in a member's place.
pub struct Relay {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Relay {
    /// Does what `act` says with each request, of which it gets the path and the body.
    pub fn start(place: &str, act: impl Fn(&str, &str) -> Act + Send + Sync + 'static) -> Relay {
        Relay::by_head(place, move |head, body| act(path_of(head), body))
    }

    /// The same, where `act` gets the head and the body.
    pub fn by_head(place: &str, act: impl Fn(&str, &str) -> Act + Send + Sync + 'static) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let upstream = place.to_owned();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&connections);
        let (list, act) = (Arc::clone(&seen), Arc::new(act));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (list, act) = (Arc::clone(&list), Arc::clone(&act));
                let upstream = upstream.clone();
                thread::spawn(move || relay(stream, &upstream, &list, &*act));
            }
        });
        Relay { port, seen, connections }
    }

    /// How many connections were made to it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The paths that were asked since the last call.
    pub fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().expect("a list"))
    }
}

fn relay(
    mut stream: TcpStream,
    upstream: &str,
    seen: &Mutex<Vec<String>>,
    act: &dyn Fn(&str, &str) -> Act,
) {
    while let Some(request) = request(&mut stream) {
        let text = String::from_utf8_lossy(&request).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        seen.lock().expect("a list").push(path_of(head).to_owned());
        let answer = match act(head, body) {
            Act::Pass => pass(upstream, &text),
            Act::Lose => {
                pass(upstream, &text);
                return;
            }
            Act::Close => return,
            Act::Hang => {
                sleep(Duration::from_secs(60));
                return;
            }
            Act::Say(status, body) => format!(
                "HTTP/1.1 {status} Any\r\ndate: Tue, 24 Nov 2026 20:16:32 GMT\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            ),
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The path in the first line of a request.
fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

fn pass(upstream: &str, request: &str) -> String {
    exchange(upstream, request.replacen("\r\n", "\r\nconnection: close\r\n", 1).as_bytes())
}

/// A whole request; `None` where the client has gone.
fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |text| text.trim().parse().expect("a length"));
            if request.len() >= end + 4 + length {
                return Some(request);
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(length) => request.extend_from_slice(&buffer[..length]),
        }
    }
}

/// What the server answers to a request that closes the connection; empty if it does not.
pub fn exchange(place: &str, request: &[u8]) -> String {
    let mut answer = Vec::new();
    if let Ok(mut socket) = TcpStream::connect(place) {
        let _ = socket.set_read_timeout(Some(Duration::from_secs(20)));
        let _ = socket.write_all(request);
        let _ = socket.read_to_end(&mut answer);
    }
    String::from_utf8_lossy(&answer).into_owned()
}
