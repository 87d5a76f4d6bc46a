//! Numbers that are counted in the program's own transaction, by statements that it runs.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use uidring_bindings::{
    AskError, Asking, Dialect, Error, Kind, Rows, SeriesStore, SqlValue, Statement, Step,
};

use crate::calls::series::{clear, uidring_series, uidring_series_number, write_issued};
use crate::handles::HandleKind;
use crate::last_error::{guarded, uidring_code};
use crate::texts;

/// The kinds of databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
// As types and constants are called in C.
#[allow(clippy::upper_case_acronyms, non_camel_case_types)]
pub enum uidring_database {
    /// SQLite. The places of values in a statement are `?`.
    UIDRING_SQLITE = 1,
    /// PostgreSQL. The places of values in a statement are `$1`, `$2` and so on.
    UIDRING_POSTGRES = 2,
    /// MySQL and MariaDB. The places of values in a statement are `?`.
    UIDRING_MYSQL = 3,
}

/// A value in a statement.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_sql_value {
    /// A text; null for a whole number.
    pub text: *const c_char,
    /// The whole number.
    pub number: i64,
}

/// A statement that a program runs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_statement {
    /// The statement, in the syntax of its kind of database.
    pub sql: *const c_char,
    /// The values of its places, in their order.
    pub values: *const uidring_sql_value,
    /// How many values there are.
    pub count: usize,
}

/// Where a program puts the rows of a statement.
#[derive(Debug)]
#[allow(non_camel_case_types)]
pub struct uidring_rows {
    rows: Rows,
    message: String,
}

/// Runs a statement in the program's transaction: as it is, without preparing it, if it has no
/// values. It adds each row by `uidring_rows_add`, and returns `UIDRING_OK`. Where the database
/// fails, it hands on what the driver said by `uidring_rows_failed`, and returns
/// `UIDRING_UNAVAILABLE` if another transaction may succeed, as `uidring_is_transient` says, and
/// `UIDRING_REFUSED` otherwise. It may be called once more after that. It neither jumps out of the
/// call, nor closes the series.
#[allow(non_camel_case_types)]
pub type uidring_run = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        statement: *const uidring_statement,
        rows: *mut uidring_rows,
    ) -> c_int,
>;

/// Opens series that are counted in the program's transactions alone, by
/// `uidring_series_next_in`, and read by them. No store is open.
///
/// # Safety
/// `series` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_in_transactions(
    series: *mut uidring_series,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let series = unsafe { texts::place(series, "series") }?;
        series.id = SeriesStore::in_transactions().insert();
        Ok(())
    })
}

/// Counts the next number of a gapless series in the program's own transaction, that of the
/// document which has the number: both are stored, or neither is. `run` gets `context` and runs
/// each statement; `database` is one of `uidring_database`. `scope` and `date` are as for
/// `uidring_series_next`. Roll the transaction back where it fails; if the code is
/// `UIDRING_UNAVAILABLE`, another transaction may count.
///
/// Series that were opened on a SQLite file refuse to count in SQLite: the program's copy of SQLite
/// and the library's would undo each other's locks. Those of `uidring_series_in_transactions` do.
///
/// # Safety
/// `name` is a text that ends with a zero byte, `scope` and `date` are null or such texts, `run` is
/// such a function, and `number` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_next_in(
    series: uidring_series,
    name: *const c_char,
    scope: *const c_char,
    date: *const c_char,
    database: c_int,
    run: uidring_run,
    context: *mut c_void,
    number: *mut uidring_series_number,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let number = unsafe { texts::place(number, "number") }?;
        clear(number);
        // SAFETY: as the caller promises.
        let (name, scope, date) = unsafe {
            (
                texts::text(name, "name")?,
                texts::optional(scope, "scope")?,
                texts::optional(date, "date")?,
            )
        };
        let dialect = dialect(database)?;
        let count = |series: &SeriesStore| series.count_in(name, scope, date, dialect, false);
        let counting = SeriesStore::with(series.id, count)??;
        // SAFETY: as the caller promises.
        let issued = unsafe { work(counting, run, context) }?;
        write_issued(&issued, number);
        Ok(())
    })
}

/// Reads a series by the program's own connection, for `uidring_series_parse` and
/// `uidring_series_format`. Only those of `uidring_series_in_transactions` need it, before they
/// have counted a number.
///
/// # Safety
/// As `uidring_series_next_in`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_read_in(
    series: uidring_series,
    name: *const c_char,
    database: c_int,
    run: uidring_run,
    context: *mut c_void,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let name = unsafe { texts::text(name, "name") }?;
        let dialect = dialect(database)?;
        let read = |series: &SeriesStore| series.read_in(name, dialect);
        match SeriesStore::with(series.id, read)? {
            // SAFETY: as the caller promises.
            Some(reading) => unsafe { work(reading, run, context) },
            None => Ok(()),
        }
    })
}

/// Adds a row of `count` columns, each a text that ends with a zero byte, or null.
///
/// # Safety
/// `rows` is what the running `run` got, and `columns` has `count` texts or nulls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uidring_rows_add(
    rows: *mut uidring_rows,
    columns: *const *const c_char,
    count: usize,
) {
    // A row that cannot be read is left out, and so nothing is counted.
    let _ = guarded(|| {
        // SAFETY: as the caller promises.
        let rows = unsafe { texts::place(rows, "rows") }?;
        let mut row = Vec::new();
        for index in 0..if columns.is_null() { 0 } else { count } {
            // SAFETY: as the caller promises.
            let column = unsafe { texts::optional(*columns.add(index), "a column") }?;
            row.push(column.map(str::to_owned));
        }
        rows.rows.push(row);
        Ok(())
    });
}

/// Hands on why a statement failed, as the driver says it.
///
/// # Safety
/// `rows` is what the running `run` got, and `message` a text that ends with a zero byte, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uidring_rows_failed(rows: *mut uidring_rows, message: *const c_char) {
    let _ = guarded(|| {
        // SAFETY: as the caller promises.
        let (rows, message) =
            unsafe { (texts::place(rows, "rows")?, texts::optional(message, "message")?) };
        message.unwrap_or_default().clone_into(&mut rows.message);
        Ok(())
    });
}

/// Returns 1 if another transaction may not meet the error to which a driver gave this code: a
/// deadlock, a conflict, a wait that took too long, a connection that broke. A code is the text of
/// a SQLSTATE of PostgreSQL, such as "40P01", of an error number of MySQL, such as "1213", or of a
/// result code of SQLite, such as "5".
///
/// # Safety
/// `code` is null or a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uidring_is_transient(database: c_int, code: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    let code = unsafe { texts::optional(code, "code") };
    let (Ok(Some(code)), Ok(dialect)) = (code, dialect(database)) else { return 0 };
    c_int::from(dialect.is_transient(code))
}

/// C passes any number where it has an enum.
fn dialect(database: c_int) -> Result<Dialect, Error> {
    let kinds = [
        (uidring_database::UIDRING_SQLITE, Dialect::Sqlite),
        (uidring_database::UIDRING_POSTGRES, Dialect::Postgres),
        (uidring_database::UIDRING_MYSQL, Dialect::MySql),
    ];
    let found = kinds.into_iter().find(|(kind, _)| *kind as c_int == database);
    let problem = || {
        Error::argument(format!(
            "there is no kind of database {database}: name one of uidring_database"
        ))
    };
    found.map(|(_, dialect)| dialect).ok_or_else(problem)
}

/// Has the program run what is asked for, until there is a result.
///
/// # Safety
/// `run` is as `uidring_series_next_in` takes it.
unsafe fn work<T>(
    mut asking: Asking<T>,
    run: uidring_run,
    context: *mut c_void,
) -> Result<T, Error> {
    let run = run.ok_or_else(|| Error::argument("run is null"))?;
    let (mut answer, mut failed) = (None, None);
    loop {
        match asking.step(answer) {
            Ok(Step::Done(result)) => return Ok(result),
            Ok(Step::Run(statement)) => {
                let mut rows = uidring_rows { rows: Rows::new(), message: String::new() };
                // SAFETY: as the caller promises.
                let code = unsafe { run_statement(run, context, &statement, &mut rows) }?;
                answer = Some(if code == 0 {
                    Ok(rows.rows)
                } else {
                    failed = Some((code, rows.message.clone()));
                    Err(rows.message)
                });
            }
            Err(AskError::Other(error)) => return Err(error),
            Err(AskError::Driver) => {
                let (code, said) = failed.unwrap_or_default();
                let is_transient = code == uidring_code::UIDRING_UNAVAILABLE as c_int;
                let (kind, again) = if is_transient {
                    (Kind::Unavailable, ", and try again in a new one")
                } else {
                    (Kind::Refused, "")
                };
                let what = "the transaction could not count a number; roll it back";
                return Err(Error { kind, message: format!("{what}{again}: {said}") });
            }
        }
    }
}

/// # Safety
/// As [`work`].
unsafe fn run_statement(
    run: unsafe extern "C" fn(*mut c_void, *const uidring_statement, *mut uidring_rows) -> c_int,
    context: *mut c_void,
    statement: &Statement,
    rows: &mut uidring_rows,
) -> Result<c_int, Error> {
    let text = |text: &str| {
        CString::new(text).map_err(|_| Error::argument("a text in a statement has a zero byte"))
    };
    let sql_text = text(&statement.sql)?;
    let mut kept = Vec::new();
    let mut values = Vec::new();
    for value in &statement.values {
        values.push(match value {
            SqlValue::Integer(number) => uidring_sql_value { text: ptr::null(), number: *number },
            SqlValue::Text(value) => {
                let value = text(value)?;
                let pointer = value.as_ptr();
                kept.push(value);
                uidring_sql_value { text: pointer, number: 0 }
            }
        });
    }
    let (sql, values, count) = (sql_text.as_ptr(), values.as_ptr(), values.len());
    let asked = uidring_statement { sql, values, count };
    // SAFETY: the texts live during the call, and the program promises the rest.
    let code = unsafe { run(context, &raw const asked, rows) };
    drop(kept);
    Ok(code)
}
