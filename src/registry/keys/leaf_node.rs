//! The nodes of Leaf's servers: each has one below `/snowflake/NAME/forever`, named after its
//! address and a number that ZooKeeper counts up. The number is its worker id.

use serde_json::{Map, Value};

use crate::backend::keys::{Error, Node, NodeSession};

/// The random bits at the end of what this library writes.
const BITS: u32 = 64;

/// A server of Leaf, or what stands in for one.
#[derive(Clone, Debug)]
pub struct LeafServer {
    /// The path of the folder of all servers.
    folder: String,
    ip: String,
    port: String,
}

/// A node of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafNode {
    /// The worker id.
    pub number: u64,
    /// Nobody removes it.
    pub node: Node,
}

/// What a server writes in its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafTime {
    /// In milliseconds since 1970.
    pub ms: i64,
    /// The mark of what this library wrote: then no later millisecond was used. Leaf writes the
    /// time of its clock, every three seconds, and goes on.
    pub mark: Option<u64>,
}

impl LeafServer {
    /// The server with this `address`, `IP:PORT`, among those of `name`.
    pub fn new(name: &str, address: &str) -> Result<LeafServer, Error> {
        let is_name = !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.');
        if !is_name {
            return Err(Error::problem(format!("{name:?} is no name of Leaf's servers")));
        }
        // Leaf takes what follows the first hyphen for the number, in the nodes of all servers.
        let parts = address.rsplit_once(':').filter(|_| !address.contains(['/', '-', '\0']));
        let parts = parts.filter(|(ip, port)| !ip.is_empty() && port.parse::<u16>().is_ok());
        let Some((ip, port)) = parts else {
            return Err(Error::problem(format!(
                "{address:?} is no address of a server of Leaf; it is such as 10.0.0.1:8080, and \
                 has no hyphen, which Leaf could not read"
            )));
        };
        let folder = format!("/snowflake/{name}/forever");
        Ok(LeafServer { folder, ip: ip.to_owned(), port: port.to_owned() })
    }

    /// The path of the folder of all servers.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The data of a node that tells of `ms`, as Leaf's own: its members, in its order, as Jackson
    /// writes them. `mark` stands at the end in spaces and tabs, which no reader of JSON sees.
    pub fn data(&self, ms: i64, mark: u64) -> String {
        let (ip, port) = (Value::from(&*self.ip), Value::from(&*self.port));
        let mut data = format!("{{\"ip\":{ip},\"port\":{port},\"timestamp\":{ms}}}\n");
        data.extend((0..BITS).map(|bit| if mark >> bit & 1 == 1 { '\t' } else { ' ' }));
        data
    }

    fn prefix(&self) -> String {
        format!("{}:{}-", self.ip, self.port)
    }

    /// The number in the name of a node, if it is one of this server's.
    fn number(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&self.prefix())?;
        let is_number = digits.len() == 10 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    }
}

/// Reads the data of a node.
pub fn read_leaf(data: &str) -> Option<LeafTime> {
    let members: Map<String, Value> = serde_json::from_str(data).ok()?;
    let ms = members.get("timestamp")?.as_i64()?;
    Some(LeafTime { ms, mark: data.rsplit_once('\n').and_then(|(_, mark)| read_mark(mark)) })
}

/// Reads what `data` has at its end.
fn read_mark(text: &str) -> Option<u64> {
    let is_mark = text.len() == BITS as usize && text.bytes().all(|byte| b" \t".contains(&byte));
    let bits = text.bytes().rev().map(|byte| u64::from(byte == b'\t'));
    is_mark.then(|| bits.fold(0, |mark, bit| mark << 1 | bit))
}

impl LeafServer {
    /// The node of the server, if it has one: the newest, of several. Never that with the number 0:
    /// Leaf's servers that start where there is no node yet take the worker id 0 without reading
    /// which number they were given, all of them.
    pub fn find(&self, session: &mut NodeSession<'_>) -> Result<Option<LeafNode>, Error> {
        let names = session.children(&self.folder)?;
        let numbers = names.iter().filter_map(|name| Some((self.number(name)?, name)));
        let Some((number, name)) = numbers.max().filter(|(number, _)| *number > 0) else {
            return Ok(None);
        };
        let node = session.read(format!("{}/{name}", self.folder))?;
        Ok(Some(LeafNode { number, node }))
    }

    /// The number that the next node gets, at the least; `None` where there is no folder yet.
    pub fn next_number(&self, session: &mut NodeSession<'_>) -> Result<Option<u64>, Error> {
        session.made_below(&self.folder)
    }

    /// Makes a node of the server with this data. Everybody may write it, as the nodes that Leaf
    /// makes.
    pub fn make_node(&self, session: &mut NodeSession<'_>, data: &str) -> Result<LeafNode, Error> {
        session.make(&self.folder)?;
        let start = format!("{}/{}", self.folder, self.prefix());
        loop {
            let node = session.make_numbered(&start, data)?;
            let name = node.path.strip_prefix(&format!("{}/", self.folder));
            // A number above ten digits is no worker id in any case.
            let number = name.and_then(|name| self.number(name)).unwrap_or(u64::MAX);
            if number > 0 {
                return Ok(LeafNode { number, node });
            }
            // Not left to be taken for this server's.
            session.remove(&node.path)?;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{LeafServer, LeafTime, read_leaf};

    #[test]
    fn leafs_data_is_read_and_written() {
        let server = LeafServer::new("orders", "10.0.0.1:8080").unwrap();
        let ms = 1_588_421_624_602;
        for mark in [0, 5, u64::MAX - 1] {
            let time = LeafTime { ms, mark: Some(mark) };
            assert_eq!(read_leaf(&server.data(ms, mark)), Some(time));
        }
        let data = server.data(ms, 5);
        let leafs = "{\"ip\":\"10.0.0.1\",\"port\":\"8080\",\"timestamp\":1588421624602}";
        assert_eq!(data.trim_end(), leafs);
        assert_eq!(read_leaf(leafs), Some(LeafTime { ms, mark: None }));
        assert_eq!(read_leaf(&format!("{leafs}\n")), Some(LeafTime { ms, mark: None }));
        for other in ["", "{}", "{\"timestamp\":\"1\"}", "{\"timestamp\":1e99}", "[1]"] {
            assert_eq!(read_leaf(other), None, "{other}");
        }
    }

    #[test]
    fn a_node_is_a_servers_by_its_name() {
        let server = LeafServer::new("orders", "10.0.0.1:8080").unwrap();
        assert_eq!(server.number("10.0.0.1:8080-0000000017"), Some(17));
        for other in [
            "10.0.0.1:80800-0000000017",
            "0.0.0.1:8080-0000000017",
            "10.0.0.1:8080-17",
            "10.0.0.1:8080-+000000017",
            "10.0.0.1:8080-000000001x",
        ] {
            assert_eq!(server.number(other), None, "{other}");
        }
        for address in ["", "10.0.0.1", ":80", "my-host:80", "a/b:80", "h:x", "h:65536"] {
            LeafServer::new("orders", address).unwrap_err();
        }
        for name in ["", "a/b", "."] {
            LeafServer::new(name, "h:80").unwrap_err();
        }
        LeafServer::new("my-orders", "h:80").unwrap();
    }
}
