//! The window of what may be published is moved while others publish: helpers come with different
//! candidates.

use uidring::model::{Block, Counter};
use uidring_loom_tests::{MANY, Model, NOW, WORKER, explore};

const NEXT_WORKER: u64 = 2;

/// Two publishers of one block, one of whom may know a later window than the other.
#[test]
fn window_moves() {
    explore("window_moves", Some(3), || {
        let model = Model::new(0, MANY);
        let other = model.spawn(|model| model.publish(2));
        model.ring.window().set(model.window(NOW + 10, NOW + 10 + MANY, WORKER));
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
        model.ring.window().set(model.window(NOW + 10, NOW + 12, WORKER));
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
        model.ring.window().set(model.window(NOW + 10, NOW + 10 + MANY, WORKER));
        let published = a.join().unwrap() + b.join().unwrap();
        assert_eq!(published, 1, "a block has one publisher");
        model.check_blocks();
    });
}

/// Another worker is taken on: what was published for it is never followed by a second of the old
/// one, or repeated.
#[test]
fn worker_changes() {
    explore("worker_changes", Some(3), || {
        let model = Model::new(1, MANY);
        let other = model.spawn(|model| model.publish(3));
        model.ring.window().take_on(model.window(NOW, NOW + MANY, NEXT_WORKER));
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
        model.ring.window().take_on(model.window(NOW, NOW + MANY, NEXT_WORKER));
        let published = a.join().unwrap() + b.join().unwrap();
        assert_eq!(published, 1, "a block has one publisher");
        model.check_blocks();
    });
}

/// The same, and then the new worker's window moves.
#[test]
fn worker_changes_and_moves() {
    explore("worker_changes_and_moves", None, || {
        let model = Model::new(1, MANY);
        let other = model.spawn(|model| model.publish(3));
        model.ring.window().take_on(model.window(NOW, NOW + MANY, NEXT_WORKER));
        model.ring.window().set(model.window(NOW + 1, NOW + 1 + MANY, NEXT_WORKER));
        other.join().unwrap();
        model.check_blocks();
    });
}

/// Who asks for the window gets that of one lease, also if two more are taken on meanwhile.
#[test]
fn window_is_of_one_lease() {
    explore("window_is_of_one_lease", None, || {
        let model = Model::with_reserved(0, 1, 1);
        let windows = [
            model.window(NOW, NOW, WORKER),
            model.window(NOW + 1, NOW + 2, NEXT_WORKER),
            model.window(NOW + 10, NOW + MANY, WORKER),
        ];
        let other = model.spawn(|model| model.ring.window().get());
        model.ring.window().take_on(windows[1]);
        model.ring.window().take_on(windows[2]);
        let window = other.join().unwrap();
        assert!(windows.contains(&window), "a mixture: {window:?} of {windows:?}");
    });
}

/// The same worker id is taken on again, behind seconds that another had meanwhile. Nobody
/// publishes one of these.
#[test]
fn worker_comes_again() {
    explore("worker_comes_again", Some(2), || {
        let model = Model::new(1, 2);
        let other = model.spawn(publish_two);
        model.ring.window().take_on(model.window(NOW + 10, NOW + MANY, WORKER));
        publish_two(&model);
        other.join().unwrap();
        model.check_gap(NOW + 2..NOW + 10);
    });
}

/// The same worker id is taken on again, while a taker moves the window's end.
#[test]
fn worker_comes_again_to_a_taker_at_the_end() {
    explore("worker_comes_again_to_a_taker_at_the_end", Some(2), || {
        let model = Model::with_reserved(1, 1, 2);
        let other = model.spawn(|model| {
            model.extend(NOW + MANY);
            publish_two(model);
        });
        model.ring.window().take_on(model.window(NOW + 10, NOW + MANY, WORKER));
        publish_two(&model);
        other.join().unwrap();
        model.check_gap(NOW + 2..NOW + 10);
    });
}

/// Publishes up to block 4, or as far as the window goes.
fn publish_two(model: &Model) {
    let published = Counter::default();
    for block in 3..=4 {
        model.block(block, &published);
    }
}

/// Two publishers come to the end of the window. Neither is told of it too early, what the ring
/// holds stays, and publishing goes on where it stopped.
#[test]
fn window_ends() {
    fn to_the_end(model: &Model) -> u64 {
        let published = Counter::default();
        assert_ne!(model.block(3, &published), Block::Beyond, "the window has room for block 3");
        assert_eq!(model.block(4, &published), Block::Beyond);
        published.get()
    }

    explore("window_ends", Some(3), || {
        let model = Model::new(0, 2);
        let other = model.spawn(to_the_end);
        let published = to_the_end(&model) + other.join().unwrap();
        assert_eq!(published, 2, "a block has one publisher");
        model.check_blocks();
        model.ring.window().set(model.window(NOW, NOW + 2, WORKER));
        assert_eq!(model.publish(4), 1);
        model.check_blocks();
    });
}

/// Two takers at the end of the window move it, as they do when the clock has gone on.
#[test]
fn window_extended() {
    fn take_beyond(model: &Model) {
        let published = Counter::default();
        while model.block(3, &published) == Block::Beyond {
            model.extend(NOW + 1);
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
