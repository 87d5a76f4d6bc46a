//! The rows of a registry: the model's, and those of a SQLite file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use uidring::registry::{Lease, RegistryAdmin, Request, WorkerRegistry};
use uidring::store::StoreRegistry;
use uidring::{Layout, RegistryError, RegistryOptions, StorageError, Store};
use uidring_protocols::leases::registry as model;
use uidring_protocols::leases::{Rule, Rules, Text};

use crate::folder;

/// How long a lease lasts, in seconds, and how many ticks come with it. So long that the time that
/// a test takes is nothing.
const LEASE: u16 = 2000;
/// The ids of the second and of the third of four parts of 16.
const PARTS: [(u8, u8); 2] = [(4, 7), (8, 11)];

#[derive(Clone, Debug)]
enum Step {
    /// The start, the tick of its clock, and how far ahead it may begin.
    Assign(usize, u16, u16),
    /// Which of the leases so far, and by how many ticks: back as well.
    Reserve(prop::sample::Index, i32),
    /// Which of the leases so far, and how many of its ticks were not used.
    Release(prop::sample::Index, u16),
    Revoke(u8),
    Delete(u8),
    Pass(u16),
}

fn step() -> impl Strategy<Value = Step> {
    let any = any::<prop::sample::Index>;
    let assign = |starts| (starts, 1000..6000_u16, 0..6000_u16);
    prop_oneof![
        8 => assign(0..1_usize).prop_map(|(start, now, lead)| Step::Assign(start, now, lead)),
        2 => assign(1..3_usize).prop_map(|(start, now, lead)| Step::Assign(start, now, lead)),
        6 => (any(), -1500..3000).prop_map(|(lease, by)| Step::Reserve(lease, by)),
        4 => (any(), 0..2000_u16).prop_map(|(lease, left)| Step::Release(lease, left)),
        1 => (4..8_u8).prop_map(Step::Revoke),
        1 => (4..8_u8).prop_map(Step::Delete),
        4 => prop_oneof![Just(1000_u16), Just(2000)].prop_map(Step::Pass),
    ]
}

/// The model and the file, and the leases that both have given, each with its start.
struct Pair {
    model: model::Registry,
    rules: Rules,
    file: PathBuf,
    starts: Vec<(model::Terms, StoreRegistry)>,
    leases: Vec<(usize, model::Lease, Lease)>,
    texts: BTreeMap<Text, String>,
    _folder: tempfile::TempDir,
}

fn layout() -> Layout {
    Layout::new(40, 4, 3).unwrap()
}

impl Pair {
    fn new(rules: Rules) -> Pair {
        let folder = folder();
        let file = folder.path().join("uidring.db");
        let start = |part: u64, lease: Option<u16>| {
            let options = RegistryOptions::new().partition(part, 4);
            let options = match lease {
                Some(lease) => options.leased(Duration::from_secs(lease.into())),
                None => options,
            };
            let registry = Store::open(&file).unwrap().registry_with(options).unwrap();
            let lease = lease.map(|lease| (lease, lease.cast_signed()));
            let terms =
                model::Terms { ids: PARTS[usize::from(part > 1)], lease, max_tick: u16::MAX };
            (terms, registry)
        };
        Pair {
            model: model::Registry::default(),
            rules,
            starts: vec![start(1, Some(LEASE)), start(1, None), start(2, Some(LEASE))],
            leases: Vec::new(),
            texts: BTreeMap::new(),
            file: file.clone(),
            _folder: folder,
        }
    }

    fn connect(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(&self.file).unwrap()
    }

    fn run(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Assign(start, now, lead) => self.assign(*start, *now, *lead)?,
            Step::Reserve(lease, by) if !self.leases.is_empty() => {
                let (start, one, other) = self.leases[lease.index(self.leases.len())].clone();
                let Some(text) = one.text else { return Ok(()) };
                let last = u16::try_from((i32::from(one.last) + by).max(1)).unwrap();
                let id = (one.worker, text);
                let modelled = self.model.reserve(id, last, LEASE.cast_signed(), self.rules);
                let real = self.starts[start].1.reserve(&other, last.into());
                same(step, &modelled.is_ok(), &is_done(real.map(drop)))?;
            }
            Step::Release(lease, left) if !self.leases.is_empty() => {
                let (start, one, other) = self.leases[lease.index(self.leases.len())].clone();
                let used = one.last.saturating_sub(*left);
                let Some(text) = one.text else { return Ok(()) };
                let modelled = self.model.release((one.worker, text), used, self.rules);
                let real = self.starts[start].1.release(&other, used.into());
                same(step, &modelled.is_ok(), &is_done(real))?;
            }
            Step::Revoke(worker) if self.model.ids.is_some() => {
                let real = self.starts[0].1.revoke((*worker).into());
                same(step, &self.model.revoke(*worker), &real.is_ok())?;
            }
            Step::Delete(worker) if self.model.ids.is_some() => {
                self.model.delete(*worker);
                let sql = "DELETE FROM worker_node WHERE id = ?1";
                self.connect().execute(sql, [*worker]).unwrap();
            }
            Step::Pass(seconds) if self.model.ids.is_some() => {
                self.model.pass(seconds.cast_signed());
                let sql = "UPDATE worker_node SET lease_until = lease_until - ?1";
                self.connect().execute(sql, [i64::from(*seconds) * 1000]).unwrap();
            }
            _ => {}
        }
        self.compare_rows(step)
    }

    fn assign(&mut self, start: usize, now: u16, lead: u16) -> Result<(), String> {
        let (terms, registry) = &mut self.starts[start];
        let latest = now + lead;
        let modelled = self.model.assign(terms, model::Request { now, latest }, self.rules);
        let real = registry.assign(&Request::new(layout(), now.into(), latest.into()));
        match (modelled, real) {
            (Ok(one), Ok(other)) => {
                let last = other.last.min(terms.max_tick.into());
                let modelled = (u64::from(one.worker), u64::from(one.first), u64::from(one.last));
                same(&"a lease", &modelled, &(other.worker, other.first, last))?;
                self.leases.push((start, one, other));
                Ok(())
            }
            (Err(model::Refusal::Exhausted), Err(RegistryError::Exhausted { .. }))
            | (
                Err(model::Refusal::OtherIds),
                Err(RegistryError::Storage(StorageError::Unusable { .. })),
            ) => Ok(()),
            (modelled, real) => Err(format!("the model: {modelled:?}, the file: {real:?}")),
        }
    }

    fn compare_rows(&mut self, step: &Step) -> Result<(), String> {
        if self.model.ids.is_none() {
            return Ok(());
        }
        let real = self.starts[0].1.workers().unwrap();
        same(step, &self.model.rows.len(), &real.len())?;
        for (row, real) in self.model.rows.iter().zip(&real) {
            same(step, &u64::from(row.worker), &real.id)?;
            same(step, &row.lease.is_some(), &real.lease.is_some())?;
            let (Some(one), Some(other)) = (&row.lease, &real.lease) else { continue };
            same(step, &u64::from(one.reserved_until), &other.reserved_until)?;
            same(step, &round(i64::from(one.lease_until)), &round(seconds_until(other.until)))?;
            same(step, &one.holder.is_some(), &other.holder.is_some())?;
            if let (Some(text), Some(holder)) = (one.holder, &other.holder) {
                let known = self.texts.entry(text).or_insert_with(|| holder.clone());
                same(step, known, holder)?;
            }
        }
        Ok(())
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    at: &impl std::fmt::Debug,
    modelled: &T,
    real: &T,
) -> Result<(), String> {
    if modelled == real {
        return Ok(());
    }
    Err(format!("at {at:?} the model has {modelled:?}, and the file {real:?}"))
}

/// Whether a call was done. Otherwise the lease must be lost.
fn is_done(result: Result<(), RegistryError>) -> bool {
    match result {
        Ok(()) => true,
        Err(RegistryError::LeaseLost { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

fn seconds_until(time: SystemTime) -> i64 {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap();
    match time.duration_since(SystemTime::now()) {
        Ok(left) => seconds(left),
        Err(error) => -seconds(error.duration()),
    }
}

/// To the next thousand, because the real clock goes on.
fn round(seconds: i64) -> i64 {
    (seconds + 500).div_euclid(1000)
}

fn compare(steps: &[Step], rules: Rules) -> Result<(), String> {
    let mut pair = Pair::new(rules);
    steps.iter().try_for_each(|step| pair.run(step))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_file_does_what_the_model_does(steps in steps()) {
        compare(&steps, Rules::ALL).map_err(TestCaseError::fail)?;
    }
}

/// The comparison sees each rule of the rows: without it, model and file differ. One start of a
/// file follows the other, so nobody can see in it that a row is lent only as it was found.
#[test]
fn the_comparison_sees_each_rule() {
    for rule in [
        Rule::ReserveByHolder,
        Rule::ReleaseByHolder,
        Rule::ForwardOnly,
        Rule::AfterReserved,
        Rule::FreshText,
        Rule::Expiry,
        Rule::NotTooLate,
        Rule::PermanentStays,
        Rule::LargestGiven,
        Rule::Partition,
        Rule::SameIds,
    ] {
        let mut runner = TestRunner::deterministic();
        let mut sequences = (1..=300).map(|number| {
            let steps = steps().new_tree(&mut runner).unwrap().current();
            (number, compare(&steps, Rules::without(rule)))
        });
        let found = sequences.find_map(|(number, result)| Some((number, result.err()?)));
        let (number, difference) = found.unwrap_or_else(|| panic!("{rule:?} is not seen"));
        println!("without {rule:?}, sequence {number}: {difference}");
    }
}
