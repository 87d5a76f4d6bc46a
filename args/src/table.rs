//! Which table dense numbers come from.

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
}

impl From<Table> for uidring::Table {
    fn from(table: Table) -> uidring::Table {
        match table {
            Table::Own => uidring::Table::Own,
            Table::Leaf => uidring::Table::Leaf,
            Table::TinyId => uidring::Table::TinyId,
        }
    }
}

impl Table {
    /// Its name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        uidring::Table::from(self).name()
    }
}
