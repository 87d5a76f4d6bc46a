//! Variables of the environment that look like the tool's, and are not.

use std::env;
use std::ffi::OsString;

use crate::db::VARIABLE;
use crate::output::complain;

/// With so many changes at most, a name is taken for a misspelt one.
const CHANGES: usize = 3;

/// Says so where the environment has a name that is nearly that of the tool's variable.
pub(crate) fn warn() {
    for name in misspelt(env::vars_os().map(|(name, _)| name)) {
        complain(&format!("the variable {name} has no effect; did you mean {VARIABLE}?"));
    }
}

fn misspelt(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let names = names.filter_map(|name| name.into_string().ok());
    let is_misspelt = |name: &String| {
        let upper = name.to_uppercase();
        // Windows does not distinguish them.
        let is_known = name == VARIABLE || cfg!(windows) && upper == VARIABLE;
        !is_known && strsim::osa_distance(&upper, VARIABLE) <= CHANGES
    };
    let mut misspelt: Vec<String> = names.filter(is_misspelt).collect();
    misspelt.sort();
    misspelt
}

#[cfg(test)]
mod tests {
    use super::misspelt;

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
        let mut expected = ["UIDRINGDB", "UIDRING_BD", "UIDRING_DBS", "uidring_db"].to_vec();
        if cfg!(windows) {
            expected.pop();
        }
        assert_eq!(misspelt(names.into_iter().map(Into::into)), expected);
    }
}
