//! Time-ordered ids.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use jiff::Timestamp;
use serde::Serialize;
use uidring::Uid;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::bearer::bearer;
use crate::http::describe::Problems;
use crate::http::masking::MaskedIds;
use crate::http::problem::Problem;
use crate::http::{ids, negotiate, numbers, params};
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
    app.counters().uids.add(count as u64);
    Ok(match &app.masked {
        None => ids::response(form, &ids::UIDS, uids),
        Some(masked) => ids::response(form, &ids::UIDS, MaskedIds::new(uids, masked)),
    })
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
