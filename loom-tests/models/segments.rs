//! Models of the chain of segments: takers beside an append, across the switch of a segment, and
//! at the end of what is loaded, where they wait, fail, or are shut down.

use std::sync::Arc;
use std::time::Duration;

use loom::thread;
use uidring::TakeError;
use uidring::model::{Found, SegmentChain, TagEngine, Unclaimed, is_closed, request_list};
use uidring::segment::Number;
use uidring_loom_tests::{History, explore, explore_from};

/// Longer than loom's time ever gets.
const FOREVER: Duration = Duration::from_secs(24 * 3600);
/// Over as soon as a thread that waits has been woken once.
const ONCE: Duration = Duration::from_secs(1);

/// A tag without a loader: the models append by themselves.
struct Model {
    tag: TagEngine,
    history: History,
}

impl Model {
    /// Segments of the numbers `first..first + count`.
    fn new(max_wait: Duration, segments: &[(u64, u64)]) -> Arc<Model> {
        let tag = TagEngine::new(request_list(), max_wait);
        let model = Model { tag, history: History::default() };
        segments.iter().for_each(|&(first, count)| model.append(first, count));
        Arc::new(model)
    }

    fn chain(&self) -> &SegmentChain {
        &self.tag.chain
    }

    fn append(&self, first: u64, count: u64) {
        assert!(self.chain().has_claimed_room(), "no unclaimed ticket is overwritten");
        self.chain().append(first, count);
        self.tag.loaded.add(count);
    }

    /// What the loader does when numbers have come.
    fn load(&self, first: u64, count: u64) {
        self.tag.receive(first, count);
        self.tag.publish(true);
    }

    fn spawn<T: 'static>(
        self: &Arc<Self>,
        body: impl FnOnce(&Model) -> T + 'static,
    ) -> thread::JoinHandle<T> {
        let model = Arc::clone(self);
        thread::spawn(move || body(&model))
    }

    /// What `SegmentGenerator::take` does.
    fn take(&self) -> Result<Number, TakeError> {
        let start = self.history.start();
        let result = self.chain().take().or_else(|ticket| self.tag.take_slowly(ticket));
        self.history.end(start, result.ok());
        result
    }

    fn takes(&self, count: u64) -> u64 {
        (0..count).filter(|_| self.take().is_ok()).count() as u64
    }

    fn try_takes(&self, count: u64) {
        for _ in 0..count {
            let start = self.history.start();
            self.history.end(start, self.tag.try_take().ok());
        }
    }

    /// Claims `count` tickets as `fill` does, and takes their numbers.
    fn fill(&self, count: u64) {
        let start = self.history.start();
        let mut claim = self.tag.claim(count).unwrap();
        let mut taken = Vec::new();
        while let Some(numbers) = self.tag.next_numbers(&mut claim) {
            taken.extend((0..numbers.count).map(|next| numbers.first.get() + next));
        }
        self.history.end(start, taken.into_iter().filter_map(Number::new));
    }

    /// What must hold when every thread is done: takes are ordered, the numbers were taken from the
    /// first on, none is lost, and the rest is left.
    fn check(&self, numbers: &[u64]) {
        self.history.assert_ordered();
        let mut taken = self.history.uids();
        taken.sort_unstable();
        assert!(numbers.starts_with(&taken), "{taken:?} of {numbers:?}");
        assert_eq!(self.chain().cursor.lost(), 0, "{taken:?} of {numbers:?}");
        self.check_left();
    }

    /// Each number was taken, is counted as lost, or is left.
    fn check_left(&self) {
        let taken = self.history.uids().len() as u64;
        let (lost, left) = (self.chain().cursor.lost(), self.tag.left());
        assert_eq!(taken + lost + left, self.tag.loaded.get(), "{lost} lost, {left} left");
    }
}

/// Two takers across the end of a segment. Each may advance the front.
#[test]
fn switch() {
    explore("switch", Some(3), || {
        let model = Model::new(FOREVER, &[(1, 2), (11, 2)]);
        let other = model.spawn(|model| model.takes(2));
        model.takes(2);
        other.join().unwrap();
        model.check(&[1, 2, 11, 12]);
    });
}

/// One of them uses `try_take`.
#[test]
fn switch_try_take() {
    explore("switch_try_take", Some(2), || {
        let model = Model::new(FOREVER, &[(1, 2), (11, 2)]);
        let other = model.spawn(|model| model.try_takes(2));
        model.takes(2);
        other.join().unwrap();
        model.check(&[1, 2, 11, 12]);
    });
}

/// Across two ends, so that a taker may have read parts of two ready ranges.
#[test]
fn switch_twice() {
    explore("switch_twice", Some(3), || {
        let model = Model::new(FOREVER, &[(1, 1), (11, 1), (21, 1)]);
        let other = model.spawn(|model| model.takes(1));
        model.takes(2);
        other.join().unwrap();
        model.check(&[1, 11, 21]);
    });
}

/// A segment is appended while takers use the one before up, and wait for it.
#[test]
fn append_take() {
    explore("append_take", Some(3), || {
        let model = Model::new(FOREVER, &[(1, 1)]);
        let other = model.spawn(|model| model.takes(2));
        model.load(11, 2);
        assert_eq!(other.join().unwrap(), 2, "a waiting taker gets its number");
        model.check(&[1, 11, 12]);
    });
}

/// Two takers wait for two segments.
#[test]
fn append_take_take() {
    explore("append_take_take", Some(1), || {
        let model = Model::new(FOREVER, &[]);
        let others = [(); 2].map(|()| model.spawn(|model| model.takes(1)));
        model.load(11, 1);
        model.load(21, 1);
        for other in others {
            assert_eq!(other.join().unwrap(), 1, "a waiting taker gets its number");
        }
        model.check(&[11, 21]);
    });
}

/// The slot of a segment is used again while a taker that was stopped looks for its ticket there.
/// It finds its own number or none.
#[test]
fn overwrite() {
    let prepare = || {
        let model = Model::new(FOREVER, &[(1, 1), (11, 1), (21, 1)]);
        assert_eq!(model.chain().cursor.claim(3), 0);
        model
    };
    explore_from("overwrite", Some(2), prepare, |model| {
        let stalled = model.spawn(|model| model.chain().find(0));
        model.append(41, 1);
        model.append(51, 1);
        match stalled.join().unwrap() {
            Found::Ready(range) => {
                assert_eq!(model.chain().number(0, range.origin), 1);
                assert_eq!(range.end, 1);
            }
            found => assert_eq!(found, Found::Gone),
        }
    });
}

/// A taker that wants the next number looks for it while others are appended.
#[test]
fn append_find() {
    let prepare = || {
        let model = Model::new(FOREVER, &[(1, 1), (11, 1), (21, 1)]);
        assert_eq!(model.takes(3), 3);
        model
    };
    explore_from("append_find", None, prepare, |model| {
        let other = model.spawn(|model| match model.chain().try_claim() {
            Ok((ticket, _)) => match model.chain().find(ticket) {
                Found::Ready(range) => Some(model.chain().number(ticket, range.origin)),
                lost => panic!("{lost:?}"),
            },
            Err(found) => {
                assert_eq!(found, Unclaimed::Beyond);
                None
            }
        });
        model.append(41, 1);
        let number = other.join().unwrap();
        assert!(number.is_none_or(|number| number == 41), "{number:?}");
    });
}

/// A taker looks for a ticket beyond the last segment while several are appended, one into the slot
/// that it looks at. It finds its number, or that there is none yet.
#[test]
fn append_far() {
    let prepare = || {
        let model = Model::new(FOREVER, &[(1, 1)]);
        assert_eq!(model.chain().cursor.claim(5), 0);
        model
    };
    explore_from("append_far", Some(3), prepare, |model| {
        let other = model.spawn(|model| model.chain().find(3));
        for first in [11, 21, 31] {
            model.append(first, 1);
        }
        match other.join().unwrap() {
            Found::Ready(range) => assert_eq!(model.chain().number(3, range.origin), 31),
            found => assert_eq!(found, Found::Beyond),
        }
    });
}

/// Takes that do not wait fail at the end, while numbers come.
#[test]
fn fail_load() {
    explore("fail_load", Some(3), || {
        let model = Model::new(Duration::ZERO, &[(1, 1)]);
        let other = model.spawn(|model| model.takes(2));
        model.load(11, 2);
        let taken = other.join().unwrap();
        assert!(taken >= 1, "the first number was there");
        // Whatever has failed, takes go on.
        assert_eq!(model.takes(3 - taken), 3 - taken);
        model.check(&[1, 11, 12]);
    });
}

/// Takes that fail at the same time, whoever comes first.
#[test]
fn fail_fail() {
    explore("fail_fail", Some(3), || {
        let model = Model::new(Duration::ZERO, &[(1, 1)]);
        let other = model.spawn(|model| model.takes(1));
        assert_eq!(model.takes(2) + other.join().unwrap(), 1, "there is one number");
        model.check(&[1]);
    });
}

#[test]
fn fail_fail_load() {
    explore_from(
        "fail_fail_load",
        Some(2),
        || Model::new(Duration::ZERO, &[]),
        |model| {
            let others = [(); 2].map(|()| model.spawn(|model| model.takes(1)));
            model.load(11, 3);
            for other in others {
                other.join().unwrap();
            }
            model.takes(3);
            model.check(&[11, 12, 13]);
        },
    );
}

/// A taker has waited for long enough in the moment in which it is served.
#[test]
fn leave_load() {
    explore_from(
        "leave_load",
        Some(2),
        || Model::new(ONCE, &[]),
        |model| {
            let others = [(); 2].map(|()| model.spawn(|model| model.takes(1)));
            model.load(11, 1);
            let taken: u64 = others.into_iter().map(|other| other.join().unwrap()).sum();
            assert_eq!(model.takes(1), 1 - taken, "it was taken, or is left");
            model.check(&[11]);
        },
    );
}

/// A claim that reaches past the end is looked up while numbers come and others take.
#[test]
fn past_the_end() {
    explore("past_the_end", Some(1), || {
        let model = Model::new(Duration::ZERO, &[(1, 1)]);
        let other = model.spawn(|model| model.takes(1));
        let filler = model.spawn(|model| model.fill(2));
        model.load(11, 2);
        other.join().unwrap();
        filler.join().unwrap();
        model.takes(3);
        model.check(&[1, 11, 12]);
    });
}

/// A taker gives what is left of its claim back while another takes.
#[test]
fn give_back() {
    explore("give_back", Some(2), || {
        let model = Model::new(Duration::ZERO, &[(1, 2)]);
        let other = model.spawn(|model| {
            let start = model.history.start();
            let mut claim = model.tag.claim(2).unwrap();
            let Some(numbers) = model.tag.next_numbers(&mut claim) else { return };
            model.history.end(start, Number::new(numbers.first.get()));
            let origin = model.chain().origin(claim.next - numbers.count, numbers.first.get());
            let mut parts = vec![(claim.next + 1 - numbers.count..claim.next, origin)];
            while let Some(later) = model.tag.next_unused(&mut claim) {
                let tickets = claim.next - later.count..claim.next;
                let origin = model.chain().origin(tickets.start, later.first.get());
                parts.push((tickets, origin));
            }
            parts.retain(|(tickets, _)| !tickets.is_empty());
            model.tag.give_back(parts.into_iter().rev());
        });
        model.load(11, 1);
        model.takes(2);
        other.join().unwrap();
        model.history.assert_ordered();
        model.check_left();
    });
}

/// The loader ends the tag while a taker takes, and another waits. What is left after that was
/// taken by nobody.
#[test]
fn end() {
    explore("end", Some(2), || {
        let model = Model::new(FOREVER, &[(1, 2)]);
        let other = model.spawn(|model| model.takes(3));
        model.tag.shut_down();
        // What the loader gives back.
        let left = model.tag.left();
        let taken = other.join().unwrap();
        assert_eq!(taken + left, 2);
        model.check(&[1, 2]);
        assert_eq!(model.take(), Err(TakeError::ShutDown));
        assert!(is_closed(model.chain().cursor.claim(1)));
    });
}

/// Numbers come while the tag is ended, and takers wait for them. What is left when it has ended
/// stays.
#[test]
fn end_load() {
    explore_from(
        "end_load",
        Some(2),
        || Model::new(FOREVER, &[]),
        |model| {
            let other = model.spawn(|model| model.takes(2));
            model.load(11, 1);
            model.tag.shut_down();
            let left = model.tag.left();
            model.load(12, 1);
            assert_eq!(other.join().unwrap() + left, 1);
            model.check(&[11, 12]);
        },
    );
}

/// Two tags are added while the loader reads the list. Whatever they did before, the loader
/// has seen, or will see when it reads the list again.
#[test]
fn requests() {
    explore("requests", Some(3), || {
        let requests = request_list();
        let tags: Vec<Arc<TagEngine>> = (0..2)
            .map(|index| {
                let tag = TagEngine::new(Arc::clone(&requests), FOREVER);
                tag.entry.set_index(index);
                Arc::new(tag)
            })
            .collect();
        let takers: Vec<_> = tags
            .iter()
            .map(|tag| {
                let tag = Arc::clone(tag);
                thread::spawn(move || {
                    tag.chain.cursor.claim(1);
                    tag.request_maintenance();
                })
            })
            .collect();
        let mut seen = [0; 2];
        let mut run_due = || {
            let mut index = requests.first();
            while let Some(tag) = index {
                index = tags[tag].entry.next();
                seen[tag] = tags[tag].chain.cursor.position();
            }
        };
        run_due();
        for taker in takers {
            taker.join().unwrap();
        }
        run_due();
        assert_eq!(seen, [1, 1], "each tag that was added was seen");
    });
}

/// A tag requests maintenance again while the loader is at it.
#[test]
fn requests_again() {
    explore("requests_again", None, || {
        let model = Model::new(FOREVER, &[]);
        let requests = &model.tag.requests;
        let other = model.spawn(|model| {
            for _ in 0..2 {
                model.chain().cursor.claim(1);
                model.tag.request_maintenance();
            }
        });
        let run_due = || {
            requests.first().map(|_| {
                assert_eq!(model.tag.entry.next(), None);
                model.chain().cursor.position()
            })
        };
        let first = run_due();
        other.join().unwrap();
        assert_eq!(run_due().or(first), Some(2), "the loader has seen all that happened");
    });
}
