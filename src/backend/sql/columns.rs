//! The columns of a schema, and what is said where a table lacks some of them.
//!
//! A table that an older version of this library has made lacks the columns that came later. These
//! may be empty or have a default, so that somebody can add them while programs run, and so that
//! older programs, which name the columns that they write, go on.

use super::{Cause, Error, Schema, statements};

/// A column, as a schema makes it.
#[derive(Debug, PartialEq)]
struct Column {
    name: String,
    /// What stands behind the name: its type and its conditions.
    definition: String,
}

impl Column {
    /// Whether it can be added to a table that has rows, in each kind of database.
    fn can_be_added(&self) -> bool {
        let definition = &self.definition;
        let has_default = definition.contains(" DEFAULT ") && !definition.contains(" DEFAULT (");
        !definition.contains("PRIMARY KEY") && (has_default || !definition.contains("NOT NULL"))
    }
}

/// The tables that came after the first version of the schema that is read. A store of an older
/// uidring has none of them.
const ADDED: [&str; 2] = ["uidring_pool", "uidring_loan"];

/// What is said where the tables `missing` are not there, and an older uidring may have made the
/// others. `None` where all versions have had some of them, or one was made and is gone.
pub fn missing_tables(schema: &Schema, missing: &[&str]) -> Option<Error> {
    if missing.len() != ADDED.len() || !missing.iter().all(|table| ADDED.contains(table)) {
        return None;
    }
    let all = statements(schema.sql);
    let theirs = all
        .split(";\n")
        .filter(|statement| missing.iter().any(|table| statement.contains(&format!(" {table} ("))));
    let made: String = theirs
        .map(|statement| statement.split_whitespace().collect::<Vec<_>>().join(" ") + "; ")
        .collect();
    Some(Error::problem(format!(
        "its tables {} are not there; see that nobody has removed them; if an older uidring has \
         made the others, run this there, which programs that are running do not mind: {}",
        missing.join(" and "),
        made.trim_end()
    )))
}

/// The columns of a table of the schema, in its order.
fn columns_of(schema: &str, table: &str) -> Vec<Column> {
    let schema = statements(schema);
    let begin = format!("CREATE TABLE IF NOT EXISTS {table} (");
    let Some((_, rest)) = schema.split_once(&begin) else { return Vec::new() };
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for letter in rest.chars() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    // Names are in small letters, and what begins a condition of the table is not.
    let column = |part: &String| {
        let mut words = part.split_whitespace();
        let name =
            words.next().filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))?;
        Some(Column { name: name.to_owned(), definition: words.collect::<Vec<_>>().join(" ") })
    };
    parts.iter().filter_map(column).collect()
}

/// What is wrong with the tables of the schema, for a caller whose statement did not fit them:
/// `columns` returns those of a table that is there, in capitals. `None` where all columns are
/// there, or whole tables are missing.
pub fn missing_columns(
    schema: &Schema,
    mut columns: impl FnMut(&str) -> Result<Vec<String>, Error>,
) -> Result<Option<Error>, Error> {
    for table in schema.tables {
        let there = columns(table)?;
        let mut missing = columns_of(schema.sql, table);
        missing.retain(|column| !there.contains(&column.name.to_uppercase()));
        if there.is_empty() || missing.is_empty() {
            continue;
        }
        let names: Vec<&str> = missing.iter().map(|column| &*column.name).collect();
        let s = if names.len() == 1 { "" } else { "s" };
        let found = format!("its table {table} does not have the column{s} {}", names.join(", "));
        if !missing.iter().all(Column::can_be_added) {
            return Ok(Some(Error::IncompatibleTables(Some(Cause::from(found)))));
        }
        let added: Vec<String> = missing
            .iter()
            .map(|Column { name, definition }| {
                format!("ALTER TABLE {table} ADD COLUMN {name} {definition};")
            })
            .collect();
        return Ok(Some(Error::problem(format!(
            "{found}; if an older uidring has made it, run this there, which programs that are \
             running do not mind: {}",
            added.join(" ")
        ))));
    }
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;

    const SCHEMAS: [&str; 3] = [
        include_str!("../../../schema.sql"),
        include_str!("../../../schema.postgres.sql"),
        include_str!("../../../schema.mysql.sql"),
    ];

    const SCHEMA: Schema = Schema {
        sql: "BEGIN;\nCREATE TABLE IF NOT EXISTS tags (\n    -- Its name, so to speak.\n    \
              tag VARCHAR(9) PRIMARY KEY\n        CHECK (length(tag) IN (1, 2)),\n    \
              step BIGINT NOT NULL,\n    weight BIGINT NOT NULL DEFAULT 7,\n    note TEXT,\n    \
              KEY (step, note),\n    CHECK (step > 1)\n) ENGINE = InnoDB;\n",
        version: 1,
        tables: &["tags"],
        witness: "",
    };

    fn lacking_in(there: &[&str]) -> Option<Error> {
        missing_columns(&SCHEMA, |_| Ok(there.iter().map(|&name| name.to_owned()).collect()))
            .unwrap()
    }

    #[test]
    fn columns_are_read_from_the_statements() {
        let names: Vec<_> =
            columns_of(SCHEMA.sql, "tags").into_iter().map(|column| column.name).collect();
        assert_eq!(names, ["tag", "step", "weight", "note"]);
        assert_eq!(
            columns_of(SCHEMA.sql, "tags")[0].definition,
            "VARCHAR(9) PRIMARY KEY CHECK (length(tag) IN (1, 2))"
        );
        assert_eq!(columns_of(SCHEMA.sql, "others"), []);
    }

    #[test]
    fn columns_that_came_later_are_told_with_the_statement_that_adds_them() {
        let Some(Error::Unusable { problem, .. }) = lacking_in(&["TAG", "STEP"]) else {
            panic!("it is an error");
        };
        assert_eq!(
            problem,
            "its table tags does not have the columns weight, note; if an older uidring has made \
             it, run this there, which programs that are running do not mind: ALTER TABLE tags ADD \
             COLUMN weight BIGINT NOT NULL DEFAULT 7; ALTER TABLE tags ADD COLUMN note TEXT;"
        );
    }

    #[test]
    fn a_table_without_a_column_of_old_is_somebody_elses() {
        let Some(Error::IncompatibleTables(Some(cause))) = lacking_in(&["TAG", "NOTE"]) else {
            panic!("it is an error");
        };
        assert_eq!(cause.to_string(), "its table tags does not have the columns step, weight");
        // One more column is no matter, and a table that is not there is not this one's to tell.
        assert!(lacking_in(&["TAG", "STEP", "WEIGHT", "NOTE", "MORE"]).is_none());
        assert!(lacking_in(&[]).is_none());
    }

    /// Older programs could not write to a table with one, and it could not be added.
    #[test]
    fn no_column_without_a_default_has_been_added_to_this_version() {
        assert_eq!(super::super::VERSION, 4, "count the columns of the new version");
        for schema in SCHEMAS {
            let needed = |table: &str| {
                let columns = columns_of(schema, table);
                columns.iter().filter(|column| !column.can_be_added()).count()
            };
            let is_file = schema.contains("CREATE TABLE IF NOT EXISTS worker_node");
            let workers = if is_file { "worker_node" } else { "uidring_worker_node" };
            let of = |tables: [&str; 8]| tables.map(needed);
            assert_eq!(
                of([
                    workers,
                    "uidring_series",
                    "uidring_series_version",
                    "uidring_series_counter",
                    "uidring_request",
                    "uidring_segment",
                    "uidring_pool",
                    "uidring_loan",
                ]),
                [7, 5, 7, 8, 5, 5, 4, 11],
            );
            assert_eq!(needed("uidring_layout"), if is_file { 9 } else { 3 });
        }
    }
}
