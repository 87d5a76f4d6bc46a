//! The server: listening sockets, connections, and their end.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::app::measure;
use crate::app::reload::{self, TokenTable};
use crate::app::start::{self, Starter};
use crate::app::{self, App};
use crate::config::limits::CALLS;
use crate::config::open_files::Plan;
use crate::config::options::{Checked, Options};
use crate::http;
use crate::net::connection::Connection;
use crate::process::end::{EndReason, EndReceiver, EndSender};
use crate::process::signals::Signals;
use crate::process::threads::{self, Panicked, caught, one_threaded};
use crate::security::access::Access;
use crate::security::tls::Tls;
use crate::stats::counters::sum;

/// The kernel's queue of connections that wait for `accept`.
const BACKLOG: u32 = 4096;
/// The time limit of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long an idle connection is kept open at the end, because a request may already be on its
/// way.
const LAST_REQUEST: Duration = Duration::from_millis(100);
/// The pause after a failed accept, for example because file descriptors are exhausted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The answer to a connection above the limit.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\ncache-control: no-store\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 128\r\n\r\n\
    {\"type\":\"urn:uidring:problem:too-many-connections\",\
    \"title\":\"too many connections\",\"status\":503,\"detail\":\"try again in a second\"}";

/// Answers requests until the program ends.
pub(crate) fn serve(
    mut options: Options,
    checked: Checked,
    end: &EndSender,
    mut ended: EndReceiver,
) -> Result<(), String> {
    // Comes first, because a signal without a handler would kill the process.
    let signals = Signals::listen()?;
    let runtime = one_threaded(1)?;
    let listener = runtime.block_on(async { listen(options.listen) })?;
    let files = Plan::make(options.limits.threads(), options.limits.max_connections)?;
    options.limits.max_connections = files.connections;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let access = Access::new(options.is_open(), options.security.admin_token.clone());
    let Checked { db, layout, leaf, tokens, tls } = checked;
    access.set_file(tokens.unwrap_or_default());
    // Leaked on purpose: it lives as long as the process, so requests need no reference count.
    let app: &'static App = Box::leak(Box::new(App::new(options, files, access, tls, leaf.layout)));
    let workers = (0..app.options.limits.threads()).map(|index| {
        let listener = listener.try_clone().map_err(|error| error.to_string())?;
        let ended = ended.clone();
        let body = move || work(app, index, &listener, ended.clone());
        threads::begin(format!("uidring-http-{index}"), end, body)
    });
    let workers = workers.collect::<Result<Vec<_>, String>>()?;
    drop(listener);
    measure::begin(app, end)?;
    let table = app.options.has_token_table().then(|| TokenTable::new(db.clone()));
    let reload = reload::begin(app, table.clone(), end)?;
    signals.begin(end, move || reload.ask(), || app.begin_end())?;
    start::begin(Starter::new(app, db, layout, leaf, table, address), end)?;

    let end = runtime.block_on(async {
        let end = ended.wait_for(Option::is_some).await;
        end.ok().and_then(|end| end.clone()).unwrap_or(EndReason::Asked)
    });
    app.begin_end();
    for worker in workers {
        // The thread catches its own panics.
        let _ = worker.join();
    }
    let given_back = caught(|| app.give_back());
    let uids = sum(&app.counters, |of| &of.uids);
    let numbers = sum(&app.counters, |of| &of.numbers);
    tracing::info!(uids, numbers, "ended");
    match end {
        EndReason::Asked => given_back.map_err(|Panicked| "not all was given back".to_owned()),
        EndReason::Failed(problem) => Err(problem),
    }
}

fn listen(address: SocketAddr) -> Result<StdListener, String> {
    let listen = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // A connection of a previous process may still occupy the address.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)?.into_std()
    };
    listen().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("cannot listen on {address}: another program does; choose another --listen")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}

/// The body of one worker thread: accepts connections and answers their requests.
fn work(
    app: &'static App,
    index: usize,
    listener: &StdListener,
    ended: EndReceiver,
) -> Result<(), String> {
    app::enter_thread(index);
    let listener = listener.try_clone().map_err(|error| error.to_string())?;
    // Blocking calls are rare: calls to the database, and waiting for the first numbers of a tag.
    let runtime = one_threaded(2 * CALLS)?;
    runtime.block_on(accept_until_end(app, listener, ended)).map_err(|error| error.to_string())?;
    // Does not wait for a call to a database that does not answer.
    runtime.shutdown_background();
    Ok(())
}

async fn accept_until_end(
    app: &'static App,
    listener: StdListener,
    mut ended: EndReceiver,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let service = http::Service::new(app);
    let mut tasks = JoinSet::new();
    let mut is_failing = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // Removes finished connections, which frees their places.
            Some(_) = tasks.join_next() => continue,
            _ = ended.wait_for(Option::is_some) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                is_failing = false;
                admit(app, &mut tasks, stream, &service, &ended);
            }
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::error!(%error, "cannot accept connections");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // Accepts what the kernel had already queued, so that these clients get answers.
    let listener = listener.into_std()?;
    while let Some(stream) = accept_now(&listener) {
        admit(app, &mut tasks, stream, &service, &ended);
    }
    drop(listener);
    let all = async { while tasks.join_next().await.is_some() {} };
    if timeout(app.options.limits.grace, all).await.is_err() {
        tracing::warn!(connections = tasks.len(), "cut off what had not ended in time");
    }
    Ok(())
}

/// Whether the error affects only one connection, which was closed before it was accepted.
fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

/// Takes a connection from the kernel's queue, if there is one. This bypasses the runtime, which
/// may not have noticed it yet.
fn accept_now(listener: &StdListener) -> Option<TcpStream> {
    let (stream, _) = listener.accept().ok()?;
    stream.set_nonblocking(true).ok()?;
    TcpStream::from_std(stream).ok()
}

/// A place within the limit of connections.
struct Place(&'static App);

impl Place {
    fn take(app: &'static App) -> Option<Place> {
        // ORDERING: the counter guards no data.
        let before = app.connections.fetch_add(1, Ordering::Relaxed);
        let place = Place(app);
        (before < app.options.limits.max_connections as usize).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // ORDERING: as above.
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn admit(
    app: &'static App,
    tasks: &mut JoinSet<()>,
    stream: TcpStream,
    service: &http::Service,
    ended: &EndReceiver,
) {
    let Some(place) = Place::take(app) else {
        app.counters().turned_away.add(1);
        // The answer nearly always fits the socket's buffer. Does not wait if it does not, because
        // the open file is needed elsewhere.
        if app.tls.is_none() {
            let _ = stream.into_std().and_then(|mut stream| stream.write(TURNED_AWAY));
        }
        return;
    };
    app.counters().connections.add(1);
    // Small answers are sent at once.
    let _ = stream.set_nodelay(true);
    let (service, ended) = (service.clone(), ended.clone());
    match app.tls.as_ref().map(Tls::acceptor) {
        None => {
            tasks.spawn(async move {
                answer(app, stream, service, ended).await;
                drop(place);
            });
        }
        Some(tls) => {
            tasks.spawn(async move {
                if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                    answer(app, stream, service, ended).await;
                }
                drop(place);
            });
        }
    }
}

/// Answers the requests of one connection.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    app: &App,
    stream: S,
    service: http::Service,
    mut ended: EndReceiver,
) {
    let limits = &app.options.limits;
    let stream = Connection::new(stream, limits.write_timeout);
    let stream = TokioIo::new(stream);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        // Copying into one short buffer is cheaper for the system than a vectored write.
        .writev(false)
        .max_buf_size(limits.max_header as usize);
    let mut connection = pin!(builder.serve_connection(stream, service));
    let is_whole = tokio::select! {
        _ = connection.as_mut() => true,
        _ = ended.wait_for(Option::is_some) => false,
    };
    if is_whole {
        return;
    }
    // From here on, answers close their connections.
    if timeout(LAST_REQUEST, connection.as_mut()).await.is_ok() {
        return;
    }
    // Finishes the current request, then closes the connection.
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
