//! Servers that speak as Redis does and keep what they are told in another way, by what they say of
//! themselves.

use super::replies::Info;

/// A server that is another than Redis and Valkey.
struct Other {
    /// What it has in `INFO`, and a part of the value; empty where the value is its version.
    sign: (&'static str, &'static str),
    name: &'static str,
    /// What is said of it, after the name.
    why: &'static str,
}

const OTHERS: &[Other] = &[
    Other {
        sign: ("dragonfly_version", ""),
        name: "Dragonfly",
        why: "which has no append-only file to keep what it confirms",
    },
    Other {
        sign: ("executable", "keydb"),
        name: "KeyDB",
        why: "of which it is not known that it keeps what it confirms",
    },
    Other {
        sign: ("garnet_version", ""),
        name: "Garnet",
        why: "which confirms before it writes its log, unless started with --aof-commit-wait, and \
              tells nobody whether it was",
    },
    Other {
        sign: ("kvrocks_version", ""),
        name: "Kvrocks",
        why: "which confirms what is not on its disk, unless rocksdb.write_options.sync is yes \
              there, and on which nobody has tried whether ids stay unique",
    },
    Other {
        sign: ("pika_version", ""),
        name: "Pika",
        why: "which keeps a log of its own and tells nobody whether it syncs that",
    },
    Other {
        sign: ("os", "Amazon ElastiCache"),
        name: "Amazon ElastiCache",
        why: "which keeps no append-only file, so that a failover forgets what was confirmed",
    },
    Other {
        sign: ("os", "Amazon MemoryDB"),
        name: "Amazon MemoryDB",
        why: "which spreads keys over a cluster, where they cannot be written together, and \
              shows no settings",
    },
    Other {
        sign: ("upstash_version", ""),
        name: "Upstash",
        why: "which shows no settings that tell whether it keeps what it confirms",
    },
];

/// Which of them answers so to `INFO`, with its version if it tells that, and why not to use it.
pub fn find(info: &Info<'_>) -> Option<String> {
    OTHERS.iter().find_map(|Other { sign: (field, part), name, why }| {
        let value = info.get(field).filter(|value| value.contains(part))?;
        let version = if part.is_empty() { format!(" {value}") } else { String::new() };
        Some(format!("it is {name}{version}, {why}"))
    })
}
