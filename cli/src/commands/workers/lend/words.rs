//! The command's arguments and variables, with the worker id in them.

#![cfg_attr(not(unix), allow(dead_code, reason = "the options are checked, and no command is run"))]

use std::ffi::{OsStr, OsString};

const WORKER: &str = "{worker}";
const DATACENTER: &str = "{datacenter}";

/// A worker id as the command is told it: in one part or in two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    /// How many of the pool's bits are the datacenter's. They are the upper ones.
    pub(super) datacenter_bits: u8,
    pub(super) bits: u8,
}

impl Split {
    fn worker(self, id: u64) -> u64 {
        id & ((1 << (self.bits - self.datacenter_bits)) - 1)
    }

    fn datacenter(self, id: u64) -> u64 {
        id >> (self.bits - self.datacenter_bits)
    }

    /// `text` with the parts of the id in place of their names. Other braces stay.
    pub(super) fn filled(self, text: &OsStr, id: u64) -> OsString {
        let Some(text) = text.to_str() else { return text.to_owned() };
        let text = text.replace(WORKER, &self.worker(id).to_string());
        text.replace(DATACENTER, &self.datacenter(id).to_string()).into()
    }
}

/// Whether the text has one of the names.
pub(super) fn names_worker(text: &OsStr) -> bool {
    has(text, WORKER)
}

pub(super) fn names_datacenter(text: &OsStr) -> bool {
    has(text, DATACENTER)
}

fn has(text: &OsStr, name: &str) -> bool {
    text.to_str().is_some_and(|text| text.contains(name))
}

/// A variable for the command: `NAME`, which is the worker id, or `NAME=TEXT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) text: OsString,
}

impl Variable {
    pub(super) fn parse(text: &str) -> Result<Variable, String> {
        let (name, text) = text.split_once('=').unwrap_or((text, WORKER));
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err("a variable is NAME or NAME=TEXT, as in NODE={worker}".to_owned());
        }
        Ok(Variable { name: name.to_owned(), text: text.into() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn an_id_is_told_in_one_part_or_in_two() {
        let text = OsStr::new("-Dnode={worker} {datacenter}/{worker} {other}{}");
        let filled = |split: Split, id| split.filled(text, id).into_string().unwrap();
        let whole = Split { datacenter_bits: 0, bits: 10 };
        assert_eq!(filled(whole, 1023), "-Dnode=1023 0/1023 {other}{}");
        let two = Split { datacenter_bits: 5, bits: 10 };
        for (id, shown) in [(1, "0/1"), (31, "0/31"), (32, "1/0"), (1023, "31/31")] {
            assert!(filled(two, id).ends_with(&format!(" {shown} {{other}}{{}}")), "{id}");
        }
    }

    #[test]
    fn each_id_has_its_own_two_parts() {
        let split = Split { datacenter_bits: 3, bits: 8 };
        let parts = |id| (split.datacenter(id), split.worker(id));
        let all: std::collections::HashSet<_> = (1..256).map(parts).collect();
        assert_eq!(all.len(), 255);
        assert!(all.iter().all(|&(datacenter, worker)| datacenter < 8 && worker < 32));
    }

    #[test]
    fn a_variable_has_a_name() {
        let variable = |text| Variable::parse(text).map(|it| (it.name, it.text));
        assert_eq!(variable("NODE"), Ok(("NODE".into(), "{worker}".into())));
        assert_eq!(variable("A=x{worker}=y"), Ok(("A".into(), "x{worker}=y".into())));
        assert_eq!(variable("A="), Ok(("A".into(), "".into())));
        for wrong in ["", "=x", "A B", " A=1"] {
            assert!(variable(wrong).is_err(), "{wrong}");
        }
    }
}
