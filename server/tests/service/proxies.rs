//! Proxies for Redis between clients and several services.

use std::fs;
use std::io::BufReader;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::resp::Client;
use crate::common::{FOREVER, Server, folder, free_port};

const TOKEN: &str = "one-long-secret-of-somebody";

/// A proxy that ends with its test.
struct Proxy {
    child: Child,
    port: u16,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    fn connect(&self) -> Client<TcpStream> {
        let start = Instant::now();
        loop {
            match TcpStream::connect(("127.0.0.1", self.port)) {
                Ok(stream) => return Client(BufReader::new(stream)),
                Err(error) => assert!(start.elapsed() < FOREVER, "{error}"),
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The settings are those of the service's README.
#[test]
#[ignore = "needs twemproxy"]
fn twemproxy_passes_numbers_of_tags_from_several_services() {
    let shared = folder();
    let tokens = format!("[[token]]\ntoken = '{TOKEN}'\ntags = ['*']\nadmin = true\n");
    fs::write(shared.path().join("tokens.toml"), tokens).unwrap();
    let path = |name: &str| shared.path().join(name).display().to_string();
    let (db, tokens) = (path("ids.db"), format!("--tokens={}", path("tokens.toml")));
    let options = ["--resp-listen=127.0.0.1:0", "--header-timeout=1h", &*tokens];
    let mut services: Vec<Server> = (0..2).map(|_| Server::start_with(&db, &options)).collect();
    let tags: Vec<String> = (0..20).map(|shop| format!("{shop}-orders-of-shop")).collect();
    let bearer = format!("authorization: Bearer {TOKEN}");
    let headers = ["content-type: application/json", &*bearer];
    for tag in &tags {
        let created = services[0].send("PUT", &format!("/v1/tags/{tag}"), &headers, "{}");
        assert_eq!(created.status, 201, "{created:?}");
    }
    let page = include_str!("../../../docs/service/redis.md");
    let settings = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let resp = |index: usize| services[index].resp.split_once("://").unwrap().1.to_owned();
    let port = free_port();
    let settings = settings
        .unwrap()
        .replace("127.0.0.1:6379", &format!("127.0.0.1:{port}"))
        .replace("TOKEN", TOKEN)
        .replace("ids-1:6380", &resp(0))
        .replace("ids-2:6380", &resp(1));
    let file = path("nutcracker.yml");
    fs::write(&file, settings).unwrap();
    let child = Command::new("nutcracker")
        .args(["-c", &file, "-s", &free_port().to_string(), "-a", "127.0.0.1"])
        .args(["-o", &path("nutcracker.log"), "-p", &path("nutcracker.pid")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let proxy = Proxy { child, port };
    let mut client = proxy.connect();
    assert_eq!(client.ask(&format!("AUTH {TOKEN}")), "+OK");
    for tag in &tags {
        assert_eq!(client.ask(&format!("INCR {tag}")), ":1");
        assert_eq!(client.ask(&format!("INCRBY {tag} 1")), ":2");
        assert_eq!(client.ask(&format!("EXISTS {tag}")), ":1");
        assert_eq!(client.ask(&format!("TYPE {tag}")), "+tag");
    }
    assert_eq!(client.ask("EXISTS nope"), ":0");
    // Each tag has its service, and both are used.
    let used = |service: &Server| {
        let status = service.send("GET", "/v1/status", &[&*bearer], "").json();
        status["tags"].as_array().map_or(0, Vec::len)
    };
    let counts: Vec<usize> = services.iter().map(used).collect();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    // What the proxy does not know ends the connection.
    client.send(crate::common::resp::encoded(&format!("TAG.NEXT {}", tags[0])));
    assert!(client.is_over());
    // One service ends, and the other one gives the numbers of all tags.
    drop(services.remove(0).stop());
    let start = Instant::now();
    for tag in &tags {
        loop {
            let mut client = proxy.connect();
            assert_eq!(client.ask(&format!("AUTH {TOKEN}")), "+OK");
            let answer = client.ask(&format!("INCR {tag}"));
            if answer.starts_with(':') {
                assert!(crate::common::resp::number(&answer) > 2, "{answer}");
                break;
            }
            assert!(start.elapsed() < FOREVER, "{answer}");
        }
    }
}
