//! Listening sockets: TCP, and Unix sockets where the system has them.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener as StdTcp};
#[cfg(unix)]
use std::os::unix::net::UnixListener as StdUnix;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use crate::config::listen::{ListenAddress, UnixMode};
#[cfg(unix)]
use crate::net::inherited_sockets::{InheritedSocket, InheritedSockets};
#[cfg(unix)]
use crate::net::unix_socket::{self, SocketFile};

/// The kernel's queue of connections that wait for `accept`.
const BACKLOG: u32 = 4096;

/// A listening socket that threads can share.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(StdTcp),
    #[cfg(unix)]
    Unix(StdUnix, SocketFile),
}

/// An accepted connection.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// A listening socket in a runtime.
#[derive(Debug)]
pub(crate) enum AsyncListener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
}

/// Opens listening sockets.
#[derive(Debug)]
pub(crate) struct Opener {
    mode: UnixMode,
    /// Those that systemd hands over, once one of them is asked for.
    #[cfg(unix)]
    handed: Option<InheritedSockets>,
}

impl Opener {
    pub(crate) fn new(mode: UnixMode) -> Opener {
        Opener {
            mode,
            #[cfg(unix)]
            handed: None,
        }
    }

    /// Listens on an address that `option` names.
    #[cfg_attr(not(unix), expect(clippy::unused_async, reason = "as on a Unix"))]
    pub(crate) async fn open(
        &mut self,
        address: &ListenAddress,
        option: &str,
    ) -> Result<Listener, String> {
        match address {
            ListenAddress::Tcp(address) => Listener::open_tcp(*address, option),
            #[cfg(unix)]
            ListenAddress::Unix(path) => {
                let (listener, file) = unix_socket::listen(path, self.mode, BACKLOG)
                    .await
                    .map_err(|problem| format!("cannot listen on {address}: {problem}"))?;
                Ok(Listener::Unix(listener, file))
            }
            #[cfg(unix)]
            ListenAddress::Systemd(name) => {
                match self.handed.get_or_insert_with(InheritedSockets::receive).take(name) {
                    Ok(InheritedSocket::Tcp(listener)) => Ok(Listener::Tcp(listener)),
                    Ok(InheritedSocket::Unix(listener, path)) => {
                        Ok(Listener::Unix(listener, SocketFile::by_systemd(path)))
                    }
                    Err(problem) => Err(format!("cannot listen on {address}: {problem}")),
                }
            }
            #[cfg(not(unix))]
            ListenAddress::Unix(_) | ListenAddress::Systemd(_) => {
                let _ = self.mode;
                Err(format!("cannot listen on {address}: this system has no such sockets"))
            }
        }
    }
}

impl Opener {
    /// Looks whether [`open`](Opener::open) would succeed, and leaves nothing behind. Returns what
    /// has to be said where it would once another program has ended, or where only a start can
    /// tell.
    #[cfg_attr(not(unix), expect(clippy::unused_async, reason = "as on a Unix"))]
    pub(crate) async fn dry_run(
        &mut self,
        address: &ListenAddress,
        option: &str,
    ) -> Result<Option<String>, String> {
        match address {
            ListenAddress::Tcp(tcp) => match Listener::bind_tcp(*tcp) {
                Ok(_) => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(Some(in_use(address))),
                Err(error) => Err(Listener::refused(*tcp, option, &error)),
            },
            #[cfg(unix)]
            ListenAddress::Unix(path) => {
                let found = unix_socket::dry_run(path).await;
                let is_free = found.map_err(|problem| refused(address, &problem))?;
                Ok((!is_free).then(|| in_use(address)))
            }
            ListenAddress::Systemd(_) => {
                Ok(Some(format!("systemd has to hand over {address} at the start")))
            }
            #[cfg(not(unix))]
            ListenAddress::Unix(_) => Err(refused(address, "this system has no such sockets")),
        }
    }
}

/// What is said of an address at which a program listens.
fn in_use(address: &ListenAddress) -> String {
    format!("a program listens on {address} now: a start has to wait until it has ended")
}

fn refused(address: &ListenAddress, problem: &str) -> String {
    format!("cannot listen on {address}: {problem}")
}

impl Listener {
    fn open_tcp(address: SocketAddr, option: &str) -> Result<Listener, String> {
        let listen = || Listener::bind_tcp(address)?.listen(BACKLOG)?.into_std();
        let told = |error: io::Error| Listener::refused(address, option, &error);
        listen().map(Listener::Tcp).map_err(told)
    }

    fn bind_tcp(address: SocketAddr) -> io::Result<TcpSocket> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // A connection of a previous process may still occupy the address.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(socket)
    }

    fn refused(address: SocketAddr, option: &str, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("cannot listen on {address}: another program does; choose another {option}")
            }
            _ => format!("cannot listen on {address}: {error}"),
        }
    }

    pub(crate) fn address(&self) -> Result<ListenAddress, String> {
        match self {
            Listener::Tcp(listener) => {
                let address = listener.local_addr().map_err(|error| error.to_string())?;
                Ok(ListenAddress::Tcp(address))
            }
            #[cfg(unix)]
            Listener::Unix(_, file) => Ok(ListenAddress::Unix(file.path().to_owned())),
        }
    }

    pub(crate) fn try_clone(&self) -> Result<Listener, String> {
        let cloned = match self {
            Listener::Tcp(listener) => listener.try_clone().map(Listener::Tcp),
            #[cfg(unix)]
            Listener::Unix(listener, file) => {
                listener.try_clone().map(|listener| Listener::Unix(listener, file.clone()))
            }
        };
        cloned.map_err(|error| error.to_string())
    }

    /// Takes a connection from the kernel's queue, if there is one.
    pub(crate) fn accept_now(&self) -> Option<Socket> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                Some(Socket::of_tcp(TcpStream::from_std(stream).ok()?))
            }
            #[cfg(unix)]
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                Some(Socket::Unix(UnixStream::from_std(stream).ok()?))
            }
        }
    }

    /// Stops listening, unless other threads do. Returns what removes the file of a Unix socket.
    pub(crate) fn close(self) -> impl FnOnce() {
        let file = match self {
            Listener::Tcp(_) => None,
            #[cfg(unix)]
            Listener::Unix(_, file) => Some(file),
        };
        move || {
            #[cfg(unix)]
            file.iter().for_each(SocketFile::remove);
            #[cfg(not(unix))]
            let _: Option<()> = file;
        }
    }
}

impl AsyncListener {
    pub(crate) fn new(listener: Listener) -> io::Result<AsyncListener> {
        Ok(match listener {
            Listener::Tcp(listener) => AsyncListener::Tcp(TcpListener::from_std(listener)?),
            #[cfg(unix)]
            Listener::Unix(listener, file) => {
                AsyncListener::Unix(UnixListener::from_std(listener)?, file)
            }
        })
    }

    pub(crate) async fn accept(&self) -> io::Result<Socket> {
        match self {
            AsyncListener::Tcp(listener) => {
                listener.accept().await.map(|(stream, _)| Socket::of_tcp(stream))
            }
            #[cfg(unix)]
            AsyncListener::Unix(listener, _) => {
                listener.accept().await.map(|(stream, _)| Socket::Unix(stream))
            }
        }
    }

    pub(crate) fn into_std(self) -> io::Result<Listener> {
        Ok(match self {
            AsyncListener::Tcp(listener) => Listener::Tcp(listener.into_std()?),
            #[cfg(unix)]
            AsyncListener::Unix(listener, file) => Listener::Unix(listener.into_std()?, file),
        })
    }
}

impl Socket {
    fn of_tcp(stream: TcpStream) -> Socket {
        // Small answers are sent at once.
        let _ = stream.set_nodelay(true);
        Socket::Tcp(stream)
    }

    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self, Socket::Tcp(_))
    }

    /// Writes what the socket's buffer takes, and closes the connection.
    pub(crate) fn write_now(self, bytes: &[u8]) {
        let _ = match self {
            Socket::Tcp(stream) => stream.into_std().and_then(|mut it| it.write(bytes)),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.into_std().and_then(|mut it| it.write(bytes)),
        };
    }
}
