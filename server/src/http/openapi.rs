//! `/openapi.json`: the machine-readable description of paths and answers. `router.rs` assembles it
//! from the descriptions of the handlers.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use utoipa::Modify;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};

use crate::app::App;
use crate::config::options::Options;
use crate::routes::Route;

/// Adds the security scheme to the description. Tokens are required only if some are configured.
pub(crate) struct Tokens;

impl Modify for Tokens {
    fn modify(&self, description: &mut OpenApi) {
        let components = description.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", scheme);
        let none = SecurityRequirement::default();
        let token = SecurityRequirement::new::<_, [&str; 0], &str>("token", []);
        description.security = Some(vec![none, token]);
    }
}

/// This description.
#[utoipa::path(
    get, path = Route::OpenApi.text(), operation_id = "describe", tag = "Operation",
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub(crate) async fn describe(
    State(app): State<&'static App>,
) -> ([(HeaderName, &'static str); 1], Bytes) {
    ([(CONTENT_TYPE, "application/json")], app.description.get().cloned().unwrap_or_default())
}

/// The description as JSON, with only the paths that are enabled.
pub(crate) fn text(mut description: OpenApi, options: &Options) -> Bytes {
    env!("CARGO_PKG_VERSION").clone_into(&mut description.info.version);
    let is_on = |path: &str| Route::find(path).is_some_and(|(route, _)| options.has(route));
    description.paths.paths.retain(|path, _| is_on(path));
    // Serialization cannot fail here.
    serde_json::to_vec(&description).unwrap_or_default().into()
}
