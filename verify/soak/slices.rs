//! What is measured in each slice of the load, and whether it stays as it was.

use std::alloc::System;
use std::fmt;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};

use crate::latency::{KINDS, Kind, QUANTILES, Summary};
use crate::process::Held;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How much more memory may be in use: allocators keep some of what is free.
const MORE_KIB: u64 = 16 * 1024;
/// How much more of it this process may have allocated.
const MORE_HEAP: usize = 1024 * 1024;
/// How much slower calls may become beside their control: neighbours disturb both, but not alike.
const SLOWER: f64 = 10.0;

/// What both processes hold.
#[derive(Clone, Copy, Debug)]
pub struct Both {
    pub own: Held,
    /// The bytes that this process has allocated.
    pub heap: usize,
    pub service: Held,
}

impl Both {
    pub fn now(service: u32) -> Result<Both, String> {
        let Stats { bytes_allocated, bytes_deallocated, .. } = MEMORY.stats();
        let heap = bytes_allocated.saturating_sub(bytes_deallocated);
        let own = Held::by(std::process::id())?;
        Ok(Both { own, heap, service: Held::by(service)? })
    }

    pub fn min(self, other: Both) -> Both {
        Both {
            own: self.own.min(other.own),
            heap: self.heap.min(other.heap),
            service: self.service.min(other.service),
        }
    }

    /// What is more than `before`, while nobody takes.
    pub fn growth_at_rest(&self, before: &Both) -> Vec<String> {
        let mut grown = Vec::new();
        for (who, before, after) in
            [("this process", before.own, self.own), ("the service", before.service, self.service)]
        {
            for (what, before, after) in [
                ("threads", before.threads, after.threads),
                ("open files", before.files, after.files),
            ] {
                if after > before {
                    grown.push(format!("{who} has {after} {what} at rest, {before} before"));
                }
            }
        }
        if self.heap > before.heap + MORE_HEAP {
            grown.push(format!(
                "this process has allocated {} bytes at rest, {} before",
                self.heap, before.heap
            ));
        }
        grown
    }
}

#[allow(clippy::cast_precision_loss)] // one digit is shown
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

impl fmt::Display for Both {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Both { own, heap, service } = self;
        write!(
            f,
            "this process {:.1} MiB ({:.2} MiB allocated), {} threads, {} files; service {:.1} \
             MiB, {} threads, {} files",
            mib(own.kib),
            mib(*heap as u64) / 1024.0,
            own.threads,
            own.files,
            mib(service.kib),
            service.threads,
            service.files
        )
    }
}

/// A part of the load.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub length: Duration,
    /// The smallest of what was seen.
    pub held: Both,
    pub calls: [Summary; KINDS.len()],
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}", self.held)?;
        for (kind, Summary { calls, ns }) in KINDS.iter().zip(self.calls) {
            let [p50, p99, p999] = ns;
            let name = kind.name();
            #[allow(clippy::cast_precision_loss)] // whole calls are shown
            let rate = calls as f64 / self.length.as_secs_f64();
            writeln!(
                f,
                "  {name:>12} {rate:>10.0}/s  p50 {p50:>8} ns  p99 {p99:>9} ns  p99.9 {p999:>10} ns"
            )?;
        }
        Ok(())
    }
}

/// What has become worse from the second quarter to the last one. In the first one, memory and
/// caches fill.
pub fn changes(slices: &[Slice]) -> Vec<String> {
    let quarter = (slices.len() / 4).max(1);
    let (Some(first), Some(last)) =
        (slices.get(quarter..2 * quarter), slices.get(slices.len().saturating_sub(quarter)..))
    else {
        return vec!["there are too few slices".to_owned()];
    };
    let mut worse = Vec::new();
    for (who, kib) in [
        ("this process", (|slice| slice.held.own.kib) as fn(&Slice) -> u64),
        ("the service", |slice| slice.held.service.kib),
    ] {
        let [before, after] = [first, last].map(|part| median(part.iter().map(kib)));
        println!("{who}: {:.1} MiB, at the end {:.1} MiB", mib(before), mib(after));
        if after > before + MORE_KIB {
            worse.push(format!("{who} has {after} KiB in use, {before} KiB before"));
        }
    }
    for (kind, control) in KINDS.iter().filter_map(|kind| Some((*kind, kind.control()?))) {
        for (index, (name, quantile)) in QUANTILES.iter().enumerate() {
            let ns = |part: &[Slice], kind: Kind| {
                median(part.iter().map(|slice| slice.calls[kind as usize].ns[index]))
            };
            let [before, after] = [first, last].map(|part| (ns(part, kind), ns(part, control)));
            #[allow(clippy::cast_precision_loss)] // two digits are shown
            let beside = |(ns, control): (u64, u64)| ns as f64 / control.max(1) as f64;
            let slower = beside(after) / beside(before).max(f64::MIN_POSITIVE);
            println!(
                "{} {name}: {} ns beside {} ns, at the end {} ns beside {} ns: {slower:.2} times",
                kind.name(),
                before.0,
                before.1,
                after.0,
                after.1
            );
            // One call in a thousand is that in which the system ran something else.
            if *quantile < 0.999 && slower > SLOWER {
                worse.push(format!("the {name} of a {} is {slower:.1} times as long", kind.name()));
            }
            if before.0 == 0 || after.0 == 0 {
                worse.push(format!("no {} was measured", kind.name()));
            }
        }
    }
    worse
}

fn median(numbers: impl Iterator<Item = u64>) -> u64 {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
