//! Ranges of worker ids, as people write them in options.

use std::num::IntErrorKind;
use std::ops::RangeInclusive;

const PARTITIONS: &str = "a part is such as 0/4 to 3/4, those of four";
const WORKER_IDS: &str = "worker ids are such as 32-1023: the first and the last";

/// `text` as a number, or `otherwise` where it is none.
fn number(text: &str, otherwise: &str) -> Result<u64, String> {
    text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => format!("{text} is larger than any worker id"),
        _ => otherwise.to_owned(),
    })
}

/// 0/4 to 3/4.
pub(crate) fn partition(text: &str) -> Result<(u64, u64), String> {
    let (index, of) = text.split_once('/').ok_or(PARTITIONS)?;
    match (number(index, PARTITIONS)?, number(of, PARTITIONS)?) {
        (_, 0) => Err(PARTITIONS.to_owned()),
        (index, of) if index < of => Ok((index, of)),
        (_, 1) => Err("the only part of 1 is 0/1".to_owned()),
        (_, 2) => Err("the parts of 2 are 0/2 and 1/2".to_owned()),
        (_, of) => Err(format!("the parts of {of} are 0/{of} to {}/{of}", of - 1)),
    }
}

/// 32-1023.
pub(crate) fn worker_ids(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once('-').ok_or(WORKER_IDS)?;
    match (number(first, WORKER_IDS)?, number(last, WORKER_IDS)?) {
        (first, last) if first > last => {
            Err(format!("{first} is above {last}: write {last}-{first}"))
        }
        (_, 0) => Err("the first worker id is 1".to_owned()),
        (first, last) => Ok(first..=last),
    }
}
