//! What an id says by the layout of its generator, and which layout a service needs: what the tool
//! and the pages in the browser share. It reads no clock and opens no file, so it also works where
//! there is neither: each function that needs the present time is given it.

mod choice;
mod format;
mod id;
mod length;
pub mod plan;
mod preset;
pub mod quantity;
mod record;
mod time;
mod times;

pub use choice::{LayoutChoice, WrongChoice, tick, widths};
pub use format::{Fields, Format};
pub use id::Id;
pub use length::{lease, length, some_length};
pub use preset::Preset;
pub use record::{Doubt, Record, plausible};
pub use time::time;
pub use times::Times;
