//! The probes: liveness and readiness.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::condition::Condition;
use crate::app::health::Health;
use crate::app::refusal::refusal;
use crate::app::tags;
use crate::http::describe::Problems;
use crate::http::operator_access::is_administrator;
use crate::http::problem::Problem;
use crate::routes::Route;
use crate::stats::requests::HasFailed;

/// Whether the process is alive.
#[utoipa::path(
    get, path = Route::Live.text(), operation_id = "live", tag = "Operation",
    responses((status = 200, description = "It lives", body = String, content_type = "text/plain")),
)]
pub(crate) async fn live() -> &'static str {
    "ok\n"
}

/// The answer of a ready service.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ready {
    ready: bool,
    /// What is wrong, although the service is ready. Only for an administrator's token.
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
    let health = is_administrator(app, &headers)
        .then(|| Health::of(app, &tags::states(app), &app.series_states()));
    let Some(refusal) = refusal(app) else {
        let conditions = health.map(|health| health.conditions);
        return Json(Ready { ready: true, conditions }).into_response();
    };
    let detail = health.map_or_else(|| refusal.sentence(), |health| health.text);
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "not ready");
    let mut answer = problem.detail(detail).retry_after(1).into_response();
    // A 503 is the correct answer here, so it does not count as a failed request.
    answer.extensions_mut().insert(HasFailed(false));
    answer
}
