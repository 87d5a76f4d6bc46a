//! SQLite files.

use uidring::Store;

use crate::contract;
use crate::folder::folder;

#[test]
fn pools_in_a_file() {
    let folder = folder();
    contract::check(&Store::open(folder.path().join("uidring.db")).unwrap());
}
