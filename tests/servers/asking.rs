//! What a server says to a program that asks it for a worker id once.

use std::path::PathBuf;
use std::time::Duration;

use uidring::{Store, UidGenerator};

use crate::causes::with_causes;

/// What the error says of the server at `address`, with its causes; nothing where it gives an id.
pub fn said(address: &str) -> String {
    let store = match Store::open(address) {
        Ok(store) => store,
        Err(error) => return with_causes(&error),
    };
    let registry = store.registry().unwrap();
    match UidGenerator::builder().registry(registry).start_deadline(Duration::ZERO).build() {
        Ok(_) => String::new(),
        Err(error) => with_causes(&error),
    }
}

/// Asks each address, and looks for what is said: nothing where it is empty. Returns how many.
pub fn each(cases: &[(String, &str)]) -> usize {
    let wrong: Vec<_> = cases
        .iter()
        .map(|(address, expected)| (address, expected, said(address)))
        .filter(|(_, expected, said)| {
            said.is_empty() != expected.is_empty() || !said.contains(*expected)
        })
        .map(|(address, expected, said)| format!("{address}: {said:?} instead of {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    cases.len()
}

/// A certificate of the tests.
pub fn certificate(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(file)
}

/// The same, for an address.
pub fn named(file: &str) -> String {
    certificate(file).display().to_string().replace(' ', "%20")
}

/// What is in it.
pub fn pem(file: &str) -> String {
    std::fs::read_to_string(certificate(file)).unwrap()
}
