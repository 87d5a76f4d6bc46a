//! The Lua script of a commit.

use redis::Cmd;

use crate::backend::keys::{Action, Change, Version};

/// Compares each key with what it must hold, then writes all or nothing.
///
/// `KEYS` are the keys, and then the set of names of each one's folder: all are named, so that a
/// user without a right to one of them is refused before anything is written. Of `ARGV`, each key
/// has three: what it must hold, behind `=`, or nothing if it must not be there; what becomes of
/// it: `-` to stay, `x` to go, or the new value behind `=`; and its name in its folder.
///
/// An error in the middle of a script leaves what it has written. So all that can fail comes before
/// the first write that matters: what is no text fails `GET`; a user who may not remove fails to
/// remove what is never there; and one who may not write, a server without memory, with a broken
/// disk, or that is a replica fail the first write, which only adds a name.
pub const COMMIT: &str = r"
local count = #KEYS / 2
local removes = false
for i = 1, count do
    local there, must = redis.call('GET', KEYS[i]), ARGV[3 * i - 2]
    if must == '' then
        if there then return 0 end
    elseif not there or '=' .. there ~= must then
        return 0
    end
    removes = removes or ARGV[3 * i - 1] == 'x'
end
if removes then
    redis.call('DEL', KEYS[1] .. '.')
    redis.call('SREM', KEYS[count + 1], '')
end
for i = 1, count do
    if string.sub(ARGV[3 * i - 1], 1, 1) == '=' then
        redis.call('SADD', KEYS[count + i], ARGV[3 * i])
    end
end
for i = 1, count do
    local action = ARGV[3 * i - 1]
    if string.sub(action, 1, 1) == '=' then
        redis.call('SET', KEYS[i], string.sub(action, 2))
    elseif action == 'x' then
        redis.call('DEL', KEYS[i])
        redis.call('SREM', KEYS[count + i], ARGV[3 * i])
    end
end
return 1
";

/// The command that runs [`COMMIT`]. Sent whole each time, it needs no second attempt after a
/// restart, which forgets scripts.
pub fn commit(changes: &[Change<'_>], folder: &str) -> Cmd {
    let mut command = Cmd::new();
    command.arg("EVAL").arg(COMMIT).arg(2 * changes.len());
    for change in changes {
        command.arg(key(folder, change.key));
    }
    for change in changes {
        command.arg(names(folder, parts(change.key).0));
    }
    for change in changes {
        let must = match change.version {
            None => String::new(),
            Some(Version::Value(value)) => format!("={value}"),
            // No key has the version of another store.
            Some(Version::Number(number)) => format!("#{number}"),
        };
        let action = match change.action {
            Action::Check => "-".to_owned(),
            Action::Remove => "x".to_owned(),
            Action::Write(value) => format!("={value}"),
        };
        command.arg(must).arg(action).arg(parts(change.key).1);
    }
    command
}

/// The key in the database.
pub fn key(folder: &str, key: &str) -> String {
    format!("{folder}/{key}")
}

/// The set of the names in a folder below `folder`. No name is empty, so that it is no other key.
pub fn names(folder: &str, inner: &str) -> String {
    if inner.is_empty() { format!("{folder}/") } else { format!("{folder}/{inner}/") }
}

/// The folder of a key and its name there.
fn parts(key: &str) -> (&str, &str) {
    key.rsplit_once('/').unwrap_or(("", key))
}
