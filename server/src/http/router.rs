//! The handlers of all paths and their OpenAPI descriptions.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::handler::Handler;
use axum::http::header::ALLOW;
use axum::http::{HeaderName, Request, StatusCode};
use axum::routing::{MethodRouter, get, post, put};
use utoipa::OpenApi;

use crate::app::App;
use crate::config::options::Options;
use crate::http::compat::spring::any;
use crate::http::compat::{leaf, tinyid};
use crate::http::openapi::{self, Tokens};
use crate::http::operators::{health, metrics, page, status};
use crate::http::problem::{Details, Problem};
use crate::http::v1;
use crate::routes::Route;

/// Maps each path to its handlers by method, and generates their OpenAPI description.
macro_rules! handlers {
    ($(
        $route:ident => $methods:ident($($handler:ident)::+)
            $(.$more:ident($($other:ident)::+))*,
    )*) => {
        #[derive(OpenApi)]
        #[openapi(
            info(
                title = "uidring-server",
                description = "Time-ordered ids, dense numbers, series of numbers, and lent worker \
                    ids. Ids are strings in JSON, because JavaScript has no exact numbers above \
                    2^53. An Accept that is not met is answered with 406, and a method that a path \
                    does not have with 405, both as problems."
            ),
            paths($($($handler)::+, $($($other)::+,)*)*),
            components(schemas(Details)),
            modifiers(&Tokens)
        )]
        struct Description;

        /// The handlers of a path, unless it is a file of the page.
        fn endpoint(route: Route) -> Option<MethodRouter<&'static App>> {
            match route {
                $(Route::$route => Some($methods($($handler)::+)$(.$more($($other)::+))*),)*
                Route::PageFile => None,
            }
        }
    };
}

handlers! {
    Uids => ids(v1::uids::take).post(v1::uids::take_times),
    TagIds => ids(v1::tags::take),
    LeafSegment => any(leaf::segment),
    NextIdSimple => any(tinyid::next_id_simple),
    NextId => any(tinyid::next_id),
    LeafSnowflake => any(leaf::snowflake),
    TagSegments => post(v1::tags::segment),
    NextSegmentIdSimple => any(tinyid::next_segment_id_simple),
    NextSegmentId => any(tinyid::next_segment_id),
    Uid => get(v1::uids::explain),
    Tags => get(v1::tags::list),
    Tag => put(v1::tags::create),
    SeriesNumbers => post(v1::series::take),
    SeriesWidening => post(v1::series_widening::widen),
    AllSeries => get(v1::series::list),
    OneSeries => get(v1::series::show).put(v1::series::create),
    Pools => get(v1::workers::list).post(v1::workers::lend),
    Pool => get(v1::workers::show),
    Loan => put(v1::workers::renew).delete(v1::workers::give_back),
    Status => get(status::status),
    Live => get(health::live),
    Ready => get(health::ready),
    Metrics => get(metrics::metrics),
    OpenApi => get(openapi::describe),
    Page => get(page::page),
    LeafDecode => any(leaf::decode),
    LeafCache => any(leaf::cache),
    LeafDb => any(leaf::db),
}

/// Routes all enabled paths.
pub(crate) fn router(app: &'static App) -> Router {
    let mut router = Router::new();
    for route in Route::ALL.into_iter().filter(|&route| app.options.has(route)) {
        let path = route.text();
        let Some(endpoint) = endpoint(route) else {
            for (name, kind, text) in page::FILES {
                router = router.route(&path.replace("{file}", name), page::file(kind, text));
            }
            continue;
        };
        if route.ignores_slash() {
            router = router.route(&format!("{path}/"), endpoint.clone());
        }
        router = router.route(path, endpoint);
    }
    router.fallback(no_such_path).method_not_allowed_fallback(no_such_method).with_state(app)
}

/// The OpenAPI description of all enabled paths.
pub(crate) fn description(options: &Options) -> Bytes {
    openapi::text(Description::openapi(), options)
}

async fn no_such_path(request: Request<Body>) -> Problem {
    let path = request.uri().path();
    let problem = Problem::new(StatusCode::NOT_FOUND, "no-such-path", "there is no such path");
    let problem = problem.value(path);
    // Only a path that is off comes here with an option: one that is on has a handler, and files of
    // the page need none.
    match Route::find(path).and_then(|(route, _)| route.option()) {
        Some(option) => problem.detail(format!("this path is off: {option} turns it on")),
        None => problem,
    }
}

async fn no_such_method(request: Request<Body>) -> Problem {
    let title = "the path does not have this method";
    let kind = "no-such-method";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, kind, title).value(request.method().as_str())
}

/// Allows `GET` and no `HEAD`, which would use up ids that nobody sees. All other methods get the
/// same error.
fn ids<T: 'static>(take: impl Handler<T, &'static App>) -> MethodRouter<&'static App> {
    get(take).head(only_get).fallback(only_get)
}

async fn only_get(request: Request<Body>) -> ([(HeaderName, &'static str); 1], Problem) {
    let is_uids = matches!(Route::find(request.uri().path()), Some((Route::Uids, _)));
    let allowed = if is_uids { "GET,POST" } else { "GET" };
    ([(ALLOW, allowed)], no_such_method(request).await)
}

#[cfg(test)]
mod tests {
    use utoipa::OpenApi as _;

    use super::*;

    #[test]
    fn each_path_is_described_but_the_files_of_the_page() {
        let described = Description::openapi().paths.paths;
        for route in Route::ALL {
            let is_described = described.contains_key(route.text());
            assert_eq!(is_described, route != Route::PageFile, "{route:?}");
        }
        assert_eq!(described.len(), Route::ALL.len() - 1);
    }
}
