//! Where the worker ids of Leaf's snowflakes come from.

use std::time::Duration;

use uidring::Layout;
use uidring_args::{Db, Terms};

use crate::config::db::{self, Unusable};
use crate::config::options::Options;

/// Leaf's layout has few worker ids, so they are always given back.
const LEASE: Duration = Duration::from_secs(10 * 60);

/// The registry of the worker ids of Leaf's snowflakes, and how it gives them.
#[derive(Clone, Debug)]
pub(crate) struct LeafRegistry {
    pub(crate) db: Db,
    pub(crate) terms: Terms,
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
        let db = match &paths.leaf_db {
            Some(named) => {
                db::check(named).map_err(|problem| format!("--leaf-db: {problem}"))?;
                named.clone()
            }
            None if is_shared => db.clone(),
            None => db::beside(db, "leaf.db").ok_or(
                "--leaf-db: name another database for the worker ids of --leaf-snowflake, or give \
                 the UIDs of --db the same layout with --preset twitter",
            )?,
        };
        let of_uids = self.generator.terms();
        let mut terms = Terms { lease: Some(LEASE), ..Terms::default() };
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
            terms.worker_ids = Some(kept.clone());
        } else if is_shared {
            (terms.partition, terms.worker_ids) = (of_uids.partition, of_uids.worker_ids);
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
            terms.partition = of_uids.partition;
        }
        Ok(Some(LeafRegistry { db, terms }))
    }

    /// The same, with the layout that the registry of `db` remembers where the options name none
    /// or another. Blocks on the database.
    ///
    /// The options alone could name another registry than before, in which no worker id is in use.
    pub(crate) fn find_leaf_registry(
        &self,
        db: &Db,
        layout: Option<Layout>,
        leaf: Layout,
    ) -> Result<Option<LeafRegistry>, Unusable> {
        let paths = &self.paths;
        let is_open = paths.leaf_snowflake && paths.leaf_db.is_none() && layout != Some(leaf);
        let layout = if is_open { db::remembered_layout(db)?.or(layout) } else { layout };
        self.leaf_registry(db, layout, leaf).map_err(Unusable::as_it_is)
    }
}

/// Whether the part with this index, of so many, has a worker id in `layout`. 0 is never given.
fn has_ids((index, of): (u64, u64), layout: Layout) -> bool {
    let size = (layout.max_worker() + 1) / of;
    size > 1 || (size == 1 && index > 0)
}
