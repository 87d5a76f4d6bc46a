//! Runs a search, and says what it found.

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

use stateright::{Checker, Expectation, HasDiscoveries, Model};

/// Searches all states of a model. Its properties must hold, and it must come to all that is
/// `sometimes` so.
///
/// # Panics
///
/// Where they do not, with the way there.
pub fn explore<M>(name: &str, model: M)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    let began = Instant::now();
    let checker = model.checker().threads(THREADS).spawn_bfs().join();
    println!(
        "{name}: {} states, depth {}, {:.1} s",
        checker.unique_state_count(),
        checker.max_depth(),
        began.elapsed().as_secs_f64()
    );
    checker.assert_properties();
}

/// Searches a model without one of its rules for a state in which `broken` does not hold, and
/// prints how long the shortest way to it is.
///
/// # Panics
///
/// Where there is none.
pub fn break_rule<M>(rule: &str, model: &M, broken: &'static str)
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    let of = model.properties().into_iter().find(|property| property.name == broken);
    assert!(of.is_some_and(|of| of.expectation == Expectation::Always), "{broken} is a promise");
    let mut shortest = None;
    // A search by breadth stops some states after the first that it finds, and tells the last.
    let mut depth = usize::MAX;
    loop {
        let finish = HasDiscoveries::AnyOf([broken].into());
        let search = model.clone().checker().finish_when(finish).target_max_depth(depth);
        let Some(path) = search.spawn_bfs().join().discovery(broken) else { break };
        let actions = path.into_actions();
        // States before the last one of this way.
        depth = actions.len() + 1;
        shortest = Some(actions);
    }
    let Some(actions) = shortest else { panic!("without {rule}, still {broken}") };
    println!("without {rule}: {} steps break \"{broken}\"", actions.len());
    if std::env::var_os("UIDRING_PATHS").is_some() {
        for action in actions {
            println!("    {action:?}");
        }
    }
}

const THREADS: usize = 2;
