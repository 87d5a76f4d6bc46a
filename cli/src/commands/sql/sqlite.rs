//! For SQLite, which has no functions in SQL: queries with parameters. Times are texts in UTC.

use uidring::Layout;

use super::arithmetic::{DIGITS, Fields, LENGTH, digits};
use super::{FUNCTIONS, heading};

/// A query for each function.
pub(super) fn queries(layout: &Layout) -> String {
    let fields = Fields::of(layout);
    let queries = FUNCTIONS.iter().map(|function| query(function.name, &fields));
    heading(layout) + &queries.collect::<String>()
}

fn query(name: &str, fields: &Fields) -> String {
    let late = "DATETIME('now', '-' || :seconds || ' seconds')";
    let expression = match name {
        "uid_time" => time(fields),
        "uid_worker" => fields.worker(":id"),
        "uid_sequence" => fields.sequence(":id"),
        "uid_first" => of_time(&fields.first("ms", "/"), ":time"),
        "uid_last" => of_time(&fields.last("ms", "/"), ":time"),
        "uid_base32" => {
            digits(":id", |digit| format!("SUBSTR('{DIGITS}', 1 + {digit}, 1)")).join(" || ")
        }
        "uid_from_base32" => from_base32(),
        _ => of_time(&fields.first("ms", "/"), late),
    };
    format!("SELECT {expression} AS {name};\n")
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

/// `NULL` for a text of no UID.
fn from_base32() -> String {
    let digit = |at: u32| {
        format!("((INSTR('{DIGITS}', SUBSTR(digits, {at}, 1)) - 1) << {})", 5 * (LENGTH - at))
    };
    let sum: Vec<_> = (1..=LENGTH).map(digit).collect();
    let pattern = format!("[0-7]{}", "[0-9A-HJKMNP-TV-Z]".repeat(12));
    format!(
        "(SELECT CASE WHEN digits GLOB '{pattern}' THEN NULLIF({}, 0) END FROM \
         (SELECT REPLACE(REPLACE(REPLACE(UPPER(:text), 'O', '0'), 'I', '1'), 'L', '1') AS digits))",
        sum.join(" | ")
    )
}
