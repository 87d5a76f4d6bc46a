//! How the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A program must not load a version that is incompatible with the one it was linked with.
    // Before 1.0.0, each minor version may be so. `install` makes the file of this name.
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libuidring.so.{major}.{minor}");
    // A thread that makes a call to a store may run on for a moment after the close, so the code
    // stays where a program calls `dlclose`.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
