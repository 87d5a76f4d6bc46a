//! `/v1`: uidring's own paths.

pub(crate) mod series;
mod series_rows;
pub(crate) mod series_widening;
pub(crate) mod tags;
pub(crate) mod uids;
pub(crate) mod workers;

use axum::Json;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::app::App;
use crate::http::bearer::bearer;
use crate::http::problem::Problem;
use crate::security::access::{Denied, Permission};

type NamePath = Result<Path<String>, PathRejection>;

/// The name in the path, which is checked further. `bad` is the problem of a bad name.
fn name_in(path: NamePath, bad: impl FnOnce(&str, &str) -> Problem) -> Result<String, Problem> {
    let Path(name) = path?;
    if name == "." || name == ".." {
        let detail = "in an address the name means a folder, and clients and proxies take it out";
        return Err(bad(&name, detail));
    }
    Ok(name)
}

/// Whether the client may see what needs this permission, and whether it sees all, as an
/// administrator does.
fn visible<'a>(
    app: &'a App,
    headers: &'a HeaderMap,
) -> Result<(impl Fn(Permission<'_>) -> bool + 'a, bool), Problem> {
    let token = bearer(headers);
    let is_admin = match app.access.check(token, Permission::Admin) {
        Ok(()) => true,
        Err(Denied::NotAllowed) => false,
        Err(denied) => return Err(denied.into()),
    };
    let is_visible =
        move |permission: Permission<'_>| is_admin || app.access.check(token, permission).is_ok();
    Ok((is_visible, is_admin))
}

/// The answer to a request to create what has this row. What is new has its numbers at `place`.
fn created(was_there: bool, row: impl Serialize, place: String) -> Response {
    let row = Json(row);
    if was_there {
        return row.into_response();
    }
    (StatusCode::CREATED, [(LOCATION, place)], row).into_response()
}
