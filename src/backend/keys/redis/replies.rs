//! Commands to a server, and what is read from its replies.

use redis::{Cmd, Value};

use super::Redis;
use super::diagnosis::{diagnose, message};
use crate::backend::keys::Error;

pub fn command(words: &[&str]) -> Cmd {
    let mut command = Cmd::new();
    for word in words {
        command.arg(*word);
    }
    command
}

/// The answer, unless it is an error.
pub fn ok_or_diagnose(answer: Value, store: &Redis) -> Result<Value, Error> {
    match answer {
        Value::ServerError(error) => Err(diagnose(&error, store)),
        answer => Ok(answer),
    }
}

/// The text of an answer that is one; `None` for another.
pub fn text(answer: Value) -> Option<String> {
    match answer {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text),
        Value::Okay => Some("OK".to_owned()),
        _ => None,
    }
}

/// The error of an answer that Redis would not give.
pub fn unexpected_reply(command: &str) -> Error {
    Error::problem(format!(
        "its answer to {command} is not one of Redis; see what the address is of"
    ))
}

/// The value of the setting `name` in the answer to `CONFIG GET`.
pub fn setting(name: &str, answer: Value, store: &Redis) -> Result<String, Error> {
    let pairs = match answer {
        Value::ServerError(error) if error.code() == "ERR" => {
            let message = message(&error, store);
            return Err(Error::Unusable {
                problem: format!(
                    "it does not answer CONFIG GET, as most of those that are run for others do \
                     not, so that nobody can tell whether it keeps what it confirms (its {name}); \
                     use a Redis that answers"
                ),
                source: Some(message.into()),
            });
        }
        Value::ServerError(error) => return Err(diagnose(&error, store)),
        Value::Array(parts) => parts,
        _ => return Err(unexpected_reply("CONFIG")),
    };
    let mut pairs = pairs.into_iter();
    while let (Some(key), Some(value)) = (pairs.next().and_then(text), pairs.next()) {
        if key.eq_ignore_ascii_case(name) {
            return text(value).ok_or_else(|| unexpected_reply("CONFIG"));
        }
    }
    Err(Error::problem(format!(
        "it has no setting {name}, so that nobody can tell whether it keeps what it confirms; use \
         Redis or Valkey"
    )))
}

/// How many subscribe to the channel, by the answer to `PUBSUB NUMSUB`.
pub fn number_of_watchers(answer: Value) -> Option<i64> {
    let Value::Array(parts) = answer else { return None };
    match (parts.first()?, parts.get(1)?) {
        (_, Value::Int(number)) => Some(*number),
        (_, Value::BulkString(digits)) => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

/// The answer to `INFO`: lines with a name, a colon and a value.
pub struct Info<'a>(pub &'a str);

impl Info<'_> {
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = |line| str::strip_prefix(line, name)?.strip_prefix(':');
        self.0.lines().find_map(value).map(str::trim)
    }

    /// The version. A server with another name says which Redis it is as.
    pub fn version(&self) -> [u32; 3] {
        numbers(self.get("redis_version").unwrap_or_default())
    }
}

/// The first three numbers of a version.
pub fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}
