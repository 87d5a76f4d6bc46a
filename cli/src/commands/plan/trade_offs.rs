//! Requirements to reduce if no layout meets all of them.

use indicatif::HumanCount;
use uidring_args::quantity::Quantity;

use crate::commands::plan::sizing::{BITS, Needs};
use crate::text::words::counted;

/// What to reduce so that the needs fit.
pub(crate) enum TradeOffs {
    /// Each of these is enough by itself.
    AnyOf(Vec<String>),
    /// Only all of these together are enough.
    AllOf(Vec<String>),
}

pub(crate) fn trade_offs(needs: &Needs) -> TradeOffs {
    let single = single_reductions(needs);
    if single.is_empty() {
        let less = uniform_reduction(needs);
        return TradeOffs::AllOf(less.map_or_else(Vec::new, |less| changes(needs, &less)));
    }
    TradeOffs::AnyOf(single.iter().map(|less| changes(needs, less).join(", ")).collect())
}

/// What is different in `less`.
fn changes(needs: &Needs, less: &Needs) -> Vec<String> {
    let mut changes = Vec::new();
    let fewer = |some: u64, name: &str, all: u64| {
        format!("{} instead of {}", counted(some, name), HumanCount(all))
    };
    if less.years < needs.years {
        changes.push(fewer(less.years, "year", needs.years));
    }
    if less.restarts_per_day < needs.restarts_per_day {
        changes.push(format!(
            "{} a day instead of {}",
            less.restarts_per_day.of("restart"),
            needs.restarts_per_day
        ));
    }
    if less.nodes < needs.nodes {
        changes.push(fewer(less.nodes, "node", needs.nodes));
    }
    if less.rate < needs.rate {
        changes.push(format!("{} a second instead of {}", less.rate.of("UID"), needs.rate));
        if needs.peak > needs.rate {
            changes.push(format!("a peak of {} instead of {}", less.peak, needs.peak));
        }
    }
    changes
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
    use crate::commands::plan::sizing::{BITS, Needs};
    use std::time::Duration;
    use uidring_args::quantity::Quantity;

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
