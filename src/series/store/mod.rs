//! [`SeriesStore`], where series are kept.

pub mod counter;
#[cfg_attr(
    not(any(feature = "mysql", feature = "postgres", feature = "sqlite")),
    allow(dead_code) // the databases look at it
)]
pub mod last_numbers;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub mod sql;

use std::fmt::Debug;
use std::time::SystemTime;

use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::definition::SeriesDefinition;
use crate::series::form::period::Period;
use counter::Counter;
use last_numbers::LastNumbers;

/// A store that has series. Calls block, each at most for the store's time limit, and each is one
/// durable transaction.
pub(crate) trait SeriesStore: Debug + Send + Sync {
    /// The path, or the address without the password.
    fn name(&self) -> String;

    /// Creates a series, or returns the one that is there.
    fn create(&self, name: &str, new: &SeriesDefinition) -> Result<SeriesRecord, SeriesError>;

    fn record(&self, name: &str) -> Result<SeriesRecord, SeriesError>;

    /// All series, sorted by their names.
    fn records(&self) -> Result<Vec<SeriesRecord>, SeriesError>;

    /// The series that were created last, those first, and at most `most`; and how many there are.
    fn newest(&self, most: usize) -> Result<(Vec<SeriesRecord>, u64), SeriesError>;

    /// Adds a version that begins with the day `begins`, where the newest one has this `number`.
    /// Fails if the day is closed, or if numbers of a period from it on have been given, unless the
    /// version takes the place of the one that began with the same day.
    fn change(
        &self,
        name: &str,
        number: u32,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError>;

    /// Takes at most `count` numbers of `counter`, which are at least `first` and at most
    /// `largest`. When this returns, nobody else can get them. The counter is made if it is not
    /// there. Fails where the row would give numbers that this process has had.
    fn take(&self, counter: &Counter<'_>, wanted: Wanted<'_>) -> Result<TakenRange, SeriesError>;

    /// Gives back these numbers, if the last of them is the last one given, and the row is theirs.
    /// Returns whether it was.
    fn give_back(&self, counter: &Counter<'_>, unused: TakenRange) -> Result<bool, SeriesError>;

    /// Closes all periods that end before the day `before`.
    fn close(&self, name: &str, before: Date) -> Result<SeriesRecord, SeriesError>;

    /// Removes the counters of closed periods. Returns how many there were.
    fn prune(&self, name: &str) -> Result<u64, SeriesError>;

    /// What was answered to a request within the last day.
    fn recall(&self, series: &str, request: &str) -> Result<Option<Remembered>, SeriesError>;

    /// Stores what was answered to a request, unless an answer is there that is not older than a
    /// day. Returns what is there then. Removes some that are older.
    fn remember(
        &self,
        series: &str,
        request: &str,
        asked: &str,
        answer: &str,
    ) -> Result<Remembered, SeriesError>;

    /// `most` of the counters of a series, those of the newest periods, sorted by the period and
    /// then by the scope.
    fn counters(&self, name: &str, most: usize) -> Result<Vec<CounterRecord>, SeriesError>;

    /// How many counters a series has.
    fn count_counters(&self, name: &str) -> Result<u64, SeriesError>;
}

/// Which numbers a process would like.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(any(feature = "mysql", feature = "postgres", feature = "sqlite")), allow(dead_code))]
pub(crate) struct Wanted<'a> {
    pub count: u64,
    /// The first number of a period.
    pub first: u64,
    /// The largest number that fits.
    pub largest: u64,
    /// What this process was given before.
    pub last_numbers: &'a LastNumbers,
    /// The series as this process knows it.
    pub record: &'a SeriesRecord,
}

/// The numbers that a process has got, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenRange {
    pub first: u64,
    pub last: u64,
    /// When the row of the counter was written.
    pub created: i64,
}

/// What a store knows of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeriesRecord {
    /// Its name.
    pub name: String,
    /// Its versions, the oldest first: at least one.
    pub versions: Vec<SeriesVersion>,
    /// Periods that end before this day are closed.
    pub closed_before: Date,
    /// Larger after each change.
    pub(crate) revision: i64,
    /// When its row was written, which tells it from another series of this name.
    pub(crate) created: i64,
}

/// A definition, from a day on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeriesVersion {
    /// Counted from 1.
    pub number: u32,
    /// The first day whose numbers it writes. One that began at once, with a wider number, has that
    /// of the version whose place it took.
    pub begins: Date,
    /// What the series is from then on. All versions have one time zone, and one way of counting.
    pub definition: SeriesDefinition,
}

/// What a store knows of one period of one scope of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterRecord {
    /// The scope; empty if none was named.
    pub scope: String,
    /// The period.
    pub period: Period,
    /// The version of the definition that writes its numbers.
    pub version: u32,
    /// The last number given. Processes may still have some of them in memory.
    pub last: u64,
    /// When the first number was given.
    pub created: Option<SystemTime>,
    /// When numbers were last given.
    pub updated: Option<SystemTime>,
}

/// What was answered to a request, as
/// [`SeriesGenerator::remember`](super::SeriesGenerator::remember) stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remembered {
    /// What was asked for.
    pub asked: String,
    /// What was answered.
    pub answer: String,
}

impl SeriesRecord {
    /// The version that writes the numbers of this day: of those with one first day the newest.
    #[must_use]
    pub fn version_on(&self, day: Date) -> &SeriesVersion {
        let begun = self.versions.iter().filter(|version| version.begins <= day);
        let last = begun.max_by_key(|version| (version.begins, version.number));
        last.unwrap_or(&self.versions[0])
    }

    /// The version of this number.
    pub(crate) fn version(&self, number: u32) -> Option<&SeriesVersion> {
        self.versions.iter().find(|version| version.number == number)
    }

    /// The version that writes the numbers of the latest days.
    pub(crate) fn latest(&self) -> &SeriesVersion {
        self.version_on(Date::MAX)
    }

    /// The day with which other versions follow on this one, and on those whose place it took.
    pub(crate) fn end_of(&self, version: &SeriesVersion) -> Option<Date> {
        let begins = self.versions.iter().map(|other| other.begins);
        begins.filter(|begins| *begins > version.begins).min()
    }

    /// Whether two versions write the numbers of the same days, so that the newer one has taken the
    /// place of the other.
    #[cfg_attr(
        not(any(feature = "mysql", feature = "postgres", feature = "sqlite")),
        allow(dead_code)
    )]
    pub(crate) fn begin_together(&self, one: u32, other: u32) -> bool {
        let begins = |number| self.version(number).map(|version| version.begins);
        begins(one).is_some() && begins(one) == begins(other)
    }

    /// The newest version, which may begin in the future.
    #[must_use]
    pub fn newest(&self) -> &SeriesVersion {
        &self.versions[self.versions.len() - 1]
    }

    /// Whether this period gives no more numbers.
    #[must_use]
    pub fn is_closed(&self, period: Period) -> bool {
        // What follows a closed period may begin on the day itself.
        period.next().and_then(Period::first).is_some_and(|next| next <= self.closed_before)
    }
}
