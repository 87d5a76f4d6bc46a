//! The table of dense numbers.

use uidring::segment::{SegmentAdmin, SegmentError, TagChange, TagRecord};

/// The table with the tags of dense numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Table {
    /// `uidring_segment`, uidring's own
    Own,
    /// `leaf_alloc`, of Meituan's Leaf
    Leaf,
    /// `tiny_id_info`, of tinyid
    #[value(name = "tinyid")]
    TinyId,
    /// `cosid:{TAG}.adder`, the counters of `CosId` in Redis
    #[value(name = "cosid")]
    CosId,
}

impl From<Table> for uidring::Table {
    fn from(table: Table) -> uidring::Table {
        match table {
            Table::Own => uidring::Table::Own,
            Table::Leaf => uidring::Table::Leaf,
            Table::TinyId => uidring::Table::TinyId,
            Table::CosId => uidring::Table::CosId,
        }
    }
}

impl Table {
    /// Its name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        uidring::Table::from(self).name()
    }

    /// Whether it holds how many numbers a process takes at a time.
    #[must_use]
    pub fn has_steps(self) -> bool {
        self != Table::CosId
    }

    /// Refuses the new `tag` if it `has_step` and there is no room for that. `CosId`'s source would
    /// keep it until its process ends, which whoever asks for it here cannot know.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn check_step(self, tag: &str, has_step: bool) -> Result<(), SegmentError> {
        if self.has_steps() || !has_step {
            return Ok(());
        }
        let problem = "CosId keeps no step in Redis: each program has its own; leave it out";
        Err(SegmentError::BadTag { tag: tag.to_owned(), problem: problem.to_owned() })
    }

    /// The tag, if it is there.
    ///
    /// # Errors
    /// The store cannot be read, or the table is not there.
    pub fn find(
        self,
        tags: &dyn SegmentAdmin,
        tag: &str,
    ) -> Result<Option<TagRecord>, SegmentError> {
        if self != Table::CosId {
            return Ok(tags.tags()?.into_iter().find(|record| record.tag == tag));
        }
        // To list the counters, Redis goes through all keys of the database, which may be millions
        // of others. A change of nothing reads the key of the tag alone.
        match tags.set(tag, &TagChange::new()) {
            Ok(record) => Ok(Some(record)),
            Err(SegmentError::NoSuchTag { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
