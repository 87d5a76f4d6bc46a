//! What a server says of itself: whether it keeps what it confirms, and why it gives no session.
//!
//! ZooKeeper tells its clients none of its settings. What it tells operators is asked for: the
//! four-letter word `mntr`, and the admin server. Either may be switched off.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::Duration;

use serde_json::{Map, Value};
use ureq::Agent;

use super::connection::Server;
use crate::backend::address::key_server::server_name;
use crate::backend::call::Deadline;
use crate::backend::error::Error;
use crate::backend::unsupported::{Alternatives, unsupported};

/// The longest answer to a word, and of the admin server.
const LONGEST: u64 = 1 << 20;
/// How long it may take to connect to an admin server. Many servers have none, or one that a
/// firewall hides.
const ADMIN_CONNECT: Duration = Duration::from_millis(250);
/// How long an admin server may take to answer. The first answer takes it longest.
const ADMIN_ANSWER: Duration = Duration::from_secs(2);

const INSTEAD: Alternatives = Alternatives { spoken: "ZooKeeper", tried: "ZooKeeper itself" };
/// What `ClickHouse` Keeper does in another way: it has a setting of its own for syncs.
const KEEPER: &str = "it syncs its log only if its force_sync is true, and loses what its disk has \
                      not got otherwise";

/// Refuses a server that may lose what it has confirmed, as far as it tells, and one that is no
/// ZooKeeper unless it `allows_unsupported` ones. A session has been opened on it, so that it has
/// written something.
pub fn check(
    server: &Server<'_>,
    admin: u16,
    has_user: bool,
    allows_unsupported: bool,
    deadline: &Deadline,
) -> Result<(), Error> {
    let counts = four_letter_word(server, "mntr", deadline);
    let counts = counts.as_ref().ok().map(|answer| Counts::of(answer));
    if !allows_unsupported && counts.as_ref().is_some_and(Counts::are_of_keeper) {
        return Err(unsupported("ClickHouse Keeper", KEEPER, &INSTEAD));
    }
    // A count that was reset a moment ago may be ahead of the other. At the second look it is not.
    let is_unsynced_still = || {
        four_letter_word(server, "mntr", deadline)
            .is_ok_and(|answer| Counts::of(&answer).is_unsynced())
    };
    if counts.is_some_and(|counts| counts.is_unsynced()) && is_unsynced_still() {
        return Err(unsynced(server, "writes and syncs nothing, as it does with forceSync=no"));
    }
    let properties = if admin == 0 { None } else { properties(server, admin, deadline) };
    properties.map_or(Ok(()), |properties| check_properties(server, &properties, has_user))
}

/// Refuses a server with these properties if it may lose what it has confirmed.
fn check_properties(
    server: &Server<'_>,
    properties: &Map<String, Value>,
    has_user: bool,
) -> Result<(), Error> {
    let property = |name: &str| properties.get(&format!("zookeeper.{name}"))?.as_str();
    if property("forceSync") == Some("no") {
        return Err(unsynced(server, "has the setting forceSync=no"));
    }
    let is_true = |value: &str| value.eq_ignore_ascii_case("true");
    if property("snapshot.trust.empty").is_some_and(is_true) {
        return Err(Error::problem(format!(
            "the server {} has the setting snapshot.trust.empty=true, and so begins anew, without \
             what it has confirmed, where its snapshots are gone; set it to false",
            server.name()
        )));
    }
    if has_user && property("skipACL") == Some("yes") {
        return Err(Error::problem(format!(
            "the server {} has the setting skipACL=yes, and so lets everybody write what is to be \
             this user's alone; set it to no, or leave the user out of the address",
            server.name()
        )));
    }
    Ok(())
}

fn unsynced(server: &Server<'_>, what: &str) -> Error {
    Error::problem(format!(
        "the server {} {what}, and may lose what it has confirmed when its machine fails; set \
         forceSync=yes",
        server.name()
    ))
}

/// What a server counts, as it answers to `mntr`.
struct Counts<'a>(BTreeMap<&'a str, &'a str>);

impl Counts<'_> {
    fn of(answer: &str) -> Counts<'_> {
        Counts(answer.lines().filter_map(|line| line.split_once('\t')).collect())
    }

    /// Whether they are those of `ClickHouse` Keeper, whose versions begin with a letter.
    fn are_of_keeper(&self) -> bool {
        self.0.get("zk_version").is_some_and(|version| version.starts_with('v'))
    }

    /// Whether it has written to its log, and has synced nothing. With `forceSync=no` it does not
    /// even count. Servers before 3.6 have neither count.
    fn is_unsynced(&self) -> bool {
        let count = |name| self.0.get(name)?.trim().parse::<u64>().ok();
        count("zk_cnt_sync_processor_queue_flush_time_ms").is_some_and(|writes| writes > 0)
            && count("zk_cnt_fsynctime") == Some(0)
    }
}

/// The system properties of the server, if its admin server tells them. All settings that are not
/// of the first versions are among them, also those of its file.
fn properties(server: &Server<'_>, port: u16, deadline: &Deadline) -> Option<Map<String, Value>> {
    // Most of the time is left to what the call is for. Zero would be no limit.
    let time = ADMIN_ANSWER.min(deadline.left() / 2).max(Duration::from_millis(1));
    let config = Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .timeout_connect(Some(ADMIN_CONNECT.min(time)))
        .timeout_global(Some(time))
        .user_agent(concat!("uidring/", env!("CARGO_PKG_VERSION")));
    let agent = Agent::new_with_config(config.build());
    let place = (server.place.0.clone(), port);
    let place = server_name(&place);
    let url = format!("http://{place}/commands/system_properties");
    let answer = agent.get(url).call().ok()?;
    let text = answer.into_body().into_with_config().limit(LONGEST).read_to_vec().ok()?;
    read_properties(&text)
}

/// The properties in the admin server's answer; `None` if it is that of another program.
fn read_properties(answer: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(answer) {
        Ok(Value::Object(map)) if map.get("command")? == "system_properties" => Some(map),
        _ => None,
    }
}

/// Why the server gave no session to a client that has seen the change `seen`.
pub fn explain_refusal(server: &Server<'_>, seen: i64, deadline: &Deadline) -> Error {
    let unreachable = |problem: String| Error::Unreachable { problem, source: None };
    let name = server.name();
    let Ok(answer) = four_letter_word(server, "srvr", deadline) else {
        let tls = match server.tls {
            None => "if it speaks TLS at this port, begin the address with zookeepers://; if not, ",
            Some(_) => "",
        };
        return unreachable(format!(
            "the server {name} closes each connection; {tls}see its log, and its limit of \
             connections of a client, maxClientCnxns"
        ));
    };
    let Status { mode, zxid } = Status::of(&answer);
    match mode {
        _ if answer.contains("not currently serving requests") => unreachable(format!(
            "the server {name} serves nobody for now; see that most servers of its ensemble run \
             and reach one another"
        )),
        Some("read-only") => unreachable(format!(
            "the server {name} takes no writes, as it is cut off from most servers of its \
             ensemble; see that they run and reach one another"
        )),
        Some(mode) if zxid.is_some_and(|zxid| zxid < seen) => {
            let zxid = zxid.unwrap_or_default();
            match mode {
                "standalone" => restored(&name, zxid, seen),
                // One that was deposed a moment ago may not know it yet.
                "leader" => unreachable(format!(
                    "the newest change of the server {name}, which says that it leads, has the \
                     number {zxid:#x}, and this process has seen {seen:#x}: another one leads by \
                     now, or the ensemble was restored from an old copy and may give again what \
                     was given since; see which it is if this lasts"
                )),
                _ => unreachable(format!(
                    "the server {name} is behind the others of its ensemble: its newest change has \
                     the number {zxid:#x}, and this process has seen {seen:#x}"
                )),
            }
        }
        _ => unreachable(format!(
            "the server {name} closed the connection without a word; see its log"
        )),
    }
}

/// The error of a single server that was set back.
fn restored(name: &str, zxid: i64, seen: i64) -> Error {
    Error::problem(format!(
        "the newest change of the server {name} has the number {zxid:#x}, and this process has \
         seen {seen:#x}: it may give again what was given since an old copy was made; put back \
         what was there, or have each generator that runs end, and raise what the copy says"
    ))
}

/// What a server answers to `srvr`.
struct Status<'a> {
    mode: Option<&'a str>,
    /// The number of its newest change.
    zxid: Option<i64>,
}

impl Status<'_> {
    fn of(answer: &str) -> Status<'_> {
        let value = |name| answer.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let zxid = value("Zxid:").and_then(|zxid| zxid.strip_prefix("0x"));
        Status {
            mode: value("Mode:"),
            zxid: zxid.and_then(|zxid| i64::from_str_radix(zxid, 16).ok()),
        }
    }
}

/// What the server answers to a four-letter word, on a connection that ends with it. Half of the
/// time is left to what the call is for.
fn four_letter_word(server: &Server<'_>, word: &str, deadline: &Deadline) -> io::Result<String> {
    let connected = server.connect(deadline, deadline.timeout.saturating_sub(deadline.left() / 2));
    let mut stream = connected.map_err(|_| io::Error::other("no connection"))?;
    stream.send(word.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer)?;
    if answer.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::{
        Counts, Deadline, Server, Status, check_properties, four_letter_word, read_properties,
    };

    /// Behind a proxy, another one may be asked, which is stopped.
    #[test]
    fn a_word_without_an_answer_leaves_time_for_the_call() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = ("127.0.0.1".to_owned(), silent.local_addr().unwrap().port());
        let deadline = Deadline::after(Duration::from_secs(2));
        assert!(four_letter_word(&Server { place: &place, tls: None }, "mntr", &deadline).is_err());
        assert!(!deadline.left().is_zero());
    }

    /// What ZooKeeper 3.8.0 answers, without the lines between.
    #[test]
    fn what_a_server_counts_says_whether_it_syncs() {
        let counts = |writes: &str, syncs: &str| {
            let answer = format!(
                "zk_version\t3.8.0-${{mvngit.commit.id}}, built on 2024-12-29 17:54 UTC\n\
                 zk_server_state\tstandalone\n\
                 zk_cnt_fsynctime\t{syncs}\n\
                 zk_cnt_sync_processor_queue_flush_time_ms\t{writes}\n"
            );
            Counts::of(&answer).is_unsynced()
        };
        assert!(counts("3", "0"));
        assert!(!counts("3", "3"));
        assert!(!counts("0", "0"));
        assert!(!Counts::of("zk_version\t3.4.13\n").is_unsynced());
        let off = "mntr is not executed because it is not in the whitelist.";
        assert!(!Counts::of(off).is_unsynced());
    }

    /// By clickhouse.com/docs/guides/sre/keeper/clickhouse-keeper.
    #[test]
    fn what_a_server_counts_says_whose_it_is() {
        for (answer, is_keeper) in [
            (
                "zk_version\tv21.11.1.1-prestable-7a4a0b0edef0ad6e0aa662cd3b90c3f4acf796e7\n\
                 zk_avg_latency\t0\nzk_server_state\tleader\n",
                true,
            ),
            ("zk_version\tv26.7.5.10\nzk_server_state\tstandalone\n", true),
            ("zk_version\t3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC\n", false),
            ("zk_version\t3.9.6--1, built on 2026-05-11 00:00 UTC\n", false),
            ("mntr is not executed because it is not in the whitelist.", false),
        ] {
            assert_eq!(Counts::of(answer).are_of_keeper(), is_keeper, "{answer}");
        }
    }

    /// What the admin server of ZooKeeper 3.8.0 answers, without most of it.
    #[test]
    fn a_setting_that_loses_writes_is_refused() {
        let server = Server { place: &("h".to_owned(), 2181), tls: None };
        let checked = |setting: &str, has_user| {
            let answer = format!(
                "{{\"java.version\" : \"17.0.15\", {setting}\n \"command\" : \
                 \"system_properties\", \"error\" : null}}"
            );
            let properties = read_properties(answer.as_bytes()).unwrap();
            check_properties(&server, &properties, has_user).map_err(|error| format!("{error:?}"))
        };
        checked("", true).unwrap();
        checked("\"zookeeper.forceSync\" : \"yes\",", true).unwrap();
        let error = checked("\"zookeeper.forceSync\" : \"no\",", false).unwrap_err();
        assert!(error.contains("forceSync=no"), "{error}");
        let error = checked("\"zookeeper.snapshot.trust.empty\" : \"true\",", false).unwrap_err();
        assert!(error.contains("snapshot.trust.empty=true"), "{error}");
        checked("\"zookeeper.skipACL\" : \"yes\",", false).unwrap();
        let error = checked("\"zookeeper.skipACL\" : \"yes\",", true).unwrap_err();
        assert!(error.contains("skipACL=yes"), "{error}");
        assert_eq!(read_properties(b"{\"command\": \"ruok\"}"), None);
        assert_eq!(read_properties(b"<html>"), None);
    }

    #[test]
    fn a_status_has_a_mode_and_the_newest_change() {
        let answer = "Zookeeper version: 3.8.0\nReceived: 6\nZxid: 0x100000003\nMode: follower\n";
        let Status { mode, zxid } = Status::of(answer);
        assert_eq!((mode, zxid), (Some("follower"), Some(0x1_0000_0003)));
        let Status { mode, zxid } = Status::of("Zxid: what\n");
        assert_eq!((mode, zxid), (None, None));
    }
}
