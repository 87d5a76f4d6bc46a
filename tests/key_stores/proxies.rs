//! What stands between programs and three members of etcd: HAProxy, and etcd's own proxies.

use std::fmt::Write;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use uidring::segment::{SegmentSource, Tag};
use uidring::{RegistryOptions, Store, UidGenerator};

use crate::causes::with_causes;
use crate::key_servers::etcd::{Etcds, exchange, free_port};

/// It ends with this.
struct Proxy {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// HAProxy in front of these members, by turns: of connections in the mode `tcp`, and of
    /// requests in the mode `http`.
    fn haproxy(mode: &str, members: &Etcds) -> Proxy {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let mut text = format!(
            "defaults\n mode {mode}\n retries 1\n option redispatch\n timeout connect 2s\n \
             timeout client 60s\n timeout server 60s\nlisten etcd\n bind 127.0.0.1:{port}\n \
             balance roundrobin\n"
        );
        for member in 0..3 {
            let place = members.place(member);
            writeln!(text, " server m{member} {place} check inter 200ms").unwrap();
        }
        let settings = folder.path().join("settings");
        fs::write(&settings, text).unwrap();
        let mut command = Command::new("haproxy");
        command.arg("-f").arg(settings);
        Proxy::start(command, port, folder)
    }

    /// What `etcd KIND` is, in front of these members.
    fn of_etcd(kind: &str, members: &Etcds) -> Proxy {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let mut command = Command::new("etcd");
        command.args([kind, "start", &format!("--endpoints={}", members.places())]);
        command.arg(format!("--listen-addr=127.0.0.1:{port}")).current_dir(folder.path());
        if kind == "grpc-proxy" {
            // From 3.5 on it is a client of its own, and ends where nobody answers there.
            command.arg(format!("--advertise-client-url=127.0.0.1:{port}"));
        }
        Proxy::start(command, port, folder)
    }

    fn start(mut command: Command, port: u16, folder: tempfile::TempDir) -> Proxy {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("the proxy is installed");
        let (since, place) = (Instant::now(), format!("127.0.0.1:{port}"));
        // It listens before it serves anybody.
        let request = b"GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        while exchange(&place, request).is_empty() {
            assert!(since.elapsed() < Duration::from_secs(60), "{command:?} answers");
            sleep(Duration::from_millis(20));
        }
        Proxy { process, port, _folder: folder }
    }

    fn url(&self) -> String {
        format!("etcd://127.0.0.1:{}/ids", self.port)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs etcd's server and HAProxy"]
fn connections_that_go_to_members_by_turns_are_served_on_etcd() {
    let mut members = Etcds::start(3, &[]);
    let proxy = Proxy::haproxy("tcp", &members);
    super::contract::check(&proxy.url());

    // Each of them may fail, the leader as well.
    let tags = Store::open(proxy.url()).unwrap().segments().unwrap();
    tags.create("orders", &Tag::new().step(1)).unwrap();
    let mut next = 1;
    for member in 0..3 {
        members.kill(member);
        let since = Instant::now();
        for _ in 0..6 {
            // A call may fail while there is no leader, and numbers may be missing then.
            let number = loop {
                match tags.load("orders", None) {
                    Ok(segment) => break segment.first,
                    Err(error) => assert!(since.elapsed() < Duration::from_secs(60), "{error}"),
                }
            };
            assert!(number >= next, "{number} comes after {next}");
            next = number + 1;
        }
        members.restart(&[member]);
    }
}

#[test]
#[ignore = "needs etcd's server and HAProxy"]
fn requests_of_a_connection_that_go_to_members_by_turns_are_refused_on_etcd() {
    let members = Etcds::start(3, &[]);
    let proxy = Proxy::haproxy("http", &members);
    let text = refusal(&proxy);
    assert!(text.contains("several members answer behind this address"), "{text}");
}

/// It passes connections on.
#[test]
#[ignore = "needs etcd's server"]
fn etcds_gateway_is_served() {
    let members = Etcds::start(3, &[]);
    super::contract::check(&Proxy::of_etcd("gateway", &members).url());
}

#[test]
#[ignore = "needs etcd's server"]
fn etcds_proxy_for_grpc_is_refused() {
    let members = Etcds::start(3, &[]);
    let text = refusal(&Proxy::of_etcd("grpc-proxy", &members));
    assert!(text.contains("it has no gateway for JSON") && text.contains("a grpc-proxy"), "{text}");
}

fn refusal(proxy: &Proxy) -> String {
    let store = Store::open(proxy.url()).unwrap().with_timeout(Duration::from_secs(30));
    let registry = store.registry_with(RegistryOptions::new()).unwrap();
    let builder = UidGenerator::builder().registry(registry);
    with_causes(&builder.start_deadline(Duration::ZERO).build().unwrap_err())
}
