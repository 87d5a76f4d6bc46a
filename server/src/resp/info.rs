//! `INFO`, `CONFIG GET` and their like: what health checks and tools for Redis ask of a server.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::app::App;
use crate::resp::codec::Arguments;
use crate::resp::keys;
use crate::resp::protocol_error::escaped;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;
use crate::stats::commands;
use crate::stats::counters::sum;

/// The Redis whose protocol this is. Health checks call a server without a version down.
const REDIS_VERSION: &str = "7.0.0";

/// Answers `INFO`. What it tells a client without a token is no secret: clients read it before they
/// send one.
pub(crate) fn info(app: &App, token: Option<&[u8]>, arguments: Arguments<'_>, reply: &mut Reply) {
    let sections = sections(app, token);
    let is_all = |name: &[u8]| {
        [&b"all"[..], b"default", b"everything"].iter().any(|all| name.eq_ignore_ascii_case(all))
    };
    let is_wanted = |section: &str| {
        arguments.len() == 1
            || arguments
                .from(1)
                .any(|name| is_all(name) || name.eq_ignore_ascii_case(section.as_bytes()))
    };
    let shown: Vec<String> = sections
        .iter()
        .filter(|(name, _)| is_wanted(name))
        .map(|(name, fields)| {
            let lines = fields.iter().map(|(field, value)| format!("{field}:{value}\r\n"));
            format!("# {name}\r\n{}", lines.collect::<String>())
        })
        .collect();
    reply.verbatim(&shown.join("\r\n"));
}

type Section = (&'static str, Vec<(&'static str, String)>);

/// What `INFO` tells, in the sections and fields of Redis.
fn sections(app: &App, token: Option<&[u8]>) -> Vec<Section> {
    let uptime = app.watch.started.elapsed().unwrap_or_default().as_secs();
    let threads = app.counters.iter().map(|thread| &thread.requests.commands);
    let count = |totals: commands::CommandTotals| totals.kinds.iter().map(|kind| kind.1).sum();
    let answered: u64 = commands::totals(threads).map(|totals| -> u64 { count(totals) }).sum();
    let connections = sum(&app.counters, |of| &of.resp_connections);
    let memory = memory();
    // ORDERING: the counter guards no data.
    let open = app.connections.load(Ordering::Relaxed);
    let fixed = |pairs: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        pairs.iter().map(|&(name, value)| (name, value.to_owned())).collect()
    };
    let mut server = fixed(&[
        ("redis_version", REDIS_VERSION),
        ("redis_mode", "standalone"),
        ("server", "uidring"),
        ("uidring_version", env!("CARGO_PKG_VERSION")),
    ]);
    server.push(("uptime_in_seconds", uptime.to_string()));
    server.push(("uptime_in_days", (uptime / 86_400).to_string()));
    let clients = vec![
        ("connected_clients", open.to_string()),
        ("maxclients", app.options.limits.max_connections.to_string()),
        ("blocked_clients", "0".to_owned()),
    ];
    let memory = vec![
        ("used_memory", memory.to_string()),
        (
            "used_memory_human",
            format!("{}.{:02}M", memory >> 20, ((memory & 0xf_ffff) * 100) >> 20),
        ),
        ("used_memory_rss", memory.to_string()),
        ("maxmemory", "0".to_owned()),
        ("maxmemory_policy", "noeviction".to_owned()),
    ];
    let mut persistence = vec![("loading", u8::from(!app.has_started()).to_string())];
    persistence.extend(fixed(&[
        ("rdb_bgsave_in_progress", "0"),
        ("aof_enabled", "0"),
        ("aof_rewrite_in_progress", "0"),
    ]));
    let stats = vec![
        ("total_connections_received", connections.to_string()),
        ("total_commands_processed", answered.to_string()),
        ("rejected_connections", sum(&app.counters, |of| &of.turned_away).to_string()),
    ];
    let replication = fixed(&[("role", "master"), ("connected_slaves", "0")]);
    let tags = keys::used(app, token).len();
    let keyspace = match tags {
        0 => Vec::new(),
        tags => vec![("db0", format!("keys={tags},expires=0,avg_ttl=0"))],
    };
    vec![
        ("Server", server),
        ("Clients", clients),
        ("Memory", memory),
        ("Persistence", persistence),
        ("Stats", stats),
        ("Replication", replication),
        ("Cluster", fixed(&[("cluster_enabled", "0")])),
        ("Keyspace", keyspace),
    ]
}

/// The memory of this process in bytes, or 0 where the system does not tell.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Answers `CONFIG GET`, with the settings that clients look at. Nothing can be set.
pub(crate) fn config(
    app: &App,
    arguments: Arguments<'_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let subcommand = arguments.get(1).unwrap_or_default();
    if !subcommand.eq_ignore_ascii_case(b"GET") || arguments.len() < 3 {
        let advice = "CONFIG has GET name; options are set where the service is started";
        return Err(Refusal::argument(subcommand, advice));
    }
    let limits = &app.options.limits;
    let settings = [
        ("appendonly", "no".to_owned()),
        ("databases", "1".to_owned()),
        ("maxclients", limits.max_connections.to_string()),
        ("maxmemory", "0".to_owned()),
        ("maxmemory-policy", "noeviction".to_owned()),
        ("save", String::new()),
        ("timeout", limits.header_timeout.as_secs().to_string()),
    ];
    let found: Vec<_> = settings
        .into_iter()
        .filter(|(name, _)| {
            let is_asked =
                |asked: &[u8]| keys::is_match(&asked.to_ascii_lowercase(), name.as_bytes());
            arguments.from(2).any(is_asked)
        })
        .collect();
    reply.map(found.len());
    for (name, value) in found {
        reply.pair(name, &value);
    }
    Ok(())
}

/// The answer to `CLUSTER`: there is none.
pub(crate) fn cluster() -> Refusal {
    // The words by which clients know a server that stands alone.
    Refusal::error("This instance has cluster support disabled")
}

/// Answers `MODULE LIST`.
pub(crate) fn modules(arguments: Arguments<'_>, reply: &mut Reply) -> Result<(), Refusal> {
    let subcommand = arguments.get(1).unwrap_or_default();
    if !subcommand.eq_ignore_ascii_case(b"LIST") {
        let advice = format!("MODULE has LIST, and not '{}'", escaped(subcommand));
        return Err(Refusal::argument(subcommand, &advice));
    }
    reply.array(0);
    Ok(())
}

/// Answers `TIME` with the seconds since 1970 and the microseconds in the second.
pub(crate) fn time(reply: &mut Reply) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    reply.array(2);
    reply.bulk(now.as_secs().to_string().as_bytes());
    reply.bulk(now.subsec_micros().to_string().as_bytes());
}

/// Answers `ROLE`: a master without replicas.
pub(crate) fn role(reply: &mut Reply) {
    reply.array(3);
    reply.bulk(b"master");
    reply.integer(0);
    reply.array(0);
}
