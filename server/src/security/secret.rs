//! Tokens as texts: which are too short, and how none of them is shown.

use std::ffi::OsString;
use std::fmt;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// The fewest characters of a token that is in a file or an option.
const SHORTEST: usize = 16;

/// A token given as an option. It is never displayed.
#[derive(Clone)]
pub(crate) struct Secret(pub(super) String);

impl Secret {
    /// A parser that accepts every text, because clap would print a value that it rejects.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Secret> {
        OsStringValueParser::new().map(|text: OsString| Secret(text.to_string_lossy().into_owned()))
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        token_problem(&self.0).map_or(Ok(()), |problem| Err(format!("the token {problem}")))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}

/// Why `token` is invalid, if it is.
pub(super) fn token_problem(token: &str) -> Option<&'static str> {
    if token.len() < SHORTEST {
        return Some("is shorter than 16 characters");
    }
    let is_graphic = token.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_graphic).then_some("has characters other than letters, digits and signs of ASCII")
}

/// Whether `text`, which stands in the wrong place, may be a token, so that it must not be shown.
pub(crate) fn may_be_token(text: &str) -> bool {
    text.len() >= SHORTEST
}

/// Describes an error in a TOML file and its position. Shows neither the line nor the value, which
/// may contain a token or a password.
pub(crate) fn without_the_line(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
    format!("line {line}: {}", without_the_value(error.message()))
}

/// The message of serde without the value that it quotes. A name that cannot be a token stays.
fn without_the_value(message: &str) -> String {
    // The last one, because the value may be any text.
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let name_after = |begin| found.strip_prefix(begin)?.strip_suffix('`');
    let name = name_after("unknown field `").or_else(|| name_after("unknown variant `"));
    let kind = found.split(['"', '`']).next().unwrap_or_default().trim_end();
    let shown = if name.is_some_and(|name| !may_be_token(name)) { found } else { kind };
    format!("{shown}, expected {expected}")
}
