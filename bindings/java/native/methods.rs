//! How native methods are registered with their class.

use std::ffi::c_void;

use jni::errors::Error as JniError;
use jni::strings::JNIString;
use jni::{Env, NativeMethod};

/// The Java package, with slashes. It is named here alone, and the classes of that package are
/// compiled with its name.
pub(crate) const PACKAGE: &str = "io/uidring";

/// A native method: its name and its signature in Java, and the function.
pub(crate) struct Method(pub(crate) &'static str, pub(crate) &'static str, pub(crate) *mut c_void);

/// Registers these methods with a class of the package.
pub(crate) fn register_with(
    class: &str,
    methods: &[Method],
    env: &mut Env<'_>,
) -> Result<(), JniError> {
    let class = env.find_class(JNIString::from(format!("{PACKAGE}/{class}")))?;
    for &Method(name, signature, function) in methods {
        let (name, signature) = (JNIString::from(name), JNIString::from(signature));
        // SAFETY: each function has the parameters of its signature, after the environment and the
        // class, because all methods are static.
        unsafe {
            let method = NativeMethod::from_raw_parts(&name, &signature, function);
            env.register_native_methods(&class, &[method])?;
        }
    }
    Ok(())
}
