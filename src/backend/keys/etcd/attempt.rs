//! [`AttemptError`]: why a server has not answered, and whether another one may be asked.

use super::diagnosis::ReplyError;
use super::durability;
use super::http::SendError;
use super::wire::Malformed;
use crate::backend::keys::Error;

/// Why a server has not answered.
pub enum AttemptError {
    /// It has done nothing, and another one may.
    TryNext(Error),
    /// It may have done it, or may still do it.
    Unknown(Error),
    /// It has done nothing, and no other would.
    Final(Error),
}

impl AttemptError {
    pub fn into_error(self) -> Error {
        match self {
            AttemptError::TryNext(error)
            | AttemptError::Unknown(error)
            | AttemptError::Final(error) => error,
        }
    }
}

impl From<SendError> for ReplyError {
    fn from(send_error: SendError) -> ReplyError {
        let SendError { error, is_unsent } = send_error;
        if is_unsent { ReplyError::TryNext(error) } else { ReplyError::NoReply(error) }
    }
}

impl From<ReplyError> for AttemptError {
    fn from(refusal: ReplyError) -> AttemptError {
        match refusal {
            ReplyError::Token(message) => {
                let problem = "it refuses the token that it has just given; see that its members \
                               agree on users"
                    .to_owned();
                AttemptError::TryNext(Error::Unreachable { problem, source: Some(message.into()) })
            }
            ReplyError::NoUsers => AttemptError::Final(Error::problem("it has no users")),
            ReplyError::TryNext(error) => AttemptError::TryNext(error),
            ReplyError::NoReply(error) | ReplyError::Unknown(error) => AttemptError::Unknown(error),
            ReplyError::Final(error) => AttemptError::Final(error),
        }
    }
}

pub fn malformed(bad: Malformed) -> AttemptError {
    AttemptError::Unknown(Error::problem(format!("{bad}; see the address")))
}

/// The error where a member answers that cannot be looked at.
pub fn several_members() -> AttemptError {
    AttemptError::TryNext(Error::problem(durability::SEVERAL_MEMBERS))
}

pub fn unusable(problem: &str, message: String) -> Error {
    Error::Unusable { problem: problem.to_owned(), source: Some(message.into()) }
}

/// The error of a write of which it is unknown whether it was made.
pub fn unknown(error: Error) -> Error {
    match error {
        Error::Unusable { problem, source } => Error::Unreachable { problem, source },
        error => error,
    }
}
