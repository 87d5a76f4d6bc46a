//! How the bits of an id are read: a layout of this library, or one that no generator here has.

use std::fmt;
use std::time::SystemTime;

use uidring::{FieldOrder, Layout, Parts, Uid};

/// How the bits of an id are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// It tells the time, which is on top unless the format is the layout itself.
    layout: Layout,
    below: Below,
}

/// What the bits below the time are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// The format is the layout itself.
    AsLaidOut,
    /// The sequence, then the worker.
    SequenceWorker,
    /// The sequence has all of them.
    SequenceAlone,
}

/// What an id says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// When its tick begins.
    pub time: SystemTime,
    /// The worker id of its generator, if it says one.
    pub worker: Option<u64>,
    /// Its number within the tick.
    pub sequence: u64,
}

impl From<Layout> for Format {
    fn from(layout: Layout) -> Format {
        Format { layout, below: Below::AsLaidOut }
    }
}

impl Format {
    pub(crate) const fn new(layout: Layout, below: Below) -> Format {
        Format { layout, below }
    }

    /// The layout, if a generator can have it.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        (self.below == Below::AsLaidOut).then_some(self.layout)
    }

    /// A layout with the same time field.
    #[must_use]
    pub fn time_layout(&self) -> &Layout {
        &self.layout
    }

    /// The same with the layout that `change` makes of its own.
    pub(crate) fn with<E>(
        self,
        change: impl FnOnce(Layout) -> Result<Layout, E>,
    ) -> Result<Self, E> {
        Ok(Format { layout: change(self.layout)?, ..self })
    }

    /// The largest worker id; `None` where ids have none.
    #[must_use]
    pub fn max_worker(&self) -> Option<u64> {
        (self.below != Below::SequenceAlone).then(|| self.layout.max_worker())
    }

    /// The largest sequence.
    #[must_use]
    pub fn max_sequence(&self) -> u64 {
        match self.below {
            Below::AsLaidOut | Below::SequenceWorker => self.layout.max_sequence(),
            Below::SequenceAlone => self.low_mask(),
        }
    }

    /// The bits below the time, where the time is on top.
    fn low_bits(&self) -> u32 {
        self.layout.worker_bits() + self.layout.sequence_bits()
    }

    fn low_mask(&self) -> u64 {
        (1 << self.low_bits()) - 1
    }

    /// The fields of `uid`.
    #[must_use]
    pub fn fields(&self, uid: Uid) -> Fields {
        let Parts { time, worker, sequence } = self.layout.parts(uid);
        match self.below {
            Below::AsLaidOut => Fields { time, worker: Some(worker), sequence },
            Below::SequenceWorker | Below::SequenceAlone => self.fields_below(time, uid.get()),
        }
    }

    /// The fields of an id with this time, whose time is on top.
    pub(crate) fn fields_below(&self, time: SystemTime, bits: u64) -> Fields {
        let low = bits & self.low_mask();
        let (worker_bits, sequence_bits) = (self.layout.worker_bits(), self.layout.sequence_bits());
        match self.below {
            Below::AsLaidOut => Fields {
                time,
                worker: Some(low >> sequence_bits),
                sequence: low & self.layout.max_sequence(),
            },
            Below::SequenceWorker => Fields {
                time,
                worker: Some(low & self.layout.max_worker()),
                sequence: low >> worker_bits,
            },
            Below::SequenceAlone => Fields { time, worker: None, sequence: low },
        }
    }

    /// Whether `uid` has no bits above the fields.
    #[must_use]
    pub fn contains(&self, uid: Uid) -> bool {
        self.layout.contains(uid)
    }

    /// Whether a negative number is what follows the last id: 63 bits, with the time on top.
    #[must_use]
    pub fn runs_into_the_sign(&self) -> bool {
        let bits = self.layout.time_bits() + self.low_bits();
        bits == 63 && self.layout.order() == FieldOrder::TimeFirst
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = &self.layout;
        let text = layout.to_string();
        let time = layout.time_bits();
        // Of `41 | 10 | 12 in milliseconds from ...`, what follows the widths.
        let rest = text.split_once(" in ").map_or("", |(_, rest)| rest);
        match self.below {
            Below::AsLaidOut => f.write_str(&text),
            Below::SequenceWorker => {
                let (worker, sequence) = (layout.worker_bits(), layout.sequence_bits());
                write!(f, "{time} | {sequence} | {worker} in {rest}, sequence above worker")
            }
            Below::SequenceAlone => {
                write!(f, "{time} | {} in {rest}, no worker", self.low_bits())
            }
        }
    }
}
