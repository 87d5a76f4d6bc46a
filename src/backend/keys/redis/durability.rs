//! Whether a server keeps what it confirms, by what it says of itself.
//!
//! It does if it appends each write to its file and syncs that before it answers. Each reason not
//! to be sure of that is an error that names the setting, its value, and what to set.

use redis::{Cmd, Value};

use super::replies::{
    Info, command, number_of_watchers, numbers, ok_or_diagnose, setting, text, unexpected_reply,
};
use super::{Redis, unsupported};
use crate::backend::keys::Error;

/// The settings that are asked for, in this order.
const SETTINGS: [&str; 5] =
    ["appendonly", "appendfsync", "no-appendfsync-on-rewrite", "maxmemory-policy", "maxmemory"];

/// The channel over which Sentinels speak, by each server that they watch.
const SENTINELS: &str = "__sentinel__:hello";

/// How a server keeps what it confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persistence {
    /// Whether it tells by `WAITAOF` that a write is on its disk.
    pub has_waitaof: bool,
    /// Whether it syncs before it answers, and not up to a second later.
    pub syncs_always: bool,
}

/// The commands whose answers [`judge`] reads.
pub fn questions() -> Vec<Cmd> {
    let sections = ["server", "persistence", "replication", "cluster"];
    let mut all: Vec<Cmd> = sections.map(|section| command(&["INFO", section])).into();
    all.push(command(&["PUBSUB", "NUMSUB", SENTINELS]));
    all.extend(SETTINGS.map(|setting| command(&["CONFIG", "GET", setting])));
    all
}

/// Whether a server that answers so to [`questions`] keeps what it confirms. Its replicas count as
/// none if the address says that they are never promoted.
pub fn judge(answers: Vec<Value>, store: &Redis) -> Result<Persistence, Error> {
    let mut answers = answers.into_iter();
    let mut info = String::new();
    for answer in answers.by_ref().take(4) {
        info += &text(ok_or_diagnose(answer, store)?).ok_or_else(|| unexpected_reply("INFO"))?;
        info.push('\n');
    }
    let info = Info(&info);
    check_kind(&info)?;
    let watchers = answers.next().unwrap_or_default();
    let watchers = number_of_watchers(ok_or_diagnose(watchers, store)?)
        .ok_or_else(|| unexpected_reply("PUBSUB"))?;
    check_standalone(&info, watchers, store.never_promoted)?;
    if store.only_for_tests {
        // Nothing is waited for.
        return Ok(Persistence { has_waitaof: false, syncs_always: true });
    }
    if info.get("aof_enabled") == Some("0") {
        return Err(no_append_only_file("no"));
    }
    let mut settings = Vec::new();
    for (name, answer) in SETTINGS.into_iter().zip(answers) {
        settings.push(setting(name, answer, store)?);
    }
    let [file, sync, no_sync, policy, limit] = &settings[..] else {
        return Err(unexpected_reply("CONFIG"));
    };
    if file != "yes" {
        return Err(no_append_only_file(file));
    }
    if info.get("aof_enabled") != Some("1") {
        return Err(unexpected_reply("INFO"));
    }
    let has_waitaof = info.version() >= [7, 2, 0];
    let syncs_always = check_syncs(&info, sync, no_sync, has_waitaof)?;
    if policy != "noeviction" && limit != "0" {
        return Err(Error::problem(format!(
            "its maxmemory-policy is {policy} and its maxmemory is {limit}, so that it may throw \
             keys away; run CONFIG SET maxmemory-policy noeviction and CONFIG REWRITE, or use a \
             Redis for ids alone"
        )));
    }
    if let Some(status) = info.get("aof_last_write_status").filter(|status| *status != "ok") {
        return Err(Error::problem(format!(
            "its aof_last_write_status is {status}: it cannot write its append-only file; see its \
             log, and whether its disk is full"
        )));
    }
    // While the file is written for the first time after it was switched on, nothing is kept, and a
    // server that does not tell by WAITAOF says the same of each later time.
    let is_rewritten = ["aof_rewrite_in_progress", "aof_rewrite_scheduled"];
    if !has_waitaof && is_rewritten.into_iter().any(|name| info.get(name) != Some("0")) {
        return Err(unreachable(
            "it rewrites its append-only file, and before Redis 7.2 none tells whether it keeps \
             anything until then; wait until it has, or use Redis 7.2 or later",
        ));
    }
    Ok(Persistence { has_waitaof, syncs_always })
}

/// Fails for what is no Redis that serves by itself, now.
fn check_kind(info: &Info<'_>) -> Result<(), Error> {
    let problem = |what: &str| {
        Err(Error::problem(format!(
            "{what}; give the address of a Redis or Valkey that stands \
                                    alone"
        )))
    };
    if let Some(version) = info.get("uidring_version") {
        return problem(&format!(
            "it is uidring-server {version}, which gives ids and keeps nothing for others"
        ));
    }
    if let Some(server) = unsupported::find(info) {
        return problem(&server);
    }
    let Some(version) = info.get("redis_version") else {
        return problem("it does not say that it is Redis");
    };
    // Some of those before 7.0 answer before they sync where they have several threads, clients
    // that wait or slow scripts, and some go on when the sync has failed. Before 7.0.3, none syncs
    // the folder in which it has renamed its file.
    if info.version() < [7, 0, 3] {
        return Err(Error::problem(format!(
            "its version is {version}, and this store needs Redis 7.0.3 or later: what an older \
             one has confirmed may be gone after a power failure, also with appendfsync always; \
             upgrade it"
        )));
    }
    // Valkey has the other name.
    match info.get("redis_mode").or_else(|| info.get("server_mode")) {
        Some("standalone") => {}
        Some("sentinel") => {
            return problem(
                "it is a Sentinel, whose failovers forget writes that were confirmed (its \
                 redis_mode is sentinel)",
            );
        }
        Some(mode) => {
            return problem(&format!(
                "its redis_mode is {mode}, and a failover in it forgets writes that were confirmed"
            ));
        }
        None => return problem("it does not say its redis_mode"),
    }
    if info.get("cluster_enabled") == Some("1") {
        return problem(
            "its cluster_enabled is 1, and a failover in a cluster forgets writes that were \
             confirmed",
        );
    }
    match info.get("loading") {
        Some("0") => Ok(()),
        _ => Err(unreachable("it still reads its files after a start; wait until it has")),
    }
}

/// Fails for a replica, for one that was promoted, and for a server whose replica may take its
/// place: replicas follow a little behind, and one that is promoted lacks what it had not got yet.
fn check_standalone(info: &Info<'_>, watchers: i64, never_promoted: bool) -> Result<(), Error> {
    match info.get("role") {
        Some("master") => {}
        Some("slave") => {
            let (host, port) = (info.get("master_host"), info.get("master_port"));
            return Err(Error::problem(format!(
                "it is a replica (its role is slave), which takes no writes; give the address of \
                 its master, {}:{}, if that has no failover",
                host.unwrap_or("?"),
                port.unwrap_or("?")
            )));
        }
        role => {
            let role = role.unwrap_or("unknown");
            return Err(Error::problem(format!(
                "its role is {role}; give the address of a master that stands alone"
            )));
        }
    }
    // A server has one only from its promotion to its next start.
    if let Some(former) = info.get("master_replid2")
        && former.bytes().any(|digit| digit != b'0')
    {
        return Err(Error::problem(format!(
            "it is a replica that was promoted (its master_replid2 is {former}), and lacks what \
             its master had confirmed and not sent to it yet; go back to that master, or treat it \
             as an old copy, as the documentation of the store of Redis says, and restart it"
        )));
    }
    if watchers > 0 {
        return Err(Error::problem(format!(
            "Sentinels watch it ({watchers} subscribe to {SENTINELS}), and their failover forgets \
             writes that were confirmed; use a Redis that no Sentinel watches"
        )));
    }
    match info.get("connected_slaves") {
        Some("0") => Ok(()),
        Some(_) if never_promoted => Ok(()),
        count => Err(Error::problem(format!(
            "its connected_slaves is {}, and a failover to a replica forgets writes that were \
             confirmed; use a Redis without replicas, or, if none of them is ever promoted, say so \
             in the address with replicas=never-promoted",
            count.unwrap_or("unknown")
        ))),
    }
}

/// Whether a server with these settings syncs before it answers; it fails where it does not sync in
/// time.
fn check_syncs(
    info: &Info<'_>,
    sync: &str,
    no_sync: &str,
    has_waitaof: bool,
) -> Result<bool, Error> {
    let syncs_always = match (sync, confirms_too_early(info)) {
        ("always", _) => true,
        ("everysec", Some(server)) => {
            return Err(Error::problem(format!(
                "its appendfsync is everysec, and {server} says by WAITAOF that a write is on the \
                 disk up to a second before it is; run CONFIG SET appendfsync always and CONFIG \
                 REWRITE, or use Redis 7.2, or 7.4.3 or later"
            )));
        }
        ("everysec", None) if has_waitaof => false,
        _ => {
            return Err(Error::problem(format!(
                "its appendfsync is {sync}, so that a power failure could take ids back that have \
                 been given; run CONFIG SET appendfsync always and CONFIG REWRITE"
            )));
        }
    };
    if no_sync != "no" {
        return Err(Error::problem(format!(
            "its no-appendfsync-on-rewrite is {no_sync}, so that nothing is synced while it \
             rewrites its file; run CONFIG SET no-appendfsync-on-rewrite no and CONFIG REWRITE"
        )));
    }
    Ok(syncs_always)
}

/// The name of a server whose `WAITAOF` is wrong unless it syncs before it answers: Redis 7.4.0 to
/// 7.4.2, and Valkey from 8.0 on. The candidates for 8.0 of both have the version 7.9.
fn confirms_too_early(info: &Info<'_>) -> Option<String> {
    if let Some(version) = info.get("valkey_version") {
        return (numbers(version) >= [7, 3, 0]).then(|| format!("Valkey {version}"));
    }
    let version = info.version();
    let early = [[7, 4, 0]..[7, 4, 3], [7, 5, 0]..[8, 0, 0]];
    let is_early = early.iter().any(|versions| versions.contains(&version));
    is_early.then(|| format!("Redis {}", info.get("redis_version").unwrap_or_default()))
}

fn no_append_only_file(value: &str) -> Error {
    Error::problem(format!(
        "its appendonly is {value}, so that it forgets what it has confirmed when it ends, which \
         only_for_tests=yes in the address permits; run CONFIG SET appendonly yes, CONFIG SET \
         appendfsync always and CONFIG REWRITE"
    ))
}

fn unreachable(problem: &str) -> Error {
    Error::Unreachable { problem: problem.to_owned(), source: None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::{Error, Persistence, Redis, judge};

    fn store() -> Redis {
        Redis::at("redis://h/0/ids").unwrap()
    }

    /// What Redis 7.0.15 answers, without the lines between.
    const REDIS: [&str; 4] = [
        "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n\
         executable:/usr/bin/redis-server\r\n",
        "# Persistence\r\nloading:0\r\nasync_loading:0\r\naof_enabled:1\r\n\
         aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\naof_last_write_status:ok\r\n",
        "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\
         master_replid2:0000000000000000000000000000000000000000\r\n",
        "# Cluster\r\ncluster_enabled:0\r\n",
    ];
    /// What Valkey 9.1.2 answers in place of the first.
    const VALKEY: &str = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\n\
        valkey_version:9.1.2\r\nserver_mode:standalone\r\nexecutable:/usr/bin/valkey-server\r\n";
    const SETTINGS: [(&str, &str); 5] = [
        ("appendonly", "yes"),
        ("appendfsync", "always"),
        ("no-appendfsync-on-rewrite", "no"),
        ("maxmemory-policy", "noeviction"),
        ("maxmemory", "0"),
    ];

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    /// The judgement of a server with these `lines` in place of those of the same names, and with
    /// these settings.
    fn of(
        info: [&str; 4],
        lines: &[(&str, &str)],
        changed: &[(&str, &str)],
    ) -> Result<Persistence, Error> {
        let mut answers: Vec<Value> = info
            .iter()
            .map(|section| {
                let changed = section.lines().map(|line| {
                    let (name, value) = line.split_once(':').unwrap_or((line, ""));
                    let value = lines.iter().find(|it| it.0 == name).map_or(value, |it| it.1);
                    format!("{name}:{value}\r\n")
                });
                bulk(&changed.collect::<String>())
            })
            .collect();
        answers.push(Value::Array(vec![bulk("__sentinel__:hello"), Value::Int(0)]));
        for (name, value) in SETTINGS {
            let value = changed.iter().find(|it| it.0 == name).map_or(value, |it| it.1);
            answers.push(Value::Array(vec![bulk(name), bulk(value)]));
        }
        judge(answers, &store())
    }

    fn problem(result: Result<Persistence, Error>) -> String {
        match result.unwrap_err() {
            Error::Unusable { problem, .. } => problem,
            Error::Unreachable { problem, .. } => format!("later: {problem}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn servers_that_keep_what_they_confirm_are_known() {
        let always = Persistence { has_waitaof: false, syncs_always: true };
        assert_eq!(of(REDIS, &[], &[]).unwrap(), always);
        let valkey = [VALKEY, REDIS[1], REDIS[2], REDIS[3]];
        assert_eq!(
            of(valkey, &[], &[]).unwrap(),
            Persistence { has_waitaof: true, syncs_always: true }
        );
        // It tells when the file was written for the first time.
        of(valkey, &[("aof_rewrite_in_progress", "1")], &[]).unwrap();
        of(REDIS, &[], &[("maxmemory", "1000")]).unwrap();
        of(REDIS, &[], &[("maxmemory-policy", "allkeys-lru")]).unwrap();
        for version in ["7.2.0", "7.4.1", "8.0.3", "10.0.0", "255.255.255"] {
            assert!(
                of(REDIS, &[("redis_version", version)], &[]).unwrap().has_waitaof,
                "{version}"
            );
        }
        for version in ["7.0.3", "7.0.15", "7.1.241", "7.1"] {
            assert!(
                !of(REDIS, &[("redis_version", version)], &[]).unwrap().has_waitaof,
                "{version}"
            );
        }
    }

    #[test]
    fn versions_that_sync_too_late_or_too_little_are_refused() {
        for version in ["6.2.14", "6.2.21", "5.0.0", "7", "7.0.0", "7.0.2", "x"] {
            let problem = problem(of(REDIS, &[("redis_version", version)], &[]));
            let message = format!("its version is {version}, and this store needs Redis 7.0.3");
            assert!(problem.starts_with(&message), "{problem}");
        }
    }

    /// By redis/redis#13793. Valkey has what that mends from its 8.0 on, by its source.
    #[test]
    fn versions_that_tell_too_early_are_refused_with_a_sync_each_second() {
        let each_second = [("appendfsync", "everysec")];
        let valkey = [VALKEY, REDIS[1], REDIS[2], REDIS[3]];
        for version in ["7.2.0", "7.2.4", "7.2.14", "7.4.3", "8.0.0", "8.2.1", "255.255.255"] {
            let persistence = of(REDIS, &[("redis_version", version)], &each_second).unwrap();
            assert_eq!(
                persistence,
                Persistence { has_waitaof: true, syncs_always: false },
                "{version}"
            );
        }
        for version in ["7.4.0", "7.4.1", "7.4.2", "7.9.227"] {
            let lines = [("redis_version", version)];
            let problem = problem(of(REDIS, &lines, &each_second));
            let message = format!("its appendfsync is everysec, and Redis {version} says");
            assert!(problem.starts_with(&message), "{problem}");
            assert!(of(REDIS, &lines, &[]).unwrap().syncs_always, "{version}");
        }
        for version in ["7.2.4", "7.2.11"] {
            of(valkey, &[("valkey_version", version)], &each_second).unwrap();
        }
        for version in ["7.9.240", "8.0.0", "8.1.4", "9.1.2", "10.0.0"] {
            let lines = [("valkey_version", version)];
            let problem = problem(of(valkey, &lines, &each_second));
            let message = format!("its appendfsync is everysec, and Valkey {version} says");
            assert!(problem.starts_with(&message), "{problem}");
            assert!(of(valkey, &lines, &[]).unwrap().syncs_always, "{version}");
        }
    }

    #[test]
    fn servers_that_do_not_are_refused() {
        for (name, value, message) in [
            ("loading", "1", "later: it still reads its files"),
            ("redis_mode", "cluster", "its redis_mode is cluster"),
            ("redis_mode", "sentinel", "it is a Sentinel"),
            ("cluster_enabled", "1", "its cluster_enabled is 1"),
            ("role", "slave", "it is a replica (its role is slave)"),
            // KeyDB.
            ("role", "active-replica", "its role is active-replica"),
            (
                "master_replid2",
                "d320928c17852392fb0784749d539b38ca4e2e37",
                "it is a replica that was promoted (its master_replid2 is d320928c",
            ),
            ("connected_slaves", "2", "its connected_slaves is 2"),
            ("aof_enabled", "0", "its appendonly is no"),
            ("aof_last_write_status", "err", "its aof_last_write_status is err"),
            ("aof_rewrite_in_progress", "1", "later: it rewrites its append-only file"),
            ("aof_rewrite_scheduled", "1", "later: it rewrites its append-only file"),
        ] {
            let problem = problem(of(REDIS, &[(name, value)], &[]));
            assert!(problem.starts_with(message), "{name}:{value}: {problem}");
        }
        for (name, value, message) in [
            ("appendonly", "no", "its appendonly is no"),
            ("appendfsync", "everysec", "its appendfsync is everysec"),
            ("appendfsync", "no", "its appendfsync is no"),
            ("no-appendfsync-on-rewrite", "yes", "its no-appendfsync-on-rewrite is yes"),
        ] {
            let problem = problem(of(REDIS, &[], &[(name, value)]));
            assert!(problem.starts_with(message), "{name} {value}: {problem}");
        }
        for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-ttl"] {
            let settings = [("maxmemory-policy", policy), ("maxmemory", "1000")];
            let problem = problem(of(REDIS, &[], &settings));
            let message = format!("its maxmemory-policy is {policy} and its maxmemory is 1000");
            assert!(problem.starts_with(&message), "{problem}");
        }
    }

    /// The first section of `INFO`, as the manuals and the sources have it, and as users show it.
    #[test]
    fn servers_of_another_kind_are_refused() {
        for (server, message) in [
            // dragonflydb.io/docs/command-reference.
            (
                "# Server\r\ndragonfly_version:df-v1.21.2\r\nredis_version:7.2.0\r\n\
                 redis_mode:standalone\r\n",
                "it is Dragonfly df-v1.21.2, which has no append-only file",
            ),
            // Snapchat/KeyDB#981.
            (
                "# Server\r\nredis_version:6.3.4\r\nredis_mode:standalone\r\n\
                 executable:/data/keydb-server\r\n",
                "it is KeyDB, of which it is not known",
            ),
            // microsoft/garnet, GarnetInfoMetrics.cs.
            (
                "# Server\r\ngarnet_version:1.0.50\r\nos:Unix 6.1.0.25\r\n",
                "it is Garnet 1.0.50, which",
            ),
            // apache/kvrocks, server.cc.
            (
                "# Server\r\nversion:2.9.0\r\nkvrocks_version:2.9.0\r\nredis_version:4.0.0\r\n\
                 git_sha1:f2cbd4c\r\nredis_mode:standalone\r\n",
                "it is Kvrocks 2.9.0, which",
            ),
            // OpenAtomFoundation/pika, pika_admin.cc.
            ("# Server\r\npika_version:4.0.2\r\nos:Linux 6.1\r\n", "it is Pika 4.0.2, which"),
            // spryker/spryker-docs, and others that show it.
            (
                "# Server\r\nredis_version:7.1.0\r\nredis_mode:standalone\r\n\
                 os:Amazon ElastiCache\r\nexecutable:-\r\nconfig_file:-\r\n",
                "it is Amazon ElastiCache, which",
            ),
            (
                "# Server\r\nredis_version:6.2.6\r\nredis_mode:cluster\r\nos:Amazon MemoryDB\r\n",
                "it is Amazon MemoryDB, which",
            ),
            (
                "# Server\r\nupstash_version:1.13.3\r\nredis_version:6.2.6\r\n\
                 redis_mode:standalone\r\n",
                "it is Upstash 1.13.3, which",
            ),
            (
                "# Server\r\nredis_version:7.0.0\r\nuidring_version:0.1.0\r\n",
                "it is uidring-server 0.1.0, which gives ids",
            ),
            ("# Server\r\n", "it does not say that it is Redis"),
            ("# Server\r\nredis_version:7.2.0\r\n", "it does not say its redis_mode"),
            ("", "it does not say that it is Redis"),
        ] {
            let problem = problem(of([server, REDIS[1], REDIS[2], REDIS[3]], &[], &[]));
            assert!(problem.starts_with(message), "{problem}");
        }
        // One that says too little.
        for silent in 1..3 {
            let mut info = REDIS;
            info[silent] = "# Nothing\r\n";
            of(info, &[], &[]).unwrap_err();
        }
    }

    /// What the managed ones answer, by their manuals, and others without a right.
    #[test]
    fn a_server_that_does_not_show_its_settings_is_refused() {
        for (answer, message) in [
            ("-ERR unknown command 'CONFIG', with args\r\n", "it does not answer CONFIG GET"),
            ("-NOPERM this user has no permissions\r\n", "Denied"),
            ("*0\r\n", "it has no setting appendonly"),
            ("*2\r\n$10\r\nappendfull\r\n$3\r\nyes\r\n", "it has no setting appendonly"),
            ("+OK\r\n", "its answer to CONFIG is not one of Redis"),
        ] {
            let answer = parse_redis_value(answer.as_bytes()).unwrap();
            let mut answers: Vec<Value> = REDIS.map(bulk).into();
            answers.push(Value::Array(vec![bulk("__sentinel__:hello"), Value::Int(0)]));
            answers.push(answer);
            let problem = problem(judge(answers, &store()));
            assert!(problem.starts_with(message), "{problem}");
        }
    }
}
