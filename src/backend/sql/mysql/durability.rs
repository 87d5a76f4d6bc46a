//! Whether a commit on a MySQL or MariaDB server outlasts a power failure.

use super::diagnosis::NO_WRITES;
use crate::backend::sql::{Error, Schema, mark};

/// What decides whether a commit lasts: settings, and the kind and the engine of each table, which
/// all its partitions have. The tables are those of this database, if they are there. Newer
/// servers show a temporary table beside the one that it hides. Before the tables, whether the
/// server is one to be written at all, as [`refuses_writes`] tells; and whether this is the
/// connection that has the [`mark`]. What is in a comment is asked of MySQL since 8.0.21 alone.
pub fn query(schema: &Schema) -> String {
    let kind = |table: &&str| {
        format!(
            ", (SELECT GROUP_CONCAT(TABLE_TYPE, ' ', COALESCE(ENGINE, '')) \
             FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}')"
        )
    };
    let kinds: String = schema.tables.iter().map(kind).collect();
    format!(
        "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_flush_method, \
         @@log_bin AND @@sql_log_bin, @@sync_binlog, @@binlog_format, \
         COALESCE(/*!80021 (SELECT VARIABLE_VALUE FROM performance_schema.global_status \
         WHERE VARIABLE_NAME = 'Innodb_redo_log_enabled'), */ 'ON'), \
         CONCAT(VERSION(), ' ', @@version_comment), \
         @@GLOBAL.read_only, @@innodb_read_only, @@innodb_force_recovery, {is_set}{kinds}",
        is_set = mark::IS_SET
    )
}

/// What lets a server forget a commit, by its settings in the answer to [`query`].
pub fn forgets(settings: &[String; 6]) -> Option<String> {
    let [flushed, method, logged, synced, _, redo_log] = settings;
    let forgets = |name: &str, value: &str| {
        Some(format!(
            "its {name} is {value}, so that a power failure could take ids back that have been \
             given, which only_for_tests=yes in the address permits; run SET GLOBAL {name} = 1, \
             and put the same into the server's configuration, where it outlasts a restart"
        ))
    };
    // MariaDB's 3 syncs at the end of a commit as well.
    if !["1", "3"].contains(&flushed.as_str()) {
        return forgets("innodb_flush_log_at_trx_commit", flushed);
    }
    // With a binary log InnoDB syncs a transaction as prepared, and a restart rolls it back if the
    // binary log does not have it.
    if logged == "1" && synced != "1" {
        return forgets("sync_binlog", synced);
    }
    if redo_log.eq_ignore_ascii_case("OFF") {
        return Some(
            "its redo log is off (Innodb_redo_log_enabled), so that a crash could take ids back \
             that have been given, or all tables; run ALTER INSTANCE ENABLE INNODB REDO_LOG"
                .to_owned(),
        );
    }
    // Without syncs of the data files, a commit is safe only where they are on the device of the
    // redo log, by MySQL's manual.
    let methods = [("nosync", "fsync"), ("littlesync", "fsync"), ("O_DIRECT_NO_FSYNC", "O_DIRECT")];
    let (_, better) = methods.iter().find(|(bad, _)| method.eq_ignore_ascii_case(bad))?;
    Some(format!(
        "its innodb_flush_method is {method}, so that a power failure could take ids back that \
         have been given; put innodb_flush_method = {better} into the server's configuration, and \
         restart it"
    ))
}

/// What else is wrong with a server's answer to [`query`], where each of the tables has a kind.
pub fn problem(settings: &[String; 6], kinds: &[(&str, String)]) -> Option<String> {
    let [_, _, logged, _, format, _] = settings;
    // Switching this session alone to rows takes a right that few users have, and would stop a
    // replica whose own binary log is by statements.
    if logged == "1" && format.eq_ignore_ascii_case("STATEMENT") {
        return Some(
            "its binlog_format is STATEMENT, with which InnoDB refuses writes under READ \
             COMMITTED; run SET GLOBAL binlog_format = MIXED, and put the same into the server's \
             configuration, where it outlasts a restart"
                .to_owned(),
        );
    }
    kinds.iter().find_map(|(table, kind)| table_problem(table, kind))
}

/// Why a server that answers so to [`query`] is not written. `super_read_only` switches `read_only`
/// on as well. The server refuses the writes of most users by itself, but not those of an
/// administrator, and MariaDB writes while it is repaired. Another start may end each of these.
pub fn refuses_writes([read_only, of_engine, repair]: [String; 3]) -> Option<Error> {
    // MariaDB 12 has words for it, and several for on.
    let is_off = |value: &str| ["0", "OFF"].contains(&value);
    let problem = if !is_off(&read_only) {
        NO_WRITES.to_owned()
    } else if !is_off(&of_engine) {
        "its innodb_read_only is on, so that InnoDB writes no table; if it is the primary, take \
         that out of the server's configuration, and restart it; if not, give the address of the \
         primary"
            .to_owned()
    } else if repair != "0" {
        format!(
            "its innodb_force_recovery is {repair}, with which it starts without data that it \
             cannot read, so that what has been given may be missing; take it out of the server's \
             configuration, and restart it; if it does not start then, restore a backup"
        )
    } else {
        return None;
    };
    Some(Error::Unreachable { problem, source: None })
}

/// What is wrong with `table`, by its kind and its engine. Both are empty where it is not there.
fn table_problem(table: &str, kind: &str) -> Option<String> {
    let (kind, engine) = kind.rsplit_once(' ')?;
    if kind.contains("TEMPORARY") {
        return Some(format!(
            "its table {table} is hidden by a temporary one, which the end of a connection \
             removes; drop that, and see who makes it, such as a proxy that shares connections"
        ));
    }
    if kind.contains("VIEW") {
        return Some(format!(
            "its {table} is no table but a view, behind which anything may be, also what a crash \
             of the server would empty; name the database of the table itself"
        ));
    }
    (!engine.eq_ignore_ascii_case("InnoDB")).then(|| {
        format!(
            "its table {table} has the engine {engine}, which need not keep a commit as InnoDB \
             does; run ALTER TABLE {table} ENGINE = InnoDB"
        )
    })
}
