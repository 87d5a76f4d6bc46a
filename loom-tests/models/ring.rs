//! Models of a ring without a generator: takers, refills, and publishers that help each other.

use uidring_loom_tests::{FIRST_BLOCK, MANY, Model, NOW, WORKER, explore};

/// How many blocks have been published in a ring that began with `blocks` of them.
fn published_since(model: &Model, blocks: u64) -> u64 {
    model.ring.tail() - FIRST_BLOCK - blocks
}

/// Two takers on a full ring, across the end of the first block. Each may need the second block and
/// advance the front.
#[test]
fn take_take() {
    explore("take_take", None, || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(2));
        let published = model.takes(2);
        assert_eq!(published + other.join().unwrap(), 0, "nothing was missing");
        model.check();
    });
}

#[test]
fn take_take_take() {
    explore("take_take_take", Some(2), || {
        let model = Model::new(2, MANY);
        let a = model.spawn(|model| model.takes(1));
        let b = model.spawn(|model| model.takes(1));
        model.takes(2);
        a.join().unwrap();
        b.join().unwrap();
        model.check();
    });
}

/// Runs `act` on an empty ring beside a publisher of the first block. Together they publish
/// `blocks` blocks.
fn beside_a_publisher(name: &str, blocks: u64, act: fn(&Model) -> u64, check: fn(&Model)) {
    explore(name, None, move || {
        let model = Model::new(0, MANY);
        let other = model.spawn(|model| model.publish(2));
        let published = act(&model) + other.join().unwrap();
        assert_eq!(published, blocks, "a block has one publisher");
        check(&model);
    });
}

/// A block is published by a thread that has no ticket in it, as `try_take` does.
#[test]
fn publish_take() {
    beside_a_publisher("publish_take", 1, |model| model.takes(2), Model::check);
}

/// A claim that spans two blocks, against single takes.
#[test]
fn fill_take() {
    explore("fill_take", Some(3), || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.fill(3));
        model.takes(2);
        other.join().unwrap();
        model.check();
    });
}

/// Claims of several UIDs from the ready range, against single takes that move it on.
#[test]
fn claim_take() {
    explore("claim_take", Some(3), || {
        let model = Model::new(2, MANY);
        let other = model.spawn(|model| model.takes(3));
        model.try_claim_many(2);
        model.try_claim_many(2);
        other.join().unwrap();
        model.try_claim_many(2);
        model.check();
    });
}

/// The filler follows a taker on a full ring and overwrites the blocks that the taker has used up.
#[test]
fn take_refill() {
    explore("take_refill", None, || {
        let model = Model::new(2, MANY);
        let filler = model.spawn(Model::refill);
        let inline = model.takes(4);
        let filled = filler.join().unwrap();
        assert_eq!(inline + filled, published_since(&model, 2), "a block has one publisher");
        model.check();
    });
}

/// A taker reaches the tail while the filler publishes.
#[test]
fn take_meets_refill() {
    explore("take_meets_refill", Some(3), || {
        let model = Model::new(1, MANY);
        let filler = model.spawn(Model::refill);
        let inline = model.takes(4);
        let filled = filler.join().unwrap();
        assert_eq!(inline + filled, published_since(&model, 1), "a block has one publisher");
        model.check();
    });
}

#[test]
fn take_take_refill() {
    explore("take_take_refill", Some(1), || {
        let model = Model::new(1, MANY);
        let filler = model.spawn(Model::refill);
        let other = model.spawn(|model| model.takes(1));
        let inline = model.takes(2);
        let filled = filler.join().unwrap();
        let inline = inline + other.join().unwrap();
        assert_eq!(inline + filled, published_since(&model, 1), "a block has one publisher");
        model.check();
    });
}

/// Two fillers, and room for one block: nothing that can still be taken is overwritten.
#[test]
fn refill_refill() {
    explore("refill_refill", None, || {
        let model = Model::new(1, MANY);
        let other = model.spawn(Model::refill);
        let filled = model.refill() + other.join().unwrap();
        assert_eq!(filled, 1, "there is room for one block");
        assert_eq!(model.takes(4), 0, "all of it is there");
        assert_eq!(model.ring.cursor.lost(), 0, "none of it was overwritten");
        model.check();
    });
}

/// Two publishers of one block.
#[test]
fn publish_publish() {
    beside_a_publisher("publish_publish", 1, |model| model.publish(2), Model::check_blocks);
}

/// One of two publishers goes on to the next block, whose base follows one that the other may still
/// be publishing.
#[test]
fn publish_ahead() {
    beside_a_publisher("publish_ahead", 2, |model| model.publish(3), Model::check_blocks);
}

#[test]
fn publish_publish_publish() {
    explore("publish_publish_publish", Some(2), || {
        let model = Model::new(0, MANY);
        let a = model.spawn(|model| model.publish(2));
        let b = model.spawn(|model| model.publish(2));
        let published = model.publish(3) + a.join().unwrap() + b.join().unwrap();
        assert_eq!(published, 2, "a block has one publisher");
        model.check_blocks();
    });
}

/// A taker holds a ticket while others use up its block and overwrite it.
#[test]
fn stalled_ticket() {
    explore("stalled_ticket", Some(3), || {
        let model = Model::new(2, MANY);
        let claim = model.claim(1);
        let slow = model.spawn(move |model| model.use_up(claim));
        model.fill(5);
        slow.join().unwrap();
        model.check();
    });
}

/// A taker stops anywhere, also between reading the front and its claim, while the slots are
/// reused.
#[test]
fn stalled_take() {
    explore("stalled_take", Some(3), || {
        let model = Model::new(2, MANY);
        let slow = model.spawn(|model| model.takes(1));
        model.fill(5);
        slow.join().unwrap();
        model.check();
    });
}

/// A publisher stops anywhere while others publish the next lap in the same slot and the window
/// moves. When it continues it must change nothing.
#[test]
fn late_publisher() {
    explore("late_publisher", Some(3), || {
        let model = Model::new(0, MANY);
        let slow = model.spawn(|model| model.publish(2));
        model.publish(4);
        model.ring.window().set(model.window(NOW + 10, NOW + 10 + MANY, WORKER));
        slow.join().unwrap();
        model.check_blocks();
        assert_eq!(model.ring.tail(), 5);
    });
}
