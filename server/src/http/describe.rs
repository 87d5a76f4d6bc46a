//! Shared parts of the OpenAPI description.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{
    KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, Type,
};
use utoipa::openapi::{Ref, RefOr, Response, ResponseBuilder};

/// The error answers of all handlers.
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

/// A number from 1 to 2^63 - 1, as a number, a text, or null.
pub(crate) fn number_or_text() -> Schema {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let number = number.format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
    let text = ObjectBuilder::new().schema_type(Type::String);
    let text = text.pattern(Some("^[1-9][0-9]{0,18}$"));
    let null = ObjectBuilder::new().schema_type(Type::Null);
    OneOfBuilder::new().item(number).item(text).item(null).into()
}
