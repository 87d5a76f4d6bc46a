//! `uidring tags create`, `set` and `remove`: changes one tag.

use indicatif::HumanCount;
use uidring::segment::{SegmentAdmin, TagChange, TagRecord};
use uidring_args::{Table, TagArgs, quantity};

use crate::args::db;
use crate::args::tag_store::{TagStore, TagStoreArgs};
use crate::args::wait_notice::with_wait_notice;
use crate::text::{self, DIM, Failure, columns, footnote, paint, paragraph};
use crate::text::{command, failure_with_command};

/// Create a tag
///
/// A registry that does not exist yet is created, too: a SQLite file, or the tables on a server.
/// Leaf's and tinyid's tables are theirs to make; the row is inserted as an operator would do it.
/// CosId's counter in Redis is set as one of its programs would set it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring tags create orders
  uidring tags create orders --first 5000 --step 20k
  uidring tags create orders --db mysql://leaf@db/leaf --table leaf
  uidring tags create shop.orders --db redis://db --table cosid")]
pub(crate) struct Create {
    /// Its name, of 1 to 128 characters
    #[arg(value_name = "NAME")]
    tag: String,

    #[command(flatten)]
    options: TagArgs,

    #[command(flatten)]
    store: TagStoreArgs,
}

impl Create {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.store.db()?;
        let store = self.store.store(&db);
        text::print(&with_wait_notice(&db, || self.create(&db::tags(&db, store.table)?, store))?)
    }

    fn create(&self, tags: &dyn SegmentAdmin, store: TagStore<'_>) -> Result<String, Failure> {
        store.table.check_step(&self.tag, self.options.has_step())?;
        if let Some(record) = store.table.find(tags, &self.tag)? {
            return Err(Failure::Failed(format!(
                "the tag {} is there already: {}; `uidring tags set` changes it",
                self.tag,
                describe(&record, store)
            )));
        }
        let record = tags.create(&self.tag, &self.options.tag())?;
        Ok(page(&record, store))
    }
}

/// Change a tag
///
/// This is safe at any time: processes go on with the numbers that they have, and find the change
/// when they take more.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring tags set orders --step 20k
  uidring tags set orders --next 1000000     skip the numbers before it
  uidring tags set orders --max-step none")]
pub(crate) struct Set {
    /// Its name
    #[arg(value_name = "NAME")]
    tag: String,

    /// Its next number, not below the present one. The numbers between are never given
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    next: Option<u64>,

    /// How many numbers a process takes at a time, at least: 500, 20k, 1.5M
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    step: Option<u64>,

    /// How many numbers a process takes at a time, at most; `none` lets the process decide
    #[arg(long, value_name = "N", value_parser = max_step)]
    max_step: Option<MaxStep>,

    /// What people want to know about it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    store: TagStoreArgs,
}

/// The most numbers at a time; `None` where the process decides.
#[derive(Clone, Copy, Debug)]
struct MaxStep(Option<u64>);

fn max_step(text: &str) -> Result<MaxStep, String> {
    if text == "none" {
        Ok(MaxStep(None))
    } else {
        quantity::count(text).map(|most| MaxStep(Some(most)))
    }
}

impl Set {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut change = TagChange::new();
        if let Some(next) = self.next {
            change = change.next(next);
        }
        if let Some(step) = self.step {
            change = change.step(step);
        }
        if let Some(MaxStep(most)) = self.max_step {
            change = change.max_step(most);
        }
        if let Some(text) = &self.description {
            change = change.description(text);
        }
        if change == TagChange::new() {
            return Err(Failure::Usage(
                "nothing to change: name --next, --step, --max-step or --description".to_owned(),
            ));
        }
        let db = self.store.db()?;
        let store = self.store.store(&db);
        let set = || {
            let tags = db::existing_tags(&db, store.table)?;
            tags.set(&self.tag, &change).map_err(|error| store.failure(&error, self.next))
        };
        text::print(&page(&with_wait_notice(&db, set)?, store))
    }
}

/// Remove a tag
///
/// Nothing is left then that knows which numbers were given: a tag of the same name that begins at
/// 1 gives them again. Processes that use the tag go on with the numbers that they have, and then
/// fail.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring tags remove orders
  uidring tags remove orders --force   though its numbers have been given
  uidring tags remove orders --db mysql://leaf@db/leaf --table leaf")]
pub(crate) struct Remove {
    /// Its name
    #[arg(value_name = "NAME")]
    tag: String,

    /// Remove it even if numbers of it have been given
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    store: TagStoreArgs,
}

impl Remove {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.store.db()?;
        let store = self.store.store(&db);
        let remove = || self.remove(&db::existing_tags(&db, store.table)?, store);
        text::print(&with_wait_notice(&db, remove)?)
    }

    fn remove(&self, tags: &dyn SegmentAdmin, store: TagStore<'_>) -> Result<String, Failure> {
        let Some(record) = store.table.find(tags, &self.tag)? else {
            let (store, tag) = (tags.name(), &self.tag);
            return Err(Failure::Failed(format!("{store} has no tag {tag:?} to remove")));
        };
        // A counter of CosId's is never removed; the call says why.
        let is_seen = !self.force && store.table != Table::CosId;
        if record.next > 1 && is_seen {
            let (tag, next) = (&self.tag, record.next);
            let why = format!(
                "the numbers of the tag {tag} below {} may have been given, and nothing else knows \
                 of them: remove it with --force, and if you need the name again, begin above \
                 them:",
                HumanCount(next)
            );
            return Err(failure_with_command(&why, &store.create(tag, Some(next))));
        }
        // Numbers that are taken meanwhile have been given as well.
        let seen = is_seen.then_some(record.next);
        let record = tags.remove(&self.tag, seen)?;
        let page = paragraph(&format!("the tag {} is removed", self.tag));
        if record.next == 1 {
            return Ok(page);
        }
        let next = HumanCount(record.next);
        let again =
            format!("a tag of this name gives no number again if it begins at {next} or above");
        Ok(page + &footnote(&again))
    }
}

/// "its next number is 5,000, and a process takes 1,000 numbers at a time".
fn describe(record: &TagRecord, store: TagStore<'_>) -> String {
    if !store.table.has_steps() {
        return format!("its next number is {}", HumanCount(record.next));
    }
    let most = record.max_step.map_or_else(String::new, |most| format!(" to {}", HumanCount(most)));
    format!(
        "its next number is {}, and a process takes {}{most} numbers at a time",
        HumanCount(record.next),
        HumanCount(record.step)
    )
}

fn page(record: &TagRecord, store: TagStore<'_>) -> String {
    let take = command("to take one:", &store.take(&record.tag), columns());
    paragraph(&format!("the tag {}: {}", record.tag, describe(record, store))) + &paint(DIM, take)
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::ffi::OsString;
    use uidring::segment::{Segment, SegmentError, SegmentSource, SqliteSegments, Tag};
    use uidring_args::Db;

    /// Another process takes numbers each time after the tags have been read.
    struct InUse(SqliteSegments);

    impl SegmentSource for InUse {
        fn name(&self) -> String {
            self.0.name()
        }

        fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
            self.0.load(tag, count)
        }

        fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
            self.0.give_back(tag, unused)
        }

        fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
            let tags = self.0.tags();
            self.0.load("orders", None)?;
            tags
        }

        fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
            self.0.create(tag, new)
        }
    }

    impl SegmentAdmin for InUse {
        fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError> {
            self.0.set(tag, change)
        }

        fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError> {
            self.0.remove(tag, next)
        }
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        remove: Remove,
    }

    fn remove(tags: &InUse, args: &[&str]) -> Result<String, Failure> {
        let line = [&["remove", "orders"], args].concat();
        let db = Db::from(OsString::from("uidring.db"));
        Line::parse_from(line).remove.remove(tags, TagStore { db: &db, table: Table::Own })
    }

    #[test]
    fn a_tag_that_is_taken_from_meanwhile_is_removed_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let tags = InUse(SqliteSegments::open(folder.path().join("uidring.db")).unwrap());
        tags.create("orders", &Tag::new()).unwrap();
        let Err(Failure::Failed(why)) = remove(&tags, &[]) else { panic!("it was removed") };
        assert!(why.contains("its next number is 1001, and was 1 when it was looked at"), "{why}");
        assert_eq!(tags.0.tags().unwrap().len(), 1, "it is still there");
        let removed = remove(&tags, &["--force"]).unwrap_or_else(|_| panic!("it is there"));
        assert!(removed.contains("begins at 2,001 or above"), "{removed}");
    }
}
