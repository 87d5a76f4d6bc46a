//! The protocol of `uidring-server`, under `/v1`.
//!
//! Numbers are strings in JSON, because JavaScript's numbers are exact only up to 2<sup>53</sup>.
//! Plain numbers are accepted as well.

use serde_json::{Value, json};
use ureq::http::{Method, StatusCode};

use super::address::encoded;
use super::client::{ApiRequest, ApiResponse, LONG, SHORT, Server, ServerError, words_of};
use crate::clock::from_unix_ms;
use crate::number::Number;
use crate::segment::{Segment, SegmentError, Tag, TagRecord};

/// The largest count that the service accepts.
const LARGEST_WISH: u64 = 1_000_000_000;
/// The prefix of the service's problem types. The kind of the problem follows.
const KIND: &str = "urn:uidring:problem:";

/// Why a tag's name cannot be used in a path, if so. Clients and proxies remove the path segments
/// `.` and `..`, even if they are encoded.
pub fn unnameable(tag: &str) -> Option<&'static str> {
    match tag {
        "" => Some("it has no characters"),
        "." | ".." => Some("in an address its name means a folder; use one with another name"),
        _ => None,
    }
}

/// Takes the next numbers of `tag`. `None` if the server does not speak this protocol.
pub fn load(
    server: &Server<'_>,
    tag: &str,
    count: Option<u64>,
) -> Result<Option<Segment>, ServerError> {
    let size = |count: u64| format!("?size={}", count.clamp(1, LARGEST_WISH));
    let size = count.map_or_else(String::new, size);
    let path = format!("/v1/tags/{}/segments{size}", encoded(tag));
    let answer = ask(server, Method::POST, path, String::new(), SHORT)?;
    if let Some(problem) = Problem::of(&answer) {
        // A tag whose name is invalid cannot exist.
        let is_unknown = problem.kind == "bad-tag";
        return Err(if is_unknown {
            server.no_such_tag(tag)
        } else {
            problem.trouble(server, tag)
        });
    }
    let Some(answer) = object(server, &answer)? else { return Ok(None) };
    match segment(tag, &answer) {
        Ok(segment) => Ok(Some(segment)),
        Err(Invalid::Row(problem)) => Err(server.bad_row(tag, problem)),
        Err(Invalid::Response) => Err(not_understood(server, &answer.to_string())),
    }
}

/// Creates `tag`, or returns the existing one.
pub fn create(server: &Server<'_>, tag: &str, new: &Tag) -> Result<Option<TagRecord>, ServerError> {
    let mut body = json!({ "first": new.first.to_string() });
    if let Some(step) = new.step {
        body["step"] = json!(step.to_string());
    }
    if let Some(most) = new.max_step {
        body["max_step"] = json!(most.to_string());
    }
    if let Some(text) = &new.description {
        body["description"] = json!(text);
    }
    let path = format!("/v1/tags/{}", encoded(tag));
    let answer = ask(server, Method::PUT, path, body.to_string(), SHORT)?;
    if let Some(problem) = Problem::of(&answer) {
        return Err(match problem.kind {
            "behind" => behind(server, tag, new, &problem),
            "differs" => differs(server, tag, new).unwrap_or_else(|| problem.trouble(server, tag)),
            "bad-tag" | "bad-number" => {
                let (tag, problem) = (tag.to_owned(), server.client.sanitized(problem.words));
                ServerError::last(SegmentError::BadTag { tag, problem })
            }
            _ => problem.trouble(server, tag),
        });
    }
    let Some(answer) = object(server, &answer)? else { return Ok(None) };
    let record = record(&answer).filter(|record| record.tag == tag && record.next > 0);
    let record = record.ok_or_else(|| not_understood(server, &answer.to_string()))?;
    new.check(&server.address.to_string(), &record).map_err(ServerError::last)?;
    Ok(Some(record))
}

/// All tags, sorted.
pub fn tags(server: &Server<'_>) -> Result<Option<Vec<TagRecord>>, ServerError> {
    let answer = ask(server, Method::GET, "/v1/tags".to_owned(), String::new(), LONG)?;
    if let Some(problem) = Problem::of(&answer) {
        return Err(problem.trouble(server, "*"));
    }
    let Some(answer) = object(server, &answer)? else { return Ok(None) };
    let records = answer["tags"].as_array().map(|tags| tags.iter().map(record).collect());
    let mut records: Vec<TagRecord> =
        records.flatten().ok_or_else(|| not_understood(server, &answer.to_string()))?;
    records.sort_by(|one, other| one.tag.cmp(&other.tag));
    Ok(Some(records))
}

fn ask(
    server: &Server<'_>,
    method: Method,
    path: String,
    body: String,
    limit: u64,
) -> Result<ApiResponse, ServerError> {
    server.ask(ApiRequest { method, path, body, limit, has_token: true })
}

/// The JSON object of a successful answer. `None` if the server does not speak this protocol.
fn object(server: &Server<'_>, answer: &ApiResponse) -> Result<Option<Value>, ServerError> {
    server.check_serves(answer)?;
    if !answer.status.is_success() || !answer.text.starts_with('{') {
        return Ok(None);
    }
    let object = serde_json::from_str(&answer.text);
    object.map(Some).map_err(|_| not_understood(server, &answer.text))
}

fn not_understood(server: &Server<'_>, answer: &str) -> ServerError {
    let quoted = server.quote(StatusCode::OK, answer);
    server.unexpected(format!("its answer is not one of uidring-server's{quoted}; see its version"))
}

/// A problem of RFC 9457 as the service sends it.
struct Problem<'a> {
    answer: &'a ApiResponse,
    /// The kind. Empty for a problem of another server.
    kind: &'a str,
    /// The text for people.
    words: &'a str,
}

impl Problem<'_> {
    fn of(answer: &ApiResponse) -> Option<Problem<'_>> {
        let details = answer.problem.as_ref()?;
        let kind = details["type"].as_str().and_then(|kind| kind.strip_prefix(KIND));
        let words = words_of(details).unwrap_or(&answer.text);
        Some(Problem { answer, kind: kind.unwrap_or_default(), words })
    }

    /// The trouble for problems that any request may get.
    fn trouble(&self, server: &Server<'_>, tag: &str) -> ServerError {
        let quoted = server.quote(self.answer.status, self.words);
        match (self.answer.status, self.kind) {
            (_, "no-such-tag") => server.no_such_tag(tag),
            (_, "ran-out") => {
                let (store, tag) = (server.address.to_string(), tag.to_owned());
                let last = self.number("last").unwrap_or(Number::MAX.get());
                ServerError::last(SegmentError::RanOut { store, tag, last })
            }
            // Another server may be able to, but waiting does not help.
            (_, "no-ids-any-more") => server.unexpected(format!("it gives none any more{quoted}")),
            (_, "no-such-path" | "no-such-method") => server
                .unexpected(format!("it does not know what is asked{quoted}; see the address")),
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
                server.refused_token(tag, &quoted)
            }
            _ => match server.check_serves(self.answer) {
                Ok(()) => server.refused(format!("it refuses the call{quoted}")),
                Err(trouble) => trouble,
            },
        }
    }

    /// An additional member of the problem that holds a number.
    fn number(&self, name: &str) -> Option<u64> {
        number(self.answer.problem.as_ref()?.get(name)?)
    }
}

fn listed(server: &Server<'_>, tag: &str) -> Option<TagRecord> {
    tags(server).ok()??.into_iter().find(|record| record.tag == tag)
}

/// The field in which the existing tag differs from the requested one.
fn differs(server: &Server<'_>, tag: &str, new: &Tag) -> Option<ServerError> {
    let there = listed(server, tag)?;
    new.check(&server.address.to_string(), &there).map_err(ServerError::last).err()
}

fn behind(server: &Server<'_>, tag: &str, new: &Tag, problem: &Problem<'_>) -> ServerError {
    let listed = || Some(listed(server, tag)?.next);
    match problem.number("next").or_else(listed) {
        Some(next) => {
            let (store, tag) = (server.address.to_string(), tag.to_owned());
            ServerError::last(SegmentError::Behind { store, tag, next, first: new.first })
        }
        None => problem.trouble(server, tag),
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok()
        }
        value => value.as_u64(),
    }
}

/// Why an answer gives no segment.
#[derive(Debug)]
enum Invalid {
    /// It is none, or is one of another tag. Another server may have one.
    Response,
    /// No server would have a better one: what is wrong, as a sentence about the row.
    Row(String),
}

/// Parses a segment.
fn segment(tag: &str, answer: &Value) -> Result<Segment, Invalid> {
    if answer["tag"].as_str().is_some_and(|other| other != tag) {
        return Err(Invalid::Response);
    }
    let field = |name: &str| match number(&answer[name]) {
        None => Err(Invalid::Response),
        Some(0) => {
            Err(Invalid::Row(format!("the server gives 0 as its {name}, and that begins at 1")))
        }
        Some(number) => Ok(number),
    };
    let (first, count, delta) = (field("first")?, field("count")?, field("delta")?);
    let last = (count - 1).checked_mul(delta).and_then(|length| first.checked_add(length));
    let Some(last) = last.filter(|last| *last <= Number::MAX.get()) else {
        return Err(Invalid::Row(format!(
            "{count} numbers from {first} on, {delta} apart, do not lie in 1..={}",
            Number::MAX
        )));
    };
    let mut segment = Segment::new(first, count, delta, last);
    // Each remainder belongs to one database behind the server.
    segment.database = usize::try_from(first % delta).unwrap_or(usize::MAX);
    if let Some(step) = number(&answer["step"]) {
        segment.step = step.max(1);
    }
    segment.max_step = number(&answer["max_step"]);
    Ok(segment)
}

fn record(answer: &Value) -> Option<TagRecord> {
    let tag = answer["tag"].as_str()?;
    let field = |name: &str| number(&answer[name]);
    let mut record = TagRecord::new(tag, field("next")?, field("step")?, field("delta")?);
    record.max_step = field("max_step");
    record.description = answer["description"].as_str().map(str::to_owned);
    let updated = answer["updated"].as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    record.updated = updated.and_then(|at| from_unix_ms(at.as_millisecond().into()));
    Some(record)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_segment_has_its_numbers_and_the_steps_of_its_row() {
        let answer = json!({ "tag": "orders", "first": "1001", "count": "1000", "delta": "1" });
        let found = segment("orders", &answer).unwrap();
        assert_eq!((found.first, found.count, found.delta, found.row_end), (1001, 1000, 1, 2000));
        assert_eq!((found.step, found.max_step, found.database), (1000, None, 0));
        let answer = json!({
            "first": 5, "count": "7", "delta": "3", "step": "2", "max_step": "9", "more": [],
        });
        let found = segment("orders", &answer).unwrap();
        assert_eq!(
            (found.row_end, found.step, found.max_step, found.database),
            (23, 2, Some(9), 2)
        );
    }

    #[test]
    fn what_gives_no_numbers_is_refused() {
        for answer in [
            json!({ "first": "0", "count": "1", "delta": "1" }),
            json!({ "first": "1", "count": "0", "delta": "1" }),
            json!({ "first": "1", "count": "1", "delta": "0" }),
            json!({ "first": "-1", "count": "1", "delta": "1" }),
            json!({ "first": "+1", "count": "1", "delta": "1" }),
            json!({ "first": " 1", "count": "1", "delta": "1" }),
            json!({ "first": "", "count": "1", "delta": "1" }),
            json!({ "first": 1.5, "count": "1", "delta": "1" }),
            json!({ "first": "1", "count": "1" }),
            json!({ "first": null, "count": "1", "delta": "1" }),
            json!({ "first": "9223372036854775808", "count": "1", "delta": "1" }),
            json!({ "first": "9223372036854775807", "count": "2", "delta": "1" }),
            json!({ "first": "2", "count": "18446744073709551615", "delta": "3" }),
            json!({ "tag": "others", "first": "1", "count": "1", "delta": "1" }),
        ] {
            assert!(segment("orders", &answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn a_record_has_what_the_service_tells() {
        let answer = json!({
            "tag": "orders", "next": "5", "step": "10", "max_step": null, "delta": "1",
            "description": "of the shop", "updated": "2026-01-02T03:04:05Z",
        });
        let found = record(&answer).unwrap();
        assert_eq!((found.next, found.step, found.max_step, found.delta), (5, 10, None, 1));
        assert_eq!(found.description.as_deref(), Some("of the shop"));
        let since = found.updated.unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(since.as_secs(), 1_767_323_045);
        assert!(record(&json!({ "tag": "orders" })).is_none());
        // A row that gives no numbers is listed as well.
        let answer = json!({ "tag": "orders", "next": "5", "step": "0", "delta": "0" });
        let found = record(&answer).unwrap();
        assert_eq!((found.step, found.delta), (0, 0));
    }
}
