//! A connection to a server, with or without TLS, that waits no longer than its call may.
//!
//! The system and the clients of others have no such limit: a name server may never answer, each
//! address of a server has the whole time, and each byte that comes begins it anew.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::{Deadline, Error};
use crate::backend::address::key_server::Address;
use crate::backend::tls::Tls;
use crate::sync::{Arc, Condvar, Mutex, lock, thread, wait_timeout};

/// The shortest time that a connection is waited for.
const SHORTEST: Duration = Duration::from_millis(1);

/// A socket whose reads and writes end with the time of the call.
pub struct TimedSocket<'d> {
    socket: TcpStream,
    deadline: &'d Deadline,
    /// How much of the time of the call may pass.
    until: Duration,
}

/// What bytes go through.
pub enum Stream<'d> {
    Plain(TimedSocket<'d>),
    Tls(Box<StreamOwned<ClientConnection, TimedSocket<'d>>>),
}

impl<'d> TimedSocket<'d> {
    /// Connects to a host and port, until so much of the call's time has passed.
    pub fn connect(
        server: &(String, u16),
        deadline: &'d Deadline,
        until: Duration,
    ) -> io::Result<TimedSocket<'d>> {
        let addresses = resolve(server, deadline, until)?;
        let mut result = Err(io::Error::new(ErrorKind::NotFound, "its name has no address"));
        for (index, address) in addresses.iter().enumerate() {
            // An address that does not answer leaves time for the others.
            let others = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let share = (left(deadline, until)? / others).max(SHORTEST);
            result = TcpStream::connect_timeout(address, share);
            if result.is_ok() {
                break;
            }
        }
        let socket = result?;
        // Requests are small, and each is waited for.
        socket.set_nodelay(true)?;
        Ok(TimedSocket { socket, deadline, until })
    }

    /// Agrees on TLS with the server, whose certificate has this name. What either of them refuses
    /// is an error of the kind `InvalidData`, or an end of the connection.
    pub fn start_tls(
        mut self,
        name: ServerName<'static>,
        config: &Arc<ClientConfig>,
    ) -> io::Result<Stream<'d>> {
        let refused = |error| io::Error::new(ErrorKind::InvalidData, error);
        let mut tls = ClientConnection::new(config.clone(), name).map_err(refused)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut self)?;
        }
        Ok(Stream::Tls(Box::new(StreamOwned::new(tls, self))))
    }

    fn left(&self) -> io::Result<Duration> {
        left(self.deadline, self.until)
    }
}

/// The parameters of an address that are about TLS.
pub const TLS_PARAMETERS: [&str; 3] = ["ca", "cert", "key"];

/// The name that the certificate of a server at `host` has.
pub fn certificate_name(host: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(host.to_owned()).map_err(|error| {
        Error::problem(format!("{host} is no name that a certificate has: {error}"))
    })
}

/// The time that is left, which is not zero: a socket takes that for no limit.
fn left(deadline: &Deadline, until: Duration) -> io::Result<Duration> {
    let left = until.saturating_sub(deadline.since.elapsed());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// What a thread found out.
type Found = Arc<(Mutex<Option<io::Result<Vec<SocketAddr>>>>, Condvar)>;

/// The addresses of the server. The system has no limit for this, so that a thread asks it, which
/// outlives the call only if a name server does not answer.
fn resolve(
    (host, port): &(String, u16),
    deadline: &Deadline,
    until: Duration,
) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, *port)]);
    }
    let found: Found = Arc::default();
    let (answer, host, port) = (found.clone(), host.clone(), *port);
    thread::Builder::new().name("uidring-resolver".to_owned()).spawn(move || {
        let addresses = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
        *lock(&answer.0) = Some(addresses);
        answer.1.notify_all();
    })?;
    let mut addresses = lock(&found.0);
    loop {
        if let Some(addresses) = addresses.take() {
            return addresses;
        }
        addresses = wait_timeout(&found.1, addresses, left(deadline, until)?);
    }
}

/// Whether nothing came until now: a system may say so a moment early, and when a signal comes.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

impl Read for TimedSocket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.socket.set_read_timeout(Some(self.left()?))?;
            match self.socket.read(buffer) {
                Err(error) if is_timeout(&error) => {}
                result => return result,
            }
        }
    }
}

impl Write for TimedSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.socket.set_write_timeout(Some(self.left()?))?;
            match self.socket.write(bytes) {
                Err(error) if is_timeout(&error) => {}
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl Stream<'_> {
    /// Lets it wait as long as the call may.
    #[cfg(feature = "zookeeper")]
    pub fn use_all_time(&mut self) {
        let timed = match self {
            Stream::Plain(timed) => timed,
            Stream::Tls(stream) => &mut stream.sock,
        };
        timed.until = timed.deadline.timeout;
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::process::{Command, exit};
    use std::time::Duration;

    use super::{Deadline, TimedSocket};
    use crate::sync::sleep;

    /// Linux ends a read with a limit then, though nothing handles the signals. The process is one
    /// of its own, as all threads of a process are stopped together.
    #[test]
    fn a_read_outlives_a_stop_of_the_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = ("127.0.0.1".to_owned(), listener.local_addr().unwrap().port());
        let child = match fork::fork().unwrap() {
            fork::Fork::Child => {
                let deadline = Deadline::after(Duration::from_secs(10));
                let socket = TimedSocket::connect(&server, &deadline, deadline.timeout);
                let echoed = socket.and_then(|mut socket| {
                    let mut byte = [0];
                    let count = socket.read(&mut byte)?;
                    socket.write_all(&byte[..count])
                });
                exit(i32::from(echoed.is_err()));
            }
            fork::Fork::Parent(child) => child,
        };
        let mut socket = listener.accept().unwrap().0;
        for signal in ["-STOP", "-CONT"] {
            sleep(Duration::from_millis(100));
            let kill = Command::new("kill").args([signal, &child.to_string()]).status();
            assert!(kill.unwrap().success());
        }
        sleep(Duration::from_millis(100));
        socket.write_all(b"x").unwrap();
        let mut echo = Vec::new();
        let _ = socket.read_to_end(&mut echo);
        fork::waitpid(child).unwrap();
        assert_eq!(echo, b"x");
    }
}

/// TLS as the `address` has it; `None` unless it begins with `scheme`.
pub fn tls_config(address: &Address, scheme: &str) -> Result<Option<Arc<ClientConfig>>, Error> {
    if address.scheme != scheme {
        if TLS_PARAMETERS.iter().any(|name| address.parameter(name).is_some()) {
            return Err(Error::problem(format!(
                "its address names certificates, which are used if it begins with {scheme}://; \
                 begin it with {scheme}://, or leave them out"
            )));
        }
        return Ok(None);
    }
    let file = |name| address.parameter(name).map(PathBuf::from);
    let identity = match (file("cert"), file("key")) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((certificate, key)),
        _ => {
            return Err(Error::problem(
                "its address names a certificate or a key alone; cert= and key= belong together",
            ));
        }
    };
    let tls = Tls { authority: file("ca"), identity, takes_any_name: false };
    Ok(Some(Arc::new(tls.config().map_err(Error::problem)?)))
}
