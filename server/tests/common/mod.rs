//! The real program in a folder of its own, and a client that speaks raw bytes.

#![allow(dead_code, clippy::panic, clippy::unwrap_used)] // each test uses a part of it

#[path = "../../../tests/common/folder.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod folder;
#[path = "../../../tests/common/free_port.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod free_port;
pub mod resp;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub use folder::folder;
pub use free_port::free_port;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

/// Nothing that a test waits for takes so long, unless it never comes.
pub const FOREVER: Duration = Duration::from_secs(60);

/// A server that was started for one test, with `ids.db` in its folder as the database.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// Where Redis' clients are answered, if they are.
    pub resp: String,
    folder: TempDir,
    stderr: Arc<Mutex<String>>,
}

impl Server {
    /// Starts one and waits until it is ready.
    pub fn start(options: &[&str]) -> Server {
        Server::start_on(folder(), options)
    }

    /// The same, in a folder where there may be a database.
    pub fn start_on(folder: TempDir, options: &[&str]) -> Server {
        let server = Server::launch(folder, options);
        server.wait_until_ready();
        server
    }

    /// The same, with the database `url`, which no list of processes shows.
    pub fn start_with(url: &str, options: &[&str]) -> Server {
        let server = Server::launch_with(folder(), options, &[("UIDRING_SERVER_DB", url)]);
        server.wait_until_ready();
        server
    }

    /// Starts one in `folder`, and waits until it listens.
    pub fn launch(folder: TempDir, options: &[&str]) -> Server {
        Server::launch_with(folder, options, &[])
    }

    /// The same, with variables.
    pub fn launch_with(folder: TempDir, options: &[&str], variables: &[(&str, &str)]) -> Server {
        let mut command = command(folder.path());
        command.envs(variables.iter().copied());
        Server::spawn(command, folder, options)
    }

    /// The same, after what a shell does first, such as setting a limit.
    #[cfg(unix)]
    pub fn launch_after(shell: &str, folder: TempDir, options: &[&str]) -> Server {
        let program = env!("CARGO_BIN_EXE_uidring-server");
        let mut command = prepared(Command::new("/bin/sh"), folder.path());
        command.args(["-c", &format!("{shell}; exec \"$0\" \"$@\""), program]);
        Server::spawn(command, folder, options)
    }

    /// One that systemd starts, to which it hands a socket over by this name.
    #[cfg(unix)]
    pub fn command_with(socket: OwnedFd, name: &str, folder: &Path) -> Command {
        let mut command = prepared(Command::new("/bin/sh"), folder);
        let shell = format!(
            "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES={name}; \
             exec \"$0\" \"$@\""
        );
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_uidring-server")]).stdin(socket);
        command
    }

    /// The same with two sockets. What it writes to stderr is in the file `log`.
    #[cfg(unix)]
    pub fn command_with_two(sockets: [OwnedFd; 2], names: &str, folder: &Path) -> Command {
        let mut command = prepared(Command::new("/bin/sh"), folder);
        let shell = format!(
            "exec 3<&0 4<&2 </dev/null 2>log; \
             export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES={names}; exec \"$0\" \"$@\""
        );
        let [one, other] = sockets;
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_uidring-server")]);
        command.stdin(one).stderr(other);
        command
    }

    /// Starts it.
    #[cfg(unix)]
    pub fn launch_with_socket(
        socket: impl Into<OwnedFd>,
        name: &str,
        folder: TempDir,
        options: &[&str],
    ) -> Server {
        Server::spawn(Server::command_with(socket.into(), name, folder.path()), folder, options)
    }

    fn spawn(mut command: Command, folder: TempDir, options: &[&str]) -> Server {
        if !options.iter().any(|option| option.starts_with("--listen")) {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let mut child = command.args(options).spawn().unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let (mut pipe, copy) = (child.stderr.take().unwrap(), Arc::clone(&stderr));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = pipe.read(&mut bytes) {
                copy.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some((_, address)) = line.trim_end().rsplit_once("://") else {
            let _ = child.wait();
            panic!("it did not start: {}", stderr.lock().unwrap());
        };
        let address = address.parse().unwrap();
        let has_resp = options.iter().any(|option| option.starts_with("--resp-listen"));
        let resp = if has_resp {
            let line = stdout.by_ref().lines().map(Result::unwrap).nth(2).unwrap();
            line.strip_prefix("for Redis' clients: ").unwrap().to_owned()
        } else {
            String::new()
        };
        thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        Server { child, address, resp, folder, stderr }
    }

    /// Starts one that writes to these streams, and waits until it listens.
    pub fn launch_to(options: &[&str], stdout: Stdio, stderr: Stdio) -> Server {
        // Nobody tells which port it has.
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let folder = folder();
        let mut command = command(folder.path());
        command.args(["--listen", &address.to_string()]).args(options);
        let child = command.stdout(stdout).stderr(stderr).spawn().unwrap();
        let mut server =
            Server { child, address, resp: String::new(), folder, stderr: Arc::default() };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(server.has_ended().is_none(), "it has ended");
            assert!(start.elapsed() < FOREVER, "it does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// The worker id of its UIDs.
    pub fn worker(&self) -> String {
        let uid = self.get("/v1/uids").json()["uids"][0].as_str().unwrap().to_owned();
        self.get(&format!("/v1/uids/{uid}")).json()["worker"].as_str().unwrap().to_owned()
    }

    pub fn wait_until_ready(&self) {
        self.wait_for("ready", || self.get("/readyz").status == 200);
    }

    /// Waits until `is_so`.
    pub fn wait_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < FOREVER, "never {what}: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its database.
    pub fn file(&self) -> PathBuf {
        self.folder().join("ids.db")
    }

    /// What it has written to stderr.
    pub fn log(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(FOREVER)).unwrap();
        stream
    }

    /// Sends `bytes` as they are, and reads one answer.
    pub fn raw(&self, bytes: impl AsRef<[u8]>) -> Answer {
        self.try_raw(bytes).unwrap_or_else(|| panic!("no answer"))
    }

    /// The same; `None` where the connection ends without an answer.
    pub fn try_raw(&self, bytes: impl AsRef<[u8]>) -> Option<Answer> {
        let mut stream = self.connect();
        // A server that refuses the head may close before it has read all.
        let _ = stream.write_all(bytes.as_ref());
        Answer::try_read(&mut BufReader::new(stream))
    }

    /// Starts one with a file of tokens, and waits until it is ready.
    pub fn start_with_tokens(tokens: &str, options: &[&str]) -> Server {
        let folder = folder();
        fs::write(folder.path().join("tokens.toml"), tokens).unwrap();
        Server::start_on(folder, &[&["--tokens=tokens.toml"], options].concat())
    }

    /// Starts one with the tag `orders`, whose database somebody else has locked.
    pub fn launch_locked(options: &[&str]) -> (Server, rusqlite::Connection) {
        let (folder, file) = Server::locked();
        (Server::launch(folder, options), file)
    }

    /// A folder with a database that has the tag `orders` and is locked.
    pub fn locked() -> (TempDir, rusqlite::Connection) {
        let first = Server::start(&[]);
        first.put("orders", "{}");
        let folder = first.stop();
        let file = rusqlite::Connection::open(folder.path().join("ids.db")).unwrap();
        file.execute_batch("BEGIN EXCLUSIVE").unwrap();
        (folder, file)
    }

    /// Creates tags as the administrator that the header `admin` tells of.
    pub fn create_tags(&self, admin: &str, tags: &[&str]) {
        for tag in tags {
            let headers = ["content-type: application/json", admin];
            let created = self.send("PUT", &format!("/v1/tags/{tag}"), &headers, "{}");
            assert_eq!(created.status, 201, "{created:?}");
        }
    }

    /// A connection for the Redis protocol.
    pub fn connect_resp(&self) -> TcpStream {
        let (_, address) = self.resp.split_once("://").unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(FOREVER)).unwrap();
        stream
    }

    /// The answer over TLS, to a client who trusts `root` alone.
    pub fn get_tls(&self, root: &CertificateDer<'static>, path: &str) -> Option<Answer> {
        let mut stream = BufReader::new(over_tls(root, self.connect()));
        stream.get_mut().write_all(request("GET", path, &[], "").as_bytes()).ok()?;
        Answer::try_read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        self.raw(request(method, path, headers, body))
    }

    /// Sends `HEAD`, whose answer has no body.
    pub fn head(&self, path: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request("HEAD", path, &[], "").as_bytes()).unwrap();
        Answer::try_read_head(&mut BufReader::new(stream)).unwrap_or_else(|| panic!("no answer"))
    }

    /// Creates a tag.
    pub fn put(&self, tag: &str, body: &str) -> Answer {
        let headers = ["content-type: application/json"];
        self.send("PUT", &format!("/v1/tags/{tag}"), &headers, body)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM.
    #[cfg(unix)]
    pub fn terminate(&self) {
        signal(self.id(), "TERM");
    }

    /// Ends it without giving it time to do anything.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait();
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.has_ended() {
                return status;
            }
            assert!(start.elapsed() < FOREVER, "it does not end: {}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it, and returns its folder for another one.
    pub fn stop(mut self) -> TempDir {
        #[cfg(unix)]
        {
            self.terminate();
            assert_eq!(self.wait().code(), Some(0), "{}", self.log());
        }
        // Only a console can ask for a clean end there.
        #[cfg(windows)]
        self.kill();
        std::mem::replace(&mut self.folder, folder())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("the log of the server of the failed test:\n{}", self.log());
        }
    }
}

/// TLS over `stream`, for a client who trusts `root` alone.
pub fn over_tls(
    root: &CertificateDer<'static>,
    stream: TcpStream,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

/// Looks at the page of `server` with a browser. It is driven by Debian's Python, which has the
/// package python3-selenium.
pub fn in_browser(server: &Server, case: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.py");
    let mut command = Command::new("/usr/bin/python3");
    command.arg(script).args([case, &format!("http://{}/", server.address)]);
    command.arg(server.id().to_string()).stdin(Stdio::null());
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{case}: {errors}");
    String::from_utf8(done.stdout).unwrap()
}

/// Copies a certificate for localhost and its key to `folder`. The certificate ends with the
/// beginning of `year`: 2021, 2100 or 2101, or 2102 for one that is not valid before 2101.
pub fn certify(folder: &Path, year: i32) -> CertificateDer<'static> {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/certificates");
    fs::copy(made.join(format!("localhost-{year}.pem")), folder.join("cert.pem")).unwrap();
    fs::copy(made.join(format!("localhost-{year}-key.pem")), folder.join("key.pem")).unwrap();
    CertificateDer::from_pem_file(folder.join("cert.pem")).unwrap()
}

/// What a check says where nothing is wrong.
pub const GOOD: &str = "the options are good\na start with the database would succeed\n";

/// What it says besides where nobody has taken a worker id from `store`.
pub fn begins(store: &str) -> String {
    format!(
        "no worker id was ever taken from {store}: if programs had another store, their ids would \
         come again\n"
    )
}

/// The exit code of `--check` with the database `url`, and what it says.
pub fn check(url: &str) -> (Option<i32>, String) {
    let folder = folder();
    let done =
        command(folder.path()).arg("--check").env("UIDRING_SERVER_DB", url).output().unwrap();
    (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
}

/// How a check and a start end with the database `url` and these options: the exit code, and the
/// reason in the last line. The start has to end by itself.
pub fn check_and_start(url: &str, options: &[&str]) -> [(Option<i32>, String); 2] {
    let folder = folder();
    [&["--check"][..], &["--listen=127.0.0.1:0"]].map(|first| {
        let mut program = command(folder.path());
        let mut child =
            program.env("UIDRING_SERVER_DB", url).args(first).args(options).spawn().unwrap();
        let since = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if since.elapsed() > FOREVER {
                child.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(5));
        }
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        (done.status.code(), said.lines().last().unwrap_or_default().to_owned())
    })
}

/// The value of a series of metrics, with its labels.
pub fn metric(text: &str, series: &str) -> Option<f64> {
    let line = text
        .lines()
        .find(|line| line.strip_prefix(series).is_some_and(|rest| rest.starts_with(' ')))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// The program, without the variables of whoever runs the tests.
pub fn command(folder: &Path) -> Command {
    prepared(Command::new(env!("CARGO_BIN_EXE_uidring-server")), folder)
}

fn prepared(mut command: Command, folder: &Path) -> Command {
    command.env_clear().current_dir(folder);
    // Windows finds its own libraries by it.
    command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
    command.env("HOME", folder).env("UIDRING_SERVER_DB", folder.join("ids.db"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[cfg(unix)]
pub fn signal(process: u32, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(done.unwrap().success());
}

/// The bytes of a request that closes its connection.
pub fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    for header in headers {
        text.extend([*header, "\r\n"]);
    }
    if !body.is_empty() {
        text.extend(["content-length: ", &body.len().to_string(), "\r\n"]);
    }
    text + "\r\n" + body
}

/// An answer, with the names of its headers in small letters.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn read(stream: &mut impl BufRead) -> Answer {
        Answer::try_read(stream).unwrap_or_else(|| panic!("no answer"))
    }

    /// `None` where the connection ends before the answer does.
    pub fn try_read(stream: &mut impl BufRead) -> Option<Answer> {
        let mut answer = Answer::try_read_head(stream)?;
        let length = answer.headers.iter().find(|(name, _)| name == "content-length");
        answer.body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
        stream.read_exact(&mut answer.body).ok()?;
        Some(answer)
    }

    fn try_read_head(stream: &mut impl BufRead) -> Option<Answer> {
        let status = line(stream)?;
        let status = status.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let header = line(stream)?;
            let Some((name, value)) = header.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Some(Answer { status, headers, body: Vec::new() })
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(one, _)| one == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

fn line(stream: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| line.trim_end().to_owned())
}
