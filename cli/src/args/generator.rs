//! Builds the generator that the options set up.

use std::time::Duration;

use uidring::{Builder, Layout, PastGenerator, UidGenerator};
use uidring_args::{Db, GeneratorArgs, check_build, with_registry};

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
    let builder = builder_on(args, db, asked)?;
    with_wait_notice(db, || Ok(builder()?.build()?))
}

/// Does what [`open`] does, for times that were.
pub(crate) fn open_past(
    args: &GeneratorArgs,
    db: &Db,
    asked: Option<Layout>,
) -> Result<PastGenerator, Failure> {
    let builder = builder_on(args, db, asked)?;
    with_wait_notice(db, || Ok(builder()?.build_past()?))
}

/// What opens the registry and makes a builder for it, once the options were checked.
fn builder_on<'a>(
    args: &'a GeneratorArgs,
    db: &'a Db,
    asked: Option<Layout>,
) -> Result<impl FnOnce() -> Result<Builder, Failure> + 'a, Failure> {
    args.check_requested(asked).map_err(|problem| Failure::Usage(problem.to_owned()))?;
    let builder = || args.builder().start_deadline(Duration::ZERO);
    if asked.is_some() || db.is_missing() {
        check_build(builder(), asked.unwrap_or_default())?;
    }
    Ok(move || Ok(with_registry(builder(), db::open(db, &args.registry_config())?, asked)))
}
