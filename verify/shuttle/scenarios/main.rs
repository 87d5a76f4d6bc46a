//! The scenarios. `verify/shuttle/run` runs them.

#[cfg(uidring_shuttle)]
mod claims;
#[cfg(uidring_shuttle)]
mod leases;
#[cfg(uidring_shuttle)]
mod limits;
#[cfg(uidring_shuttle)]
mod segments;
#[cfg(uidring_shuttle)]
mod soak;
#[cfg(uidring_shuttle)]
mod takers;
#[cfg(uidring_shuttle)]
mod takes;

/// Without the cfg the library uses std's atomics, so a scenario would pass and prove nothing.
#[cfg(not(uidring_shuttle))]
#[test]
fn needs_the_cfg() {
    panic!("the scenarios need the cfg `uidring_shuttle`: run `verify/shuttle/run`");
}
