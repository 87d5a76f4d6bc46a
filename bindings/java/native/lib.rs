//! The library that `io.uidring` loads: Java's native methods over the core of the bindings.
//!
//! A Java object holds the address of a boxed value, its *handle*. Java frees a handle when no
//! object holds it, and what a class loader leaves behind is freed when Java unloads the library.
//!
//! No panic crosses into Java: each method catches it and throws an `InternalException`.

// Java calls functions with raw pointers, and hands back the addresses that it was given.
#![allow(unsafe_code)]

mod counting;
mod errors;
mod events;
#[cfg(feature = "for-tests")]
mod for_tests;
mod handles;
mod lend;
mod masked;
mod methods;
mod numbers;
mod packed;
mod past;
mod series;
mod takes;
mod texts;
mod uids;
mod waits;

use std::ffi::c_void;
use std::thread;

use jni::errors::Error as JniError;
use jni::sys::{JNI_ERR, JNI_VERSION_10, jint};
use jni::{Env, JavaVM};
use methods::{Method, register_with};
use uidring_bindings::keep_loaded;

/// Registers all native methods with the classes of the loader that loads the library.
///
/// # Safety
///
/// Java calls it, with its virtual machine.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut jni::sys::JavaVM, _: *mut c_void) -> jint {
    keep_loaded();
    // SAFETY: Java passes its virtual machine, which stays until the process ends.
    let vm = unsafe { JavaVM::from_raw(vm) };
    let registered = vm.attach_current_thread(register);
    // Java has an exception that says what is wrong.
    if registered.is_ok() { JNI_VERSION_10 } else { JNI_ERR }
}

/// Frees what is left of the class loader that loaded the library.
///
/// # Safety
///
/// Java calls it, when none of the loader's classes is in use.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnUnload(_: *mut jni::sys::JavaVM, _: *mut c_void) {
    let left = handles::take_all();
    if left.is_empty() {
        return;
    }
    // Not on this thread, which cleans up for all of Java: a generator gives its lease back to a
    // store that may be slow. The code of the library stays, as `build.rs`
    // and `keep_loaded` say.
    let dropping = thread::Builder::new().name("uidring-unload".to_owned());
    // If no thread can be started, the handles are freed here.
    let _ = dropping.spawn(move || drop(left));
}

fn register(env: &mut Env<'_>) -> Result<(), JniError> {
    register_with("Native", &uids::methods(), env)?;
    register_with("Native", &past::methods(), env)?;
    register_with("Native", &lend::methods(), env)?;
    register_with("Native", &numbers::methods(), env)?;
    register_with("Native", &series::methods(), env)?;
    register_with("Native", &counting::methods(), env)?;
    register_with("Native", &masked::methods(), env)?;
    register_with("Native", &events::methods(), env)?;
    register_with("Native", &waits::methods(), env)?;
    register_with("Native", &[Method("free", "(J)V", handles::free as *mut c_void)], env)?;
    // Where it is loaded without the tests, their class is not there.
    #[cfg(feature = "for-tests")]
    if register_with("NativeForTests", &for_tests::methods(), env).is_err() {
        env.exception_clear();
    }
    Ok(())
}
