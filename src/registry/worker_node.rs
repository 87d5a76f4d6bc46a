//! Worker ids from the table of Baidu's `UidGenerator`.

use std::ops::RangeInclusive;
use std::time::SystemTime;

use super::beside::{check_own, largest};
use super::host::Host;
use super::records;
use super::rules::{Fault, Given, GivenBefore, others};
use super::table::foreign_tables;
use super::{
    Lease, MySqlRegistry, RegistryAdmin, RegistryError, Request, WorkerRecord, WorkerRegistry,
};
use crate::clock::from_unix_ms;
use crate::door::ByDoor;
use crate::layout::Layout;
use crate::store::sql::{Access, Call, Error, Missing, Schema, Transaction, Value, Words};

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
    given: Given,
}

/// The table is created by `UidGenerator`, not by this library.
const SCHEMA: Schema = Schema { sql: "", version: 0, tables: &["WORKER_NODE"], witness: "" };

const WORDS: Words = Words {
    what: "the registry",
    no_tables: "its table WORKER_NODE is not there; name the database that UidGenerator uses, or \
        take ids from this library's own tables",
    foreign_tables: "its table WORKER_NODE does not have the columns of UidGenerator's",
    foreign_file: "",
    beside: "",
    rights: "give this user the rights to select and insert in its table WORKER_NODE",
};

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
        UidGeneratorRegistry { server: self, given: Given::default() }
    }
}

impl UidGeneratorRegistry {
    /// Refuses settings that the table does not support.
    fn check(&self) -> Result<(), RegistryError> {
        if self.server.config.is_plain() {
            return Ok(());
        }
        let options = ByDoor {
            library: "leased, partition and worker_ids",
            tool: "--lease, --partition and --worker-ids",
            service: "--lease, --partition and --worker-ids",
            binding: "lease, partition and worker_ids",
        };
        let problem = format!(
            "the ids of its table WORKER_NODE can neither be leased nor limited; leave out \
             {options}"
        );
        Err(self.server.told("open the registry", Error::problem(problem)))
    }

    fn transact<T: Send>(
        &self,
        doing: &str,
        access: Access,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, RegistryError> {
        let call = Call { schema: &SCHEMA, words: &WORDS, doing, access };
        self.server.client.transact(&call, &Missing::Fail, None, body)
    }
}

fn insert(
    transaction: &mut Transaction<'_>,
    host: &Host,
    request: &Request,
    given: &GivenBefore,
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
        return Err(foreign_tables().into());
    };
    let max = request.layout.max_worker();
    match u64::try_from(*worker) {
        // Without AUTO_INCREMENT there is no key.
        Ok(0) | Err(_) => Err(foreign_tables().into()),
        Ok(worker) if worker > max => Err(Fault::Database(too_large(worker, max))),
        // The counter went back, as in an old copy or in a table that was emptied.
        Ok(worker) if given.has(worker) => Err(others("tables", worker).into()),
        Ok(worker) => {
            check_own(transaction, &request.layout, worker)?;
            Ok(Lease::permanent(worker, &request.layout))
        }
    }
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
        let (host, given) = (self.server.config.host(), self.given.before());
        let doing = "store a worker id in the registry";
        let lease = self.transact(doing, Access::Write, |transaction| {
            insert(transaction, &host, request, &given)
        })?;
        // When its row was made is not looked at.
        self.given.add(&lease, 0);
        Ok(lease)
    }

    fn name(&self) -> String {
        self.server.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        let sql = "SELECT CAST(UNIX_TIMESTAMP(MAX(CREATED)) AS SIGNED) FROM WORKER_NODE";
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
        // A row is written at a start, and its LAUNCH_DATE is the day alone.
        let sql = "SELECT ID, HOST_NAME, PORT, TYPE, \
                   CAST(UNIX_TIMESTAMP(CREATED) * 1000 AS SIGNED) AS LAUNCHED, NULL, NULL, NULL, \
                   CAST(UNIX_TIMESTAMP(CREATED) * 1000 AS SIGNED) FROM WORKER_NODE ORDER BY ID";
        self.transact("read the registry", Access::Read, |transaction| {
            let rows = transaction.rows(sql, &[])?.into_iter();
            Ok(rows
                .map(|row| records::worker(row).ok_or_else(foreign_tables))
                .collect::<Result<_, _>>()?)
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

    fn try_out(&self, layout: &Layout) -> Result<(), RegistryError> {
        self.check()?;
        // Tests the right to insert without a row, because even a row that is rolled back would use
        // up an id.
        let no_row = "INSERT INTO WORKER_NODE \
                      (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) \
                      SELECT '', '', 1, CURRENT_DATE, NOW(), NOW() FROM DUAL WHERE 1 = 0";
        self.transact("store a worker id in the registry", Access::Write, |transaction| {
            let next = largest(transaction)? + 1;
            if next > layout.max_worker() {
                return Err(Fault::Database(too_large(next, layout.max_worker())));
            }
            check_own(transaction, layout, next)?;
            transaction.write(no_row, &[])?;
            Ok(())
        })
    }

    /// Always [`RegistryError::NotLeased`], as the ids of this table are given once.
    fn revoke(&self, worker: u64) -> Result<(), RegistryError> {
        Err(RegistryError::NotLeased { worker })
    }
}
