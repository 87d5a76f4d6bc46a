//! Answers without numbers.

use serde::Serialize;
use serde_json::Value;

use crate::request::Problem;

/// `value` as JSON, with a string for each number.
pub(crate) fn in_strings(value: &impl Serialize) -> Result<Value, Problem> {
    let mut value = serde_json::to_value(value)
        .map_err(|error| Problem::of("ask", format!("cannot write the answer: {error}")))?;
    write_numbers(&mut value);
    Ok(value)
}

fn write_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => *value = Value::String(number.to_string()),
        Value::Array(values) => values.iter_mut().for_each(write_numbers),
        Value::Object(members) => members.values_mut().for_each(write_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
