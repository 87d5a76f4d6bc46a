//! Signals to processes that tests start.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// Sends a signal, such as `-STOP`. The threads of a process stop one after the other, and on a
/// busy machine the last ones may still answer after `kill` has ended: so this waits until all of
/// them have stopped.
pub fn signal(process: &Child, name: &str) {
    let id = process.id();
    let status = Command::new("kill").args([name, &id.to_string()]).status();
    assert!(status.expect("kill runs").success(), "process {id} is there to get {name}");
    while name == "-STOP" && !is_stopped(id) {
        thread::sleep(Duration::from_millis(1));
    }
}

fn is_stopped(id: u32) -> bool {
    let mut threads = fs::read_dir(format!("/proc/{id}/task")).expect("the process is there");
    // What follows the name in parentheses is the state.
    threads.all(|thread| {
        let stat = fs::read_to_string(thread.expect("a thread").path().join("stat"));
        stat.is_ok_and(|stat| {
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['T', 'Z']))
        })
    })
}
