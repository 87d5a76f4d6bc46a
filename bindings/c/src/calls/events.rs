//! Events for the log of the program.

use std::ffi::c_char;
use std::time::Duration;

use uidring_bindings::events::{self, Level};

use crate::last_error::{guarded, uidring_code};
use crate::texts;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
// As types and constants are called in C.
#[allow(clippy::upper_case_acronyms, non_camel_case_types)]
pub enum uidring_level {
    /// There was no event.
    UIDRING_LEVEL_NONE = 0,
    /// Takes fail, or soon will.
    UIDRING_LEVEL_ERROR = 1,
    /// Something does not work, and takes go on.
    UIDRING_LEVEL_WARN = 2,
    /// Something has begun, ended or come back.
    UIDRING_LEVEL_INFO = 3,
    /// Details for whoever looks for a fault.
    UIDRING_LEVEL_DEBUG = 4,
}

/// A change of state that operators are told.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_event {
    /// How much it matters.
    pub level: uidring_level,
    /// When it came, in milliseconds since 1970.
    pub unix_ms: i64,
    /// Its kind, such as `lease_lost`, by which programs know it.
    pub name: [c_char; 32],
    /// A line for people: the name, a sentence, and what is known, such as "worker=7". One that is
    /// longer is cut.
    pub text: [c_char; 2008],
}

impl From<Level> for uidring_level {
    fn from(level: Level) -> uidring_level {
        match level {
            Level::Error => uidring_level::UIDRING_LEVEL_ERROR,
            Level::Warn => uidring_level::UIDRING_LEVEL_WARN,
            Level::Info => uidring_level::UIDRING_LEVEL_INFO,
            Level::Debug => uidring_level::UIDRING_LEVEL_DEBUG,
        }
    }
}

/// Writes the next event of all that this process has opened to `event`, and waits for one for at
/// most `wait_ms` milliseconds. If none comes, it writes the level `UIDRING_LEVEL_NONE`, which is
/// 0, and nothing else.
///
/// Events are kept from the first call on, at most 1,000. So call it once, with `wait_ms` 0, before
/// the first open; after that, call it again and again in one thread. A forked child gets only its
/// own events.
///
/// # Safety
/// `event` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_next_event(
    wait_ms: u64,
    event: *mut uidring_event,
) -> uidring_code {
    guarded(|| {
        events::listen();
        // SAFETY: as the caller promises.
        let event = unsafe { texts::place(event, "event") }?;
        let next = events::take().or_else(|| {
            events::wait(Some(Duration::from_millis(wait_ms)));
            events::take()
        });
        event.level = uidring_level::UIDRING_LEVEL_NONE;
        if let Some(next) = next {
            event.level = next.level.into();
            event.unix_ms = next.unix_ms();
            texts::copy(next.name, &mut event.name);
            texts::copy(&next.text(), &mut event.text);
        }
        Ok(())
    })
}
