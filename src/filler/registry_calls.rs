//! [`RegistryCalls`]: runs one registry call at a time on a short-lived thread, because a call may
//! hang and the filler must keep reading the clock.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::backend::StorageError;
use crate::engine::Engine;
use crate::registry::RegistryError;
use crate::registry::{Lease, WorkerRegistry};
use crate::support::callbacks::catch_panic;
use crate::sync::{Arc, Mutex, ThreadId, lock, thread, thread_id};

/// Runs registry calls, one at a time. Each has a thread that ends with its answer: there are at
/// most a few calls per second, and none for hours if worker ids are not leased.
pub struct RegistryCalls {
    mailbox: Arc<Mailbox>,
    /// Whether a call was started and its answer has not been taken.
    is_busy: bool,
    thread: Option<thread::JoinHandle<()>>,
}

/// What the filler and the thread of a call share.
struct Mailbox {
    registry: Mutex<Box<dyn WorkerRegistry>>,
    answer: Mutex<Option<Answer>>,
    thread: CallThread,
}

/// The thread of the present or the last registry call. Thread ids are never reused.
#[derive(Clone, Debug, Default)]
pub struct CallThread(Arc<Mutex<Option<ThreadId>>>);

impl CallThread {
    fn set(&self) {
        *lock(&self.0) = Some(thread_id());
    }

    /// Whether the calling thread is this one.
    pub fn is_current(&self) -> bool {
        *lock(&self.0) == Some(thread_id())
    }
}

/// The result of a registry call.
pub enum Answer {
    Assigned(Result<Lease, RegistryError>),
    /// For this lease.
    Reserved(Lease, Result<u64, RegistryError>),
    /// For this worker id.
    Released(u64, Result<(), RegistryError>),
}

impl RegistryCalls {
    pub fn new(registry: Box<dyn WorkerRegistry>) -> RegistryCalls {
        let mailbox = Mailbox {
            registry: Mutex::new(registry),
            answer: Mutex::new(None),
            thread: CallThread::default(),
        };
        RegistryCalls { mailbox: Arc::new(mailbox), is_busy: false, thread: None }
    }

    /// The registry's name. Must not be called while a call is running.
    #[cfg(feature = "metrics")]
    pub fn registry_name(&self) -> String {
        lock(&self.mailbox.registry).name()
    }

    /// How far the clock of this machine is ahead of the registry's, as the last call has shown it.
    /// Must not be called while a call is running.
    pub fn clock_skew_ms(&self) -> Option<i64> {
        catch_panic(|| lock(&self.mailbox.registry).clock_skew_ms()).flatten()
    }

    /// The thread of a call.
    pub fn call_thread(&self) -> CallThread {
        self.mailbox.thread.clone()
    }

    /// Whether a call was started and its answer has not been taken.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Starts `call`. When it is done, `answer` makes an [`Answer`] of its result, and the filler
    /// is woken. If the registry panics, the result is an error that names `doing`.
    pub fn start<T: 'static>(
        &mut self,
        engine: &Arc<Engine>,
        doing: String,
        call: impl FnOnce(&mut dyn WorkerRegistry) -> Result<T, RegistryError> + Send + 'static,
        answer: impl FnOnce(Result<T, RegistryError>) -> Answer + Send + 'static,
    ) {
        debug_assert!(!self.is_busy);
        self.is_busy = true;
        let (mailbox, filler) = (Arc::clone(&self.mailbox), Arc::clone(engine));
        let job = |mailbox: &Mailbox| answer(mailbox.call(doing, call));
        // Shared, so that the call can be run here if no thread can be started.
        let job = Arc::new(Mutex::new(Some(job)));
        let body = {
            let job = Arc::clone(&job);
            move || {
                mailbox.thread.set();
                mailbox.run(&job);
                filler.signal.wake_filler();
            }
        };
        match thread::Builder::new().name("uidring-registry".to_owned()).spawn(body) {
            Ok(thread) => self.thread = Some(thread),
            Err(_) => self.mailbox.run(&job),
        }
    }

    /// The answer, if the call is done.
    pub fn take_answer(&mut self) -> Option<Answer> {
        let answer = lock(&self.mailbox.answer).take()?;
        self.finish();
        self.is_busy = false;
        Some(answer)
    }

    /// Waits until the running call ends, if there is one.
    pub fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            // The thread catches the registry's panics, so joining it does not fail.
            let _ = thread.join();
        }
    }

    /// Runs `call` on this thread and returns its result. Used at the end, when there is no other
    /// work.
    pub fn call_now<T>(
        &mut self,
        doing: String,
        call: impl FnOnce(&mut dyn WorkerRegistry) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.finish();
        self.mailbox.call(doing, call)
    }
}

impl Mailbox {
    fn run(&self, job: &Mutex<Option<impl FnOnce(&Mailbox) -> Answer>>) {
        let Some(job) = lock(job).take() else { return };
        let answer = job(self);
        *lock(&self.answer) = Some(answer);
    }

    /// Calls the registry. A panic becomes an error, which the caller handles like any other.
    fn call<T>(
        &self,
        doing: String,
        call: impl FnOnce(&mut dyn WorkerRegistry) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        catch_unwind(AssertUnwindSafe(|| call(&mut **lock(&self.registry)))).unwrap_or_else(
            |panic| {
                let problem = format!("the registry panicked: {}", message(&*panic));
                Err(StorageError::failed(doing, problem).into())
            },
        )
    }
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it gave no reason")
}
