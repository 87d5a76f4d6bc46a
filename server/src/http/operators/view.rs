//! Which tags are listed: the parameters of `/` and of `/v1/status`.

use std::cmp::Ordering;

use axum::http::StatusCode;

use crate::http::operators::tag_line::TagLine;
use crate::http::params::{number, parse};
use crate::http::problem::Problem;

/// The most tags in one answer.
pub(crate) const MAX_TAGS: u64 = 5000;

/// The sort keys: the name in parameters and JSON, and the heading on the page.
pub(crate) const KEYS: [(&str, &str, Key); 8] = [
    ("tag", "Tag", Key::Tag),
    ("per_second", "Per second", Key::PerSecond),
    ("in_memory", "In memory", Key::InMemory),
    ("empty_in", "Empty in", Key::EmptyIn),
    ("segment", "Last load", Key::Segment),
    ("age", "Loaded", Key::Age),
    ("load_seconds", "Load took", Key::LoadSeconds),
    ("taken", "Taken", Key::Taken),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Tag,
    PerSecond,
    InMemory,
    EmptyIn,
    Segment,
    Age,
    LoadSeconds,
    Taken,
}

/// A selection of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// A text that the names contain.
    pub(crate) tag: String,
    pub(crate) key: Key,
    pub(crate) is_descending: bool,
    /// How many tags to skip.
    pub(crate) offset: u64,
    /// The most tags to list.
    pub(crate) limit: u64,
    usual_limit: u64,
}

impl View {
    /// Parses a query. `limit` is the default limit.
    pub(crate) fn read(query: Option<&str>, limit: u64) -> Result<View, Problem> {
        let names = ["tag", "sort", "offset", "limit"];
        let (tag, key, is_descending, offset) = (String::new(), Key::Tag, false, 0);
        let mut view = View { tag, key, is_descending, offset, limit, usual_limit: limit };
        for (name, value) in parse(query.unwrap_or_default(), &names)? {
            match &*name {
                "tag" => view.tag = value.into_owned(),
                "sort" => (view.key, view.is_descending) = order(&value)?,
                "offset" => {
                    // `number` refuses 0, but 0 is valid here.
                    let offset = number(&value, u64::MAX).or((value == "0").then_some(0));
                    view.offset = offset.ok_or_else(|| bad("offset", "a whole number", &value))?;
                }
                _ => {
                    let limit = number(&value, MAX_TAGS);
                    let range = || format!("a whole number from 1 to {MAX_TAGS}");
                    view.limit = limit.ok_or_else(|| bad("limit", &range(), &value))?;
                }
            }
        }
        Ok(view)
    }

    /// The query string of this selection, for a link.
    pub(crate) fn link(&self) -> String {
        let mut query = form_urlencoded::Serializer::for_suffix("?".to_owned(), 1);
        if !self.tag.is_empty() {
            query.append_pair("tag", &self.tag);
        }
        let sort = self.sort();
        if sort != "tag" {
            query.append_pair("sort", &sort);
        }
        if self.limit != self.usual_limit {
            query.append_pair("limit", &self.limit.to_string());
        }
        if self.offset > 0 {
            query.append_pair("offset", &self.offset.to_string());
        }
        query.finish()
    }

    /// The value of the parameter `sort`.
    pub(crate) fn sort(&self) -> String {
        let sign = if self.is_descending { "-" } else { "" };
        let found = KEYS.iter().find(|&&(_, _, key)| key == self.key);
        format!("{sign}{}", found.map_or("tag", |(name, _, _)| name))
    }

    /// The same selection sorted by `key`. If it already is, in the opposite order.
    pub(crate) fn sorted_by(&self, key: Key) -> View {
        let is_descending = match key {
            _ if key == self.key => !self.is_descending,
            // For these keys, the highest values come first.
            Key::PerSecond | Key::Taken | Key::LoadSeconds => true,
            _ => false,
        };
        View { key, is_descending, offset: 0, ..self.clone() }
    }

    pub(crate) fn from(&self, offset: u64) -> View {
        View { offset, ..self.clone() }
    }

    /// Sorts `tags`, the failing ones first, and keeps the selected ones. Returns how many match
    /// the search on all pages.
    pub(crate) fn apply(&self, tags: &mut Vec<TagLine>) -> usize {
        let wanted = self.tag.to_lowercase();
        if !wanted.is_empty() {
            tags.retain(|line| line.tag.to_lowercase().contains(&wanted));
        }
        tags.sort_unstable_by(|one, other| self.compare(one, other));
        let found = tags.len();
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(found);
        tags.truncate(at(self.offset.saturating_add(self.limit)));
        tags.drain(..at(self.offset).min(tags.len()));
        found
    }

    fn compare(&self, one: &TagLine, other: &TagLine) -> Ordering {
        // Tags that fail for the same reason are neighbours.
        let by_problem = rank(one).cmp(&rank(other)).then_with(|| one.problem.cmp(&other.problem));
        let by_key = match self.key {
            Key::Tag => self.directed(one.tag.cmp(&other.tag)),
            Key::PerSecond => self.floats(Some(one.per_second), Some(other.per_second)),
            Key::InMemory => self.directed(one.in_memory.cmp(&other.in_memory)),
            Key::EmptyIn => self.floats(one.empty_in, other.empty_in),
            Key::Segment => self.directed(one.segment.cmp(&other.segment)),
            Key::Age => self.floats(one.age, other.age),
            Key::LoadSeconds => self.floats(one.load_seconds, other.load_seconds),
            Key::Taken => self.directed(one.taken.cmp(&other.taken)),
        };
        by_problem.then(by_key).then_with(|| one.tag.cmp(&other.tag))
    }

    fn directed(&self, order: Ordering) -> Ordering {
        if self.is_descending { order.reverse() } else { order }
    }

    /// Missing values come last.
    fn floats(&self, one: Option<f64>, other: Option<f64>) -> Ordering {
        match (one, other) {
            (Some(one), Some(other)) => self.directed(one.total_cmp(&other)),
            (one, other) => other.is_some().cmp(&one.is_some()),
        }
    }
}

/// The worst comes first.
fn rank(line: &TagLine) -> u8 {
    match line.state {
        "went-back" => 0,
        "empty" => 1,
        _ if line.problem.is_some() => 2,
        _ => 3,
    }
}

/// Parses a key with its direction.
fn order(text: &str) -> Result<(Key, bool), Problem> {
    let name = text.strip_prefix('-');
    let found = KEYS.iter().find(|(key, _, _)| *key == name.unwrap_or(text));
    let (_, _, key) = found.ok_or_else(|| {
        let keys: Vec<&str> = KEYS.iter().map(|&(key, _, _)| key).collect();
        let keys = keys.join(", ");
        bad("sort", &format!("one of {keys}, with a - in front for the highest first"), text)
    })?;
    Ok((*key, name.is_some()))
}

fn bad(name: &str, range: &str, value: &str) -> Problem {
    let title = "a parameter has a value that there is not";
    Problem::new(StatusCode::BAD_REQUEST, "bad-parameter", title)
        .detail(format!("{name} is {range}"))
        .value(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(tag: &str, taken: u64, empty_in: Option<f64>, problem: Option<&str>) -> TagLine {
        let tag = tag.into();
        let problem = problem.map(str::to_owned);
        TagLine { tag, empty_in, taken, problem, ..TagLine::default() }
    }

    fn shown(query: &str) -> (Vec<String>, usize) {
        let mut tags = vec![
            line("b", 5, Some(2.0), None),
            line("a", 5, None, None),
            line("Z", 7, Some(9.0), None),
            line("x", 1, None, Some("full")),
            line("c", 2, None, Some("away")),
            line("w", 3, None, Some("full")),
        ];
        let found = View::read(Some(query), MAX_TAGS).unwrap().apply(&mut tags);
        (tags.iter().map(|line| line.tag.to_string()).collect(), found)
    }

    #[test]
    fn tags_that_fail_come_first_by_their_reason() {
        for (query, expected, found) in [
            ("", "cwxZab", 6),
            ("sort=-tag", "cxwbaZ", 6),
            ("sort=taken", "cxwabZ", 6),
            ("sort=-taken", "cwxZab", 6),
            ("sort=empty_in", "cwxbZa", 6),
            ("sort=-empty_in", "cwxZba", 6),
            ("limit=2", "cw", 6),
            ("limit=2&offset=2", "xZ", 6),
            ("offset=5", "b", 6),
            ("offset=99", "", 6),
            ("offset=18446744073709551615", "", 6),
            ("tag=z", "Z", 1),
            ("tag=Ä", "", 0),
        ] {
            assert_eq!(
                shown(query),
                (expected.chars().map(String::from).collect(), found),
                "{query}"
            );
        }
    }

    #[test]
    fn a_wrong_parameter_is_refused() {
        for query in [
            "sort=",
            "sort=name",
            "sort=--tag",
            "offset=-1",
            "offset=",
            "limit=0",
            "limit=5001",
            "limit=1e3",
            "x=1",
        ] {
            assert!(View::read(Some(query), MAX_TAGS).is_err(), "{query}");
        }
    }

    proptest! {
        #[test]
        fn a_link_asks_for_what_is_shown(tag in ".*", index in 0..KEYS.len(),
            offset in any::<u64>(), is_descending in any::<bool>(), limit in 1..=MAX_TAGS) {
            let (_, _, key) = KEYS[index];
            let view = View { tag, key, is_descending, offset, limit, usual_limit: 100 };
            let link = view.link();
            prop_assert_eq!(View::read(link.strip_prefix('?'), 100).ok(), Some(view));
        }
    }
}
