//! [`FlatError`]: what another crate's error says, once.

use std::error::Error;
use std::fmt;

/// An error of another crate, as the cause of one of ours.
///
/// Many repeat the text of their cause in their own, which whoever prints an error with its causes
/// would see twice or more. So this says all that the error and its causes say, each part once, and
/// has no cause.
#[derive(Debug)]
pub struct FlatError(Box<dyn Error + Send + Sync>);

impl FlatError {
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> FlatError {
        FlatError(error.into())
    }
}

impl fmt::Display for FlatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&flatten(&*self.0))
    }
}

impl Error for FlatError {}

/// What `error` and its causes say, each part once.
fn flatten(error: &dyn Error) -> String {
    let text = error.to_string();
    let Some(cause) = error.source() else { return text };
    let (whole, rest) = (cause.to_string(), flatten(cause));
    let own = match text.strip_suffix(&whole) {
        Some(own) => own.trim_end().trim_end_matches(':'),
        // Somewhere in its own words.
        None if text.contains(&whole) => return text,
        None => &text,
    };
    // "Input/output error: Input/output error: ..."
    if own.is_empty() || rest == own || rest.starts_with(&format!("{own}: ")) {
        rest
    } else {
        format!("{own}: {rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says this, and has that cause.
    #[derive(Debug)]
    struct Says(&'static str, Option<Box<Says>>);

    impl fmt::Display for Says {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Says {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    fn text(chain: &[&'static str]) -> String {
        let chain = chain.iter().rev().fold(None, |cause, &said| Some(Box::new(Says(said, cause))));
        chain.map_or_else(String::new, |error| FlatError::new(error).to_string())
    }

    #[test]
    fn each_part_is_told_once() {
        let refused = "Connection refused (os error 111)";
        for (chain, said) in [
            (&[refused] as &[_], refused),
            // mysql_async
            (
                &[
                    "Input/output error: Input/output error: Connection refused (os error 111)",
                    "Input/output error: Connection refused (os error 111)",
                    refused,
                ],
                "Input/output error: Connection refused (os error 111)",
            ),
            // tokio-postgres
            (
                &["error connecting to server: Connection refused (os error 111)", refused],
                "error connecting to server: Connection refused (os error 111)",
            ),
            // rusqlite, with a message and without
            (
                &["no such table: a", "Error code 1: SQL logic error"],
                "no such table: a: Error code 1: SQL logic error",
            ),
            (&["Error code 13: Full", "Error code 13: Full"], "Error code 13: Full"),
            // One that tells its cause in the middle.
            (&["it failed (refused), so wait", "refused"], "it failed (refused), so wait"),
            (&["a", "b", "c"], "a: b: c"),
        ] {
            assert_eq!(text(chain), said);
            assert!(FlatError::new(said).source().is_none());
        }
    }
}
