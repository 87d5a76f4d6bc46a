//! [`Audience`]: where errors are read, and so what their readers can set.

use std::fmt;

use once_cell::sync::OnceCell;

/// Where the errors of this process are read: by those who wrote the program, or by users of one of
/// the programs that are built on this library, who cannot call its methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
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

static AUDIENCE: OnceCell<Audience> = OnceCell::new();

impl Audience {
    /// From now on, all errors of this process speak to those who read them here. Where this is
    /// called several times, the first call counts.
    pub fn set(self) {
        let _ = AUDIENCE.set(self);
    }

    fn of_process() -> Audience {
        AUDIENCE.get().copied().unwrap_or_default()
    }
}

/// A part of an error that is said otherwise to each audience. Errors may show it with `{}`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerAudience {
    pub(crate) library: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) service: &'static str,
    pub(crate) binding: &'static str,
}

impl PerAudience {
    /// What it says in this process.
    pub(crate) fn text(&self) -> &'static str {
        self.text_for(Audience::of_process())
    }

    fn text_for(&self, audience: Audience) -> &'static str {
        match audience {
            Audience::Library => self.library,
            Audience::Tool => self.tool,
            Audience::Service => self.service,
            Audience::Binding => self.binding,
        }
    }
}

impl fmt::Display for PerAudience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

pub(crate) const MAX_LEAD: PerAudience = PerAudience {
    library: "max_lead",
    tool: "--max-lead",
    service: "the longest lead",
    binding: "max_lead",
};

pub(crate) const MAX_LAG: PerAudience = PerAudience {
    library: "max_lag",
    tool: "--max-lag",
    service: "the longest lag",
    binding: "max_lag",
};

pub(crate) const UID_GENERATOR: PerAudience = PerAudience {
    library: "uid_generator",
    tool: "--uid-generator",
    service: "--uid-generator",
    binding: "uid_generator",
};

#[cfg(test)]
mod tests {
    use super::{Audience, MAX_LEAD};

    #[test]
    fn a_process_is_one_of_the_library_until_another_audience_is_set() {
        assert_eq!(MAX_LEAD.to_string(), "max_lead");
        assert_eq!(MAX_LEAD.text_for(Audience::Tool), "--max-lead");
        assert_eq!(MAX_LEAD.text_for(Audience::Service), "the longest lead");
        assert_eq!(MAX_LEAD.text_for(Audience::Binding), "max_lead");
    }
}
