//! [`RegistryCalls`]: asks the registry on a thread of its own. A database takes its time, or hangs, and
//! the filler has a clock to keep.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::Engine;
use crate::registry::RegistryError;
use crate::registry::{Lease, WorkerRegistry};
use crate::sync::{Arc, Mutex, lock, thread};

/// One question at a time, each with a thread that ends with its answer: there are a few a second
/// at most, and none for hours where ids are given once.
pub struct RegistryCalls {
    mailbox: Arc<Mailbox>,
    /// A question has been asked and its answer not been heard.
    is_busy: bool,
    thread: Option<thread::JoinHandle<()>>,
}

struct Mailbox {
    registry: Mutex<Box<dyn WorkerRegistry>>,
    answer: Mutex<Option<Answer>>,
}

/// What a registry says.
pub enum Answer {
    Assigned(Result<Lease, RegistryError>),
    /// For this lease.
    Reserved(Lease, Result<u64, RegistryError>),
    Released(Result<(), RegistryError>),
}

impl RegistryCalls {
    pub fn new(registry: Box<dyn WorkerRegistry>) -> RegistryCalls {
        let mailbox = Mailbox { registry: Mutex::new(registry), answer: Mutex::new(None) };
        RegistryCalls { mailbox: Arc::new(mailbox), is_busy: false, thread: None }
    }

    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Asks. What `call` comes to is the registry's `answer`, and the filler is woken when it is
    /// there. Where the registry fails by a panic, the error says that it could not do what is
    /// `doing`.
    pub fn ask<T: 'static>(
        &mut self,
        engine: &Arc<Engine>,
        doing: String,
        call: impl FnOnce(&mut dyn WorkerRegistry) -> Result<T, RegistryError> + Send + 'static,
        answer: impl FnOnce(Result<T, RegistryError>) -> Answer + Send + 'static,
    ) {
        debug_assert!(!self.is_busy);
        self.is_busy = true;
        let (mailbox, filler) = (Arc::clone(&self.mailbox), Arc::clone(engine));
        let question = |mailbox: &Mailbox| answer(mailbox.call(doing, call));
        // Where it can be had again if there is no thread to be had.
        let question = Arc::new(Mutex::new(Some(question)));
        let body = {
            let question = Arc::clone(&question);
            move || {
                mailbox.ask(&question);
                filler.signal.ask();
            }
        };
        match thread::Builder::new().name("uidring-registry".to_owned()).spawn(body) {
            Ok(thread) => self.thread = Some(thread),
            Err(_) => self.mailbox.ask(&question),
        }
    }

    /// The answer, if it is there.
    pub fn answer(&mut self) -> Option<Answer> {
        let answer = lock(&self.mailbox.answer).take()?;
        self.settle();
        self.is_busy = false;
        Some(answer)
    }

    /// Waits until the registry has nothing to do.
    pub fn settle(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It catches the registry's panics.
            let _ = thread.join();
        }
    }

    /// What `call` comes to, here and now. For the end, when nobody else is to be kept waiting.
    pub fn ask_now<T>(
        &mut self,
        doing: String,
        call: impl FnOnce(&mut dyn WorkerRegistry) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.settle();
        self.mailbox.call(doing, call)
    }
}

impl Mailbox {
    fn ask(&self, question: &Mutex<Option<impl FnOnce(&Mailbox) -> Answer>>) {
        let Some(question) = lock(question).take() else { return };
        let answer = question(self);
        *lock(&self.answer) = Some(answer);
    }

    /// Calls the registry. A call that panics is one that fails: what comes of it is known to who
    /// asked, as of any other.
    fn call<T>(
        &self,
        doing: String,
        call: impl FnOnce(&mut dyn WorkerRegistry) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        catch_unwind(AssertUnwindSafe(|| call(&mut **lock(&self.registry)))).unwrap_or_else(
            |panic| {
                let source = format!("the registry panicked: {}", message(&*panic)).into();
                Err(RegistryError::Storage { doing, source })
            },
        )
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it did not say why")
}
