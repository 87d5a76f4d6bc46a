//! Configuration: its options, and how they are read and checked.

pub(crate) mod db;
pub(crate) mod generate;
pub(crate) mod leaf;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod open_files;
pub(crate) mod options;
pub(crate) mod options_file;
pub(crate) mod shared;
pub(crate) mod variables;
