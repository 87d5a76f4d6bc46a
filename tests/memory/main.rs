//! What is allocated, and that nothing is left. Each test has a process of its own, since the
//! counts are those of the whole process.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/alone.rs"]
mod alone;
#[cfg(all(feature = "series", feature = "sqlite"))]
#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/rows.rs"]
mod rows;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

mod failing_takes;
mod generators;
#[cfg(all(feature = "series", feature = "sqlite"))]
mod scopes;
#[cfg(feature = "series")]
mod series;
mod tags;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes in use since `region` began, more than before.
fn held(region: &Region<'_, System>) -> isize {
    let change = region.change();
    change.bytes_allocated.cast_signed() - change.bytes_deallocated.cast_signed()
}

/// The threads of this process, as Linux tells.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[cfg(not(target_os = "linux"))]
fn threads() -> usize {
    0
}
