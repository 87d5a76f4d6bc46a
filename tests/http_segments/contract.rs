//! The contract of sources, with a service in between that speaks for files.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use uidring::Store;
use uidring::segment::{SegmentSource, Tag, TagRecord, contract};
use uidring::store::StoreSegments;

use super::server::{json, problem};
use super::*;

/// Answers as uidring-server does.
fn served(source: &StoreSegments, request: &Request) -> Reply {
    let (method, path) = request.line.split_once(' ').unwrap();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<String> = path.split('/').skip(1).map(decoded).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let result = match (method, &parts[..]) {
        ("POST", ["v1", "tags", tag, "segments"]) => {
            let count = query.strip_prefix("size=").map(|size| size.parse().unwrap());
            source.load(tag, count).map(|segment| {
                json!({
                    "tag": tag, "first": segment.first.to_string(),
                    "count": segment.count.to_string(), "delta": segment.delta.to_string(),
                    "step": segment.step.to_string(),
                })
            })
        }
        ("PUT", ["v1", "tags", tag]) => {
            let body: Value = serde_json::from_str(&request.body).unwrap();
            let field = |name: &str| Some(body[name].as_str()?.parse().unwrap());
            let mut new = Tag::new().first(field("first").unwrap());
            if let Some(step) = field("step") {
                new = new.step(step);
            }
            source.create(tag, &new).map(|record| shown(&record))
        }
        ("GET", ["v1", "tags"]) => {
            source.tags().map(|tags| json!({ "tags": tags.iter().map(shown).collect::<Vec<_>>() }))
        }
        other => panic!("what is {other:?}?"),
    };
    match result {
        Ok(value) => json("200 OK", &value.to_string()),
        Err(error) => {
            let (status, kind) = match &error {
                SegmentError::NoSuchTag { .. } => ("404 Not Found", "no-such-tag"),
                SegmentError::RanOut { .. } => ("410 Gone", "ran-out"),
                SegmentError::Behind { .. } => ("409 Conflict", "behind"),
                SegmentError::Differs { .. } => ("409 Conflict", "differs"),
                SegmentError::BadTag { .. } => ("400 Bad Request", "bad-tag"),
                _ => ("503 Service Unavailable", "no-ids"),
            };
            let body = json!({
                "type": format!("urn:uidring:problem:{kind}"), "detail": error.to_string(),
            });
            problem(status, &body.to_string())
        }
    }
}

fn shown(record: &TagRecord) -> Value {
    json!({
        "tag": record.tag, "next": record.next.to_string(), "step": record.step.to_string(),
        "delta": record.delta.to_string(), "max_step": record.max_step,
    })
}

fn decoded(part: &str) -> String {
    let mut pieces = part.split('%');
    let mut bytes = pieces.next().unwrap().as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).unwrap());
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_contract_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    contract::check_one_way(|name| {
        let file: PathBuf = folder.path().join(name);
        let store = Store::open(file).unwrap();
        let server = Server::start(move |request| served(&store.segments().unwrap(), request));
        let server = Arc::new(server);
        move || source(&server)
    });
}
