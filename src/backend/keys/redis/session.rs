//! A call's conversation with a server.

use redis::{Cmd, Value};

use super::Redis;
use super::connection::Connection;
use super::durability::{Persistence, judge, questions};
use super::replies::{command, ok_or_diagnose, text, unexpected_reply};
use super::script;
use crate::backend::keys::{Change, EACH, Entry, Error, See, Session, Version};

/// How many values are asked for in one command.
const TOGETHER: usize = 500;

/// What is written where nothing else is, to see that all before it is on the disk. No key has such
/// a name.
const MARK: &str = ".synced";

/// A connection to a server that keeps what it confirms.
pub struct RedisSession<'a> {
    store: &'a Redis,
    connection: Connection<'a>,
    persistence: Persistence,
}

impl<'a> RedisSession<'a> {
    /// Signs in and looks at the server, all in one round trip.
    pub fn begin(store: &'a Redis, mut connection: Connection<'a>) -> Result<Self, Error> {
        let mut commands = Vec::new();
        if let Some((user, password)) = &store.user {
            let mut sign_in = command(&["AUTH"]);
            if let Some(user) = user {
                sign_in.arg(user);
            }
            sign_in.arg(password);
            commands.push(sign_in);
        }
        commands.push(command(&["SELECT", &store.database.to_string()]));
        commands.extend(questions());
        // A user who may not begin a transaction would write without one, and another who may not
        // wait would not know what became of what was written. This waits for nothing.
        let trials =
            [command(&["MULTI"]), command(&["EXEC"]), command(&["WAITAOF", "0", "0", "1"])];
        commands.extend(trials);
        let mut answers = connection.ask(&commands)?;
        let tried = answers.split_off(commands.len() - 3);
        let mut answers = answers.into_iter();
        if store.user.is_some() {
            ok_or_diagnose(answers.next().unwrap_or_default(), store)?;
        }
        let selected = answers.next().unwrap_or_default();
        let persistence = judge(answers.collect(), store)?;
        ok_or_diagnose(selected, store)?;
        for answer in tried.into_iter().take(if persistence.has_waitaof { 3 } else { 2 }) {
            ok_or_diagnose(answer, store)?;
        }
        Ok(RedisSession { store, connection, persistence })
    }

    pub fn folder(&self) -> &'a str {
        &self.store.folder
    }

    /// The answers to commands that only read. What they have seen may not be on the disk yet.
    pub fn read_only(&mut self, commands: &[Cmd]) -> Result<Vec<Value>, Error> {
        let answers = self.connection.ask(commands)?;
        answers.into_iter().map(|answer| ok_or_diagnose(answer, self.store)).collect()
    }

    /// Returns when all that was read is on the disk.
    pub fn ensure_durable(&mut self) -> Result<(), Error> {
        // A server that syncs before it answers has synced what is read. Of the others, `WAITAOF`
        // waits for all before the last write of the same connection.
        if self.persistence.syncs_always {
            return Ok(());
        }
        let mark = command(&["SET", &script::key(self.folder(), MARK), ""]);
        for answer in self.connection.ask(&[mark, self.wait()])? {
            is_synced(ok_or_diagnose(answer, self.store)?)?;
        }
        Ok(())
    }

    /// The answer to `change`, which writes. What it has written is on the disk if `has_written`
    /// says of the answer that it has. After [`Error::Unreachable`] it is unknown whether it was
    /// written; after any other error, nothing was.
    pub fn write(
        &mut self,
        change: Cmd,
        has_written: impl Fn(&Value) -> bool,
    ) -> Result<Value, Error> {
        let mut commands = vec![command(&["MULTI"]), change];
        commands.extend(questions());
        let questions = commands.len() - 2;
        commands.push(command(&["EXEC"]));
        let exec = commands.len() - 1;
        if self.persistence.has_waitaof {
            if !self.persistence.syncs_always {
                // It is waited for what was read, too, where nothing is written.
                commands.push(command(&["SET", &script::key(self.folder(), MARK), ""]));
            }
            commands.push(self.wait());
        }
        let mut answers = self.connection.ask(&commands).map_err(unknown)?;
        let rest = answers.split_off(exec + 1);
        let ran = match answers.pop() {
            Some(Value::Array(ran)) if ran.len() == questions + 1 => ran,
            ran => return Err(self.discarded(answers.into_iter().chain(ran).collect())),
        };
        let mut ran = ran.into_iter();
        let answer = ok_or_diagnose(ran.next().unwrap_or_default(), self.store)?;
        let is_kept = || {
            judge(ran.collect(), self.store)?;
            rest.into_iter().try_for_each(|answer| is_synced(ok_or_diagnose(answer, self.store)?))
        };
        match is_kept() {
            Err(error) if has_written(&answer) || !self.persistence.syncs_always => {
                Err(unknown(error))
            }
            _ => Ok(answer),
        }
    }

    /// The error of a transaction that was not run, by the answers to its commands.
    fn discarded(&self, answers: Vec<Value>) -> Error {
        // Without a transaction, the command is run at once.
        let is_begun = answers.first() == Some(&Value::Okay);
        let is_refused = matches!(answers.get(1), Some(Value::ServerError(_)));
        let refusal =
            answers.into_iter().find_map(|answer| ok_or_diagnose(answer, self.store).err());
        match refusal {
            // What kept one of the commands out says why none was run.
            Some(error) if is_begun || is_refused => error,
            error => unknown(error.unwrap_or_else(|| unexpected_reply("EXEC"))),
        }
    }

    /// Waits until all that this connection has written, and all before, is on the disk: nearly as
    /// long as there is time, so that the answer still comes. Zero would mean for ever.
    fn wait(&self) -> Cmd {
        let left = self.connection.deadline().left();
        let ms = (left * 9 / 10).as_millis().max(1);
        command(&["WAITAOF", "1", "0", &ms.to_string()])
    }
}

/// Fails if the answer to `WAITAOF` says that it waited in vain. The answer to `SET` passes.
fn is_synced(answer: Value) -> Result<(), Error> {
    match answer {
        Value::Okay => Ok(()),
        Value::Array(counts) => match counts.first() {
            Some(Value::Int(1)) => Ok(()),
            _ => Err(Error::Unreachable {
                problem: "it has not synced its append-only file in time; see what keeps its disk \
                          busy"
                    .to_owned(),
                source: None,
            }),
        },
        _ => Err(unexpected_reply("WAITAOF")),
    }
}

/// The error of a write of which it is unknown whether it was made, or will last.
fn unknown(error: Error) -> Error {
    match error {
        Error::Unusable { problem, source } => Error::Unreachable { problem, source },
        Error::Denied(source) | Error::Full(source) | Error::Other(source) => {
            let problem = "it has failed after a write".to_owned();
            Error::Unreachable { problem, source: Some(source) }
        }
        error => error,
    }
}

impl Session for RedisSession<'_> {
    fn read(&mut self, keys: &[&str]) -> Result<Vec<Option<Entry>>, Error> {
        let commands = keys.chunks(TOGETHER).map(|keys| {
            let mut command = command(&["MGET"]);
            for key in keys {
                command.arg(script::key(self.folder(), key));
            }
            command
        });
        let commands: Vec<Cmd> = commands.collect();
        let mut entries = Vec::with_capacity(keys.len());
        for answer in self.read_only(&commands)? {
            let Value::Array(values) = answer else { return Err(unexpected_reply("MGET")) };
            for value in values {
                entries.push(match value {
                    Value::Nil => None,
                    value => {
                        let value = text(value).ok_or_else(not_a_text)?;
                        Some(Entry { version: Version::Value(value.clone()), value })
                    }
                });
            }
        }
        if entries.len() == keys.len() { Ok(entries) } else { Err(unexpected_reply("MGET")) }
    }

    fn each(&mut self, folder: &str, see: &mut See<'_>) -> Result<(), Error> {
        let names = script::names(self.folder(), folder);
        let answers = self.connection.ask(&[command(&["SMEMBERS", &names])])?;
        let mut names = Vec::new();
        for answer in answers {
            let Value::Array(members) = ok_or_diagnose(answer, self.store)? else {
                return Err(unexpected_reply("SMEMBERS"));
            };
            for member in members {
                names.push(text(member).ok_or_else(not_a_text)?);
            }
        }
        let inner = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for names in names.chunks(EACH) {
            let keys: Vec<String> = names.iter().map(|name| format!("{inner}{name}")).collect();
            let entries = self.read(&keys.iter().map(String::as_str).collect::<Vec<_>>())?;
            // One that was removed meanwhile is none.
            for (name, entry) in names.iter().zip(entries) {
                if let Some(entry) = entry {
                    see(name.clone(), entry)?;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, folder: &str) -> Result<u64, Error> {
        let names = script::names(self.folder(), folder);
        match self.read_only(&[command(&["SCARD", &names])])?.pop() {
            Some(Value::Int(count)) => Ok(count.unsigned_abs()),
            _ => Err(unexpected_reply("SCARD")),
        }
    }

    fn commit(&mut self, changes: &[Change<'_>]) -> Result<bool, Error> {
        let command = script::commit(changes, self.folder());
        match self.write(command, |answer| *answer == Value::Int(1))? {
            Value::Int(number) => Ok(number == 1),
            _ => Err(unexpected_reply("EVAL")),
        }
    }

    fn ensure_durable(&mut self) -> Result<(), Error> {
        RedisSession::ensure_durable(self)
    }

    fn now(&mut self) -> Result<i64, Error> {
        let answer = self.connection.ask(&[command(&["TIME"])])?.pop().unwrap_or_default();
        let Value::Array(time) = ok_or_diagnose(answer, self.store)? else {
            return Err(unexpected_reply("TIME"));
        };
        let mut numbers = time.into_iter().map(|part| text(part)?.parse::<i64>().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(seconds), Some(micros)) => {
                Ok(seconds.saturating_mul(1000).saturating_add(micros / 1000))
            }
            _ => Err(unexpected_reply("TIME")),
        }
    }

    fn end(self) {}
}

fn not_a_text() -> Error {
    Error::problem("its folder has a value that is no text; name another folder")
}
