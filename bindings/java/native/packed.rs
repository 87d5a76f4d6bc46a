//! Numbers of series as bytes, which Java's class `Packed` reads: a text, a number and an array for
//! each would be as many calls of Java.
//!
//! ```text
//! value: 8 bytes │ lengths of the two periods: 1 each │ length of the text: 2 │ periods │ text │ …
//! ```
//!
//! Numbers are in the machine's order of bytes. The first period is that in which it was counted,
//! and without a length that of the number before. The second is the one that is shown, and without
//! a length the first.

use jni::Env;
use jni::objects::JByteArray;
use jni::sys::jsize;
use uidring_bindings::{Period, PeriodText, SeriesNumber};

use crate::errors::Failure;

/// How long the array is that Java passes for one number, as `Packed.ROOM` says.
const ROOM: usize = 128;
/// How long value and lengths are.
const HEAD: usize = 12;

/// Puts a number into the array that Java has passed. Returns that array, or a new one if the
/// number does not fit it.
pub(crate) fn pack<'local>(
    env: &mut Env<'local>,
    number: &SeriesNumber,
    reply: JByteArray<'local>,
) -> Result<JByteArray<'local>, Failure> {
    let (period, shown) = (unless_same(number.period(), None), shown(number));
    let parts = parts(number, period.as_ref(), shown.as_ref());
    let head = head(number, parts);
    let mut bytes = [0_u8; ROOM];
    let end = HEAD + parts.iter().map(|part| part.len()).sum::<usize>();
    if end > ROOM || reply.is_null() {
        return pack_all(env, std::slice::from_ref(number));
    }
    let mut at = 0;
    for part in [&head[..]].into_iter().chain(parts) {
        bytes[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
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
        let (period, shown) = (unless_same(number.period(), before), shown(number));
        before = Some(number.period());
        let parts = parts(number, period.as_ref(), shown.as_ref());
        bytes.extend_from_slice(&head(number, parts));
        for part in parts {
            bytes.extend_from_slice(part);
        }
    }
    Ok(env.byte_array_from_slice(&bytes)?)
}

/// The text of a period, unless it is the one `before`.
fn unless_same(period: Period, before: Option<Period>) -> Option<PeriodText> {
    (before != Some(period)).then(|| PeriodText::of(period))
}

/// The period that a number shows, unless it is the one in which it was counted.
fn shown(number: &SeriesNumber) -> Option<PeriodText> {
    unless_same(number.shown(), Some(number.period()))
}

/// What comes after the head of a number.
fn parts<'a>(
    number: &'a SeriesNumber,
    period: Option<&'a PeriodText>,
    shown: Option<&'a PeriodText>,
) -> [&'a [u8]; 3] {
    let [period, shown] = [period, shown].map(|period| period.map_or("", PeriodText::as_str));
    [period, shown, number.as_str()].map(str::as_bytes)
}

fn head(number: &SeriesNumber, [period, shown, text]: [&[u8]; 3]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&number.value().to_ne_bytes());
    // A period has at most 15 bytes, and a text fewer than a thousand.
    head[8] = u8::try_from(period.len()).unwrap_or(u8::MAX);
    head[9] = u8::try_from(shown.len()).unwrap_or(u8::MAX);
    head[10..].copy_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_ne_bytes());
    head
}
