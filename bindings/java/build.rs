//! How the library is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Java unloads a library with the class loader that loaded it. The threads of a generator may
    // run on for a moment after that, so their code has to stay.
    let system = env::var("CARGO_CFG_TARGET_OS");
    if !matches!(system.as_deref(), Ok("macos" | "windows")) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if system.as_deref() == Ok("macos") {
        // Or the name would be the folder of who built it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libuidring_java.dylib");
    }
}
