//! Models of the shared window, which is moved while others publish, so that publishers have
//! different candidates.

use uidring::model::{Block, Counter};
use uidring_loom_tests::{MANY, Model, NOW, WORKER, explore};

const NEXT_WORKER: u64 = 2;

/// Two publishers of one block, of which one may have read a later window than the other.
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

/// The window moves by more than its width. Publishers never find it empty.
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

/// Two publishers, while a third thread moves the window.
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

/// Another worker is taken on. Its blocks are never repeated, nor followed by a block of the
/// previous worker.
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

/// Reading the window gives that of a single lease, even if two more are taken on meanwhile.
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

/// The same worker id is taken on again, after ticks that another generator had meanwhile. None of
/// those is published.
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

/// The same worker id is taken on again while a taker extends the window.
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
        model.publish_up_to(block, &published);
    }
}

/// Two publishers reach the end of the window. Neither finds it too early, the published blocks
/// stay, and publishing continues where it stopped.
#[test]
fn window_ends() {
    fn to_the_end(model: &Model) -> u64 {
        let published = Counter::default();
        assert_ne!(
            model.publish_up_to(3, &published),
            Block::Beyond,
            "the window has room for block 3"
        );
        assert_eq!(model.publish_up_to(4, &published), Block::Beyond);
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

/// Two takers at the end of the window extend it, as they do when the clock has advanced.
#[test]
fn window_extended() {
    fn take_beyond(model: &Model) {
        let published = Counter::default();
        while model.publish_up_to(3, &published) == Block::Beyond {
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
