//! Builds the generator that the options set up.

use std::time::Duration;

use uidring::{Layout, UidGenerator};
use uidring_args::{Db, GeneratorArgs, build_on, check_build};

use crate::args::db;
use crate::args::wait_notice::with_wait_notice;
use crate::text::Failure;

/// Builds a generator with a worker id from `db`, at one try: who runs a command can run it again,
/// and sees at once that an address is wrong. A missing file is created.
pub(crate) fn open(
    args: &GeneratorArgs,
    db: &Db,
    asked: Option<Layout>,
) -> Result<UidGenerator, Failure> {
    args.check_requested(asked).map_err(|problem| Failure::Usage(problem.to_owned()))?;
    let builder = || args.builder().start_deadline(Duration::ZERO);
    if asked.is_some() || db.is_missing() {
        check_build(builder(), asked.unwrap_or_default())?;
    }
    with_wait_notice(db, || Ok(build_on(builder(), db::open(db, &args.registry_config())?, asked)?))
}
