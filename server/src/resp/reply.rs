//! Writes answers in the Redis protocol, version 2 or 3.

/// The answers of a connection that are to be sent.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    /// Whether the client has asked for version 3 of the protocol.
    pub(crate) is_resp3: bool,
}

/// The line end of the protocol.
const END: &[u8] = b"\r\n";

impl Reply {
    /// A text without line ends.
    pub(crate) fn simple(&mut self, text: &str) {
        self.bytes.push(b'+');
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(END);
    }

    /// An error. Its first word is its kind.
    pub(crate) fn error(&mut self, text: &str) {
        self.bytes.push(b'-');
        // A line end would end the error.
        let is_end = |byte: u8| byte == b'\r' || byte == b'\n';
        self.bytes.extend(text.bytes().map(|byte| if is_end(byte) { b' ' } else { byte }));
        self.bytes.extend_from_slice(END);
    }

    fn head(&mut self, kind: u8, number: impl itoa::Integer) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        self.bytes.extend_from_slice(END);
    }

    pub(crate) fn integer(&mut self, number: impl itoa::Integer) {
        self.head(b':', number);
    }

    pub(crate) fn bulk(&mut self, text: &[u8]) {
        self.head(b'$', text.len());
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(END);
    }

    /// A name and its value, as of a map.
    pub(crate) fn pair(&mut self, name: &str, value: &str) {
        self.bulk(name.as_bytes());
        self.bulk(value.as_bytes());
    }

    /// A number as a text, because JavaScript has no exact numbers above 2^53.
    pub(crate) fn digits(&mut self, number: u64) {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(number).as_bytes();
        // The length of a number has one digit or two.
        let length = digits.len().to_le_bytes()[0];
        self.bytes.push(b'$');
        if length >= 10 {
            self.bytes.push(b'0' + length / 10);
        }
        self.bytes.push(b'0' + length % 10);
        self.bytes.extend_from_slice(END);
        self.bytes.extend_from_slice(digits);
        self.bytes.extend_from_slice(END);
    }

    /// A text for people.
    pub(crate) fn verbatim(&mut self, text: &str) {
        if self.is_resp3 {
            self.head(b'=', text.len() + 4);
            self.bytes.extend_from_slice(b"txt:");
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.extend_from_slice(END);
        } else {
            self.bulk(text.as_bytes());
        }
    }

    pub(crate) fn null(&mut self) {
        self.bytes.extend_from_slice(if self.is_resp3 { b"_\r\n" } else { b"$-1\r\n" });
    }

    /// Where version 2 has a list that is null.
    pub(crate) fn null_array(&mut self) {
        self.bytes.extend_from_slice(if self.is_resp3 { b"_\r\n" } else { b"*-1\r\n" });
    }

    /// Begins a list of `length` values, which follow.
    pub(crate) fn array(&mut self, length: usize) {
        self.head(b'*', length);
    }

    /// Begins a list of `length` values without an order.
    pub(crate) fn set(&mut self, length: usize) {
        self.head(if self.is_resp3 { b'~' } else { b'*' }, length);
    }

    /// Begins a map of `length` pairs, which follow as a name and a value each. Version 2 has a
    /// list of both.
    pub(crate) fn map(&mut self, length: usize) {
        if self.is_resp3 {
            self.head(b'%', length);
        } else {
            self.array(2 * length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(is_resp3: bool, write: impl Fn(&mut Reply)) -> String {
        let mut reply = Reply { is_resp3, ..Reply::default() };
        write(&mut reply);
        reply.bytes.escape_ascii().to_string()
    }

    #[test]
    fn each_kind_of_value_has_its_form() {
        for (write, resp2, resp3) in [
            ((|reply| reply.simple("OK")) as fn(&mut Reply), "+OK\\r\\n", "+OK\\r\\n"),
            (|reply| reply.error("ERR a\r\nb"), "-ERR a  b\\r\\n", "-ERR a  b\\r\\n"),
            (
                |reply| reply.integer(u64::MAX >> 1),
                ":9223372036854775807\\r\\n",
                ":9223372036854775807\\r\\n",
            ),
            (|reply| reply.bulk(b""), "$0\\r\\n\\r\\n", "$0\\r\\n\\r\\n"),
            (
                |reply| reply.digits(123_456_789),
                "$9\\r\\n123456789\\r\\n",
                "$9\\r\\n123456789\\r\\n",
            ),
            (
                |reply| reply.digits(1_234_567_890),
                "$10\\r\\n1234567890\\r\\n",
                "$10\\r\\n1234567890\\r\\n",
            ),
            (|reply| reply.verbatim("ab"), "$2\\r\\nab\\r\\n", "=6\\r\\ntxt:ab\\r\\n"),
            (Reply::null, "$-1\\r\\n", "_\\r\\n"),
            (Reply::null_array, "*-1\\r\\n", "_\\r\\n"),
            (|reply| reply.array(2), "*2\\r\\n", "*2\\r\\n"),
            (|reply| reply.set(2), "*2\\r\\n", "~2\\r\\n"),
            (|reply| reply.map(2), "*4\\r\\n", "%2\\r\\n"),
        ] {
            assert_eq!((written(false, write), written(true, write)), (resp2.into(), resp3.into()));
        }
    }
}
