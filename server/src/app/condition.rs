//! What may not be as it should be.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Ok,
    /// Ids come, and somebody should look.
    Warning,
    /// Nothing of what is asked for can be given.
    Down,
}

/// What is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Ending,
    NotStarted,
    /// Nothing of what was asked for can be given.
    NothingToGive,
    /// The database does not answer when it is looked at.
    DatabaseAway,
    /// The database answers, and gives no numbers.
    LoadsFail,
    /// Rows gave numbers again.
    RowsWentBack,
    /// Tags have no numbers in memory, and none can be loaded.
    TagsEmpty,
    /// Tags have numbers in memory, and none can be loaded.
    TagsFail,
    /// A generator of UIDs cannot work as it should.
    Generator,
    /// A thread panicked lately.
    Panicked,
    /// Lines of the log were lost lately.
    LogLost,
    /// Tokens, or another file, cannot be read again.
    ReloadFails,
    /// A certificate has ended, or will soon.
    Certificate,
}

impl Kind {
    pub(crate) const ALL: [Kind; 13] = [
        Kind::Ending,
        Kind::NotStarted,
        Kind::NothingToGive,
        Kind::DatabaseAway,
        Kind::LoadsFail,
        Kind::RowsWentBack,
        Kind::TagsEmpty,
        Kind::TagsFail,
        Kind::Generator,
        Kind::Panicked,
        Kind::LogLost,
        Kind::ReloadFails,
        Kind::Certificate,
    ];

    /// As in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Ending => "ending",
            Kind::NotStarted => "not-started",
            Kind::NothingToGive => "nothing-to-give",
            Kind::DatabaseAway => "database-away",
            Kind::LoadsFail => "loads-fail",
            Kind::RowsWentBack => "rows-went-back",
            Kind::TagsEmpty => "tags-empty",
            Kind::TagsFail => "tags-fail",
            Kind::Generator => "generator",
            Kind::Panicked => "panicked",
            Kind::LogLost => "log-lost",
            Kind::ReloadFails => "reload-fails",
            Kind::Certificate => "certificate",
        }
    }
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Condition {
    pub(crate) kind: Kind,
    pub(crate) level: Level,
    /// A sentence for administrators.
    pub(crate) text: String,
    /// What the database or another program said. Where it is about tags, that of all of them.
    pub(crate) why: Option<String>,
    /// What to do.
    pub(crate) advice: &'static str,
    /// How many tags it is about.
    pub(crate) tags: usize,
}

impl Condition {
    /// The sentence with its reason.
    pub(crate) fn whole(&self) -> String {
        match &self.why {
            Some(why) => format!("{}: {why}.", self.text.trim_end_matches('.')),
            None => self.text.clone(),
        }
    }
}
