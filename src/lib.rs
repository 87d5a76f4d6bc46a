//! Unique, positive, time-ordered 64-bit ids, taken at the speed of one atomic add.

mod error;
mod filler;
mod generator;
mod installed;
mod layout;
mod local;
mod ring;
mod seconds;
mod status;
mod sync;
mod uid;

pub mod clock;
pub mod registry;

pub use error::{
    BuildError, FillError, InstallError, LayoutError, ParseUidError, RegistryError, TakeError, UidRangeError,
};
pub use generator::{Builder, UidGenerator};
pub use installed::{get_or_try_install, install, take};
pub use layout::{Layout, Parts};
pub use local::LocalTaker;
pub use status::{FillerState, Status};
pub use uid::{Base32, Uid};

#[cfg(uidring_loom)]
#[doc(hidden)]
pub mod model {
    //! The rooms that the loom models drive.
    pub use crate::ring::{Block, Ring};
    pub use crate::seconds::{Seconds, Window};
}
