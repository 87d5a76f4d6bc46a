//! What can be set, and how it is read and checked.

pub(crate) mod db;
pub(crate) mod layout;
pub(crate) mod limits;
pub(crate) mod open_files;
pub(crate) mod options;
pub(crate) mod options_file;
pub(crate) mod variables;
