//! Searches through all states, and a mutation for each rule.

mod leases;
mod lend;
mod past;
mod segments;
