//! [`LeafWorker`]: a worker id of Leaf's, beside Leaf's own servers.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::leaf_node::{LeafNode, LeafServer, read_leaf};
use crate::backend::StorageError;
use crate::backend::call::Deadline;
use crate::backend::error::{Error, ErrorPhrases, random_text};
use crate::backend::keys::{Node, NodeSession, ZooKeeper};
use crate::clock::unix_ms;
use crate::layout::Layout;
use crate::registry::fixed::used_ahead;
use crate::registry::{Lease, LeaseKind, RegistryError, Request, WorkerRegistry};

/// How long a call may take, unless set otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// How much time is reserved at once. A generator reserves again when half of it is over: every
/// three seconds, as Leaf writes its time.
const RESERVED: Duration = Duration::from_secs(6);

/// Leaf writes its time every three seconds, and again when it is late by a call. What it has used
/// since is not later than this.
const LEAF_BEHIND: Duration = Duration::from_secs(5);

/// A server of Leaf that has written while it was watched runs, unless it is silent for so long.
const LEAF_ENDED: Duration = Duration::from_secs(60);

/// The largest worker id that fits Leaf's ten bits.
const MAX_WORKER: u64 = 1_023;

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "Leaf's worker ids in",
    missing_tables: "",
    incompatible_tables: "",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "give this user the rights to read, make, write and remove nodes below /snowflake",
};

/// A worker id of Meituan's Leaf, from Leaf's own nodes in ZooKeeper, for a generator beside
/// running servers of Leaf or in place of one: no two of them all have the same.
///
/// The node is `/snowflake/NAME/forever/IP:PORT-0000000017`, and 17 is the worker id, for ever. A
/// generator that starts again with the same address has the same worker id again. The layout must
/// be [`Layout::TWITTER`], as Leaf's.
///
/// ```no_run
/// use uidring::{Layout, Store, UidGenerator};
///
/// let store = Store::open("zookeeper://h1:2181,h2:2181,h3:2181")?;
/// let uids = UidGenerator::builder()
///     .layout(Layout::TWITTER)
///     .registry(store.leaf_worker("orders", "10.0.0.1:8080")?)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What the node's time means
///
/// Leaf writes the time of its clock in its node every three seconds. A generator writes as often,
/// but the end of the six seconds that it reserves ahead, so that nobody who takes the node over
/// can repeat what it has given, however it ended: they begin behind. A generator that ends as it
/// should writes the last millisecond that it has used.
///
/// * A node whose time is ahead of the clock, by more than a generator can begin ahead, is refused
///   with [`RegistryError::UsedAhead`].
/// * So is one that a server of Leaf wrote less than five seconds ago, by the clock here: it may be
///   running, and what it has used since is not written anywhere. A start waits for as long. If the
///   server writes meanwhile, it runs, and the start fails. One that wrote longer ago may be
///   running, too, as Leaf goes on without ZooKeeper, and its clock may be behind the one here. So
///   see that its process has ended.
/// * Another generator with the same address takes the node over. The first then gets
///   [`RegistryError::LeaseLost`], before it has used anything that the other may.
/// * Never start a server of Leaf with the address of a generator that runs: Leaf does not look
///   whether anybody else has its address. It refuses a node whose time is ahead of its clock, but
///   then goes on with the worker id of its last start on that machine, from its file
///   `NAME/leafconf/PORT/workerID.properties` in the folder for temporary files, and repeats what
///   the generator gives. Remove that file when Leaf has ended there: without it, such a start
///   fails.
/// * Without ZooKeeper, a generator goes on for as long as it has reserved: up to six seconds.
///
/// The number 0 is never used: those of Leaf's servers that start where there is no node yet take
/// it all, whatever number they were given. A node with a number above 1,023 is not made, and the
/// error is [`RegistryError::WorkerRange`]. ZooKeeper gives no number again.
///
/// The nodes are for everybody to write, as Leaf makes them.
#[derive(Debug)]
pub struct LeafWorker {
    store: ZooKeeper,
    server: LeafServer,
    timeout: Duration,
    /// The node that was taken last.
    held: Option<HeldNode>,
    /// The lease that was lost last. Whatever its node says then, the next one begins after it.
    lost: Option<Lease>,
    /// What a server of Leaf had written when its node was looked at last.
    last_write: Option<LastWrite>,
}

#[derive(Debug)]
struct LastWrite {
    path: String,
    ms: i64,
    /// Whether it has written while its node was watched.
    is_running: bool,
}

#[derive(Debug)]
struct HeldNode {
    node: LeafNode,
    /// That of the lease.
    holder: String,
    /// The mark of the next write. Each write has the one after that of the write before.
    next_mark: u64,
    /// How many were sent since the last answer: nobody knows whether one of these was written.
    unconfirmed: u64,
}

impl HeldNode {
    /// Whether the data is of a write without an answer.
    fn is_unconfirmed(&self, data: &str) -> bool {
        let mark = read_leaf(data).and_then(|time| time.mark);
        let before = mark.map(|mark| self.next_mark.wrapping_sub(mark));
        before.is_some_and(|before| (1..=self.unconfirmed).contains(&before))
    }
}

/// Whether the holder still had its node.
enum WriteOutcome {
    Yes,
    /// Another has written it.
    Lost,
}

impl LeafWorker {
    /// That of the server with this `address` among those of `name`.
    pub(crate) fn on(
        store: ZooKeeper,
        name: &str,
        address: &str,
        timeout: Option<Duration>,
    ) -> Result<LeafWorker, RegistryError> {
        let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
        let server = LeafServer::new(name, address).map_err(|error| {
            storage_error(&store, "name a server of Leaf in", error, Duration::ZERO)
        })?;
        Ok(LeafWorker { store, server, timeout, held: None, lost: None, last_write: None })
    }

    /// Runs `call` in a session of its own, for one that was `doing` this.
    fn call<T>(
        &self,
        doing: &str,
        call: impl FnOnce(&mut NodeSession<'_>) -> Result<T, Error>,
    ) -> Result<T, RegistryError> {
        let deadline = Deadline::after(self.timeout);
        let result = self.store.with_nodes(&deadline, call);
        result.map_err(|error| storage_error(&self.store, doing, error, deadline.waited()))
    }

    /// Takes the node over, from the tick behind those that were used.
    fn take_over(
        &mut self,
        node: LeafNode,
        request: &Request,
    ) -> Result<(LeafNode, Lease), RegistryError> {
        let LeafNode { number, node } = node;
        fits(number)?;
        let time = read_leaf(&node.data).ok_or_else(|| {
            let problem = format!(
                "the data of the node {} is not what Leaf writes; write it as Leaf does, with a \
                 timestamp that is later than all that its server has used",
                node.path
            );
            self.unusable(problem)
        })?;
        let is_running = time.mark.is_none() && self.is_running(&node, time.ms);
        let (behind, latest) = match time.mark {
            Some(_) => (Duration::ZERO, request.latest),
            // The clock itself must be past it: a server that runs is never so far behind.
            None if is_running => (LEAF_ENDED, request.now),
            None => (LEAF_BEHIND, request.now),
        };
        let ms = i128::from(time.ms) - i128::from(request.layout.epoch_ms());
        let used = u64::try_from(ms + i128::try_from(behind.as_millis()).unwrap_or_default()).ok();
        let first = used.map_or(0, |used| used.saturating_add(1));
        if first > latest {
            if is_running {
                return Err(self.unusable(format!(
                    "a server of Leaf runs with this address: it writes its time in the node {}; \
                     end it, wait for a minute, and start again",
                    node.path
                )));
            }
            return Err(used_ahead(number, first - 1, request, latest));
        }
        // Somebody may have put an old time there.
        let lost = self.lost.as_ref().filter(|lost| lost.worker == number);
        let first = first.max(lost.map_or(0, |lost| lost.last.saturating_add(1)));
        if first > request.latest {
            return Err(used_ahead(number, first - 1, request, request.latest));
        }
        let lease = lease(number, first, request)?;
        let data = self.data(lease.last, first_mark(&lease));
        let mut taken = node;
        let is_taken =
            self.call("take a worker id in", |session| session.write(&mut taken, data))?;
        if is_taken {
            return Ok((LeafNode { number, node: taken }, lease));
        }
        let problem = format!(
            "another has written the node {} in the same moment; see that no other generator or \
             server of Leaf runs with this address",
            taken.path
        );
        let what = format!("{} {}", PHRASES.subject, self.name());
        Err(StorageError::Unreachable { what, problem, source: None }.into())
    }

    /// Whether a server of Leaf has written in its node since the node was looked at first.
    fn is_running(&mut self, node: &Node, ms: i64) -> bool {
        let last_write = self.last_write.take().filter(|last_write| last_write.path == node.path);
        let is_running =
            last_write.is_some_and(|last_write| last_write.is_running || last_write.ms < ms);
        self.last_write = Some(LastWrite { path: node.path.clone(), ms, is_running });
        is_running
    }

    /// Makes a node.
    fn make(&self, request: &Request) -> Result<(LeafNode, Lease), RegistryError> {
        let mut lease = lease(0, 0, request)?;
        let data = self.data(lease.last, first_mark(&lease));
        let made = self.call("take a worker id in", |session| {
            let next = self.server.next_number(session)?.unwrap_or_default();
            // Each node that is made uses a number up.
            if next > MAX_WORKER {
                return Ok(Err(next));
            }
            let node = self.server.make_node(session, &data)?;
            if node.number > MAX_WORKER {
                session.remove(&node.node.path)?;
                return Ok(Err(node.number));
            }
            Ok(Ok(node))
        })?;
        let node = made.map_err(out_of_range)?;
        lease.worker = node.number;
        Ok((node, lease))
    }

    /// Writes up to which tick the holder of `lease` may go.
    fn write(&mut self, lease: &Lease, last: u64, doing: &str) -> Result<(), RegistryError> {
        let taken = RegistryError::LeaseLost { worker: lease.worker };
        let Some(mut held) = self.held.take_if(|held| is_of(&held.holder, lease)) else {
            return Err(taken);
        };
        let data = self.data(last, held.next_mark);
        held.next_mark = held.next_mark.wrapping_add(1);
        held.unconfirmed += 1;
        let LeafNode { number, mut node } = held.node.clone();
        let result = self.call(doing, |session| {
            if session.write(&mut node, data.clone())? {
                return Ok(WriteOutcome::Yes);
            }
            // It may be this holder's own write, whose answer was lost.
            match self.server.find(session)? {
                Some(found)
                    if found.node.path == node.path && held.is_unconfirmed(&found.node.data) =>
                {
                    node = found.node;
                    let is_written = session.write(&mut node, data.clone())?;
                    Ok(if is_written { WriteOutcome::Yes } else { WriteOutcome::Lost })
                }
                _ => Ok(WriteOutcome::Lost),
            }
        });
        match result {
            Ok(WriteOutcome::Yes) => {
                self.held =
                    Some(HeldNode { node: LeafNode { number, node }, unconfirmed: 0, ..held });
                Ok(())
            }
            Ok(WriteOutcome::Lost) => {
                self.lost = Some(lease.clone());
                Err(taken)
            }
            Err(error) => {
                self.held = Some(held);
                Err(error)
            }
        }
    }

    /// What the node says when all ticks up to `last` may be used.
    fn data(&self, last: u64, mark: u64) -> String {
        let ms = i64::try_from(unix_ms(Layout::TWITTER.begin_of(last))).unwrap_or(i64::MAX);
        self.server.data(ms, mark)
    }

    fn unusable(&self, problem: String) -> RegistryError {
        StorageError::unusable(format!("{} {}", PHRASES.subject, self.name()), problem).into()
    }
}

impl WorkerRegistry for LeafWorker {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if request.layout != Layout::TWITTER {
            let remembered = Layout::TWITTER;
            return Err(RegistryError::OtherLayout { remembered, asked: request.layout });
        }
        if let Some(held) = &self.held {
            return Err(RegistryError::FixedInUse { worker: held.node.number });
        }
        let found = self.call("read", |session| self.server.find(session))?;
        let (node, lease) = match found {
            Some(node) => self.take_over(node, request)?,
            None => self.make(request)?,
        };
        if let LeaseKind::Leased { holder, .. } = &lease.kind {
            let next_mark = first_mark(&lease).wrapping_add(1);
            self.held = Some(HeldNode { node, holder: holder.clone(), next_mark, unconfirmed: 0 });
        }
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let last = last.max(lease.last).min(Layout::TWITTER.max_tick());
        self.write(lease, last, "reserve the ticks of a worker id in")?;
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        // A lease that has been lost ends before the next one begins.
        if !self.held.as_ref().is_some_and(|held| is_of(&held.holder, lease)) {
            return Ok(());
        }
        self.write(lease, used.min(Layout::TWITTER.max_tick()), "give back a worker id in")?;
        self.held = None;
        Ok(())
    }

    fn name(&self) -> String {
        format!("{}{}", self.store.servers(), self.server.folder())
    }

    fn worker_ids_of(&self, _: &Layout) -> Option<RangeInclusive<u64>> {
        Some(1..=MAX_WORKER)
    }
}

/// The ticks of the worker id from `first`, or from the clock's, for a start.
fn lease(worker: u64, first: u64, request: &Request) -> Result<Lease, RegistryError> {
    let first = first.max(request.now);
    let max = request.layout.max_tick();
    let last = first.saturating_add(request.layout.ticks_in(RESERVED)).min(max);
    let holder = random_text().map_err(|error| {
        RegistryError::from(error.into_storage_error(
            &PHRASES,
            "ZooKeeper",
            "name a lease in",
            Duration::ZERO,
        ))
    })?;
    Ok(Lease::leased(worker, first..=last, RESERVED, holder))
}

/// The mark of the write that takes the node: at random, as the holder is.
fn first_mark(lease: &Lease) -> u64 {
    let LeaseKind::Leased { holder, .. } = &lease.kind else { return 0 };
    holder.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

fn is_of(holder: &str, lease: &Lease) -> bool {
    matches!(&lease.kind, LeaseKind::Leased { holder: its, .. } if its == holder)
}

fn fits(worker: u64) -> Result<(), RegistryError> {
    if worker > MAX_WORKER { Err(out_of_range(worker)) } else { Ok(()) }
}

fn out_of_range(worker: u64) -> RegistryError {
    RegistryError::WorkerRange { worker, max: MAX_WORKER }
}

fn storage_error(store: &ZooKeeper, doing: &str, error: Error, waited: Duration) -> RegistryError {
    error.into_storage_error(&PHRASES, &store.servers(), doing, waited).into()
}
