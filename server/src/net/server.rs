//! The server: listening sockets, connections, and their end.

use std::io;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::Accept;
use tokio_rustls::server::TlsStream;

use crate::app::measure;
use crate::app::reload::{self, TokenTable};
use crate::app::start::{self, Addresses, Starter};
use crate::app::{self, App};
use crate::config::limits::CALLS;
use crate::config::listen::ListenAddress;
use crate::config::open_files::Plan;
use crate::config::options::{CheckedOptions, Options};
use crate::http;
use crate::net::connection::Connection;
use crate::net::listener::{AsyncListener, Listener, Opener, Socket};
use crate::process::end::{EndReason, EndReceiver, EndSender, LAST_REQUEST};
use crate::process::signals::Signals;
use crate::process::supervisor;
use crate::process::threads::{self, Panicked, caught, one_threaded};
use crate::resp::connection as resp;
use crate::security::access::Access;
use crate::security::tls::Tls;
use crate::stats::counters::sum;

/// The time limit of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How much is encrypted for a client that does not read, in bytes.
const UNSENT: usize = 16 << 10;
/// The pause after a failed accept, for example because file descriptors are exhausted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The answer to a connection above the limit.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\ncache-control: no-store\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 128\r\n\r\n\
    {\"type\":\"urn:uidring:problem:too-many-connections\",\
    \"title\":\"too many connections\",\"status\":503,\"detail\":\"try again in a second\"}";

/// Looks whether a start could listen and has the open files that it needs, and leaves nothing
/// behind. Returns a sentence for each address that is in use, as by the service that is to be
/// started anew.
pub(crate) fn dry_run(options: &Options) -> Result<Vec<String>, String> {
    let runtime = one_threaded(1)?;
    let mut in_use = Vec::new();
    runtime.block_on(async {
        let mut opener = Opener::new(options.unix_mode);
        check_resp(options)?;
        in_use.extend(opener.dry_run(&options.listen, "--listen").await?);
        if let Some(resp) = &options.resp_listen {
            in_use.extend(opener.dry_run(resp, "--resp-listen").await?);
        }
        Ok::<_, String>(())
    })?;
    let listeners = 1 + usize::from(options.resp_listen.is_some());
    Plan::make(options.limits.threads(), listeners, options.limits.max_connections)?;
    Ok(in_use)
}

/// Refuses one socket for both protocols: each of them would get a part of what comes.
fn check_resp(options: &Options) -> Result<(), String> {
    match &options.resp_listen {
        Some(address @ ListenAddress::Systemd(_)) if *address == options.listen => {
            let problem = "it is the socket of --listen, too; name another";
            Err(format!("cannot listen on {address}: {problem}"))
        }
        _ => Ok(()),
    }
}

/// Answers requests until the program ends.
pub(crate) fn serve(
    mut options: Options,
    checked: CheckedOptions,
    end: &EndSender,
    mut ended: EndReceiver,
) -> Result<(), String> {
    // Comes first, because a signal without a handler would kill the process.
    let signals = Signals::listen()?;
    let runtime = one_threaded(1)?;
    let (listener, resp) = runtime.block_on(async {
        let mut opener = Opener::new(options.unix_mode);
        check_resp(&options)?;
        let http = opener.open(&options.listen, "--listen").await?;
        let resp = match &options.resp_listen {
            Some(address) => Some(opener.open(address, "--resp-listen").await?),
            None => None,
        };
        Ok::<_, String>((http, resp))
    })?;
    let listeners = 1 + usize::from(resp.is_some());
    let threads = options.limits.threads();
    let files = Plan::make(threads, listeners, options.limits.max_connections)?;
    options.limits.max_connections = files.connections;
    // What they are, where a port was left open or systemd has chosen.
    options.listen = listener.address()?;
    options.resp_listen = resp.as_ref().map(Listener::address).transpose()?;
    let addresses = Addresses { http: options.listen.clone(), resp: options.resp_listen.clone() };
    let access = Access::new(options.is_open(), options.security.admin_token.clone());
    let CheckedOptions { db, layout, leaf_layout, tokens, tls, masked } = checked;
    access.set_file(tokens.unwrap_or_default());
    // Leaked on purpose: it lives as long as the process, so requests need no reference count.
    let app = App::new(options, files, access, tls, leaf_layout, masked);
    let app: &'static App = Box::leak(Box::new(app));
    let workers = (0..threads).map(|index| {
        let mut listeners =
            (Some(listener.try_clone()?), resp.as_ref().map(Listener::try_clone).transpose()?);
        let ended = ended.clone();
        let body = move || work(app, index, &mut listeners, &ended);
        threads::begin(format!("uidring-http-{index}"), end, body)
    });
    let workers = workers.collect::<Result<Vec<_>, String>>()?;
    // At the end, nobody can connect any more once the threads have closed theirs.
    let (remove_file, remove_other) = (listener.close(), resp.map(Listener::close));
    measure::begin(app, end)?;
    let table = app.options.has_token_table().then(|| TokenTable::new(db.clone()));
    let reload = reload::begin(app, &db, table.clone(), end)?;
    signals.begin(end, move || reload.ask(), || app.begin_end())?;
    start::begin(Starter::new(app, db, layout, table, addresses), end)?;

    let end = runtime.block_on(async {
        let end = ended.wait_for(Option::is_some).await;
        end.ok().and_then(|end| end.clone()).unwrap_or(EndReason::Asked)
    });
    app.begin_end();
    supervisor::stopping();
    // At once: the next process may listen there as soon as the threads have closed theirs.
    remove_file();
    if let Some(remove_other) = remove_other {
        remove_other();
    }
    for worker in workers {
        // The thread catches its own panics.
        let _ = worker.join();
    }
    let given_back = caught(|| app.give_back());
    let uids = sum(&app.counters, |of| &of.uids);
    let numbers = sum(&app.counters, |of| &of.numbers);
    let series_numbers = sum(&app.counters, |of| &of.series_numbers);
    tracing::info!(uids, numbers, series_numbers, "ended");
    match end {
        EndReason::Asked => given_back.map_err(|Panicked| "not all was given back".to_owned()),
        EndReason::Failed(problem) => Err(problem),
    }
}

/// The body of one worker thread: accepts connections and answers their requests. A listener is
/// taken away once the end has come, so that a thread which panics later does not listen again.
fn work(
    app: &'static App,
    index: usize,
    (http, resp): &mut (Option<Listener>, Option<Listener>),
    ended: &EndReceiver,
) -> Result<(), String> {
    app::enter_thread(index);
    // Blocking calls are rare: calls to the database, and waiting for the first numbers of a tag.
    let runtime = one_threaded(2 * CALLS)?;
    let answer_all = async {
        let of_http = accept_until_end(app, http, Door::Http(http::Service::new(app)), ended);
        let of_resp = accept_until_end(app, resp, Door::Resp, ended);
        tokio::try_join!(of_http, of_resp)
    };
    runtime.block_on(answer_all).map_err(|error: io::Error| error.to_string())?;
    // Does not wait for a call to a database that does not answer.
    runtime.shutdown_background();
    Ok(())
}

/// What is spoken at an address.
#[derive(Clone)]
enum Door {
    Http(http::Service),
    Resp,
}

/// Accepts connections at `listener`, if there is one, and closes it once the end has come.
async fn accept_until_end(
    app: &'static App,
    listener: &mut Option<Listener>,
    door: Door,
    ended: &EndReceiver,
) -> io::Result<()> {
    let Some(kept) = &*listener else { return Ok(()) };
    let accepting = AsyncListener::new(kept.try_clone().map_err(io::Error::other)?)?;
    let mut ends = ended.clone();
    let mut tasks = JoinSet::new();
    let mut is_failing = false;
    loop {
        let accepted = tokio::select! {
            accepted = accepting.accept() => accepted,
            // Removes finished connections, which frees their places.
            Some(_) = tasks.join_next() => continue,
            _ = ends.wait_for(Option::is_some) => break,
        };
        match accepted {
            Ok(socket) => {
                is_failing = false;
                admit(app, &mut tasks, socket, &door, ended);
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
    // Accepts what the kernel had already queued, so that these clients get answers. This bypasses
    // the runtime, which may not have noticed it yet.
    let accepting = accepting.into_std()?;
    while let Some(socket) = accepting.accept_now() {
        admit(app, &mut tasks, socket, &door, ended);
    }
    // Both of them. Where one stayed open, clients could connect, and nobody would answer them.
    drop((accepting, listener.take()));
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

/// A place within the limit of connections.
struct ConnectionSlot(&'static App);

impl ConnectionSlot {
    fn take(app: &'static App) -> Option<ConnectionSlot> {
        // ORDERING: the counter guards no data.
        let before = app.connections.fetch_add(1, Ordering::Relaxed);
        let place = ConnectionSlot(app);
        (before < app.options.limits.max_connections as usize).then_some(place)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        // ORDERING: as above.
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn admit(
    app: &'static App,
    tasks: &mut JoinSet<()>,
    socket: Socket,
    door: &Door,
    ended: &EndReceiver,
) {
    let Some(place) = ConnectionSlot::take(app) else {
        app.counters().turned_away.add(1);
        // The answer nearly always fits the socket's buffer. Does not wait if it does not, because
        // the open file is needed elsewhere.
        if app.tls.is_none() || !socket.is_tcp() {
            socket.write_now(match door {
                Door::Http(_) => TURNED_AWAY,
                Door::Resp => resp::TURNED_AWAY,
            });
        }
        return;
    };
    match door {
        Door::Http(_) => app.counters().connections.add(1),
        Door::Resp => app.counters().resp_connections.add(1),
    }
    let (door, ended) = (door.clone(), ended.clone());
    match (socket, app.tls.as_ref().map(Tls::acceptor)) {
        (Socket::Tcp(stream), None) => {
            tasks.spawn(async move {
                answer(app, stream, door, ended).await;
                drop(place);
            });
        }
        (Socket::Tcp(stream), Some(tls)) => {
            tasks.spawn(async move {
                if let Some(stream) = handshake(tls.accept(stream), ended.clone()).await {
                    answer(app, stream, door, ended).await;
                }
                drop(place);
            });
        }
        // Nobody else can read what stays on this machine.
        #[cfg(unix)]
        (Socket::Unix(stream), _) => {
            tasks.spawn(async move {
                answer(app, stream, door, ended).await;
                drop(place);
            });
        }
    }
}

/// The stream after its handshake, which has no more time at the end than an idle connection.
async fn handshake(
    accept: Accept<TcpStream>,
    mut ended: EndReceiver,
) -> Option<TlsStream<TcpStream>> {
    let mut accept = pin!(timeout(HANDSHAKE, accept));
    let accepted = tokio::select! {
        accepted = accept.as_mut() => Some(accepted),
        _ = ended.wait_for(Option::is_some) => None,
    };
    let accepted = match accepted {
        Some(accepted) => accepted,
        None => timeout(LAST_REQUEST, accept).await.ok()?,
    };
    let mut stream = accepted.ok()?.ok()?;
    // As long as a client does not read, no more than this is encrypted for it.
    stream.get_mut().1.set_buffer_limit(Some(UNSENT));
    Some(stream)
}

/// Answers one connection.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    app: &'static App,
    stream: S,
    door: Door,
    ended: EndReceiver,
) {
    let stream = Connection::new(stream, app.options.limits.write_timeout);
    match door {
        Door::Http(service) => answer_http(app, stream, service, ended).await,
        Door::Resp => resp::serve(app, stream, ended).await,
    }
}

/// Answers the requests of one connection.
async fn answer_http<S: AsyncRead + AsyncWrite + Unpin>(
    app: &App,
    stream: S,
    service: http::Service,
    mut ended: EndReceiver,
) {
    let limits = &app.options.limits;
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
