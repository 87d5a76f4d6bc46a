//! [`Series`], all series of a store.

mod versions;

use std::collections::HashMap;
use std::fmt;

#[cfg(feature = "async")]
use crate::generator::blocking;
#[cfg(feature = "async")]
use crate::segment::SegmentError;
use crate::series::error::{SeriesError, not_a_beginning};
use crate::series::form::date::Date;
use crate::series::form::definition::SeriesDefinition;
use crate::series::form::period::Period;
use crate::series::generator::SeriesGenerator;
use crate::series::memory::scopes::Scopes;
use crate::series::memory::shared::Shared;
use crate::series::store::{SeriesRecord, SeriesVersion};
use crate::sync::{Arc, Mutex, Weak, lock};
use versions::{check_change, check_widening};

/// The series of one store. One per process is enough.
///
/// This is a handle: clones share one loader, which takes ranges of numbers from the store before
/// they are needed, smaller ones near the end of a period. When a period is over, and when a scope
/// has given no number for [`rest`](super::Builder::rest), what is left of its range goes back.
///
/// When the last handle is dropped, including each [`SeriesGenerator`], everything left is given
/// back. The drop waits for the store. If the process is killed, the numbers in memory are lost:
/// use [`gapless`](SeriesDefinition::gapless) where no number may be missing.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// use uidring::Store;
/// use uidring::series::{Series, SeriesDefinition};
///
/// let store = Store::open(file)?;
/// let series = Series::builder().store(&store).build()?;
/// let definition = SeriesDefinition::new("SO{yyyy}{MM}{dd}-{n:6}")?.time_zone("Asia/Shanghai");
/// let orders = series.create("orders", definition)?;
/// let number = orders.take()?;
/// assert_eq!(number.value(), 1);
/// println!("{number}"); // SO20261124-000001
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Series {
    shared: Arc<Shared>,
    /// The scopes of each series that is in use.
    used: Arc<Mutex<HashMap<String, Weak<Scopes>>>>,
}

impl Series {
    pub(super) fn new(shared: Shared) -> Series {
        Series { shared: Arc::new(shared), used: Arc::default() }
    }

    /// Creates a series, or uses the one of this name if its newest version is what `new` asks for.
    ///
    /// A name is 1 to 64 characters: letters and digits of ASCII, `-`, `_` and `.`.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Definition`] and [`SeriesError::BadName`] if there can be no such series;
    /// [`SeriesError::Differs`] if it is there, and is another; [`SeriesError::Take`] after a
    /// shutdown, when nothing is created; [`SeriesError::Storage`].
    // `new` is taken by value because it is built for this one call.
    #[allow(clippy::needless_pass_by_value)]
    pub fn create(
        &self,
        name: &str,
        new: SeriesDefinition,
    ) -> Result<SeriesGenerator, SeriesError> {
        self.shared.check_end()?;
        check_name(name)?;
        new.check()?;
        let record = self.shared.cache.store.create(name, &new)?;
        self.compare(&record, &new)?;
        self.generator(record)
    }

    /// The series of this name.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`], with similar names, or [`SeriesError::Storage`].
    pub fn get(&self, name: &str) -> Result<SeriesGenerator, SeriesError> {
        self.shared.check_end()?;
        self.generator(self.shared.cache.store.record(name)?)
    }

    /// Does what [`create`](Series::create) does, on a thread of its own, so that no runtime is
    /// blocked.
    ///
    /// # Errors
    ///
    /// As for [`create`](Series::create).
    #[cfg(feature = "async")]
    pub async fn create_async(
        &self,
        name: &str,
        new: SeriesDefinition,
    ) -> Result<SeriesGenerator, SeriesError> {
        let (series, name) = (self.clone(), name.to_owned());
        run_on_thread(move || series.create(&name, new)).await
    }

    /// Does what [`get`](Series::get) does, on a thread of its own, so that no runtime is blocked.
    ///
    /// # Errors
    ///
    /// As for [`get`](Series::get).
    #[cfg(feature = "async")]
    pub async fn get_async(&self, name: &str) -> Result<SeriesGenerator, SeriesError> {
        let (series, name) = (self.clone(), name.to_owned());
        run_on_thread(move || series.get(&name)).await
    }

    /// Writes the numbers of a series by `new` from the day `begins` on, with which a period of
    /// both definitions begins. Older numbers are still read by the version that wrote them. Other
    /// processes learn of it by themselves.
    ///
    /// The time zone, the first day of fiscal years and whether the series is gapless stay.
    ///
    /// If `new` only has a wider number, `begins` may be any day of the present period that is not
    /// in the future, whatever numbers have been given: then it does what
    /// [`widen`](Series::widen) does.
    ///
    /// # Errors
    ///
    /// [`SeriesError::BadChange`] if the day is within a period, or is closed, or is one of which
    /// numbers have been given, or if a number of the new version could have the text of an older
    /// one; [`SeriesError::Differs`] if something else differs than the pattern, the step, the
    /// first number and what it begins anew with; otherwise as for [`create`](Series::create).
    #[allow(clippy::needless_pass_by_value)]
    pub fn change(
        &self,
        name: &str,
        new: SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        self.shared.check_fork()?;
        new.check()?;
        let cached = self.shared.cache.reload(name)?;
        let record = &cached.record;
        self.compare_fixed(record, &new)?;
        let changed = self.change_from(record, &new, begins);
        let (Err(SeriesError::BadChange { series, problem }), Ok((version, bounds))) =
            (&changed, cached.version_at(self.shared.now_ms()))
        else {
            return changed;
        };
        if !new.only_widens(&version.definition) {
            return changed;
        }
        let is_present = bounds.period.first().is_none_or(|first| first <= begins);
        if is_present && begins <= bounds.date {
            return self.widen_from(record, version, &new);
        }
        let today = bounds.date;
        let problem = format!("{problem}; to widen the number at once, name {today}");
        Err(SeriesError::BadChange { series: series.clone(), problem })
    }

    /// Writes the numbers of a series by `new` from now on, which is as it was, but for a wider
    /// number: the way on when a period has given all its numbers. Those of the present period go
    /// on, as do those of others that the same version wrote. Other processes learn of it when
    /// they next ask the store, and write until then those that they have in memory as before.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let seats = series.create("seats", SeriesDefinition::new("S{n:1}")?)?;
    /// assert_eq!(seats.take_batch(9)?[8].to_string(), "S9");
    /// assert!(seats.take().is_err());
    /// series.widen("seats", SeriesDefinition::new("S{n:2}")?)?;
    /// assert_eq!(seats.take()?.to_string(), "S10");
    /// assert_eq!(seats.parse("S9")?.value(), 9);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::BadChange`] if more than the number becomes another; otherwise as for
    /// [`change`](Series::change).
    #[allow(clippy::needless_pass_by_value)]
    pub fn widen(&self, name: &str, new: SeriesDefinition) -> Result<SeriesRecord, SeriesError> {
        self.shared.check_fork()?;
        new.check()?;
        let cached = self.shared.cache.reload(name)?;
        self.compare_fixed(&cached.record, &new)?;
        let (version, _) = cached.version_at(self.shared.now_ms())?;
        if !new.only_widens(&version.definition) {
            let (before, new) = (version.definition.pattern(), new.pattern());
            let [before_unit, unit] = [before, new].map(|pattern| pattern.unit().name());
            let differs = if before_unit == unit {
                format!("{new} is not {before} with one")
            } else {
                format!("restart is {unit} and not {before_unit}, as it is in {before}")
            };
            let problem = format!(
                "only a wider number may begin at once, and {differs}; name the day with which it \
                 begins"
            );
            return Err(SeriesError::BadChange { series: name.to_owned(), problem });
        }
        self.widen_from(&cached.record, version, &new)
    }

    /// Adds a version that begins with the period that begins with this day.
    fn change_from(
        &self,
        record: &SeriesRecord,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        for definition in [&record.latest().definition, new] {
            let period = definition.pattern().unit().period(begins);
            if period.first() != Some(begins) || period.next().is_none() {
                return Err(not_a_beginning(&record.name, begins, period));
            }
        }
        check_change(record, new, begins)?;
        self.store_version(record, new, begins)
    }

    /// Puts `new`, which widens `version`, in its place.
    fn widen_from(
        &self,
        record: &SeriesRecord,
        version: &SeriesVersion,
        new: &SeriesDefinition,
    ) -> Result<SeriesRecord, SeriesError> {
        check_widening(record, version, new)?;
        let record = self.store_version(record, new, version.begins)?;
        let scopes = lock(&self.used).get(&record.name).and_then(Weak::upgrade);
        if let Some(scopes) = scopes {
            scopes.retire_version(version.number);
        }
        Ok(record)
    }

    fn store_version(
        &self,
        record: &SeriesRecord,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        let (store, newest) = (&self.shared.cache.store, record.newest().number);
        let record = store.change(&record.name, newest, new, begins)?;
        self.shared.cache.insert(record.clone())?;
        Ok(record)
    }

    /// All series of the store, sorted by their names. Each call asks the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Storage`].
    pub fn list(&self) -> Result<Vec<SeriesRecord>, SeriesError> {
        self.shared.check_fork()?;
        self.shared.cache.store.records()
    }

    /// The series that were created last, those first, and at most `most` of them; and how many
    /// there are. Asks the store, and reads no more.
    ///
    /// # Errors
    ///
    /// As [`list`](Series::list).
    pub fn newest(&self, most: usize) -> Result<(Vec<SeriesRecord>, u64), SeriesError> {
        self.shared.check_fork()?;
        self.shared.cache.store.newest(most)
    }

    /// Closes a period of a series that is over, and all before it: none of them gives a number any
    /// more, in no scope and for no date. Of a series that is not gapless, a process whose clock is
    /// behind may still give those of such a period that it has in memory, and one that is just
    /// asking the store for some gets them.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NotClosable`] if the period is not over, or is none of the series.
    pub fn close(&self, name: &str, period: Period) -> Result<SeriesRecord, SeriesError> {
        self.shared.check_fork()?;
        let cached = self.shared.cache.reload(name)?;
        let refused =
            |problem| Err(SeriesError::NotClosable { series: name.to_owned(), period, problem });
        let (Some(first), Some(next)) = (period.first(), period.next().and_then(Period::first))
        else {
            return refused("it never ends");
        };
        if cached.version_on(first).1 != period {
            return refused("the series does not count by such periods; name one as list shows it");
        }
        let (_, bounds) = cached.version_at(self.shared.now_ms())?;
        if bounds.date < next {
            return refused("it is not over yet; close it when it is");
        }
        let record = self.shared.cache.store.close(name, next)?;
        self.shared.cache.insert(record.clone())?;
        Ok(record)
    }

    /// Removes what the store knows of the numbers of closed periods. Returns of how many counters.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`] or [`SeriesError::Storage`].
    pub fn prune(&self, name: &str) -> Result<u64, SeriesError> {
        self.shared.check_fork()?;
        self.shared.cache.store.prune(name)
    }

    /// Where the series are, without a password.
    #[must_use]
    pub fn store_name(&self) -> String {
        self.shared.cache.store.name()
    }

    /// Ends all takes, gives back what is left of each scope, and returns whether that succeeded.
    /// Dropping the last handle does the same, but returns nothing, and waits as long as the store
    /// does.
    ///
    /// # Errors
    ///
    /// [`SeriesError`] if giving back failed. Those numbers are lost, but everything has ended.
    pub fn shutdown(self) -> Result<(), SeriesError> {
        self.shared.segments.clone().shutdown().map_err(SeriesError::of_segment)
    }

    fn generator(&self, record: SeriesRecord) -> Result<SeriesGenerator, SeriesError> {
        let name = record.name.clone();
        let cached = self.shared.cache.insert(record)?;
        let mut used = lock(&self.used);
        let scopes = used.get(&name).and_then(Weak::upgrade).unwrap_or_else(|| {
            let idle_scopes = self.shared.cache.idle_scopes(&name);
            let scopes = Arc::new(Scopes::new(&name, cached, idle_scopes));
            used.insert(name, Arc::downgrade(&scopes));
            scopes
        });
        Ok(SeriesGenerator::new(Arc::clone(&self.shared), scopes))
    }

    /// Fails if the newest version is another than `asked`.
    fn compare(&self, record: &SeriesRecord, asked: &SeriesDefinition) -> Result<(), SeriesError> {
        self.compare_fixed(record, asked)?;
        let there = &record.newest().definition;
        let (pattern, step) = (there.pattern(), there.step_size());
        let restart = |definition: &SeriesDefinition| definition.pattern().unit().name().to_owned();
        let fields = [
            ("pattern", pattern.to_string(), asked.pattern().to_string()),
            ("restart", restart(there), restart(asked)),
            ("step", step.to_string(), asked.step_size().to_string()),
            ("first", there.first_number().to_string(), asked.first_number().to_string()),
        ];
        self.compare_fields(record, fields)
    }

    /// Fails if what no version changes is another than `asked`.
    fn compare_fixed(
        &self,
        record: &SeriesRecord,
        asked: &SeriesDefinition,
    ) -> Result<(), SeriesError> {
        let there = &record.newest().definition;
        let first_day = |definition: &SeriesDefinition| {
            let first_day = definition.fiscal_first_day();
            first_day.map_or("not set".to_owned(), |(month, day)| format!("{month:02}-{day:02}"))
        };
        let zone = |definition: &SeriesDefinition| definition.time_zone_name().to_owned();
        let fields = [
            ("time_zone", zone(there), zone(asked)),
            ("gapless", there.is_gapless().to_string(), asked.is_gapless().to_string()),
            ("fiscal_year_from", first_day(there), first_day(asked)),
        ];
        self.compare_fields(record, fields)
    }

    fn compare_fields<const N: usize>(
        &self,
        record: &SeriesRecord,
        fields: [(&'static str, String, String); N],
    ) -> Result<(), SeriesError> {
        match fields.into_iter().find(|(_, there, asked)| there != asked) {
            None => Ok(()),
            Some((field, there, asked)) => {
                let (store, series) = (self.store_name(), record.name.clone());
                Err(SeriesError::Differs { store, series, field, there, asked })
            }
        }
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").field("store", &self.store_name()).finish_non_exhaustive()
    }
}

/// Runs `call` on a thread of its own.
#[cfg(feature = "async")]
async fn run_on_thread<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, SeriesError> + Send + 'static,
) -> Result<T, SeriesError> {
    let result = blocking::run("uidring-series", call).await;
    result.unwrap_or_else(|error| Err(SeriesError::Load(SegmentError::other(error))))
}

/// Fails unless there can be a series of this name.
fn check_name(name: &str) -> Result<(), SeriesError> {
    crate::series::form::scope::valid_scope(name).map_err(|_| SeriesError::BadName {
        series: name.to_owned(),
        problem: "a name is 1 to 64 characters: letters and digits of ASCII, '-', '_' and '.'"
            .to_owned(),
    })
}
