//! Worker ids from the table of Baidu's `UidGenerator`.

use std::ops::RangeInclusive;
use std::time::SystemTime;

use super::records;
use super::uid_generator_overlap::{largest, refuse_shared_id};
use super::worker_table::incompatible_tables;
use crate::backend::sql::{
    Access, Call, Error, ErrorPhrases, OnMissing, Schema, Transaction, Value, limit,
};
use crate::clock::from_unix_ms;
use crate::layout::Layout;
use crate::registry::assignment::{AssignedIds, AssignedSnapshot, Fault, replaced_store};
use crate::registry::host::Host;
use crate::registry::{
    Lease, MySqlRegistry, RegistryAdmin, RegistryError, Request, WorkerCounts, WorkerRecord,
    WorkerRegistry,
};
use crate::support::audience::PerAudience;

/// Worker ids from the table `WORKER_NODE` of Baidu's `UidGenerator`, on a MySQL or MariaDB server.
///
/// Each start inserts a row with the statement of `UidGenerator`, and its key is the worker id. So
/// programs with `UidGenerator` and programs with this library may share the table, at the same
/// time, and none gets an id of another. [`MySqlRegistry::uid_generator`] makes one, and
/// [`RegistryAdmin`] lists the ids that the table has given to either.
///
/// # Guarantees
///
/// * No id is given twice, as long as the server remembers its `AUTO_INCREMENT`: MySQL before 8.0
///   and MariaDB before 10.2.4 forget it when they restart, and go on after the largest row that is
///   left. There, do not delete the newest rows. All of them forget it when the table is truncated
///   or made anew. A process takes no id a second time, and then says that the table is an old
///   copy.
/// * The server is refused if it may forget a commit, as a [`MySqlRegistry`] does.
/// * An id that this library's own tables in the same database may give for the same layout is
///   refused. `UidGenerator` itself does not look for that.
/// * The table does not know the layout. All programs that share it must have the same widths,
///   epoch and tick.
#[derive(Clone, Debug)]
pub struct UidGeneratorRegistry {
    server: MySqlRegistry,
    /// What all clones have been given.
    assigned: AssignedIds,
}

/// The table is created by `UidGenerator`, not by this library.
const SCHEMA: Schema = Schema { sql: "", version: 0, tables: &["WORKER_NODE"], witness: "" };

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the registry",
    missing_tables: "its table WORKER_NODE is not there; name the database that UidGenerator uses, \
        or take ids from this library's own tables",
    incompatible_tables: "its table WORKER_NODE does not have the columns of UidGenerator's",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "give this user the rights to select and insert in its table WORKER_NODE",
};

/// When a row was written, at a start, in milliseconds since 1970. Its `LAUNCH_DATE` is the day
/// alone.
const CREATED: &str = "CAST(UNIX_TIMESTAMP(CREATED) * 1000 AS SIGNED)";

/// Selects what a record shows of a row.
fn select() -> String {
    format!(
        "SELECT ID, HOST_NAME, PORT, TYPE, {CREATED} AS LAUNCHED, NULL, NULL, NULL, {CREATED} \
         FROM WORKER_NODE"
    )
}

/// The width of the columns `HOST_NAME` and `PORT` in characters.
const WIDTH: usize = 64;

impl MySqlRegistry {
    /// Takes worker ids from the table `WORKER_NODE` of `UidGenerator` in this database, instead of
    /// the tables of this library. Each id is given once, to one start.
    ///
    /// ```no_run
    /// use uidring::registry::MySqlRegistry;
    /// use uidring::{Layout, UidGenerator};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // timeBits = 29, workerBits = 21, seqBits = 13, epochStr = 2016-09-20 in China.
    /// let epoch = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_474_300_800);
    /// let layout = Layout::new(29, 21, 13)?.with_epoch(epoch)?;
    /// let registry = MySqlRegistry::open("mysql://orders@db.example.com/orders")?.uid_generator();
    /// let uids = UidGenerator::builder().layout(layout).registry(registry).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn uid_generator(self) -> UidGeneratorRegistry {
        UidGeneratorRegistry { server: self, assigned: AssignedIds::default() }
    }
}

impl UidGeneratorRegistry {
    /// Refuses settings that the table does not support.
    fn check(&self) -> Result<(), RegistryError> {
        if self.server.config.is_default() {
            return Ok(());
        }
        let options = PerAudience {
            library: "leased, partition and worker_ids",
            tool: "--lease, --partition and --worker-ids",
            service: "--lease, --partition and --worker-ids",
            binding: "lease, partition and worker_ids",
        };
        let problem = format!(
            "the ids of its table WORKER_NODE can neither be leased nor limited; leave out \
             {options}"
        );
        Err(self.server.call_error("open the registry", Error::problem(problem)))
    }

    fn transact<T: Send>(
        &self,
        doing: &str,
        access: Access,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, RegistryError> {
        let call = Call { schema: &SCHEMA, phrases: &PHRASES, doing, access };
        self.server.client.transact(&call, &OnMissing::Fail, None, body)
    }
}

fn insert(
    transaction: &mut Transaction<'_>,
    host: &Host,
    request: &Request,
    assigned: &AssignedSnapshot,
) -> Result<Lease, Fault> {
    let clipped = |text: &str| text.chars().take(WIDTH).collect::<String>();
    let sql = "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) \
               VALUES (?, ?, ?, CURRENT_DATE, NOW(), NOW())";
    let values = [
        clipped(&host.name).as_str().into(),
        clipped(&host.port).as_str().into(),
        host.kind.code().into(),
    ];
    transaction.write(sql, &values)?;
    let row = transaction.rows("SELECT LAST_INSERT_ID()", &[])?.pop();
    let [Value::Int(worker)] = row.as_deref().unwrap_or_default() else {
        return Err(incompatible_tables().into());
    };
    let max = request.layout.max_worker();
    match u64::try_from(*worker) {
        // Without AUTO_INCREMENT there is no key.
        Ok(0) | Err(_) => Err(incompatible_tables().into()),
        Ok(worker) if worker > max => Err(Fault::Database(too_large(worker, max))),
        // The counter went back, as in an old copy or in a table that was emptied.
        Ok(worker) if assigned.has(worker) => Err(replaced_store("tables", worker).into()),
        Ok(worker) => {
            refuse_shared_id(transaction, &request.layout, worker)?;
            Ok(Lease::permanent(worker, &request.layout))
        }
    }
}

/// The key that the next row would have: a multiple of `auto_increment_increment`, moved by
/// `auto_increment_offset`, and not below what the server has counted up to, which rows that were
/// deleted or taken back have moved on.
fn next_key(transaction: &mut Transaction<'_>) -> Result<u64, Fault> {
    let row = transaction.rows("SHOW CREATE TABLE WORKER_NODE", &[])?.pop();
    let Some([_, Value::Text(made)]) = row.as_deref() else {
        return Err(incompatible_tables().into());
    };
    let sql = "SELECT CAST(@@auto_increment_increment AS SIGNED), \
               CAST(@@auto_increment_offset AS SIGNED)";
    let row = transaction.rows(sql, &[])?.pop();
    let Some([Value::Int(step), Value::Int(offset)]) = row.as_deref() else {
        return Err(incompatible_tables().into());
    };
    let least = counted_to(made).max(largest(transaction)? + 1);
    Ok(key_from(least, u64::try_from(*step).unwrap_or(1), u64::try_from(*offset).unwrap_or(1)))
}

/// What the server has counted up to, in the statement that makes the table. It is left out there
/// before the first row.
fn counted_to(made: &str) -> u64 {
    let options = made.rsplit_once("\n)").map_or("", |(_, options)| options);
    let counted = options.split_whitespace().find_map(|word| word.strip_prefix("AUTO_INCREMENT="));
    counted.and_then(|counted| counted.parse().ok()).unwrap_or(1)
}

/// The first of the keys `offset`, `offset + step` and so on that is not below `least`. A server
/// ignores an offset above the step.
fn key_from(least: u64, step: u64, offset: u64) -> u64 {
    let step = step.max(1);
    let offset = if offset > step { 0 } else { offset };
    let steps = least.saturating_sub(offset).div_ceil(step);
    offset.saturating_add(steps.saturating_mul(step))
}

/// The error when an id exceeds `max`, the largest of the layout.
fn too_large(worker: u64, max: u64) -> Error {
    Error::problem(format!(
        "its table WORKER_NODE has come to the id {worker}, and the worker field ends at {max}; \
         all programs that use the table need a layout with more worker bits, whose ids exceed \
         those in use"
    ))
}

impl WorkerRegistry for UidGeneratorRegistry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.check()?;
        let (host, assigned) = (self.server.config.host(), self.assigned.snapshot());
        let doing = "store a worker id in the registry";
        let lease = self.transact(doing, Access::Write, |transaction| {
            insert(transaction, &host, request, &assigned)
        })?;
        // When its row was made is not looked at.
        self.assigned.add(&lease, 0);
        Ok(lease)
    }

    fn name(&self) -> String {
        self.server.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        // No key has the times, and the largest id was given last.
        let sql = "SELECT CAST(UNIX_TIMESTAMP(CREATED) AS SIGNED) FROM WORKER_NODE \
                   ORDER BY ID DESC LIMIT 1";
        let row = self.transact("read the registry", Access::Read, |transaction| {
            Ok(transaction.rows(sql, &[])?.pop())
        });
        Ok(match row?.as_deref() {
            Some([Value::Int(seconds)]) => from_unix_ms(i128::from(*seconds) * 1000),
            _ => None,
        })
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        Some(1..=layout.max_worker())
    }
}

impl RegistryAdmin for UidGeneratorRegistry {
    fn workers(&self) -> Result<Vec<WorkerRecord>, RegistryError> {
        let sql = format!("{} ORDER BY ID", select());
        self.transact("read the registry", Access::Read, |transaction| {
            Ok(records::records(transaction.rows(&sql, &[])?)?)
        })
    }

    fn workers_below(&self, end: u64, most: usize) -> Result<Vec<WorkerRecord>, RegistryError> {
        let sql = format!("{} WHERE ID < ? ORDER BY ID DESC LIMIT {}", select(), limit(most));
        self.transact("read the registry", Access::Read, |transaction| {
            Ok(records::records(transaction.rows(&sql, &[end.into()])?)?)
        })
    }

    fn count_workers(&self, _: SystemTime) -> Result<WorkerCounts, RegistryError> {
        let sql = format!(
            "SELECT {CREATED}, (SELECT COUNT(*) FROM WORKER_NODE) \
             FROM WORKER_NODE ORDER BY ID LIMIT 1"
        );
        let row = self.transact("read the registry", Access::Read, |transaction| {
            Ok(transaction.rows(&sql, &[])?.pop())
        })?;
        let Some([Value::Int(first), Value::Int(all)]) = row.as_deref() else {
            return Ok(WorkerCounts::default());
        };
        Ok(WorkerCounts {
            all: u64::try_from(*all).unwrap_or(0),
            first_created: from_unix_ms((*first).into()),
            ..WorkerCounts::default()
        })
    }

    /// The largest id of a row that is left.
    fn largest_given(&self) -> Result<u64, RegistryError> {
        self.transact("read the registry", Access::Read, |transaction| Ok(largest(transaction)?))
    }

    /// `None` always: the table does not know the layout.
    fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        // Checks that the server answers and has the table.
        self.largest_given().map(|_| None)
    }

    /// `None` always: the layout tells which ids there are.
    fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError> {
        self.largest_given().map(|_| None)
    }

    fn try_assign(&self, request: &Request) -> Result<Lease, RegistryError> {
        self.check()?;
        let layout = &request.layout;
        // Tests the right to insert without a row, because even a row that is rolled back would use
        // up an id.
        let no_row = "INSERT INTO WORKER_NODE \
                      (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) \
                      SELECT '', '', 1, CURRENT_DATE, NOW(), NOW() FROM DUAL WHERE 1 = 0";
        self.transact("store a worker id in the registry", Access::Write, |transaction| {
            transaction.write(no_row, &[])?;
            let next = next_key(transaction)?;
            if next > layout.max_worker() {
                return Err(Fault::Database(too_large(next, layout.max_worker())));
            }
            refuse_shared_id(transaction, layout, next)?;
            Ok(Lease::permanent(next, layout))
        })
    }

    /// Always [`RegistryError::NotLeased`], as the ids of this table are given once.
    fn revoke(&self, worker: u64) -> Result<(), RegistryError> {
        Err(RegistryError::NotLeased { worker })
    }
}

#[cfg(test)]
mod tests {
    use super::{counted_to, key_from};

    #[test]
    fn the_next_key_is_that_of_the_server() {
        for (least, step, offset, expected) in [
            (1, 1, 1, 1),
            (7, 1, 1, 7),
            (1, 10, 1, 1),
            (2, 10, 1, 11),
            (11, 10, 1, 11),
            (12, 10, 1, 21),
            (1, 10, 5, 5),
            (5, 10, 5, 5),
            (6, 10, 5, 15),
            (3, 2, 2, 4),
            (1, 2, 5, 2),
            (u64::MAX, 10, 1, u64::MAX),
        ] {
            assert_eq!(key_from(least, step, offset), expected, "{least} {step} {offset}");
        }
    }

    #[test]
    fn the_count_is_among_the_options_of_the_table() {
        let made = "CREATE TABLE `WORKER_NODE` (\n  `ID` bigint(20) NOT NULL AUTO_INCREMENT \
                    COMMENT 'AUTO_INCREMENT=5)',\n  PRIMARY KEY (`ID`)\n) ENGINE=InnoDB";
        assert_eq!(counted_to(made), 1);
        let counted = format!("{made} AUTO_INCREMENT=21 DEFAULT CHARSET=utf8mb4 COMMENT='ids'");
        assert_eq!(counted_to(&counted), 21);
        assert_eq!(counted_to(""), 1);
    }
}
