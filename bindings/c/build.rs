//! How the library is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        // Programs look for it in the folders that they were linked with.
        Ok("macos") => argument("-Wl,-install_name,@rpath/libuidring.dylib"),
        Ok("windows") => {}
        _ => {
            // A program must not load a version that is incompatible with the one it was linked
            // with. Before 1.0.0, each minor version may be so. `install` makes the file of this
            // name.
            let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
            argument(&format!("-Wl,-soname,libuidring.so.{major}.{minor}"));
            // A thread that makes a call to a store may run on for a moment after the close, so the
            // code stays where a program calls `dlclose`.
            argument("-Wl,-z,nodelete");
        }
    }
}

fn argument(argument: &str) {
    println!("cargo::rustc-cdylib-link-arg={argument}");
}
