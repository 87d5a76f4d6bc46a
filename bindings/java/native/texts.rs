//! Texts and arrays of texts, from Java and to it.

use std::ffi::CStr;

use jni::Env;
use jni::errors::Error as JniError;
use jni::objects::{JObjectArray, JString};
use uidring_bindings::{Error, flat, option_example};

use crate::errors::Failure;

/// An array of texts in Java.
pub(crate) type JStrings<'local> = JObjectArray<'local, JString<'local>>;

/// A text.
pub(crate) fn text(env: &Env<'_>, text: &JString<'_>) -> Result<String, Failure> {
    Ok(text.try_to_string(env)?)
}

/// A text, or nothing for Java's null.
pub(crate) fn optional(env: &Env<'_>, value: &JString<'_>) -> Result<Option<String>, Failure> {
    if value.is_null() { Ok(None) } else { text(env, value).map(Some) }
}

/// A text that is short nearly always, and then lies on the stack.
pub(crate) enum Short {
    /// The text ends with the first zero.
    Stack([u8; Short::ROOM]),
    Heap(String),
}

impl Short {
    /// The longest scope has 64 characters, each of one byte.
    const ROOM: usize = 200;

    /// The text, or nothing for Java's null.
    pub(crate) fn optional(env: &Env<'_>, text: &JString<'_>) -> Result<Option<Short>, Failure> {
        if text.is_null() {
            return Ok(None);
        }
        let mut bytes = [0; Short::ROOM];
        let java = env.get_raw();
        // SAFETY: the environment is that of this thread, and the text is one of Java's.
        let length = unsafe { ((**java).v1_1.GetStringLength)(java, text.as_raw()) };
        // Each character of Java's becomes at most 3 bytes, and a zero is the end.
        if usize::try_from(length).is_ok_and(|length| 3 * length < Short::ROOM) {
            // SAFETY: as above, and the bytes have room for all.
            unsafe {
                let place = bytes.as_mut_ptr().cast();
                ((**java).v1_2.GetStringUTFRegion)(java, text.as_raw(), 0, length, place);
            }
            if env.exception_check() {
                return Err(JniError::JavaException.into());
            }
            // What Java writes in a way of its own, a zero and what it has as two characters, is no
            // UTF-8.
            if until_zero(&bytes).is_some() {
                return Ok(Some(Short::Stack(bytes)));
            }
        }
        Ok(Some(Short::Heap(self::text(env, text)?)))
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Short::Stack(bytes) => until_zero(bytes).unwrap_or_default(),
            Short::Heap(text) => text,
        }
    }
}

fn until_zero(bytes: &[u8]) -> Option<&str> {
    CStr::from_bytes_until_nul(bytes).ok()?.to_str().ok()
}

/// Options as Java passes them: a name, its value, the next name and so on. The value of an option
/// that is no `name=value` is null.
pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn read(env: &mut Env<'_>, array: &JStrings<'_>) -> Result<Options, Failure> {
        let mut texts = Vec::new();
        for index in 0..array.len(env)? {
            let element = array.get_element(env, index)?;
            let Some(text) = optional(env, &element)? else {
                return Err(not_a_pair(texts.last().map_or("", String::as_str)).into());
            };
            texts.push(text);
            env.delete_local_ref(element);
        }
        Ok(Options(texts))
    }

    /// Name and value of each.
    pub(crate) fn pairs(&self) -> Vec<(&str, &str)> {
        self.0.as_chunks().0.iter().map(|[name, value]| (name.as_str(), value.as_str())).collect()
    }
}

fn not_a_pair(option: &str) -> Error {
    // An address in the wrong place may have a password.
    let shown =
        if option.contains("://") { "an address".to_owned() } else { format!("{option:?}") };
    let written = option_example(option);
    Error::argument(format!("an option is written name=value, such as {written}, and not {shown}"))
}

/// A new array in Java. What is `None` is null there.
pub(crate) fn strings<'local>(
    env: &mut Env<'local>,
    texts: &[Option<&str>],
) -> Result<JStrings<'local>, JniError> {
    let null = JString::null();
    let array = env.new_object_type_array::<JString<'_>>(texts.len(), &null)?;
    for (index, text) in texts.iter().enumerate() {
        if let Some(text) = text {
            let text = env.new_string(text)?;
            array.set_element(env, index, &text)?;
            // A million numbers would need as many references at once.
            env.delete_local_ref(text);
        }
    }
    Ok(array)
}

/// A state for Java: its JSON, and then the name and the value of each field.
pub(crate) fn state<'local>(
    env: &mut Env<'local>,
    state: &str,
) -> Result<JStrings<'local>, Failure> {
    let fields = flat(state);
    let mut texts = vec![Some(state)];
    for (name, value) in &fields {
        texts.extend([Some(name.as_str()), value.as_deref()]);
    }
    Ok(strings(env, &texts)?)
}
