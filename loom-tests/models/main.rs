//! The models. `loom-tests/run` runs them.

#[cfg(uidring_loom)]
mod cursor;
#[cfg(uidring_loom)]
mod exact;
#[cfg(uidring_loom)]
mod front;
#[cfg(uidring_loom)]
mod generator;
#[cfg(uidring_loom)]
mod ring;
#[cfg(uidring_loom)]
mod segments;
#[cfg(uidring_loom)]
mod window;

/// Without the cfg the library uses std's atomics, so a model would pass and prove nothing.
#[cfg(not(uidring_loom))]
#[test]
fn needs_the_cfg() {
    panic!("the models need the cfg `uidring_loom`: run `loom-tests/run`");
}
