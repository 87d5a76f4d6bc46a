//! Texts and arrays that come from C.

use std::ffi::{CStr, c_char};
use std::slice;

use uidring_bindings::{Error, not_an_id, option_example, without_passwords};

/// The text at `text`, which is the argument `name`.
///
/// # Safety
/// It is null, or it ends with a zero byte and stays as it is during the call.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Error> {
    // SAFETY: as the caller promises.
    unsafe { optional(text, name) }?.ok_or_else(|| is_null(name))
}

/// The text at `text`; `None` if it is null.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn optional<'a>(
    text: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Error> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, and the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    // The text may be a key or hold a password, so the sentence must not repeat it.
    text.to_str().map(Some).map_err(|error| {
        let good = error.valid_up_to();
        Error::argument(format!("{name} is not UTF-8 after its first {good} bytes"))
    })
}

/// The options at `options`, each `name=value`; none if it is null.
///
/// # Safety
/// It is null, or an array of texts as [`text`] takes them, of which the last is null.
pub(crate) unsafe fn options<'a>(
    options: *const *const c_char,
) -> Result<Vec<(&'a str, &'a str)>, Error> {
    let mut pairs = Vec::new();
    if options.is_null() {
        return Ok(pairs);
    }
    for index in 0.. {
        // SAFETY: all before it were not null, so it is in the array.
        let option = unsafe { *options.add(index) };
        // SAFETY: as the caller promises.
        let Some(option) = (unsafe { optional(option, "an option") })? else { break };
        let problem = || {
            // It may be the address, in the wrong place.
            let (shown, written) = (without_passwords(option), option_example(option));
            Error::argument(format!("the option {shown:?} is not name=value, such as {written}"))
        };
        pairs.push(option.split_once('=').ok_or_else(problem)?);
    }
    Ok(pairs)
}

/// The id that a caller passes, which is `what` in the sentence of an error. One that was negative
/// where it came from is told as it was there, too.
pub(crate) fn id(id: u64, what: &str) -> Result<u64, Error> {
    match i64::try_from(id) {
        Ok(_) => Ok(id),
        Err(_) => Err(not_an_id(what, format!("{id}, or {} with its sign", id.cast_signed()))),
    }
}

/// Where a result is to be written: the argument `name`.
///
/// # Safety
/// It is null, or it can be written to and nobody else uses it during the call.
pub(crate) unsafe fn place<'a, T>(place: *mut T, name: &str) -> Result<&'a mut T, Error> {
    // SAFETY: as the caller promises.
    unsafe { place.as_mut() }.ok_or_else(|| is_null(name))
}

/// Writes the number that `call` returns to `place`, the argument `name`, and 0 if it fails: a
/// program that does not look at the code finds no id there, and not the last one.
///
/// # Safety
/// As [`place`].
pub(crate) unsafe fn number(
    place: *mut u64,
    name: &str,
    call: impl FnOnce() -> Result<u64, Error>,
) -> Result<(), Error> {
    // SAFETY: as the caller promises.
    let place = unsafe { self::place(place, name) }?;
    // If `call` panics, this is what the caller finds.
    *place = 0;
    *place = call()?;
    Ok(())
}

/// The array of `count` elements at `array`, which is the argument `name`. It may be null if it has
/// none.
///
/// # Safety
/// It is null, or its elements can be read and written and nobody else uses them during the call.
pub(crate) unsafe fn array<'a, T>(
    array: *mut T,
    count: usize,
    name: &str,
) -> Result<&'a mut [T], Error> {
    check_array(array, count, name)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: it is not null, not too long, and the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts_mut(array, count) })
}

/// The array of `count` elements at `array` that is only read, as [`array`] else.
///
/// # Safety
/// It is null, or its elements can be read and nobody writes them during the call.
pub(crate) unsafe fn read_only<'a, T>(
    array: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Error> {
    check_array(array, count, name)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: it is not null, not too long, and the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(array, count) })
}

fn check_array<T>(array: *const T, count: usize, name: &str) -> Result<(), Error> {
    if count > 0 && array.is_null() {
        return Err(is_null(name));
    }
    // No array is longer, and the slice would not be one.
    let most = isize::MAX.unsigned_abs() / size_of::<T>();
    if count > most {
        let signed = count.cast_signed();
        let problem = format!("{name} cannot have {count} elements, or {signed} with the sign");
        return Err(Error::argument(problem));
    }
    Ok(())
}

/// Fills the array `numbers` by `fill`, and writes to `filled` how many are new.
///
/// # Safety
/// `numbers` is as [`array`] takes it; `filled` is null or can be written to.
pub(crate) unsafe fn fill(
    numbers: *mut u64,
    count: usize,
    filled: *mut usize,
    fill: impl FnOnce(&mut [u64]) -> Result<(), (usize, Error)>,
) -> Result<(), Error> {
    // SAFETY: as the caller promises.
    let (numbers, filled) = unsafe { (array(numbers, count, "the array"), filled.as_mut()) };
    let mut nowhere = 0;
    let filled = filled.unwrap_or(&mut nowhere);
    // If `fill` panics, this is what the caller finds.
    *filled = 0;
    let result = numbers.map_err(|error| (0, error)).and_then(fill);
    let (new, result) = match result {
        Ok(()) => (count, Ok(())),
        Err((new, error)) => (new, Err(error)),
    };
    *filled = new;
    result
}

/// Writes `text` and a zero byte to `buffer`, and how long the text is to `length`.
///
/// # Safety
/// `buffer` is as [`array`] takes it, of `size` bytes; `length` is null or can be written to.
pub(crate) unsafe fn write(
    text: &str,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> Result<(), Error> {
    // SAFETY: as the caller promises.
    if let Some(length) = unsafe { length.as_mut() } {
        *length = text.len();
    }
    // SAFETY: as the caller promises.
    let buffer = unsafe { array(buffer, size, "buffer") }?;
    if buffer.len() <= text.len() {
        let need = text.len() + 1;
        return Err(Error::argument(format!("the buffer has {size} bytes, and {need} are needed")));
    }
    copy(text, buffer);
    Ok(())
}

/// Writes `text` and a zero byte to `buffer`. The characters that do not fit are left out.
pub(crate) fn copy(text: &str, buffer: &mut [c_char]) {
    let Some(room) = buffer.len().checked_sub(1) else { return };
    let end = (0..=room.min(text.len())).rfind(|&end| text.is_char_boundary(end));
    let copied = &text.as_bytes()[..end.unwrap_or_default()];
    for (place, &byte) in buffer.iter_mut().zip(copied) {
        *place = c_char::from_ne_bytes([byte]);
    }
    buffer[copied.len()] = 0;
}

fn is_null(name: &str) -> Error {
    Error::argument(format!("{name} is null"))
}

#[cfg(test)]
#[allow(clippy::panic)] // what is tested is a panic
mod tests {
    use super::*;
    use crate::last_error::{guarded, uidring_code};

    #[test]
    fn no_number_counts_after_a_panic() {
        let (mut numbers, mut filled) = ([0; 2], 7);
        let code = guarded(|| {
            // SAFETY: the array and the count are there during the call.
            unsafe {
                fill(numbers.as_mut_ptr(), 2, &raw mut filled, |numbers| {
                    numbers[0] = 1;
                    panic!("a mistake in uidring")
                })
            }
        });
        assert_eq!((code, filled), (uidring_code::UIDRING_INTERNAL, 0));
    }

    #[test]
    fn a_text_that_is_cut_is_a_text() {
        for (text, room, copied) in
            [("", 1, ""), ("abc", 4, "abc"), ("abc", 3, "ab"), ("aé", 3, "a"), ("é", 1, "")]
        {
            let mut buffer = vec![c_char::MAX; room];
            copy(text, &mut buffer);
            let bytes: Vec<u8> = buffer.iter().map(|byte| byte.to_ne_bytes()[0]).collect();
            let written = CStr::from_bytes_until_nul(&bytes).map(CStr::to_bytes);
            assert_eq!(written, Ok(copied.as_bytes()), "{text:?} in {room}");
        }
    }
}
