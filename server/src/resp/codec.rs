//! Reads the commands of the Redis protocol.
//!
//! The crate redis-protocol has no inline commands and no limits for what a client may announce,
//! and it decodes into values of its own. This decoder has both, keeps its place while bytes
//! arrive, and says where the arguments are, so that a command costs no allocation.

use std::ops::Range;

use crate::resp::protocol_error::{MAX_ARGUMENTS, ProtocolError, escaped};

/// The longest line that announces a number, as in `$10`.
const LONGEST_HEAD: usize = 32;

/// How far a command has been read.
#[derive(Debug, Clone, Copy)]
enum State {
    /// Nothing is known yet.
    Begin,
    /// So many arguments are still to come.
    Arguments { left: usize },
    /// The line of an inline command.
    Line,
    /// It has been read.
    Done,
}

/// Reads one command after the other from bytes that arrive in any pieces.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The most bytes of a command.
    most: usize,
    state: State,
    /// Where the part that is being read begins.
    at: usize,
    /// Up to where the end of a line has been looked for.
    seen: usize,
    arguments: Vec<Range<usize>>,
    /// The arguments of an inline command, one behind the other and without quotes.
    line: Vec<u8>,
}

/// A line that announces a number, behind a byte that says of what.
struct HeaderLine {
    /// `None` if the line has no number.
    number: Option<i64>,
    /// Where the line ends.
    end: usize,
}

impl HeaderLine {
    /// Reads the line at the begin of `bytes`, if it is whole.
    fn read(bytes: &[u8]) -> Result<Option<HeaderLine>, ProtocolError> {
        // Nearly all numbers have one digit or two.
        let value = |digit: u8| i64::from(digit - b'0');
        match bytes {
            [_, one @ b'0'..=b'9', b'\r', b'\n', ..] => {
                return Ok(Some(HeaderLine { number: Some(value(*one)), end: 4 }));
            }
            [_, ten @ b'1'..=b'9', one @ b'0'..=b'9', b'\r', b'\n', ..] => {
                let number = 10 * value(*ten) + value(*one);
                return Ok(Some(HeaderLine { number: Some(number), end: 5 }));
            }
            _ => {}
        }
        let line = &bytes[..bytes.len().min(LONGEST_HEAD)];
        let Some(end) = line.windows(2).position(|two| two == b"\r\n") else {
            if line.len() == LONGEST_HEAD {
                return Err(ProtocolError::LongHead(escaped(line)));
            }
            return Ok(None);
        };
        let number = line.get(1..end).and_then(number);
        Ok(Some(HeaderLine { number, end: end + 2 }))
    }

    /// What stands where the number should be.
    fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(1..self.end - 2).unwrap_or_default()
    }
}

/// The arguments of a command. The first is its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range<usize>],
}

impl<'a> Arguments<'a> {
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'a [u8]> {
        self.bytes.get(self.ranges.get(index)?.clone())
    }

    /// The arguments from this one on.
    pub(crate) fn from(&self, index: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        let ranges = self.ranges.get(index..).unwrap_or_default();
        ranges.iter().filter_map(|range| bytes.get(range.clone()))
    }
}

impl Decoder {
    pub(crate) fn new(most: usize) -> Decoder {
        let (arguments, line) = (Vec::new(), Vec::new());
        Decoder { most, state: State::Begin, at: 0, seen: 0, arguments, line }
    }

    /// Sets the most bytes of a command, from the next one on.
    pub(crate) fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Gives memory back above this length. Called when the last command has been answered.
    pub(crate) fn shrink_to(&mut self, kept: usize) {
        self.line.clear();
        self.line.shrink_to(kept);
    }

    /// Reads on. `bytes` begins with the first byte of a command, and has at least what it had in
    /// the last call for this command. When the command is whole, returns its length; the next call
    /// is for the next command. An empty command has no arguments, and needs no answer.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        if matches!(self.state, State::Done) {
            self.arguments.clear();
            self.line.clear();
            (self.state, self.at, self.seen) = (State::Begin, 0, 0);
        }
        if matches!(self.state, State::Begin) {
            self.state = match bytes.first() {
                None => return Ok(None),
                Some(b'*') => match self.count(bytes)? {
                    None => return Ok(None),
                    Some(left) => State::Arguments { left },
                },
                Some(_) => State::Line,
            };
        }
        let end = match self.state {
            State::Arguments { left } => self.bulks(bytes, left)?,
            _ => self.inline(bytes)?,
        };
        if end.is_some() {
            self.state = State::Done;
        }
        Ok(end)
    }

    /// The arguments of the command that has just been read from `bytes`.
    pub(crate) fn arguments<'a>(&'a self, bytes: &'a [u8]) -> Arguments<'a> {
        let bytes = if self.line.is_empty() { bytes } else { &self.line };
        Arguments { bytes, ranges: &self.arguments }
    }

    /// Reads how many arguments there are.
    fn count(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let Some(head) = HeaderLine::read(bytes)? else { return Ok(None) };
        let refused = || ProtocolError::Arguments(escaped(head.text(bytes)));
        let count = head.number.ok_or_else(refused)?;
        // Redis ignores a command with no arguments, or with fewer.
        let count = usize::try_from(count).unwrap_or(0);
        if count > MAX_ARGUMENTS {
            return Err(refused());
        }
        self.at = head.end;
        Ok(Some(count))
    }

    /// Reads arguments with their lengths, and returns the length of the command when it has all.
    fn bulks(&mut self, bytes: &[u8], mut left: usize) -> Result<Option<usize>, ProtocolError> {
        while left > 0 {
            let rest = bytes.get(self.at..).unwrap_or_default();
            match rest.first() {
                None => break,
                Some(b'$') => {}
                Some(&byte) => return Err(ProtocolError::NoLength(byte)),
            }
            let Some(head) = HeaderLine::read(rest)? else { break };
            let length = head.number.and_then(|length| usize::try_from(length).ok());
            let length = length.ok_or_else(|| ProtocolError::Length(escaped(head.text(rest))))?;
            let begin = self.at + head.end;
            let end = begin.saturating_add(length);
            // Refused before it arrives.
            if end.saturating_add(2) > self.most {
                return Err(ProtocolError::TooLarge(self.most));
            }
            match bytes.get(end..end + 2) {
                None => break,
                Some(b"\r\n") => {}
                Some(_) => return Err(ProtocolError::NoEnd),
            }
            self.arguments.push(begin..end);
            self.at = end + 2;
            left -= 1;
        }
        self.state = State::Arguments { left };
        Ok((left == 0).then_some(self.at))
    }

    /// Reads an inline command, and returns its length.
    fn inline(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let Some(end) = bytes[self.seen..].iter().position(|&byte| byte == b'\n') else {
            self.seen = bytes.len();
            if bytes.len() > self.most {
                return Err(ProtocolError::LongLine(self.most));
            }
            return Ok(None);
        };
        let end = self.seen + end;
        if end > self.most {
            return Err(ProtocolError::LongLine(self.most));
        }
        let line = &bytes[..end];
        self.split(line.strip_suffix(b"\r").unwrap_or(line))?;
        Ok(Some(end + 1))
    }

    /// Splits a line as Redis does: at blanks, with quotes and the escapes in them.
    fn split(&mut self, line: &[u8]) -> Result<(), ProtocolError> {
        let is_blank = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b;
        let mut rest = line;
        loop {
            while let Some((&byte, after)) = rest.split_first()
                && is_blank(byte)
            {
                rest = after;
            }
            if rest.is_empty() {
                return Ok(());
            }
            if self.arguments.len() == MAX_ARGUMENTS {
                return Err(ProtocolError::Arguments(format!("more than {MAX_ARGUMENTS}")));
            }
            let begin = self.line.len();
            rest = loop {
                match rest.split_first() {
                    None => break rest,
                    Some((&byte, after)) if is_blank(byte) => break after,
                    Some((&quote @ (b'"' | b'\''), after)) => {
                        let after = self.quoted(quote, after).ok_or(ProtocolError::Quotes)?;
                        // Redis wants a blank behind a quote.
                        if after.first().is_some_and(|&byte| !is_blank(byte)) {
                            return Err(ProtocolError::Quotes);
                        }
                        break after;
                    }
                    Some((&byte, after)) => {
                        self.line.push(byte);
                        rest = after;
                    }
                }
            };
            self.arguments.push(begin..self.line.len());
        }
    }

    /// Reads what follows a quote, and returns what is behind the other one.
    fn quoted<'a>(&mut self, quote: u8, mut rest: &'a [u8]) -> Option<&'a [u8]> {
        loop {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            match byte {
                byte if byte == quote => return Some(rest),
                b'\\' if quote == b'"' => {
                    let (&escaped, after) = rest.split_first()?;
                    rest = after;
                    let byte = match escaped {
                        b'x' => match after {
                            [high, low, after @ ..] => match (digit(*high), digit(*low)) {
                                (Some(high), Some(low)) => {
                                    rest = after;
                                    high << 4 | low
                                }
                                _ => b'x',
                            },
                            _ => b'x',
                        },
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'b' => 0x08,
                        b'a' => 0x07,
                        other => other,
                    };
                    self.line.push(byte);
                }
                // In single quotes, only these can be escaped.
                b'\\' if rest.first() == Some(&b'\'') => {
                    self.line.push(b'\'');
                    rest = &rest[1..];
                }
                byte => self.line.push(byte),
            }
        }
    }
}

/// The value of a hexadecimal digit.
fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

/// A number as Redis writes it: without blanks, a plus sign or zeros in front.
fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = match digits {
        [b'0'] => text == b"0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !is_plain {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Writes a command as clients do.
#[cfg(any(test, fuzzing))]
pub(crate) fn encode(out: &mut Vec<u8>, arguments: &[Vec<u8>]) {
    out.extend_from_slice(format!("*{}\r\n", arguments.len()).as_bytes());
    for argument in arguments {
        out.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        out.extend_from_slice(argument);
        out.extend_from_slice(b"\r\n");
    }
}

/// All commands of `bytes`, which arrive in pieces that end at `cuts`, and the error behind them.
#[cfg(any(test, fuzzing))]
pub(crate) fn commands(
    bytes: &[u8],
    most: usize,
    cuts: impl IntoIterator<Item = usize>,
) -> (Vec<Vec<Vec<u8>>>, Option<ProtocolError>) {
    let (mut decoder, mut found, mut start) = (Decoder::new(most), Vec::new(), 0);
    for cut in cuts.into_iter().chain([bytes.len()]) {
        let there = &bytes[..cut.clamp(start, bytes.len())];
        loop {
            match decoder.decode(&there[start..]) {
                Ok(None) => break,
                Ok(Some(length)) => {
                    let arguments = decoder.arguments(&there[start..start + length]);
                    if arguments.len() > 0 {
                        found.push(arguments.from(0).map(<[u8]>::to_vec).collect());
                    }
                    start += length;
                }
                Err(error) => return (found, Some(error)),
            }
        }
    }
    (found, None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: usize = 1000;

    /// The commands of these bytes, as texts, whether they arrive at once or byte by byte.
    fn read(bytes: &[u8]) -> (Vec<Vec<String>>, Option<ProtocolError>) {
        let whole = commands(bytes, MOST, []);
        assert_eq!(commands(bytes, MOST, 0..bytes.len()), whole, "{}", bytes.escape_ascii());
        let text = |argument: Vec<u8>| argument.escape_ascii().to_string();
        let texts = |command: Vec<Vec<u8>>| command.into_iter().map(text).collect();
        (whole.0.into_iter().map(texts).collect(), whole.1)
    }

    fn good(bytes: &[u8]) -> Vec<Vec<String>> {
        let (commands, error) = read(bytes);
        assert_eq!(error, None, "{}", bytes.escape_ascii());
        commands
    }

    fn error(bytes: &[u8]) -> String {
        let (commands, error) = read(bytes);
        assert!(commands.is_empty(), "{commands:?}");
        error.map(|error| error.text()).unwrap_or_default()
    }

    #[test]
    fn commands_are_read_in_both_forms() {
        assert_eq!(good(b"*1\r\n$4\r\nPING\r\n"), [["PING"]]);
        assert_eq!(good(b"*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n"), [["ECHO", "\\r\\n"]]);
        assert_eq!(good(b"*1\r\n$0\r\n\r\nPING\r\n"), [[""], ["PING"]]);
        assert_eq!(good(b"PING\r\nECHO a\n"), [&["PING"][..], &["ECHO", "a"]]);
        // Nothing is asked for.
        assert!(good(b"\r\n\n   \r\n*0\r\n*-1\r\n*-9223372036854775808\r\n").is_empty());
        assert_eq!(good(b"  ECHO\t a  \r\n"), [["ECHO", "a"]]);
        assert_eq!(good(b"ECHO \"a b\" 'c d' \"\"\n"), [["ECHO", "a b", "c d", ""]]);
        assert_eq!(
            good(b"ECHO \"\\x41\\n\\\"\\q\\xg\" 'it\\'s\\n'\n"),
            [["ECHO", "A\\n\\\"qxg", "it\\\'s\\\\n"]]
        );
        // As Redis does, a quote within a word begins a quoted part.
        assert_eq!(good(b"ECHO a\"b c\"\n"), [["ECHO", "ab c"]]);
        // What is not whole is no command.
        for part in [&b"*"[..], b"*2\r\n", b"*1\r\n$4\r\nPING", b"*1\r\n$4\r\nPING\r", b"PING"] {
            assert!(good(part).is_empty());
        }
    }

    #[test]
    fn what_breaks_the_protocol_is_refused() {
        for (bytes, expected) in [
            (&b"*x\r\n"[..], "invalid multibulk length: 'x'"),
            (b"*\r\n", "invalid multibulk length: ''"),
            (b"*01\r\n", "invalid multibulk length: '01'"),
            (b"*+1\r\n", "invalid multibulk length: '+1'"),
            (b"*1 \r\n", "invalid multibulk length: '1 '"),
            (b"*65\r\n", "invalid multibulk length: '65'"),
            (b"*9223372036854775808\r\n", "invalid multibulk length: '9223372036854775808'"),
            (b"*11111111111111111111111111111111", "too big count string"),
            (b"*1\r\n$-1\r\n", "invalid bulk length: '-1'"),
            (b"*1\r\n$x\r\n", "invalid bulk length: 'x'"),
            (b"*1\r\n$1001\r\n", "too big request"),
            (b"*1\r\n$9223372036854775807\r\n", "too big request"),
            (b"*1\r\n$99999999999999999999\r\n", "invalid bulk length: '99999999999999999999'"),
            (b"*1\r\n$990\r\n", ""),
            (b"*1\r\n$995\r\n", "too big request"),
            (b"*1\r\n$11111111111111111111111111111111", "too big count string"),
            (b"*1\r\nPING\r\n", "expected '$', got 'P'"),
            (b"*1\r\n*1\r\n$4\r\nPING\r\n", "expected '$', got '*'"),
            (b"*1\r\n\r\n", "expected '$', got '\\r'"),
            (b"*1\r\n$4\r\nPINGS\r\n", "longer than its length"),
            (b"*1\r\n$4\r\nPING\n\n", "longer than its length"),
            (b"ECHO \"a\n", "unbalanced quotes"),
            (b"ECHO 'a\r\n", "unbalanced quotes"),
            (b"ECHO \"a\"b\n", "unbalanced quotes"),
            (b"ECHO \"a\\\n", "unbalanced quotes"),
        ] {
            let found = error(bytes);
            assert!(found.starts_with(expected) || found.contains(expected), "{found}");
        }
        assert!(error(&[b'a'; 1001]).starts_with("too big inline request"));
        assert!(error(&[&[b'a'; 1001][..], b"\n"].concat()).starts_with("too big inline request"));
        assert!(error(&b"a ".repeat(65)).is_empty());
        let many = [&b"a ".repeat(65)[..], b"\n"].concat();
        assert!(error(&many).starts_with("invalid multibulk length: 'more than 64'"));
        assert_eq!(good(&[&b"a ".repeat(64)[..], b"\n"].concat())[0].len(), 64);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_however_it_is_cut(
            all in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..10),
                0..10,
            ),
            mut cuts in prop::collection::vec(0..2000_usize, 0..10),
        ) {
            let mut bytes = Vec::new();
            for command in &all {
                encode(&mut bytes, command);
            }
            cuts.sort_unstable();
            prop_assert_eq!(commands(&bytes, MOST, cuts), (all, None));
        }

        #[test]
        fn any_bytes_are_read_alike_however_they_are_cut(
            bytes in prop::collection::vec(
                prop::sample::select(b"*$-1234567890\r\nPING \"'\\x".to_vec()),
                0..60,
            ),
            mut cuts in prop::collection::vec(0..60_usize, 0..6),
        ) {
            cuts.sort_unstable();
            prop_assert_eq!(commands(&bytes, 20, cuts), commands(&bytes, 20, []));
        }
    }
}
