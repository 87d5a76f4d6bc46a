//! Finds each number of a table: it was handed out once, or it is known who lost it.

use std::ops::Range;

use crate::log::{Entry, TABLES, What};
use crate::ranges::Ranges;

/// The log of one process, and how it ended.
pub struct Life {
    pub number: usize,
    pub was_killed: bool,
    pub entries: Vec<Entry>,
    /// The numbers that its forks took.
    pub forked: Vec<Entry>,
}

impl Life {
    fn ranges(&self, table: usize, what: What) -> impl Iterator<Item = Range<u64>> {
        let entries = self.entries.iter().filter(move |one| one.table == table && one.what == what);
        entries.map(|entry| entry.range.clone())
    }
}

/// What clients of Leaf or tinyid took, and how many segments they may have taken without knowing.
#[derive(Debug, Default)]
pub struct Theirs {
    pub taken: Vec<Range<u64>>,
    pub unknown: usize,
}

/// How many numbers there were, and where they are.
#[derive(Debug, Default)]
pub struct Account {
    /// Taken from this library.
    pub taken: u64,
    /// Taken by Leaf's or tinyid's statements.
    pub theirs: u64,
    /// In memory when a process was killed, or when others had taken from the row before a process
    /// that ended could give it back.
    pub lost: u64,
    pub given_back: u64,
    /// In segments of which nobody knew that they were loaded.
    pub unknown: u64,
}

/// The numbers that one process had from one table.
struct Holding {
    /// Loaded, and not given back.
    held: Ranges,
    taken: Ranges,
    /// May have been given back.
    maybe: Ranges,
    given_back: u64,
    /// The sizes of loads whose outcome is unknown.
    unknown: Vec<u64>,
}

/// Accounts for all numbers of a table that begins with `all.start` and ends before `all.end`.
pub fn account(
    table: usize,
    all: &Range<u64>,
    lives: &[Life],
    theirs: &Theirs,
    their_size: u64,
    seed: u64,
) -> Account {
    let name = TABLES[table];
    let (mut holders, mut takers) = (Vec::new(), Vec::new());
    let (mut maybe, mut unknown) = (Vec::new(), vec![their_size; theirs.unknown]);
    let mut account =
        Account { theirs: Ranges::of(theirs.taken.clone()).count(), ..<_>::default() };
    holders.extend(theirs.taken.iter().cloned());
    takers.extend(theirs.taken.iter().cloned());
    for life in lives {
        let holding = holding(table, life, seed);
        account.taken += holding.taken.count();
        account.lost += holding.held.without(&holding.taken).count();
        account.given_back += holding.given_back;
        holders.extend(holding.held.pieces().iter().cloned());
        takers.extend(holding.taken.pieces().iter().cloned());
        maybe.extend(holding.maybe.pieces().iter().cloned());
        unknown.extend(holding.unknown);
    }
    let (_, common) = Ranges::new(takers);
    assert_eq!(common, None, "a number of {name} came twice; seed {seed}");
    let (held, common) = Ranges::new(holders);
    assert_eq!(common, None, "a number of {name} came twice, in two segments; seed {seed}");
    for life in lives {
        check_rest(table, life, seed);
    }
    let all = Ranges::of([all.clone()]);
    let beyond = held.without(&all);
    assert_eq!(beyond.pieces(), [], "the row of {name} knows nothing of these; seed {seed}");
    let maybe = Ranges::of(maybe).without(&held);
    account.lost += maybe.count();
    let missing = all.without(&held.and(&maybe));
    account.unknown = missing.count();
    assert!(
        missing.pieces().len() <= unknown.len() && missing.count() <= unknown.iter().sum(),
        "numbers of {name} are missing: {:?}, where {} loads have an unknown end; seed {seed}",
        missing.pieces(),
        unknown.len()
    );
    account
}

fn holding(table: usize, life: &Life, seed: u64) -> Holding {
    let who = format!("process {}, {}, seed {seed}", life.number, TABLES[table]);
    let ranges = |what| life.ranges(table, what);
    let forked = life.forked.iter().filter(|entry| entry.table == table);
    assert_eq!(forked.count(), 0, "a forked process took; {who}");
    let (taken, common) = Ranges::new(ranges(What::Taken));
    assert_eq!(common, None, "a number came twice; {who}");
    let mut unknown: Vec<u64> = Vec::new();
    // The last load, until its end is noted. There is one at a time.
    let mut open = None;
    for entry in life.entries.iter().filter(|entry| entry.table == table) {
        match entry.what {
            What::Load => open = Some(entry.range.end),
            What::Loaded | What::LoadRefused => open = None,
            What::LoadFailed => unknown.extend(open.take()),
            _ => {}
        }
    }
    unknown.extend(open);
    let given_back = Ranges::of(ranges(What::GivenBack));
    let not = Ranges::of(ranges(What::NotGivenBack));
    // One whose end is not noted may have been, too.
    let maybe = Ranges::of(ranges(What::GiveBack)).without(&given_back.and(&not));
    let (loaded, common) = Ranges::new(ranges(What::Loaded));
    // A process may get back what it has given back; but here it does so at its end alone.
    assert_eq!(common, None, "a number came twice to one process; {who}");
    let held = loaded.without(&given_back.and(&maybe));
    let strange = taken.without(&held);
    assert_eq!(strange.pieces(), [], "taken, but not loaded or given back; {who}");
    Holding { held, taken, maybe, given_back: given_back.count(), unknown }
}

/// Finds what a process has loaded and not taken: it is at the end, or known to be lost.
fn check_rest(table: usize, life: &Life, seed: u64) {
    let who = format!("process {}, {}, seed {seed}", life.number, TABLES[table]);
    let ranges = |what| life.ranges(table, what);
    let taken = Ranges::of(ranges(What::Taken));
    let left = Ranges::of(ranges(What::Loaded)).without(&taken);
    let segments: Vec<_> = ranges(What::Loaded).collect();
    // Numbers are taken in the order in which they were loaded, so those that are left come last.
    let last = segments.iter().rposition(|segment| overlap(&taken, segment) > 0);
    let before: u64 = segments[..last.unwrap_or(0)].iter().map(|one| overlap(&left, one)).sum();
    let astray: u64 = ranges(What::Astray).map(|range| range.end - range.start).sum();
    assert!(before <= astray, "{before} numbers were left out, {astray} went astray; {who}");
    if !life.was_killed {
        // The numbers at the end that follow one another were given back, or others had come first.
        let mut tail: Option<Range<u64>> = None;
        for segment in &segments {
            match &mut tail {
                Some(tail) if tail.end == segment.start => tail.end = segment.end,
                _ => tail = Some(segment.clone()),
            }
        }
        let tail = Ranges::of(tail).without(&taken);
        let tried = Ranges::of(ranges(What::GiveBack));
        assert_eq!(tried.pieces(), tail.pieces(), "what a process had left at its end; {who}");
    }
}

/// How many numbers of `range` are in `ranges`.
fn overlap(ranges: &Ranges, range: &Range<u64>) -> u64 {
    let range = Ranges::of([range.clone()]);
    range.count() - range.without(ranges).count()
}
