//! [`Door`]: where errors are read, and so what their readers can set.

use std::fmt;

use once_cell::sync::OnceCell;

/// Where the errors of this process are read: by those who wrote the program, or by users of one of
/// the programs that are built on this library, who cannot call its methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// A program in Rust, which calls methods.
    #[default]
    Library,
    /// The tool `uidring`, with options such as `--max-lead`.
    Tool,
    /// The service, with options such as `--worker-ids`.
    Service,
    /// A binding to another language, with options such as `max_lead`.
    Binding,
}

static DOOR: OnceCell<Door> = OnceCell::new();

impl Door {
    /// From now on, all errors of this process speak to those who read them here. Where this is
    /// called several times, the first call counts.
    pub fn open(self) {
        let _ = DOOR.set(self);
    }

    fn of_process() -> Door {
        DOOR.get().copied().unwrap_or_default()
    }
}

/// A part of an error that is said otherwise at each door. Errors may show it with `{}`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByDoor {
    pub(crate) library: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) service: &'static str,
    pub(crate) binding: &'static str,
}

impl ByDoor {
    /// What it says in this process.
    pub(crate) fn said(&self) -> &'static str {
        self.at(Door::of_process())
    }

    fn at(&self, door: Door) -> &'static str {
        match door {
            Door::Library => self.library,
            Door::Tool => self.tool,
            Door::Service => self.service,
            Door::Binding => self.binding,
        }
    }
}

impl fmt::Display for ByDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.said())
    }
}

pub(crate) const MAX_LEAD: ByDoor = ByDoor {
    library: "max_lead",
    tool: "--max-lead",
    service: "the longest lead",
    binding: "max_lead",
};

pub(crate) const MAX_LAG: ByDoor = ByDoor {
    library: "max_lag",
    tool: "--max-lag",
    service: "the longest lag",
    binding: "max_lag",
};

pub(crate) const UID_GENERATOR: ByDoor = ByDoor {
    library: "uid_generator",
    tool: "--uid-generator",
    service: "--uid-generator",
    binding: "uid_generator",
};

#[cfg(test)]
mod tests {
    use super::{Door, MAX_LEAD};

    #[test]
    fn a_process_is_one_of_the_library_until_another_door_is_opened() {
        assert_eq!(MAX_LEAD.to_string(), "max_lead");
        assert_eq!(MAX_LEAD.at(Door::Tool), "--max-lead");
        assert_eq!(MAX_LEAD.at(Door::Service), "the longest lead");
        assert_eq!(MAX_LEAD.at(Door::Binding), "max_lead");
    }
}
