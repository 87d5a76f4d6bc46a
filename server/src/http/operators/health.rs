//! Whether the process lives, and whether it can give ids.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::condition::Condition;
use crate::app::health::{self, Health};
use crate::app::tags;
use crate::http::describe::Problems;
use crate::http::problem::Problem;
use crate::http::viewer::is_administrator;
use crate::routes::Route;
use crate::stats::requests::HasFailed;

/// Whether the process lives.
#[utoipa::path(
    get, path = Route::Live.text(), operation_id = "live", tag = "Operation",
    responses((status = 200, description = "It lives", body = String, content_type = "text/plain")),
)]
pub(crate) async fn live() -> &'static str {
    "ok\n"
}

/// What is said of a service that is ready.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ready {
    ready: bool,
    /// For an administrator's token alone: what is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<Vec<Condition>>,
}

/// Whether the service has started, is not ending, and can give something of what was asked for in
/// the last minute, be it from memory.
#[utoipa::path(
    get, path = Route::Ready.text(), operation_id = "ready", tag = "Operation",
    responses((status = 200, description = "It is", body = Ready), Problems),
)]
pub(crate) async fn ready(State(app): State<&'static App>, headers: HeaderMap) -> Response {
    let health = is_administrator(app, &headers).then(|| Health::of(app, &tags::all(app)));
    let Some(refusal) = health::refusal(app) else {
        let conditions = health.map(|health| health.conditions);
        return Json(Ready { ready: true, conditions }).into_response();
    };
    let detail = health.map_or_else(|| refusal.sentence(), |health| health.text);
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "not ready");
    let mut answer = problem.detail(detail).retry_after(1).into_response();
    // It is what was asked for.
    answer.extensions_mut().insert(HasFailed(false));
    answer
}
