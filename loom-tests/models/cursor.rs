//! Models of the cursor beside takes: the filler skips stale blocks, the ring is closed and opened,
//! and takes fail, with or without a ticket to give back.

use uidring_loom_tests::{BLOCK, FIRST_TICKET, MANY, Model, NOW, explore, explore_from};

/// The filler moves the cursor while takers use it. Nobody holds a skipped ticket.
#[test]
fn skip_take() {
    explore("skip_take", Some(3), || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(2));
        model.ring.cursor.skip_to(FIRST_TICKET + 3);
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
        model.ring.cursor.skip_to(FIRST_TICKET + 3);
        model.refill();
        other.join().unwrap();
        model.check();
    });
}

/// Claims from a closed ring yield no tickets and consume nothing.
#[test]
fn close_take_open() {
    explore("close_take_open", None, || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(3));
        model.ring.cursor.close();
        model.ring.cursor.skip_to(FIRST_TICKET + 1);
        model.ring.cursor.open();
        other.join().unwrap();
        model.check();
    });
}

/// Two threads close and open the ring.
#[test]
fn close_close() {
    fn close_and_open(model: &Model) {
        model.ring.cursor.close();
        model.ring.cursor.open();
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

/// `try_take` claims nothing when it fails at the end of the window.
#[test]
fn try_take_try_take() {
    explore("try_take_try_take", Some(3), || {
        let model = Model::new(1, 1);
        let other = model.spawn(|model| model.try_takes(2));
        model.try_takes(2);
        other.join().unwrap();
        model.check();
        assert_eq!(model.history.uids().len(), 2, "the two UIDs of the block were taken");
    });
}

/// Takes that fail at the end of the window give back all their tickets.
#[test]
fn fail_fail() {
    explore("fail_fail", Some(3), || {
        let model = Model::new(1, 1);
        let other = model.spawn(|model| model.failing_takes(2));
        model.failing_takes(2);
        other.join().unwrap();
        model.check();
        assert_eq!(model.history.uids().len() as u64, BLOCK, "the UIDs of the block were taken");
        assert_eq!(
            model.ring.cursor.position(),
            FIRST_TICKET + BLOCK,
            "no other ticket was used up"
        );
    });
}

/// Two takes fail while the window is extended and the ring is opened. A ticket that was given back
/// is claimed again only if no later one is held.
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
            model.ring.cursor.open();
            model.failing_takes(1);
            for other in others {
                other.join().unwrap();
            }
            // Opening the ring loses the tickets that were given back out of order.
            model.ring.cursor.open();
            model.check();
        },
    );
}
