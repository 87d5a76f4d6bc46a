//! Sentences for the errors of the library.

use std::error::Error;
use std::iter;

use uidring::RegistryError;

/// The sentence of `error` and those of its causes. An error does not repeat its cause.
pub fn with_causes(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The options of a program that help if a registry would begin in the database of `UidGenerator`'s
/// table `WORKER_NODE`.
#[derive(Clone, Copy, Debug)]
pub struct BesideUidGenerator {
    /// The options that choose other worker ids.
    pub worker_ids: &'static str,
    /// The options that name another database.
    pub db: &'static str,
}

impl BesideUidGenerator {
    /// The sentence of a registry's `error` and those of its causes, with the options that help.
    #[must_use]
    pub fn told(self, error: &RegistryError) -> String {
        let RegistryError::BesideUidGenerator { first, last } = error else {
            return with_causes(error);
        };
        let BesideUidGenerator { worker_ids, db } = self;
        format!(
            "UidGenerator's table WORKER_NODE in the same database has given the worker ids up to \
             {last}, and a registry that begins beside it would give its own from {first} on, so \
             that UIDs could be equal: take worker ids from that table with --uid-generator; or \
             choose ids above all that it will come to, of the same layout, with {worker_ids}; \
             or, if the UIDs of both never meet, name another database with {db}"
        )
    }
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

    #[test]
    fn a_registry_beside_uid_generator_is_told_with_the_options() {
        let ways = BesideUidGenerator { worker_ids: "--worker-ids", db: "--db" };
        let error = RegistryError::BesideUidGenerator { first: 1, last: 7 };
        let told = ways.told(&error);
        assert!(told.contains("the worker ids up to 7") && told.contains("from 1 on"), "{told}");
        assert!(told.contains("of the same layout, with --worker-ids;"), "{told}");
        assert!(told.ends_with("name another database with --db"), "{told}");
    }
}
