//! The row of a tag: the model's, and that of a SQLite file.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use uidring::Store;
use uidring::segment::{Segment, SegmentAdmin, SegmentError, SegmentSource, Tag};
use uidring::store::StoreSegments;
use uidring_protocols::segments::table::{self, Refusal, Table};
use uidring_protocols::segments::{Key, Rule, Rules};

use crate::folder;

const TAG: &str = "orders";

#[derive(Clone, Debug)]
enum Step {
    Load(usize, u16),
    /// Which of the segments so far is given back, and how many of its numbers were handed out.
    GiveBack(prop::sample::Index, u16),
    Restart(usize),
    Create(u16),
    Remove,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..3_usize, 1..5_u16).prop_map(|(process, count)| Step::Load(process, count)),
        6 => (any::<prop::sample::Index>(), 0..4_u16)
            .prop_map(|(segment, used)| Step::GiveBack(segment, used)),
        1 => (0..3_usize).prop_map(Step::Restart),
        2 => (1..8_u16).prop_map(Step::Create),
        1 => Just(Step::Remove),
    ]
}

struct Pair {
    model: Table,
    rules: Rules,
    folder: tempfile::TempDir,
    operator: StoreSegments,
    processes: Vec<(Option<Key>, StoreSegments)>,
    /// Whose they are, and the segments.
    loaded: Vec<(usize, table::Segment)>,
}

impl Pair {
    fn new(rules: Rules) -> Pair {
        let folder = folder();
        let open = || Store::open(folder.path().join("uidring.db")).unwrap().segments().unwrap();
        let operator = open();
        operator.create(TAG, &Tag::new().step(2)).unwrap();
        let mut model = Table::default();
        model.create(1);
        let processes = (0..3).map(|_| (None, open())).collect();
        Pair { model, rules, operator, processes, loaded: Vec::new(), folder }
    }

    fn run(&mut self, step: &Step) -> Result<(), String> {
        let (modelled, real) = match step {
            Step::Load(process, count) => self.load(*process, *count),
            Step::GiveBack(index, used) if !self.loaded.is_empty() => {
                self.give_back(index.index(self.loaded.len()), *used)
            }
            Step::Restart(process) => {
                let file = self.folder.path().join("uidring.db");
                self.processes[*process] = (None, Store::open(file).unwrap().segments().unwrap());
                self.loaded.retain(|(owner, _)| owner != process);
                return Ok(());
            }
            Step::Create(first) => {
                if self.model.row.is_none() {
                    // The time of its making tells a row from the one before.
                    std::thread::sleep(Duration::from_millis(2));
                    self.operator.create(TAG, &Tag::new().first((*first).into())).unwrap();
                }
                self.model.create(*first);
                (String::new(), String::new())
            }
            Step::Remove => {
                let real = self.operator.remove(TAG, None).is_ok();
                (self.model.remove().to_string(), real.to_string())
            }
            Step::GiveBack(..) => return Ok(()),
        };
        let next = self.operator.tags().unwrap().first().map(|tag| tag.next);
        let ends = self.model.row.map(|row| u64::from(row.last) + 1);
        if (&modelled, ends) == (&real, next) {
            return Ok(());
        }
        Err(format!("at {step:?} the model has {modelled} {ends:?}, and the file {real} {next:?}"))
    }

    fn load(&mut self, process: usize, count: u16) -> (String, String) {
        let (known, source) = &mut self.processes[process];
        let modelled = match self.model.load(*known, count, self.rules) {
            Ok((segment, key)) => {
                *known = known.or(Some(key));
                self.loaded.push((process, segment));
                format!("{} {} {}", segment.first, segment.count, segment.row_end)
            }
            Err(refusal) => format!("{refusal:?}"),
        };
        let real = match source.load(TAG, Some(count.into())) {
            Ok(Segment { first, count, row_end, .. }) => format!("{first} {count} {row_end}"),
            Err(SegmentError::NoSuchTag { .. }) => format!("{:?}", Refusal::NoRow),
            Err(SegmentError::BadRow { .. }) => format!("{:?}", Refusal::OtherRow),
            Err(error) => panic!("{error}"),
        };
        (modelled, real)
    }

    fn give_back(&mut self, index: usize, used: u16) -> (String, String) {
        let (process, segment) = self.loaded[index];
        let used = used.min(segment.count - 1);
        let (first, count) = (segment.first + used, segment.count - used);
        let unused = table::Segment { first, count, ..segment };
        let (known, source) = &self.processes[process];
        let modelled = self.model.give_back(*known, unused, self.rules);
        let [first, count, row_end] = [first, count, segment.row_end].map(u64::from);
        let real = source.give_back(TAG, &Segment::new(first, count, 1, row_end)).unwrap();
        (modelled.to_string(), real.to_string())
    }
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

/// The comparison sees each rule of the row: without it, model and file differ.
#[test]
fn the_comparison_sees_each_rule() {
    for rule in [Rule::EndMatches, Rule::BackToItsRow, Rule::SameRow] {
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
