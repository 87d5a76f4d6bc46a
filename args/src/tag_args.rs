//! The options that say what a new tag is.

use uidring::segment::Tag;
use uidring_layouts::quantity;

/// The options that say what a new tag is.
#[derive(Clone, Debug, clap::Args)]
pub struct TagArgs {
    /// Its first number
    #[arg(long, value_name = "N", default_value = "1", value_parser = quantity::count)]
    first: u64,

    /// How many numbers a process takes at a time, at least: 500, 20k, 1.5M [default: 1000]. CosId
    /// keeps none: each program has its own
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    step: Option<u64>,

    /// How many numbers a process takes at a time, at most, and not how many it has in memory
    /// [default: the process decides]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    max_step: Option<u64>,

    /// What people want to know about it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

impl TagArgs {
    /// Whether the step was given.
    #[must_use]
    pub fn has_step(&self) -> bool {
        self.step.is_some()
    }

    /// The tag to create.
    #[must_use]
    pub fn tag(&self) -> Tag {
        let mut tag = Tag::new().first(self.first);
        if let Some(step) = self.step {
            tag = tag.step(step);
        }
        if let Some(most) = self.max_step {
            tag = tag.max_step(most);
        }
        if let Some(text) = &self.description {
            tag = tag.description(text);
        }
        tag
    }
}
