//! The models. `loom-tests/run` runs them.

#[cfg(uidring_loom)]
mod cursor;
#[cfg(uidring_loom)]
mod front;
#[cfg(uidring_loom)]
mod generator;
#[cfg(uidring_loom)]
mod ring;
#[cfg(uidring_loom)]
mod window;

/// Without the cfg the library runs on std's atomics, and a model of it would pass without having
/// shown anything.
#[cfg(not(uidring_loom))]
#[test]
fn needs_the_cfg() {
    panic!("the models need the cfg `uidring_loom`: run `loom-tests/run`");
}
