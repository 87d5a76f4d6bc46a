//! The library that the Node.js package `uidring` loads: functions over the core of the bindings.
//!
//! The package's JavaScript has the classes. It holds what a function returned as an *external*,
//! and hands it to the next. No function waits for a store: those that ask one do so on a thread,
//! and the answer comes through the [`Door`](door::Door) of the environment that has asked.
//!
//! Each worker thread of Node.js is an environment of its own, which may end at any time, with
//! calls under way. An answer that comes too late is dropped.

// Nothing is tested in Rust, where there is no Node.js: a test would have no function in use.
#![cfg(not(test))]
// Node.js calls functions with raw pointers, and reads the word that claims are compared with.
#![allow(unsafe_code)]
// Values of JavaScript come by value: texts are copies, and there is nothing else to borrow.
#![allow(clippy::needless_pass_by_value)]

mod counting;
mod door;
mod errors;
mod events;
mod handle;
mod lend;
mod masked;
mod past;
mod segments;
mod series;
mod taker;
mod takes;
mod uids;
mod values;
mod work;
