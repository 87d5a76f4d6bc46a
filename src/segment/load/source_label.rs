//! [`SourceLabel`]: the name of a source in events and metrics.

use crate::sync::{AtomicBool, MutexGuard, Ordering};
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
use crate::sync::{Mutex, thread};

/// The labels in use in this process.
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
static IN_USE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The name of a source, with a number appended if the name is already in use. Two tables of one
/// database have the same name, but each needs its own alerts and counters.
#[derive(Debug)]
pub struct SourceLabel {
    text: String,
    is_in_use: AtomicBool,
}

impl SourceLabel {
    pub fn new(name: &str) -> SourceLabel {
        let Some(mut in_use) = in_use() else {
            return SourceLabel { text: name.to_owned(), is_in_use: AtomicBool::new(false) };
        };
        let mut text = name.to_owned();
        for number in 2.. {
            if !in_use.contains(&text) {
                break;
            }
            text = format!("{name} #{number}");
        }
        in_use.push(text.clone());
        SourceLabel { text, is_in_use: AtomicBool::new(true) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Makes the label available to another source.
    pub fn release(&self) {
        // ORDERING: the lock orders the changes of the list.
        if self.is_in_use.swap(false, Ordering::Relaxed)
            && let Some(mut in_use) = in_use()
        {
            in_use.retain(|label| *label != self.text);
        }
    }
}

impl Drop for SourceLabel {
    fn drop(&mut self) {
        self.release();
    }
}

/// Does not wait for the lock. It is held only for a moment, but in a forked process its holder may
/// not exist.
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
fn in_use() -> Option<MutexGuard<'static, Vec<String>>> {
    (0..1000).find_map(|_| {
        let guard = IN_USE.try_lock().ok();
        if guard.is_none() {
            thread::yield_now();
        }
        guard
    })
}

/// Loom does not support statics, and a scenario would inherit those of the one before, so there is
/// no list.
#[cfg(any(uidring_loom, uidring_shuttle))]
fn in_use() -> Option<MutexGuard<'static, Vec<String>>> {
    None
}

#[cfg(all(test, not(any(uidring_loom, uidring_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn labels_that_exist_at_the_same_time_differ() {
        let labels = [(); 3].map(|()| SourceLabel::new("a source of this test"));
        let [first, second, third] = labels.each_ref().map(SourceLabel::as_str);
        assert_eq!(
            [first, second, third],
            ["a source of this test", "a source of this test #2", "a source of this test #3"]
        );
        let [first, second, third] = labels;
        drop(second);
        assert_eq!(SourceLabel::new("a source of this test").as_str(), "a source of this test #2");
        drop((first, third));
        assert_eq!(SourceLabel::new("a source of this test").as_str(), "a source of this test");
    }
}
