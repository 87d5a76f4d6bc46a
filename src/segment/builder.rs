//! [`Builder`]: the configuration of [`Segments`].

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use super::segments::Segments;
use crate::segment::SegmentSource;
use crate::segment::load::loader::Loader;
use crate::segment::load::loader::running::Running;
use crate::segment::load::policy::Policy;
use crate::segment::load::supplier::Supplier;

impl Segments {
    /// Starts a configuration.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// let segments = Segments::builder().source(source).loads(8).build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// The configuration of [`Segments`].
#[must_use]
pub struct Builder {
    supplier: Option<Box<dyn Supplier>>,
    loads: usize,
    policy: Policy,
    shutdown_deadline: Duration,
    #[cfg(feature = "metrics")]
    measured_tags: Vec<String>,
}

impl Builder {
    fn new() -> Builder {
        Builder {
            supplier: None,
            loads: 4,
            policy: Policy {
                ahead: Duration::from_secs(10),
                refresh: Duration::from_secs(15 * 60),
                max_step: 1_000_000,
                max_in_memory: u64::MAX,
                max_wait: Duration::from_secs(1),
                rest: None,
            },
            shutdown_deadline: Duration::from_secs(15),
            #[cfg(feature = "metrics")]
            measured_tags: Vec::new(),
        }
    }

    /// The source of the numbers. There is no default. A `Box<dyn SegmentSource>` is accepted as
    /// well.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// let segments = Segments::builder().source(source).build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn source(self, source: impl SegmentSource) -> Builder {
        let source: Box<dyn SegmentSource> = Box::new(source);
        Builder { supplier: Some(Box::new(source)), ..self }
    }

    /// A source that knows more of its tags.
    #[cfg(feature = "series")]
    pub(crate) fn supplier(self, supplier: impl Supplier) -> Builder {
        Builder { supplier: Some(Box::new(supplier)), ..self }
    }

    /// How many loads of different tags run at once: 4 unless set. 0 counts as 1. Tags whose last
    /// load failed, as where others hold their rows, get at most half of them, so that they do not
    /// delay other tags. With 1, all share it.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// let segments = Segments::builder().source(source).loads(8).build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loads(self, loads: usize) -> Builder {
        Builder { loads, ..self }
    }

    /// How much demand is kept in memory: numbers for at least this time at the present rate. 10
    /// seconds unless set. Takes do not notice an outage of the source that is shorter.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// use std::time::Duration;
    ///
    /// let segments = Segments::builder().source(source).ahead(Duration::from_secs(60)).build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ahead(mut self, ahead: Duration) -> Builder {
        self.policy.ahead = ahead;
        self
    }

    /// How often a busy tag asks the source: about once in this time, 15 minutes unless set, as far
    /// as the step of its row and [`max_step`](Builder::max_step) allow. Each segment is at most
    /// four times as large as the one before.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// use std::time::Duration;
    ///
    /// let builder = Segments::builder().source(source).refresh(Duration::from_secs(3600));
    /// let segments = builder.build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh(mut self, refresh: Duration) -> Builder {
        self.policy.refresh = refresh;
        self
    }

    /// The most numbers per load, if the row of the tag sets no limit: 1,000,000 unless set. A
    /// larger step of the row takes precedence. This bounds one load, and not what a kill loses: a
    /// tag in demand has several loads in memory. [`max_in_memory`](Builder::max_in_memory) bounds
    /// that.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// let segments = Segments::builder().source(source).max_step(10_000).build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_step(mut self, max_step: u64) -> Builder {
        self.policy.max_step = max_step;
        self
    }

    /// The most numbers of a tag in memory: as many as [`ahead`](Builder::ahead) and
    /// [`refresh`](Builder::refresh) ask for unless set. If the process is killed, the numbers in
    /// memory are lost, so this is how many of a tag a kill loses at most, besides what takers have
    /// claimed and not used. A larger step of the row takes precedence, because a load gives as
    /// many at least. At twice the step or more, takes need not wait for each load; what is in
    /// memory then covers a shorter outage of the source.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// let segments = Segments::builder().source(source).max_in_memory(10_000).build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_in_memory(mut self, max_in_memory: u64) -> Builder {
        self.policy.max_in_memory = max_in_memory;
        self
    }

    /// How long a take waits when no numbers are in memory, before it fails: one second unless set.
    /// A batch waits up to this time for each segment that it needs. Waiting threads are parked. A
    /// failing take may return up to 5 ms later, and at most half of this time later, so that
    /// several threads wake together.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// use std::time::Duration;
    ///
    /// let builder = Segments::builder().source(source).max_wait(Duration::from_millis(50));
    /// let segments = builder.build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_wait(mut self, max_wait: Duration) -> Builder {
        self.policy.max_wait = max_wait;
        self
    }

    /// How long a tag may give no number before it is given up: what is left goes back to its row,
    /// and its takes fail with [`TakeError::ShutDown`]. For ever unless set.
    #[cfg(feature = "series")]
    pub(crate) fn rest(mut self, rest: Duration) -> Builder {
        self.policy.rest = Some(rest);
        self
    }

    /// How long a shutdown waits until everything left has been given back: 15 seconds unless set.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// use std::time::Duration;
    ///
    /// let builder = Segments::builder().source(source).shutdown_deadline(Duration::from_secs(2));
    /// let segments = builder.build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_deadline(self, shutdown_deadline: Duration) -> Builder {
        Builder { shutdown_deadline, ..self }
    }

    /// Tags that have [metrics](crate#metrics) of their own from their first numbers on, in
    /// addition to those named before. The first hundred failing tags also get them. All others are
    /// included in the totals of the source.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// let builder = Segments::builder().source(source).measured_tags(["orders", "invoices"]);
    /// let segments = builder.build()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "metrics")]
    pub fn measured_tags(mut self, tags: impl IntoIterator<Item = impl Into<String>>) -> Builder {
        self.measured_tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Starts the loader. The source is not contacted yet.
    ///
    /// ```
    /// # use uidring::segment::Segments;
    /// let error = Segments::builder().build().unwrap_err();
    /// assert_eq!(error.to_string(), "segments need a source: call Builder::source");
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what is missing.
    pub fn build(self) -> Result<Segments, BuildError> {
        let supplier = self.supplier.ok_or(BuildError::NoSource)?;
        let (loader, parker) = Loader::new(
            supplier,
            self.policy,
            self.loads,
            #[cfg(feature = "metrics")]
            self.measured_tags,
        );
        let running =
            Running::start(loader, parker, self.shutdown_deadline).map_err(BuildError::Spawn)?;
        Ok(Segments::new(running))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("source", &self.supplier.as_ref().map(|supplier| supplier.source().name()))
            .field("loads", &self.loads)
            .field("policy", &self.policy)
            .field("shutdown_deadline", &self.shutdown_deadline)
            .finish_non_exhaustive()
    }
}

/// [`Segments`] cannot be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The builder was given no source.
    NoSource,
    /// The loader's thread cannot be started.
    Spawn(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildError::NoSource => "segments need a source: call Builder::source",
            BuildError::Spawn(_) => "the thread that loads segments cannot be started",
        })
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            BuildError::NoSource => None,
            BuildError::Spawn(error) => Some(error),
        }
    }
}
