//! Content negotiation: the format of ids that the `Accept` header asks for.

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use crate::http::problem::Problem;

/// The formats of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"uids":["1","2"]}`
    Json,
    /// One per line.
    Lines,
    /// Eight bytes each, little-endian.
    Bytes,
}

/// The formats of ids, with their media types.
const OF_IDS: [(Form, &str); 3] = [
    (Form::Json, "application/json"),
    (Form::Lines, "text/plain"),
    (Form::Bytes, "application/octet-stream"),
];

/// The format of ids that the client prefers.
pub(crate) fn form(headers: &HeaderMap) -> Result<Form, Problem> {
    let mut accepts = headers.get_all(ACCEPT).iter();
    let Some(accept) = accepts.next() else { return Ok(Form::Json) };
    // Most clients name exactly one format, so no comparison is needed.
    let only = accepts.next().is_none().then(|| form_of_media_type(accept.as_bytes())).flatten();
    only.or_else(|| best(headers, &OF_IDS)).ok_or_else(|| {
        let title = "ids have no form that is accepted";
        none(accept, title, "accept application/json, text/plain or application/octet-stream")
    })
}

/// The format of numbers that people see, which are texts.
pub(crate) fn form_of_texts(headers: &HeaderMap) -> Result<Form, Problem> {
    let Some(accept) = headers.get(ACCEPT) else { return Ok(Form::Json) };
    best(headers, &OF_IDS[..2]).ok_or_else(|| {
        let title = "numbers of a series have no form that is accepted";
        none(accept, title, "accept application/json or text/plain")
    })
}

/// The problem of a client that accepts no format that there is.
fn none(accept: &HeaderValue, title: &'static str, advice: &'static str) -> Problem {
    Problem::new(StatusCode::NOT_ACCEPTABLE, "no-such-form", title)
        .detail(advice)
        .value(&String::from_utf8_lossy(accept.as_bytes()))
}

fn form_of_media_type(accept: &[u8]) -> Option<Form> {
    match accept {
        b"*/*" | b"application/json" => Some(Form::Json),
        b"text/plain" => Some(Form::Lines),
        b"application/octet-stream" => Some(Form::Bytes),
        _ => None,
    }
}

/// The format with the highest weight. `None` if none is acceptable.
fn best(headers: &HeaderMap, forms: &[(Form, &str)]) -> Option<Form> {
    let mut best: Option<(u16, u8, Form)> = None;
    for &(form, kind) in forms {
        let headers = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges = headers.flat_map(|value| value.split(','));
        // The most specific media range decides.
        let quality = ranges.filter_map(|range| quality(range, kind)).max_by_key(|&(rank, _)| rank);
        if let Some((rank, weight)) = quality
            && weight > 0
            && best.is_none_or(|(other, other_rank, _)| (weight, rank) > (other, other_rank))
        {
            best = Some((weight, rank, form));
        }
    }
    best.map(|(_, _, form)| form)
}

/// How specifically the media range matches `kind`, and its weight in thousandths. `None` if it
/// does not match.
fn quality(range: &str, kind: &str) -> Option<(u8, u16)> {
    let mut parts = range.split(';').map(str::trim);
    let name = parts.next()?;
    let family = kind.split('/').next()?;
    let rank = match name.split_once('/')? {
        _ if name.eq_ignore_ascii_case(kind) => 2,
        (of, "*") if of.eq_ignore_ascii_case(family) => 1,
        ("*", "*") => 0,
        _ => return None,
    };
    let weight = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    Some((rank, weight.map_or(1000, thousandths)))
}

/// Parses a weight from 0 to 1 with up to three decimals. Invalid weights count as 0.
fn thousandths(text: &str) -> u16 {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    match whole {
        "1" => 1000,
        "0" => format!("{decimals:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(accepts: &[&'static str]) -> Option<Form> {
        let mut headers = HeaderMap::new();
        for accept in accepts {
            headers.append(ACCEPT, HeaderValue::from_static(accept));
        }
        form(&headers).ok()
    }

    #[test]
    fn the_client_chooses() {
        for (accepts, expected) in [
            (&[][..], Some(Form::Json)),
            (&["*/*"], Some(Form::Json)),
            (&["application/json"], Some(Form::Json)),
            (&["text/plain"], Some(Form::Lines)),
            (&["TEXT/Plain"], Some(Form::Lines)),
            (&["text/*"], Some(Form::Lines)),
            (&["application/octet-stream"], Some(Form::Bytes)),
            (&["application/*"], Some(Form::Json)),
            (&["text/html, */*;q=0.1"], Some(Form::Json)),
            (&["text/plain;q=0.5, application/json;q=0.4"], Some(Form::Lines)),
            (&["text/plain;q=0.5", "application/json;q=0.6"], Some(Form::Json)),
            (&["text/plain, */*"], Some(Form::Lines)),
            (&["application/json;q=0, */*"], Some(Form::Lines)),
            (&["text/plain; charset=utf-8"], Some(Form::Lines)),
            (&["text/html"], None),
            (&["*/*;q=0"], None),
            (&["text/plain;q=2"], None),
            (&["text/plain;q=0.0001"], None),
            (&[""], None),
            (&["text"], None),
        ] {
            assert_eq!(of(accepts), expected, "{accepts:?}");
        }
    }
}
