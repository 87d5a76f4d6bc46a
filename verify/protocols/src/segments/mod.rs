//! Dense numbers: the row of a tag, what a process does with its segments, and the search.

pub mod model;
pub mod table;
pub mod taker;

/// A number of a tag.
pub type Number = u16;
/// What tells a row from a later one of the same tag. Only whether two are equal counts.
pub type Key = u8;

/// What keeps the numbers of a tag apart. The search leaves one out at a time, and must then find a
/// way to a duplicate, or to what else is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A load reads and writes the row in one step.
    LoadAtOnce,
    /// A row takes numbers back only if it still ends where they end.
    EndMatches,
    /// A row takes numbers back only if it is the one that gave them.
    BackToItsRow,
    /// Numbers are given back once, also where no answer came.
    GiveBackOnce,
    /// What was handed out is not given back.
    OnlyUnused,
    /// Of segments with a gap between them, only the last one is given back.
    GaplessTail,
    /// Without an answer, a process has no numbers.
    NoAnswerNoNumbers,
    /// A process loads from the row that it knows.
    SameRow,
    /// A process hands out no segment that is not behind those before it.
    InOrder,
    /// Once its row has gone back, a process loads no more and gives nothing back.
    StopsAfterGoingBack,
}

/// All rules.
pub const RULES: [Rule; 10] = [
    Rule::LoadAtOnce,
    Rule::EndMatches,
    Rule::BackToItsRow,
    Rule::GiveBackOnce,
    Rule::OnlyUnused,
    Rule::GaplessTail,
    Rule::NoAnswerNoNumbers,
    Rule::SameRow,
    Rule::InOrder,
    Rule::StopsAfterGoingBack,
];

/// The rules in force.
pub type Rules = crate::Rules<Rule>;
