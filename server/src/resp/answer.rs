//! The commands about a connection, and what it remembers.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::app::App;
use crate::commands::{Command, CommandRow};
use crate::resp::codec::Arguments;
use crate::resp::protocol_error::escaped;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;
use crate::resp::{describe, info};
use crate::stats::commands::AnswerKind;

/// The first bytes of TLS: a handshake of version 3.
const TLS: &[u8] = b"\x16\x03";

/// The id of the next connection.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// What a connection remembers of its client.
pub(crate) struct Session {
    app: &'static App,
    id: u64,
    name: Vec<u8>,
    /// The token of `AUTH`. Each command checks it again, because it may be withdrawn.
    token: Option<Box<[u8]>>,
    /// Whether the connection is to be closed after this answer.
    pub(crate) is_closing: bool,
}

impl Session {
    pub(crate) fn new(app: &'static App) -> Session {
        // ORDERING: the counter guards no data.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Session { app, id, name: Vec::new(), token: None, is_closing: false }
    }

    pub(crate) fn token(&self) -> Option<&[u8]> {
        self.token.as_deref()
    }

    /// Whether the client may send long commands: it has sent a token, or needs none.
    pub(crate) fn is_known(&self) -> bool {
        self.token.is_some() || self.app.access.is_open()
    }

    /// Answers a command that needs nothing from the database. `None` stands for an unknown one.
    pub(crate) fn answer(
        &mut self,
        command: Option<Command>,
        arguments: Arguments<'_>,
        reply: &mut Reply,
    ) -> Result<(), Refusal> {
        let Some(command) = command else { return Err(self.unknown(arguments)) };
        let first = arguments.get(1).unwrap_or_default();
        match command {
            Command::Ping if arguments.len() == 1 => reply.simple("PONG"),
            Command::Ping | Command::Echo => reply.bulk(first),
            Command::Auth => {
                self.auth(arguments.get(arguments.len() - 1).unwrap_or_default())?;
                reply.simple("OK");
            }
            Command::Hello => self.hello(arguments, reply)?,
            Command::Client => self.client(arguments, reply)?,
            Command::Select if first == b"0" => reply.simple("OK"),
            Command::Select => {
                let text = format!("DB index is out of range: '{}'; use 0", escaped(first));
                return Err(Refusal::error(text));
            }
            Command::Reset => {
                (self.name, self.token, reply.is_resp3) = (Vec::new(), None, false);
                reply.simple("RESET");
            }
            Command::Quit => {
                self.is_closing = true;
                reply.simple("OK");
            }
            Command::ReadOnly | Command::ReadWrite => reply.simple("OK"),
            Command::Describe => describe::commands(arguments, reply)?,
            Command::Info => info::info(self.app, self.token(), arguments, reply),
            Command::Config => info::config(self.app, arguments, reply)?,
            Command::Cluster => return Err(info::cluster()),
            Command::Module => info::modules(arguments, reply)?,
            Command::Role => info::role(reply),
            Command::Time => info::time(reply),
            Command::Multi
            | Command::Exec
            | Command::Discard
            | Command::Watch
            | Command::Unwatch => {
                let name = command.row().name;
                return Err(Refusal::error(format!(
                    "{name} is not there: each command stands alone; send it without a transaction"
                )));
            }
            // These are answered elsewhere.
            Command::UidNext
            | Command::TagNext
            | Command::Incr
            | Command::IncrBy
            | Command::SeriesNext
            | Command::WorkerLend
            | Command::WorkerRenew
            | Command::WorkerReturn
            | Command::Exists
            | Command::Type
            | Command::DbSize
            | Command::Scan => {}
        }
        Ok(())
    }

    fn unknown(&mut self, arguments: Arguments<'_>) -> Refusal {
        let name = arguments.get(0).unwrap_or_default();
        if name.eq_ignore_ascii_case(b"POST") || name.eq_ignore_ascii_case(b"Host:") {
            // A page in a browser can send this, with commands in its body.
            self.is_closing = true;
            return Refusal::error("this is the Redis protocol; HTTP has the address of --listen");
        }
        if name.starts_with(TLS) {
            // A page can have its browser send this with a ticket in it, which the page's own
            // server has chosen: lines with commands.
            self.is_closing = true;
            return Refusal::error("this is TLS, which is not spoken here; see --tls-cert");
        }
        Refusal::error(format!(
            "unknown command '{}'; the service has UID.NEXT, TAG.NEXT, INCR and SERIES.NEXT, and \
             COMMAND LIST lists the others",
            escaped(name)
        ))
    }

    /// Remembers a token that is known.
    fn auth(&mut self, token: &[u8]) -> Result<(), Refusal> {
        if self.app.access.is_open() {
            return Err(Refusal::error(
                "AUTH called, and the service has no tokens; leave the password out, or start it \
                 with --tokens",
            ));
        }
        if !self.app.access.is_valid_token(token) {
            return Err(Refusal::new(AnswerKind::WrongToken, "the token is not known"));
        }
        self.token = Some(token.into());
        Ok(())
    }

    fn hello(&mut self, arguments: Arguments<'_>, reply: &mut Reply) -> Result<(), Refusal> {
        let is_resp3 = match arguments.get(1) {
            None => reply.is_resp3,
            Some(b"2") => false,
            Some(b"3") => true,
            Some(other) => {
                let text =
                    format!("unsupported protocol version: '{}'; use 2 or 3", escaped(other));
                return Err(Refusal::new(AnswerKind::NoProtocol, text));
            }
        };
        let (mut token, mut name) = (None, None);
        let mut options = arguments.from(2);
        while let Some(word) = options.next() {
            let value = match word.to_ascii_uppercase().as_slice() {
                b"AUTH" => {
                    // The name of a user says nothing here.
                    token = options.next().and_then(|_| options.next());
                    token
                }
                b"SETNAME" => {
                    name = options.next();
                    name
                }
                _ => None,
            };
            if value.is_none() {
                let advice = "write AUTH with a name and a token, or SETNAME with a name";
                return Err(Refusal::argument(word, advice));
            }
        }
        let name = name.map(checked_name).transpose()?;
        if let Some(token) = token {
            self.auth(token)?;
        }
        self.name = name.map_or_else(|| std::mem::take(&mut self.name), <[u8]>::to_vec);
        reply.is_resp3 = is_resp3;
        reply.map(7);
        reply.pair("server", "uidring");
        reply.pair("version", env!("CARGO_PKG_VERSION"));
        reply.bulk(b"proto");
        reply.integer(if is_resp3 { 3 } else { 2 });
        reply.bulk(b"id");
        reply.integer(self.id);
        reply.pair("mode", "standalone");
        reply.pair("role", "master");
        reply.bulk(b"modules");
        reply.array(0);
        Ok(())
    }

    fn client(&mut self, arguments: Arguments<'_>, reply: &mut Reply) -> Result<(), Refusal> {
        let subcommand = arguments.get(1).unwrap_or_default();
        let value = arguments.get(2).unwrap_or_default();
        let is_switch = value.eq_ignore_ascii_case(b"ON") || value.eq_ignore_ascii_case(b"OFF");
        match (subcommand.to_ascii_uppercase().as_slice(), arguments.len()) {
            (b"ID", 2) => reply.integer(self.id),
            (b"GETNAME", 2) if self.name.is_empty() => reply.null(),
            (b"GETNAME", 2) => reply.bulk(&self.name),
            (b"SETNAME", 3) => {
                self.name = checked_name(value)?.to_vec();
                reply.simple("OK");
            }
            // Nothing is kept of it.
            (b"SETINFO", 4) => reply.simple("OK"),
            (b"NO-EVICT" | b"NO-TOUCH", 3) if is_switch => reply.simple("OK"),
            (b"TRACKING", 3..) if value.eq_ignore_ascii_case(b"OFF") => reply.simple("OK"),
            (b"TRACKING", _) => {
                let advice = "nothing is there to be tracked; CLIENT TRACKING OFF is all there is";
                return Err(Refusal::argument(value, advice));
            }
            _ => {
                let advice = "CLIENT has ID, GETNAME, SETNAME name, SETINFO attribute value, \
                              NO-EVICT on|off, NO-TOUCH on|off and TRACKING off";
                return Err(Refusal::argument(subcommand, advice));
            }
        }
        Ok(())
    }
}

/// A name of a connection, if it is one.
fn checked_name(name: &[u8]) -> Result<&[u8], Refusal> {
    if name.iter().all(u8::is_ascii_graphic) {
        return Ok(name);
    }
    let text = "a name of a connection has neither blanks nor other special characters";
    Err(Refusal::error(format!("{text}: '{}'", escaped(name))))
}

/// Refuses a command with too few or too many arguments.
pub(crate) fn check_count(command: Command, arguments: Arguments<'_>) -> Result<(), Refusal> {
    let CommandRow { name, least, most, usage, .. } = *command.row();
    if (least..=most).contains(&(arguments.len() - 1)) {
        return Ok(());
    }
    let usage = format!("{name} {usage}");
    Err(Refusal::error(format!(
        "wrong number of arguments for '{}' command; write {}",
        name.to_ascii_lowercase(),
        usage.trim_end()
    )))
}
