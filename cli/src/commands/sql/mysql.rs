//! For MySQL and MariaDB. Times are `DATETIME` in UTC.

use uidring::Layout;

use super::arithmetic::{DIGITS, Fields, PATTERN, digits, number};
use super::{Function, Takes, heading};

/// Statements that make the functions anew.
pub(super) fn create(layout: &Layout) -> String {
    let fields = Fields::of(layout);
    let statements = Function::ALL.map(|function| create_one(function, &fields));
    heading(layout) + &statements.concat()
}

fn create_one(function: Function, fields: &Fields) -> String {
    let name = function.name();
    let ms = "FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', moment) / 1000)";
    let (returns, body) = match function {
        Function::Time => ("DATETIME(3)", time(fields)),
        Function::Worker => ("BIGINT", fields.worker("id")),
        Function::Sequence => ("BIGINT", fields.sequence("id")),
        Function::First => ("BIGINT", fields.first(ms, "DIV")),
        Function::Last => ("BIGINT", fields.last(ms, "DIV")),
        Function::Base32 => ("CHAR(13)", base32()),
        Function::FromBase32 => ("BIGINT", from_base32()),
        Function::SafeBound => ("BIGINT", SAFE_BOUND.to_owned()),
    };
    let (parameter, kind) = match function.takes() {
        Takes::Id => ("id BIGINT", "DETERMINISTIC"),
        Takes::Time => ("moment DATETIME(6)", "DETERMINISTIC"),
        Takes::Text => ("base32 VARCHAR(255) CHARACTER SET utf8mb4", "DETERMINISTIC"),
        Takes::Seconds => ("seconds INT", "NOT DETERMINISTIC"),
    };
    format!(
        "DROP FUNCTION IF EXISTS {name};\n\
         CREATE FUNCTION {name}({parameter}) RETURNS {returns}\n    \
         {kind} NO SQL SQL SECURITY INVOKER RETURN {body};\n"
    )
}

/// Statements that remove the functions.
pub(super) fn drop() -> String {
    let statement = |function: Function| format!("DROP FUNCTION IF EXISTS {};\n", function.name());
    Function::ALL.map(statement).concat()
}

/// Operators on bits make unsigned numbers, which a difference may not go below.
fn time(fields: &Fields) -> String {
    let tick = format!("CAST({} AS SIGNED)", fields.tick("id"));
    let ms = format!("({tick} * {} + {})", fields.tick_ms, fields.epoch_ms);
    format!("TIMESTAMPADD(MICROSECOND, {ms} * 1000, CAST('1970-01-01' AS DATETIME(3)))")
}

fn base32() -> String {
    let digits = digits("id", |digit| format!("SUBSTR('{DIGITS}', 1 + {digit}, 1)"));
    format!("CONCAT({})", digits.join(", "))
}

/// `NULL` for a text of no UID. A letter that another case makes one of ASCII has two bytes.
fn from_base32() -> String {
    let text = "UPPER(base32)";
    let text = [("O", "0"), ("I", "1"), ("L", "1")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| format!("REPLACE({text}, '{from}', '{to}')"));
    let value = |at| format!("(LOCATE(SUBSTR({text}, {at}, 1), '{DIGITS}') - 1)");
    format!(
        "CASE WHEN LENGTH(base32) = 13 AND {text} REGEXP '^{PATTERN}$' THEN {} END",
        number(value)
    )
}

const SAFE_BOUND: &str = "uid_first(UTC_TIMESTAMP(6) - INTERVAL seconds SECOND)";
