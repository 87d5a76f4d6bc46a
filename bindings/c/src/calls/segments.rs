//! Dense numbers.

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::Arc;

use arc_swap::ArcSwap;
use uidring_bindings::{Close as _, Error, Numbers, Open, Source as _, TagNumbers};

use crate::calls::open;
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::sigpipe::without_sigpipe;
use crate::texts;

/// Segments, and the handles of the tags that were opened of them, by name.
#[derive(Clone)]
struct OpenSegments {
    numbers: Numbers,
    /// Changed without a lock, as the table of handles is.
    tags: Arc<ArcSwap<HashMap<String, u64>>>,
}

/// A tag, and the segments that it is of.
#[derive(Clone)]
pub(super) struct OpenTag {
    pub(super) numbers: TagNumbers,
    segments: u64,
}

handle_kind!(OpenSegments, "the segments were");
handle_kind!(OpenTag, "the segments were");

impl Open for OpenSegments {
    fn open(address: &str, options: &[(&str, &str)]) -> Result<OpenSegments, Error> {
        Ok(OpenSegments { numbers: Numbers::open(address, options)?, tags: Arc::default() })
    }
}

impl OpenSegments {
    fn tag_handle(&self, name: &str) -> Option<u64> {
        self.tags.load().get(name).copied()
    }

    /// The handle of the tag `name`: the one it has, or else a new one. `segments` is the handle of
    /// these segments.
    fn keep(&self, segments: u64, name: &str, numbers: TagNumbers) -> u64 {
        if let Some(known) = self.tag_handle(name) {
            return known;
        }
        let new = OpenTag { numbers, segments }.insert();
        let mut handle = new;
        self.tags.rcu(|tags| {
            handle = tags.get(name).copied().unwrap_or(new);
            let mut tags = HashMap::clone(tags);
            tags.insert(name.to_owned(), handle);
            tags
        });
        if handle != new {
            // Another thread has opened the same tag meanwhile.
            OpenTag::retain(|other, _| other != new);
        }
        handle
    }
}

/// The dense numbers of a store. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_segments {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// The numbers of one tag. Any thread may use it. It ends with its segments. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_tag {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// Opens the tags of the store at `address`, with options as `uidring_open` takes them.
///
/// # Safety
/// As `uidring_open`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_segments_open(
    address: *const c_char,
    options: *const *const c_char,
    segments: *mut uidring_segments,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let segments = unsafe { texts::place(segments, "segments") }?;
        // SAFETY: as the caller promises.
        segments.id = unsafe { open::<OpenSegments>(address, options) }?;
        Ok(())
    })
}

/// Creates a tag, or finds one that is as it is asked for.
///
/// # Safety
/// `name` is a text that ends with a zero byte, `options` is as `uidring_open` takes it, and `tag`
/// can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_segments_create(
    segments: uidring_segments,
    name: *const c_char,
    options: *const *const c_char,
    tag: *mut uidring_tag,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, options, tag) = unsafe {
            (texts::text(name, "name")?, texts::options(options)?, texts::place(tag, "tag")?)
        };
        let create = |open: &OpenSegments| -> Result<u64, Error> {
            let numbers = without_sigpipe(|| open.numbers.create(name, &options))?;
            Ok(open.keep(segments.id, name, numbers))
        };
        tag.id = OpenSegments::with(segments.id, create)??;
        Ok(())
    })
}

/// Finds a tag that is there. The same name has the same handle until the segments are closed.
///
/// # Safety
/// As `uidring_segments_create`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_segments_tag(
    segments: uidring_segments,
    name: *const c_char,
    tag: *mut uidring_tag,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (name, tag) = unsafe { (texts::text(name, "name")?, texts::place(tag, "tag")?) };
        let find = |open: &OpenSegments| -> Result<u64, Error> {
            if let Some(known) = open.tag_handle(name) {
                return Ok(known);
            }
            let numbers = without_sigpipe(|| open.numbers.tag(name))?;
            Ok(open.keep(segments.id, name, numbers))
        };
        tag.id = OpenSegments::with(segments.id, find)??;
        Ok(())
    })
}

/// Takes a number. Lock-free, unless it has to wait. Where it fails, it writes 0, which is none.
///
/// # Safety
/// `number` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_tag_take(tag: uidring_tag, number: *mut u64) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe {
            texts::number(number, "number", || OpenTag::with(tag.id, |tag| tag.numbers.take())?)
        }
    })
}

/// Takes a number if there is one now, and writes 0 if it may be worth waiting for one.
///
/// # Safety
/// `number` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_tag_try_take(tag: uidring_tag, number: *mut u64) -> uidring_code {
    guarded(|| {
        let take = || {
            let number = OpenTag::with(tag.id, |tag| tag.numbers.try_take())??;
            Ok(number.unwrap_or_default())
        };
        // SAFETY: as the caller promises.
        unsafe { texts::number(number, "number", take) }
    })
}

/// Fills `numbers` with `count` ascending numbers. Where it fails, as many as it writes to
/// `filled`, from the start, are new and yours to use. `filled` may be null.
///
/// # Safety
/// `numbers` has room for `count` numbers, and `filled` is null or can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_tag_fill(
    tag: uidring_tag,
    numbers: *mut u64,
    count: usize,
    filled: *mut usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe {
            texts::fill(numbers, count, filled, |numbers| {
                OpenTag::with(tag.id, |tag| tag.numbers.fill(numbers))
                    .unwrap_or_else(|error| Err((0, error)))
            })
        }
    })
}

/// Writes the state of the tag to `buffer`, as `uidring_status` does.
///
/// # Safety
/// As `uidring_status`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_tag_status(
    tag: uidring_tag,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // Not what this thread remembers, which may be closed.
        let status = OpenTag::find(tag.id)?.numbers.status();
        // SAFETY: as the caller promises.
        unsafe { texts::write(&status, buffer, size, length) }
    })
}

/// Ends all takes, and gives back what is left of each tag. A second close succeeds. If it fails,
/// numbers were not given back in time and are lost, and all takes have ended even so.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_segments_close(segments: uidring_segments) -> uidring_code {
    guarded(|| {
        let Some(open) = OpenSegments::remove(segments.id)? else { return Ok(()) };
        OpenTag::retain(|_, tag| tag.segments != segments.id);
        without_sigpipe(|| open.numbers.close())
    })
}
