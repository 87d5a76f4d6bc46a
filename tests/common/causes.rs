//! The text of an error and its causes.

use std::error::Error;

pub fn with_causes(error: &dyn Error) -> String {
    let cause = |cause| format!(": {}", with_causes(cause));
    error.to_string() + &error.source().map_or(String::new(), cause)
}
