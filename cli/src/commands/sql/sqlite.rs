//! For SQLite, which has no functions in SQL: queries with parameters. Times are texts in UTC.

use uidring::Layout;

use super::arithmetic::{DIGITS, Fields, digits, number};
use super::{Function, heading};

/// A query for each function.
pub(super) fn queries(layout: &Layout) -> String {
    let fields = Fields::of(layout);
    let queries = Function::ALL.map(|function| query(function, &fields));
    heading(layout) + &queries.concat()
}

fn query(function: Function, fields: &Fields) -> String {
    let late = "DATETIME('now', '-' || :seconds || ' seconds')";
    let expression = match function {
        Function::Time => time(fields),
        Function::Worker => fields.worker(":id"),
        Function::Sequence => fields.sequence(":id"),
        Function::First => of_time(&fields.first("ms", "/"), ":time"),
        Function::Last => of_time(&fields.last("ms", "/"), ":time"),
        Function::Base32 => {
            digits(":id", |digit| format!("SUBSTR('{DIGITS}', 1 + {digit}, 1)")).join(" || ")
        }
        Function::FromBase32 => from_base32(),
        Function::SafeBound => of_time(&fields.first("ms", "/"), late),
    };
    format!("SELECT {expression} AS {};\n", function.name())
}

/// `expression` of `ms`, the milliseconds from 1970 to `time`.
fn of_time(expression: &str, time: &str) -> String {
    format!(
        "(SELECT {expression} FROM (SELECT CAST(STRFTIME('%s', time) AS INTEGER) * 1000 \
         + CAST(SUBSTR(STRFTIME('%f', time), 4) AS INTEGER) AS ms FROM (SELECT {time} AS time)))"
    )
}

fn time(fields: &Fields) -> String {
    let ms = format!("{} * {} + {}", fields.tick(":id"), fields.tick_ms, fields.epoch_ms);
    format!("STRFTIME('%Y-%m-%dT%H:%M:%fZ', ({ms}) / 1000.0, 'unixepoch')")
}

/// `NULL` for a text of no UID. SQLite compiles no regular expressions in.
fn from_base32() -> String {
    let value = |at| format!("(INSTR('{DIGITS}', SUBSTR(digits, {at}, 1)) - 1)");
    let pattern = format!("[0-7]{}", "[0-9A-HJKMNP-TV-Z]".repeat(12));
    format!(
        "(SELECT CASE WHEN digits GLOB '{pattern}' THEN {} END FROM \
         (SELECT REPLACE(REPLACE(REPLACE(UPPER(:text), 'O', '0'), 'I', '1'), 'L', '1') AS digits))",
        number(value)
    )
}
