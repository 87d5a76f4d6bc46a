//! Thousands of scopes in one process: what one that is in use costs, and that one that rests costs
//! nothing.

use std::time::Duration;

use stats_alloc::Region;
use uidring::Store;
use uidring::series::{Series, SeriesDefinition};

use crate::alone::alone;
use crate::folder::folder;
use crate::rows::wait_for;
use crate::{MEMORY, held};

const SCOPES: isize = 1000;

#[test]
fn a_scope_in_use_costs_little_and_one_that_rests_nothing() {
    alone("scopes::a_scope_in_use_costs_little_and_one_that_rests_nothing", || {
        let folder = folder();
        let store = Store::open(folder.path().join("uidring.db")).unwrap();
        let rest = Duration::from_secs(3);
        let series = Series::builder().store(&store).rest(rest).build().unwrap();
        let definition = SeriesDefinition::new("{scope}-{yyyy}-{n}").unwrap();
        let orders = series.create("orders", definition).unwrap();
        // What is allocated once is not theirs.
        orders.scope("first").take().unwrap();
        let all = Region::new(MEMORY);
        for scope in 0..SCOPES {
            orders.scope(&format!("shop-{scope}")).take().unwrap();
        }
        let each = held(&all) / SCOPES;
        assert!(each < 1160, "{each} bytes a scope");
        // Whoever asks for a scope forgets those that rest, and the loader what they had.
        wait_for("memory", || {
            let _ = orders.scope("shop-1");
            // Lists keep their capacity.
            orders.status().scopes <= 2 && held(&all) / SCOPES < 300
        });
    });
}
