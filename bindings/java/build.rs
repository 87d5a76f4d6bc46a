//! How the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Java unloads a library with the class loader that loaded it. The threads of a generator may
    // run on for a moment after that, so their code has to stay.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
