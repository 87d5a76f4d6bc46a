//! The budget of open files. Each connection needs one, and each call to the database a few. Some
//! are kept for the database, so that clients with open connections cannot use them all up.

use crate::config::limits::CALLS;

/// Files that one call to the database opens: for SQLite the file, its lock, its journal and its
/// folder; for a server the connection and the runtime that waits for it.
const CALL: u64 = 4;
/// Loads of numbers that run at once.
const LOADS: usize = 4;
/// The most calls to the database at once: calls of requests, requests that wait for the first
/// numbers of a tag, loads, and the service's own calls.
const MOST_CALLS: u64 = (2 * CALLS + 2 * LOADS) as u64;
/// The fewest calls at once: one of each kind.
const FEWEST_CALLS: u64 = 4;
/// Files of the process itself: its outputs, and connections that are being refused.
const OWN: u64 = 26;
/// Files of each thread: its runtime. It also has one for each listener.
const THREAD: u64 = 5;

/// How the open files are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) connections: u32,
    /// The number of requests that may call the database, and the number that may wait for the
    /// first numbers of a tag.
    pub(crate) calls: usize,
    pub(crate) loads: usize,
}

impl Plan {
    /// Raises the limit of the process as far as the system allows, and divides it.
    pub(crate) fn make(threads: usize, listeners: usize, connections: u32) -> Result<Plan, String> {
        #[cfg(unix)]
        let limit = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(u64::MAX);
        #[cfg(not(unix))]
        let limit = u64::MAX;
        let least = least(threads, listeners);
        let plan = Plan::within(limit, least, connections).ok_or_else(|| {
            format!(
                "the system allows this process {limit} open files, and it needs {least} at least \
                 for {threads} threads and the database; raise the limit, as by LimitNOFILE= of \
                 systemd or ulimit -n"
            )
        })?;
        if plan.connections < connections {
            tracing::warn!(
                open_files = limit,
                connections = plan.connections,
                "the system allows too few open files for --max-connections: some are kept for the \
                 database, and there may be fewer connections"
            );
        }
        Ok(plan)
    }

    fn within(limit: u64, least: u64, wanted: u32) -> Option<Plan> {
        let left = limit.checked_sub(least)? + 1 + FEWEST_CALLS * CALL;
        let reserve = (MOST_CALLS * CALL).min(left / 3 * 2).max(FEWEST_CALLS * CALL);
        let connections = u32::try_from(left - reserve).unwrap_or(u32::MAX).min(wanted);
        let calls = if reserve == MOST_CALLS * CALL {
            CALLS
        } else {
            usize::try_from(reserve / CALL / FEWEST_CALLS).unwrap_or(1)
        };
        Some(Plan { connections, calls, loads: calls.min(LOADS) })
    }
}

/// Files for one connection and the fewest calls.
fn least(threads: usize, listeners: usize) -> u64 {
    OWN + (THREAD + listeners as u64) * threads as u64 + FEWEST_CALLS * CALL + 1
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_database() {
        let plan = |limit| Plan::within(limit, least(2, 1), 20_000);
        let all = Plan { connections: 20_000, calls: CALLS, loads: LOADS };
        assert_eq!((plan(u64::MAX), plan(65_536)), (Some(all), Some(all)));
        for limit in [55, 56, 64, 100, 256, 1024, 4096, 20_000, 20_197, 20_198] {
            let Plan { connections, calls, loads } = plan(limit).unwrap();
            assert!(connections > 0 && calls > 0 && loads > 0, "{limit}");
            let calls = (2 * calls + 2 * loads) as u64;
            let used = OWN + 2 * (THREAD + 1) + u64::from(connections) + calls * CALL;
            assert!(used <= limit, "{limit}: {connections} connections and {calls} calls");
        }
        assert_eq!((plan(54), plan(0)), (None, None));
    }
}
