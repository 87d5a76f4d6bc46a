//! Sockets that systemd has opened, and hands over to the service that it starts.

use std::env;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use listenfd::ListenFd;

/// A socket that was handed over.
#[derive(Debug)]
pub(crate) enum InheritedSocket {
    Tcp(TcpListener),
    /// With the path of its file, which is systemd's.
    Unix(UnixListener, PathBuf),
}

/// All sockets that were handed over, and their names.
pub(crate) struct InheritedSockets {
    names: Vec<String>,
    sockets: ListenFd,
}

impl InheritedSockets {
    /// Reads the variables that tell of the sockets. They can be read once: this removes them.
    pub(crate) fn receive() -> InheritedSockets {
        let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
        let sockets = ListenFd::from_env();
        // Of variables that were meant for another process, nothing is left.
        let names = names.split(':').take(sockets.len()).map(ToOwned::to_owned).collect();
        InheritedSockets { names, sockets }
    }

    /// Takes the socket whose unit has `FileDescriptorName=` this `name`.
    pub(crate) fn take(&mut self, name: &str) -> Result<InheritedSocket, String> {
        let InheritedSockets { names, sockets } = self;
        let mut places = names.iter().enumerate().filter(|(_, there)| **there == name);
        let index = match (places.next(), places.next()) {
            (Some((index, _)), None) => index,
            (Some(_), Some(_)) => {
                return Err(format!(
                    "systemd hands over several sockets named {name}; give each a unit with a \
                     FileDescriptorName= of its own"
                ));
            }
            (None, _) => {
                let there = if names.is_empty() {
                    "no sockets; start the unit whose name ends with .socket".to_owned()
                } else {
                    let names = names.join(", ");
                    format!("only {names}; see FileDescriptorName= of the socket's unit")
                };
                return Err(format!("systemd hands over {there}"));
            }
        };
        let told = |error: io::Error| error.to_string();
        // Looking at a socket as one of the other kind leaves it there.
        if let Ok(Some(listener)) = sockets.take_tcp_listener(index) {
            listener.set_nonblocking(true).map_err(told)?;
            return Ok(InheritedSocket::Tcp(listener));
        }
        let unix = sockets.take_unix_listener(index).ok().flatten();
        let listener = unix.ok_or("it is neither TCP nor a Unix socket; use ListenStream=")?;
        listener.set_nonblocking(true).map_err(told)?;
        let path = listener.local_addr().map_err(told)?.as_pathname().map(ToOwned::to_owned);
        Ok(InheritedSocket::Unix(listener, path.ok_or("its socket has no path; give it one")?))
    }
}

impl fmt::Debug for InheritedSockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InheritedSockets").field("names", &self.names).finish_non_exhaustive()
    }
}
