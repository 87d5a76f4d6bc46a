//! HTTP requests and their answers.

pub(crate) mod batch;
mod bearer;
mod body;
mod compat;
mod cross_site;
mod describe;
mod fast_path;
pub(crate) mod idempotency;
pub(crate) mod ids;
pub(crate) mod loans;
pub(crate) mod masking;
mod negotiate;
pub(crate) mod numbers;
mod openapi;
mod operator_access;
mod operators;
pub(crate) mod params;
pub(crate) mod problem;
mod router;
pub(crate) mod series_numbers;
pub(crate) mod series_problem;
mod slices;
pub(crate) mod take_failure;
mod v1;

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONNECTION};
use axum::http::{HeaderValue, Request, Response};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use tower::Service as _;

use crate::app::App;
use crate::http::problem::Problem;
use crate::process::threads::caught;
use crate::routes::Route;
use crate::stats::requests::HasFailed;

/// The HTTP service of one thread.
#[derive(Clone)]
pub(crate) struct Service {
    app: &'static App,
    router: Router,
}

impl Service {
    pub(crate) fn new(app: &'static App) -> Service {
        // The first thread creates the description for all.
        app.description.get_or_init(|| router::description(&app.options));
        Service { app, router: router::router(app) }
    }

    /// The answer of the handler of a path. What clients ask for waits for the start.
    fn routed(&self, route: Option<Route>, request: Request<Incoming>) -> Routed {
        let (app, mut router) = (self.app, self.router.clone());
        if app.has_started() || route.is_none_or(Route::is_for_operators) {
            return Box::pin(router.call(request));
        }
        Box::pin(async move {
            app.first_try().await;
            router.call(request).await
        })
    }
}

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let (app, start) = (self.app, Instant::now());
        let found = Route::find(request.uri().path());
        let route = found.map(|(route, _)| route);
        let quick = caught(|| match cross_site::check(app, route, &request) {
            Ok(()) => fast_path::answer(app, found, &request),
            Err(problem) => Some(problem.into_response()),
        });
        let state = match quick {
            Ok(Some(answer)) => AnswerState::Quick(Some(answer)),
            Ok(None) => AnswerState::Routed(self.routed(route, request)),
            Err(panicked) => AnswerState::Quick(Some(Problem::from(panicked).into_response())),
        };
        Answering { app, start, route, state }
    }
}

/// A response being computed.
pub(crate) struct Answering {
    app: &'static App,
    start: Instant,
    /// `None` for an unknown path.
    route: Option<Route>,
    state: AnswerState,
}

enum AnswerState {
    /// A response that is ready. `None` once it has been taken.
    Quick(Option<Response<Body>>),
    Routed(Routed),
}

type Routed = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

impl Future for Answering {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (app, route) = (self.app, self.route);
        let mut answer = match &mut self.state {
            AnswerState::Quick(answer) => answer.take().unwrap_or_default(),
            // Not polled again after a panic.
            AnswerState::Routed(routed) => match caught(|| routed.as_mut().poll(context)) {
                Ok(Poll::Ready(answer)) => slices::bounded(app, route, answer?),
                Ok(Poll::Pending) => return Poll::Pending,
                Err(panicked) => Problem::from(panicked).into_response(),
            },
        };
        let status = answer.status().as_u16();
        let failed = answer.extensions().get().copied().unwrap_or(HasFailed(status >= 500));
        app.counters().requests.answered(self.route, status, failed, self.start.elapsed());
        if app.is_ending() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        // All answers pass here. If a cache answered instead of the service, two clients would get
        // the same id.
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Poll::Ready(Ok(answer))
    }
}
