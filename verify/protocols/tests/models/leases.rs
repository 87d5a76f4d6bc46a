use uidring_protocols::leases::properties::{EARLY, FOR_EVER, OUTSIDE, TOO_LATE, TWICE};
use uidring_protocols::leases::registry::Terms;
use uidring_protocols::leases::state::{Leases, Start};
use uidring_protocols::leases::{RULES, Rule, Rules};
use uidring_protocols::search::{break_rule, explore};

fn leased(store: usize, ids: (u8, u8), max_tick: u16) -> Start {
    Start { store, terms: Terms { ids, lease: Some((1, 1)), max_tick } }
}

/// Three processes that share leased ids in one store.
fn shared(max_tick: u16) -> Leases {
    Leases {
        rules: Rules::ALL,
        processes: 3,
        starts: vec![leased(0, (1, 2), max_tick)],
        clocks: vec![1],
        lead: 3,
        ahead: vec![0, 1],
        road: 1,
        has_operators: false,
        goes_back: false,
    }
}

/// Leased and permanent ids from one store, and operators.
fn mixed(max_tick: u16) -> Leases {
    let leased = leased(0, (1, 2), max_tick);
    let permanent = Start { terms: Terms { lease: None, ..leased.terms }, ..leased };
    Leases {
        starts: vec![leased, permanent],
        processes: 2,
        road: 0,
        has_operators: true,
        ..shared(max_tick)
    }
}

/// Two stores, each with a part of the ids, and a program that names the wrong part.
fn parts(max_tick: u16) -> Leases {
    let starts = [(0, (1, 1)), (1, (2, 2)), (0, (2, 2))];
    let starts = starts.map(|(store, ids)| leased(store, ids, max_tick)).to_vec();
    Leases { starts, processes: 2, road: 0, ..shared(max_tick) }
}

#[test]
fn shared_ids() {
    explore("shared ids", shared(3));
}

#[test]
fn mixed_ids() {
    explore("leased and permanent ids", mixed(3));
}

#[test]
fn parts_of_the_ids() {
    explore("parts of the ids", parts(3));
}

#[test]
#[ignore = "needs minutes"]
fn larger_shared_ids() {
    let model = Leases { clocks: vec![1, 3], ..shared(4) };
    explore("shared ids, clocks that jump", model);
}

#[test]
#[ignore = "needs minutes"]
fn larger_mixed_ids() {
    explore("leased and permanent ids, and requests on the road", Leases { road: 1, ..mixed(3) });
}

#[test]
fn each_rule_is_needed() {
    for rule in RULES {
        let (model, broken) = match rule {
            Rule::Expiry => (shared(4), EARLY),
            Rule::NotTooLate => (Leases { lead: 1, ..shared(4) }, TOO_LATE),
            Rule::PermanentStays | Rule::LargestGiven => (mixed(3), FOR_EVER),
            Rule::Partition => (parts(3), OUTSIDE),
            Rule::SameIds => (parts(3), TWICE),
            _ => (Leases { processes: 2, ..shared(4) }, TWICE),
        };
        let model = Leases { rules: Rules::without(rule), ..model };
        break_rule(&format!("{rule:?}"), &model, broken);
    }
}
