//! `/v1`, our own paths.

pub(crate) mod tags;
pub(crate) mod uids;

use axum::Router;
use axum::body::Body;
use axum::handler::Handler;
use axum::http::header::ALLOW;
use axum::http::{HeaderName, Request};
use axum::routing::{MethodRouter, get, post, put};

use crate::app::App;
use crate::http::no_such_method;
use crate::http::problem::Problem;

pub(crate) fn routes(app: &App) -> Router<&'static App> {
    let mut router = Router::new();
    if app.options.uids {
        router =
            router.route("/v1/uids", ids(uids::take)).route("/v1/uids/{uid}", get(uids::explain));
    }
    router
        .route("/v1/tags", get(tags::list))
        .route("/v1/tags/{tag}", put(tags::create))
        .route("/v1/tags/{tag}/ids", ids(tags::take))
        .route("/v1/tags/{tag}/segments", post(tags::segment))
}

/// `GET` alone: a `HEAD` would use ids up that nobody sees. Each other method is told the same.
fn ids<T: 'static>(take: impl Handler<T, &'static App>) -> MethodRouter<&'static App> {
    get(take).head(only_get).fallback(only_get)
}

async fn only_get(request: Request<Body>) -> ([(HeaderName, &'static str); 1], Problem) {
    ([(ALLOW, "GET")], no_such_method(request).await)
}
