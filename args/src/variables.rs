//! Detection of misspelt names, such as those of environment variables.

use std::env;
use std::ffi::OsStr;

/// Calls `mistake` with the name and value of each environment variable, and returns its messages,
/// sorted.
pub fn mistaken(mistake: impl Fn(&str, &OsStr) -> Option<String>) -> Vec<String> {
    let mut sentences: Vec<String> =
        env::vars_os().filter_map(|(name, value)| mistake(name.to_str()?, &value)).collect();
    sentences.sort();
    sentences
}

/// A message about the variable `name`, which was probably meant to be `meant`.
#[must_use]
pub fn meant(name: &str, meant: &str) -> String {
    format!("the variable {name} has no effect; did you mean {meant}?")
}

/// Whether `name` names the variable `known`.
#[must_use]
pub fn is_variable(name: &str, known: &str) -> bool {
    // Windows does not distinguish upper and lower case.
    name == known || cfg!(windows) && name.to_uppercase() == known
}

/// Whether `name` becomes `known` by inserting, deleting, replacing or swapping at most `changes`
/// letters.
#[must_use]
pub fn is_near(name: &str, known: &str, changes: usize) -> bool {
    strsim::osa_distance(name, known) <= changes
}

/// The one of `names` that `name` was probably meant to be. A longer name may have more mistakes.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, nearest) =
        names.map(|known| (strsim::osa_distance(name, known), known)).min()?;
    (distance <= 1 + nearest.len() / 5).then_some(nearest)
}

/// A message about `name`, which is no `kind`, such as a key. `names` are those that there are.
#[must_use]
pub fn unknown(kind: &str, name: &str, names: &[&str]) -> String {
    let meant = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("; did you mean {meant}? The"),
        None => "; the".to_owned(),
    };
    format!("there is no {kind} {name:?}{meant} {kind}s are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_with_the_nearest() {
        let names = ["listen", "max-body"];
        assert_eq!(
            unknown("key", "lisen", &names),
            "there is no key \"lisen\"; did you mean listen? The keys are listen, max-body"
        );
        assert_eq!(
            unknown("key", "colour", &names),
            "there is no key \"colour\"; the keys are listen, max-body"
        );
    }

    #[test]
    fn the_nearest_name_is_near() {
        let names = || ["listen", "max-body", "max-header"].into_iter();
        assert_eq!(nearest("lisen", names()), Some("listen"));
        assert_eq!(nearest("max_bdy", names()), Some("max-body"));
        assert_eq!(nearest("maximum", names()), None);
        assert_eq!(nearest("listen", std::iter::empty()), None);
    }

    #[test]
    fn an_exchange_is_one_change() {
        assert!(is_near("UIDRING_BD", "UIDRING_DB", 1));
        assert!(!is_near("UIDRING_BDX", "UIDRING_DB", 1));
    }
}
