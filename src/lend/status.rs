//! [`LentStatus`]: what operators see of a loan.

use std::time::Duration;

/// What a [`LentWorker`](super::LentWorker) is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LentStatus {
    /// The id.
    pub id: u64,
    /// Whether ids may be made with it now.
    pub is_held: bool,
    /// For how long, if it is not renewed any more.
    pub time_left: Duration,
    /// How often it was renewed.
    pub renewals: u64,
    /// How often that failed.
    pub failed_renewals: u64,
    /// Why the last renewal failed, if it did.
    pub last_error: Option<String>,
}
