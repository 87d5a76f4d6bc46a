//! Takes numbers of a counter, in a transaction that locks its row.

use super::rows::{CounterRow, ITS_KEY, date, find_counter, int, key};
use super::{Fault, SqlSeries};
use crate::backend::sql::{Error, Transaction};
use crate::segment::SegmentTables;
use crate::series::error::SeriesError;
use crate::series::store::counter::Counter;
use crate::series::store::{SeriesStore as _, TakenRange, Wanted};
use crate::sync::lock;

impl<D: SegmentTables> SqlSeries<D> {
    /// Fails where the row of the series is not the one that gave numbers to this process before.
    fn check_created(&self, series: &str, created: i64, known: i64) -> Result<(), Error> {
        match lock(&self.created).get(series).unwrap_or(&known) {
            known if *known != created => Err(Error::problem(format!(
                "the series {series:?} in it is not the one that this process took numbers from \
                 before, and may give them again; put back the one that was there, or restart \
                 this program to use the new one"
            ))),
            _ => Ok(()),
        }
    }

    /// Takes numbers of a counter that is there. Returns them, and when the row of its series was
    /// written.
    pub(super) fn take_more(
        &self,
        transaction: &mut Transaction<'_>,
        counter: &Counter<'_>,
        found: CounterRow,
        wanted: Wanted<'_>,
    ) -> Result<(TakenRange, i64), Fault> {
        let series = counter.series.to_owned();
        let sql = "SELECT closed_before, created, revision FROM uidring_series WHERE name = ?";
        let rows = transaction.rows(sql, &[counter.series.into()])?;
        let Some(row) = rows.first() else {
            return Err(Fault::Refused(self.no_such_series(&series, Vec::new())));
        };
        let (closed_before, created) = (date(row, 0)?, int(row, 1, "created")?);
        let (known, revision) = (wanted.record, int(row, 2, "revision")?);
        self.check_created(&series, created, known.created)?;
        if revision != known.revision || !known.begin_together(found.version, counter.version) {
            return Err(Fault::Refused(SeriesError::Changed { series }));
        }
        if counter.begins() < closed_before {
            let period = counter.period;
            return Err(Fault::Refused(SeriesError::Closed { series, period }));
        }
        let CounterRow { last, created: made, .. } = found;
        wanted
            .last_numbers
            .check(counter, Some((last, made)), || self.name())
            .map_err(Fault::Refused)?;
        let (first, new_last) = next(counter, last, wanted)?;
        let [series, scope, period] = key(counter);
        let version = i64::from(counter.version).into();
        let values = [new_last.into(), version, series, scope, period, last.into()];
        let sql = format!(
            "UPDATE uidring_series_counter SET last_number = ?, version = ?, modified = {{now}} \
             WHERE {ITS_KEY} AND last_number = ?"
        );
        // Happens only where a database ignores the lock.
        if transaction.write(&sql, &values)? != 1 {
            return Err(Error::Locked.into());
        }
        Ok((TakenRange { first, last: new_last, created: made }, created))
    }

    /// Makes a counter, and takes its first numbers. Returns what `take_more` does.
    pub(super) fn take_first(
        &self,
        transaction: &mut Transaction<'_>,
        counter: &Counter<'_>,
        wanted: Wanted<'_>,
    ) -> Result<(TakenRange, i64), Fault> {
        let record = self.get(transaction, counter.series, true)?;
        // Another process may have made it while this one waited for the lock.
        if let Some(found) = find_counter(transaction, counter)? {
            return self.take_more(transaction, counter, found, wanted);
        }
        self.check_created(counter.series, record.created, wanted.record.created)?;
        let series = counter.series.to_owned();
        if record.version_on(counter.begins()).number != counter.version {
            return Err(Fault::Refused(SeriesError::Changed { series }));
        }
        if record.is_closed(counter.period) {
            let period = counter.period;
            return Err(Fault::Refused(SeriesError::Closed { series, period }));
        }
        wanted.last_numbers.check(counter, None, || self.name()).map_err(Fault::Refused)?;
        let (first, last) = next(counter, wanted.first - 1, wanted)?;
        let [series, scope, period] = key(counter);
        let begins = counter.begins().to_string();
        let version = i64::from(counter.version);
        let values = [series, scope, period, begins.as_str().into(), version.into(), last.into()];
        let sql = "INSERT INTO uidring_series_counter \
                   (series, scope, period, begins, version, last_number, modified, created) \
                   VALUES (?, ?, ?, ?, ?, ?, {now}, {now})";
        transaction.write(sql, &values)?;
        let CounterRow { created, .. } =
            find_counter(transaction, counter)?.ok_or(Error::Locked)?;
        Ok((TakenRange { first, last, created }, record.created))
    }
}

/// The first and the last of the numbers that come after `last`.
fn next(counter: &Counter<'_>, last: u64, wanted: Wanted<'_>) -> Result<(u64, u64), Fault> {
    let Wanted { count, first, largest, .. } = wanted;
    let first = (last + 1).max(first);
    if first > largest {
        let Counter { series, scope, period, .. } = *counter;
        let (series, scope) = (series.to_owned(), scope.to_owned());
        return Err(Fault::Refused(SeriesError::Full { series, scope, period, largest }));
    }
    Ok((first, first.saturating_add(count.max(1) - 1).min(largest)))
}
