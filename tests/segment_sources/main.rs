//! Numbers of tags from databases, as programs meet them: real files and servers, the statements of
//! Leaf's and tinyid's own servers beside, and errors read as text.
#![cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/causes.rs"]
mod causes;
#[cfg(all(unix, feature = "sqlite"))]
#[path = "../common/copy_program.rs"]
mod copy_program;
#[cfg(any(feature = "mysql", feature = "postgres"))]
#[path = "../common/databases/mod.rs"]
mod databases;
#[cfg(feature = "sqlite")]
#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/others.rs"]
mod others;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod servers;
#[cfg(feature = "sqlite")]
mod several;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use uidring::segment::{
    Segment, SegmentAdmin, SegmentError, SegmentSource, Tag, TagChange, TinyIdToken,
};
use uidring::{Store, Table};

use causes::with_causes;

/// The largest number.
const LARGEST: u64 = 9_223_372_036_854_775_807;

fn text<T: Debug>(result: Result<T, SegmentError>) -> String {
    with_causes(&result.unwrap_err())
}

fn numbers(segment: &Segment) -> BTreeSet<u64> {
    (0..segment.count).map(|index| segment.first + index * segment.delta).collect()
}

/// The source on a table of a store.
fn on_table(address: impl AsRef<OsStr>, table: Table, timeout: Duration) -> Box<dyn SegmentAdmin> {
    let store = Store::open(address).unwrap().with_timeout(timeout);
    Box::new(store.segments_in(table).unwrap())
}

/// Whose table it is.
fn other(table: Table) -> others::Other {
    match table {
        Table::Leaf => others::Other::Leaf,
        Table::TinyId => others::Other::TinyId,
        _ => panic!("it has no others"),
    }
}

/// The stores in which tests have their tags.
trait Place: Sync {
    fn open(&self, table: Table) -> Box<dyn SegmentAdmin>;

    /// Runs statements on the tables.
    fn run(&self, sql: &str);

    /// Takes `takes` segments of the tag `orders` by the statements of the servers of Leaf or
    /// tinyid, and returns the two ends of each: the row's before and after.
    fn others(&self, table: Table, takes: usize) -> Vec<(u64, u64)>;
}

/// While this library loads, other connections run Leaf's or tinyid's own statements.
fn nothing_is_given_twice_or_left_out_beside_others(place: &dyn Place, table: Table) {
    const LOADERS: usize = 3;
    let (delta, remainder) = match table {
        Table::Leaf => {
            place.run("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)");
            (1, 0)
        }
        Table::TinyId => {
            place.run(
                "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
                 create_time, update_time, version) \
                 VALUES ('orders', 0, 0, 10, 3, 2, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1)",
            );
            (3, 2)
        }
        _ => panic!("it has no others"),
    };
    let start = Barrier::new(LOADERS + 1);
    let load = |loader: usize| {
        let source = place.open(table);
        start.wait();
        let wishes = (0..40).map(|turn| [None, Some(3), Some(25)][(turn + loader) % 3]);
        wishes.map(|wish| source.load("orders", wish).unwrap()).collect::<Vec<_>>()
    };
    let (ours, theirs) = thread::scope(|scope| {
        let loaders: Vec<_> =
            (0..LOADERS).map(|loader| scope.spawn(move || load(loader))).collect();
        start.wait();
        let theirs = place.others(table, 60);
        let ours = loaders.into_iter().flat_map(|loader| loader.join().unwrap());
        (ours.collect::<Vec<_>>(), theirs)
    });
    assert_eq!((ours.len(), theirs.len()), (LOADERS * 40, 60));
    let mut all = BTreeSet::new();
    let mut note = |number: u64| assert!(all.insert(number), "{number} came twice");
    ours.iter().flat_map(numbers).for_each(&mut note);
    for (before, after) in theirs {
        // Leaf's are from the old value on, tinyid's from after it.
        let range = if table == Table::Leaf { before..after } else { before + 1..after + 1 };
        range.filter(|number| number % delta == remainder).for_each(&mut note);
    }
    let end = *all.last().unwrap();
    let expected: BTreeSet<u64> = (1..=end).filter(|number| number % delta == remainder).collect();
    assert_eq!(all.len(), expected.len(), "none is missing up to {end}");
    assert_eq!(all, expected);
}

/// The tokens of tinyid's clients, as `read` returns them.
fn tokens_are_read(place: &dyn Place, read: &dyn Fn() -> Result<Vec<TinyIdToken>, SegmentError>) {
    let missing = text(read());
    assert!(missing.contains("its table tiny_id_token is not there"), "{missing}");
    place.run(
        "CREATE TABLE tiny_id_token (id INT NOT NULL PRIMARY KEY, \
         token VARCHAR(255) NOT NULL DEFAULT '', biz_type VARCHAR(63) NOT NULL DEFAULT '', \
         remark VARCHAR(255) NOT NULL DEFAULT '')",
    );
    assert_eq!(read().unwrap(), []);
    place.run(
        "INSERT INTO tiny_id_token (id, token, biz_type) \
         VALUES (1, 'secret', 'test'), (2, 'secret', 'test_odd'), (3, 'other', 'test')",
    );
    let tokens = read().unwrap();
    let pairs: BTreeSet<_> = tokens.iter().map(|row| (&*row.token, &*row.tag)).collect();
    assert_eq!(
        pairs,
        BTreeSet::from([("secret", "test"), ("secret", "test_odd"), ("other", "test")])
    );
    assert!(!format!("{tokens:?}").contains("secret"));
}

/// Rows that give no numbers say what is wrong with them, and which values they have.
fn bad_rows_are_refused(place: &dyn Place, name: &str) {
    for (row, problem) in [
        ("7, 0, 1, 0", "its step is 0; set it to 1 or more"),
        ("7, -5, 1, 0", "its step is -5; set it to 1 or more"),
        ("7, NULL, 1, 0", "its step is 0; set it to 1 or more"),
        ("-7, 10, 1, 0", "its max_id is -7, and numbers begin at 1; set it to 1 or more"),
        ("7, 10, 0, 0", "its delta is 0; set it to 1 or more"),
        ("7, 10, -2, 0", "its delta is -2; set it to 1 or more"),
        (
            "7, 10, 2, 2",
            "its remainder is 2 and its delta 2, and no number leaves that remainder; set it from \
             0 to 1",
        ),
        (
            "7, 10, 2, -1",
            "its remainder is -1 and its delta 2, and no number leaves that remainder; set it from \
             0 to 1",
        ),
    ] {
        place.run("DELETE FROM tiny_id_info");
        place.run(&format!(
            "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
             create_time, update_time) \
             VALUES ('orders', 0, {row}, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
        ));
        let source = place.open(Table::TinyId);
        let error = text(source.load("orders", None));
        let start = format!("the row of the tag \"orders\" in {name} cannot be used: ");
        assert_eq!(error.strip_prefix(&start), Some(problem), "{error}");
        // Operators see it all the same.
        assert_eq!(source.tags().unwrap().len(), 1);
    }
    for (row, problem) in [
        ("7, 0", "its step is 0; set it to 1 or more"),
        ("-1, 10", "its max_id is -1, and numbers begin at 1; set it to 1 or more"),
    ] {
        place.run("DELETE FROM leaf_alloc");
        place.run(&format!(
            "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', {row})"
        ));
        let error = text(place.open(Table::Leaf).load("orders", None));
        assert!(error.ends_with(problem), "{error}");
    }
    // An operator mends it.
    place.run("UPDATE leaf_alloc SET max_id = 7, step = 0");
    place.open(Table::Leaf).set("orders", &TagChange::new().step(5)).unwrap();
    let segment = place.open(Table::Leaf).load("orders", None).unwrap();
    assert_eq!((segment.first, segment.count), (7, 5));
}

/// The rest of a row is given, and then an error, and no server is asked to add beyond its type.
fn a_row_at_its_end_gives_the_rest(place: &dyn Place, name: &str) {
    let end = |table| match table {
        // Leaf's column holds the next number.
        Table::Leaf => LARGEST - 1,
        _ => LARGEST,
    };
    for table in [Table::Own, Table::Leaf, Table::TinyId] {
        let source = place.open(table);
        source.create("orders", &Tag::new().first(end(table) - 4).step(3)).unwrap();
        let ranges: Vec<_> = [None, Some(1000)]
            .into_iter()
            .map(|count| source.load("orders", count).unwrap())
            .map(|segment| (end(table) - segment.first, segment.count))
            .collect();
        assert_eq!(ranges, [(4, 3), (1, 2)], "{table:?}");
        for count in [None, Some(1), Some(u64::MAX)] {
            assert_eq!(
                text(source.load("orders", count)),
                format!(
                    "the tag \"orders\" in {name} has no numbers left: {} was the last; go on with \
                     another tag",
                    end(table)
                )
            );
        }
        assert_eq!(source.tags().unwrap()[0].next, end(table) + 1);
        source.remove("orders", None).unwrap();
    }
}

/// The tables of others are used as they are: what their own servers do comes out.
fn first_numbers_are_those_of_leaf_and_tinyid(place: &dyn Place) {
    // The samples of both.
    place.run("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('leaf', 1, 2000)");
    let segment = place.open(Table::Leaf).load("leaf", None).unwrap();
    assert_eq!((segment.first, segment.count, segment.row_end), (1, 2000, 2001));
    place.run(
        "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
         create_time, update_time, version) VALUES \
         ('test', 1, 1, 100000, 1, 0, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1), \
         ('test_odd', 1, 1, 100000, 2, 1, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 3)",
    );
    let source = place.open(Table::TinyId);
    let segment = source.load("test", None).unwrap();
    assert_eq!((segment.first, segment.count, segment.delta), (2, 100_000, 1));
    let segment = source.load("test_odd", None).unwrap();
    assert_eq!((segment.first, segment.count, segment.delta), (3, 50_000, 2));
    assert_eq!(segment.row_end, 100_001);
    // The version counts up, by which tinyid's servers see that they were not first.
    place.run(
        "INSERT INTO leaf_alloc (biz_tag, max_id, step) \
         SELECT 'version', version, 1 FROM tiny_id_info WHERE biz_type = 'test'",
    );
    assert_eq!(place.open(Table::Leaf).load("version", None).unwrap().first, 2);
    // A new row is as an operator would insert it: both servers begin with the same number.
    source.create("new", &Tag::new().first(500).step(10)).unwrap();
    place.run(
        "INSERT INTO leaf_alloc (biz_tag, max_id, step) \
         SELECT biz_type, max_id + 1, step FROM tiny_id_info \
         WHERE biz_type = 'new' AND begin_id = max_id AND delta = 1 AND remainder = 0",
    );
    for table in [Table::Leaf, Table::TinyId] {
        assert_eq!(place.open(table).load("new", None).unwrap().first, 500, "{table:?}");
    }
    let record = &source.tags().unwrap()[1];
    assert_eq!((record.tag.as_str(), record.next, record.delta), ("test", 100_002, 1));
    let age = record.updated.unwrap().elapsed().unwrap_or_default();
    assert!(age.as_secs() < 3600, "{age:?}");
}

/// One database of several knows nothing of the others.
fn no_tag_with_all_numbers_is_made_beside_those_that_are_shared(place: &dyn Place) {
    let source = place.open(Table::TinyId);
    source.create("alone", &Tag::new()).unwrap();
    place.run(
        "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
         create_time, update_time, version) \
         VALUES ('orders', 0, 0, 10, 2, 1, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1)",
    );
    let error = text(source.create("fresh", &Tag::new()));
    let sentence = "the tag \"fresh\" cannot be used: tags in tiny_id_info have a delta above 1, \
                    so other databases may give the numbers between; insert its row by SQL";
    assert!(error.starts_with(sentence), "{error}");
    // What is there is used.
    assert_eq!(source.create("alone", &Tag::new()).unwrap().next, 1);
}

/// A tag of our own does not give again what the same tag has given in a table of others.
fn numbers_that_another_table_has_given_are_not_given_again(place: &dyn Place, name: &str) {
    place.run("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 5001, 10)");
    place.run(
        "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
         create_time, update_time, version) \
         VALUES ('orders', 0, 7000, 10, 2, 1, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1), \
         ('fresh', 0, 0, 10, 1, 0, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1)",
    );
    let source = place.open(Table::Own);
    for (first, table, last) in [
        (1, "leaf_alloc", 5000),
        (5000, "leaf_alloc", 5000),
        (5001, "tiny_id_info", 7000),
        (7000, "tiny_id_info", 7000),
    ] {
        let error = text(source.create("orders", &Tag::new().first(first)));
        assert_eq!(
            error,
            format!(
                "the table {table} in {name} has given the numbers of the tag \"orders\" up to \
                 {last}: take them from that table, or see that nobody does any more, and create \
                 the tag with a first number above {last}"
            )
        );
    }
    assert_eq!(source.tags().unwrap(), []);
    source.create("orders", &Tag::new().first(7001)).unwrap();
    // Nor does one of theirs what ours has given, where somebody goes back.
    source.create("ours", &Tag::new().first(9000)).unwrap();
    for table in [Table::Leaf, Table::TinyId] {
        let error = text(place.open(table).create("ours", &Tag::new().first(8999)));
        let sentence = format!("the table uidring_segment in {name} has given the numbers of the ");
        assert!(error.starts_with(&sentence), "{table:?}: {error}");
    }
    place.open(Table::Leaf).create("ours", &Tag::new().first(9000)).unwrap();
    assert_eq!(source.load("orders", None).unwrap().first, 7001);
    // A tag that is there goes on, whatever the others do.
    place.run("UPDATE leaf_alloc SET max_id = 1000000");
    source.create("orders", &Tag::new()).unwrap();
    // Of these, none has been given.
    for tag in ["fresh", "Orders", "new"] {
        source.create(tag, &Tag::new()).unwrap();
    }
}

/// Whoever has numbers of a row knows it again, and takes none from another of the same tag.
fn a_row_made_anew_gives_nothing_to_those_who_took_before(place: &dyn Place) {
    let (a, b) = (place.open(Table::Own), place.open(Table::Own));
    a.create("orders", &Tag::new()).unwrap();
    let first = a.load("orders", None).unwrap();
    let second = b.load("orders", None).unwrap();
    assert_eq!((first.first, second.first), (1, 1001));
    place.run("CREATE TABLE away AS SELECT * FROM uidring_segment");
    place.run("DELETE FROM uidring_segment");
    let none = |source: &dyn SegmentAdmin| {
        let error = source.load("orders", None).unwrap_err();
        assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
    };
    none(&*a);
    // A new process starts without this knowledge.
    let c = place.open(Table::Own);
    std::thread::sleep(std::time::Duration::from_millis(5));
    c.create("orders", &Tag::new()).unwrap();
    let another = |source: &dyn SegmentAdmin| {
        let error = text(source.load("orders", None));
        let what = "cannot be used: it is not the one that this process took numbers from before";
        assert!(error.contains(what), "{error}");
    };
    for _ in 0..2 {
        another(&*a);
        another(&*b);
        // Also where it has come to the same end, nobody gives it the numbers of another row.
        c.load("orders", None).unwrap();
        let end = c.tags().unwrap()[0].next;
        assert!(
            ![&a, &b]
                .iter()
                .zip([&first, &second])
                .any(|(source, segment)| { source.give_back("orders", segment).unwrap() })
        );
        assert_eq!(c.tags().unwrap()[0].next, end);
    }
    a.create("orders", &Tag::new()).unwrap();
    another(&*a);
    place.run("DELETE FROM uidring_segment");
    place.run("INSERT INTO uidring_segment SELECT * FROM away");
    assert_eq!(a.load("orders", None).unwrap().first, 2001);
    assert_eq!(b.load("orders", None).unwrap().first, 3001);
    another(&*c);
    // A process that removes a tag may create it again.
    b.remove("orders", None).unwrap();
    b.create("orders", &Tag::new().first(9000)).unwrap();
    assert_eq!(b.load("orders", None).unwrap().first, 9000);
    // What is left of the row before does not go back to one that has come to the same end.
    let left = b.load("orders", None).unwrap();
    b.remove("orders", None).unwrap();
    a.create("orders", &Tag::new().first(left.first)).unwrap();
    assert_eq!(place.open(Table::Own).load("orders", None).unwrap().row_end, left.row_end);
    assert!(!b.give_back("orders", &left).unwrap());
    // Nor where it knows the next row itself.
    let next = b.load("orders", None).unwrap();
    assert_eq!(next.first, left.row_end + 1);
    let mut merged = left;
    (merged.count, merged.row_end) = (merged.count + next.count, next.row_end);
    assert!(!b.give_back("orders", &merged).unwrap());
    assert!(b.give_back("orders", &next).unwrap(), "its own");
}

/// Leaf's table has no key by which a row is known again.
fn a_removed_row_of_leaf_gives_its_numbers_to_none(place: &dyn Place) {
    let (a, b) = (place.open(Table::Leaf), place.open(Table::Leaf));
    a.create("orders", &Tag::new()).unwrap();
    let left = a.load("orders", None).unwrap();
    a.remove("orders", None).unwrap();
    b.create("orders", &Tag::new()).unwrap();
    assert_eq!(b.load("orders", None).unwrap(), left);
    assert!(!a.give_back("orders", &left).unwrap());
    assert_eq!(b.load("orders", None).unwrap().first, 1001);
}

/// An operator adds a database or takes one out: the numbers between are then others'.
fn a_row_with_another_delta_takes_nothing_back(place: &dyn Place) {
    for (before, after) in [("2", "1"), ("2", "3"), ("1", "2")] {
        place.run("DELETE FROM tiny_id_info");
        place.run(&format!(
            "INSERT INTO tiny_id_info (biz_type, max_id, step, delta, remainder) \
             VALUES ('orders', 0, 12, {before}, 0)"
        ));
        let source = place.open(Table::TinyId);
        let segment = source.load("orders", None).unwrap();
        assert_eq!(segment.row_end, 12);
        let set = |delta: &str| place.run(&format!("UPDATE tiny_id_info SET delta = {delta}"));
        set(after);
        assert!(!source.give_back("orders", &segment).unwrap(), "{before}, {after}");
        set(before);
        assert!(source.give_back("orders", &segment).unwrap(), "{before}, {after}");
    }
}

fn tags_are_changed_and_removed(place: &dyn Place, name: &str) {
    for table in [Table::Own, Table::Leaf, Table::TinyId] {
        let source = place.open(table);
        source.create("orders", &Tag::new().step(10)).unwrap();
        source.load("orders", None).unwrap();
        let record = source.set("orders", &TagChange::new().next(1000).step(20)).unwrap();
        assert_eq!((record.next, record.step), (1000, 20));
        let segment = source.load("orders", None).unwrap();
        assert_eq!((segment.first, segment.count, segment.step), (1000, 20, 20));
        assert_eq!(
            text(source.set("orders", &TagChange::new().next(1019))),
            format!(
                "the tag \"orders\" in {name} has given its numbers below 1020, and would give \
                 those from 1019 on twice; name 1020 or more"
            )
        );
        let error = text(source.set("orders", &TagChange::new().step(0)));
        assert!(error.contains("its step would be 0, and no number would come of it"), "{error}");
        let error = text(source.set("orders", &TagChange::new().next(u64::MAX)));
        assert!(error.contains("its next number would be 18446744073709551615, and"), "{error}");
        assert_eq!(
            text(source.set("order", &TagChange::new())),
            format!(
                "{name} has no tag \"order\"; did you mean \"orders\"? If not, create it first, \
                 and if it was there before, with a first number above all that were given"
            )
        );
        let described = source.set("orders", &TagChange::new().description("of the shop"));
        let most = source.set("orders", &TagChange::new().max_step(500));
        match table {
            Table::Own => {
                assert_eq!(described.unwrap().description.unwrap(), "of the shop");
                assert_eq!(most.unwrap().max_step, Some(500));
                assert_eq!(source.load("orders", Some(1_000_000)).unwrap().count, 500);
                let error = text(source.set("orders", &TagChange::new().step(501)));
                let problem = "it would give at most 500 numbers at once, less than its step, 501";
                assert!(error.ends_with(problem), "{error}");
                let none = source.set("orders", &TagChange::new().max_step(None)).unwrap();
                assert_eq!(none.max_step, None);
            }
            Table::Leaf => {
                assert_eq!(described.unwrap().description.unwrap(), "of the shop");
                let problem = "has no column for the most numbers at once; leave it out";
                assert!(text(most).ends_with(problem));
            }
            _ => {
                assert!(text(described).ends_with("has no column for a description; leave it out"));
            }
        }
        // One process has read the row, and another takes numbers.
        let seen = source.tags().unwrap()[0].next;
        let next = source.load("orders", None).unwrap().first + source.tags().unwrap()[0].step;
        assert_eq!(
            text(source.remove("orders", Some(seen))),
            format!(
                "the tag \"orders\" in {name} is in use: its next number is {next}, and was {seen} \
                 when it was looked at; see who takes from it"
            )
        );
        assert_eq!(source.tags().unwrap()[0].next, next, "it is still there");
        assert_eq!(source.remove("orders", Some(next)).unwrap().next, next);
        source.create("orders", &Tag::new().first(1020)).unwrap();
        let removed = source.remove("orders", None).unwrap();
        assert_eq!(removed.next, 1020, "{removed:?}");
        assert!(source.tags().unwrap().is_empty());
        let error = source.remove("orders", None).unwrap_err();
        assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
    }
}

/// In the words of the error, with what the row has and what was asked for. Nothing is changed.
fn a_tag_that_is_there_is_created_again_only_as_it_is(place: &dyn Place, name: &str) {
    for table in [Table::Own, Table::Leaf, Table::TinyId] {
        let source = place.open(table);
        let mut new = Tag::new().step(20);
        if table != Table::TinyId {
            new = new.description("of the shop");
        }
        let created = source.create("orders", &new).unwrap();
        let again = source.create("orders", &new).unwrap();
        assert_eq!((again.next, again.step), (1, 20), "{table:?}");
        // Fields that are not requested are left to the operator.
        assert_eq!(source.create("orders", &Tag::new()).unwrap().step, 20);
        let differs = |new: &Tag, field: &str, there: &str, asked: &str| {
            assert_eq!(
                text(source.create("orders", new)),
                format!(
                    "{name} has the tag \"orders\" already, and its {field} is {there}, and \
                     {asked} was asked for; ask for no {field} to use it as it is, or change its \
                     row"
                )
            );
        };
        differs(&new.clone().step(30), "step", "20", "30");
        differs(&Tag::new().step(1000), "step", "20", "1000");
        if table != Table::TinyId {
            let other = Tag::new().description("of all");
            differs(&other, "description", "\"of the shop\"", "\"of all\"");
        }
        if table == Table::Own {
            differs(&Tag::new().max_step(50), "max_step", "not set", "50");
            source.set("orders", &TagChange::new().max_step(40)).unwrap();
            differs(&Tag::new().max_step(50), "max_step", "40", "50");
            // The step that it would have had is not asked for.
            source.create("orders", &Tag::new().max_step(40)).unwrap();
            source.set("orders", &TagChange::new().max_step(None)).unwrap();
        }
        let behind = source.create("orders", &Tag::new().first(2)).unwrap_err();
        assert!(matches!(behind, SegmentError::Behind { next: 1, first: 2, .. }), "{behind}");
        let after = source.tags().unwrap().remove(0);
        assert_eq!((after.next, after.step, after.max_step), (1, 20, None));
        assert_eq!(after.description, created.description);
    }
}

/// Leaf and tinyid have 32 bits for a step. Which database it is does not matter.
fn a_step_beyond_its_column_is_refused(place: &dyn Place) {
    for table in [Table::Own, Table::Leaf, Table::TinyId] {
        let source = place.open(table);
        let (large, larger) = (2_147_483_647, 2_147_483_648);
        let created = source.create("orders", &Tag::new().step(larger));
        if table == Table::Own {
            assert_eq!(created.unwrap().step, larger);
            let error = text(source.set("orders", &TagChange::new().step(u64::MAX)));
            assert!(error.contains("its step would be 18446744073709551615, and"), "{error}");
            continue;
        }
        let name = if table == Table::Leaf { "leaf_alloc" } else { "tiny_id_info" };
        let problem = format!(
            "the tag \"orders\" cannot be used: its step would be {larger}, and {name} has room \
             for one of {large} at most"
        );
        assert_eq!(text(created), problem);
        // Before any statement: the tag is not there.
        assert_eq!(text(source.set("orders", &TagChange::new().step(larger))), problem);
        source.create("orders", &Tag::new()).unwrap();
        assert_eq!(source.set("orders", &TagChange::new().step(large)).unwrap().step, large);
    }
}

fn names_that_cannot_be_are_refused(place: &dyn Place) {
    let long = "x".repeat(129);
    for table in [Table::Own, Table::Leaf, Table::TinyId] {
        let source = place.open(table);
        let most = if table == Table::TinyId { 63 } else { 128 };
        for (tag, problem) in [
            ("", format!("it has 0 characters, and a tag has 1 to {most}")),
            (long.as_str(), format!("it has 129 characters, and a tag has 1 to {most}")),
            (" a", "spaces at its ends and control characters would not be seen".to_owned()),
            ("a\n", "spaces at its ends and control characters would not be seen".to_owned()),
            ("a\0b", "spaces at its ends and control characters would not be seen".to_owned()),
        ] {
            assert_eq!(
                text(source.create(tag, &Tag::new())),
                format!("the tag {tag:?} cannot be used: {problem}")
            );
        }
        let widest = "\u{1f600}".repeat(most);
        let tag = if table == Table::Own { widest.as_str() } else { &long[..most] };
        source.create(tag, &Tag::new()).unwrap();
        assert_eq!(source.load(tag, None).unwrap().first, 1);
        let error = source.load("a\0b", None).unwrap_err();
        assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
    }
}

/// What is not there, or is other than it should be.
fn tables_that_are_missing_or_others_are_told(place: &dyn Place, name: &str) {
    for table in [Table::Leaf, Table::TinyId] {
        let (sql, theirs) = match table {
            Table::Leaf => ("leaf_alloc", "Leaf"),
            _ => ("tiny_id_info", "tinyid"),
        };
        let source = place.open(table);
        let missing = format!(
            "cannot use the tags in {name}: its table {sql} is not there; name the database that \
             {theirs} uses, or take numbers from this library's own table"
        );
        for error in [text(source.load("a", None)), text(source.tags())] {
            assert!(error.starts_with(&missing), "{error}");
        }
        let error = text(source.create("a", &Tag::new()));
        assert!(error.starts_with(&missing), "the table is {theirs}'s to make: {error}");
        let others = format!(
            "cannot use the tags in {name}: its table {sql} does not have the columns of \
             {theirs}'s, with these types: "
        );
        place.run(&format!("CREATE TABLE {sql} (id INT, name VARCHAR(10))"));
        for error in [text(source.load("a", None)), text(source.tags())] {
            assert!(error.starts_with(&others), "{error}");
        }
        place.run(&format!("DROP TABLE {sql}"));
        // A column of another type.
        place.run(&match table {
            Table::Leaf => "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) PRIMARY KEY, \
                max_id VARCHAR(20), step INT, description VARCHAR(256), update_time TIMESTAMP)"
                .to_owned(),
            _ => "CREATE TABLE tiny_id_info (id BIGINT, biz_type VARCHAR(63), begin_id BIGINT, \
                max_id VARCHAR(20), step INT, delta INT, remainder INT, create_time TIMESTAMP, \
                update_time TIMESTAMP, version BIGINT)"
                .to_owned(),
        });
        let key = if table == Table::Leaf { "biz_tag" } else { "biz_type" };
        let rest = if table == Table::Leaf { "" } else { ", id, delta, remainder, version" };
        let values = if table == Table::Leaf { "" } else { ", 1, 1, 0, 1" };
        place.run(&format!(
            "INSERT INTO {sql} ({key}, max_id, step{rest}) VALUES ('a', 'seven', 10{values})"
        ));
        let error = text(source.load("a", None));
        assert_eq!(
            error.strip_prefix(&others),
            Some("the column max_id holds the text \"seven\""),
            "{error}"
        );
        place.run(&format!("DROP TABLE {sql}"));
    }
}
