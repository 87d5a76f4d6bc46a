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

impl Table {
    /// Its name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Table::Own => "uidring_segment",
            Table::Leaf => "leaf_alloc",
            Table::TinyId => "tiny_id_info",
        }
    }
}
