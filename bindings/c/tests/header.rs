//! The header is the one that the sources make.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::env;
use std::fs;
use std::path::Path;

/// With `UIDRING_WRITE_HEADER=1` it writes the header instead.
#[test]
fn the_header_is_the_one_that_the_sources_make() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    cbindgen::generate(package).unwrap().write(&mut made);
    // In C, all that a caller has to see to is said as it comes.
    let made = String::from_utf8(made).unwrap().replace(" * # Safety\n", "");
    let path = package.join("include/uidring.h");
    if env::var_os("UIDRING_WRITE_HEADER").is_some() {
        fs::write(path, made).unwrap();
    } else {
        let hint = "write it anew with UIDRING_WRITE_HEADER=1 cargo test -p uidring-c header";
        assert!(fs::read_to_string(path).unwrap() == made, "{hint}");
    }
}
