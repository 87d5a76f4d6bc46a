//! From a request to its answer.

use crate::request::{Problem, Request};
use crate::strings::in_strings;
use crate::{apart, plan};

/// The answer to a request, whose `ask` says what is asked for: `apart`, `plan` or `presets`.
#[must_use]
pub fn answer(request: &str) -> String {
    let answered = Request::read(request).and_then(|request| match request.ask() {
        "apart" => apart::answer(&request),
        "plan" => plan::answer(&request),
        "presets" => in_strings(&apart::presets()),
        other => Err(Problem::of("ask", format!("{other:?} is none of apart, plan, presets"))),
    });
    let value = answered.unwrap_or_else(|problem| serde_json::json!({ "problem": problem }));
    value.to_string()
}
