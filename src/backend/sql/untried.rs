//! Servers that speak the language of a database and are another, on which nobody has tried this
//! library.

use super::Error;

/// A server that is known to be another one.
pub struct Other {
    /// What it has in what it says of itself, in small letters.
    pub sign: &'static str,
    pub name: &'static str,
    /// What it does in another way, as a sentence about it; empty where that is not known.
    pub why: &'static str,
}

/// Finds it among the `others`, by what it has `said` of itself.
pub fn found<'a>(said: &str, others: &'a [Other]) -> Option<&'a Other> {
    let said = said.to_lowercase();
    others.iter().find(|other| said.contains(other.sign))
}

/// The error of a server with this `name`, which speaks as a `database` does, and `tried` are the
/// servers to use.
pub fn refused(name: &str, why: &str, database: &str, tried: &str) -> Error {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    Error::problem(format!(
        "it is {name}, which speaks as {database} does, and on which nobody has tried whether ids \
         stay unique{why}; use {tried}, or another store; or try it out yourself, with many \
         programs that are killed and a server that is, too, and write untried=yes in the address"
    ))
}

#[cfg(all(test, feature = "mysql"))]
mod tests {
    use super::{Other, found};

    #[test]
    fn one_is_found_in_small_letters_and_large_ones() {
        let others = [Other { sign: "-vitess", name: "Vitess", why: "" }];
        for (said, is_found) in [
            ("8.0.30-Vitess Version: 19.0.0 (Git revision 1 branch 'x') built on Mon", true),
            ("5.7.9-vitess-10.0.0-SNAPSHOT", true),
            ("8.0.30 MySQL Community Server - GPL", false),
        ] {
            assert_eq!(found(said, &others).is_some(), is_found, "{said}");
        }
    }
}
