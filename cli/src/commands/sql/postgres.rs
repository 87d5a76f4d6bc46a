//! For PostgreSQL, whose functions are immutable: an index may have them.

use uidring::Layout;

use super::arithmetic::{DIGITS, Fields, PATTERN, digits, number};
use super::{Function, Takes, heading};

/// Statements that make the functions, or replace them.
pub(super) fn create(layout: &Layout) -> String {
    let fields = Fields::of(layout);
    let statements = Function::ALL.map(|function| create_one(function, &fields));
    format!("{}BEGIN;\n{}COMMIT;\n", heading(layout), statements.concat())
}

fn create_one(function: Function, fields: &Fields) -> String {
    let name = function.name();
    let (returns, body) = match function {
        Function::Time => ("TIMESTAMPTZ", time(fields)),
        Function::Worker => ("BIGINT", fields.worker("id")),
        Function::Sequence => ("BIGINT", fields.sequence("id")),
        Function::First => ("BIGINT", of_ms(&fields.first("ms", "/"))),
        Function::Last => ("BIGINT", of_ms(&fields.last("ms", "/"))),
        Function::Base32 => ("TEXT", base32()),
        Function::FromBase32 => ("BIGINT", from_base32()),
        Function::SafeBound => ("BIGINT", SAFE_BOUND.to_owned()),
    };
    let kind = match function.takes() {
        Takes::Seconds => "STABLE STRICT",
        _ => "IMMUTABLE STRICT PARALLEL SAFE",
    };
    format!(
        "CREATE OR REPLACE FUNCTION {name}({}) RETURNS {returns}\n    LANGUAGE SQL {kind} AS $$ \
         SELECT {body} $$;\n",
        parameter(function.takes())
    )
}

/// Statements that remove the functions.
pub(super) fn drop() -> String {
    let statement = |function: &Function| {
        let kind = parameter(function.takes()).split_once(' ').map_or("", |(_, kind)| kind);
        format!("DROP FUNCTION IF EXISTS {}({kind});\n", function.name())
    };
    Function::ALL.iter().rev().map(statement).collect()
}

fn parameter(takes: Takes) -> &'static str {
    match takes {
        Takes::Id => "id BIGINT",
        Takes::Time => "moment TIMESTAMPTZ",
        Takes::Text => "base32 TEXT",
        Takes::Seconds => "seconds INTEGER",
    }
}

/// Days, whose number is whole, and what is left: a time far from 1970 has more microseconds than a
/// double can count.
fn time(fields: &Fields) -> String {
    let ms = format!("{} * {} + {}", fields.tick("id"), fields.tick_ms, fields.epoch_ms);
    format!(
        "(TIMESTAMP '1970-01-01' + INTERVAL '1 day' * (({ms}) / 86400000) \
         + INTERVAL '1 millisecond' * (({ms}) % 86400000)) AT TIME ZONE 'UTC'"
    )
}

/// `expression` of `ms`, the milliseconds from 1970 to the parameter. Seconds are a double up to
/// version 13, so they are those of a day, in whole milliseconds.
fn of_ms(expression: &str) -> String {
    format!(
        "{expression} FROM (SELECT (utc::DATE - DATE '1970-01-01')::BIGINT * 86400000 \
         + ROUND(EXTRACT(EPOCH FROM DATE_TRUNC('milliseconds', utc)::TIME) * 1000)::BIGINT AS ms \
         FROM (SELECT moment AT TIME ZONE 'UTC' AS utc) AS utc) AS ms"
    )
}

fn base32() -> String {
    digits("id", |digit| format!("SUBSTR('{DIGITS}', 1 + {digit}::INT, 1)")).join(" || ")
}

/// `NULL` for a text of no UID.
fn from_base32() -> String {
    let value = |at| format!("(STRPOS('{DIGITS}', SUBSTR(digits, {at}, 1)) - 1)::BIGINT");
    format!(
        "CASE WHEN digits ~ '^{PATTERN}$' THEN {} END \
         FROM (SELECT TRANSLATE(base32, 'abcdefghjkmnpqrstvwxyzoOiIlL', \
         'ABCDEFGHJKMNPQRSTVWXYZ001111') AS digits) AS digits",
        number(value)
    )
}

/// Not after the oldest transaction that still runs, and `NULL` for who may not see all of them.
const SAFE_BOUND: &str = "uid_first(LEAST(NOW(), \
    (SELECT MIN(xact_start) FROM pg_stat_activity), \
    (SELECT MIN(prepared) FROM pg_prepared_xacts)) - INTERVAL '1 second' * seconds) \
    WHERE PG_HAS_ROLE('pg_read_all_stats', 'USAGE') AND NOT PG_IS_IN_RECOVERY()";
