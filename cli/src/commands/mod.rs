//! A file or a folder for each command, with its arguments (`Args`) and what it does (`run`).

pub(crate) mod bench;
pub(crate) mod layout;
pub(crate) mod mask;
pub(crate) mod pages;
pub(crate) mod parse;
pub(crate) mod plan;
pub(crate) mod series;
pub(crate) mod sql;
pub(crate) mod status;
pub(crate) mod tags;
pub(crate) mod take;
pub(crate) mod workers;
