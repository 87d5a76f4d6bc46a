//! A test in a process of its own.
#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::env;
use std::process::Command;

const ALONE: &str = "UIDRING_TEST_ALONE";

/// Runs `body`, which is the test `name`, in a new process.
pub fn alone(name: &str, body: fn()) {
    if env::var_os(ALONE).is_some() {
        return body();
    }
    let this = env::current_exe().unwrap();
    let output =
        Command::new(this).args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "no test is called {name}: {text}");
}
