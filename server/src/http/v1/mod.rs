//! `/v1`: uidring's own paths.

pub(crate) mod series;
mod series_rows;
pub(crate) mod tags;
pub(crate) mod uids;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// The answer to a request to create what has this row. What is new has its numbers at `place`.
fn created(was_there: bool, row: impl Serialize, place: String) -> Response {
    let row = Json(row);
    if was_there {
        return row.into_response();
    }
    (StatusCode::CREATED, [(LOCATION, place)], row).into_response()
}
