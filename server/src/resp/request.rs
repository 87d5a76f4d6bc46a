//! [`Request`]: a command, and who sent it.

use crate::app::App;
use crate::commands::Command;
use crate::resp::codec::Arguments;
use crate::resp::protocol_error::escaped;
use crate::resp::refusal::Refusal;
use crate::security::access::Permission;

/// A command, and who sent it.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) token: Option<&'a [u8]>,
    pub(crate) command: Command,
    pub(crate) arguments: Arguments<'a>,
}

impl Request<'_> {
    pub(crate) fn check(&self, app: &App, permission: Permission<'_>) -> Result<(), Refusal> {
        app.access
            .check(self.token, permission)
            .map_err(|denied| Refusal::denied(denied, permission))
    }
}

/// An argument as a text. `what` it is, such as a tag, is said if it is none.
pub(crate) fn text<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a str, Refusal> {
    std::str::from_utf8(bytes)
        .map_err(|_| Refusal::error(format!("{what} is not UTF-8: '{}'", escaped(bytes))))
}
