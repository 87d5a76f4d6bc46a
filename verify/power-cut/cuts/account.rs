//! What the callers of one store were given. Nothing may be given twice.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Account {
    /// What each worker id, each tag and the state file has given: the first number of each range,
    /// with the last one.
    given: BTreeMap<String, BTreeMap<u64, u64>>,
    created: BTreeSet<String>,
    /// The call under way when the power fails.
    pub doing: String,
    /// What was given twice.
    pub twice: Option<String>,
    /// What else must not be.
    pub broken: Option<String>,
}

impl Account {
    pub fn hear(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<_> = rest.split(' ').collect();
        match (word, words.as_slice()) {
            ("do", _) => rest.clone_into(&mut self.doing),
            // Whose numbers they are is not known any more.
            ("took" | "gives", _) if self.twice.is_some() => {}
            ("took", [key, first, last]) => self.take(key, number(first), number(last)),
            ("gives", [key, first, last]) => self.give_up(key, number(first), number(last)),
            ("created", [tag]) => {
                self.created.insert((*tag).to_owned());
            }
            ("next", [tag, next]) => self.check_next(tag, number(next)),
            ("tags", there) => {
                if let Some(gone) = self.created.iter().find(|tag| !there.contains(&tag.as_str())) {
                    self.broken.get_or_insert(format!("the tag {gone} is gone"));
                }
            }
            ("broken", _) => {
                self.broken.get_or_insert(format!("{}: {rest}", self.doing));
            }
            _ => panic!("a worker says no such thing: {line}"),
        }
    }

    /// Whether nothing was given yet.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.created.is_empty()
    }

    fn take(&mut self, key: &str, first: u64, last: u64) {
        let ranges = self.given.entry(key.to_owned()).or_default();
        if let Some((from, to)) = ranges.range(..=last).next_back()
            && *to >= first
        {
            let text = format!("{first} to {last} of {key} came twice; {from} to {to} were given");
            self.twice.get_or_insert(text);
        }
        ranges.insert(first, last);
    }

    /// The last numbers of a range, whose taker will not use them.
    fn give_up(&mut self, key: &str, first: u64, last: u64) {
        let ranges = self.given.get_mut(key).expect("what is given up was given");
        while let Some((&from, &to)) = ranges.range(..=last).next_back()
            && to >= first
        {
            assert!(to <= last, "what is given up is the end of what was given");
            ranges.remove(&from);
            if from < first {
                ranges.insert(from, first - 1);
            }
        }
    }

    /// What a row gives next was not given before. That finds a row that lost its last commits even
    /// if nobody takes from it any more.
    fn check_next(&mut self, tag: &str, next: u64) {
        let last = self.given.get(tag).and_then(|ranges| ranges.last_key_value());
        if let Some((_, last)) = last.filter(|(_, last)| **last >= next) {
            let text = format!("{next} of {tag} is to come twice; all up to {last} were given");
            self.twice.get_or_insert(text);
        }
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}
