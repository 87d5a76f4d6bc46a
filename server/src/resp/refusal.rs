//! Errors in the words of the Redis protocol. They are the problems that HTTP answers.

use axum::http::StatusCode;

use crate::app::NotReady;
use crate::http::problem::Problem;
use crate::http::take_failure::TakeFailure;
use crate::resp::protocol_error::escaped;
use crate::resp::reply::Reply;
use crate::security::access::{Denied, Permission};
use crate::stats::commands::AnswerKind;

/// Why a command is not answered as it was meant.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) kind: AnswerKind,
    text: String,
    /// Whether the service, not the client, is at fault.
    pub(crate) has_failed: bool,
}

impl Refusal {
    pub(crate) fn new(kind: AnswerKind, text: impl Into<String>) -> Refusal {
        Refusal { kind, text: text.into(), has_failed: false }
    }

    /// An error of the client.
    pub(crate) fn error(text: impl Into<String>) -> Refusal {
        Refusal::new(AnswerKind::Error, text)
    }

    /// An argument that has no meaning, and what has one.
    pub(crate) fn argument(value: &[u8], advice: &str) -> Refusal {
        Refusal::error(format!("syntax error: '{}'; {advice}", escaped(value)))
    }

    /// Why the token may not do this.
    pub(crate) fn denied(denied: Denied, permission: Permission<'_>) -> Refusal {
        let (kind, text) = match denied {
            Denied::NoToken => {
                (AnswerKind::NoToken, "a token is needed; send AUTH TOKEN first".to_owned())
            }
            Denied::UnknownToken => {
                (AnswerKind::NoToken, "the token is not known any more; send AUTH TOKEN".to_owned())
            }
            Denied::NotAllowed => {
                let what = match permission {
                    Permission::Tag(tag) => format!("the tag '{}'", escaped(tag.as_bytes())),
                    Permission::Series(name) => {
                        format!("the series '{}'", escaped(name.as_bytes()))
                    }
                    Permission::Pool(name) => {
                        format!("the pool '{}'", escaped(name.as_bytes()))
                    }
                    _ => "this".to_owned(),
                };
                (AnswerKind::NotAllowed, format!("the token does not allow {what}"))
            }
        };
        Refusal::new(kind, text)
    }

    pub(crate) fn write(&self, reply: &mut Reply) {
        reply.error(&format!("{} {}", self.kind.error_prefix(), self.text));
    }
}

/// Clients of Redis know which of these words are worth another try: LOADING and TRYAGAIN.
impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        let kind = match problem.status() {
            StatusCode::SERVICE_UNAVAILABLE if problem.is_of_start() => AnswerKind::Loading,
            StatusCode::SERVICE_UNAVAILABLE => AnswerKind::TryAgain,
            StatusCode::FORBIDDEN => AnswerKind::NotAllowed,
            _ => AnswerKind::Error,
        };
        let has_failed = problem.status().is_server_error();
        Refusal { kind, text: problem.line(), has_failed }
    }
}

impl From<TakeFailure> for Refusal {
    fn from(none: TakeFailure) -> Refusal {
        Problem::from(none).into()
    }
}

impl From<NotReady> for Refusal {
    fn from(none: NotReady) -> Refusal {
        Problem::from(none).into()
    }
}
