//! Servers that speak the language of another server, and on which nobody has tried this library.

use super::error::Error;

/// A server that is known to be another one.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub struct UnsupportedServer {
    /// What it has in what it says of itself, in small letters.
    pub sign: &'static str,
    pub name: &'static str,
    /// What it does in another way, as a sentence about it.
    pub why: &'static str,
}

/// What a server speaks as, and what to use in its place.
pub struct Alternatives {
    pub spoken: &'static str,
    pub tried: &'static str,
}

/// Finds it among the `servers`, by the `banner` in which the server names itself.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub fn find<'a>(banner: &str, servers: &'a [UnsupportedServer]) -> Option<&'a UnsupportedServer> {
    let banner = banner.to_lowercase();
    servers.iter().find(|other| banner.contains(other.sign))
}

/// The error of a server with this `name`. It is not known `why` it may be unfit if that is empty.
pub fn unsupported(name: &str, why: &str, instead: &Alternatives) -> Error {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let Alternatives { spoken, tried } = instead;
    Error::problem(format!(
        "it is {name}, which speaks as {spoken} does, and on which nobody has tried whether ids \
         stay unique{why}; use {tried}, or another store; or try it out yourself, with many \
         programs that are killed and a server that is, too, and write untried=yes in the address"
    ))
}

#[cfg(all(test, feature = "mysql"))]
mod tests {
    use super::{UnsupportedServer, find};

    #[test]
    fn one_is_found_in_small_letters_and_large_ones() {
        let servers = [UnsupportedServer { sign: "-vitess", name: "Vitess", why: "" }];
        for (banner, is_found) in [
            ("8.0.30-Vitess Version: 19.0.0 (Git revision 1 branch 'x') built on Mon", true),
            ("5.7.9-vitess-10.0.0-SNAPSHOT", true),
            ("8.0.30 MySQL Community Server - GPL", false),
        ] {
            assert_eq!(find(banner, &servers).is_some(), is_found, "{banner}");
        }
    }
}
