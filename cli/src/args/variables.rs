//! Environment variables that look like the tool's but are not.

use std::env;

use uidring_args::{is_near, is_variable, meant, mistaken, nearest, normalized};

use crate::args::{db, key};
use crate::text::print_error;

/// The tool's variables.
const KNOWN: [&str; 3] = [db::VARIABLE, key::VARIABLE, key::FILE_VARIABLE];

/// Up to this many changes, a name counts as misspelt.
const CHANGES: usize = 3;

/// Warns of environment variables whose names are similar to the tool's.
pub(crate) fn warn() {
    for sentence in mistaken(|name, _| meant_by(name).map(|known| meant(name, known))) {
        print_error(&sentence);
    }
}

/// The variable that `name` was probably meant to be, if it is none itself.
fn meant_by(name: &str) -> Option<&'static str> {
    if KNOWN.iter().any(|known| is_variable(name, known)) || is_in_force(name) {
        return None;
    }
    let upper = name.to_uppercase();
    nearest(&upper, KNOWN.into_iter()).filter(|known| is_near(&upper, known, CHANGES))
}

/// Whether it is another spelling of a variable, and the only one of it.
fn is_in_force(name: &str) -> bool {
    let same = |known: &&&str| normalized(known) == normalized(name);
    KNOWN.iter().find(same).is_some_and(|known| {
        env::var_os(known).is_none() && uidring_args::variable(known).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::meant_by;

    #[test]
    fn names_of_others_are_left_alone() {
        let names = [
            "UIDRING_DB",
            "UIDRING_KEY",
            "UIDRING_KEY_FILE",
            "UIDRING_BD",
            "UIDRING_DBS",
            "UIDRINGDB",
            "uidring_db",
            "UIDRING_SERVER_DB",
            "UIDRING_TEST_POSTGRES",
            "UIDRING_VERSION",
            "UIDRING_PORT_8080_TCP",
            "PATH",
            "DB",
        ];
        let mut expected = ["UIDRING_BD", "UIDRING_DBS", "UIDRINGDB", "uidring_db"].to_vec();
        if cfg!(windows) {
            expected.pop();
        }
        let misspelt: Vec<&str> =
            names.into_iter().filter(|name| meant_by(name).is_some()).collect();
        assert_eq!(misspelt, expected);
    }
    #[test]
    fn the_nearest_of_the_variables_is_meant() {
        assert_eq!(meant_by("UIDRING_BD"), Some("UIDRING_DB"));
        assert_eq!(meant_by("UIDRING_KYE"), Some("UIDRING_KEY"));
        assert_eq!(meant_by("UIDRING_KEYFILE"), Some("UIDRING_KEY_FILE"));
    }
}
