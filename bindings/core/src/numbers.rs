//! [`Numbers`], the dense numbers of a store.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uidring::segment::{self, ClaimedNumbers, Number, SegmentGenerator, Segments};

use crate::error::Error;
use crate::options::{self, LoadOptions, NewTag, SegmentOptions};
use crate::source::{Claimed, Source, fill, tried};
use crate::status;
use crate::store::{Close, Open, OpenFile, open_store};

/// The dense numbers of a store: one generator for all of its tags.
#[derive(Clone, Debug)]
pub struct Numbers {
    segments: Segments,
    table: uidring_args::Table,
    /// Whether a language may claim numbers. Not where `max_in_memory` says how many there may be:
    /// those that were claimed would come on top.
    may_claim: bool,
    file: OpenFile,
    /// The name of the store, without a password.
    store: Arc<str>,
}

/// The numbers of one tag.
#[derive(Clone, Debug)]
pub struct TagNumbers {
    numbers: SegmentGenerator,
    may_claim: bool,
    /// Numbers may outlive what they are of.
    _file: OpenFile,
    store: Arc<str>,
    /// What the language has claimed last.
    claimed: Arc<Mutex<Option<ClaimedNumbers>>>,
}

impl Open for Numbers {
    fn open(address: &str, options: &[(&str, &str)]) -> Result<Numbers, Error> {
        let options: SegmentOptions = options::parse(options)?;
        let loading = &options.loading;
        let (store, file) = open_store(address, &options.login, Some(loading.timeout))?;
        let source = store.segments_in(options.table.into())?;
        let segments = builder(loading).source(source).build()?;
        let may_claim = loading.max_in_memory.is_none();
        let store = store.to_string().into();
        Ok(Numbers { segments, table: options.table, may_claim, file, store })
    }
}

impl Close for Numbers {
    fn close(&self) -> Result<(), Error> {
        self.segments.clone().shutdown()?;
        self.file.close();
        Ok(())
    }
}

impl Numbers {
    /// Creates a tag, or finds one that is as it is asked for.
    ///
    /// # Errors
    /// The options are wrong, the tag is there in another form, or the store cannot be used.
    pub fn create(&self, tag: &str, options: &[(&str, &str)]) -> Result<TagNumbers, Error> {
        let options: NewTag = options::parse(options)?;
        self.table.check_step(tag, options.tag.has_step())?;
        Ok(self.of(self.segments.create(tag, options.tag.tag()).map_err(about_segments)?))
    }

    /// The numbers of a tag that is there.
    ///
    /// # Errors
    /// The store has no such tag, or cannot be used.
    pub fn tag(&self, tag: &str) -> Result<TagNumbers, Error> {
        Ok(self.of(self.segments.tag(tag).map_err(about_segments)?))
    }

    fn of(&self, numbers: SegmentGenerator) -> TagNumbers {
        TagNumbers {
            numbers,
            may_claim: self.may_claim,
            _file: self.file.clone(),
            store: Arc::clone(&self.store),
            claimed: Arc::default(),
        }
    }
}

impl TagNumbers {
    /// The same numbers for another who claims, whose claims are given back by themselves.
    #[must_use]
    pub fn with_claims_of_its_own(&self) -> TagNumbers {
        TagNumbers { claimed: Arc::default(), ..self.clone() }
    }

    fn claimed(&self) -> MutexGuard<'_, Option<ClaimedNumbers>> {
        // Nothing panics while it is locked.
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back what is left of the last claim, of which the first `used` were given, at least
    /// one.
    pub fn give_back(&self, used: u64) {
        let claimed = self.claimed().take();
        if let Some(claimed) = claimed {
            self.numbers.give_back(claimed, used);
        }
    }

    /// The name of the tag.
    #[must_use]
    pub fn name(&self) -> &str {
        self.numbers.tag()
    }
}

impl Source for TagNumbers {
    #[inline]
    fn take(&self) -> Result<u64, Error> {
        match self.numbers.take() {
            Ok(number) => Ok(number.get()),
            Err(error) => Err(about_segments(error)),
        }
    }

    #[inline]
    fn try_take(&self) -> Result<Option<u64>, Error> {
        tried(self.numbers.try_take(), about_segments)
    }

    async fn take_async(&self) -> Result<u64, Error> {
        self.numbers.take_async().await.map(Number::get).map_err(about_segments)
    }

    fn fill(&self, buffer: &mut [u64]) -> Result<(), (usize, Error)> {
        let filled =
            fill(buffer, Number::MIN, || self.numbers.take(), |numbers| self.numbers.fill(numbers));
        filled.map_err(|(filled, error)| (filled, about_segments(error)))
    }

    /// It waits no longer than `max_wait`.
    fn available(&self) -> usize {
        usize::MAX
    }

    fn try_claim(&self, count: u32) -> Result<Option<Claimed>, Error> {
        match self.numbers.try_claim(count) {
            Ok(claimed) => {
                let ClaimedNumbers { first, length, step, end, .. } = claimed;
                *self.claimed() = Some(claimed);
                Ok(Some(Claimed { first: first.get(), length, step, end }))
            }
            Err(error) => tried(Err::<Number, _>(error), about_segments).map(|_| None),
        }
    }

    fn claims_end(&self) -> Option<&AtomicU64> {
        self.may_claim.then(|| self.numbers.claims_end())
    }

    fn status(&self) -> String {
        status::tag(self.numbers.tag(), &self.store, &self.numbers.status())
    }
}

/// The error, about segments.
#[cold]
fn about_segments(error: impl Into<Error>) -> Error {
    error.into().about("the segments")
}

fn builder(loading: &LoadOptions) -> segment::Builder {
    Segments::builder()
        .max_wait(loading.max_wait)
        .ahead(loading.ahead)
        .refresh(loading.refresh)
        .max_in_memory(loading.max_in_memory.unwrap_or(u64::MAX))
        .loads(loading.loads)
        .shutdown_deadline(loading.shutdown_deadline)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_librarys() {
        let options: SegmentOptions = options::parse(&[]).unwrap();
        assert_eq!(
            format!("{:?}", builder(&options.loading)),
            format!("{:?}", Segments::builder())
        );
    }
}
