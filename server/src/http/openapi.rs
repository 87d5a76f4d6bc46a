//! `/openapi.json`: the paths and their answers, for programs. It is put together from the
//! descriptions of the handlers.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::app::App;
use crate::config::options::Options;
use crate::http::compat::{leaf, tinyid};
use crate::http::operators::{health, metrics, page, status};
use crate::http::problem::Details;
use crate::http::v1;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "uidring-server",
        description = "Time-ordered ids and dense numbers. Ids are strings in JSON, because \
            JavaScript has no exact numbers above 2^53. An Accept that is not met is answered with \
            406, and a method that a path does not have with 405, both as problems."
    ),
    paths(
        v1::uids::take, v1::uids::explain,
        v1::tags::list, v1::tags::create, v1::tags::take, v1::tags::segment,
        leaf::segment, leaf::snowflake, leaf::decode, leaf::cache, leaf::db,
        tinyid::next_id, tinyid::next_id_simple,
        tinyid::next_segment_id, tinyid::next_segment_id_simple,
        health::live, health::ready, metrics::metrics, status::status, page::page, describe
    ),
    components(schemas(Details)),
    modifiers(&Tokens)
)]
struct Description;

/// Tokens are needed only where there are some.
struct Tokens;

impl Modify for Tokens {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let components = description.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", scheme);
        let none = SecurityRequirement::default();
        let token = SecurityRequirement::new::<_, [&str; 0], &str>("token", []);
        description.security = Some(vec![none, token]);
    }
}

pub(crate) fn routes(app: &App) -> Router<&'static App> {
    // A description is JSON.
    let text = serde_json::to_vec(&description(&app.options)).unwrap_or_default();
    let text = Bytes::from(text);
    Router::new().route("/openapi.json", get(move || async move { describe(text) }))
}

/// What you read.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "describe", tag = "Operation",
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub(crate) fn describe(text: Bytes) -> ([(axum::http::HeaderName, &'static str); 1], Bytes) {
    ([(CONTENT_TYPE, "application/json")], text)
}

/// The paths that are on.
fn description(options: &Options) -> utoipa::openapi::OpenApi {
    let paths = &options.paths;
    let is_on = |path: &str| match path {
        "/cache" | "/db" => paths.leaf_segment,
        "/decodeSnowflakeId" => paths.leaf_segment || paths.leaf_snowflake,
        _ if path.starts_with("/api/segment/") => paths.leaf_segment,
        _ if path.starts_with("/api/snowflake/") => paths.leaf_snowflake,
        _ if path.starts_with("/tinyid/") => paths.tinyid,
        _ if path.starts_with("/v1/uids") => options.uids,
        _ => true,
    };
    let mut description = Description::openapi();
    env!("CARGO_PKG_VERSION").clone_into(&mut description.info.version);
    description.paths.paths.retain(|path, _| is_on(path));
    description
}

#[cfg(test)]
mod tests {
    use utoipa::OpenApi;

    use super::Description;
    use crate::stats::requests::{TEMPLATES, Template};

    #[test]
    fn each_path_is_counted_by_its_template() {
        let templates: Vec<String> = TEMPLATES.iter().map(Template::text).collect();
        for path in Description::openapi().paths.paths.keys() {
            assert!(templates.contains(path), "{path} is not among the templates");
        }
    }
}
