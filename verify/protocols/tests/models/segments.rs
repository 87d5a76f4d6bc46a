use uidring_protocols::search::{break_rule, explore};
use uidring_protocols::segments::model::{HANDS, ONE_ROW, ORDER, Operators, STOPPED, TWICE, Tag};
use uidring_protocols::segments::{RULES, Rule, Rules};

fn tag(largest: u16, operators: Operators) -> Tag {
    Tag { rules: Rules::ALL, processes: 3, counts: vec![1, 2], largest, road: 2, operators }
}

#[test]
fn segments() {
    explore("segments", tag(5, Operators::Nothing));
}

#[test]
fn segments_of_a_tag_created_again() {
    explore("segments, a tag created again", tag(3, Operators::CreateAgain));
}

#[test]
fn segments_of_an_old_copy() {
    explore("segments, an old copy", Tag { road: 1, ..tag(3, Operators::Restore) });
}

#[test]
fn each_rule_is_needed() {
    for rule in RULES {
        let (operators, broken) = match rule {
            Rule::BackToItsRow => (Operators::CreateAgain, TWICE),
            Rule::SameRow => (Operators::CreateAgain, ONE_ROW),
            Rule::InOrder => (Operators::Restore, ORDER),
            Rule::StopsAfterGoingBack => (Operators::Restore, STOPPED),
            Rule::LoadAtOnce => (Operators::Nothing, HANDS),
            _ => (Operators::Nothing, TWICE),
        };
        let model = Tag { rules: Rules::without(rule), ..tag(5, operators) };
        break_rule(&format!("{rule:?}"), &model, broken);
    }
}
