//! [`Error`], what each call of a binding fails with.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use uidring::lend::LendError;
use uidring::segment::{self, SegmentError};
use uidring::series::SeriesError;
use uidring::store::StoreError;
use uidring::{
    BuildError, FillError, RegistryError, SegmentFailure, ShutdownError, TakeAtError, TakeError,
    TakeTimesError,
};
use uidring_args::with_causes;

/// What a caller can do about an [`Error`]. The numbers are the codes of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// An argument or an option is wrong. Nothing was done.
    InvalidArgument = 1,
    /// There is no number for now: a store cannot be reached, or a limit is reached that time
    /// lifts. The same call may succeed later.
    Unavailable = 2,
    /// The store refuses, or something is used up. Somebody has to change something.
    Refused = 3,
    /// The generator was closed.
    Closed = 4,
    /// This process was forked from the one that opened the generator. Open another here.
    Forked = 5,
    /// A panic was caught, which is a mistake in uidring.
    Internal = 6,
}

impl Kind {
    /// Each of them.
    pub const ALL: [Kind; 6] = [
        Kind::InvalidArgument,
        Kind::Unavailable,
        Kind::Refused,
        Kind::Closed,
        Kind::Forked,
        Kind::Internal,
    ];

    /// The name in each binding, in its own spelling: `InvalidArgument`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Why a call failed, with the sentence of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What the caller can do.
    pub kind: Kind,
    /// What happened and what to do, with the causes.
    pub message: String,
}

impl Error {
    /// An argument that is wrong in this way.
    #[must_use]
    pub fn argument(message: impl Into<String>) -> Error {
        Error { kind: Kind::InvalidArgument, message: message.into() }
    }

    /// A call to something that was closed before: `what`, as "the segments were".
    #[must_use]
    pub fn closed(what: &str) -> Error {
        let message =
            format!("{what} closed: let other threads stop before the close, or open again");
        Error { kind: Kind::Closed, message }
    }

    /// The same error where what was opened is `what`, such as "the segments".
    #[must_use]
    pub fn about(self, what: &str) -> Error {
        match self.kind {
            Kind::Closed => Error::closed(&format!("{what} were")),
            Kind::Forked => {
                let message = format!(
                    "this process was forked from the one that opened {what}: open them again \
                     here, after the fork"
                );
                Error { message, ..self }
            }
            _ => self,
        }
    }

    /// A panic that was caught, with what it said.
    #[must_use]
    pub fn internal(said: &str) -> Error {
        let message = format!("uidring has made a mistake, please report it: {said}");
        Error { kind: Kind::Internal, message }
    }

    /// The error for a panic that was caught.
    #[must_use]
    pub fn of_panic(panic: &(dyn Any + Send)) -> Error {
        Error::internal(match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(said), _) => said,
            (None, Some(said)) => said,
            (None, None) => "it said nothing",
        })
    }

    fn of(error: &dyn StdError, kind: Kind) -> Error {
        Error { kind, message: with_causes(error) }
    }
}

/// What `call` returns, or [`Error::internal`] if it panics: a panic must not reach a program in
/// another language.
///
/// # Errors
/// That of `call`, or its panic.
pub fn guarded<T, E: From<Error>>(call: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // What the panic has left half done is the library's, whose calls cope with it.
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(Error::of_panic(&*panic).into()))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {}

/// `Unavailable` for what may pass, otherwise `Refused`.
fn kind_of(is_transient: bool) -> Kind {
    if is_transient { Kind::Unavailable } else { Kind::Refused }
}

impl From<TakeError> for Error {
    fn from(error: TakeError) -> Error {
        let kind = match error {
            TakeError::ShutDown => Kind::Closed,
            TakeError::Forked => Kind::Forked,
            TakeError::LeadLimit { .. } | TakeError::LeaseExhausted { .. } => Kind::Unavailable,
            TakeError::SegmentExhausted { cause } => {
                kind_of(matches!(cause, SegmentFailure::Loading | SegmentFailure::Unreachable))
            }
            _ => Kind::Refused,
        };
        Error::of(&error, kind)
    }
}

impl From<TakeAtError> for Error {
    fn from(error: TakeAtError) -> Error {
        Error::of(&error, kind_at(&error))
    }
}

impl From<TakeTimesError> for Error {
    fn from(error: TakeTimesError) -> Error {
        let kind = kind_at(&error.cause);
        // It is about no single time.
        if kind == Kind::Forked { Error::from(error.cause) } else { Error::of(&error, kind) }
    }
}

fn kind_at(error: &TakeAtError) -> Kind {
    match error {
        TakeAtError::BeforeEpoch { .. }
        | TakeAtError::Future { .. }
        | TakeAtError::AfterEnd { .. } => Kind::InvalidArgument,
        TakeAtError::Forked => Kind::Forked,
        _ => kind_of(error.is_transient()),
    }
}

impl From<LendError> for Error {
    fn from(error: LendError) -> Error {
        let kind = match error {
            LendError::Storage(_) => kind_of(error.is_transient()),
            LendError::Full { .. } | LendError::ClockBehind { .. } | LendError::Spawn(_) => {
                Kind::Unavailable
            }
            LendError::Lost { .. } => Kind::Refused,
            _ => Kind::InvalidArgument,
        };
        Error::of(&error, kind)
    }
}

impl From<FillError> for Error {
    fn from(error: FillError) -> Error {
        Error::from(error.cause())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        Error::of(&error, Kind::InvalidArgument)
    }
}

impl From<RegistryError> for Error {
    fn from(error: RegistryError) -> Error {
        Error::of(&error, kind_of(error.is_transient()))
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Error {
        match error {
            BuildError::Registry(error) => Error::from(error),
            // Somebody may set the clock.
            BuildError::StartDeadline { .. }
            | BuildError::BeforeEpoch { .. }
            | BuildError::Spawn(_) => Error::of(&error, Kind::Unavailable),
            BuildError::FarClock { .. }
            | BuildError::ForwardJump { .. }
            | BuildError::TimeExhausted { .. } => Error::of(&error, Kind::Refused),
            _ => Error::of(&error, Kind::InvalidArgument),
        }
    }
}

impl From<ShutdownError> for Error {
    fn from(error: ShutdownError) -> Error {
        Error::of(&error, Kind::Unavailable)
    }
}

impl From<SegmentError> for Error {
    fn from(error: SegmentError) -> Error {
        let kind = match error {
            SegmentError::Ended { cause } => return Error::from(cause),
            SegmentError::BadTag { .. } => Kind::InvalidArgument,
            SegmentError::NotGivenBack { .. } => Kind::Unavailable,
            _ => kind_of(error.is_transient()),
        };
        Error::of(&error, kind)
    }
}

impl From<segment::BuildError> for Error {
    fn from(error: segment::BuildError) -> Error {
        Error::of(&error, Kind::Unavailable)
    }
}

impl From<SeriesError> for Error {
    fn from(error: SeriesError) -> Error {
        match error {
            SeriesError::Take(error) => Error::from(error),
            SeriesError::Load(error) => Error::from(error),
            SeriesError::Full { ref series, .. } => {
                let change = format!("uidring series change {series} PATTERN --from now");
                let message = format!("{}: {change}", with_causes(&error));
                Error { kind: Kind::Refused, message }
            }
            SeriesError::BadName { .. }
            | SeriesError::BadRequest { .. }
            | SeriesError::Definition(_)
            | SeriesError::Format(_)
            | SeriesError::Scope(_) => Error::of(&error, Kind::InvalidArgument),
            _ => Error::of(&error, kind_of(error.is_transient())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic)] // that is what is tested
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let said =
            |panics: fn() -> Result<(), Error>| guarded(panics).map_err(|error| error.message);
        let words = "uidring has made a mistake, please report it: ";
        assert_eq!(said(|| panic!("as told")), Err(format!("{words}as told")));
        assert_eq!(said(|| panic!("number {}", 7)), Err(format!("{words}number 7")));
        assert_eq!(said(|| std::panic::panic_any(7)), Err(format!("{words}it said nothing")));
        assert_eq!(said(|| Ok(())), Ok(()));
    }
}
