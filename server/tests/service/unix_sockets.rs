//! Unix sockets: who may use them, and which are replaced.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::resp::{Client, encoded};
use crate::common::{FOREVER, Server, command, folder, signal};

#[test]
fn a_unix_socket_has_its_permissions_and_is_removed_at_the_end() {
    let folder = folder();
    let path = folder.path().join("resp.sock");
    let listen = format!("--resp-listen=unix:{}", path.display());
    let mut server = Server::start_on(folder, &[&listen, "--unix-mode=0600"]);
    assert_eq!(server.resp, format!("unix:{}", path.display()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let connect = || Client(BufReader::new(UnixStream::connect(&path).unwrap()));
    let mut client = connect();
    client.send(encoded("UID.NEXT").repeat(3));
    assert!((0..3).all(|_| client.read().starts_with('\'')));
    // Another program is refused, and leaves the socket as it is.
    let refused = |path: &str, problem: &str| {
        let folder = crate::common::folder();
        let mut command = command(folder.path());
        command.args(["--listen=127.0.0.1:0", "--resp-listen", &format!("unix:{path}")]);
        let done = command.output().unwrap();
        let expected = format!("uidring-server: cannot listen on unix:{path}: {problem}\n");
        assert_eq!(String::from_utf8(done.stderr).unwrap(), expected);
        assert_eq!(done.status.code(), Some(1));
    };
    refused(path.to_str().unwrap(), "another program does; choose another path");
    assert_eq!(connect().ask("PING"), "+PONG");
    let file = server.file();
    let file = file.to_str().unwrap();
    refused(file, "a file is there that is no socket; choose another path");
    server.terminate();
    assert_eq!(server.wait().code(), Some(0));
    assert!(!path.exists(), "it is removed");
}

#[test]
fn a_socket_that_nobody_listens_on_is_replaced() {
    let server = Server::start(&["--resp-listen=unix:resp.sock"]);
    let path = server.folder().join("resp.sock");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660, "the default");
    signal(server.id(), "KILL");
    server.wait_for("gone", || UnixStream::connect(&path).is_err());
    assert!(path.exists(), "it is left behind");
    let listen = format!("--resp-listen=unix:{}", path.display());
    let next = Server::start(&[&listen]);
    let mut client = Client(BufReader::new(UnixStream::connect(&path).unwrap()));
    assert!(client.ask("UID.NEXT").starts_with('\''));
    // A socket that another program has put there since is not removed.
    fs::remove_file(&path).unwrap();
    let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
    drop(next.stop());
    assert!(path.exists());
    drop(other);
}

/// A start on the socket `path`, which is refused within some seconds, says this.
fn start_is_refused(path: &Path, problem: &str) {
    let folder = folder();
    let mut command = command(folder.path());
    let listen = format!("unix:{}", path.display());
    let mut child =
        command.args(["--listen=127.0.0.1:0", "--resp-listen", &listen]).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > FOREVER / 2 {
            child.kill().unwrap();
            panic!("it waits for ever: {problem}");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let done = child.wait_with_output().unwrap();
    let expected = format!("uidring-server: cannot listen on {listen}: {problem}\n");
    assert_eq!(String::from_utf8(done.stderr).unwrap(), expected);
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn a_folder_that_others_have_locked_is_one_clear_line() {
    let folder = folder();
    let locked = File::open(folder.path()).unwrap();
    // Whoever may read the folder may do this.
    locked.lock_shared().unwrap();
    let problem = format!(
        "another program has locked the folder {}; end it, or choose another path",
        folder.path().display()
    );
    start_is_refused(&folder.path().join("resp.sock"), &problem);
    drop(locked);
    // One that another start has locked for a moment is waited for.
    let locked = File::open(folder.path()).unwrap();
    locked.lock().unwrap();
    let listen = format!("--resp-listen=unix:{}", folder.path().join("resp.sock").display());
    let other = thread::spawn(move || Server::start(&[&listen]));
    thread::sleep(Duration::from_millis(300));
    drop(locked);
    let server = other.join().unwrap();
    assert!(server.resp.starts_with("unix:"), "{}", server.resp);
}

#[test]
fn a_socket_whose_queue_is_full_is_one_that_somebody_listens_on() {
    let folder = folder();
    let path = folder.path().join("resp.sock");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let _runtime = runtime.enter();
    let socket = tokio::net::UnixSocket::new_stream().unwrap();
    socket.bind(&path).unwrap();
    let _listener = socket.listen(1).unwrap();
    let _queue: Vec<_> = (0..2).map(|_| UnixStream::connect(&path).unwrap()).collect();
    start_is_refused(&path, "another program does; choose another path");
}

#[test]
fn http_is_there_on_a_unix_socket() {
    let folder = folder();
    let path = folder.path().join("http.sock");
    let listen = format!("--listen=unix:{}", path.display());
    let mut command = command(folder.path());
    command.args([&listen, "--unix-mode=0600"]).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = format!("uidring-server listens on unix:{}", path.display());
    assert_eq!(stdout.next(), Some(first));
    let curl = format!("try:       curl --unix-socket '{}' ", path.display());
    assert!(stdout.nth(1).unwrap().starts_with(&curl));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let ask = |host: &str| {
        let mut stream = UnixStream::connect(&path).unwrap();
        let head = format!("GET /v1/uids HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let start = Instant::now();
    while !ask("localhost").starts_with("HTTP/1.1 200") {
        assert!(start.elapsed() < FOREVER);
    }
    // As on an address of this machine.
    assert!(ask("a.example").starts_with("HTTP/1.1 421"));
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!path.exists(), "it is removed");
}
