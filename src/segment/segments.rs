//! [`Segments`]: the tags of one source, and their loader.

use std::fmt;

use crate::engine::TakeError;
#[cfg(feature = "async")]
use crate::generator::blocking;
#[cfg(feature = "series")]
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::loader::running::Running;
use crate::segment::{SegmentError, SegmentGenerator, Tag, TagRecord};
use crate::sync::Arc;

/// The numbers of all tags of one source. One per process is enough.
///
/// This is a handle: clones share one loader. The loader takes the next segment of a tag before it
/// is needed, sized for the demand of one [`refresh`](super::Builder::refresh). It has one thread,
/// and starts a short-lived one for each load. An unused tag costs less than 1 KiB, no thread, and
/// no query.
///
/// When the last handle is dropped, including each [`SegmentGenerator`], the loader ends: what is
/// left of each tag is given back to its row, unless another process has taken from the row since.
/// The drop waits for the source. If the process is killed, the numbers in memory are lost.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # use uidring::segment::{Segments, SqliteSegments, Tag};
/// # let dir = tempfile::tempdir()?;
/// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
/// let segments = Segments::builder().source(source).build()?;
/// segments.create("orders", Tag::new().first(100))?;
///
/// let orders = segments.tag("orders")?;
/// assert_eq!(orders.take()?.get(), 100);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Segments {
    running: Arc<Running>,
}

impl Segments {
    pub(super) fn new(running: Running) -> Segments {
        Segments { running: Arc::new(running) }
    }

    /// The numbers of `tag`. The first use of the tag in this process waits until its first load
    /// has ended. Before that load begins, because the source is known to be away or because others
    /// load, it waits at most for [`max_wait`](super::Builder::max_wait), or for a second if that
    /// is longer and the source answers, or may be asked again now.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # use uidring::segment::SegmentError;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// assert_eq!(segments.tag("orders")?.take()?.get(), 1);
    /// let error = segments.tag("ordres").unwrap_err();
    /// assert!(error.to_string().contains("did you mean \"orders\"?"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SegmentError::NoSuchTag`], with similar names, if there is no such tag. Any other
    /// [`SegmentError`] if its numbers cannot be loaded. The next call tries again.
    pub fn tag(&self, tag: &str) -> Result<SegmentGenerator, SegmentError> {
        let engine = self.running.loader.tag(tag)?;
        Ok(SegmentGenerator::new(engine, Arc::clone(&self.running)))
    }

    /// Does what [`tag`](Segments::tag) does, on a thread of its own, so that no runtime is
    /// blocked. It needs no particular runtime. The load goes on if the future is dropped.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # segments.create("orders", Tag::new())?;
    /// let orders = pollster::block_on(async { segments.tag_async("orders").await })?;
    /// assert_eq!(orders.take()?.get(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`tag`](Segments::tag).
    #[cfg(feature = "async")]
    pub async fn tag_async(&self, tag: &str) -> Result<SegmentGenerator, SegmentError> {
        let (segments, tag) = (self.clone(), tag.to_owned());
        run_on_thread("uidring-tag", move || segments.tag(&tag)).await
    }

    /// Creates `tag`, or uses the existing one if it is what `new` asks for. Then works like
    /// [`tag`](Segments::tag).
    ///
    /// An existing tag is compared only with the fields of `new` that are set: its step, largest
    /// step and description must be the same, and its next number must not be below the first one.
    /// Fields that are not set are left to the operator.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// let orders = segments.create("orders", Tag::new().first(1).step(500))?;
    /// assert_eq!(orders.take()?.get(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`tag`](Segments::tag); [`SegmentError::BadTag`] if the tag is not valid;
    /// [`SegmentError::Behind`] or [`SegmentError::Differs`] if the existing one is not what `new`
    /// asks for; [`SegmentError::Ended`] after a shutdown, when nothing is created.
    // `new` is taken by value because it is built for this one call.
    #[allow(clippy::needless_pass_by_value)]
    pub fn create(&self, tag: &str, new: Tag) -> Result<SegmentGenerator, SegmentError> {
        self.running.loader.check_end()?;
        self.running.loader.source().create(tag, &new)?;
        self.tag(tag)
    }

    /// Does what [`create`](Segments::create) does, on a thread of its own, so that no runtime is
    /// blocked. It needs no particular runtime. Once polled, the call goes on even if the future is
    /// dropped.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// let orders = pollster::block_on(async {
    ///     segments.create_async("orders", Tag::new().first(1001)).await
    /// })?;
    /// assert_eq!(orders.take()?.get(), 1001);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`create`](Segments::create).
    #[cfg(feature = "async")]
    pub async fn create_async(
        &self,
        tag: &str,
        new: Tag,
    ) -> Result<SegmentGenerator, SegmentError> {
        let (segments, tag) = (self.clone(), tag.to_owned());
        run_on_thread("uidring-tag", move || segments.create(&tag, new)).await
    }

    /// All tags of the source, sorted. Each call asks the source.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// assert_eq!(segments.tags()?[0].tag, "orders");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SegmentError`] if the source cannot list them.
    pub fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.check_fork()?;
        self.running.loader.source().tags()
    }

    /// Where the numbers come from, without a password.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// assert!(segments.source_name().ends_with("uidring.db"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn source_name(&self) -> String {
        self.running.loader.source_name.clone()
    }

    /// Ends all tags, gives back what is left of each, and returns whether that succeeded. Dropping
    /// the last handle does the same, but returns nothing, and waits as long as the source does.
    ///
    /// From now on all takes fail with [`TakeError::ShutDown`]. Waiting takes fail at once. A take
    /// that has already claimed a number may still return it. The claims of existing local takers
    /// are lost: drop these takers first.
    ///
    /// Blocks the thread until the source has answered, at most for
    /// [`shutdown_deadline`](super::Builder::shutdown_deadline).
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// segments.shutdown()?;
    /// assert_eq!(orders.take(), Err(uidring::TakeError::ShutDown));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SegmentError`] if giving back failed. Those numbers are lost, but everything has ended.
    /// Numbers that a row cannot take back, because others have taken from it since, are lost as
    /// well, which is not an error.
    // `self` is taken by value because the handle has no further use.
    #[allow(clippy::needless_pass_by_value)]
    pub fn shutdown(self) -> Result<(), SegmentError> {
        self.running.shut_down()
    }

    /// Does what [`shutdown`](Segments::shutdown) does, on a thread of its own, so that no runtime
    /// is blocked. It needs no particular runtime. The shutdown begins with this call, even if the
    /// future is dropped.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// pollster::block_on(async { segments.shutdown_async().await })?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`shutdown`](Segments::shutdown).
    #[cfg(feature = "async")]
    pub fn shutdown_async(self) -> impl Future<Output = Result<(), SegmentError>> + Send + 'static {
        self.running.loader.begin_end();
        run_on_thread("uidring-shutdown", move || self.shutdown())
    }

    /// Begins to load the first numbers of `tag`, unless it has some. Nothing is waited for. `None`
    /// if so many first loads are about to begin that this one has to be asked for again. A load
    /// that has not begun when the result is dropped is left out.
    #[cfg(feature = "series")]
    pub(crate) fn begin_first_load(&self, tag: &str) -> Result<Option<PendingTag>, SegmentError> {
        Ok(self.running.loader.begin_first_load(tag)?.map(PendingTag))
    }

    /// The numbers of a tag whose first load has ended, or why there are none. `None` before that.
    #[cfg(feature = "series")]
    pub(crate) fn loaded(
        &self,
        PendingTag(tag): &PendingTag,
    ) -> Option<Result<SegmentGenerator, SegmentError>> {
        if let Err(error) = self.running.loader.check_end() {
            return Some(Err(error));
        }
        let numbers = || SegmentGenerator::new(Arc::clone(tag), Arc::clone(&self.running));
        tag.first_load().map(|result| result.map(|()| numbers()))
    }

    /// Waits until the numbers of a tag that was given up are back in its row, for about a second
    /// at most.
    #[cfg(feature = "series")]
    pub(crate) fn wait_for_return(&self, tag: &str) {
        self.running.loader.wait_for_return(tag);
    }

    /// Whether this is a copy in a process that was forked.
    #[cfg(feature = "series")]
    pub(crate) fn is_forked(&self) -> bool {
        self.running.loader.is_forked()
    }

    /// Whether takes fail for good.
    #[cfg(feature = "series")]
    pub(crate) fn has_ended(&self) -> bool {
        self.running.loader.has_ended()
    }

    /// Fails in a forked process, where the source's connections belong to the parent.
    fn check_fork(&self) -> Result<(), SegmentError> {
        if self.running.loader.is_forked() {
            return Err(SegmentError::Ended { cause: TakeError::Forked });
        }
        Ok(())
    }
}

/// A tag whose first numbers are being loaded.
#[cfg(feature = "series")]
pub(crate) struct PendingTag(Arc<LoadedTag>);

#[cfg(feature = "series")]
impl PendingTag {
    /// Its name.
    pub(crate) fn tag(&self) -> &str {
        &self.0.name
    }

    /// Whether it is given up, so that it has to begin anew.
    pub(crate) fn is_retired(&self) -> bool {
        self.0.is_retired()
    }
}

/// Runs `call` on a thread of its own, which is started before this returns.
#[cfg(feature = "async")]
fn run_on_thread<T: Send + 'static>(
    name: &'static str,
    call: impl FnOnce() -> Result<T, SegmentError> + Send + 'static,
) -> impl Future<Output = Result<T, SegmentError>> + Send + 'static {
    let result = blocking::run(name, call);
    async { result.await.unwrap_or_else(|error| Err(SegmentError::other(error))) }
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments").field("source", &self.source_name()).finish_non_exhaustive()
    }
}
