//! What is asked for, and what is given.

use std::fmt::{self, Write};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::error::LendError;
use super::rules::{Ask, length_ms, ms_of};
use crate::backend::error::random_text;
use crate::clock::{Clock, SystemClock};
use crate::registry::this_host;

/// A lease and a rest, unless set otherwise.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// What a borrower asks of a pool: see [`WorkerPool::grant`](super::WorkerPool::grant).
///
/// ```
/// use std::time::Duration;
///
/// use uidring::lend::LoanRequest;
///
/// let request = LoanRequest { lease: Duration::from_secs(60), ..LoanRequest::new() };
/// assert_eq!(request.rest, Duration::from_secs(600));
/// ```
#[derive(Clone)]
pub struct LoanRequest {
    /// How long the loan lasts, from each renewal on: 1 s to 30 days.
    pub lease: Duration,
    /// How long nobody gets the id after that: 1 s to 30 days. It is the largest difference between
    /// any two clocks that is believed, and the largest step of the store's.
    pub rest: Duration,
    /// What the clock shows that the borrower makes ids by.
    pub clock: SystemTime,
    /// Where the borrower runs, for people who read the list of loans.
    pub host: String,
    /// The secret by which the loan is renewed and returned: 16 to 128 visible characters of ASCII.
    /// Whoever asks again with the same one gets the same id, renewed, as long as the loan lasts.
    /// Of two leases and rests, the longer ones hold from then on.
    /// `None` for one of random numbers.
    pub secret: Option<String>,
}

impl LoanRequest {
    /// Ten minutes of lease and of rest, by this machine's clock and name.
    #[must_use]
    pub fn new() -> LoanRequest {
        LoanRequest {
            lease: TEN_MINUTES,
            rest: TEN_MINUTES,
            clock: SystemClock.now(),
            host: this_host(),
            secret: None,
        }
    }

    /// The request in numbers, and the secret.
    pub(super) fn ask(&self) -> Result<(Ask, String), LendError> {
        let lease_ms = length_ms(self.lease).ok_or(LendError::Lease { lease: self.lease })?;
        let rest_ms = length_ms(self.rest).ok_or(LendError::Rest { rest: self.rest })?;
        let secret = match &self.secret {
            Some(secret) if is_secret(secret) => secret.clone(),
            Some(_) => return Err(LendError::Secret),
            None => random_secret()?,
        };
        let host: String =
            self.host.chars().filter(|character| !character.is_control()).take(255).collect();
        let ask = Ask {
            holder: hash_of(&secret),
            may_be_repeated: self.secret.is_some(),
            host: if host.is_empty() { "unknown".to_owned() } else { host },
            lease_ms,
            rest_ms,
            clock: ms_of(self.clock),
        };
        Ok((ask, secret))
    }
}

impl Default for LoanRequest {
    fn default() -> LoanRequest {
        LoanRequest::new()
    }
}

/// Hides the secret.
impl fmt::Debug for LoanRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanRequest")
            .field("lease", &self.lease)
            .field("rest", &self.rest)
            .field("clock", &self.clock)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

fn is_secret(text: &str) -> bool {
    (16..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What a store keeps of a secret: SHA-256, in hexadecimal. So nobody who reads the table can renew
/// or return the loan of another.
pub(super) fn hash_of(secret: &str) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(secret) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn random_secret() -> Result<String, LendError> {
    random_text().map_err(|error| {
        let cause = format!("{error:?}");
        LendError::Storage(crate::backend::StorageError::failed("make a secret".to_owned(), cause))
    })
}

/// An id that was lent.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The id: 1 to 2<sup>bits</sup> - 1.
    pub id: u64,
    /// What renews and returns the loan. Only its hash is in the store.
    pub secret: String,
    /// How long the loan lasts, counted from before the request was sent.
    pub lease: Duration,
}

/// Hides the secret.
impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("id", &self.id)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}
