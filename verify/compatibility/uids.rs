//! What each neighbour is tested with.

use uidring::registry::SqliteRegistry;
use uidring::{Uid, UidGenerator};

/// Two UIDs of a generator whose registry is a SQLite file.
pub fn two() -> [Uid; 2] {
    let dir = tempfile::tempdir().unwrap();
    let registry = SqliteRegistry::open(dir.path().join("uidring.db")).unwrap();
    let uids = UidGenerator::builder().registry(registry).build().unwrap();
    let two = [uids.take().unwrap(), uids.take().unwrap()];
    assert!(two[0] < two[1]);
    two
}

/// Rows that a program without UIDs may have written, and what is said of each id.
pub const NO_UIDS: [(i64, &str); 2] = [
    (0, "0 is not a UID: a UID is in 1..=9223372036854775807"),
    (-1, "-1 is not a UID: a UID is in 1..=9223372036854775807"),
];
