//! Servers of ZooKeeper of a test's own, to be stopped and killed.

#[path = "../folder.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod folder;
#[path = "../free_port.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod free_port;
#[path = "network.rs"]
#[allow(clippy::duplicate_mod, dead_code)] // other servers have it, too, and some use a part
pub mod network;
#[path = "../server_programs.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod server_programs;
#[path = "../signal.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod signal;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{panicking, sleep, spawn};
use std::time::{Duration, Instant};

use folder::folder;
pub use free_port::free_port;
use network::Machine;
use server_programs::zookeeper_3_9_classes;
use signal::signal;

/// The class path, unless `UIDRING_TEST_ZOOKEEPER_CLASSES` has another: what Debian's package
/// names, and what it leaves out: for the admin server, for TLS, and for a log that shows why a
/// server does not start.
const CLASSES: &str = "/usr/share/java/zookeeper.jar:/usr/share/java/servlet-api.jar:\
                       /usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar:\
                       /usr/share/java/slf4j-simple.jar";

/// A single server, or an ensemble. They end with this.
pub struct ZooKeepers {
    servers: Vec<Server>,
    /// Removed at the end.
    _folder: tempfile::TempDir,
}

struct Server {
    folder: std::path::PathBuf,
    machine: Machine,
    port: u16,
    /// Arguments of the virtual machine.
    properties: Vec<String>,
    classes: OsString,
    process: Option<Child>,
}

impl ZooKeepers {
    /// So many servers with these lines in their files beside the usual ones. Those that begin with
    /// `-D` are properties of the virtual machine.
    pub fn start(count: usize, lines: &str) -> ZooKeepers {
        ZooKeepers::start_on(&vec![Machine::Here; count], lines)
    }

    /// The same, with a server on each of these machines.
    pub fn start_on(machines: &[Machine], lines: &str) -> ZooKeepers {
        let classes = std::env::var_os("UIDRING_TEST_ZOOKEEPER_CLASSES");
        ZooKeepers::make(machines, lines, &classes.unwrap_or_else(|| CLASSES.into()))
    }

    /// A server of version 3.9, whatever the others are.
    pub fn start_3_9(lines: &str) -> ZooKeepers {
        ZooKeepers::make(&[Machine::Here], lines, &zookeeper_3_9_classes().into())
    }

    fn make(machines: &[Machine], lines: &str, classes: &OsString) -> ZooKeepers {
        let folder = folder();
        let mut members = String::new();
        if machines.len() > 1 {
            for (machine, id) in machines.iter().zip(1..) {
                let (host, ports) = (machine.address(), (free_port(), free_port()));
                writeln!(members, "server.{id}={host}:{}:{}", ports.0, ports.1).unwrap();
            }
        }
        let servers = machines.iter().zip(1_usize..).map(|(machine, id)| {
            let folder = folder.path().join(id.to_string());
            let port = free_port();
            fs::create_dir_all(folder.join("data")).expect("a folder");
            fs::write(folder.join("data/myid"), id.to_string()).expect("an id");
            let (host, data) = (machine.address(), folder.join("data").display().to_string());
            let (properties, lines): (Vec<&str>, Vec<&str>) =
                lines.lines().partition(|line| line.starts_with("-D"));
            let lines = lines.join("\n");
            let file = format!(
                "tickTime=200\ninitLimit=100\nsyncLimit=25\nmaxSessionTimeout=40000\n\
                 dataDir={data}\nclientPort={port}\nclientPortAddress={host}\n\
                 {members}{lines}\n"
            );
            // A line of the test's comes in place of these.
            let usual = ["admin.enableServer=false", "4lw.commands.whitelist=*"];
            let is_new = |line: &&&str| {
                let name = line.split('=').next().unwrap();
                !lines.contains(name)
            };
            let usual: Vec<&str> = usual.iter().filter(is_new).copied().collect();
            fs::write(folder.join("zoo.cfg"), format!("{file}{}\n", usual.join("\n")))
                .expect("a file");
            let properties = properties.into_iter().map(str::to_owned).collect();
            let (machine, classes) = (machine.clone(), classes.clone());
            Server { folder, machine, port, properties, classes, process: None }
        });
        let mut all = ZooKeepers { servers: servers.collect(), _folder: folder };
        for server in &mut all.servers {
            server.launch();
        }
        for server in &all.servers {
            server.wait();
        }
        all
    }

    /// The servers as an address names them.
    pub fn places(&self) -> String {
        let places = self.servers.iter().map(Server::place);
        places.collect::<Vec<_>>().join(",")
    }

    /// The port of a server for its clients.
    pub fn port(&self, server: usize) -> u16 {
        self.servers[server].port
    }

    /// A file in the folder where a server keeps its data.
    pub fn data(&self, server: usize) -> std::path::PathBuf {
        self.servers[server].folder.join("data")
    }

    /// Ends a server without giving it time to do anything.
    pub fn kill(&mut self, server: usize) {
        self.servers[server].kill();
    }

    /// Starts it again.
    pub fn restart(&mut self, server: usize) {
        self.servers[server].launch();
        self.servers[server].wait();
    }

    /// Sends a signal, such as `-STOP`.
    pub fn signal(&self, server: usize, name: &str) {
        let process = self.servers[server].process.as_ref().expect("the server runs");
        signal(process, name);
    }

    /// Which server leads.
    pub fn leader(&self) -> usize {
        let mut all = 0..self.servers.len();
        all.find(|&server| self.leads(server)).expect("a server leads")
    }

    /// Whether a server says that it leads.
    pub fn leads(&self, server: usize) -> bool {
        self.servers[server].ask("srvr").contains("Mode: leader")
    }

    /// A server as an address names it.
    pub fn place(&self, server: usize) -> String {
        self.servers[server].place()
    }

    /// Waits until a server answers to `srvr` with this text.
    pub fn await_text(&self, server: usize, text: &str) {
        self.servers[server].await_text("srvr", text);
    }
}

impl Server {
    fn place(&self) -> String {
        format!("{}:{}", self.machine.address(), self.port)
    }

    fn launch(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.expect("a log");
        let process = self
            .machine
            .command("java")
            // It tells each word that it is asked.
            .arg("-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=warn")
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(&self.classes)
            .args(&self.properties)
            .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
            .arg(self.folder.join("zoo.cfg"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn();
        self.process = Some(process.expect("java runs"));
    }

    fn wait(&self) {
        self.await_text("srvr", "Mode: ");
    }

    fn await_text(&self, word: &str, text: &str) {
        let since = Instant::now();
        while !self.ask(word).contains(text) {
            assert!(
                since.elapsed() < Duration::from_secs(120),
                "the server answers {word} with {text}; its log: {}",
                read(&self.folder.join("log"))
            );
            sleep(Duration::from_millis(50));
        }
    }

    /// What it answers to a four-letter word; empty if it does not.
    fn ask(&self, word: &str) -> String {
        let mut answer = String::new();
        if let Ok(mut socket) = TcpStream::connect(self.place()) {
            let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
            let _ = socket.write_all(word.as_bytes());
            let _ = socket.read_to_string(&mut answer);
        }
        answer
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        // Its log may say why a test fails.
        if panicking() {
            let log = read(&self.folder.join("log"));
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(30)..].join("\n");
            println!("the last that the server at port {} has logged:\n{last}", self.port);
        }
    }
}

/// Whether something goes on for a while. Clones are the same one.
#[derive(Clone, Default)]
pub struct Switch(Arc<AtomicBool>);

impl Switch {
    pub fn turn(&self, is_on: bool) {
        self.0.store(is_on, Ordering::SeqCst);
    }

    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A proxy in front of a server. As long as it is `cut`, it passes writes on, but not the answers
/// to them. Returns its port.
pub fn proxy(to: u16, cut: Switch) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    spawn(move || {
        for client in listener.incoming() {
            let client = client.expect("a client");
            let server = TcpStream::connect(("127.0.0.1", to)).expect("the server");
            let again = |socket: &TcpStream| socket.try_clone().expect("a socket");
            let ways = [(again(&client), again(&server), false), (server, client, true)];
            let is_over = Switch::default();
            for (mut from, mut to, is_answer) in ways {
                let (cut, is_over) = (cut.clone(), is_over.clone());
                spawn(move || {
                    let mut bytes = [0; 10_000];
                    while let Ok(length @ 1..) = from.read(&mut bytes) {
                        // Behind the length and the number: `setData` or `multi`.
                        let is_write = !is_answer && matches!(bytes[8..12], [0, 0, 0, 5 | 14]);
                        if is_write && cut.is_on() {
                            is_over.turn(true);
                        }
                        if is_answer && is_over.is_on() {
                            break;
                        }
                        let _ = to.write_all(&bytes[..length]);
                    }
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    port
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
