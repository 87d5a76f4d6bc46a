//! Sentences for the errors of the library.

use std::error::Error;
use std::iter;

/// The sentence of `error` and those of its causes. An error does not repeat its cause.
pub fn with_causes(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Caused(&'static str, Option<Box<Caused>>);

    impl fmt::Display for Caused {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Caused {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn an_error_is_followed_by_its_causes() {
        let chain = |texts: &[&'static str]| {
            let cause = |cause, text: &&'static str| Some(Box::new(Caused(text, cause)));
            with_causes(&*texts.iter().rev().fold(None, cause).unwrap())
        };
        assert_eq!(chain(&["no file"]), "no file");
        assert_eq!(chain(&["no file", "no disk", "no power"]), "no file: no disk: no power");
    }
}
