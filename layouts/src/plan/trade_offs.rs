//! Requirements to reduce if no layout meets all of them.

use std::fmt;

use serde::Serialize;

use crate::plan::sizing::{BITS, Needs};
use crate::quantity::Quantity;

/// What to reduce so that the needs fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TradeOffs {
    /// Each of these is enough by itself.
    AnyOf(Vec<Vec<Change>>),
    /// Only all of these together are enough.
    AllOf(Vec<Change>),
}

/// A need that is reduced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which one.
    pub what: What,
    /// The number that would fit.
    pub to: Quantity,
    /// The number that was asked for.
    pub from: Quantity,
}

/// A need that can be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the names of `Needs`
pub enum What {
    Years,
    RestartsPerDay,
    Nodes,
    Rate,
    Peak,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { what, to, from } = self;
        match what {
            What::Years => write!(f, "{} instead of {from}", to.of("year")),
            What::RestartsPerDay => write!(f, "{} a day instead of {from}", to.of("restart")),
            What::Nodes => write!(f, "{} instead of {from}", to.of("node")),
            What::Rate => write!(f, "{} a second instead of {from}", to.of("UID")),
            What::Peak => write!(f, "a peak of {to} instead of {from}"),
        }
    }
}

/// Changes as a list of words.
#[must_use]
pub fn listed(changes: &[Change]) -> String {
    changes.iter().map(Change::to_string).collect::<Vec<_>>().join(", ")
}

/// What to reduce so that `needs` fit.
#[must_use]
pub fn trade_offs(needs: &Needs) -> TradeOffs {
    let single = single_reductions(needs);
    if single.is_empty() {
        let less = uniform_reduction(needs);
        return TradeOffs::AllOf(less.map_or_else(Vec::new, |less| changes(needs, &less)));
    }
    TradeOffs::AnyOf(single.iter().map(|less| changes(needs, less)).collect())
}

/// What is different in `less`.
fn changes(needs: &Needs, less: &Needs) -> Vec<Change> {
    let whole = Quantity::whole;
    let is_peak = less.rate < needs.rate && needs.peak > needs.rate;
    let peaks = |needs: &Needs| if is_peak { needs.peak } else { whole(0) };
    [
        (What::Years, whole(less.years), whole(needs.years)),
        (What::RestartsPerDay, less.restarts_per_day, needs.restarts_per_day),
        (What::Nodes, whole(less.nodes), whole(needs.nodes)),
        (What::Rate, less.rate, needs.rate),
        (What::Peak, peaks(less), peaks(needs)),
    ]
    .into_iter()
    .filter(|(_, to, from)| to < from)
    .map(|(what, to, from)| Change { what, to, from })
    .collect()
}

/// The single needs that can be reduced so that all fit. Empty if reducing one is not enough.
fn single_reductions(needs: &Needs) -> Vec<Needs> {
    // The largest of `1..have` with which it fits.
    let largest = |have: u64, with: &dyn Fn(u64) -> Needs| {
        let (mut good, mut bad) = (0, have);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if fits(&with(middle)) { good = middle } else { bad = middle }
        }
        (good > 0).then(|| with(good))
    };
    let whole = |quantity: Quantity| quantity.thousandths / 1000;
    // Rates sink together, by thousandths of what they are.
    let slower = |part: u64| {
        let part = |rate: Quantity| Quantity::whole(whole(rate) * part / 1000);
        Needs { rate: part(needs.rate), peak: part(needs.peak), ..*needs }
    };
    [
        largest(needs.years, &|years| Needs { years, ..*needs }),
        largest(whole(needs.restarts_per_day), &|number| Needs {
            restarts_per_day: Quantity::whole(number),
            ..*needs
        }),
        largest(needs.nodes, &|nodes| Needs { nodes, ..*needs }),
        largest(1000, &slower).filter(|slower| whole(slower.rate) > 0),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn fits(needs: &Needs) -> bool {
    needs.smallest().bits() <= BITS
}

/// For when reducing one need is not enough: divides all by the same power of two.
fn uniform_reduction(needs: &Needs) -> Option<Needs> {
    (1..32)
        .map(|halvings| {
            let part = |number: u64| (number >> halvings).max(1);
            let quantity =
                |quantity: Quantity| Quantity { thousandths: quantity.thousandths >> halvings };
            Needs {
                years: part(needs.years),
                nodes: part(needs.nodes),
                restarts_per_day: quantity(needs.restarts_per_day),
                rate: quantity(needs.rate),
                peak: quantity(needs.peak),
                ..*needs
            }
        })
        .find(fits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{single_reductions, uniform_reduction};
    use crate::plan::sizing::{BITS, Needs};
    use crate::quantity::Quantity;
    use std::time::Duration;

    #[test]
    fn what_is_given_up_is_no_more_than_needed() {
        let greedy = Needs {
            above: 0,
            age_ms: 0,
            years: 50,
            nodes: 20,
            restarts_per_day: Quantity::whole(20),
            rate: Quantity::whole(5000),
            peak: Quantity::whole(5000),
            peak_for: Duration::from_secs(3600),
            peaks_per_day: Quantity::whole(1),
            max_lead: Duration::from_secs(24 * 3600),
        };
        assert!(greedy.smallest().bits() > BITS);
        assert_eq!(greedy.recommended(), None);
        let fits = |needs: &Needs| needs.recommended().is_some();
        let ways = single_reductions(&greedy);
        assert_eq!(ways.len(), 4, "{ways:?}");
        for way in &ways {
            assert!(fits(way), "{way:?}");
            if way.years < greedy.years {
                assert!(!fits(&Needs { years: way.years + 1, ..*way }));
            }
            if way.nodes < greedy.nodes {
                assert!(!fits(&Needs { nodes: way.nodes + 1, ..*way }));
            }
        }

        let absurd = Needs { nodes: 1_000_000_000, rate: Quantity::whole(1_000_000_000), ..greedy };
        let absurd = Needs { peak: absurd.rate, years: 10_000, ..absurd };
        assert!(single_reductions(&absurd).is_empty());
        assert!(fits(&uniform_reduction(&absurd).unwrap()));
    }
}
