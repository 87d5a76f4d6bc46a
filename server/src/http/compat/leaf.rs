//! Leaf's paths, with the same answers as Leaf's server.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use tokio::sync::SemaphorePermit;
use uidring::segment::TagRecord;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::bearer::bearer;
use crate::http::compat::html;
use crate::http::compat::spring::SpringError;
use crate::http::describe::Problems;
use crate::http::numbers::{is_tag, one_list, take_one, take_uids};
use crate::http::operator_access::{AccessDenied, check_admin};
use crate::http::problem::Problem;
use crate::http::take_failure::TakeFailure;
use crate::http::{ids, params};
use crate::routes::Route;
use crate::security::access::Permission;
use crate::stats::requests::HasFailed;

type KeyPath = Result<Path<String>, PathRejection>;

/// Leaf's answer when it has no ids.
const NOT_INITIALISED: i32 = -1;
const NO_SUCH_KEY: i32 = -2;
const USED_UP: i32 = -3;

/// The key as Spring 4.3 reads it from a path: it cuts off the last dot or a semicolon with what
/// follows.
fn key(path: KeyPath) -> Result<String, Problem> {
    let Path(text) = path?;
    let text = text.split(';').next().unwrap_or_default();
    Ok(text.rsplit_once('.').map_or(text, |(key, _)| key).to_owned())
}

/// A response with only the id.
pub(crate) fn id(id: impl Into<u64>) -> Response {
    let mut digits = itoa::Buffer::new();
    ids::answer(ids::TEXT, digits.format(id.into()).into())
}

fn exception(code: i32, uri: &Uri, headers: &HeaderMap) -> Response {
    let name = "com.sankuai.inf.leaf.server.exception.LeafServerException";
    let message = format!("Result{{id={code}, status=EXCEPTION}}");
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    let answer = SpringError::new(status, name, message, uri.path()).answer(headers);
    if code == NO_SUCH_KEY { client_error(answer) } else { answer }
}

/// Marks an error answer as the client's fault, because Leaf's status does not tell.
fn client_error(mut answer: Response) -> Response {
    answer.extensions_mut().insert(HasFailed(false));
    answer
}

fn no_key(uri: &Uri, headers: &HeaderMap) -> Response {
    let name = "com.sankuai.inf.leaf.server.exception.NoKeyException";
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    client_error(
        SpringError::new(status, name, "Key is none".to_owned(), uri.path()).answer(headers),
    )
}

fn code(none: &TakeFailure) -> i32 {
    match none {
        none if none.is_unknown_tag() => NO_SUCH_KEY,
        TakeFailure::NotReady(_) => NOT_INITIALISED,
        _ => USED_UP,
    }
}

/// What Leaf's segment mode answers. Any method does the same.
#[utoipa::path(
    get, path = Route::LeafSegment.text(), operation_id = "leafSegment", tag = "Leaf",
    params(("key" = String, Path, description = "A tag; what follows a last dot is cut off")),
    responses(
        (status = 200, description = "The next number of a tag, as text", body = String,
            content_type = "text/plain"),
        (status = 500, description = "Leaf's codes, as Spring says them", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
        Problems,
    ),
)]
pub(crate) async fn segment(
    State(app): State<&'static App>,
    path: KeyPath,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let key = key(path)?;
    if key.is_empty() {
        return Ok(no_key(&uri, &headers));
    }
    app.access.check(bearer(&headers), Permission::Tag(&key))?;
    if !is_tag(app.options.table, &key) {
        return Ok(exception(NO_SUCH_KEY, &uri, &headers));
    }
    match take_one(app, &key).await {
        Ok(number) => {
            app.counters().numbers.add(1);
            Ok(id(number))
        }
        Err(none) => Ok(exception(code(&none), &uri, &headers)),
    }
}

/// What Leaf's snowflake mode answers. Any method does the same.
#[utoipa::path(
    get, path = Route::LeafSnowflake.text(), operation_id = "leafSnowflake", tag = "Leaf",
    params(("key" = String, Path, description = "A tag; what follows a last dot is cut off")),
    responses(
        (status = 200, description = "The next snowflake, as text", body = String,
            content_type = "text/plain"),
        (status = 500, description = "Leaf's codes, as Spring says them", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
        Problems,
    ),
)]
pub(crate) async fn snowflake(
    State(app): State<&'static App>,
    path: KeyPath,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if key(path)?.is_empty() {
        return Ok(no_key(&uri, &headers));
    }
    app.access.check(bearer(&headers), Permission::Uids)?;
    let Ok(uids) = app.snowflakes() else {
        return Ok(exception(NOT_INITIALISED, &uri, &headers));
    };
    match take_uids(app, ("snowflakes", uids), 1).await.ok().and_then(|mut uids| uids.next()) {
        Some(uid) => {
            app.counters().uids.add(1);
            Ok(id(uid))
        }
        None => Ok(exception(USED_UP, &uri, &headers)),
    }
}

/// The parts of a snowflake. In Leaf's answer all three are texts.
#[derive(Serialize, ToSchema)]
pub(crate) struct Decoded {
    timestamp: String,
    #[serde(rename = "sequenceId")]
    sequence: String,
    #[serde(rename = "workerId")]
    worker: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct NotDecoded {
    #[serde(rename = "errorMsg")]
    message: &'static str,
}

/// The answer of the decoding path. Its status is 200 in both cases.
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) enum Decoding {
    Decoded(Decoded),
    NotDecoded(NotDecoded),
}

/// Decodes a snowflake. Any method does the same.
#[utoipa::path(
    get, path = Route::LeafDecode.text(), operation_id = "leafDecode", tag = "Leaf",
    params(("snowflakeId" = String, Query, description = "The snowflake")),
    responses(
        (status = 200, description = "What it says, or that it is none", body = Decoding),
        (status = 400, description = "There is no snowflakeId", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
    ),
)]
pub(crate) async fn decode(
    State(app): State<&'static App>,
    RawQuery(query): RawQuery,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let params: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let Some(text) = params::first(&params, "snowflakeId") else {
        let name = "org.springframework.web.bind.MissingServletRequestParameterException";
        let message = "Required String parameter 'snowflakeId' is not present".to_owned();
        return SpringError::new(StatusCode::BAD_REQUEST, name, message, uri.path())
            .answer(&headers);
    };
    let epoch = Timestamp::try_from(app.leaf_layout.epoch()).unwrap_or(Timestamp::UNIX_EPOCH);
    match text.parse().ok().and_then(|id| decoded(id, epoch.as_millisecond())) {
        Some(decoded) => json(&decoded),
        None => json(&NotDecoded { message: "snowflake Id反解析发生异常!" }),
    }
}

fn json(value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    let kind = HeaderValue::from_static("application/json;charset=UTF-8");
    ([(CONTENT_TYPE, kind)], body).into_response()
}

/// Computes the parts as Leaf does, even for numbers that are not ids.
fn decoded(id: i64, epoch_ms: i64) -> Option<Decoded> {
    let ms = (id >> 22) + epoch_ms;
    let worker = (id >> 12) ^ ((id >> 22) << 10);
    let sequence = id ^ ((id >> 12) << 12);
    let time = Timestamp::from_millisecond(ms).ok()?.to_zoned(TimeZone::system());
    Some(Decoded {
        timestamp: format!("{ms}({})", time.strftime("%Y-%m-%d %H:%M:%S%.3f")),
        sequence: sequence.to_string(),
        worker: worker.to_string(),
    })
}

/// The tags that this process has in memory. A chain of segments has no two buffers: the second one
/// is empty.
#[utoipa::path(
    get, path = Route::LeafCache.text(), operation_id = "leafCache", tag = "Leaf",
    responses(
        (status = 200, description = "A page for people", body = String,
            content_type = "text/html"),
        Problems,
    ),
)]
pub(crate) async fn cache(
    State(app): State<&'static App>,
    headers: HeaderMap,
) -> Result<Response, AccessDenied> {
    check_admin(app, &headers)?;
    let rows: Vec<Vec<String>> = app
        .used_tags()
        .iter()
        .map(|tag| {
            let status = tag.status();
            let max = status.last_number.map_or(0, |last| last + status.delta);
            let value = max.saturating_sub(status.in_memory * status.delta);
            let mut row = vec![tag.tag().to_owned(), "true".to_owned(), "false".to_owned()];
            let numbers = [0, value, max, status.segment, 0, 0, 0];
            row.extend(numbers.map(|number| number.to_string()));
            row
        })
        .collect();
    let head =
        ["name", "init", "next", "pos", "value0", "max0", "step0", "value1", "max1", "step1"];
    Ok(html::table("Leaf", &head, &rows))
}

/// The rows of the tags.
#[utoipa::path(
    get, path = Route::LeafDb.text(), operation_id = "leafDb", tag = "Leaf",
    responses(
        (status = 200, description = "A page for people", body = String,
            content_type = "text/html"),
        Problems,
    ),
)]
pub(crate) async fn db(
    State(app): State<&'static App>,
    headers: HeaderMap,
) -> Result<Result<Response, Problem>, AccessDenied> {
    check_admin(app, &headers)?;
    let head = ["tag", "max", "step", "update"];
    Ok(rows(app).await.map(|(rows, _turn)| html::table("Leaf", &head, &rows)))
}

async fn rows(app: &'static App) -> Result<(Vec<Vec<String>>, SemaphorePermit<'static>), Problem> {
    let source = app.tags()?.source.clone();
    let (records, turn) = one_list(app, move || source.tags()).await??;
    Ok((records.into_iter().map(row).collect(), turn))
}

fn row(record: TagRecord) -> Vec<String> {
    let update = record.updated.and_then(|time| Timestamp::try_from(time).ok()).map(|time| {
        let time = time.to_zoned(TimeZone::system());
        time.strftime("%Y-%m-%d %H:%M:%S%.1f").to_string()
    });
    vec![record.tag, record.next.to_string(), record.step.to_string(), update.unwrap_or_default()]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use uidring::{SegmentFailure, TakeError};

    use super::*;
    use crate::app::NotReady;
    use crate::stats::trouble::Cause;

    #[test]
    fn a_snowflake_is_decoded_as_leaf_does() {
        let decoded = decoded((12_345 << 22) + (7 << 12) + 42, 1_288_834_974_657).unwrap();
        assert!(decoded.timestamp.starts_with("1288834987002("), "{}", decoded.timestamp);
        assert_eq!((decoded.worker.as_str(), decoded.sequence.as_str()), ("7", "42"));
    }

    #[test]
    fn a_key_ends_at_its_last_dot() {
        for (path, expected) in [
            ("a", "a"),
            ("a.b", "a"),
            ("a.b.c", "a.b"),
            (".b", ""),
            ("a;x=1", "a"),
            ("a.b;c.d", "a"),
        ] {
            assert_eq!(key(Ok(Path(path.to_owned()))).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn codes_are_those_of_leaf() {
        let exhausted = |cause| TakeFailure::Take(TakeError::SegmentExhausted { cause });
        assert_eq!(code(&TakeFailure::NotReady(NotReady(Cause::NotAsked))), -1);
        assert_eq!(code(&exhausted(SegmentFailure::NoSuchTag)), -2);
        assert_eq!(code(&exhausted(SegmentFailure::Unreachable)), -3);
        assert_eq!(code(&TakeFailure::Take(TakeError::ShutDown)), -3);
    }
}
