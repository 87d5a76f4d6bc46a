//! tinyid's paths, with the same answers as tinyid's server: always status 200, with an error code
//! inside.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use uidring::segment::{Segment, SegmentError};
use uidring_args::Table;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::config::limits::MAX_IDS;
use crate::http::batch::Ids;
use crate::http::bearer::bearer;
use crate::http::compat::spring::SpringError;
use crate::http::numbers::{self, is_tag, take_many};
use crate::http::problem::Problem;
use crate::http::take_failure::{BUSY, FULL, TakeFailure};
use crate::http::{body, ids, params};
use crate::routes::Route;
use crate::security::access::Permission;
use crate::stats::requests::HasFailed;
use crate::stats::trouble::Cause;

/// The most bytes of a form.
const MOST_OF_FORM: usize = 4 << 10;

/// The parameters of a request.
struct NumberRequest {
    tag: String,
    count: usize,
}

/// Why a request is refused.
enum Refused {
    /// The parameters cannot be parsed. In tinyid, Spring answers this case.
    Malformed(Response),
    Token,
    /// An error with code 6 and this message.
    Failed(String, HasFailed),
}

impl NumberRequest {
    async fn read(app: &App, request: Request) -> Result<NumberRequest, Refused> {
        let (parts, body) = request.into_parts();
        let form = form(app, &parts, body)
            .await
            .map_err(|problem| Refused::Malformed(problem.into_response()))?;
        let query = parts.uri.query().unwrap_or_default();
        let params: Vec<_> =
            form_urlencoded::parse(query.as_bytes()).chain(form_urlencoded::parse(&form)).collect();
        let count = params::first(&params, "batchSize").unwrap_or_default();
        let count =
            batch_size(count).ok_or_else(|| Refused::Malformed(not_a_number(count, &parts)))?;
        let tag = params::first(&params, "bizType").unwrap_or_default();
        let token = params::first(&params, "token").filter(|token| !token.is_empty());
        let token = token.map(str::as_bytes).or_else(|| bearer(&parts.headers));
        if tag.is_empty() || app.access.check(token, Permission::Tag(tag)).is_err() {
            return Err(Refused::Token);
        }
        Ok(NumberRequest { tag: tag.to_owned(), count })
    }
}

/// The request body, if it is a form. It is read before its token is known, so it has to be short.
async fn form(app: &App, parts: &Parts, body: Body) -> Result<Vec<u8>, Problem> {
    if body::is_of_type(&parts.headers, "application/x-www-form-urlencoded") {
        body::read(app, body, MOST_OF_FORM).await
    } else {
        Ok(Vec::new())
    }
}

/// The number of ids, parsed as Spring does and bounded as tinyid does.
fn batch_size(text: &str) -> Option<usize> {
    let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    if text.is_empty() {
        return Some(1);
    }
    let count: i32 = text.parse().ok()?;
    Some(usize::try_from(count).unwrap_or(0).min(usize::try_from(MAX_IDS).unwrap_or(0)))
}

fn not_a_number(text: &str, parts: &Parts) -> Response {
    let message = format!(
        "Failed to convert value of type 'java.lang.String' to required type 'java.lang.Integer'; \
         nested exception is java.lang.NumberFormatException: For input string: \"{text}\""
    );
    let exception = "org.springframework.web.method.annotation.MethodArgumentTypeMismatchException";
    let error = SpringError::new(StatusCode::BAD_REQUEST, exception, message, parts.uri.path());
    error.answer(&parts.headers)
}

/// tinyid's message for a failure.
fn message(tag: &str, none: &TakeFailure) -> String {
    match none {
        none if none.is_unknown_tag() => format!("can not find biztype:{tag}"),
        TakeFailure::NotReady(none) => none.0.sentence().to_owned(),
        TakeFailure::Busy => BUSY.to_owned(),
        TakeFailure::Full => FULL.to_owned(),
        TakeFailure::TooMany(detail) => (*detail).to_owned(),
        TakeFailure::Ending => "the service is ending".to_owned(),
        // Any client may read the message, so it does not name the database.
        TakeFailure::Source(error) => Cause::of(error).sentence().to_owned(),
        TakeFailure::Take(error) => error.to_string(),
    }
}

async fn ids(app: &'static App, request: Request) -> Result<Ids, Refused> {
    let NumberRequest { tag, count } = NumberRequest::read(app, request).await?;
    let taken = if is_tag(app.options.table, &tag) {
        take_many(app, &tag, count).await
    } else {
        Err(TakeFailure::Source(no_such_tag(app, &tag)))
    };
    let ids = taken.map_err(|none| {
        let message = format!("error query segmentId: {}", message(&tag, &none));
        Refused::Failed(message, HasFailed(none.is_failure()))
    })?;
    app.counters().numbers.add(count as u64);
    Ok(ids)
}

/// The error for a tag that no table can contain, without asking the database.
fn no_such_tag(app: &App, tag: &str) -> SegmentError {
    let store = app.options.table.name().to_owned();
    SegmentError::NoSuchTag { store, tag: tag.to_owned(), alike: Vec::new() }
}

/// A segment in tinyid's terms. A client hands out the numbers above `currentId`, up to `maxId`,
/// that leave `remainder` when divided by `delta`.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SegmentId {
    max_id: u64,
    /// After this number, the client requests the next segment.
    loading_id: u64,
    current_id: u64,
    delta: u64,
    remainder: u64,
}

impl SegmentId {
    fn of(segment: &Segment, table: Table) -> SegmentId {
        let Segment { first, count, delta, row_start, row_end, .. } = *segment;
        let (current_id, max_id) = match table {
            Table::TinyId => (row_start, row_end),
            Table::Own | Table::Leaf | Table::CosId => (first - 1, first + (count - 1) * delta),
        };
        let loading = u128::from(max_id - current_id) * 20 / 100;
        let loading_id = current_id + u64::try_from(loading).unwrap_or(0);
        SegmentId { max_id, loading_id, current_id, delta, remainder: first % delta }
    }
}

async fn segment(app: &'static App, request: Request) -> Result<SegmentId, Refused> {
    let NumberRequest { tag, .. } = NumberRequest::read(app, request).await?;
    let result = if is_tag(app.options.table, &tag) {
        numbers::load(app, &tag, None).await
    } else {
        Err(TakeFailure::Source(no_such_tag(app, &tag)))
    };
    let segment = result
        .map_err(|none| Refused::Failed(message(&tag, &none), HasFailed(none.is_failure())))?;
    app.counters().segment(segment.count);
    Ok(SegmentId::of(&segment, app.options.table))
}

/// tinyid's envelope.
#[derive(Serialize)]
struct Envelope<'a, T> {
    data: Option<T>,
    code: u16,
    message: &'a str,
}

fn answer(data: Option<impl Serialize>, code: u16, message: &str) -> Response {
    let body = serde_json::to_vec(&Envelope { data, code, message }).unwrap_or_default();
    json(body)
}

fn json(body: Vec<u8>) -> Response {
    let kind = HeaderValue::from_static("application/json;charset=UTF-8");
    ([(CONTENT_TYPE, kind)], body).into_response()
}

fn simple(body: impl Into<Body>) -> Response {
    let kind = HeaderValue::from_static("text/plain;charset=UTF-8");
    ([(CONTENT_TYPE, kind)], body.into()).into_response()
}

impl Refused {
    fn answer(self) -> Response {
        match self {
            Refused::Malformed(response) => response,
            Refused::Token => answer(None::<()>, 5, "token is error"),
            Refused::Failed(message, failed) => {
                with_outcome(answer(None::<()>, 6, &message), failed)
            }
        }
    }

    fn simple(self) -> Response {
        match self {
            Refused::Malformed(response) => response,
            Refused::Token => simple(""),
            Refused::Failed(_, failed) => with_outcome(simple(""), failed),
        }
    }
}

/// Records in the answer whether it is a failure, because tinyid's status is always 200.
fn with_outcome(mut answer: Response, failed: HasFailed) -> Response {
    answer.extensions_mut().insert(failed);
    answer
}

/// Parameters of tinyid's clients, in the query or in a form.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code)] // it describes what is read without it
pub(crate) struct TinyIdParams {
    /// The tag. Without it, the answer has code 5.
    biz_type: Option<String>,
    /// Required if tokens are configured.
    token: Option<String>,
    /// How many ids: 1 by default, 100,000 at most.
    batch_size: Option<i32>,
}

/// tinyid's answer with ids.
#[derive(ToSchema)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) struct NextId {
    /// Ids as JSON numbers. JavaScript cannot represent them exactly above 2^53.
    data: Option<Vec<u64>>,
    /// 200 for success, 5 for a wrong token, 6 for a failure.
    code: i32,
    message: String,
}

/// tinyid's answer with a segment.
#[derive(ToSchema)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) struct NextSegmentId {
    data: Option<SegmentId>,
    /// 200 for success, 5 for a wrong token, 6 for a failure.
    code: i32,
    message: String,
}

/// Takes ids, as tinyid's server does. Any method does the same, and parameters may be in a form.
#[utoipa::path(
    get, path = Route::NextId.text(), operation_id = "tinyidNextId", tag = "tinyid",
    params(TinyIdParams),
    responses(
        (status = 200, description = "Ids, or code 5 or 6", body = NextId),
        (status = 400, description = "batchSize is no number", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
    ),
)]
pub(crate) async fn next_id(State(app): State<&'static App>, request: Request) -> Response {
    match ids(app, request).await {
        Ok(ids) => ids::response_in_shape(&ids::TINYID, ids),
        Err(refused) => refused.answer(),
    }
}

/// Takes ids, as plain text.
#[utoipa::path(
    get, path = Route::NextIdSimple.text(), operation_id = "tinyidNextIdSimple", tag = "tinyid",
    params(TinyIdParams),
    responses(
        (status = 200, description = "Ids with commas, or nothing", body = String,
            content_type = "text/plain"),
        (status = 400, description = "batchSize is no number", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
    ),
)]
pub(crate) async fn next_id_simple(State(app): State<&'static App>, request: Request) -> Response {
    match ids(app, request).await {
        Ok(ids) => ids::response_in_shape(&ids::LIST, ids),
        Err(refused) => refused.simple(),
    }
}

/// Takes a segment, for a client that hands out its numbers itself.
#[utoipa::path(
    get, path = Route::NextSegmentId.text(), operation_id = "tinyidNextSegmentId", tag = "tinyid",
    params(TinyIdParams),
    responses(
        (status = 200, description = "A segment, or code 5 or 6", body = NextSegmentId),
        (status = 400, description = "batchSize is no number", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
    ),
)]
pub(crate) async fn next_segment_id(State(app): State<&'static App>, request: Request) -> Response {
    match segment(app, request).await {
        Ok(segment) => answer(Some(segment), 200, ""),
        Err(refused) => refused.answer(),
    }
}

/// Takes a segment, as plain text: `currentId,loadingId,maxId,delta,remainder`.
#[utoipa::path(
    get, path = Route::NextSegmentIdSimple.text(),
    operation_id = "tinyidNextSegmentIdSimple", tag = "tinyid",
    params(TinyIdParams),
    responses(
        (status = 200, description = "A segment, or nothing", body = String,
            content_type = "text/plain"),
        (status = 400, description = "batchSize is no number", content(
            (SpringError = "application/json"),
            (String = "text/html"),
        )),
    ),
)]
pub(crate) async fn next_segment_id_simple(
    State(app): State<&'static App>,
    request: Request,
) -> Response {
    match segment(app, request).await {
        Ok(SegmentId { max_id, loading_id, current_id, delta, remainder }) => {
            simple(format!("{current_id},{loading_id},{max_id},{delta},{remainder}"))
        }
        Err(refused) => refused.simple(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(segment: &Segment, table: Table) -> [u64; 5] {
        let SegmentId { max_id, loading_id, current_id, delta, remainder } =
            SegmentId::of(segment, table);
        [current_id, loading_id, max_id, delta, remainder]
    }

    #[test]
    fn segments_are_what_tinyids_readme_says() {
        let test = Segment::new(2, 100_000, 1, 100_001);
        assert_eq!(ids(&test, Table::TinyId), [1, 20_001, 100_001, 1, 0]);
        let odd = Segment::new(3, 50_000, 2, 100_001);
        assert_eq!(ids(&odd, Table::TinyId), [1, 20_001, 100_001, 2, 1]);
        // Leaf's row stores the next number.
        let leaf = Segment::new(1, 2000, 1, 2001);
        assert_eq!(ids(&leaf, Table::Leaf), [0, 400, 2000, 1, 0]);
        // The largest numbers possible: their product with 20 would overflow 64 bits.
        let end = u64::MAX / 2;
        let last = Segment::new(end - 9, 10, 1, end);
        assert_eq!(ids(&last, Table::TinyId), [end - 10, end - 8, end, 1, 0]);
        let all = Segment::new(1, end, 1, end);
        assert_eq!(ids(&all, Table::Own), [0, end / 5, end, 1, 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_batch_size_or_none(text in ".*") {
            if let Some(count) = batch_size(&text) {
                prop_assert!(count <= 100_000);
            }
        }
    }

    #[test]
    fn a_batch_size_is_read_as_spring_reads_it() {
        for (text, expected) in [
            ("", Some(1)),
            (" 7 ", Some(7)),
            ("+7", Some(7)),
            ("0", Some(0)),
            ("-5", Some(0)),
            ("100001", Some(100_000)),
            ("2147483647", Some(100_000)),
            ("2147483648", None),
            ("1.0", None),
            ("abc", None),
            ("--1", None),
        ] {
            assert_eq!(batch_size(text), expected, "{text:?}");
        }
    }
}
