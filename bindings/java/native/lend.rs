//! Worker ids that are lent to generators of others.

use std::ffi::c_void;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};

use jni::EnvUnowned;
use jni::objects::{JClass, JString};
use jni::sys::{jboolean, jint, jlong};
use uidring_bindings::{Close, Error, LentId, Loss};

use crate::errors::call;
use crate::handles::{self, into_handle, value};
use crate::methods::Method;
use crate::texts::{JStrings, Options, state, strings, text};

pub(crate) fn methods() -> [Method; 7] {
    [
        Method(
            "lend",
            "(Ljava/lang/String;Ljava/lang/String;I[Ljava/lang/String;)J",
            lend as *mut c_void,
        ),
        Method("lentId", "(J)J", id as *mut c_void),
        Method("isHeld", "(J)Z", is_held as *mut c_void),
        Method("lentStatus", "(J)[Ljava/lang/String;", status as *mut c_void),
        Method("losses", "(J)J", losses as *mut c_void),
        Method("waitForLoss", "(J)[Ljava/lang/String;", wait_for_loss as *mut c_void),
        Method("closeLent", "(J)V", handles::close::<Lent> as *mut c_void),
    ]
}

/// A worker id, and what the library tells of its loss.
struct Lent {
    id: LentId,
    losses: Mutex<Option<Losses>>,
}

/// Has the loss, or ends when the worker id is closed or freed.
type Losses = Mutex<Receiver<Loss>>;

impl Close for Lent {
    fn close(&self) -> Result<(), Error> {
        self.id.close()
    }
}

extern "system" fn lend<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    address: JString<'local>,
    pool: JString<'local>,
    bits: jint,
    options: JStrings<'local>,
) -> jlong {
    call(&mut env, |env| {
        let (address, pool) = (text(env, &address)?, text(env, &pool)?);
        let options = Options::read(env, &options)?;
        let bits = u32::try_from(bits).map_err(|_| {
            Error::argument(format!("no pool has ids of {bits} bits: 1 to 22 are possible"))
        })?;
        let (tell, losses) = channel();
        // Nobody may listen.
        let on_loss = move |loss: &Loss| drop(tell.send(loss.clone()));
        let id = LentId::lend(&address, &pool, bits, &options.pairs(), on_loss)?;
        Ok(into_handle(Lent { id, losses: Mutex::new(Some(Mutex::new(losses))) }))
    })
}

extern "system" fn id(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let lent = unsafe { value::<Lent>(handle) };
    call(&mut env, |_| Ok(lent.id.id()?.cast_signed()))
}

extern "system" fn is_held(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jboolean {
    // SAFETY: as in `id`.
    let lent = unsafe { value::<Lent>(handle) };
    call(&mut env, |_| Ok(lent.id.is_held().unwrap_or(false)))
}

extern "system" fn status<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JStrings<'local> {
    // SAFETY: as in `id`.
    let lent = unsafe { value::<Lent>(handle) };
    call(&mut env, |env| state(env, &lent.id.status()?))
}

/// A handle for one wait, which lives on when the worker id is freed.
extern "system" fn losses(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: as in `id`.
    let lent = unsafe { value::<Lent>(handle) };
    call(&mut env, |_| {
        // Nothing panics while it is locked.
        let losses = lent.losses.lock().unwrap_or_else(PoisonError::into_inner).take();
        let losses = losses.ok_or_else(|| Error::internal("a loss is told once"))?;
        Ok(into_handle::<Losses>(losses))
    })
}

/// The worker id, the milliseconds that are left and a line for people; or null after a close.
extern "system" fn wait_for_loss<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JStrings<'local> {
    // SAFETY: the thread that waits frees the handle of this type when it has waited.
    let losses = unsafe { value::<Losses>(handle) };
    call(&mut env, |env| {
        let told = losses.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(loss) = told else { return Ok(JStrings::null()) };
        let left = i64::try_from(loss.time_left.as_millis()).unwrap_or(i64::MAX);
        let (id, left) = (loss.id.to_string(), left.to_string());
        Ok(strings(env, &[Some(&id), Some(&left), Some(&loss.to_string())])?)
    })
}
