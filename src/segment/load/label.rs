//! [`Label`]: what a source is called in events and metrics.

use crate::sync::{AtomicBool, MutexGuard, Ordering};
#[cfg(not(uidring_loom))]
use crate::sync::{Mutex, thread};

/// The labels of this process.
#[cfg(not(uidring_loom))]
static IN_USE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The name of a source, with a number behind it if the name is in use already: two tables of one
/// database have one name, and each must have its own alerts and counters.
#[derive(Debug)]
pub struct Label {
    text: String,
    is_in_use: AtomicBool,
}

impl Label {
    pub fn new(name: &str) -> Label {
        let Some(mut in_use) = in_use() else {
            return Label { text: name.to_owned(), is_in_use: AtomicBool::new(false) };
        };
        let mut text = name.to_owned();
        for number in 2.. {
            if !in_use.contains(&text) {
                break;
            }
            text = format!("{name} #{number}");
        }
        in_use.push(text.clone());
        Label { text, is_in_use: AtomicBool::new(true) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Frees the label for another source.
    pub fn release(&self) {
        // ORDERING: the lock orders what is done to the list.
        if self.is_in_use.swap(false, Ordering::Relaxed)
            && let Some(mut in_use) = in_use()
        {
            in_use.retain(|label| *label != self.text);
        }
    }
}

impl Drop for Label {
    fn drop(&mut self) {
        self.release();
    }
}

/// The lock is held for a moment only, but in a forked process a thread that does not exist there
/// may hold it for ever.
#[cfg(not(uidring_loom))]
fn in_use() -> Option<MutexGuard<'static, Vec<String>>> {
    (0..1000).find_map(|_| {
        let guard = IN_USE.try_lock().ok();
        if guard.is_none() {
            thread::yield_now();
        }
        guard
    })
}

/// Loom has no statics.
#[cfg(uidring_loom)]
fn in_use() -> Option<MutexGuard<'static, Vec<String>>> {
    None
}

#[cfg(all(test, not(uidring_loom)))]
mod tests {
    use super::*;

    #[test]
    fn labels_that_exist_at_the_same_time_differ() {
        let labels = [(); 3].map(|()| Label::new("a source of this test"));
        let [first, second, third] = labels.each_ref().map(Label::as_str);
        assert_eq!(
            [first, second, third],
            ["a source of this test", "a source of this test #2", "a source of this test #3"]
        );
        let [first, second, third] = labels;
        drop(second);
        assert_eq!(Label::new("a source of this test").as_str(), "a source of this test #2");
        drop((first, third));
        assert_eq!(Label::new("a source of this test").as_str(), "a source of this test");
    }
}
