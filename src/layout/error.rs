//! Why a layout cannot be, or has no time for a UID.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::clock::utc;

/// A [`Layout`](super::Layout) cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A field is too narrow or too wide.
    Width {
        /// `"time"`, `"worker"` or `"sequence"`.
        field: &'static str,
        /// The width asked for, in bits.
        bits: u32,
        /// The least that this field can have.
        least: u32,
    },
    /// The widths do not fit into 63 bits.
    Sum {
        /// The width asked for the time field.
        time_bits: u32,
        /// The width asked for the worker field.
        worker_bits: u32,
        /// The width asked for the sequence field.
        sequence_bits: u32,
    },
    /// The tick is not a whole number of milliseconds from 1 to 1,000.
    Tick {
        /// The tick asked for.
        tick: Duration,
    },
    /// The epoch is not a whole number of milliseconds, or more than 10^15 s from 1970.
    Epoch {
        /// The epoch asked for.
        epoch: SystemTime,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LayoutError::Width { field, bits, least } => {
                write!(
                    f,
                    "the {field} field cannot have {bits} bits: it has at least {least} and at \
                     most 63"
                )
            }
            LayoutError::Sum { time_bits, worker_bits, sequence_bits } => write!(
                f,
                "{time_bits} + {worker_bits} + {sequence_bits} bits are {}, more than the 63 of a \
                 positive 64-bit number",
                time_bits + worker_bits + sequence_bits
            ),
            LayoutError::Tick { tick } => {
                // In full: what is wrong may be the last digit.
                let (ms, rest) = (tick.as_millis(), tick.subsec_nanos() % 1_000_000);
                let digits = format!("{ms}.{rest:06}");
                let tick = digits.trim_end_matches('0').trim_end_matches('.');
                write!(
                    f,
                    "a tick cannot be {tick} ms: it is a whole number of milliseconds from 1 to \
                     1000"
                )
            }
            LayoutError::Epoch { epoch } => write!(
                f,
                "the epoch cannot be {}: it is a whole number of milliseconds, at most 10^15 s (31 \
                 million years) before or after 1970",
                utc(epoch)
            ),
        }
    }
}

impl Error for LayoutError {}

/// The time of a UID is one that the platform's [`SystemTime`] cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRangeError {
    pub(super) unix_ms: i128,
}

impl fmt::Display for TimeRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the UID's time is {} s from 1970, which this platform cannot represent: its layout is \
             another one, or has too many bits of time for the length of its tick",
            self.unix_ms.div_euclid(1000)
        )
    }
}

impl Error for TimeRangeError {}
