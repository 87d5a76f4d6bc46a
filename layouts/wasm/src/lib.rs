//! What ids say, and plans, for pages in a browser: a request in JSON becomes an answer in JSON.
//!
//! All values of both are strings, because a number of JavaScript holds integers only up to 2^53.

mod answer;
mod apart;
#[cfg(target_family = "wasm")]
mod memory;
mod plan;
mod request;
mod strings;

pub use answer::answer;
