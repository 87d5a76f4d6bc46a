//! The protocol that tinyid's servers speak with `tinyid-client`.

use serde_json::Value;
use ureq::http::{Method, StatusCode};

use super::address::encoded;
use super::client::{ApiRequest, SHORT, Server, ServerError};
use crate::segment::Segment;

/// The largest possible number.
const LARGEST: i64 = i64::MAX;

/// The numbers above `current`, up to `max`, that leave `remainder` when divided by `delta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentId {
    current: i64,
    max: i64,
    delta: i64,
    remainder: i64,
}

/// How often to ask again for a segment that contains no number.
const TRIES: usize = 10;

/// Takes the next segment of `tag`. tinyid always gives one step, whatever the requested count.
pub fn load(server: &Server<'_>, tag: &str) -> Result<Segment, ServerError> {
    for _ in 0..TRIES {
        let found = match simple(server, tag)? {
            Some(found) => found,
            None => with_reason(server, tag)?,
        };
        if let Some(segment) = found.segment() {
            return Ok(segment);
        }
    }
    Err(server.bad_row(
        tag,
        format!(
            "{TRIES} segments had no number, as its step is far below its delta; set a larger step"
        ),
    ))
}

/// Requests the short form. `None` if there are no numbers: this form does not say why.
fn simple(server: &Server<'_>, tag: &str) -> Result<Option<SegmentId>, ServerError> {
    let text = ask(server, "nextSegmentIdSimple", tag)?;
    let line = text.trim_end_matches(['\r', '\n']);
    if line.is_empty() {
        return Ok(None);
    }
    let numbers = parsed(line).map_err(|problem| {
        let quoted = server.quote(StatusCode::OK, line);
        server.unexpected(format!("its answer is not a segment of tinyid's{quoted}: {problem}"))
    })?;
    numbers.checked().map(Some).map_err(|problem| server.bad_row(tag, problem))
}

/// Requests the long form, which also says why there are no numbers.
fn with_reason(server: &Server<'_>, tag: &str) -> Result<SegmentId, ServerError> {
    let nothing = || {
        server.away(
            "it answers with nothing, as tinyid does if it refuses the token or the tag, or cannot \
             reach its database; see its log"
                .to_owned(),
        )
    };
    let text = ask(server, "nextSegmentId", tag).map_err(|_| nothing())?;
    let answer: Value = serde_json::from_str(&text).map_err(|_| nothing())?;
    let message = answer["message"].as_str().unwrap_or_default();
    match answer["code"].as_i64() {
        Some(200) => {
            let number = |name: &str| answer["data"][name].as_i64();
            let names = ["currentId", "maxId", "delta", "remainder"];
            let [Some(current), Some(max), Some(delta), Some(remainder)] = names.map(number) else {
                return Err(nothing());
            };
            let found = SegmentId { current, max, delta, remainder }.checked();
            found.map_err(|problem| server.bad_row(tag, problem))
        }
        Some(5) => Err(server.refused_token(tag, &server.quote_with_code("code 5", message))),
        Some(6) if message.contains("can not find biztype") => Err(server.no_such_tag(tag)),
        Some(code) => Err(server.away(format!(
            "it has no segment for now{}; see its log",
            server.quote_with_code(&format!("code {code}"), message)
        ))),
        None => Err(nothing()),
    }
}

fn ask(server: &Server<'_>, name: &str, tag: &str) -> Result<String, ServerError> {
    let (token, tag_in_path) = (server.client.encoded_token(), encoded(tag));
    let answer = server.ask(ApiRequest {
        method: Method::POST,
        path: format!("/tinyid/id/{name}?token={token}&bizType={tag_in_path}"),
        body: String::new(),
        limit: SHORT,
        has_token: false,
    })?;
    server.check_serves(&answer)?;
    let quoted = server.quote(answer.status, &answer.text);
    match answer.status {
        StatusCode::OK => Ok(answer.text),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(server.refused_token(tag, &quoted)),
        _ => Err(server.unexpected(format!(
            "it answers neither as uidring-server nor as tinyid{quoted}; see the address"
        ))),
    }
}

/// Parses the five numbers `currentId,loadingId,maxId,delta,remainder`, or returns what is wrong
/// with them.
fn parsed(line: &str) -> Result<SegmentId, String> {
    let fields: Vec<&str> = line.split(',').collect();
    let [current, loading, max, delta, remainder] = fields[..] else {
        return Err(format!("five numbers are expected, and it has {}", fields.len()));
    };
    // The number after which tinyid's client loads the next segment. Any value is accepted, because
    // the server's arithmetic overflows for a large step.
    integer("loadingId", loading, i64::MIN, i64::MAX)?;
    let int = i64::from(i32::MAX);
    Ok(SegmentId {
        current: integer("currentId", current, i64::MIN, LARGEST)?,
        max: integer("maxId", max, i64::MIN, LARGEST)?,
        delta: integer("delta", delta, -int - 1, int)?,
        remainder: integer("remainder", remainder, -int - 1, int)?,
    })
}

fn integer(name: &str, text: &str, least: i64, most: i64) -> Result<i64, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| is_decimal && (least..=most).contains(number))
        .ok_or_else(|| format!("its {name} is no whole number from {least} to {most}"))
}

impl SegmentId {
    /// Refuses values that tinyid's table cannot have.
    fn checked(self) -> Result<SegmentId, String> {
        let SegmentId { current, max, delta, remainder } = self;
        if current < 0 {
            Err(format!("a segment of it begins after {current}, and numbers begin at 1"))
        } else if max <= current {
            Err(format!("a segment of it ends at {max} and begins after {current}; see its step"))
        } else if delta < 1 {
            Err(format!("its delta is {delta}; set it to 1 or more"))
        } else if !(0..delta).contains(&remainder) {
            Err(format!(
                "its remainder is {remainder} and its delta {delta}, and no number leaves that \
                 remainder; set it from 0 to {}",
                delta - 1
            ))
        } else {
            Ok(self)
        }
    }

    /// The segment. `None` if it contains no number, because a step may be shorter than the delta.
    fn segment(self) -> Option<Segment> {
        let SegmentId { current, max, delta, remainder } = self;
        let after = current.checked_add(1)?;
        let first = after.checked_add((remainder - after).rem_euclid(delta))?;
        let length = max.checked_sub(first).filter(|length| *length >= 0)?;
        let mut segment = Segment::new(
            first.unsigned_abs(),
            (length / delta).unsigned_abs() + 1,
            delta.unsigned_abs(),
            max.unsigned_abs(),
        );
        segment.row_start = current.unsigned_abs();
        // Each remainder belongs to one database behind the server.
        segment.database = usize::try_from(remainder).unwrap_or(usize::MAX);
        // tinyid gives one step at a time. One in `delta` of the row's numbers belongs to it.
        segment.step = ((max - current) / delta).unsigned_abs().max(1);
        segment.max_step = Some(segment.step);
        Some(segment)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(line: &str) -> Option<(u64, u64, u64)> {
        let segment = parsed(line).unwrap().checked().unwrap().segment()?;
        Some((segment.first, segment.count, segment.delta))
    }

    #[test]
    fn tinyids_samples_are_what_its_readme_says() {
        assert_eq!(segment("1,20001,100001,1,0"), Some((2, 100_000, 1)));
        assert_eq!(segment("1,20001,100001,2,1"), Some((3, 50_000, 2)));
        assert_eq!(segment("0,2,10,3,0"), Some((3, 3, 3)));
        assert_eq!(segment("3,3,4,2,1"), None, "a step of 1 has none of every other number");
        assert_eq!(segment("0,-858993459,9223372036854775807,1,0").unwrap().1, LARGEST as u64);
        let last = LARGEST - 1;
        assert_eq!(segment(&format!("{last},0,{LARGEST},1,0")), Some((LARGEST as u64, 1, 1)));
        assert_eq!(segment(&format!("{last},0,{LARGEST},2,0")), None);
    }

    #[test]
    fn only_five_numbers_are_a_segment() {
        for line in [
            "1,2,3,4",
            "1,2,3,4,5,6",
            "1,2,3,4,",
            ",,,,",
            "+1,2,30,1,0",
            "1, 2,30,1,0",
            "1,2,30,1,0 ",
            "1,2,30,1,-",
            "--1,2,30,1,0",
            "1,2,30,1,0x0",
            "1,2,30,1,0.0",
            "1,2,3e9,1,0",
            "1,x,30,1,0",
            "1,,30,1,0",
            "9223372036854775808,2,30,1,0",
            "1,2,30,2147483648,0",
            "\u{661},2,30,1,0",
            "<html>",
            "{\"code\":6}",
        ] {
            assert!(parsed(line).is_err(), "{line:?}");
        }
        for line in [
            "-1,2,30,1,0",
            "30,2,30,1,0",
            "31,2,30,1,0",
            "1,2,30,0,0",
            "1,2,30,-1,0",
            "1,2,30,2,2",
            "1,2,30,2,-1",
        ] {
            assert!(parsed(line).unwrap().checked().is_err(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_five_numbers_or_an_error(text in "[-0-9,+ a\n]{0,40}") {
            if let Ok(found) = parsed(&text) {
                let fields = text.split(',');
                let numbers: Vec<i64> = fields.map(|field| field.parse().unwrap()).collect();
                prop_assert_eq!(numbers.len(), 5);
                prop_assert_eq!(
                    [found.current, found.max, found.delta, found.remainder],
                    [numbers[0], numbers[2], numbers[3], numbers[4]]
                );
            }
        }

        #[test]
        fn a_segment_has_all_numbers_that_tinyid_would_give(
            current in prop_oneof![0..50_i64, LARGEST - 60..LARGEST],
            length in 1..60_i64,
            delta in 1..12_i64,
            remainder in 0..12_i64,
        ) {
            let (max, remainder) = (current.saturating_add(length), remainder % delta);
            let found = SegmentId { current, max, delta, remainder }.checked().unwrap().segment();
            let all: Vec<i64> =
                (current..=max).skip(1).filter(|number| number % delta == remainder).collect();
            let Some(found) = found else {
                prop_assert!(all.is_empty());
                return Ok(());
            };
            let given: Vec<i64> = (0..found.count)
                .map(|index| i64::try_from(found.first + index * found.delta).unwrap())
                .collect();
            prop_assert_eq!(given, all);
        }
    }
}
