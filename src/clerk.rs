//! [`Clerk`]: asks the registry on a thread of its own. A database takes its time, or hangs, and the filler has a clock
//! to keep.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::RegistryError;
use crate::registry::{Lease, WorkerRegistry};
use crate::shared::Shared;
use crate::sync::{Arc, Mutex, lock, thread};

/// One question at a time, each with a thread that ends with its answer: there are a few a second at most, and none for
/// hours where ids are given once.
pub struct Clerk {
    desk: Arc<Desk>,
    /// A question has been asked and its answer not been heard.
    is_busy: bool,
    thread: Option<thread::JoinHandle<()>>,
}

struct Desk {
    registry: Mutex<Box<dyn WorkerRegistry>>,
    /// The answer, or the panic of the registry.
    answer: Mutex<Option<Result<Answer, Box<dyn Any + Send>>>>,
}

/// What a registry says.
pub enum Answer {
    Assigned(Result<Lease, RegistryError>),
    /// For this lease.
    Reserved(Lease, Result<u64, RegistryError>),
    Released(Result<(), RegistryError>),
}

impl Clerk {
    pub fn new(registry: Box<dyn WorkerRegistry>) -> Clerk {
        let desk = Desk { registry: Mutex::new(registry), answer: Mutex::new(None) };
        Clerk { desk: Arc::new(desk), is_busy: false, thread: None }
    }

    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Asks. The filler is woken when there is an answer.
    pub fn ask(
        &mut self,
        shared: &Arc<Shared>,
        question: impl FnOnce(&mut dyn WorkerRegistry) -> Answer + Send + 'static,
    ) {
        debug_assert!(!self.is_busy);
        self.is_busy = true;
        let (desk, filler) = (Arc::clone(&self.desk), Arc::clone(shared));
        // Where it can be had again if there is no thread to be had.
        let question = Arc::new(Mutex::new(Some(question)));
        let body = {
            let question = Arc::clone(&question);
            move || {
                desk.ask(&question);
                filler.signal.ask();
            }
        };
        match thread::Builder::new().name("uidring-registry".to_owned()).spawn(body) {
            Ok(thread) => self.thread = Some(thread),
            Err(_) => self.desk.ask(&question),
        }
    }

    /// The answer, if it is there.
    ///
    /// # Panics
    ///
    /// As the registry did.
    pub fn answer(&mut self) -> Option<Answer> {
        let answer = lock(&self.desk.answer).take()?;
        self.settle();
        self.is_busy = false;
        match answer {
            Ok(answer) => Some(answer),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Waits until the registry has nothing to do.
    pub fn settle(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It catches its panics.
            let _ = thread.join();
        }
    }

    /// What `question` comes to, here and now. For the end, when nobody else is to be kept waiting.
    pub fn ask_now<T>(&mut self, question: impl FnOnce(&mut dyn WorkerRegistry) -> T) -> T {
        self.settle();
        question(&mut **lock(&self.desk.registry))
    }
}

impl Desk {
    fn ask(&self, question: &Mutex<Option<impl FnOnce(&mut dyn WorkerRegistry) -> Answer>>) {
        let Some(question) = lock(question).take() else { return };
        let answer = catch_unwind(AssertUnwindSafe(|| question(&mut **lock(&self.registry))));
        *lock(&self.answer) = Some(answer);
    }
}
