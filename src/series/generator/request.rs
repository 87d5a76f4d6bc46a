//! What was answered to requests, so that one that is repeated gets the same numbers.

use super::SeriesGenerator;
use crate::series::error::SeriesError;
use crate::series::store::Remembered;

/// The most characters of a request's name.
const MAX_REQUEST: usize = 64;

impl SeriesGenerator {
    /// What [`remember`](SeriesGenerator::remember) has stored for this request within a day. Asks
    /// the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`] or [`SeriesError::Storage`].
    pub fn recall(&self, request: &str) -> Result<Option<Remembered>, SeriesError> {
        self.handle.shared.check_fork()?;
        self.handle.shared.cache.store.recall(self.name(), request)
    }

    /// Stores what was answered to a request, for a day, unless an answer is there: the first one
    /// counts, whichever process stores it. Returns what is stored then. For services whose clients
    /// repeat requests of which they had no answer.
    ///
    /// A `request` is a name of 1 to 64 characters of ASCII, one for all scopes. `asked` and
    /// `answer` are texts of the caller's.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let customers = series.create("customers", SeriesDefinition::new("C-{n}")?)?;
    /// assert_eq!(customers.recall("a7f0")?, None);
    /// let first = customers.take()?;
    /// assert_eq!(customers.remember("a7f0", "one number", first.as_str())?.answer, "C-1");
    /// let second = customers.take()?; // of the same request, at the same time
    /// assert_eq!(customers.remember("a7f0", "one number", second.as_str())?.answer, "C-1");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`], [`SeriesError::BadRequest`] or [`SeriesError::Storage`].
    pub fn remember(
        &self,
        request: &str,
        asked: &str,
        answer: &str,
    ) -> Result<Remembered, SeriesError> {
        let is_short = (1..=MAX_REQUEST).contains(&request.len());
        if !is_short || !request.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SeriesError::BadRequest { request: request.to_owned() });
        }
        self.handle.shared.check_fork()?;
        self.handle.shared.cache.store.remember(self.name(), request, asked, answer)
    }
}
