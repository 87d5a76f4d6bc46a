//! Parsers of worker ids and of ranges of them.

use std::num::{IntErrorKind, ParseIntError};
use std::ops::RangeInclusive;

const PARTITIONS: &str = "a part is such as 0/4 to 3/4, those of four";
const WORKER_IDS: &str = "worker ids are such as 32-1023: the first and the last";

/// `text` as a number, or the error `otherwise` if it is not one.
fn number(text: &str, otherwise: &str) -> Result<u64, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => format!("{text} is larger than any worker id"),
        _ => otherwise.to_owned(),
    })
}

/// Parses a worker id: 7.
///
/// # Errors
/// The text is not a whole number.
pub fn worker_id(text: &str) -> Result<u64, String> {
    number(text, "a worker id is a whole number such as 7")
}

/// Parses a part of all worker ids, its index and the number of parts: 0/4 to 3/4.
///
/// # Errors
/// The text is not two numbers, or there is no such part.
pub fn partition(text: &str) -> Result<(u64, u64), String> {
    let (index, of) = text.split_once('/').ok_or(PARTITIONS)?;
    match (number(index, PARTITIONS)?, number(of, PARTITIONS)?) {
        (_, 0) => Err(PARTITIONS.to_owned()),
        (index, of) if index < of => Ok((index, of)),
        (_, 1) => Err("the only part of 1 is 0/1".to_owned()),
        (_, 2) => Err("the parts of 2 are 0/2 and 1/2".to_owned()),
        (_, of) => Err(format!("the parts of {of} are 0/{of} to {}/{of}", of - 1)),
    }
}

/// Parses a range of worker ids, its first and its last: 32-1023.
///
/// # Errors
/// The text is not two numbers, or the range has no worker id.
pub fn worker_ids(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once('-').ok_or(WORKER_IDS)?;
    match (number(first, WORKER_IDS)?, number(last, WORKER_IDS)?) {
        (first, last) if first > last => {
            Err(format!("{first} is above {last}: write {last}-{first}"))
        }
        (_, 0) => Err("the first worker id is 1".to_owned()),
        (first, last) => Ok(first..=last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_below_the_number_of_parts() {
        assert_eq!(partition("0/1"), Ok((0, 1)));
        assert_eq!(partition("3/4"), Ok((3, 4)));
        for (wrong, said) in [
            ("", PARTITIONS),
            ("3", PARTITIONS),
            ("a/4", PARTITIONS),
            ("0/0", PARTITIONS),
            ("-1/4", PARTITIONS),
            ("1/1", "the only part of 1 is 0/1"),
            ("2/2", "the parts of 2 are 0/2 and 1/2"),
            ("4/4", "the parts of 4 are 0/4 to 3/4"),
            ("0/99999999999999999999", "99999999999999999999 is larger than any worker id"),
        ] {
            assert_eq!(partition(wrong), Err(said.to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_range_begins_with_its_lower_end() {
        assert_eq!(worker_ids("32-1023"), Ok(32..=1023));
        assert_eq!(worker_ids("7-7"), Ok(7..=7));
        for (wrong, said) in [
            ("32", WORKER_IDS),
            ("a-b", WORKER_IDS),
            ("0-0", "the first worker id is 1"),
            ("9-3", "9 is above 3: write 3-9"),
        ] {
            assert_eq!(worker_ids(wrong), Err(said.to_owned()), "{wrong}");
        }
        assert_eq!(worker_id("7"), Ok(7));
        assert!(worker_id("seven").is_err());
    }
}
