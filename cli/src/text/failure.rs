//! The failures of the tool, and their exit statuses.

use std::io;
use std::process::ExitCode;

use indicatif::HumanCount;
use uidring::segment::{self, SegmentError};
use uidring::series::SeriesError;
use uidring::store::StoreError;
use uidring::{BuildError, LayoutError, RegistryError, TakeError};
use uidring_args::{with_causes, without_passwords};
use uidring_layouts::WrongChoice;

use crate::text::stderr::{print_error, print_error_page};
use crate::text::words::counted;

/// Why the tool did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is not understood, or it is a question to the tool itself, such as
    /// `--help`.
    Arguments(clap::Error),
    /// The command line asks for something impossible. Exit status 2.
    Usage(String),
    /// The command line is right, but the action failed. Exit status 1.
    Failed(String),
    /// Like `Failed`, with more than a sentence: a command that helps, or a page.
    Explained(String),
    /// Like `Failed`, with an exit status of its own.
    #[cfg_attr(not(unix), expect(dead_code, reason = "a Unix alone runs commands"))]
    Status { status: u8, sentence: String },
    /// Like `Failed`, but the failure has already been reported.
    Reported,
    /// A command that was run ended with this exit status, which is passed on.
    #[cfg_attr(not(unix), expect(dead_code, reason = "as above"))]
    Ended(u8),
    /// Ctrl-C came after so many of those asked for, "UID" or "number". Exit status 130, as shells
    /// have it.
    Interrupted { done: u64, all: u64, what: &'static str },
    /// Standard output cannot be written. Exit status 1, or 0 if its reader closed the pipe.
    Output(io::Error),
}

impl Failure {
    /// Reports the failure on standard error, and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Arguments(error) if !error.use_stderr() => {
                let _ = error.print();
                ExitCode::SUCCESS
            }
            Failure::Arguments(error) => {
                let text = without_passwords(&error.render().to_string());
                match text.strip_prefix("error: ") {
                    Some(text) => print_error_page(text.trim_end()),
                    None => drop(error.print()),
                }
                ExitCode::from(2)
            }
            Failure::Usage(sentence) => {
                print_error(&sentence);
                ExitCode::from(2)
            }
            Failure::Failed(sentence) => {
                print_error(&sentence);
                ExitCode::FAILURE
            }
            Failure::Explained(page) => {
                print_error_page(&page);
                ExitCode::FAILURE
            }
            Failure::Status { status, sentence } => {
                print_error(&sentence);
                ExitCode::from(status)
            }
            Failure::Reported => ExitCode::FAILURE,
            Failure::Ended(status) => ExitCode::from(status),
            Failure::Interrupted { done, all, what } => {
                let (done, all) = (HumanCount(done), counted(all, what));
                print_error(&format!("interrupted after {done} of {all}"));
                ExitCode::from(130)
            }
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::SUCCESS
            }
            Failure::Output(error) => {
                print_error(&format!("cannot write to standard output: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        Failure::Arguments(error)
    }
}

impl From<WrongChoice> for Failure {
    fn from(error: WrongChoice) -> Failure {
        match error {
            WrongChoice::Layout(error) => error.into(),
            WrongChoice::NotGenerated(_) => Failure::Usage(error.to_string()),
        }
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Failure {
        Failure::Usage(with_causes(&error))
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Failed(match error {
            StoreError::NotBuiltIn { address, name, feature } => format!(
                "cannot open the registry {address}: this uidring was built without {name}; build \
                 one with it, in a copy of its sources: cargo install --path cli --features \
                 {feature}"
            ),
            error => with_causes(&error),
        })
    }
}

impl From<SegmentError> for Failure {
    fn from(error: SegmentError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

impl From<segment::BuildError> for Failure {
    fn from(error: segment::BuildError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

impl From<SeriesError> for Failure {
    fn from(error: SeriesError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        match error {
            BuildError::Registry(error) => Failure::from(error),
            error => Failure::Failed(with_causes(&error)),
        }
    }
}

impl From<TakeError> for Failure {
    fn from(error: TakeError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}
