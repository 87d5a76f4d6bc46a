//! One connection: reads commands, and answers them in their order.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::task::coop::has_budget_remaining;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use crate::app::App;
use crate::commands::{Command, CommandGroup};
use crate::process::end::{EndReceiver, LAST_REQUEST};
use crate::resp::answer::{Session, check_count};
use crate::resp::codec::{Arguments, Decoder};
use crate::resp::protocol_error::ProtocolError;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;
use crate::resp::request::Request;
use crate::resp::take;
use crate::stats::commands::AnswerKind;

/// The room for one reading.
const READ: usize = 8 << 10;
/// Answers of this length are sent before further commands are answered.
const ENOUGH: usize = 32 << 10;
/// The same before `AUTH`, and the longest command then.
const ENOUGH_BEFORE_AUTH: usize = READ;
const MOST_BEFORE_AUTH: usize = 4 << 10;
/// A connection that waits for a command keeps no buffer above this length.
const KEPT: usize = 2 * READ;
/// How long a client may take to read the last error, and how much it may have sent meanwhile.
const FAREWELL: Duration = Duration::from_millis(200);
const UNREAD: usize = 1 << 20;

/// The answer to a connection above the limit, in the words of Redis.
pub(crate) const TURNED_AWAY: &[u8] = b"-ERR max number of clients reached\r\n";

/// What came of waiting for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOutcome {
    /// It has sent something.
    Read,
    /// It has closed the connection, or has sent nothing for too long.
    Over,
}

/// Answers the commands of one connection.
pub(crate) async fn serve<S>(app: &'static App, stream: S, ended: EndReceiver)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = Connection {
        app,
        stream,
        session: Session::new(app),
        decoder: Decoder::new(app.options.limits.max_body as usize),
        input: Vec::new(),
        start: 0,
        reply: Reply::default(),
        earlier: Vec::new(),
        since: Instant::now(),
        ended: ended.clone(),
        is_listening: false,
        timer: None,
        until: None,
    };
    // An error means that the client is gone or too slow.
    let _ = connection.run(ended).await;
}

struct Connection<S> {
    app: &'static App,
    stream: S,
    session: Session,
    decoder: Decoder,
    /// What the client has sent, and where the command begins that is not answered yet.
    input: Vec<u8>,
    start: usize,
    reply: Reply,
    /// The answers before the one that may have to wait, and otherwise empty.
    earlier: Vec<u8>,
    /// When the last command was answered.
    since: Instant,
    /// Tells of the end of the service.
    ended: EndReceiver,
    /// Whether the end of the service wakes this connection. It does from the first wait on, so
    /// later ones only look whether it has come, which is cheaper.
    is_listening: bool,
    /// Wakes an idle connection to be closed. It is set when the connection first waits, and later
    /// only when it rings too early, because that is cheaper than setting it for each command.
    timer: Option<Pin<Box<Sleep>>>,
    /// Until when it may wait, once the service is ending.
    until: Option<Instant>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn run(&mut self, mut ended: EndReceiver) -> io::Result<()> {
        let mut ending = pin!(async move {
            let _ = ended.wait_for(Option::is_some).await;
        });
        loop {
            if self.wait(ending.as_mut()).await == ReadOutcome::Over {
                return self.stream.shutdown().await;
            }
            let begun = Instant::now();
            let count = self.answer_all().await?;
            if count > 0 {
                self.since = Instant::now();
                self.app.counters().requests.commands.took(count, self.since - begun);
            }
            self.send().await?;
            if self.session.is_closing {
                return self.part().await;
            }
            // A client that never pauses would never be waited for.
            if self.app.is_ending() && begun >= *self.until.get_or_insert(begun + LAST_REQUEST) {
                return self.part().await;
            }
        }
    }

    /// Waits for bytes.
    async fn wait(&mut self, mut ending: Pin<&mut impl Future<Output = ()>>) -> ReadOutcome {
        self.compact_input();
        let latest = self.since + self.app.options.limits.header_timeout;
        let (ended, is_listening) = (&self.ended, &mut self.is_listening);
        let (timer, until) = (&mut self.timer, &mut self.until);
        let mut read = pin!(self.stream.read_buf(&mut self.input));
        poll_fn(|context| {
            // Comes first: what was asked before the end is answered.
            match read.as_mut().poll(context) {
                Poll::Ready(Ok(1..)) => return Poll::Ready(ReadOutcome::Read),
                Poll::Ready(_) => return Poll::Ready(ReadOutcome::Over),
                Poll::Pending => {}
            }
            // A task that has used up its turn is woken for the next one. Until then, nothing that
            // it polls would register to wake it.
            if !has_budget_remaining() {
                return Poll::Pending;
            }
            let may_be_ending = !*is_listening || !matches!(ended.has_changed(), Ok(false));
            if until.is_none() && may_be_ending {
                *is_listening = true;
                if ending.as_mut().poll(context).is_ready() {
                    *until = Some(Instant::now() + LAST_REQUEST);
                }
            }
            let deadline = until.map_or(latest, |until| until.min(latest));
            let is_new = timer.is_none();
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
            if timer.deadline() > deadline {
                timer.as_mut().reset(deadline);
            } else if !is_new && !timer.is_elapsed() {
                return Poll::Pending;
            }
            while timer.as_mut().poll(context).is_ready() {
                if Instant::now() >= deadline {
                    return Poll::Ready(ReadOutcome::Over);
                }
                timer.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }

    /// Makes room for the next bytes, and keeps those of a command that is not whole yet.
    fn compact_input(&mut self) {
        if self.start > 0 {
            self.input.drain(..self.start);
            self.start = 0;
        }
        if self.input.is_empty() && self.input.capacity() > KEPT {
            self.input = Vec::new();
        }
        self.reply.bytes.shrink_to(KEPT);
        self.earlier.shrink_to(KEPT);
        self.decoder.shrink_to(KEPT);
        if self.input.capacity() - self.input.len() < READ / 4 {
            self.input.reserve(READ);
        }
    }

    /// Answers all commands that have arrived, and returns how many they are.
    async fn answer_all(&mut self) -> io::Result<u64> {
        let commands = &self.app.counters().requests.commands;
        let mut count = 0;
        while !self.session.is_closing {
            self.decoder.set_most(self.max_command_bytes());
            let bytes = &self.input[self.start..];
            match self.decoder.decode(bytes) {
                Ok(None) => break,
                Ok(Some(length)) => {
                    self.start += length;
                    let arguments = self.decoder.arguments(&bytes[..length]);
                    if arguments.len() == 0 {
                        continue;
                    }
                    count += 1;
                    let (session, reply) = (&mut self.session, &mut self.reply);
                    let command = Command::find(arguments.get(0).unwrap_or_default());
                    let is_given = command.is_some_and(|command| {
                        let asked = Request { token: session.token(), command, arguments };
                        take::at_once(self.app, asked, reply)
                    });
                    if is_given {
                        commands.answered(command, AnswerKind::Good, false);
                    } else {
                        let (stream, earlier) = (&mut self.stream, &mut self.earlier);
                        let asked = (command, arguments);
                        match answer(self.app, stream, session, asked, reply, earlier).await? {
                            Ok(()) => commands.answered(command, AnswerKind::Good, false),
                            Err(refusal) => {
                                commands.answered(command, refusal.kind, refusal.has_failed);
                                refusal.write(reply);
                            }
                        }
                    }
                }
                Err(error) => {
                    count += 1;
                    commands.answered(None, AnswerKind::Error, false);
                    self.refuse(&error);
                }
            }
            let enough = if self.session.is_known() { ENOUGH } else { ENOUGH_BEFORE_AUTH };
            if self.reply.bytes.len() >= enough {
                self.send().await?;
            }
        }
        Ok(count)
    }

    /// The most bytes of the next command. Those before `AUTH` are short, because anybody can hold
    /// their memory.
    fn max_command_bytes(&self) -> usize {
        let most = self.app.options.limits.max_body as usize;
        if self.session.is_known() { most } else { most.min(MOST_BEFORE_AUTH) }
    }

    /// Says why the connection ends here.
    fn refuse(&mut self, error: &ProtocolError) {
        self.session.is_closing = true;
        let is_shortened = self.max_command_bytes() < self.app.options.limits.max_body as usize;
        let needs_auth = error.is_of_size() && is_shortened;
        let advice = if needs_auth { "; larger ones need AUTH first" } else { "" };
        Refusal::error(format!("Protocol error: {}{advice}", error.text())).write(&mut self.reply);
    }

    async fn send(&mut self) -> io::Result<()> {
        send(&mut self.stream, &mut self.reply.bytes).await
    }

    /// Closes the connection such that the client gets the last answer: what it has sent and nobody
    /// has read would take the answer away.
    async fn part(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let read_away = async {
            let mut left = UNREAD;
            while left > 0 {
                self.input.clear();
                self.input.reserve(READ);
                match self.stream.read_buf(&mut self.input).await {
                    Ok(read @ 1..) => left = left.saturating_sub(read),
                    _ => break,
                }
            }
        };
        let _ = timeout(FAREWELL, read_away).await;
        Ok(())
    }
}

/// Sends the answers that are ready.
async fn send(stream: &mut (impl AsyncWrite + Unpin), bytes: &mut Vec<u8>) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    stream.write_all(bytes).await?;
    // Also ends the time that the client has for it.
    stream.flush().await?;
    bytes.clear();
    Ok(())
}

/// Answers a command that is not a take from memory. Where it has to wait, the answers before it
/// are sent first.
async fn answer(
    app: &'static App,
    stream: &mut (impl AsyncWrite + Unpin),
    session: &mut Session,
    (command, arguments): (Option<Command>, Arguments<'_>),
    reply: &mut Reply,
    earlier: &mut Vec<u8>,
) -> io::Result<Result<(), Refusal>> {
    if let Some(Err(refusal)) = command.map(|command| check_count(command, arguments)) {
        return Ok(Err(refusal));
    }
    // A token of a table is known once the database has answered.
    if matches!(command, Some(Command::Auth | Command::Hello))
        && app.options.has_token_table()
        && !app.has_started()
    {
        send(stream, &mut reply.bytes).await?;
        app.first_try().await;
    }
    let may_wait = |command: &Command| {
        matches!(command.row().group, CommandGroup::Gives | CommandGroup::Looks)
    };
    let Some(command) = command.filter(may_wait) else {
        return Ok(session.answer(command, arguments, reply));
    };
    std::mem::swap(&mut reply.bytes, earlier);
    let given = {
        // Boxed, because it is large and rare.
        let asked = Request { token: session.token(), command, arguments };
        let mut giving = Box::pin(take::in_time(app, asked, reply));
        match poll_fn(|context| Poll::Ready(giving.as_mut().poll(context))).await {
            Poll::Ready(given) => given,
            Poll::Pending => {
                // A client that is gone is noticed by this, and waits for nothing more.
                send(stream, earlier).await?;
                giving.await
            }
        }
    };
    earlier.append(&mut reply.bytes);
    std::mem::swap(&mut reply.bytes, earlier);
    let rest = match given {
        Ok(rest) => rest,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(mut rest) = rest {
        while rest.write(reply)? {
            send(stream, &mut reply.bytes).await?;
        }
    }
    Ok(Ok(()))
}
