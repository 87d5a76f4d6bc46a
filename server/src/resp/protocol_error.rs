//! What is wrong with the bytes of a client of the Redis protocol.

/// The most arguments of a command, its name included.
pub(crate) const MAX_ARGUMENTS: usize = 64;

/// What is wrong with the bytes of a client. The connection cannot go on, because nobody knows
/// where the next command begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolError {
    /// An announced number of arguments that is none, or too large.
    Arguments(String),
    /// An announced length that is none.
    Length(String),
    /// A line that should announce a number has no end.
    LongHead(String),
    /// An argument that does not begin with its length.
    NoLength(u8),
    /// An argument that its line end does not follow.
    NoEnd,
    /// An inline command with a quote that does not end, or is followed by other text.
    Quotes,
    /// An inline command without an end. Holds the limit.
    LongLine(usize),
    /// A command that is larger than the limit, which it holds.
    TooLarge(usize),
}

impl ProtocolError {
    /// Whether a greater limit would help.
    pub(crate) fn is_of_size(&self) -> bool {
        matches!(self, ProtocolError::LongLine(_) | ProtocolError::TooLarge(_))
    }

    /// The words for the client. They begin like those of Redis.
    pub(crate) fn text(&self) -> String {
        match self {
            ProtocolError::Arguments(value) => format!(
                "invalid multibulk length: '{value}'; a command has {MAX_ARGUMENTS} arguments at \
                 most"
            ),
            ProtocolError::Length(value) => {
                format!("invalid bulk length: '{value}' is no length that an argument can have")
            }
            ProtocolError::LongHead(value) => format!("too big count string: '{value}'"),
            ProtocolError::NoLength(byte) => {
                format!("expected '$', got '{}'", byte.escape_ascii())
            }
            ProtocolError::NoEnd => "an argument is longer than its length says".to_owned(),
            ProtocolError::Quotes => "unbalanced quotes in request".to_owned(),
            ProtocolError::LongLine(most) => {
                format!("too big inline request: a line has {most} bytes at most")
            }
            ProtocolError::TooLarge(most) => {
                format!("too big request: a command has {most} bytes at most")
            }
        }
    }
}

/// Bytes of a client as they can be part of an answer.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    /// The most bytes that are repeated.
    const MOST: usize = 200;
    let bytes = &bytes[..bytes.len().min(MOST)];
    let mut text = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(bytes).chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}
