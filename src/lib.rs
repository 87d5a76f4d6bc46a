//! Unique, positive, time-ordered 64-bit ids, taken at the speed of one atomic add.
//!
//! ```no_run
//! # #[cfg(feature = "sqlite")] {
//! use uidring::UidGenerator;
//! use uidring::registry::SqliteRegistry;
//!
//! let uids = UidGenerator::builder().registry(SqliteRegistry::open("uidring.db")?).build()?;
//! let uid = uids.take()?; // from any thread
//! let parts = uids.layout().parts(uid);
//! assert_eq!(parts.worker, uids.worker_id());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a UID is made
//!
//! ```text
//!      once per start             once per block                      each take
//!
//!   registry ─ worker id ─▶┐
//!                        filler ─ window, blocks ─▶ ring ─ base | offset ─▶ generator ─▶ Uid
//!   clock ──── now ───────▶┘ ▲                       ▲                          │
//!                            │                       └─ missing blocks ──┐      │ once per range
//!                            └───── "half of it is used up" ────────── engine ◀─┘
//! ```
//!
//! A [`registry`] assigns a *worker id*, and never the same tick of it twice. The UIDs of one
//! worker's tick are consecutive and form a *block*, so the *ring* holds only the first UID of each
//! of the next few blocks. A take adds one to a shared counter; the result says which block, and
//! which UID in it. The *filler*, a background thread, puts new blocks into the ring when half of
//! it is used up, ahead of the [`clock`] if need be, and drops those that have become stale.
//!
//! [`Layout`] shows how the bits of a UID are split into time, worker id and sequence.
//!
//! # Where to look
//!
//! * [`UidGenerator`]: `take`, `try_take`, `fill`, `local`, and what they guarantee. [`install`]
//!   makes one process-wide.
//! * [`Builder`]: what can be set. [`Layout`]: the widths of the fields, and ranges of time as
//!   ranges of UIDs.
//! * [`registry`]: where worker ids come from. Without a registry there is no generator.
//! * [`Status`]: what a generator is doing, for operators.
//! * [`design`]: how it works inside, why it is right, and what happens when.
//!
//! # Features
//!
//! * `sqlite` (on by default): `SqliteRegistry`. SQLite is compiled in.
//! * `postgres`, `mysql`: `PostgresRegistry` and `MySqlRegistry`, for many machines, with TLS.
//! * `contract`: `registry::contract`, the tests that every registry must pass, for authors of a
//!   registry.
//! * `serde`: a [`Uid`] is a string in JSON, because JavaScript needs that, and an integer in
//!   binary formats.
//! * `async`: `UidGenerator::take_async`, for any runtime.
//! * `tracing`: one event for each change of state.

// The loom models use modules from outside that are not documented for users.
#![cfg_attr(
    uidring_loom,
    allow(clippy::missing_errors_doc, clippy::missing_panics_doc, clippy::must_use_candidate)
)]
#![cfg_attr(uidring_loom, allow(missing_docs, missing_debug_implementations))]

mod engine;
mod filler;
mod generator;
mod layout;
mod ring;
#[cfg(all(test, not(uidring_loom)))]
mod simulation;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod sql;
mod sync;
mod uid;

pub mod clock;
pub mod registry;

#[cfg(doc)]
#[doc = include_str!("../DESIGN.md")]
pub mod design {}
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
mod readme {}

pub use engine::lead::LeadLimit;
pub use engine::signal::FillerState;
pub use engine::status::Status;
pub use engine::{FillError, TakeError};
pub use generator::builder::Builder;
pub use generator::installed::{get_or_try_install, install, take};
pub use generator::local::LocalTaker;
pub use generator::{BuildError, InstallError, UidGenerator};
pub use layout::{Layout, LayoutError, Parts};
pub use registry::RegistryError;
pub use uid::{Base32, ParseUidError, Uid, UidRangeError};

#[cfg(uidring_loom)]
#[doc(hidden)]
pub mod model {
    //! The types that the loom models use.
    pub use crate::ring::codec::{TickCodec, Window};
    pub use crate::ring::counter::Counter;
    pub use crate::ring::{Block, Ring, is_closed};

    /// The ring of a generator.
    pub fn ring(uids: &crate::UidGenerator) -> &Ring {
        &uids.engine().ring
    }
}
