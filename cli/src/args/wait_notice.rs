//! Tells the user when a registry call takes long.

use std::thread;
use std::time::Duration;

use crossbeam::channel::{RecvTimeoutError, bounded};
use uidring_args::Db;

use crate::text::print_error;

/// After this time, users wonder what the program is waiting for. A call normally takes
/// milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs a `call` to the registry `db`. If it takes long, prints what it is waiting for.
pub(crate) fn with_wait_notice<T>(db: &Db, call: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        // Nothing is sent on this channel. It closes when the call returns.
        let (calling, returned) = bounded::<()>(0);
        scope.spawn(move || {
            if returned.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                print_error(&format!("waiting for the registry {db}, {}", reason(db)));
            }
        });
        let result = call();
        drop(calling);
        result
    })
}

fn reason(db: &Db) -> &'static str {
    match db {
        Db::Own(_) | Db::File(_) | Db::OnNetwork(_) => "which another process may have locked",
        Db::Url(_) => "which has not answered yet",
    }
}
