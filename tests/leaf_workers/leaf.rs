//! What Leaf 1.0.1 does in ZooKeeper when it starts and while it runs: each request as Curator
//! sends it, byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;

/// A server of Leaf.
pub struct Leaf {
    socket: TcpStream,
    number: i32,
    folder: String,
    ip: String,
}

const PORT: &str = "8080";
const NO_NODE: i32 = -101;
const NODE_EXISTS: i32 = -110;

impl Leaf {
    pub fn connect(port: u16, name: &str, ip: &str) -> Leaf {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        // Version 0, no change seen, a session of 6 s, and neither session nor password yet.
        let mut request =
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x17\x70\0\0\0\0\0\0\0\0\0\0\0\x10".to_vec();
        request.extend([0; 16]);
        request.push(0);
        send(&mut socket, &request);
        receive(&mut socket);
        let folder = format!("/snowflake/{name}/forever");
        Leaf { socket, number: 0, folder, ip: ip.to_owned() }
    }

    /// The worker id that it starts with at the time `now`, on a machine without the file of an
    /// earlier start; `None` if it refuses. With such a file, it would go on with the id in that.
    pub fn start(&mut self, now: i64) -> Option<u64> {
        let folder = self.folder.clone();
        if self.ask(3, &[&text(&folder), b"\0"]).0 == NO_NODE {
            // Which number the node has is not looked at.
            self.create(now);
            return Some(0);
        }
        let (_, children) = self.ask(8, &[&text(&folder), b"\0"]);
        let mut own = None;
        for name in strings(&children) {
            let mut parts = name.split('-');
            let (server, number) = (parts.next().unwrap(), parts.next().unwrap());
            let number: u64 = number.parse().unwrap();
            if server == format!("{}:{PORT}", self.ip) {
                own = Some((name.clone(), number));
            }
        }
        let Some((name, number)) = own else {
            let path = self.create(now);
            return Some(path.rsplit('-').next().unwrap().parse().unwrap());
        };
        let data = self.data(&format!("{folder}/{name}"));
        (self.time_of(&data) <= now).then_some(number)
    }

    /// Writes the time into the node with this number.
    pub fn beat(&mut self, number: u64, now: i64) {
        let path = self.path(number);
        let data = self.endpoint(now);
        assert_eq!(self.ask(5, &[&text(&path), &text(&data), b"\xff\xff\xff\xff"]).0, 0);
    }

    /// The time in the node with this number.
    pub fn time(&mut self, number: u64) -> i64 {
        let path = self.path(number);
        let data = self.data(&path);
        self.time_of(&data)
    }

    /// Puts any text in place of it.
    pub fn spoil(&mut self, number: u64, data: &str) {
        let path = self.path(number);
        assert_eq!(self.ask(5, &[&text(&path), &text(data), b"\xff\xff\xff\xff"]).0, 0);
    }

    /// The time in a node, which must be as Jackson reads it for Leaf: with these members alone.
    fn time_of(&self, data: &str) -> i64 {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(data).unwrap();
        assert_eq!(members.keys().collect::<Vec<_>>(), ["ip", "port", "timestamp"], "{data}");
        assert_eq!(members["ip"], *self.ip);
        assert_eq!(members["port"], PORT);
        members["timestamp"].as_i64().unwrap()
    }

    /// Makes a node of this server.
    pub fn create(&mut self, now: i64) -> String {
        let path = format!("{}/{}:{PORT}-", self.folder, self.ip);
        let data = self.endpoint(now);
        loop {
            let (code, answer) = self.make(&path, &data, 2);
            if code == 0 {
                return string(&answer);
            }
            assert_eq!(code, NO_NODE);
            // As `creatingParentsIfNeeded` does.
            let ends: Vec<usize> = path.match_indices('/').map(|(end, _)| end).collect();
            for end in &ends[1..] {
                if self.ask(3, &[&text(&path[..*end]), b"\0"]).0 == NO_NODE {
                    let (code, _) = self.make(&path[..*end], "", 0);
                    assert!([0, NODE_EXISTS].contains(&code), "{code}");
                }
            }
        }
    }

    fn make(&mut self, path: &str, data: &str, flags: u8) -> (i32, Vec<u8>) {
        let everybody = b"\0\0\0\x01\0\0\0\x1f\0\0\0\x05world\0\0\0\x06anyone";
        self.ask(1, &[&text(path), &text(data), everybody, &[0, 0, 0, flags]])
    }

    fn path(&self, number: u64) -> String {
        format!("{}/{}:{PORT}-{number:010}", self.folder, self.ip)
    }

    fn endpoint(&self, now: i64) -> String {
        format!("{{\"ip\":\"{}\",\"port\":\"{PORT}\",\"timestamp\":{now}}}", self.ip)
    }

    fn data(&mut self, path: &str) -> String {
        let (code, answer) = self.ask(4, &[&text(path), b"\0"]);
        assert_eq!(code, 0, "{path}");
        string(&answer)
    }

    fn ask(&mut self, operation: u8, parts: &[&[u8]]) -> (i32, Vec<u8>) {
        self.number += 1;
        let mut request = self.number.to_be_bytes().to_vec();
        request.extend([0, 0, 0, operation]);
        request.extend(parts.concat());
        send(&mut self.socket, &request);
        let answer = receive(&mut self.socket);
        assert_eq!(answer[..4], self.number.to_be_bytes());
        (i32::from_be_bytes(answer[12..16].try_into().unwrap()), answer[16..].to_vec())
    }
}

fn send(socket: &mut TcpStream, bytes: &[u8]) {
    socket.write_all(&[&length(bytes)[..], bytes].concat()).unwrap();
}

fn receive(socket: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    socket.read_exact(&mut length).unwrap();
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    socket.read_exact(&mut bytes).unwrap();
    bytes
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap().to_be_bytes()
}

fn text(text: &str) -> Vec<u8> {
    [&length(text.as_bytes())[..], text.as_bytes()].concat()
}

/// The text at the start.
fn string(bytes: &[u8]) -> String {
    let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
    String::from_utf8(bytes[4..4 + length].to_vec()).unwrap()
}

fn strings(bytes: &[u8]) -> Vec<String> {
    let count = u32::from_be_bytes(bytes[..4].try_into().unwrap());
    let mut rest = &bytes[4..];
    let next = |_| {
        let text = string(rest);
        rest = &rest[4 + text.len()..];
        text
    };
    (0..count).map(next).collect()
}
