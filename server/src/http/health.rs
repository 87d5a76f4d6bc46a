//! Whether the process lives, and whether it can give ids.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;
use crate::http::openapi::Problems;
use crate::http::problem::Problem;

pub(crate) fn routes() -> Router<&'static App> {
    Router::new().route("/livez", get(live)).route("/readyz", get(ready))
}

/// Whether the process lives.
#[utoipa::path(
    get, path = "/livez", operation_id = "live", tag = "Operation",
    responses((status = 200, description = "It lives", body = String, content_type = "text/plain")),
)]
pub(crate) async fn live() -> &'static str {
    "ok\n"
}

/// Whether the service can give ids.
#[utoipa::path(
    get, path = "/readyz", operation_id = "ready", tag = "Operation",
    responses(
        (status = 200, description = "It is", body = String, content_type = "text/plain"),
        Problems,
    ),
)]
pub(crate) async fn ready(State(app): State<&'static App>) -> Response {
    match app.trouble() {
        None => "ok\n".into_response(),
        Some(trouble) => {
            let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "not ready");
            problem.detail(trouble).retry_after(1).into_response()
        }
    }
}
