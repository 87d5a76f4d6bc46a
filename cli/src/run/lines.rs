//! Ids as lines of text, by the million.

use std::time::SystemTime;

use uidring::segment::Number;
use uidring::{Layout, Parts, Uid};

use crate::text::{Failure, Times};

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The number
    Decimal,
    /// Its 13 characters in Crockford's base32, which sort as the UIDs do; not of a tag
    Base32,
    /// A JSON object: uid (a string), time, worker, sequence; of a tag: number (a string), tag
    Json,
}

/// Turns ids into lines.
pub(crate) trait Lines<Id>: Clone + Send + Sync {
    /// Appends a line for each of `ids` to `text`.
    fn append(&mut self, ids: &[Id], text: &mut Vec<u8>);
}

/// Turns UIDs into lines.
#[derive(Clone, Debug)]
pub(crate) struct UidLines {
    format: Format,
    fields: Fields,
}

/// The fields of UIDs of one layout.
#[derive(Clone, Debug)]
struct Fields {
    layout: Layout,
    times: Times,
    /// The text between `uid` and `sequence` in the last JSON line, with its time and worker.
    /// Thousands of lines share it.
    middle: Option<(SystemTime, u64, String)>,
}

impl UidLines {
    pub(crate) fn new(format: Format, layout: Layout) -> UidLines {
        let fields = Fields { layout, times: Times::of(&layout), middle: None };
        UidLines { format, fields }
    }
}

impl Lines<Uid> for UidLines {
    fn append(&mut self, uids: &[Uid], text: &mut Vec<u8>) {
        match self.format {
            Format::Decimal => append_decimal(uids, text),
            Format::Base32 => append_base32(uids, text),
            Format::Json => self.fields.append_json(uids, text),
        }
    }
}

/// Turns the numbers of a tag into lines.
#[derive(Clone, Debug)]
pub(crate) enum NumberLines {
    Decimal,
    /// What follows the number in a JSON line.
    Json(String),
}

impl NumberLines {
    pub(crate) fn new(format: Format, tag: &str) -> Result<NumberLines, Failure> {
        match format {
            Format::Decimal => Ok(NumberLines::Decimal),
            Format::Base32 => Err(Failure::Usage(
                "the numbers of a tag have no base32 form, which people would read as a number; \
                 leave --format base32 out"
                    .to_owned(),
            )),
            Format::Json => {
                let tag = serde_json::Value::from(tag);
                Ok(NumberLines::Json(format!("\",\"tag\":{tag}}}\n")))
            }
        }
    }
}

impl Lines<Number> for NumberLines {
    fn append(&mut self, numbers: &[Number], text: &mut Vec<u8>) {
        let rest = match self {
            NumberLines::Decimal => return append_decimal(numbers, text),
            NumberLines::Json(rest) => rest,
        };
        let mut digits = itoa::Buffer::new();
        for number in numbers {
            text.extend_from_slice(b"{\"number\":\"");
            text.extend_from_slice(digits.format(number.get()).as_bytes());
            text.extend_from_slice(rest.as_bytes());
        }
    }
}

impl Fields {
    /// Nothing in these lines needs escaping: they contain only digits and a time.
    fn append_json(&mut self, uids: &[Uid], text: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        for &uid in uids {
            let Parts { time, worker, sequence } = self.layout.parts(uid);
            let middle = match self.middle.take() {
                Some(middle) if (middle.0, middle.1) == (time, worker) => middle.2,
                _ => {
                    let time = self
                        .times
                        .rfc3339(time)
                        .map_or("null".to_owned(), |time| format!("\"{time}\""));
                    format!("\",\"time\":{time},\"worker\":{worker},\"sequence\":")
                }
            };
            text.extend_from_slice(b"{\"uid\":\"");
            text.extend_from_slice(digits.format(uid.get()).as_bytes());
            text.extend_from_slice(middle.as_bytes());
            text.extend_from_slice(digits.format(sequence).as_bytes());
            text.extend_from_slice(b"}\n");
            self.middle = Some((time, worker, middle));
        }
    }
}

fn append_base32(uids: &[Uid], text: &mut Vec<u8>) {
    for uid in uids {
        let mut line = [b'\n'; 14];
        line[..13].copy_from_slice(uid.base32().as_str().as_bytes());
        text.extend_from_slice(&line);
    }
}

fn append_decimal<Id: Copy + Into<u64>>(ids: &[Id], text: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    for &id in ids {
        text.extend_from_slice(digits.format(id.into()).as_bytes());
        text.push(b'\n');
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{Format, Lines, UidLines};
    use uidring::{Layout, Uid};

    fn uid(number: u64) -> Uid {
        Uid::try_from(number).unwrap()
    }

    fn text(format: Format, uids: &[Uid]) -> String {
        let mut text = b"before\n".to_vec();
        UidLines::new(format, Layout::DEFAULT).append(uids, &mut text);
        String::from_utf8(text).unwrap().strip_prefix("before\n").unwrap().to_owned()
    }

    #[test]
    fn decimal_lines_are_the_numbers_in_order() {
        let around = |middle: u64| {
            (middle.saturating_sub(150).max(1)..=(middle + 150).min(Uid::MAX.get())).map(uid)
        };
        let mut uids: Vec<Uid> = (1..12_345).map(uid).collect();
        uids.extend((0..19).flat_map(|exponent| around(10_u64.pow(exponent))));
        uids.extend(around(Uid::MAX.get() - 150));
        let expected: String = uids.iter().map(|uid| uid.to_string() + "\n").collect();
        assert_eq!(text(Format::Decimal, &uids), expected);
        assert_eq!(text(Format::Decimal, &[]), "");
    }

    #[test]
    fn base32_lines_read_back() {
        let uids = [1, 31, 32, Uid::MAX.get()].map(uid);
        let read: Vec<Uid> = text(Format::Base32, &uids)
            .lines()
            .map(|line| Uid::from_base32(line).unwrap())
            .collect();
        assert_eq!(read, uids);
    }

    #[test]
    fn json_lines_tell_each_its_own_time() {
        let layout = Layout::DEFAULT;
        let uids = [(0, 1, 2), (0, 1, 3), (1, 1, 0), (0, 2, 0)]
            .map(|(tick, worker, sequence)| layout.compose(tick, worker, sequence).unwrap());
        let expected = [
            r#"{"uid":"8194","time":"2026-01-01T00:00:00Z","worker":1,"sequence":2}"#,
            r#"{"uid":"8195","time":"2026-01-01T00:00:00Z","worker":1,"sequence":3}"#,
            r#"{"uid":"8589942784","time":"2026-01-01T00:00:01Z","worker":1,"sequence":0}"#,
            r#"{"uid":"16384","time":"2026-01-01T00:00:00Z","worker":2,"sequence":0}"#,
        ];
        assert_eq!(text(Format::Json, &uids).lines().collect::<Vec<_>>(), expected);
    }
}
