//! Where the worker ids of Leaf's snowflakes come from.

use std::time::Duration;

use uidring::Layout;
use uidring_args::{Db, RegistryConfig};

use crate::config::db::{self, StoreFailure};
use crate::config::options::Options;

/// Leaf's layout has few worker ids, so they are always given back.
const LEASE: Duration = Duration::from_secs(10 * 60);

/// The extension of their file beside that of the UIDs.
const BESIDE: &str = "leaf.db";

/// The registry of the worker ids of Leaf's snowflakes, and how it gives them.
#[derive(Clone, Debug)]
pub(crate) struct LeafRegistry {
    pub(crate) db: Db,
    pub(crate) config: RegistryConfig,
}

impl Options {
    /// The registry of Leaf's snowflakes, if they are enabled. Their layout is `leaf`, and that of
    /// the UIDs of `db` is `layout`, if it is known. Where both are the same, so is the registry;
    /// otherwise it is another, because a registry has one layout.
    pub(crate) fn leaf_registry(
        &self,
        db: &Db,
        layout: Option<Layout>,
        leaf: Layout,
    ) -> Result<Option<LeafRegistry>, String> {
        let paths = &self.paths;
        if !paths.leaf_snowflake {
            return Ok(None);
        }
        let is_shared = paths.leaf_db.is_none() && layout == Some(leaf);
        let is_of_many = matches!(db, Db::Url(_));
        let db = match &paths.leaf_db {
            Some(named) => {
                db::check(named).map_err(|problem| format!("--leaf-db: {problem}"))?;
                named.clone()
            }
            None if is_shared => db.clone(),
            None => db::with_extension(db, BESIDE).ok_or(
                "--leaf-db: name another database that all machines share, for the worker ids of \
                 --leaf-snowflake, or give the UIDs of --db the same layout with --preset twitter",
            )?,
        };
        let of_uids = self.generator.registry_config();
        let mut config = RegistryConfig { lease: Some(LEASE), ..RegistryConfig::default() };
        if let Some(kept) = &paths.leaf_worker_ids {
            let is_within = of_uids
                .worker_ids
                .is_some_and(|ids| kept.contains(ids.start()) && kept.contains(ids.end()));
            if is_shared && self.uids && !is_within {
                let problem = "--leaf-worker-ids: the UIDs of /v1 have the same layout and \
                               registry, and would have the other worker ids, too; keep them \
                               within these with --worker-ids, or turn these UIDs off with \
                               --uids=false";
                return Err(problem.to_owned());
            }
            config.worker_ids = Some(kept.clone());
        } else if is_shared {
            (config.partition, config.worker_ids) = (of_uids.partition, of_uids.worker_ids);
        } else if !matches!(db, Db::Url(_)) {
            // A file does not know of those of other machines. What keeps the UIDs of these
            // machines apart has to keep their snowflakes apart, too.
            let does_not_fit = |option: &str, why: &str| {
                format!(
                    "--leaf-snowflake: {option} {why}; give each machine worker ids of its own \
                     for them with --leaf-worker-ids, from 1 to {}",
                    leaf.max_worker()
                )
            };
            if of_uids.worker_ids.is_some() {
                let why = "is for the layout of the UIDs, and the snowflakes have another";
                return Err(does_not_fit("--worker-ids", why));
            }
            if of_uids.partition.is_some_and(|part| !has_ids(part, leaf)) {
                let why = "leaves no worker id for the snowflakes, whose layout has fewer";
                return Err(does_not_fit("--partition", why));
            }
            if is_of_many && of_uids.partition.is_none() {
                return Err(format!(
                    "--leaf-db: a file does not know of those of the other machines that share \
                     --db, which give the same worker ids: name a database that all of them \
                     share, or give each machine worker ids of its own with --leaf-worker-ids, \
                     from 1 to {}",
                    leaf.max_worker()
                ));
            }
            config.partition = of_uids.partition;
        }
        Ok(Some(LeafRegistry { db, config }))
    }

    /// The same, with the layout that the registry of `db` remembers where the options name none
    /// or another. Refuses to leave a registry beside that has given worker ids. Blocks on the
    /// database.
    ///
    /// The options alone could name another registry than before, in which no worker id is in use.
    pub(crate) fn find_leaf_registry(
        &self,
        db: &Db,
        layout: Option<Layout>,
        leaf: Layout,
    ) -> Result<Option<LeafRegistry>, StoreFailure> {
        let paths = &self.paths;
        let is_open = paths.leaf_snowflake && paths.leaf_db.is_none();
        let remembered = if is_open { db::remembered_layout(db)? } else { None };
        let layout = if layout == Some(leaf) { layout } else { remembered.or(layout) };
        if is_open && let Some(beside) = db::with_extension(db, BESIDE) {
            check_registry_of_leaf(db, &beside, layout == Some(leaf), remembered, leaf)?;
        }
        self.leaf_registry(db, layout, leaf).map_err(StoreFailure::permanent)
    }
}

/// Checks that the snowflakes go on in the one of both registries that has given their worker ids.
/// They are to be in `db`, which remembers a layout if it was used, or `beside` it.
fn check_registry_of_leaf(
    db: &Db,
    beside: &Db,
    is_in_db: bool,
    remembered: Option<Layout>,
    leaf: Layout,
) -> Result<(), StoreFailure> {
    let is_used = db::remembered_layout(beside)?.is_some();
    if is_in_db && is_used {
        return Err(StoreFailure::permanent(format!(
            "--leaf-snowflake: {beside} has given the worker ids of the snowflakes, and {db}, \
             whose layout is theirs now, would give the same ones again; name the one that gives \
             them with --leaf-db, and {db} only when no program has one of {beside}"
        )));
    }
    // With their own epoch, the snowflakes may have been in `db`.
    let is_epoch_new = |there: Layout| {
        there != leaf && there.with_epoch(leaf.epoch()).is_ok_and(|with_epoch| with_epoch == leaf)
    };
    if !is_used && remembered.is_some_and(is_epoch_new) {
        return Err(StoreFailure::permanent(format!(
            "--leaf-epoch: {db} has the layout of the snowflakes with another epoch: if they had \
             that one before, those of this one can be equal to them; leave --leaf-epoch as it \
             was, or, if there were none, name {beside} with --leaf-db"
        )));
    }
    Ok(())
}

/// Whether the part with this index, of so many, has a worker id in `layout`. 0 is never given.
fn has_ids((index, of): (u64, u64), layout: Layout) -> bool {
    let size = (layout.max_worker() + 1) / of;
    size > 1 || (size == 1 && index > 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn machines_that_share_a_server_share_no_snowflakes_from_files() {
        let server = Db::Url("postgres://ids@db.example.com/ids".to_owned());
        let file = Db::File("ids.db".into());
        let found = |db: &Db, options: &[&str]| {
            let args = ["uidring-server", "--leaf-snowflake", "--leaf-db=leaf.db"];
            let options = Options::parse_from([&args, options].concat());
            options.leaf_registry(db, None, Layout::TWITTER).map(|found| found.unwrap().config)
        };
        let problem = found(&server, &[]).unwrap_err();
        assert!(problem.contains("name a database that all of them share"), "{problem}");
        let of_machine = found(&server, &["--leaf-worker-ids=1-9"]).unwrap();
        assert_eq!(of_machine.worker_ids, Some(1..=9));
        assert_eq!(found(&server, &["--partition=1/2"]).unwrap().partition, Some((1, 2)));
        assert!(found(&file, &[]).is_ok());
    }
}
