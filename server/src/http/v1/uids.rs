//! Time-ordered ids.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uidring::{TakeAtError, TakeTimesError, Uid};
use utoipa::ToSchema;

use crate::app::App;
use crate::config::db::StoreFailure;
use crate::http::batch::{BYTES_PER_ID_OF_ANY, Batch, Ids};
use crate::http::bearer::bearer;
use crate::http::describe::Problems;
use crate::http::masking::MaskedIds;
use crate::http::negotiate::Form;
use crate::http::numbers::run_blocking;
use crate::http::problem::{self, Problem};
use crate::http::{body, ids, negotiate, numbers, params};
use crate::routes::Route;
use crate::security::access::Permission;

/// Takes UIDs, as JSON, one per line, or eight bytes each, little-endian.
#[utoipa::path(
    get, path = Route::Uids.text(), operation_id = "takeUids", tag = "Time-ordered ids",
    params(
        ("n" = Option<u32>, Query, description = "How many; 1 unless it says otherwise",
            minimum = 1, maximum = 100_000),
    ),
    responses(
        (status = 200, description = "The UIDs, in ascending order unless they are masked",
            content(
            (Uids = "application/json"),
            (String = "text/plain"),
            (Vec<u8> = "application/octet-stream"),
        )),
        Problems,
    ),
)]
pub(crate) async fn take(
    State(app): State<&'static App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    app.access.check(bearer(&headers), Permission::Uids)?;
    let count = params::count(query.as_deref())?;
    let form = negotiate::form(&headers)?;
    let uids = numbers::take_uids(app, ("uids", app.uids()?), count).await?;
    Ok(answer(app, form, uids))
}

/// The answer with these UIDs, masked if they are to be.
fn answer(app: &'static App, form: Form, uids: Ids) -> Response {
    app.counters().uids.add(uids.len() as u64);
    match &app.masked {
        None => ids::response(form, &ids::UIDS, uids),
        Some(masked) => ids::response(form, &ids::UIDS, MaskedIds::new(uids, masked)),
    }
}

/// The times whose UIDs are taken.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedTimes {
    /// Each is a time that was, in RFC 3339, or a date, which begins at midnight UTC.
    #[schema(min_items = 1, max_items = 100_000)]
    times: Vec<String>,
}

/// Takes UIDs of times that were, one for each, in their order: for rows that are older than their
/// ids. Nothing is taken if one of the times has none.
#[utoipa::path(
    post, path = Route::Uids.text(), operation_id = "takeUidsOfThePast", tag = "Time-ordered ids",
    request_body = WantedTimes,
    responses(
        (status = 200, description = "The UIDs, in the order of the times",
            content(
            (Uids = "application/json"),
            (String = "text/plain"),
            (Vec<u8> = "application/octet-stream"),
        )),
        Problems,
    ),
)]
pub(crate) async fn take_times(
    State(app): State<&'static App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    app.access.check(bearer(&headers), Permission::Uids)?;
    let form = negotiate::form(&headers)?;
    let title = "the body does not say which times to take ids of";
    let WantedTimes { times } = body::json(app, &headers, body, title, "has times").await?;
    let times = params::times(&times)?;
    let layout = *app.uids()?.layout();
    let mut batch = Batch::with_room(app, times.len(), BYTES_PER_ID_OF_ANY).await?;
    let take = move || {
        let past = app.past.generator(&app.options.generator.registry_config(), layout)?;
        Ok(past.take_times(&times)?)
    };
    let uids = run_blocking(&app.calls, take).await?;
    let uids: Vec<Uid> = uids.map_err(|none: PastFailure| none.problem())?;
    for uid in &uids {
        batch.push(uid.get());
    }
    Ok(answer(app, form, batch.finish()))
}

/// Why there are no UIDs of times that were.
enum PastFailure {
    Store(StoreFailure),
    Times(TakeTimesError),
}

impl From<StoreFailure> for PastFailure {
    fn from(error: StoreFailure) -> PastFailure {
        PastFailure::Store(error)
    }
}

impl From<TakeTimesError> for PastFailure {
    fn from(error: TakeTimesError) -> PastFailure {
        PastFailure::Times(error)
    }
}

impl PastFailure {
    /// The log has what clients are not told.
    fn problem(self) -> Problem {
        let error = match self {
            PastFailure::Store(error) => error,
            PastFailure::Times(TakeTimesError { cause: TakeAtError::Registry(error), .. }) => {
                error.into()
            }
            PastFailure::Times(error) => return of_time(&error),
        };
        tracing::warn!(problem = error.problem, "no ids of the past");
        let detail = error.cause.sentence().to_owned();
        if error.is_transient { problem::for_now(detail) } else { problem::broken(detail) }
    }
}

fn of_time(error: &TakeTimesError) -> Problem {
    match error.cause {
        TakeAtError::NoNewWorker { retry_in: Some(_), .. } => problem::for_now(error.to_string()),
        TakeAtError::BeforeEpoch { .. }
        | TakeAtError::Future { .. }
        | TakeAtError::AfterEnd { .. } => {
            Problem::bad_request("no-id-of-time", "a time has no ids").detail(error.to_string())
        }
        _ => problem::broken(error.to_string()),
    }
}

/// Time-ordered ids.
#[derive(ToSchema)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) struct Uids {
    uids: Vec<String>,
}

/// The parts of a UID.
#[derive(Serialize, ToSchema)]
pub(crate) struct Explained {
    /// As the generator made it.
    uid: String,
    /// As it was asked for, where UIDs are masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    masked: Option<String>,
    base32: String,
    time: String,
    worker: String,
    sequence: String,
}

/// Decodes a UID.
///
/// Where UIDs are masked, it is masked in the path, and with tokens, only an administrator may ask
/// what it stands for.
#[utoipa::path(
    get, path = Route::Uid.text(), operation_id = "explainUid", tag = "Time-ordered ids",
    params(("uid" = String, Path, description = "A UID", pattern = "^[1-9][0-9]{0,18}$")),
    responses((status = 200, description = "Its parts", body = Explained), Problems),
)]
pub(crate) async fn explain(
    State(app): State<&'static App>,
    headers: HeaderMap,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Explained>, Problem> {
    let Path(text) = path?;
    if app.masked.is_some() {
        // The answer has all that a mask hides.
        app.access.check(bearer(&headers), Permission::Admin)?;
    }
    let number = params::number(&text, Uid::MAX.get()).and_then(Uid::new);
    let asked = number.ok_or_else(|| {
        Problem::bad_request("bad-uid", "this is not a UID")
            .detail(format!("a UID is a whole number from 1 to {}", Uid::MAX))
            .value(&text)
    })?;
    // Each number in the range unmasks to a UID.
    let unmasked = app.masked.as_ref().and_then(|masked| masked.unmask(asked.get()).ok());
    let uid = unmasked.unwrap_or(asked);
    let parts = app.uids()?.layout().parts(uid);
    let time = Timestamp::try_from(parts.time).map_err(|_| {
        Problem::bad_request("far-uid", "the time of the UID is after the year 9999").value(&text)
    })?;
    Ok(Json(Explained {
        uid: uid.to_string(),
        masked: unmasked.map(|_| asked.to_string()),
        base32: uid.base32().to_string(),
        time: time.to_string(),
        worker: parts.worker.to_string(),
        sequence: parts.sequence.to_string(),
    }))
}
