//! How the library is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Node.js unloads a library when the last worker that has loaded it ends. The threads of a
    // generator may run on for a moment after that, so their code has to stay.
    let system = env::var("CARGO_CFG_TARGET_OS");
    if !matches!(system.as_deref(), Ok("macos" | "windows")) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if system.as_deref() == Ok("macos") {
        // Node.js' functions are found when the library is loaded.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-undefined,dynamic_lookup");
    }
}
