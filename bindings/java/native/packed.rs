//! Numbers of series as bytes, which Java's class `Packed` reads: a text, a number and an array for
//! each would be as many calls of Java.
//!
//! ```text
//! value: 8 bytes │ length of the period: 1 │ length of the text: 2 │ period │ text │ value │ …
//! ```
//!
//! Numbers are in the machine's order of bytes. A period without a length is that of the number
//! before.

use jni::Env;
use jni::objects::JByteArray;
use jni::sys::jsize;
use uidring_bindings::{PeriodText, SeriesNumber};

use crate::errors::Failure;

/// How long the array is that Java passes for one number, as `Packed.ROOM` says.
const ROOM: usize = 128;
/// How long value and lengths are.
const HEAD: usize = 11;

/// Puts a number into the array that Java has passed. Returns that array, or a new one if the
/// number does not fit it.
pub(crate) fn pack<'local>(
    env: &mut Env<'local>,
    number: &SeriesNumber,
    reply: JByteArray<'local>,
) -> Result<JByteArray<'local>, Failure> {
    let period = PeriodText::of(number.period());
    let (period, text) = (period.as_str().as_bytes(), number.as_str().as_bytes());
    let mut bytes = [0_u8; ROOM];
    let (text_at, end) = (HEAD + period.len(), HEAD + period.len() + text.len());
    if end > ROOM || reply.is_null() {
        return pack_all(env, std::slice::from_ref(number));
    }
    bytes[..HEAD].copy_from_slice(&head(number, period));
    bytes[HEAD..text_at].copy_from_slice(period);
    bytes[text_at..end].copy_from_slice(text);
    let (java, length) = (env.get_raw(), jsize::try_from(end).unwrap_or(jsize::MAX));
    // SAFETY: the environment is that of this thread, the array is one of Java's, and there are as
    // many bytes. If the array were shorter, Java would throw.
    unsafe {
        let bytes = bytes.as_ptr().cast();
        ((**java).v1_1.SetByteArrayRegion)(java, reply.as_raw(), 0, length, bytes);
    }
    Ok(reply)
}

/// Makes an array of numbers for Java.
pub(crate) fn pack_all<'local>(
    env: &mut Env<'local>,
    numbers: &[SeriesNumber],
) -> Result<JByteArray<'local>, Failure> {
    let texts: usize = numbers.iter().map(|number| number.as_str().len()).sum();
    let mut bytes = Vec::with_capacity(texts + numbers.len() * HEAD + PeriodText::MOST);
    let mut before = None;
    for number in numbers {
        let period = PeriodText::of(number.period());
        let is_same = before.replace(number.period()) == Some(number.period());
        let period = if is_same { &[] } else { period.as_str().as_bytes() };
        bytes.extend_from_slice(&head(number, period));
        bytes.extend_from_slice(period);
        bytes.extend_from_slice(number.as_str().as_bytes());
    }
    Ok(env.byte_array_from_slice(&bytes)?)
}

fn head(number: &SeriesNumber, period: &[u8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&number.value().to_ne_bytes());
    // A period has at most 15 bytes, and a text fewer than a thousand.
    head[8] = u8::try_from(period.len()).unwrap_or(u8::MAX);
    let text = u16::try_from(number.as_str().len()).unwrap_or(u16::MAX);
    head[9..].copy_from_slice(&text.to_ne_bytes());
    head
}
