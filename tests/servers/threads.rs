//! The threads that a call to a registry on a server takes: none of its own, unless the caller's
//! thread belongs to a runtime, which must not be blocked by another.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

#[cfg(not(feature = "postgres"))]
use uidring::registry::MySqlRegistry as Registry;
#[cfg(feature = "postgres")]
use uidring::registry::PostgresRegistry as Registry;
use uidring::registry::{Request, WorkerRegistry};
use uidring::{Layout, RegistryError};

use crate::alone::alone;

/// The names of this process's threads.
fn thread_names() -> BTreeSet<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).ok();
    tasks.filter_map(|task| name(task.unwrap())).map(|name| name.trim().to_owned()).collect()
}

/// The threads that are there during a call and not before: the server never answers, so that
/// there is time to look.
fn threads_of_a_call(calls: impl FnOnce(Registry) -> RegistryError + Send) -> Vec<String> {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let scheme = if cfg!(feature = "postgres") { "postgres" } else { "mysql" };
    let url = format!("{scheme}://me@{}/ids", server.local_addr().unwrap());
    let registry = Registry::open(&url).unwrap().with_timeout(Duration::from_secs(1));
    let before = thread_names();
    let caller = thread::Builder::new().name("caller".to_owned());
    thread::scope(|scope| {
        let call = caller.spawn_scoped(scope, || calls(registry)).unwrap();
        // Its connection has been made: the call is under way.
        let _connection = server.accept().unwrap();
        let during = thread_names();
        let error = call.join().unwrap();
        assert!(error.to_string().contains("it did not answer for 1 s"), "{error}");
        during.difference(&before).cloned().collect()
    })
}

fn call(mut registry: Registry) -> RegistryError {
    registry.assign(&Request::new(Layout::DEFAULT, 1, 1)).unwrap_err()
}

#[test]
fn a_call_has_a_thread_of_its_own_only_inside_a_runtime() {
    alone("threads::a_call_has_a_thread_of_its_own_only_inside_a_runtime", || {
        assert_eq!(threads_of_a_call(call), ["caller"]);
        let inside = |registry| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async { call(registry) })
        };
        // Linux shows the first 15 characters of "uidring-database".
        assert_eq!(threads_of_a_call(inside), ["caller", "uidring-databas"]);
    });
}
