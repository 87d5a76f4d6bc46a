//! How pages, lines and failures are written.

pub(crate) mod output;
pub(crate) mod shell;
pub(crate) mod table;
pub(crate) mod words;
