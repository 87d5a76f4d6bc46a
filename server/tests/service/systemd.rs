//! What systemd hands over, the sockets that it has opened before the start, and what it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use super::tinyid::{TABLES, TOKEN};
use crate::common::resp::Client;
use crate::common::{Answer, FOREVER, Server, folder, request, signal};

/// The socket at which a unit of `Type=notify` tells systemd of itself.
struct NotifySocket(UnixDatagram);

impl NotifySocket {
    fn bind(path: &Path) -> NotifySocket {
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_read_timeout(Some(FOREVER)).unwrap();
        NotifySocket(socket)
    }

    /// The lines of the next message.
    fn next(&self) -> Vec<String> {
        let mut bytes = [0; 4096];
        let length = self.0.recv(&mut bytes).unwrap();
        str::from_utf8(&bytes[..length]).unwrap().lines().map(str::to_owned).collect()
    }
}

/// It listens when it says that it is ready, and has lost nothing when it says that it ends.
#[test]
fn systemd_is_told_of_the_start_of_troubles_and_of_the_end() {
    let (folder, file) = Server::locked();
    let path = folder.path().join("notify");
    let told = NotifySocket::bind(&path);
    let variable = ("NOTIFY_SOCKET", path.to_str().unwrap());
    let server = Server::launch_with(folder, &[], &[variable]);
    let listens = format!("STATUS=listens on http://{}", server.address);
    assert_eq!(told.next(), ["READY=1", &listens]);
    assert_eq!(server.get("/livez").status, 200);
    let trouble = told.next();
    assert!(trouble[0].starts_with("STATUS=the database cannot be used: "), "{trouble:?}");
    assert_eq!(trouble.len(), 1, "{trouble:?}");
    drop(file);
    while told.next() != [listens.as_str()] {}
    server.stop();
    assert_eq!(told.next(), ["STOPPING=1", "STATUS=ends"]);
}

#[test]
fn a_start_of_which_systemd_cannot_be_told_succeeds() {
    let folder = folder();
    let variable = ("NOTIFY_SOCKET", "/nowhere/notify");
    let server = Server::launch_with(folder, &[], &[variable]);
    server.wait_until_ready();
    let said = "NOTIFY_SOCKET is set, and systemd cannot be told";
    // The log has a thread of its own.
    server.wait_for("told", || server.log().contains(said));
    server.stop();
}

/// Who connects while there is no service waits, and is answered once there is one.
#[test]
fn a_connection_from_before_the_start_is_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut early = TcpStream::connect(address).unwrap();
    early
        .write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let again = listener.try_clone().unwrap();
    let options = ["--listen=systemd:http"];
    let server = Server::launch_with_socket(listener, "http", folder(), &options);
    let mut answer = String::new();
    early.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // The socket outlives the service, and is handed to the next one.
    let folder = server.stop();
    let mut early = TcpStream::connect(address).unwrap();
    early
        .write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let _server = Server::launch_with_socket(again, "http", folder, &options);
    early.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 2, "{answer}");
}

/// Sends a request to a socket that is open, and returns where the answer will come.
fn ask(listener: &TcpListener, path: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.write_all(request("GET", path, &[], "").as_bytes()).unwrap();
    BufReader::new(stream)
}

/// Whoever needs no database is answered meanwhile.
#[test]
fn a_request_during_the_start_waits_for_its_end() {
    let (folder, file) = Server::locked();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let paths = ["/v1/uids", "/v1/uids?n=3", "/v1/tags/orders/ids", "/v1/tags", "/v1/uids/1"];
    let early = paths.map(|path| ask(&listener, path));
    let (live, ready) = (ask(&listener, "/livez"), ask(&listener, "/readyz"));
    let unlocks = thread::spawn(move || {
        let statuses = [live, ready].map(|mut stream| Answer::read(&mut stream).status);
        drop(file);
        statuses
    });
    let server = Server::launch_with_socket(listener, "http", folder, &["--listen=systemd:http"]);
    assert_eq!(unlocks.join().unwrap(), [200, 503], "{}", server.log());
    for (path, mut stream) in paths.into_iter().zip(early) {
        let answer = Answer::read(&mut stream);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
}

#[test]
fn a_command_during_the_start_waits_for_its_end() {
    let (folder, file) = Server::locked();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut early =
        Client(BufReader::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()));
    early.send("PING\r\nUID.NEXT\r\nINCR orders\r\n");
    let asks = thread::spawn(move || {
        let pong = early.read();
        drop(file);
        [pong, early.read(), early.read()]
    });
    let options = ["--resp-listen=systemd:resp"];
    let _server = Server::launch_with_socket(listener, "resp", folder, &options);
    let [pong, uid, number] = asks.join().unwrap();
    assert_eq!((pong.as_str(), number.as_str()), ("+PONG", ":1"));
    assert!(uid.starts_with('\''), "{uid}");
}

#[test]
fn the_end_does_not_wait_for_the_start() {
    let (folder, _file) = Server::locked();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut live, mut early) = (ask(&listener, "/livez"), ask(&listener, "/v1/uids"));
    let mut command = Server::command_with(listener.into(), "http", folder.path());
    // Shorter than a request waits for the start.
    let mut server = command.args(["--listen=systemd:http", "--grace=3s"]).spawn().unwrap();
    assert_eq!(Answer::read(&mut live).status, 200);
    signal(server.id(), "TERM");
    let answer = Answer::read(&mut early);
    assert_eq!((answer.status, answer.header("connection")), (503, "close"));
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_unix_socket_stays_where_systemd_has_put_it() {
    let folder = folder();
    let path = folder.path().join("resp.sock");
    let socket = UnixListener::bind(&path).unwrap();
    let options = ["--resp-listen=systemd:resp"];
    let server = Server::launch_with_socket(socket, "resp", folder, &options);
    assert_eq!(server.resp, format!("unix:{}", path.display()));
    let mut client = UnixStream::connect(&path).unwrap();
    client.write_all(b"PING\r\n").unwrap();
    let mut answer = [0; 7];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+PONG\r\n");
    let folder = server.stop();
    assert!(path.exists(), "{}", folder.path().display());
}

#[test]
fn both_sockets_may_be_from_systemd() {
    let folder = folder();
    let [http, resp] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let sockets = [http.try_clone().unwrap().into(), resp.try_clone().unwrap().into()];
    let mut command = Server::command_with_two(sockets, "http:resp", folder.path());
    let options = ["--listen=systemd:http", "--resp-listen=systemd:resp"];
    let mut server = command.args(options).spawn().unwrap();
    drop(command);
    let mut said = String::new();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    stdout.read_line(&mut said).unwrap();
    let log = || std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(said.starts_with("uidring-server listens on "), "{}", log());
    assert_eq!(Answer::read(&mut ask(&http, "/livez")).status, 200, "{}", log());
    let stream = TcpStream::connect(resp.local_addr().unwrap()).unwrap();
    assert_eq!(Client(BufReader::new(stream)).ask("PING"), "+PONG", "{}", log());
    signal(server.id(), "TERM");
    assert_eq!(server.wait().unwrap().code(), Some(0), "{}", log());
}

#[test]
fn a_socket_that_is_not_handed_over_is_one_clear_line() {
    let folder = folder();
    for (name, options, problem) in [
        (
            "web",
            ["--listen=systemd:http"].as_slice(),
            "cannot listen on systemd:http: systemd hands over only web; see FileDescriptorName= \
             of the socket's unit",
        ),
        (
            "http",
            &["--listen=systemd:http", "--resp-listen=systemd:http"],
            "cannot listen on systemd:http: it is the socket of --listen, too; name another",
        ),
    ] {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut command = Server::command_with(socket.into(), name, folder.path());
        let done = command.args(options).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!((said, done.status.code()), (format!("uidring-server: {problem}\n"), Some(1)));
    }
    let mut command = crate::common::command(folder.path());
    let done = command.arg("--listen=systemd:http").output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    let expected = "uidring-server: cannot listen on systemd:http: systemd hands over no sockets; \
                    start the unit whose name ends with .socket\n";
    assert_eq!(said, expected);
}

#[test]
fn a_token_of_the_table_is_known_to_whoever_asks_during_the_start() {
    let server = Server::start(&[]);
    let file = rusqlite::Connection::open(server.file()).unwrap();
    let folder = server.stop();
    file.execute_batch(TABLES).unwrap();
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut early = Client(BufReader::new(stream));
    early.send(format!("PING\r\nAUTH {TOKEN}\r\nINCR test\r\n"));
    let asks = thread::spawn(move || {
        let pong = early.read();
        drop(file);
        [pong, early.read(), early.read()]
    });
    let options = ["--table=tinyid", "--resp-listen=systemd:resp"];
    let server = Server::launch_with_socket(listener, "resp", folder, &options);
    assert_eq!(asks.join().unwrap(), ["+PONG", "+OK", ":2"], "{}", server.log());
}
