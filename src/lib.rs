//! Unique, positive, time-ordered 64-bit ids, taken at the speed of one atomic add.

mod builder;
mod error;
mod events;
mod filler;
mod generator;
mod installed;
mod keeper;
mod layout;
mod lead;
mod local;
mod ring;
mod run;
mod seconds;
mod shared;
#[cfg(all(test, not(uidring_loom)))]
mod simulation;
mod status;
mod sync;
mod uid;
mod waiters;

pub mod clock;
pub mod registry;

pub use builder::Builder;
pub use error::{
    BuildError, FillError, InstallError, LayoutError, ParseUidError, RegistryError, TakeError, UidRangeError,
};
pub use generator::UidGenerator;
pub use installed::{get_or_try_install, install, take};
pub use layout::{Layout, Parts};
pub use lead::LeadLimit;
pub use local::LocalTaker;
pub use status::{FillerState, Status};
pub use uid::{Base32, Uid};

#[cfg(uidring_loom)]
#[doc(hidden)]
pub mod model {
    //! The rooms that the loom models drive.
    pub use crate::ring::{Block, Ring, is_closed};
    pub use crate::seconds::{Seconds, Window};

    /// The ring of a generator.
    pub fn ring(uids: &crate::UidGenerator) -> &Ring {
        &uids.shared().ring
    }
}
