//! The sources in databases, as users have them: one type for all kinds and all tables.

use std::marker::PhantomData;
use std::time::Duration;

use super::columns::{record, row_of};
use super::leaf::Leaf;
use super::own_table::Own;
use super::table::{Fault, Table, Tables};
use super::tinyid::TinyId;
use crate::backend::sql::{
    Access, Call, Client, Error, OnMissing, Transaction, VERSION, Value, limit,
};
use crate::segment::source::row::{Row, similar_names};
use crate::segment::source::row_identities::{NotReturnable, RowIdentities};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};

/// Numbers of tags from a database. What is particular to each kind of database stands at its own
/// name:
#[cfg_attr(feature = "sqlite", doc = "[`SqliteSegments`](super::SqliteSegments),")]
#[cfg_attr(feature = "postgres", doc = "[`PostgresSegments`](super::PostgresSegments),")]
#[cfg_attr(feature = "mysql", doc = "[`MySqlSegments`](super::MySqlSegments),")]
/// as the features have them. They use the table `uidring_segment` of this library, unless
/// [`leaf`](SqlSegments::leaf) or [`tinyid`](SqlSegments::tinyid) says otherwise.
///
/// # Guarantees
///
/// * No number is given twice: not to two processes or threads that ask at once, not after a crash
///   at any instant, not after a power failure (where the disk keeps what it has acknowledged).
/// * A call that fails uses nothing up, unless it is unknown whether it failed: then the numbers
///   are lost.
/// * The largest number is 2<sup>63</sup> - 1. A row that comes near gives the rest, and then an
///   error.
///
/// They rest on the rows. An old copy of the database that is put back, or a tag that is removed
/// and created again, gives numbers again. A process that has taken numbers from a row knows it
/// again, and takes none from another that stands in its place.
///
/// Tables are made by [`create`](SegmentSource::create) alone, where none of them is there and
/// nothing of the same [`Store`](crate::Store) has seen them before. One that has been removed or
/// renamed is not made anew: calls fail until it is back.
///
/// # Cost
///
/// Each call connects and makes one transaction. No connection is held in between.
#[derive(Clone, Debug)]
pub struct SqlSegments<D, T = Own> {
    pub(crate) client: Client<D>,
    pub(super) rows: RowIdentities,
    table: PhantomData<T>,
}

impl<D: Tables> SqlSegments<D> {
    /// The tags in `database`, which errors call `store`.
    pub(crate) fn new(store: &str, database: Result<D, Error>) -> Result<Self, SegmentError> {
        let storage_error =
            |error: Error| error.into_storage_error(&D::OWN_PHRASES, store, "open", Duration::ZERO);
        Ok(SqlSegments::on(Client::new(database.map_err(storage_error)?)))
    }

    /// The tags in the database that `client` calls.
    pub(crate) fn on(client: Client<D>) -> Self {
        SqlSegments { client, rows: RowIdentities::default(), table: PhantomData }
    }

    /// Takes numbers from the table `leaf_alloc` of Meituan's Leaf in this database, by the
    /// statements that Leaf makes, so that servers with Leaf may go on beside.
    ///
    /// The table is not made and not altered. Where an operator inserts rows by hand,
    /// [`create`](SegmentSource::create) inserts the same ones.
    ///
    /// ```no_run
    /// # #[cfg(feature = "mysql")] {
    /// use uidring::segment::MySqlSegments;
    ///
    /// let source = MySqlSegments::open("mysql://leaf@db.example.com/leaf")?.leaf();
    /// # }
    /// # Ok::<(), uidring::segment::SegmentError>(())
    /// ```
    #[must_use]
    pub fn leaf(self) -> SqlSegments<D, Leaf> {
        self.of_table()
    }

    /// Takes numbers from the table `tiny_id_info` of tinyid in this database, by the statements
    /// that tinyid makes, so that servers with tinyid may go on beside.
    ///
    /// The table is not made and not altered. Where tinyid has several databases, give all of them
    /// to [`TinyIdSegments`](super::TinyIdSegments).
    ///
    /// ```no_run
    /// # #[cfg(feature = "mysql")] {
    /// use uidring::segment::MySqlSegments;
    ///
    /// let source = MySqlSegments::open("mysql://tinyid@db.example.com/tinyid")?.tinyid();
    /// # }
    /// # Ok::<(), uidring::segment::SegmentError>(())
    /// ```
    #[must_use]
    pub fn tinyid(self) -> SqlSegments<D, TinyId> {
        self.of_table()
    }

    fn of_table<T>(self) -> SqlSegments<D, T> {
        SqlSegments { client: self.client, rows: RowIdentities::default(), table: PhantomData }
    }
}

impl<D: Tables, T: Table> SqlSegments<D, T> {
    /// Sets how long a call may take: five seconds unless set.
    ///
    /// A server that does not answer in that time counts as down. In a file, this is how long a
    /// call waits while others have the file locked.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use std::time::Duration;
    /// # use uidring::segment::SqliteSegments;
    /// let source = SqliteSegments::open("/srv/uidring.db")?.with_timeout(Duration::from_secs(1));
    /// # }
    /// # Ok::<(), uidring::segment::SegmentError>(())
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.client.timeout = timeout;
        self
    }

    /// The error of something other than a transaction that could not do what it was `doing`.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(super) fn call_error(&self, doing: &str, error: Error) -> SegmentError {
        self.client.storage_error(T::phrases::<D>(), doing, error).into()
    }

    /// A call that may write, unless something else is said.
    pub(super) fn call(doing: &str) -> Call<'_> {
        let (schema, phrases) = (T::schema::<D>(), T::phrases::<D>());
        Call { schema, phrases, doing, access: Access::Write }
    }

    /// Makes a transaction that changes the row of `tag`. Where the tables have yet to be made, it
    /// has none.
    pub(super) fn write<R: Send>(
        &self,
        tag: &str,
        doing: &str,
        body: impl Fn(&mut Transaction<'_>) -> Result<R, Fault> + Sync,
    ) -> Result<R, SegmentError> {
        let unmade = || Err(self.no_such_tag(tag, Vec::new()));
        match self.client.transact(&Self::call(doing), &OnMissing::Fail, Some(&unmade), body) {
            Err(SegmentError::NoSuchTag { .. }) => {
                Err(self.no_such_tag(tag, self.similar_names(tag)))
            }
            result => result,
        }
    }

    /// The row of `tag`, locked until the end of the transaction, if there is one. It may be that
    /// of another tag, which the column's collation takes for the same.
    pub(super) fn find(transaction: &mut Transaction<'_>, tag: &str) -> Result<Option<Row>, Error> {
        Self::check_version(transaction)?;
        // PostgreSQL refuses such a text.
        if tag.contains('\0') {
            return Ok(None);
        }
        let (columns, name, key) = (T::COLUMNS, T::NAME, T::TAG);
        let sql = format!("SELECT {columns} FROM {name} WHERE {key} = ? {{for update}}");
        let Some(columns) = transaction.row(name, &sql, &[tag.into()])? else { return Ok(None) };
        Ok(Some(row_of(&columns, T::COUNTING)?))
    }

    /// Like `find`, but fails if there is no such row.
    pub(super) fn row(&self, transaction: &mut Transaction<'_>, tag: &str) -> Result<Row, Fault> {
        match Self::find(transaction, tag)? {
            Some(row) if row.tag == tag => Ok(row),
            _ => Err(Fault::Refused(self.no_such_tag(tag, Vec::new()))),
        }
    }

    /// What operators see of the row of `tag`, which is there.
    pub(super) fn record(transaction: &mut Transaction<'_>, tag: &str) -> Result<TagRecord, Error> {
        let sql = format!("{} WHERE {} = ?", Self::select(), T::TAG);
        let columns = transaction.rows(&sql, &[tag.into()])?.pop().ok_or(Error::Locked)?;
        record(&columns, T::COUNTING)
    }

    fn select() -> String {
        let (description, updated) = (T::DESCRIPTION, T::updated::<D>());
        format!("SELECT {}, {description}, {updated} FROM {}", T::COLUMNS, T::NAME)
    }

    /// The row of `tag`, locked: the one that gave numbers before, with values that give more.
    fn good_row(&self, transaction: &mut Transaction<'_>, tag: &str) -> Result<Row, Fault> {
        let row = self.row(transaction, tag)?;
        match row.check_key(self.rows.key(tag)).or_else(|| row.problem(T::COUNTING)) {
            None => Ok(row),
            Some(problem) => {
                let store = self.name();
                Err(Fault::Refused(SegmentError::BadRow { store, tag: row.tag, problem }))
            }
        }
    }

    fn no_such_tag(&self, tag: &str, alike: Vec<String>) -> SegmentError {
        SegmentError::NoSuchTag { store: self.name(), tag: tag.to_owned(), alike }
    }

    /// The tags that are like `tag`, for an error. They are not worth a lock or a long wait, nor a
    /// look at all where there are many: who asks for made-up names would hold up the others.
    fn similar_names(&self, tag: &str) -> Vec<String> {
        const MOST: usize = 1000;
        let sql = format!("SELECT {} FROM {} LIMIT {MOST}", T::TAG, T::NAME);
        let mut client = self.client.clone();
        client.timeout /= 4;
        let call = Call { access: Access::Read, ..Self::call("read the tags in") };
        let unmade = || Ok::<_, SegmentError>(Vec::new());
        let read = |transaction: &mut Transaction<'_>| Ok(transaction.rows(&sql, &[])?);
        let rows =
            client.transact(&call, &OnMissing::Fail, Some(&unmade), read).unwrap_or_default();
        let tags = rows.into_iter().filter_map(|row| match row.into_iter().next() {
            Some(Value::Text(tag)) => Some(tag),
            _ => None,
        });
        // Others may have created it since.
        similar_names(tag, tags.filter(|other| other != tag))
    }

    /// A file is looked at when it is opened.
    fn check_version(transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let Some(version) = T::version::<D>().filter(|_| D::CREATES_TABLES) else { return Ok(()) };
        match transaction.rows(version, &[])?.pop().as_deref() {
            Some([Value::Int(VERSION), _]) => Ok(()),
            Some([Value::Int(version), _]) => Err(Error::other_version(*version, VERSION)),
            _ => Err(Error::problem(
                "its table uidring_layout has lost its row; put back what was there",
            )),
        }
    }

    fn take(
        &self,
        transaction: &mut Transaction<'_>,
        tag: &str,
        count: Option<u64>,
    ) -> Result<(Segment, i64), Fault> {
        let row = self.good_row(transaction, tag)?;
        let Some(range) = row.next(count, T::COUNTING) else {
            let (store, tag, last) = (self.name(), row.tag, row.last.unsigned_abs());
            return Err(Fault::Refused(SegmentError::RanOut { store, tag, last }));
        };
        if T::take(transaction, &row, range)? {
            Ok((row.segment(range, T::COUNTING), row.key))
        } else {
            // Happens only where a database ignores the lock.
            Err(Fault::Database(Error::Locked))
        }
    }
}

impl<D: Tables, T: Table> SegmentSource for SqlSegments<D, T> {
    fn name(&self) -> String {
        self.client.database.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let take = |transaction: &mut Transaction<'_>| self.take(transaction, tag, count);
        let (segment, key) = self.write(tag, "take numbers from", take)?;
        self.rows.gave(tag, key);
        Ok(segment)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let end = T::end_before(unused.first);
        let row_end = i64::try_from(unused.row_end).unwrap_or(i64::MAX);
        if end >= row_end {
            return Ok(false);
        }
        let mut values = vec![end.into(), tag.into(), row_end.into()];
        // Another row may have come to the same end.
        let key = match self.rows.key_for_return(tag, unused) {
            Ok(key) => key,
            Err(NotReturnable) => return Ok(false),
        };
        let mut sql = T::SET_END.to_owned();
        if let (Some(column), Some(key)) = (T::KEY, key) {
            sql = format!("{sql} AND {column} = ?");
            values.push(key.into());
        }
        // With another delta, the numbers between are those of this row, or of other databases.
        if T::INTERLEAVES {
            sql += " AND delta = ? AND remainder = ?";
            values.extend([unused.delta.into(), (unused.first % unused.delta.max(1)).into()]);
        }
        self.write(tag, "give numbers back to", |transaction| {
            Ok(transaction.write(&sql, &values)? == 1)
        })
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        let sql = Self::select();
        let read = |transaction: &mut Transaction<'_>| {
            Self::check_version(transaction)?;
            let rows = transaction.rows(&sql, &[])?;
            Ok(rows.iter().map(|row| record(row, T::COUNTING)).collect::<Result<_, _>>()?)
        };
        let call = Call { access: Access::Read, ..Self::call("read the tags in") };
        let unmade = || Ok::<_, SegmentError>(Vec::new());
        let mut tags = self.client.transact(&call, &OnMissing::Fail, Some(&unmade), read)?;
        // Numbers are in order within each database only.
        tags.sort_by(|one: &TagRecord, other| one.tag.cmp(&other.tag));
        Ok(tags)
    }

    fn newest_tags(&self, most: usize) -> Result<(Vec<TagRecord>, u64), SegmentError> {
        let select = Self::select();
        let sql = format!(
            "{select} ORDER BY COALESCE({}, 0) DESC, {} LIMIT {}",
            T::updated::<D>(),
            T::TAG,
            limit(most)
        );
        let count = format!("SELECT COUNT(*) FROM {}", T::NAME);
        let read = |transaction: &mut Transaction<'_>| {
            Self::check_version(transaction)?;
            let rows = transaction.rows(&sql, &[])?;
            let records = rows.iter().map(|row| record(row, T::COUNTING));
            let records = records.collect::<Result<Vec<_>, _>>()?;
            let all = match transaction.rows(&count, &[])?.pop().as_deref() {
                Some([Value::Int(all)]) => u64::try_from(*all).unwrap_or(0),
                _ => records.len() as u64,
            };
            Ok((records, all))
        };
        let call = Call { access: Access::Read, ..Self::call("read the tags in") };
        let unmade = || Ok::<_, SegmentError>((Vec::new(), 0));
        let (mut tags, all) = self.client.transact(&call, &OnMissing::Fail, Some(&unmade), read)?;
        // Databases sort texts each in its own way.
        tags.sort_by(TagRecord::newest_first);
        Ok((tags, all))
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.create_with(tag, new, 1, 0)
    }
}
