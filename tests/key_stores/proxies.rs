//! HAProxy between programs and three members of etcd.

use std::fmt::Write;
use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use uidring::segment::{SegmentSource, Tag};
use uidring::{RegistryOptions, Store, UidGenerator};

use crate::causes::with_causes;
use crate::key_servers::etcd::{Etcds, free_port};

/// It ends with this.
struct HaProxy {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl HaProxy {
    /// In front of these members, by turns: of connections in the mode `tcp`, and of requests in
    /// the mode `http`.
    fn start(mode: &str, members: &Etcds) -> HaProxy {
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
        command.arg("-f").arg(settings).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("haproxy is installed");
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(60), "haproxy listens");
            sleep(Duration::from_millis(20));
        }
        HaProxy { process, port, _folder: folder }
    }

    fn url(&self) -> String {
        format!("etcd://127.0.0.1:{}/ids", self.port)
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs etcd's server and HAProxy"]
fn connections_that_go_to_members_by_turns_are_served() {
    let mut members = Etcds::start(3, &[]);
    let proxy = HaProxy::start("tcp", &members);
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
fn requests_of_a_connection_that_go_to_members_by_turns_are_refused() {
    let members = Etcds::start(3, &[]);
    let proxy = HaProxy::start("http", &members);
    let registry = Store::open(proxy.url())
        .unwrap()
        .registry_with(RegistryOptions::new().leased(Duration::from_secs(60)));
    let error = UidGenerator::builder().registry(registry.unwrap()).build().unwrap_err();
    let text = with_causes(&error);
    assert!(text.contains("several members answer behind this address"), "{text}");
}
