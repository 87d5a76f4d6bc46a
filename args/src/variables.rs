//! Detection of misspelt names, such as those of environment variables.

use std::env;
use std::ffi::{OsStr, OsString};

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

/// `name` without what spellings of it differ in: `maxlead` for `max-lead`, `max_lead`, `max.lead`,
/// `maxLead` and `MAX_LEAD`. Programs that hand options over write them in all of these ways.
#[must_use]
pub fn normalized(name: &str) -> String {
    name.chars()
        .filter(|sign| !"-_.".contains(*sign))
        .map(|sign| sign.to_ascii_lowercase())
        .collect()
}

/// The one of `names` that `name` is, however it is spelt.
pub fn find_spelling<'a>(name: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = normalized(name);
    names.find(|known| normalized(known) == name)
}

/// The variable `known` of this process, or the only one whose name is another spelling of it.
/// Where there are several of those, it is none of them, because nobody knows which is meant.
#[must_use]
pub fn variable(known: &str) -> Option<OsString> {
    env::var_os(known).or_else(|| {
        let name = normalized(known);
        let mut spelt = env::vars_os()
            .filter(|(other, _)| other.to_str().is_some_and(|other| normalized(other) == name));
        match (spelt.next(), spelt.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    })
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
    fn a_name_is_known_in_each_spelling() {
        let names = || ["max-lead", "lease", "max-lag"].into_iter();
        for name in [
            "max-lead", "max_lead", "max.lead", "maxLead", "MaxLead", "MAX_LEAD", "MAX-LEAD",
            "MAX.LEAD", "maxlead", "MAXLEAD", "Max_Lead",
        ] {
            assert_eq!(find_spelling(name, names()), Some("max-lead"), "{name}");
        }
        for name in ["", "max", "max lead", "maxleads", "max/lead", "ma×lead"] {
            assert_eq!(find_spelling(name, names()), None, "{name}");
        }
    }

    #[test]
    fn an_exchange_is_one_change() {
        assert!(is_near("UIDRING_BD", "UIDRING_DB", 1));
        assert!(!is_near("UIDRING_BDX", "UIDRING_DB", 1));
    }
}
