//! Addresses of stores. No part of a password is in what is shown of one, or of the error.

#![no_main]

use std::error::Error;
use std::ffi::OsString;
use std::iter::successors;

use libfuzzer_sys::arbitrary::{self, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use uidring::Store;
use uidring::store::{path_of, without_password};
use uidring_args::Db;
use uidring_fuzz::rest;

/// A part of a password, which nothing else in an address has.
const SECRET: &str = "Q7zX9kW3";
/// The same, as an address may escape it.
const ESCAPED: &str = "%517zX9%6bW3";

fuzz_target!(|data: &[u8]| {
    let text = rest(&Unstructured::new(data));
    if text.contains(SECRET) || text.contains(ESCAPED) {
        return;
    }
    let mut input = Unstructured::new(data);
    if let Ok(address) = with_password(&mut input) {
        assert_eq!(path_of(&address), None, "{address:?}");
        look(&address);
    }
    // Whatever it is, it is a file or something that is named without parameters.
    match path_of(&text) {
        Some(path) => assert!(text.contains(&*path.to_string_lossy())),
        None => look(&text),
    }
    let shown = without_password(&text);
    assert!(!shown.contains(['?', '#']), "{shown}");
});

/// An address with a password where one may be.
fn with_password(input: &mut Unstructured<'_>) -> Result<String> {
    let scheme = *input.choose(&[
        "postgres",
        "postgresql",
        "mysql",
        "etcd",
        "c",
        "postgre_sql9",
        "jdbc:postgresql",
        "jdbc:mysql",
        "mariadb",
    ])?;
    let form = input.int_in_range(0..=4)?;
    let secret = if input.ratio(1, 4)? { ESCAPED } else { SECRET };
    let cut = usize::from(input.arbitrary::<u8>()?);
    let text = rest(input);
    let mut parts = text.splitn(5, '\u{1}');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let (before, after, user, host, path) = (part(), part(), part(), part(), part());
    let host = host.replace(['@', '/', '?', '#'], "");
    let path = path.replace(['@', '?', '#'], "");
    // A user that ends early makes the rest a part of the password.
    let user = user.replace(['/', '?', '#', '@'], "");
    let before: String = before.chars().take(cut).collect();
    if [&user, &host, &path].iter().any(|part| part.contains(SECRET) || part.contains(ESCAPED)) {
        return Err(arbitrary::Error::IncorrectFormat);
    }
    let password = format!("{before}{secret}{after}");
    Ok(match form {
        0 | 1 => format!("{scheme}://{user}:{password}@{host}/{path}"),
        2 => format!("{scheme}://{host}/{path}?password={password}"),
        3 => format!("user={user} password={password} host={host}"),
        _ => format!("password = '{password}' dbname={path}"),
    })
}

/// Shows the address in all ways.
fn look(address: &str) {
    hides(address, &without_password(address));
    let db = Db::from(OsString::from(address));
    hides(address, &db.to_string());
    hides(address, &format!("{db:?}"));
    hides(address, &db.value());
    if names_a_file(address) {
        return;
    }
    match Store::open(address) {
        Ok(store) => {
            hides(address, &store.to_string());
            hides(address, &format!("{store:?}"));
            assert_eq!(store.file(), None);
        }
        Err(error) => {
            hides(address, &format!("{error:?}"));
            let causes = successors(Some(&error as &dyn Error), |&error| error.source());
            causes.for_each(|error| hides(address, &error.to_string()));
        }
    }
}

fn hides(address: &str, shown: &str) {
    assert!(!shown.contains(SECRET) && !shown.contains(ESCAPED), "{shown:?} of {address:?}");
}

/// Whether a file would be read, that of a certificate.
fn names_a_file(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    ["sslrootcert", "sslcert", "sslkey", "ssl-", "ssl_", "passfile"]
        .iter()
        .any(|name| address.contains(name))
}
