//! Keys that are numbers, which others count up beside this library.
//!
//! Scripts take and return them as texts: a number of Lua's is exact up to 2^53 only.

use redis::{Cmd, Value};

use super::Redis;
use super::replies::{command, text, unexpected_reply};
use super::session::RedisSession;
use crate::backend::keys::{Deadline, Error};

/// Adds `ARGV[1]` to the number at the key, unless it is not there or below zero. Returns it as it
/// was and as it is.
const COUNT_UP: &str = r"
local before = redis.call('GET', KEYS[1])
if not before or string.sub(before, 1, 1) == '-' then return {before, before} end
redis.call('INCRBY', KEYS[1], ARGV[1])
return {before, redis.call('GET', KEYS[1])}
";

/// Sets the number at the key to `ARGV[2]` if it is `ARGV[1]`.
const REPLACE: &str = r"
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
";

/// Sets the number at the key to `ARGV[1]` if the key is not there. Returns what is there.
const BEGIN: &str = r"
redis.call('SETNX', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])
";

/// How many keys a server looks at before it serves others.
const AT_ONCE: &str = "1000";

/// What became of a number that was to be counted up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It was this before, and is that now. Where both are the same, it was below zero.
    From(i64, i64),
    /// It is not there.
    Missing,
    /// It would be larger than the largest number, and is as it was.
    TooLarge,
}

impl Redis {
    /// The number at `key`, if it is there.
    pub fn counter(&self, key: &str, deadline: &Deadline) -> Result<Option<i64>, Error> {
        let get = [command(&["GET", key])];
        let mut answers = self.call(deadline, |server| {
            let answers = server.read_only(&get)?;
            server.ensure_durable()?;
            Ok(answers)
        })?;
        number(key, answers.pop().unwrap_or_default())
    }

    /// The number at `key`, which begins at `number` if it is not there.
    pub fn begin_counter(&self, key: &str, start: i64, deadline: &Deadline) -> Result<i64, Error> {
        let script = script(BEGIN, key, &[&start.to_string()]);
        let answer = self.call(deadline, |server| server.write(script, |_| true))?;
        number(key, answer)?.ok_or_else(|| unexpected_reply("EVAL"))
    }

    /// Adds `count` to the number at `key`.
    pub fn count_up(&self, key: &str, count: i64, deadline: &Deadline) -> Result<Counted, Error> {
        let script = script(COUNT_UP, key, &[&count.to_string()]);
        let parts = match self.call(deadline, |server| server.write(script, |_| true)) {
            Ok(Value::Array(parts)) => parts,
            Ok(_) => return Err(unexpected_reply("EVAL")),
            Err(Error::Other(message)) if message.to_string().contains("would overflow") => {
                return Ok(Counted::TooLarge);
            }
            Err(error) => return Err(error),
        };
        let mut numbers = parts.into_iter().map(|part| number(key, part));
        let mut next = || numbers.next().transpose().map(Option::flatten);
        Ok(match (next()?, next()?) {
            (Some(before), Some(after)) => Counted::From(before, after),
            _ => Counted::Missing,
        })
    }

    /// Sets the number at `key` to `to` if it is `from`. Returns whether it was.
    pub fn replace_counter(
        &self,
        key: &str,
        [from, to]: [i64; 2],
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        let script = script(REPLACE, key, &[&from.to_string(), &to.to_string()]);
        let is_one = |answer: &Value| *answer == Value::Int(1);
        Ok(is_one(&self.call(deadline, |server| server.write(script, is_one))?))
    }

    /// All keys that begin and end so and are numbers, with what is between. The server looks at
    /// all keys of the database, some at a time.
    pub fn counters(
        &self,
        ends: [&str; 2],
        deadline: &Deadline,
    ) -> Result<Vec<(String, i64)>, Error> {
        self.call(deadline, |server| scan(server, ends))
    }
}

/// All keys with these two ends that are numbers, with what is between the ends.
fn scan(
    session: &mut RedisSession<'_>,
    [start, end]: [&str; 2],
) -> Result<Vec<(String, i64)>, Error> {
    let (mut keys, mut cursor) = (Vec::new(), "0".to_owned());
    loop {
        // A pattern would need escapes. What it leaves in is looked at below.
        let pattern = format!("{start}*{end}");
        let arguments = ["SCAN", &cursor, "MATCH", &pattern, "COUNT", AT_ONCE];
        let mut answers = session.read_only(&[command(&arguments)])?;
        let Some(Value::Array(parts)) = answers.pop() else { return Err(unexpected_reply("SCAN")) };
        let mut parts = parts.into_iter();
        cursor = parts.next().and_then(text).ok_or_else(|| unexpected_reply("SCAN"))?;
        let Some(Value::Array(page)) = parts.next() else { return Err(unexpected_reply("SCAN")) };
        keys.extend(page.into_iter().filter_map(text));
        if cursor == "0" {
            break;
        }
    }
    // A scan may name a key more than once.
    keys.sort_unstable();
    keys.dedup();
    let commands: Vec<Cmd> = keys.iter().map(|key| command(&["GET", key])).collect();
    let answers = session.read_only(&commands)?;
    session.ensure_durable()?;
    let mut counters = Vec::new();
    for (key, answer) in keys.iter().zip(answers) {
        let between = key.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        if let (Some(name), Some(number)) = (between, number(key, answer)?) {
            counters.push((name.to_owned(), number));
        }
    }
    Ok(counters)
}

fn script(text: &str, key: &str, values: &[&str]) -> Cmd {
    let mut command = command(&["EVAL", text, "1", key]);
    for value in values {
        command.arg(*value);
    }
    command
}

/// The number in an answer; `None` if it has none.
fn number(key: &str, answer: Value) -> Result<Option<i64>, Error> {
    if matches!(answer, Value::Nil | Value::Boolean(false)) {
        return Ok(None);
    }
    let text = text(answer).unwrap_or_default();
    // Only as Redis writes it: Redis counts up no other form, such as 0100, and `REPLACE`, which
    // compares texts, never finds one.
    let number = text.parse().ok().filter(|number: &i64| number.to_string() == text);
    number.map(Some).ok_or_else(|| {
        Error::problem(format!("its key {key} is {text:?}, and no number; see who has set it"))
    })
}
