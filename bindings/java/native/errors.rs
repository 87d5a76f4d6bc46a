//! How a call is made for Java: panics are caught, and errors are thrown.

use jni::errors::Error as JniError;
use jni::objects::{JThrowable, JValue};
use jni::strings::JNIString;
use jni::sys::jint;
use jni::{Env, EnvUnowned, Outcome, jni_sig};
use uidring_bindings::{Error, Kind};

use crate::methods::PACKAGE;

/// Why a call fails.
pub(crate) enum Failure {
    /// The core refuses. The number says how many elements of a buffer are filled even so.
    Core(Error, usize),
    /// Java refuses: it has an exception for that, such as one that memory is used up.
    Java(JniError),
}

impl From<JniError> for Failure {
    fn from(error: JniError) -> Failure {
        Failure::Java(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Core(error, 0)
    }
}

impl From<(usize, Error)> for Failure {
    fn from((filled, error): (usize, Error)) -> Failure {
        Failure::Core(error, filled)
    }
}

/// Makes a call, and returns 0 or null to Java if it throws.
pub(crate) fn call<'local, T: Default>(
    env: &mut EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> T {
    let failure = match env.with_env(body).into_outcome() {
        Outcome::Ok(value) => return value,
        Outcome::Err(failure) => failure,
        Outcome::Panic(payload) => Failure::Core(Error::of_panic(&*payload), 0),
    };
    // There is nothing to be done if Java cannot throw: it is out of memory, and says so.
    let _ = env.with_env(|env| throw(env, failure)).into_outcome();
    T::default()
}

/// Throws in Java what a take has failed with. Returns the number that stands for no number.
#[cold]
#[inline(never)]
pub(crate) fn throw_error(env: &mut EnvUnowned<'_>, error: Error) -> i64 {
    call(env, |_| Err(Failure::Core(error, 0)))
}

fn throw(env: &mut Env<'_>, failure: Failure) -> Result<(), JniError> {
    if env.exception_check() {
        return Ok(());
    }
    let (error, filled) = match failure {
        Failure::Core(error, filled) => (error, filled),
        Failure::Java(error) => (Error::internal(&error.to_string()), 0),
    };
    let class = env.find_class(JNIString::from(class_of(error.kind)))?;
    let message = env.new_string(error.message)?;
    let filled = jint::try_from(filled).unwrap_or(jint::MAX);
    let exception = env.new_object(
        class,
        jni_sig!("(Ljava/lang/String;I)V"),
        &[JValue::Object(&message), JValue::Int(filled)],
    )?;
    let exception = env.cast_local::<JThrowable<'_>>(exception)?;
    env.throw(exception)
}

/// The class of the exceptions of this kind.
fn class_of(kind: Kind) -> String {
    format!("{PACKAGE}/{}Exception", kind.name())
}
