//! Errors of the core as exceptions of JavaScript.

use uidring_bindings::{Error, Kind};

/// The `code` of an exception.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code(Kind);

impl Code {
    pub(crate) fn of(kind: Kind) -> Code {
        Code(kind)
    }
}

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        match self.0 {
            Kind::InvalidArgument => "UIDRING_INVALID_ARGUMENT",
            Kind::Unavailable => "UIDRING_UNAVAILABLE",
            Kind::Refused => "UIDRING_REFUSED",
            Kind::Closed => "UIDRING_CLOSED",
            Kind::Forked => "UIDRING_FORKED",
            Kind::Internal => "UIDRING_INTERNAL",
        }
    }
}

/// What a function of JavaScript returns, or throws.
pub(crate) type Result<T> = std::result::Result<T, napi::Error<Code>>;

/// The exception of an error.
pub(crate) fn thrown(error: Error) -> napi::Error<Code> {
    napi::Error::new(Code(error.kind), error.message)
}

/// The exception where Node.js itself has failed.
pub(crate) fn node_failed(error: napi::Error) -> napi::Error<Code> {
    thrown(Error::internal(&error.to_string()))
}

/// What `call` returns. An error of it, or a panic, is thrown.
pub(crate) fn call<T>(call: impl FnOnce() -> std::result::Result<T, Error>) -> Result<T> {
    uidring_bindings::guarded(call).map_err(thrown)
}
