//! What the bindings to other languages share.
//!
//! A binding is a thin face: names, options, checks and sentences come from here, so that they are
//! the same in each language. [`Uids`], [`PastUids`], [`Numbers`] and [`SeriesStore`] take options
//! as texts, such as `lease=10m`, and each call fails with an [`Error`], whose [`Kind`] is an
//! exception or a code of the binding.

mod counting;
mod error;
pub mod events;
mod files;
mod lend;
mod masked;
mod module;
mod numbers;
mod options;
mod past;
mod series;
mod source;
mod status;
mod store;
mod uids;
mod watched;

pub use counting::{AskError, Asking, Counting, Places, Reading, Rows, Statement, Step};
pub use error::{Error, Kind, guarded};
pub use lend::{LentId, Loss};
pub use masked::{MaskedIds, OpaqueIds};
pub use module::keep_loaded;
pub use numbers::{Numbers, TagNumbers};
pub use options::{OptionList, option_example, options_of};
pub use past::PastUids;
pub use series::{OneSeries, PeriodText, ReadNumber, SeriesStore, dialect};
pub use source::{Claimed, Source};
pub use status::flat;
pub use store::{Close, Open};
pub use uidring::series::{Dialect, Period, SeriesNumber, SqlValue};
pub use uidring_args::without_passwords;
pub use uids::{Parts, Uids, not_an_id};
/// For a copy of the text of keys, which is overwritten when it is dropped.
pub use zeroize::Zeroizing;
