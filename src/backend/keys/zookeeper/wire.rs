//! What clients and servers of ZooKeeper send each other, as its `zookeeper.jute` has it: numbers
//! in big-endian order, and texts behind their length. What comes from a server is read here alone.

/// The kinds of requests, and of the parts of a multi-operation and its answer.
pub mod operation {
    pub const CREATE: i32 = 1;
    pub const DELETE: i32 = 2;
    pub const EXISTS: i32 = 3;
    pub const GET_DATA: i32 = 4;
    pub const SET_DATA: i32 = 5;
    pub const SYNC: i32 = 9;
    pub const GET_CHILDREN: i32 = 12;
    pub const CHECK: i32 = 13;
    pub const MULTI: i32 = 14;
    pub const AUTH: i32 = 100;
    pub const CLOSE: i32 = -11;
    pub const ERROR: i32 = -1;
}

/// The codes of errors, by `KeeperException.Code`.
pub mod code {
    pub const OK: i32 = 0;
    /// The code of the parts of a multi-operation after the one that failed.
    pub const INCONSISTENT: i32 = -2;
    pub const CONNECTION_LOSS: i32 = -4;
    pub const TIMEOUT: i32 = -7;
    pub const NO_NODE: i32 = -101;
    pub const NO_AUTH: i32 = -102;
    pub const BAD_VERSION: i32 = -103;
    pub const NODE_EXISTS: i32 = -110;
    pub const SESSION_EXPIRED: i32 = -112;
    pub const AUTH_FAILED: i32 = -115;
    pub const SESSION_MOVED: i32 = -118;
    pub const NOT_READ_ONLY: i32 = -119;
    pub const SASL_REQUIRED: i32 = -124;
    pub const QUOTA_EXCEEDED: i32 = -125;
    pub const THROTTLED: i32 = -127;
}

/// The version of a node that fits whatever version it has.
pub const ANY_VERSION: i32 = -1;

/// The number of a request that the server takes for one to authenticate.
pub const AUTH_NUMBER: i32 = -4;

/// A part of a request.
#[derive(Default)]
pub struct Body(Vec<u8>);

impl Body {
    pub fn new() -> Body {
        Body::default()
    }

    #[must_use]
    pub fn int(mut self, number: i32) -> Body {
        self.0.extend(number.to_be_bytes());
        self
    }

    #[must_use]
    pub fn long(mut self, number: i64) -> Body {
        self.0.extend(number.to_be_bytes());
        self
    }

    #[must_use]
    pub fn flag(mut self, flag: bool) -> Body {
        self.0.push(flag.into());
        self
    }

    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Body {
        let mut body = self.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        body.0.extend(bytes);
        body
    }

    #[must_use]
    pub fn text(self, text: &str) -> Body {
        self.bytes(text.as_bytes())
    }

    #[must_use]
    pub fn then(mut self, other: &Body) -> Body {
        self.0.extend(&other.0);
        self
    }

    /// What is sent: the length, and the body.
    pub fn framed(&self) -> Vec<u8> {
        Body::new().bytes(&self.0).0
    }
}

/// Who may use a node that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Everybody,
    /// Those as whom this session has authenticated.
    Authenticated,
}

/// A request to make a node, as a part of a multi-operation has it, too.
pub fn create(path: &str, data: &str, access: Access, is_sequential: bool) -> Body {
    /// Reading, writing, making, removing, and giving access.
    const ALL: i32 = 31;
    let (scheme, id) = match access {
        Access::Everybody => ("world", "anyone"),
        Access::Authenticated => ("auth", ""),
    };
    let body = Body::new().text(path).text(data).int(1).int(ALL).text(scheme).text(id);
    body.int(if is_sequential { 2 } else { 0 })
}

/// A request to give a node its data.
pub fn set_data(path: &str, data: &str, version: i32) -> Body {
    Body::new().text(path).text(data).int(version)
}

/// A request that needs a node at a version: to check or to remove it.
pub fn at_version(path: &str, version: i32) -> Body {
    Body::new().text(path).int(version)
}

/// A request to read a node, or about it, without a watch.
pub fn read(path: &str) -> Body {
    Body::new().text(path).flag(false)
}

/// A request of several that are all carried out, or none.
pub fn multi<'a>(parts: impl IntoIterator<Item = &'a (i32, Body)>) -> Body {
    let part = |body: Body, (operation, part): &(i32, Body)| {
        body.int(*operation).flag(false).int(-1).then(part)
    };
    parts.into_iter().fold(Body::new(), part).int(-1).flag(true).int(-1)
}

/// A request for a session. A server whose newest change is older than `seen` refuses it.
pub fn connect(seen: i64, timeout_ms: i32) -> Body {
    let no_session = [0; 16];
    Body::new().int(0).long(seen).int(timeout_ms).long(0).bytes(&no_session).flag(false)
}

/// Reads what a server has sent. Each method returns `None` at its end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn int(&mut self) -> Option<i32> {
        self.take(4)?.try_into().ok().map(i32::from_be_bytes)
    }

    fn long(&mut self) -> Option<i64> {
        self.take(8)?.try_into().ok().map(i64::from_be_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        self.take(1).map(|byte| byte != [0])
    }

    /// A node that was made without data has the length -1.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        match self.int()? {
            -1 => Some(&[]),
            length => self.take(usize::try_from(length).ok()?),
        }
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn stat(&mut self) -> Option<Stat> {
        let [_czxid, _mzxid, _ctime, mtime] =
            [self.long()?, self.long()?, self.long()?, self.long()?];
        let [version, cversion, _aversion] = [self.int()?, self.int()?, self.int()?];
        let _owner = self.long()?;
        let [_length, children] = [self.int()?, self.int()?];
        let _pzxid = self.long()?;
        // The server tells twice the nodes made, less those that are there: so many changes.
        let made = i64::midpoint(cversion.into(), children.into());
        Some(Stat { mtime, version, made, children })
    }
}

/// What is told of a node beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// When its data was written last, by the clock of the leader, in milliseconds since 1970.
    pub mtime: i64,
    /// How often its data was written since it was made.
    pub version: i32,
    /// How many nodes were made below it: the number of the next sequential one.
    pub made: i64,
    /// How many nodes are below it.
    pub children: i32,
}

/// The answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub struct Reply {
    /// The number of the request.
    pub number: i32,
    /// The number of the newest change that the server knows; not above 0 if it tells none.
    pub zxid: i64,
    pub code: i32,
    pub body: Vec<u8>,
}

impl Reply {
    /// Reads the bytes behind the length.
    pub fn parse(bytes: &[u8]) -> Option<Reply> {
        let mut reader = Reader(bytes);
        let (number, zxid, code) = (reader.int()?, reader.long()?, reader.int()?);
        Some(Reply { number, zxid, code, body: reader.0.to_vec() })
    }

    /// The stat that is the whole answer.
    pub fn stat(&self) -> Option<Stat> {
        Reader(&self.body).stat()
    }

    /// The data of a node.
    pub fn data(&self) -> Option<(&[u8], Stat)> {
        let mut reader = Reader(&self.body);
        Some((reader.bytes()?, reader.stat()?))
    }

    /// The path of a node that was made.
    pub fn path(&self) -> Option<&str> {
        Reader(&self.body).text()
    }

    /// The names of the nodes below one, and what is told of that one.
    pub fn children(&self) -> Option<(Vec<&str>, Stat)> {
        let mut reader = Reader(&self.body);
        let count = reader.int()?.max(0);
        let names = (0..count).map(|_| reader.text()).collect::<Option<_>>()?;
        Some((names, reader.stat()?))
    }

    /// The code of each part of a multi-operation.
    pub fn parts(&self) -> Option<Vec<i32>> {
        let mut reader = Reader(&self.body);
        let mut codes = Vec::new();
        loop {
            let (operation, is_end, _) = (reader.int()?, reader.flag()?, reader.int()?);
            if is_end {
                return Some(codes);
            }
            let mut code = code::OK;
            match operation {
                operation::CREATE => drop(reader.text()?),
                operation::SET_DATA => drop(reader.stat()?),
                operation::CHECK | operation::DELETE => {}
                operation::ERROR => code = reader.int()?,
                _ => return None,
            }
            codes.push(code);
        }
    }
}

/// The answer to a request for a session.
#[derive(Debug, PartialEq, Eq)]
pub struct Connected {
    pub session: i64,
    pub timeout_ms: i32,
    pub is_read_only: bool,
}

impl Connected {
    /// Reads the bytes behind the length.
    pub fn parse(bytes: &[u8]) -> Option<Connected> {
        let mut reader = Reader(bytes);
        let (_protocol, timeout_ms, session) = (reader.int()?, reader.int()?, reader.long()?);
        let _password = reader.bytes()?;
        // Servers before 3.5 know of no other kind of session, and end here.
        let is_read_only = reader.flag().unwrap_or(false);
        Some(Connected { session, timeout_ms, is_read_only })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Connected, Reply, code};

    /// What ZooKeeper 3.8.0 answered.
    #[test]
    fn the_answers_of_a_server_are_read() {
        let bytes = b"\0\0\0\0\0\0\x0f\xa0\x01\0\0\x1b\xda\xe8\0\0\0\0\0\x10\xaa\x10\xd0\xb5\xef\
            \x05\xdd\xed\x98\x0c\xc5<P5\xf9\xea\0";
        let connected = Connected::parse(bytes).unwrap();
        assert_eq!((connected.timeout_ms, connected.is_read_only), (4_000, false));
        assert_eq!(connected.session, 0x0100_001b_dae8_0000);
        // A node made, removed, and another checked.
        let bytes = b"\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\x02/x\0\0\0\
            \x02\0\0\0\0\0\0\0\0\r\0\0\0\0\0\xff\xff\xff\xff\x01\xff\xff\xff\xff";
        let reply = Reply::parse(bytes).unwrap();
        assert_eq!((reply.number, reply.zxid, reply.code), (1, 2, code::OK));
        assert_eq!(reply.parts(), Some(vec![code::OK; 3]));
        // Two checks, of which the second failed, and a node that was not made.
        let bytes = b"\0\0\0\x01\0\0\0\0\0\0\0\x03\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\xff\
            \xff\xff\xff\0\xff\xff\xff\x99\xff\xff\xff\x99\xff\xff\xff\xff\0\xff\xff\xff\xfe\xff\
            \xff\xff\xfe\xff\xff\xff\xff\x01\xff\xff\xff\xff";
        let parts = Reply::parse(bytes).unwrap().parts();
        assert_eq!(parts, Some(vec![code::OK, code::BAD_VERSION, code::INCONSISTENT]));
        for length in 0..bytes.len() {
            assert_eq!(Reply::parse(&bytes[..length]).and_then(|reply| reply.parts()), None);
        }
    }
}
