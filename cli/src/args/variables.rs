//! Environment variables that look like the tool's but are not.

use uidring_args::{is_near, is_variable, meant, mistaken};

use crate::args::db::VARIABLE;
use crate::text::complain;

/// Up to this many changes, a name counts as misspelt.
const CHANGES: usize = 3;

/// Warns of environment variables whose names are similar to the tool's.
pub(crate) fn warn() {
    for sentence in mistaken(|name, _| is_misspelt(name).then(|| meant(name, VARIABLE))) {
        complain(&sentence);
    }
}

fn is_misspelt(name: &str) -> bool {
    !is_variable(name, VARIABLE) && is_near(&name.to_uppercase(), VARIABLE, CHANGES)
}

#[cfg(test)]
mod tests {
    use super::is_misspelt;

    #[test]
    fn names_of_others_are_left_alone() {
        let names = [
            "UIDRING_DB",
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
        let misspelt: Vec<&str> = names.into_iter().filter(|name| is_misspelt(name)).collect();
        assert_eq!(misspelt, expected);
    }
}
