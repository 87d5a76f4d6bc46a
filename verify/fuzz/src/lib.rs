//! What the fuzz targets share.

use std::fmt::{Debug, Display};
use std::path::PathBuf;
use std::str::FromStr;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use rusqlite::Connection;
use uidring::Store;

/// A number, mostly one of those near which bounds are.
///
/// # Errors
///
/// The input is too short.
pub fn number(input: &mut Unstructured<'_>) -> Result<i64> {
    let near = i64::from(input.arbitrary::<i8>()?);
    Ok(match input.int_in_range(0..=7)? {
        0 => i64::MAX.saturating_add(near.min(0)),
        1 => i64::MIN.saturating_add(near.max(0)),
        2 => (1 << input.int_in_range(1..=62)?) + near,
        3 => input.arbitrary()?,
        _ => near,
    })
}

/// The same without a sign.
///
/// # Errors
///
/// The input is too short.
pub fn unsigned(input: &mut Unstructured<'_>) -> Result<u64> {
    if input.ratio(1, 8)? {
        return Ok(u64::MAX - u64::from(input.arbitrary::<u8>()?));
    }
    Ok(number(input)?.unsigned_abs())
}

/// The bytes that are left, as a text.
#[must_use]
pub fn rest(input: &Unstructured<'_>) -> String {
    String::from_utf8_lossy(input.peek_bytes(input.len()).unwrap_or_default()).into_owned()
}

/// Checks that what is `value` prints itself as the text of the same value, and returns the text.
pub fn round_trip<T>(value: T) -> String
where
    T: Copy + Debug + Display + FromStr<Err: Debug> + PartialEq,
{
    let text = value.to_string();
    assert_eq!(text.parse::<T>().unwrap(), value, "{text:?}");
    text
}

/// A folder for files. `verify/fuzz/run` has temporary files in memory, as an input must cost no
/// sync of a disk, and removes them: a target ends by a signal or by `exit`.
///
/// # Panics
///
/// There is no place for it.
#[must_use]
pub fn folder() -> PathBuf {
    tempfile::tempdir().unwrap().keep()
}

/// A SQLite file that uidring has made, and a connection that writes to it what other programs and
/// other databases may have: values of any kind.
pub struct File {
    pub path: PathBuf,
    pub db: Connection,
}

impl File {
    /// A file with the tables that `make` makes.
    ///
    /// # Panics
    ///
    /// There is no place for it.
    #[must_use]
    pub fn new(make: impl FnOnce(Store)) -> File {
        let path = folder().join("ids.db");
        make(Store::open(&path).unwrap());
        let db = Connection::open(&path).unwrap();
        let pragmas = "PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF";
        db.execute_batch(pragmas).unwrap();
        File { path, db }
    }
}
