//! Numbers that people see.

use std::ffi::c_char;

use uidring_bindings::{Error, Period, PeriodText, SeriesNumber, SeriesStore};

use crate::calls::{close, open};
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::sigpipe::without_sigpipe;
use crate::texts;

handle_kind!(SeriesStore, "the series were");

/// The series of a store. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_series {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// A number of a series.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_series_number {
    /// The number itself, counted from the first of its period.
    pub value: u64,
    /// The period in which it was counted, such as "2026-11-24", "2026-W48", "FY2026-04" or "ever".
    pub period: [c_char; 16],
    /// The period that the text shows: that one, or a part of it.
    pub shown: [c_char; 16],
    /// The text that people see. All fit: a pattern has at most 128 characters of at most 4 bytes,
    /// a scope 64, and a number 20.
    pub text: [c_char; 640],
}

/// Opens the series of the store at `address`, with options as `uidring_open` takes them.
///
/// # Safety
/// As `uidring_open`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_open(
    address: *const c_char,
    options: *const *const c_char,
    series: *mut uidring_series,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let series = unsafe { texts::place(series, "series") }?;
        // SAFETY: as the caller promises.
        series.id = unsafe { open::<SeriesStore>(address, options) }?;
        Ok(())
    })
}

/// Creates a series, or finds one that is as it is asked for.
///
/// # Safety
/// `name` and `pattern` are texts that end with a zero byte, and `options` is as `uidring_open`
/// takes it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_create(
    series: uidring_series,
    name: *const c_char,
    pattern: *const c_char,
    options: *const *const c_char,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, pattern, options) = unsafe {
            (texts::text(name, "name")?, texts::text(pattern, "pattern")?, texts::options(options)?)
        };
        SeriesStore::with(series.id, |series| {
            without_sigpipe(|| series.create(name, pattern, &options))
        })?
    })
}

/// Takes the next `count` numbers, at least one and at most a million. Where fewer fit the pattern,
/// it takes those, and writes how many to `taken`, which may be null if `count` is 1. `scope` is
/// null or names a scope, which counts by itself: without `{scope}` in the pattern, numbers of two
/// scopes have the same text. `date` is null for today, or such as "2026-11-24". Where it fails, it
/// writes 0 to `taken`, and the first of `numbers` has the value 0 and empty texts.
///
/// # Safety
/// `name` is a text that ends with a zero byte, `scope` and `date` are null or such texts,
/// `numbers` has room for `count`, and `taken` is null or can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_next(
    series: uidring_series,
    name: *const c_char,
    scope: *const c_char,
    date: *const c_char,
    numbers: *mut uidring_series_number,
    count: usize,
    taken: *mut usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let mut taken = unsafe { taken.as_mut() };
        if let Some(taken) = &mut taken {
            **taken = 0;
        }
        // SAFETY: as the caller promises.
        let numbers = unsafe { texts::array(numbers, count, "numbers") }?;
        // If the call fails, this is what the caller finds.
        numbers.first_mut().into_iter().for_each(clear);
        // SAFETY: as the caller promises.
        let (name, scope, date) = unsafe {
            (
                texts::text(name, "name")?,
                texts::optional(scope, "scope")?,
                texts::optional(date, "date")?,
            )
        };
        if taken.is_none() && count > 1 {
            return Err(Error::argument("taken is null, and count is above 1"));
        }
        if let ([number], None) = (&mut *numbers, date) {
            let at_once = SeriesStore::with(series.id, |series| series.try_next(name, scope))?;
            if let Some(issued) = at_once {
                write_issued(&issued, number);
                if let Some(taken) = taken {
                    *taken = 1;
                }
                return Ok(());
            }
        }
        let count = numbers.len();
        let next = |series: &SeriesStore| match count {
            1 => Ok(vec![series.next(name, scope, date)?]),
            _ => series.next_many(name, scope, date, count as u64),
        };
        let issued = SeriesStore::with(series.id, |series| without_sigpipe(|| next(series)))??;
        if let Some(taken) = taken {
            *taken = issued.len();
        }
        numbers.iter_mut().zip(&issued).for_each(|(number, issued)| write_issued(issued, number));
        Ok(())
    })
}

/// Reads a number of the series. `number` may be null, to see only whether it is one.
///
/// # Safety
/// `name` and `text` are texts that end with a zero byte, and `number` is null or can be written
/// to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_parse(
    series: uidring_series,
    name: *const c_char,
    text: *const c_char,
    number: *mut uidring_series_number,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, text, number) =
            unsafe { (texts::text(name, "name")?, texts::text(text, "text")?, number.as_mut()) };
        let parse = |series: &SeriesStore| without_sigpipe(|| series.parse(name, text));
        let read = SeriesStore::with(series.id, parse)??;
        if let Some(number) = number {
            write(read.value, [read.period, read.shown], text, number);
        }
        Ok(())
    })
}

/// Writes the text of a number of the series to `buffer`, as `uidring_status` writes the state, and
/// as `uidring_series_next` writes numbers of this `scope` and `date`.
///
/// # Safety
/// `name` is a text that ends with a zero byte, `scope` and `date` are null or such texts, and the
/// rest is as for `uidring_status`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_format(
    series: uidring_series,
    name: *const c_char,
    number: u64,
    scope: *const c_char,
    date: *const c_char,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, scope, date) = unsafe {
            (
                texts::text(name, "name")?,
                texts::optional(scope, "scope")?,
                texts::optional(date, "date")?,
            )
        };
        let format =
            |series: &SeriesStore| without_sigpipe(|| series.format(name, number, scope, date));
        let text = SeriesStore::with(series.id, format)??;
        // SAFETY: as the caller promises.
        unsafe { texts::write(&text, buffer, size, length) }
    })
}

/// Gives a series a wider number at once: the way on where a period has given all its numbers.
/// `pattern` is as it was, but for the number.
///
/// # Safety
/// `name` and `pattern` are texts that end with a zero byte.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_widen(
    series: uidring_series,
    name: *const c_char,
    pattern: *const c_char,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, pattern) =
            unsafe { (texts::text(name, "name")?, texts::text(pattern, "pattern")?) };
        SeriesStore::with(series.id, |series| without_sigpipe(|| series.widen(name, pattern)))?
    })
}

/// Writes the state of a series, and of a scope of it, to `buffer`, as `uidring_status` does.
/// `scope` may be null.
///
/// # Safety
/// `name` is a text that ends with a zero byte, `scope` is null or one, and the rest is as for
/// `uidring_status`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_series_status(
    series: uidring_series,
    name: *const c_char,
    scope: *const c_char,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, scope) =
            unsafe { (texts::text(name, "name")?, texts::optional(scope, "scope")?) };
        let status = |series: &SeriesStore| without_sigpipe(|| series.status(name, scope));
        let status = SeriesStore::with(series.id, status)??;
        // SAFETY: as the caller promises.
        unsafe { texts::write(&status, buffer, size, length) }
    })
}

/// Ends all takes, and gives back what is left of each scope. A second close succeeds. If it fails,
/// numbers were not given back in time and are lost, and all takes have ended even so.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_series_close(series: uidring_series) -> uidring_code {
    close::<SeriesStore>(series.id)
}

pub(super) fn clear(number: &mut uidring_series_number) {
    number.value = 0;
    texts::copy("", &mut number.period);
    texts::copy("", &mut number.shown);
    texts::copy("", &mut number.text);
}

pub(super) fn write_issued(issued: &SeriesNumber, number: &mut uidring_series_number) {
    write(issued.value(), [issued.period(), issued.shown()], issued.as_str(), number);
}

fn write(value: u64, [period, shown]: [Period; 2], text: &str, number: &mut uidring_series_number) {
    number.value = value;
    texts::copy(PeriodText::of(period).as_str(), &mut number.period);
    texts::copy(PeriodText::of(shown).as_str(), &mut number.shown);
    texts::copy(text, &mut number.text);
}
