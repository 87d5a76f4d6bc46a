//! [`Row`]: one way to get ids, and what a thread of it does.

use std::hint::black_box;

/// How many ids are taken at once, and how many a thread's block or claim has.
pub const BATCH: u32 = 1024;

/// One way to get ids.
pub struct Row {
    pub name: &'static str,
    /// The row that it cannot beat by the way it works.
    pub limit: &'static str,
    /// The rule that holds it back, if it is not the machine.
    pub throttled: Option<&'static str>,
    /// What one thread does; `None` if the row cannot run on so many threads.
    pub worker: WorkerOf,
}

type WorkerOf = Box<dyn Fn(usize) -> Option<Box<dyn Worker>> + Sync>;

impl Row {
    /// The name, with the rule that holds the row back.
    pub fn label(&self) -> String {
        match self.throttled {
            Some(rule) => format!("{} ({rule})", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// One thread's part of a row.
pub trait Worker {
    fn take(&mut self, count: u64);

    /// Like `take`, and keeps the ids.
    fn keep(&mut self, count: u64, ids: &mut Vec<u128>);
}

/// One id at a time.
pub struct Each<F>(pub F);

impl<I: Into<u128>, F: FnMut() -> I> Worker for Each<F> {
    fn take(&mut self, count: u64) {
        for _ in 0..count {
            black_box((self.0)());
        }
    }

    fn keep(&mut self, count: u64, ids: &mut Vec<u128>) {
        ids.extend((0..count).map(|_| (self.0)().into()));
    }
}

/// `BATCH` ids at a time.
pub struct Batches<T, F, G> {
    pub buffer: T,
    pub fill: F,
    /// The ids in the buffer.
    pub read: G,
}

impl<T, F: FnMut(&mut T), G: Fn(&T) -> Vec<u64>> Worker for Batches<T, F, G> {
    fn take(&mut self, count: u64) {
        for _ in 0..count / u64::from(BATCH) {
            (self.fill)(&mut self.buffer);
            black_box(&mut self.buffer);
        }
    }

    fn keep(&mut self, count: u64, ids: &mut Vec<u128>) {
        for _ in 0..count / u64::from(BATCH) {
            (self.fill)(&mut self.buffer);
            ids.extend((self.read)(&self.buffer).into_iter().map(u128::from));
        }
    }
}

/// A row where all threads use one `source`.
pub fn shared<S, W>(name: &'static str, limit: &'static str, source: S, worker: fn(&S) -> W) -> Row
where
    S: Send + Sync + 'static,
    W: Worker + 'static,
{
    Row { name, limit, throttled: None, worker: Box::new(move |_| Some(Box::new(worker(&source)))) }
}
