use uidring_protocols::past::{Ids, RULES, Rules, Sizes, TWICE};
use uidring_protocols::search::{break_rule, explore};

fn ids() -> Ids {
    let sizes = Sizes { ticks: 2, per_worker: 2 };
    Ids { rules: Rules::ALL, processes: 2, sizes, last: 2, takes: 4 }
}

#[test]
fn ids_of_the_past() {
    explore("ids of the past", ids());
}

#[test]
fn each_rule_is_needed() {
    for rule in RULES {
        let model = Ids { rules: Rules::without(rule), ..ids() };
        break_rule(&format!("{rule:?}"), &model, TWICE);
    }
}
