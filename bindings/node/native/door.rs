//! [`Door`], through which threads of the library call JavaScript.
//!
//! ```text
//! call ──► thread ──► [ queue of Node.js ] ──► `answered` of lib/calls.js ──► promise
//! filler, loader ──► waker ──►      "
//! events ──────────────────►        "
//! ```
//!
//! There is one for each environment. It keeps no program from ending: JavaScript does, while it
//! waits for an answer. Where the environment has ended, answers are dropped: those that come, and
//! those that wait, which are therefore kept here. What waits in Node.js' queue is never dropped.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use napi::bindgen_prelude::{BigUint64Array, External, FnArgs, Function, ToNapiValue};
use napi::sys;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use uidring_bindings::events::Event;
use uidring_bindings::{Close, Error, Open, guarded};

use crate::errors::{Code, Result, node_failed};
use crate::events::{self, told};
use crate::handle::Handle;
use crate::values::paired;
use crate::work;

/// What a call has given.
pub(crate) enum Answer {
    Nothing,
    Text(String),
    Texts(Vec<String>),
    Numbers(Vec<u64>),
    Held(Box<dyn ToExternal>),
    Event(Event),
}

impl Answer {
    /// Something that JavaScript holds from now on.
    pub(crate) fn held<T: Send + 'static>(value: T) -> Answer {
        Answer::Held(Box::new(Handle::new(value)))
    }
}

impl ToNapiValue for Answer {
    unsafe fn to_napi_value(env: sys::napi_env, answer: Answer) -> napi::Result<sys::napi_value> {
        // SAFETY: `env` is what Node.js has called with, here and in all of these.
        unsafe {
            match answer {
                Answer::Nothing => ToNapiValue::to_napi_value(env, ()),
                Answer::Text(text) => ToNapiValue::to_napi_value(env, text),
                Answer::Texts(texts) => ToNapiValue::to_napi_value(env, texts),
                Answer::Numbers(numbers) => {
                    ToNapiValue::to_napi_value(env, BigUint64Array::new(numbers))
                }
                Answer::Held(held) => held.to_external(env),
                Answer::Event(event) => ToNapiValue::to_napi_value(env, told(event)),
            }
        }
    }
}

/// What JavaScript holds as an external.
pub(crate) trait ToExternal: Send {
    /// # Safety
    /// `env` is what Node.js has called with.
    unsafe fn to_external(self: Box<Self>, env: sys::napi_env) -> napi::Result<sys::napi_value>;
}

impl<T: Send + 'static> ToExternal for Handle<T> {
    unsafe fn to_external(self: Box<Self>, env: sys::napi_env) -> napi::Result<sys::napi_value> {
        // SAFETY: as the caller promises.
        unsafe { ToNapiValue::to_napi_value(env, External::new(*self)) }
    }
}

/// For whom an answer is: the number of a call, or [`EVENTS`].
pub(crate) struct Reply {
    to: u32,
    answer: std::result::Result<Answer, Error>,
}

/// The number, the code of an error, and the answer or the sentence of the error.
type Arguments = FnArgs<(u32, Option<String>, Answer)>;

/// Weak: it keeps no program from ending.
type Answered = ThreadsafeFunction<(), (), Arguments, napi::Status, false, true>;

/// Whom events are told.
const EVENTS: u32 = 0;

/// The replies that JavaScript has not got yet. `None` when the environment has ended.
#[derive(Clone)]
struct Replies(Arc<Mutex<Option<VecDeque<Reply>>>>);

impl Replies {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<Reply>>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Node.js drops it when the environment ends.
struct ReadsReplies(Replies);

impl ReadsReplies {
    /// As JavaScript gets it: whom it is for, the code of an error, and the answer or the sentence.
    fn next(&self) -> (u32, Option<String>, Answer) {
        let next = self.0.lock().as_mut().and_then(VecDeque::pop_front);
        match next {
            Some(Reply { to, answer: Ok(answer) }) => (to, None, answer),
            Some(Reply { to, answer: Err(Error { kind, message }) }) => {
                (to, Some(Code::of(kind).as_ref().to_owned()), Answer::Text(message))
            }
            // Each call is of one reply.
            None => (u32::MAX, None, Answer::Nothing),
        }
    }
}

impl Drop for ReadsReplies {
    fn drop(&mut self) {
        let left = self.0.lock().take();
        drop(left);
    }
}

/// How threads call the JavaScript of an environment.
pub(crate) struct Door {
    answered: Answered,
    replies: Replies,
    /// Whether the program listens to events in this environment.
    listens: AtomicBool,
}

impl Door {
    /// Answers the call `to`, if the environment is still there. Nothing waits.
    pub(crate) fn answer(&self, to: u32, answer: std::result::Result<Answer, Error>) {
        if let Some(replies) = self.replies.lock().as_mut() {
            replies.push_back(Reply { to, answer });
        } else {
            return;
        }
        self.answered.call((), ThreadsafeFunctionCallMode::NonBlocking);
    }

    /// Runs `call` on a thread, which may wait, and answers with what it has given.
    pub(crate) fn ask(
        self: &Arc<Door>,
        to: u32,
        call: impl FnOnce() -> std::result::Result<Answer, Error> + Send + 'static,
    ) {
        let door = Arc::clone(self);
        work::run(move || door.answer(to, guarded(call)));
    }

    /// Opens what a store has, and answers with what `held` makes of it.
    pub(crate) fn open<T: Open>(
        self: &Arc<Door>,
        to: u32,
        address: String,
        options: Vec<String>,
        held: fn(T) -> Answer,
    ) {
        events::start(tell);
        self.ask(to, move || Ok(held(T::open(&address, &paired(&options))?)));
    }

    /// Closes it.
    pub(crate) fn close(self: &Arc<Door>, to: u32, what: impl Close) {
        self.ask(to, move || what.close().map(|()| Answer::Nothing));
    }
}

/// Each environment that is there.
static DOORS: Mutex<Vec<Weak<Door>>> = Mutex::new(Vec::new());

fn doors() -> MutexGuard<'static, Vec<Weak<Door>>> {
    // Nothing panics while it is locked.
    DOORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells an event to all environments that listen, and if there is none, to the oldest.
pub(crate) fn tell(event: &Event) {
    let all: Vec<Arc<Door>> = doors().iter().filter_map(Weak::upgrade).collect();
    // ORDERING: nothing else is read because of it.
    let listens = |door: &&Arc<Door>| door.listens.load(Ordering::Relaxed);
    let mut told: Vec<&Arc<Door>> = all.iter().filter(listens).collect();
    if told.is_empty() {
        told.extend(all.first());
    }
    for door in told {
        door.answer(EVENTS, Ok(Answer::Event(event.clone())));
    }
}

/// Opens the door of this environment. `answered` gets all answers.
#[napi]
pub(crate) fn connect(answered: Function<'_, Arguments, ()>) -> Result<External<Arc<Door>>> {
    let replies = Replies(Arc::new(Mutex::new(Some(VecDeque::new()))));
    let reads = ReadsReplies(replies.clone());
    let answered = answered
        .build_threadsafe_function::<()>()
        .weak::<true>()
        .build_callback(move |_| Ok(reads.next().into()))
        .map_err(node_failed)?;
    let door = Arc::new(Door { answered, replies, listens: AtomicBool::new(false) });
    let mut doors = doors();
    doors.retain(|door| door.strong_count() > 0);
    doors.push(Arc::downgrade(&door));
    Ok(External::new(door))
}

/// Whether the program listens to events in this environment.
#[napi]
pub(crate) fn listen(door: &External<Arc<Door>>, listens: bool) {
    // ORDERING: as in `tell`.
    door.listens.store(listens, Ordering::Relaxed);
}
