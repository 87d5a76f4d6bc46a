//! Whether a commit on a PostgreSQL server outlasts a power failure, and whether it takes writes.

use crate::backend::sql::{Error, Schema};

/// Extensions by which several servers each take writes, and tell the others later: those of EDB,
/// Amazon and pgEdge.
pub const EACH_WRITES: [&str; 3] = ["bdr", "pgactive", "spock"];

/// Settings that let a server forget a commit, with the value that does, and what is said of it.
const UNSAFE: [(&str, &str, &str); 4] = [
    (
        "fsync",
        "off",
        "its fsync is off, so that a power failure could take ids back that have been given, \
         which only_for_tests=yes in the address permits; run ALTER SYSTEM SET fsync = on; \
         SELECT pg_reload_conf()",
    ),
    (
        "data_sync_retry",
        "on",
        "its data_sync_retry is on, so that it goes on after its disk has failed to write, and \
         could take ids back that have been given; run ALTER SYSTEM SET data_sync_retry = off, \
         and restart it",
    ),
    (
        "ignore_invalid_pages",
        "on",
        "its ignore_invalid_pages is on, so that its start after a crash could leave out ids that \
         have been given; run ALTER SYSTEM SET ignore_invalid_pages = off, and restart it",
    ),
    (
        "zero_damaged_pages",
        "on",
        "its zero_damaged_pages is on, so that it reads a damaged page as an empty one, without \
         the ids that have been given; set that to off where it was set: by ALTER ROLE, ALTER \
         DATABASE or ALTER SYSTEM, or in the address",
    ),
];

/// What decides whether a commit lasts, and whether one can be made at all. It waits for the
/// server's own disk at the least, for standbys if there are synchronous ones, and for more if the
/// operator has asked for more. The tables are those that the search path finds, if they are there,
/// with all partitions, and all tables that inherit from them. The first of them that is no table,
/// or is not logged, is returned behind its kind and its persistence. Older servers, and those that
/// only speak PostgreSQL's language, do not have each setting.
pub fn query(schema: &Schema) -> String {
    let tables = schema.tables.iter().map(|table| format!("to_regclass('{table}')"));
    let unsafe_settings = UNSAFE.iter().map(|(name, value, _)| {
        format!("WHEN current_setting('{name}', true) = '{value}' THEN '{name}' ")
    });
    format!(
        "SELECT set_config('synchronous_commit', \
         CASE current_setting('synchronous_commit') \
         WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true), \
         CASE WHEN current_setting('neon.timeline_id', true) <> '' \
         AND current_setting('synchronous_standby_names', true) = 'walproposer' THEN NULL \
         {}END, \
         (WITH RECURSIVE parts AS (\
         SELECT oid FROM pg_class WHERE oid = ANY (ARRAY[{}]::OID[]) \
         UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = parts.oid) \
         SELECT MIN(relkind::TEXT || CASE WHEN amname IS NULL THEN relpersistence::TEXT \
         ELSE 'a' || amname::TEXT || ' ' END || pg_class.oid::REGCLASS::TEXT) \
         FROM pg_class LEFT JOIN pg_am \
         ON pg_am.oid = relam AND amname NOT IN ('heap', 'tde_heap') \
         WHERE pg_class.oid IN (SELECT oid FROM parts) AND relkind <> 'p' \
         AND (relkind <> 'r' OR relpersistence <> 'p' OR amname IS NOT NULL)), \
         current_setting('transaction_read_only'), pg_is_in_recovery(), version(), \
         (SELECT MIN(extname::TEXT) FROM pg_extension WHERE extname IN ('{}'))",
        unsafe_settings.collect::<String>(),
        tables.collect::<Vec<_>>().join(", "),
        EACH_WRITES.join("', '")
    )
}

/// What is wrong with a server that answers so to [`query`].
pub fn problem(unsafe_setting: Option<&str>, bad_table: Option<&str>) -> Option<String> {
    let known = UNSAFE.iter().find(|(name, _, _)| unsafe_setting == Some(name));
    if let Some((_, _, problem)) = known {
        return Some((*problem).to_owned());
    }
    let (kind, table) = bad_table?.split_at_checked(2)?;
    Some(match kind {
        "ru" => format!(
            "its table {table} is not logged, so that a crash of the server would empty it; \
             run ALTER TABLE {table} SET LOGGED"
        ),
        "rt" => format!(
            "its table {table} is a temporary one, which the end of a connection removes; drop it, \
             and see who makes it, such as a pooler that shares connections"
        ),
        "ra" => {
            let (method, table) = table.split_once(' ').unwrap_or((table, table));
            format!(
                "its table {table} is kept by the access method {method}, which need not keep a \
                 commit as PostgreSQL's own does; make it anew with USING heap, or, from \
                 PostgreSQL 15 on, run ALTER TABLE {table} SET ACCESS METHOD heap"
            )
        }
        "fp" => format!(
            "its table {table} is on another server, which need not keep a commit; give the \
             address of that one"
        ),
        _ => format!(
            "its {table} is no table but a view, behind which anything may be, also what a crash \
             of the server would empty; name the place of the table itself, by the address and \
             its search_path"
        ),
    })
}

/// Why a server that answers so to [`query`] takes no writes. Where they are switched off, that
/// may be for a moment, or for a move to another server: so this is not switched on again here.
pub fn refuses_writes(read_only: Option<&str>, is_standby: Option<&str>) -> Option<Error> {
    let problem = match (read_only, is_standby) {
        (Some("on"), Some("t" | "true")) => {
            "it is a standby, which takes no writes; give the address of the primary, or make this \
             server the primary"
        }
        (Some("on"), _) => {
            "its transactions only read, as default_transaction_read_only is on; if it may be \
             written again, set that to off where it was set: by ALTER ROLE, ALTER DATABASE or \
             ALTER SYSTEM, or in the address"
        }
        _ => return None,
    };
    Some(Error::Unreachable { problem: problem.to_owned(), source: None })
}
