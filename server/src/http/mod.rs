//! Requests and their answers.

mod batch;
mod bearer;
mod body;
mod compat;
mod describe;
mod guard;
mod ids;
mod negotiate;
mod no_numbers;
mod numbers;
mod openapi;
mod operators;
mod params;
mod problem;
mod quick;
mod slices;
mod v1;
mod viewer;

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONNECTION};
use axum::http::{HeaderValue, Request, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::future::RouteFuture;
use hyper::body::Incoming;
use tower::Service as _;

use crate::app::App;
use crate::http::problem::Problem;
use crate::process::threads::caught;
use crate::stats::requests::{HasFailed, PathIndex};

/// All paths.
fn router(app: &'static App) -> Router {
    let paths = &app.options.paths;
    let tinyid = if paths.tinyid { compat::tinyid::routes() } else { Router::new() };
    Router::new()
        .merge(operators::health::routes())
        .merge(operators::metrics::routes())
        .merge(openapi::routes(app))
        .merge(operators::page::routes())
        .merge(operators::status::routes())
        .merge(v1::routes(app))
        .merge(compat::leaf::routes(paths))
        .merge(tinyid)
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .with_state(app)
}

async fn no_such_path(request: Request<Body>) -> Problem {
    let path = request.uri().path();
    Problem::new(StatusCode::NOT_FOUND, "no-such-path", "there is no such path").value(path)
}

async fn no_such_method(request: Request<Body>) -> Problem {
    let title = "the path does not have this method";
    let kind = "no-such-method";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, kind, title).value(request.method().as_str())
}

/// Answers the requests of one thread's connections.
#[derive(Clone)]
pub(crate) struct Service {
    app: &'static App,
    router: Router,
}

impl Service {
    pub(crate) fn new(app: &'static App) -> Service {
        Service { app, router: router(app) }
    }
}

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let (app, start) = (self.app, Instant::now());
        let path = PathIndex::of(request.uri().path());
        let quick = caught(|| match guard::check(app, path, &request) {
            Ok(()) => quick::answer(app, &request),
            Err(problem) => Some(problem.into_response()),
        });
        let way = match quick {
            Ok(Some(answer)) => Way::Quick(Some(answer)),
            Ok(None) => Way::Routed(Box::pin(self.router.clone().call(request))),
            Err(panicked) => Way::Quick(Some(Problem::from(panicked).into_response())),
        };
        Answering { app, start, path, way }
    }
}

/// An answer on its way.
pub(crate) struct Answering {
    app: &'static App,
    start: Instant,
    path: PathIndex,
    way: Way,
}

enum Way {
    /// It is there, until it is taken.
    Quick(Option<Response<Body>>),
    Routed(Pin<Box<RouteFuture<Infallible>>>),
}

impl Future for Answering {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (app, path) = (self.app, self.path);
        let mut answer = match &mut self.way {
            Way::Quick(answer) => answer.take().unwrap_or_default(),
            // It is not polled again where it has panicked.
            Way::Routed(routed) => match caught(|| routed.as_mut().poll(context)) {
                Ok(Poll::Ready(answer)) => slices::bounded(app, path, answer?),
                Ok(Poll::Pending) => return Poll::Pending,
                Err(panicked) => Problem::from(panicked).into_response(),
            },
        };
        let status = answer.status().as_u16();
        let failed = answer.extensions().get().copied().unwrap_or(HasFailed(status >= 500));
        app.counters().requests.answered(self.path, status, failed, self.start.elapsed());
        if app.is_ending() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        // All answers pass here. A cache that answers in our place gives an id to two.
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Poll::Ready(Ok(answer))
    }
}
