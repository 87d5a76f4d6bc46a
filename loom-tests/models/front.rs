//! Models of the ready range, which takers advance and the filler shortens, beside takes that read
//! it.

use std::sync::Arc;

use uidring::model::{Block, Counter};
use uidring_loom_tests::{
    BLOCK, FIRST_BLOCK, FIRST_TICKET, MANY, Model, NOW, WORKER, explore, explore_from,
};

/// A full ring whose two blocks do not have consecutive ticks.
fn with_gap() -> Arc<Model> {
    let model = Model::new(1, MANY);
    model.ring.window().set(model.window(NOW + 10, NOW + MANY, WORKER));
    model.publish(FIRST_BLOCK + 1);
    model
}

/// Two takers across a gap. No ready range extends over it, and no take uses a mixture of two.
fn across_a_gap(name: &str, preemptions: usize, other: fn(&Model)) {
    explore_from(name, Some(preemptions), with_gap, move |model| {
        let other = model.spawn(other);
        model.takes(2);
        other.join().unwrap();
        model.check_taken();
    });
}

#[test]
fn gap() {
    across_a_gap("gap", 3, |model| {
        model.takes(2);
    });
}

/// One of the takers uses `try_take`.
#[test]
fn gap_try_take() {
    across_a_gap("gap_try_take", 2, |model| model.try_takes(2));
}

/// A ready range is replaced by a longer one after a gap. A taker may have read parts of both.
#[test]
fn longer() {
    let prepare = || {
        let model = with_gap();
        model.ring.cursor.skip_to(FIRST_TICKET + 1);
        model.takes(1);
        let claim = model.claim(1);
        assert_eq!(model.refill(), 1);
        (model, claim)
    };
    // This thread advances the front, and the spawned one takes: loom runs this one first, so the
    // take happens between its steps.
    explore_from("longer", None, prepare, |(model, claim)| {
        let taker = model.spawn(|model| model.takes(1));
        model.use_up(claim);
        taker.join().unwrap();
        model.check_taken();
    });
}

/// The clock goes back while a taker advances the front. After the next maintenance, nothing beyond
/// the window is handed out.
#[test]
fn drawn_back() {
    explore("drawn_back", None, || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(1));
        model.ring.window().set(model.window(NOW, NOW, WORKER));
        model.ring.draw_back();
        other.join().unwrap();
        model.ring.draw_back();
        model.takes(1);
        let ticket = model.ring.take().unwrap_err();
        assert_eq!(model.publish_up_to(ticket / BLOCK, &Counter::default()), Block::Beyond);
        model.check_taken();
    });
}

/// The clock goes back past the whole ready range, and comes back. A taker that waited with an
/// earlier ticket does not move the front back.
#[test]
fn drawn_back_to_its_start() {
    let prepare = || {
        let model = Model::new(2, MANY);
        let claim = model.claim(BLOCK);
        model.takes(1);
        model.ring.window().set(model.window(NOW - 1, NOW - 1, WORKER));
        model.ring.draw_back();
        model.ring.window().set(model.window(NOW, NOW + MANY, WORKER));
        (model, claim)
    };
    explore_from("drawn_back_to_its_start", None, prepare, |(model, claim)| {
        let waiting = model.spawn(|model| model.use_up(claim));
        model.takes(1);
        waiting.join().unwrap();
        model.check_taken();
    });
}
