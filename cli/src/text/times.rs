//! Times as the terminal's user reads them.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use uidring_layouts::Times;

/// `time` in the local time zone with its offset from UTC, in RFC 3339, as precise as `times`.
pub(crate) fn local(times: Times, time: SystemTime) -> Option<String> {
    let format = if times.digits() == 0 { "%FT%T%:z" } else { "%FT%T%.3f%:z" };
    let time = Timestamp::try_from(time).ok()?;
    Some(time.to_zoned(TimeZone::system()).strftime(format).to_string())
}

/// Whether local time differs from UTC at `time`.
pub(crate) fn differs_from_utc(time: SystemTime) -> bool {
    Timestamp::try_from(time).is_ok_and(|time| !TimeZone::system().to_offset(time).is_zero())
}
