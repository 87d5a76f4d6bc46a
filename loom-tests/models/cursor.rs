//! What moves the cursor beside takes: the filler skips what is stale, a ring is closed and opened,
//! a take may refuse, or fail and give its ticket back.

use uidring_loom_tests::{BLOCK, FIRST_TICKET, MANY, Model, NOW, explore, explore_from};

/// The filler moves the cursor while it is used: a ticket passed over is nobody's.
#[test]
fn skip_take() {
    explore("skip_take", Some(3), || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(2));
        model.ring.skip_to(FIRST_TICKET + 3);
        model.takes(1);
        other.join().unwrap();
        model.check();
    });
}

#[test]
fn skip_refill_take() {
    explore("skip_refill_take", Some(2), || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(3));
        model.ring.skip_to(FIRST_TICKET + 3);
        model.refill();
        other.join().unwrap();
        model.check();
    });
}

/// What is claimed while the ring is closed is nothing, and uses nothing up.
#[test]
fn close_take_open() {
    explore("close_take_open", None, || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(3));
        model.ring.close();
        model.ring.skip_to(FIRST_TICKET + 1);
        model.ring.open();
        other.join().unwrap();
        model.check();
    });
}

/// Two threads close and open the ring.
#[test]
fn close_close() {
    fn close_and_open(model: &Model) {
        model.ring.close();
        model.ring.open();
    }

    explore("close_close", None, || {
        let model = Model::new(2, MANY);
        let taker = model.spawn(|model| model.takes(2));
        let other = model.spawn(close_and_open);
        close_and_open(&model);
        taker.join().unwrap();
        other.join().unwrap();
        model.check();
    });
}

/// Takes that fail at the end of the window claim nothing in vain.
#[test]
fn try_take_try_take() {
    explore("try_take_try_take", Some(3), || {
        let model = Model::new(1, 1);
        let other = model.spawn(|model| model.try_takes(2));
        model.try_takes(2);
        other.join().unwrap();
        model.check();
        assert_eq!(model.history.uids().len(), 2, "two were there, and two were taken");
    });
}

/// Takes that fail at the end of the window give back all that they have claimed.
#[test]
fn fail_fail() {
    explore("fail_fail", Some(3), || {
        let model = Model::new(1, 1);
        let other = model.spawn(|model| model.failing_takes(2));
        model.failing_takes(2);
        other.join().unwrap();
        model.check();
        assert_eq!(model.history.uids().len() as u64, BLOCK, "a block was there, and was taken");
        assert_eq!(model.ring.position(), FIRST_TICKET + BLOCK, "nothing else was used up");
    });
}

/// Two takes fail while the window moves on and the ring is opened. A ticket that was given back
/// comes again only if no later one is held.
#[test]
fn fail_fail_open() {
    explore_from(
        "fail_fail_open",
        Some(2),
        || {
            let model = Model::with_reserved(1, 1, 3);
            model.takes(BLOCK);
            model
        },
        |model| {
            let others = [(); 2].map(|()| model.spawn(|model| model.failing_takes(1)));
            model.extend(NOW + 1);
            model.ring.open();
            model.failing_takes(1);
            for other in others {
                other.join().unwrap();
            }
            // What is still out of its turn is lost.
            model.ring.open();
            model.check();
        },
    );
}
