//! Which layout a service needs.

mod candidates;
mod headroom;
mod report;
mod request;
mod sizing;
mod trade_offs;

pub use candidates::Candidate;
pub use headroom::{Headroom, headroom};
pub use report::Report;
pub use request::{Plan, Problem, Request, nodes, years};
pub use sizing::{BITS, FieldWidths, Needs, YEAR_MS};
pub use trade_offs::{Change, TradeOffs, What, listed, trade_offs};
