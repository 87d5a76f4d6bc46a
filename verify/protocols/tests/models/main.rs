//! Searches through all states, and a mutation for each rule.

mod leases;
mod past;
mod segments;
