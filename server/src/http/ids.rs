//! Encodes ids as the bytes of an answer, written directly into its buffer.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;

use crate::app::in_flight::{Reservation, SLICE};
use crate::http::batch::Ids;
use crate::http::negotiate::Form;
use crate::http::slices::{WHOLE, generated};

/// The most digits of an id.
const DIGITS: usize = 19;

/// The media type of one id per line.
pub(crate) const TEXT: &str = "text/plain;charset=UTF-8";

/// The format of a list of ids.
#[derive(Debug)]
pub(crate) struct Shape {
    kind: &'static str,
    head: &'static str,
    each: Each,
    tail: &'static str,
}

/// The format of one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Each {
    /// `"1",`. The last id has no comma.
    Quoted,
    /// `1,`. The last id has no comma.
    Comma,
    Line,
    /// Eight bytes, little-endian.
    Bytes,
}

/// A JSON object with the key "uids".
pub(crate) const UIDS: Shape =
    Shape { kind: "application/json", head: "{\"uids\":[", each: Each::Quoted, tail: "]}" };
/// A JSON object with the key "ids".
pub(crate) const NUMBERS: Shape = Shape { head: "{\"ids\":[", ..UIDS };
const LINES: Shape = Shape { kind: TEXT, head: "", each: Each::Line, tail: "" };
const BYTES: Shape = Shape { kind: "application/octet-stream", each: Each::Bytes, ..LINES };
/// Digits, separated by commas.
pub(crate) const LIST: Shape = Shape { each: Each::Comma, ..LINES };
/// tinyid's JSON object.
pub(crate) const TINYID: Shape = Shape {
    kind: "application/json;charset=UTF-8",
    head: "{\"data\":[",
    each: Each::Comma,
    tail: "],\"code\":200,\"message\":\"\"}",
};

impl Shape {
    /// The shape for the requested form. `self` is the one for JSON.
    fn or(&'static self, form: Form) -> &'static Shape {
        match form {
            Form::Json => self,
            Form::Lines => &LINES,
            Form::Bytes => &BYTES,
        }
    }

    fn has_comma(&self) -> bool {
        matches!(self.each, Each::Quoted | Each::Comma)
    }

    /// The length of the answer in bytes.
    fn length(&self, count: usize, digits: usize) -> usize {
        let ids = match self.each {
            Each::Quoted => digits + 3 * count,
            Each::Comma | Each::Line => digits + count,
            Each::Bytes => size_of::<u64>() * count,
        };
        let last_comma = usize::from(self.has_comma() && count > 0);
        self.head.len() + ids - last_comma + self.tail.len()
    }

    /// Appends ids until `out` is at least `most` bytes long. After the last id, appends the tail.
    fn write(&self, out: &mut Vec<u8>, ids: &mut impl ExactSizeIterator<Item = u64>, most: usize) {
        let had_some = ids.len() > 0;
        match self.each {
            Each::Quoted => append(out, ids, most, *b"\"", *b"\","),
            Each::Comma => append(out, ids, most, [], *b","),
            Each::Line => append(out, ids, most, [], *b"\n"),
            Each::Bytes => {
                while out.len() < most
                    && let Some(id) = ids.next()
                {
                    out.extend_from_slice(&id.to_le_bytes());
                }
            }
        }
        if ids.len() == 0 {
            if had_some && self.has_comma() {
                out.pop();
            }
            out.extend_from_slice(self.tail.as_bytes());
        }
    }
}

/// Appends the digits of ids until `out` is at least `most` bytes long. The lengths of `before` and
/// `after` are constants, so each compiles to a single store.
fn append<const BEFORE: usize, const AFTER: usize>(
    out: &mut Vec<u8>,
    ids: &mut impl Iterator<Item = u64>,
    most: usize,
    before: [u8; BEFORE],
    after: [u8; AFTER],
) {
    let mut digits = itoa::Buffer::new();
    while out.len() < most
        && let Some(id) = ids.next()
    {
        out.extend_from_slice(&before);
        out.extend_from_slice(digits.format(id).as_bytes());
        out.extend_from_slice(&after);
    }
}

/// A response with one id. `json` is the shape for JSON.
pub(crate) fn one(form: Form, json: &'static Shape, id: u64) -> Response {
    let shape = json.or(form);
    let mut out = Vec::with_capacity(shape.length(1, DIGITS) + 1);
    out.extend_from_slice(shape.head.as_bytes());
    shape.write(&mut out, &mut std::iter::once(id), usize::MAX);
    answer(shape.kind, out)
}

/// The ids of an answer.
pub(crate) trait Listed: ExactSizeIterator<Item = u64> + Send + Unpin + 'static {
    /// The total number of digits of all ids.
    fn digits(&self) -> usize;

    /// Takes the reserved memory, which the answer holds until it is sent.
    fn reservation(&mut self) -> Option<Reservation>;
}

impl Listed for Ids {
    fn digits(&self) -> usize {
        Ids::digits(self)
    }

    fn reservation(&mut self) -> Option<Reservation> {
        Ids::reservation(self)
    }
}

/// A response with ids. `json` is the shape for JSON.
pub(crate) fn response(form: Form, json: &'static Shape, ids: impl Listed) -> Response {
    response_in_shape(json.or(form), ids)
}

/// A response with ids in this shape. A long one is encoded while it is sent.
pub(crate) fn response_in_shape(shape: &'static Shape, mut ids: impl Listed) -> Response {
    let digits = if shape.each == Each::Bytes { 0 } else { ids.digits() };
    let length = shape.length(ids.len(), digits);
    if length <= WHOLE {
        let mut out = Vec::with_capacity(length + 1);
        out.extend_from_slice(shape.head.as_bytes());
        shape.write(&mut out, &mut ids, usize::MAX);
        return answer(shape.kind, out);
    }
    let place = ids.reservation();
    let mut head = shape.head;
    let make = move |out: &mut Vec<u8>| {
        out.extend_from_slice(std::mem::take(&mut head).as_bytes());
        shape.write(out, &mut ids, SLICE);
    };
    of_kind(generated(make, length, place), shape.kind)
}

/// A response with this body. Built by hand, because axum's conversions add checks that are not
/// needed.
pub(crate) fn answer(kind: &'static str, body: Vec<u8>) -> Response {
    of_kind(Response::new(Body::from(body)), kind)
}

fn of_kind(mut answer: Response, kind: &'static str) -> Response {
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use http_body_util::BodyExt as _;
    use hyper::body::Body as _;

    use super::*;
    use crate::http::batch::Batch;

    fn ids(ids: impl IntoIterator<Item = u64>) -> Ids {
        let mut batch = Batch::default();
        for id in ids {
            batch.push(id);
        }
        batch.finish()
    }

    /// The body, and the number of its slices.
    fn body(answer: Response) -> (Vec<u8>, usize) {
        let expected = answer.body().size_hint().exact().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (mut body, mut whole, mut slices) = (answer.into_body(), Vec::new(), 0);
        while let Some(frame) = runtime.block_on(body.frame()) {
            whole.extend_from_slice(frame.unwrap().data_ref().unwrap());
            slices += 1;
        }
        assert!(body.is_end_stream());
        assert_eq!(whole.len() as u64, expected);
        (whole, slices)
    }

    fn text(shape: &'static Shape, of: impl IntoIterator<Item = u64>) -> String {
        String::from_utf8(body(response_in_shape(shape, ids(of))).0).unwrap()
    }

    #[test]
    fn forms_have_one_id_or_none_or_many() {
        let some = [1, 22, (1 << 63) - 1];
        assert_eq!(text(&NUMBERS, some), r#"{"ids":["1","22","9223372036854775807"]}"#);
        assert_eq!(text(&NUMBERS, []), r#"{"ids":[]}"#);
        assert_eq!(text(&LINES, some), "1\n22\n9223372036854775807\n");
        assert_eq!(text(&LIST, some), "1,22,9223372036854775807");
        assert_eq!(text(&LIST, []), "");
        assert_eq!(text(&TINYID, [7, 8]), r#"{"data":[7,8],"code":200,"message":""}"#);
        assert_eq!(body(response_in_shape(&BYTES, ids([22]))).0, [22, 0, 0, 0, 0, 0, 0, 0]);
        let one = |form| body(one(form, &UIDS, 7)).0;
        assert_eq!(one(Form::Json), br#"{"uids":["7"]}"#);
        assert_eq!(one(Form::Lines), b"7\n");
        assert_eq!(one(Form::Bytes), [7, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn many_ids_are_the_same_in_slices() {
        for shape in [&NUMBERS, &LINES, &LIST, &TINYID, &BYTES] {
            for count in [1_000, 4_096, 10_000, 99_999] {
                let of = (0..count).map(|index| 95 + index * 7);
                let (made, slices) = body(response_in_shape(shape, ids(of.clone())));
                let mut whole = shape.head.as_bytes().to_vec();
                let mut all = of.collect::<Vec<_>>().into_iter();
                shape.write(&mut whole, &mut all, usize::MAX);
                assert!(made == whole, "{shape:?} {count}");
                let most = if whole.len() <= WHOLE { 1 } else { whole.len().div_ceil(SLICE) + 1 };
                assert!((1..=most).contains(&slices), "{shape:?} {count}: {slices}");
            }
        }
    }
}
