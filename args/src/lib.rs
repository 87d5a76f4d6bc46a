//! The options that the tool `uidring` and the service `uidring-server` share: one description and
//! one parser for both.

mod db;
mod errors;
mod generator;
mod key_file;
mod layout;
mod loan_args;
mod passwords;
mod registry_config;
mod series_args;
mod spelling;
mod table;
mod tag_args;
mod variables;
mod visible;
mod worker_id_args;
mod worker_ids;

pub use db::Db;
pub use errors::with_causes;
pub use generator::{GeneratorArgs, check_build, try_build_on, with_registry};
pub use key_file::{KeyFile, prefix};
pub use layout::LayoutArgs;
pub use loan_args::LoanArgs;
pub use passwords::without_passwords;
pub use registry_config::RegistryConfig;
pub use series_args::{SeriesArgs, first_day, first_day_text, present_definition, restart};
pub use spelling::{long_names, normalize_options};
pub use table::Table;
pub use tag_args::TagArgs;
pub use uidring_layouts::{lease, length, quantity, some_length, time};
pub use variables::{
    find_spelling, is_near, is_variable, meant, mistaken, nearest, normalized, unknown, variable,
};
pub use visible::{escaped, visible};
pub use worker_id_args::WorkerIdArgs;
pub use worker_ids::{partition, worker_id, worker_ids};
