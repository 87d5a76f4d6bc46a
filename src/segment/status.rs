//! [`SegmentStatus`]: what a tag is doing.

use std::fmt;
use std::time::Duration;

use crate::segment::SegmentError;
use crate::sync::Arc;

/// The state of a tag at one moment, from
/// [`SegmentGenerator::status`](crate::segment::SegmentGenerator::status).
///
/// Counters are of this process, since it first used the tag. They are read one after the other
/// while takes go on, so they need not add up to the last digit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmentStatus {
    /// Numbers that are loaded and that nobody has taken. If the process is killed now, these are
    /// lost, and what local takers have claimed.
    pub in_memory: u64,
    /// Numbers taken, including those that `fill` and local takers have claimed.
    pub taken: u64,
    /// Numbers that nobody will get: their taker was stopped in the middle of a take for several
    /// segments, a claim was dropped before its end, or a failed take gave its place back after
    /// later ones had been taken.
    pub lost: u64,
    /// The distance from one number to the next.
    pub delta: u64,
    /// How many numbers were loaded the last time.
    pub segment: u64,
    /// The last number that was loaded, once there is one.
    pub last_number: Option<u64>,
    /// Segments loaded.
    pub loads: u64,
    /// How long the last loads took.
    pub load_time: Duration,
    /// Loads that failed.
    pub failures: u64,
    /// Why the last load failed, unless one has succeeded since.
    pub last_failure: Option<Arc<SegmentError>>,
    /// Takes that had to wait for a load.
    pub waits: u64,
    /// The longest of these waits.
    pub longest_wait: Duration,
}

impl fmt::Display for SegmentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "numbers: {} taken, {} in memory, {} lost, {} apart",
            self.taken, self.in_memory, self.lost, self.delta
        )?;
        writeln!(
            f,
            "loads: {} of now {} numbers, in {:?}; {} failed",
            self.loads, self.segment, self.load_time, self.failures
        )?;
        write!(f, "takes that waited: {}, {:?} at most", self.waits, self.longest_wait)?;
        match &self.last_failure {
            Some(error) => write!(f, "\nthe last load failed: {error}"),
            None => Ok(()),
        }
    }
}
