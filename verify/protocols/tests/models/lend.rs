use uidring_protocols::lend::{BOTH, Pool, RULES, Rule, Rules, TWICE};
use uidring_protocols::search::{break_rule, explore};

fn pool() -> Pool {
    Pool {
        rules: Rules::ALL,
        ahead: vec![2, 0],
        lease: 2,
        rest: 1,
        back: 2,
        last: 5,
        loans: 2,
        has_strays: false,
    }
}

#[test]
fn worker_ids_that_are_lent() {
    explore("worker ids that are lent", Pool { last: 4, ..pool() });
}

/// The last one shows what no store can keep: a generator that goes on after its lease.
#[test]
fn each_rule_is_needed() {
    for rule in RULES {
        let promise = match rule {
            Rule::AsFound | Rule::Rests | Rule::HoldersAlone | Rule::CountsFromBefore => BOTH,
            Rule::ClockShowsMore | Rule::ClockIsRemembered | Rule::EndsInTime => TWICE,
        };
        // A return that comes late ends the loan of another, and a third one begins.
        let is_late = rule == Rule::HoldersAlone;
        let loans = if is_late { 3 } else { 2 };
        let back = if rule == Rule::ClockIsRemembered { 2 } else { 0 };
        let rules = Rules::without(rule);
        let model = Pool { rules, loans, back, has_strays: is_late, ..pool() };
        break_rule(&format!("{rule:?}"), &model, promise);
    }
}
