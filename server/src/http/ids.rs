//! Ids as bytes of an answer. Each id is written where it stays: no text is made of it before.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use uidring::Uid;
use uidring::segment::Number;

use crate::http::negotiate::Form;

/// A UID, or a number of a tag.
pub(crate) trait Id: Copy + Into<u64> {}

impl Id for Uid {}
impl Id for Number {}

/// The most digits of an id.
const DIGITS: usize = 19;

/// The form of one line for each id.
pub(crate) const TEXT: &str = "text/plain;charset=UTF-8";

/// The ids in `form`, under `name` in JSON.
pub(crate) fn written(form: Form, name: &str, ids: &[impl Id]) -> Response {
    let (kind, body) = match form {
        Form::Json => ("application/json", json(name, ids)),
        Form::Lines => (TEXT, lines(ids)),
        Form::Bytes => ("application/octet-stream", bytes(ids)),
    };
    answer(kind, body)
}

/// `body` as it is: a conversion would look for what is not there.
pub(crate) fn answer(kind: &'static str, body: Vec<u8>) -> Response {
    let mut answer = Response::new(Body::from(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn json(name: &str, ids: &[impl Id]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 8 + ids.len() * (DIGITS + 3));
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":[");
    append(&mut out, ids, b"\"", b"\",");
    if !ids.is_empty() {
        // The last comma.
        out.pop();
    }
    out.extend_from_slice(b"]}");
    out
}

fn lines(ids: &[impl Id]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * (DIGITS + 1));
    append(&mut out, ids, b"", b"\n");
    out
}

/// The digits of each id, with a comma between one and the next.
pub(crate) fn list(ids: &[impl Id]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * (DIGITS + 1));
    append(&mut out, ids, b"", b",");
    out.pop();
    out
}

fn append(out: &mut Vec<u8>, ids: &[impl Id], before: &[u8], after: &[u8]) {
    let mut digits = itoa::Buffer::new();
    for &id in ids {
        out.extend_from_slice(before);
        out.extend_from_slice(digits.format(id.into()).as_bytes());
        out.extend_from_slice(after);
    }
}

/// Eight bytes each, little-endian.
fn bytes(ids: &[impl Id]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * size_of::<u64>());
    for &id in ids {
        out.extend_from_slice(&id.into().to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_one_id_or_none_or_many() {
        let ids: Vec<Uid> = [1, 22, (1 << 63) - 1].into_iter().filter_map(Uid::new).collect();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(text(json("ids", &ids)), r#"{"ids":["1","22","9223372036854775807"]}"#);
        assert_eq!(text(json("ids", &ids[..0])), r#"{"ids":[]}"#);
        assert_eq!(text(lines(&ids)), "1\n22\n9223372036854775807\n");
        assert_eq!(text(list(&ids)), "1,22,9223372036854775807");
        assert_eq!(text(list(&ids[..0])), "");
        assert_eq!(bytes(&ids[1..2]), [22, 0, 0, 0, 0, 0, 0, 0]);
    }
}
