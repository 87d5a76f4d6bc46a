//! `/openapi.json`: the paths and their answers, for programs. It is put together from the
//! descriptions of the handlers.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{
    KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, Type,
};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoParams, IntoResponses, Modify, OpenApi, ToSchema};

use crate::app::App;
use crate::config::options::Options;
use crate::http::compat::tinyid::SegmentId;
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

/// What is answered to a request that is wrong, and by a service that cannot do what it is asked.
pub(crate) enum Problems {}

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let problem = |description: &str| {
            let schema = RefOr::Ref(Ref::from_schema_name("Details"));
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let response = ResponseBuilder::new().description(description);
            response.content("application/problem+json", content)
        };
        let seconds = HeaderBuilder::new().description(Some("In so many seconds")).build();
        let away = problem("There is nothing to give for now").header("Retry-After", seconds);
        let broken = problem("There is nothing to give until somebody mends the cause");
        let wrong = problem("The request is wrong, or not allowed");
        BTreeMap::from([
            ("4XX".to_owned(), wrong.build().into()),
            ("500".to_owned(), broken.build().into()),
            ("503".to_owned(), away.build().into()),
        ])
    }
}

/// A number from 1 to 2^63 - 1, also as text, or null.
pub(crate) fn number_or_text() -> Schema {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let number = number.format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
    let text = ObjectBuilder::new().schema_type(Type::String);
    let text = text.pattern(Some("^[1-9][0-9]{0,18}$"));
    let null = ObjectBuilder::new().schema_type(Type::Null);
    OneOfBuilder::new().item(number).item(text).item(null).into()
}

/// What tinyid's clients send, in the query or in a form.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code)] // it describes what is read without it
pub(crate) struct TinyIdParams {
    /// The tag. Without it there is code 5.
    biz_type: Option<String>,
    /// Needed where there are tokens.
    token: Option<String>,
    /// How many; 1 unless it says otherwise, and 100,000 at most.
    batch_size: Option<i32>,
}

/// What tinyid answers.
#[derive(ToSchema)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) struct NextId {
    /// Numbers, which JavaScript cannot hold above 2^53.
    data: Option<Vec<u64>>,
    /// 200, or 5 for a wrong token, or 6 for a failure.
    code: i32,
    message: String,
}

/// What tinyid answers.
#[derive(ToSchema)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) struct NextSegmentId {
    data: Option<SegmentId>,
    /// 200, or 5 for a wrong token, or 6 for a failure.
    code: i32,
    message: String,
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
