//! How much the longest tests do.

use std::env;

/// `whole` if the environment variable `UIDRING_WHOLE_TESTS` is set, as `.ci/run --long` sets it,
/// or else `small`, so that `cargo test` is soon done.
pub fn size<T>(whole: T, small: T) -> T {
    if env::var_os("UIDRING_WHOLE_TESTS").is_some() { whole } else { small }
}
