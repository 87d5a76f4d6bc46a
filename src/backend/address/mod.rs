//! Addresses of servers: their parts and parameters, how they are shown without the password, the
//! file that holds it, and how a new address takes the place of the old one.

#[cfg(any(feature = "mysql", feature = "postgres"))]
pub mod database;
#[cfg(feature = "_store")]
#[allow(dead_code, reason = "in a build with SQLite alone: a file has no password")]
pub mod escapes;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
pub mod key_server;
#[cfg(feature = "_store")]
#[allow(dead_code, reason = "in a build with SQLite alone: a file has no password")]
pub mod password_file;
pub mod redaction;
#[cfg(any(
    feature = "etcd",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "zookeeper"
))]
pub mod renewal;

/// Whether the parameter `name`, which has this `value`, permits what is refused without it.
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]
pub fn permits(name: &str, value: Option<&str>) -> Result<bool, super::error::Error> {
    match value {
        None => Ok(false),
        Some("yes") => Ok(true),
        Some(_) => {
            let problem = format!("{name} is something else than yes; see the address");
            Err(super::error::Error::problem(problem))
        }
    }
}

/// The parameter of a server that may forget what it has confirmed.
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis"))]
pub const ONLY_FOR_TESTS: &str = "only_for_tests";

/// Tells operators of an address that should have stayed in a test.
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis"))]
#[cfg_attr(not(feature = "tracing"), allow(unused_variables, reason = "it is told by events"))]
pub fn warn_if_only_for_tests(only_for_tests: bool, name: &str) {
    if only_for_tests {
        crate::support::callbacks::event!(
            warn,
            "only_for_tests",
            store = name,
            "this server may forget what it has confirmed, and ids come again then"
        );
    }
}

/// What ends the address of a file that may be on a network file system.
pub const ON_NETWORK: &str = "?network_file_system=yes";
