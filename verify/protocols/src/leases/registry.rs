//! The rows of a registry and its statements, as `src/registry/sql/worker_table.rs` has them.

use super::{Rule, Rules, Text, Tick, Time, Worker};

/// A registry's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registry {
    /// By their ids.
    pub rows: Vec<Row>,
    pub largest_given: Worker,
    /// The ids that the registry was first used with: the first and the last.
    pub ids: Option<(Worker, Worker)>,
    /// How many leases have been given.
    pub leases: Text,
}

/// The row of a worker id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    pub worker: Worker,
    /// `None` if the id is given for ever.
    pub lease: Option<LeaseRow>,
}

/// What a row says about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseRow {
    pub holder: Option<Text>,
    pub reserved_until: Tick,
    /// When the id may be lent again; the store's clock is at 0.
    pub lease_until: Time,
}

/// How a process asks for ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The first and the last.
    pub ids: (Worker, Worker),
    /// How many ticks come with a lease beyond the first, and how long it lasts; `None` for
    /// permanent ids.
    pub lease: Option<(Tick, Time)>,
    pub max_tick: Tick,
}

/// What a process asks for: the tick of its clock, and the latest one at which it can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub now: Tick,
    pub latest: Tick,
}

/// An id with its ticks. Permanent ids have no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    pub worker: Worker,
    pub first: Tick,
    pub last: Tick,
    pub text: Option<Text>,
}

/// A row that was found free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Free {
    pub reserved_until: Tick,
    pub worker: Worker,
}

/// Why no id is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    OtherIds,
    Exhausted,
}

/// Another holder may have the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseLost;

impl Registry {
    /// Lets time pass, by the store's clock, or turns it back.
    pub fn pass(&mut self, time: Time) {
        for lease in self.rows.iter_mut().filter_map(|row| row.lease.as_mut()) {
            lease.lease_until -= time;
        }
    }

    /// One whole start.
    pub fn assign(
        &mut self,
        terms: &Terms,
        request: Request,
        rules: Rules,
    ) -> Result<Lease, Refusal> {
        self.begin(terms, rules)?;
        while let Some(free) = self.free(terms, request, rules) {
            if let Some(lease) = self.lend(free, terms, request, rules) {
                return Ok(lease);
            }
        }
        self.give_new(terms, request, rules)
    }

    /// Checks the ids of a start, which the first one stores.
    pub fn begin(&mut self, terms: &Terms, rules: Rules) -> Result<(), Refusal> {
        match self.ids {
            Some(ids) if ids != terms.ids && rules.have(Rule::SameIds) => Err(Refusal::OtherIds),
            _ => {
                self.ids = Some(terms.ids);
                Ok(())
            }
        }
    }

    /// Finds the id whose lease is over and whose ticks ended first.
    pub fn free(&self, terms: &Terms, request: Request, rules: Rules) -> Option<Free> {
        terms.lease?;
        let free = self.rows.iter().filter_map(|row| {
            let lease = match row.lease {
                Some(lease) => lease,
                None if rules.have(Rule::PermanentStays) => return None,
                None => LeaseRow { holder: None, reserved_until: 0, lease_until: 0 },
            };
            let is_over = lease.lease_until <= 0 || !rules.have(Rule::Expiry);
            let is_in_time = lease.reserved_until < request.latest || !rules.have(Rule::NotTooLate);
            (is_over && is_in_time)
                .then_some(Free { worker: row.worker, reserved_until: lease.reserved_until })
        });
        free.min()
    }

    /// Lends an id that was found free. `None` if its row has changed since.
    pub fn lend(
        &mut self,
        free: Free,
        terms: &Terms,
        request: Request,
        rules: Rules,
    ) -> Option<Lease> {
        let row = self.row(free.worker)?;
        let reserved_until = row.lease.map_or(free.reserved_until, |lease| lease.reserved_until);
        if reserved_until != free.reserved_until && rules.have(Rule::LendAsFound) {
            return None;
        }
        let first = if rules.have(Rule::AfterReserved) {
            request.now.max(free.reserved_until + 1)
        } else {
            request.now
        };
        Some(self.write_lease(free.worker, first, terms, rules))
    }

    /// Gives an id that was never given before.
    pub fn give_new(
        &mut self,
        terms: &Terms,
        request: Request,
        rules: Rules,
    ) -> Result<Lease, Refusal> {
        let (first, last) = if rules.have(Rule::Partition) { terms.ids } else { (1, terms.ids.1) };
        let given = if rules.have(Rule::LargestGiven) {
            self.largest_given
        } else {
            self.rows.iter().map(|row| row.worker).max().unwrap_or(0)
        };
        if given >= last {
            return Err(Refusal::Exhausted);
        }
        let worker = first.max(given + 1);
        self.rows.push(Row { worker, lease: None });
        self.rows.sort_by_key(|row| row.worker);
        self.largest_given = self.largest_given.max(worker);
        Ok(match terms.lease {
            None => Lease { worker, first: 0, last: terms.max_tick, text: None },
            Some(_) => self.write_lease(worker, request.now, terms, rules),
        })
    }

    fn write_lease(&mut self, worker: Worker, first: Tick, terms: &Terms, rules: Rules) -> Lease {
        let (ticks, time) = terms.lease.unwrap_or_default();
        let last = (first + ticks).min(terms.max_tick);
        self.leases += 1;
        let text = if rules.have(Rule::FreshText) { self.leases } else { 1 };
        if let Some(row) = self.row(worker) {
            row.lease =
                Some(LeaseRow { holder: Some(text), reserved_until: last, lease_until: time });
        }
        Lease { worker, first, last, text: Some(text) }
    }

    /// Reserves ticks up to `last` for the holder `text` of `worker`.
    pub fn reserve(
        &mut self,
        (worker, text): (Worker, Text),
        last: Tick,
        time: Time,
        rules: Rules,
    ) -> Result<(), LeaseLost> {
        let lease = self.held(worker, text, rules.have(Rule::ReserveByHolder))?;
        lease.reserved_until =
            if rules.have(Rule::ForwardOnly) { lease.reserved_until.max(last) } else { last };
        lease.lease_until = time;
        Ok(())
    }

    /// Frees the id `worker` of the holder `text`, who has used no tick after `used`.
    pub fn release(
        &mut self,
        (worker, text): (Worker, Text),
        used: Tick,
        rules: Rules,
    ) -> Result<(), LeaseLost> {
        let lease = self.held(worker, text, rules.have(Rule::ReleaseByHolder))?;
        *lease = LeaseRow { holder: None, reserved_until: used, lease_until: 0 };
        Ok(())
    }

    /// Frees the leased id `worker`, whoever holds it. Returns whether there is such an id.
    pub fn revoke(&mut self, worker: Worker) -> bool {
        let Some(lease) = self.row(worker).and_then(|row| row.lease.as_mut()) else { return false };
        (lease.holder, lease.lease_until) = (None, 0);
        true
    }

    /// Deletes the row of `worker`, as an operator may.
    pub fn delete(&mut self, worker: Worker) {
        self.rows.retain(|row| row.worker != worker);
    }

    fn row(&mut self, worker: Worker) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.worker == worker)
    }

    /// The row of `worker`, if `text` holds it.
    fn held(
        &mut self,
        worker: Worker,
        text: Text,
        is_compared: bool,
    ) -> Result<&mut LeaseRow, LeaseLost> {
        let lease = self.row(worker).and_then(|row| row.lease.as_mut()).ok_or(LeaseLost)?;
        if is_compared && lease.holder != Some(text) { Err(LeaseLost) } else { Ok(lease) }
    }
}
