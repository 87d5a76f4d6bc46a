//! How a number is written, and of which period it is.

mod check_characters;
pub mod date;
pub mod definition;
pub mod error;
pub mod first_day;
pub mod number;
pub mod pattern;
pub mod period;
pub mod period_bounds;
pub mod scope;
