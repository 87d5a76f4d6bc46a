//! The window of what may be published is moved while others publish: helpers come with different candidates.

use loom::sync::atomic::AtomicU64;
use uidring::model::Block;
use uidring_loom_tests::{MANY, Model, NOW, WORKER, explore};

const NEXT_WORKER: u64 = 2;

/// Two publishers of one block, one of whom may know a later window than the other.
#[test]
fn window_moves() {
    explore("window_moves", Some(3), || {
        let model = Model::new(0, MANY);
        let other = model.spawn(|model| model.publish(2));
        model.ring.set_window(model.window(NOW + 10, NOW + 10 + MANY, WORKER));
        let published = model.publish(2) + other.join().unwrap();
        assert_eq!(published, 1, "a block has one publisher");
        model.check_blocks();
    });
}

/// The window moves by more than its width: at no time is it empty.
#[test]
fn window_moves_far() {
    explore("window_moves_far", None, || {
        let model = Model::new(0, 2);
        let other = model.spawn(|model| model.publish(2));
        model.ring.set_window(model.window(NOW + 10, NOW + 12, WORKER));
        other.join().unwrap();
        model.check_blocks();
    });
}

/// Two publishers, and a window that moves under both.
#[test]
fn window_moves_under_two() {
    explore("window_moves_under_two", Some(2), || {
        let model = Model::new(0, MANY);
        let a = model.spawn(|model| model.publish(2));
        let b = model.spawn(|model| model.publish(2));
        model.ring.set_window(model.window(NOW + 10, NOW + 10 + MANY, WORKER));
        let published = a.join().unwrap() + b.join().unwrap();
        assert_eq!(published, 1, "a block has one publisher");
        model.check_blocks();
    });
}

/// Another worker is taken on: what was published for it is never followed by a second of the old one, or repeated.
#[test]
fn worker_changes() {
    explore("worker_changes", Some(3), || {
        let model = Model::new(1, MANY);
        let other = model.spawn(|model| model.publish(3));
        model.ring.set_window(model.window(NOW, NOW + MANY, NEXT_WORKER));
        let published = model.publish(4) + other.join().unwrap();
        assert_eq!(published, 2, "a block has one publisher");
        model.check_blocks();
    });
}

#[test]
fn worker_changes_under_two() {
    explore("worker_changes_under_two", Some(2), || {
        let model = Model::new(1, MANY);
        let a = model.spawn(|model| model.publish(3));
        let b = model.spawn(|model| model.publish(3));
        model.ring.set_window(model.window(NOW, NOW + MANY, NEXT_WORKER));
        let published = a.join().unwrap() + b.join().unwrap();
        assert_eq!(published, 1, "a block has one publisher");
        model.check_blocks();
    });
}

/// The same, and then the new worker's window moves.
#[test]
fn worker_changes_and_moves() {
    explore("worker_changes_and_moves", Some(3), || {
        let model = Model::new(1, MANY);
        let other = model.spawn(|model| model.publish(3));
        model.ring.set_window(model.window(NOW, NOW + MANY, NEXT_WORKER));
        model.ring.set_window(model.window(NOW + 1, NOW + 1 + MANY, NEXT_WORKER));
        other.join().unwrap();
        model.check_blocks();
    });
}

/// Two publishers come to the end of the window. Neither is told of it too early, what the ring holds stays, and
/// publishing goes on where it stopped.
#[test]
fn window_ends() {
    fn to_the_end(model: &Model) -> u64 {
        let published = AtomicU64::new(0);
        assert_ne!(model.block(3, &published), Block::Beyond, "the window has room for block 3");
        assert_eq!(model.block(4, &published), Block::Beyond);
        published.load(loom::sync::atomic::Ordering::Relaxed)
    }

    explore("window_ends", Some(3), || {
        let model = Model::new(0, 2);
        let other = model.spawn(to_the_end);
        let published = to_the_end(&model) + other.join().unwrap();
        assert_eq!(published, 2, "a block has one publisher");
        model.check_blocks();
        model.ring.set_window(model.window(NOW, NOW + 2, WORKER));
        assert_eq!(model.publish(4), 1);
        model.check_blocks();
    });
}

/// Two takers at the end of the window move it, as they do when the clock has gone on.
#[test]
fn window_extended() {
    fn take_beyond(model: &Model) {
        let published = AtomicU64::new(0);
        while model.block(3, &published) == Block::Beyond {
            let seen = model.ring.window().last;
            model.ring.extend_window(seen, model.window(NOW, NOW + 1, WORKER).last);
        }
    }

    explore("window_extended", Some(3), || {
        let model = Model::new(1, 1);
        let other = model.spawn(take_beyond);
        take_beyond(&model);
        other.join().unwrap();
        model.check_blocks();
    });
}
