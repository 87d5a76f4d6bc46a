//! Conditions: what is wrong with the service, how bad it is, and what to do about it.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Ok,
    /// The service gives ids, but an operator should act.
    Warning,
    /// The service can give nothing of what clients ask for.
    Down,
}

/// The kinds of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Ending,
    NotStarted,
    /// The service can give nothing of what clients asked for.
    NothingToGive,
    /// The database does not answer the regular probe.
    DatabaseAway,
    /// The database answers the probe, but gives no numbers.
    LoadsFail,
    /// Rows gave the same numbers again.
    RowsWentBack,
    /// Tags have no numbers in memory, and loads fail.
    TagsEmpty,
    /// Tags still have numbers in memory, but loads fail.
    TagsFail,
    /// Numbers of series cannot be taken.
    SeriesFail,
    /// A generator of UIDs has a problem.
    Generator,
    /// A thread panicked within the last hour.
    Panicked,
    /// Log lines were lost within the last hour.
    LogLost,
    /// Tokens or certificates could not be read again.
    ReloadFails,
    /// A certificate has expired or will expire soon.
    Certificate,
}

impl Kind {
    pub(crate) const ALL: [Kind; 14] = [
        Kind::Ending,
        Kind::NotStarted,
        Kind::NothingToGive,
        Kind::DatabaseAway,
        Kind::LoadsFail,
        Kind::RowsWentBack,
        Kind::TagsEmpty,
        Kind::TagsFail,
        Kind::SeriesFail,
        Kind::Generator,
        Kind::Panicked,
        Kind::LogLost,
        Kind::ReloadFails,
        Kind::Certificate,
    ];

    /// The name of the kind in JSON.
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
            Kind::SeriesFail => "series-fail",
            Kind::Generator => "generator",
            Kind::Panicked => "panicked",
            Kind::LogLost => "log-lost",
            Kind::ReloadFails => "reload-fails",
            Kind::Certificate => "certificate",
        }
    }
}

/// One condition.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Condition {
    pub(crate) kind: Kind,
    pub(crate) level: Level,
    /// A sentence for administrators.
    pub(crate) text: String,
    /// The message of the database or of another program; for tags, the messages of all of them.
    pub(crate) why: Option<String>,
    /// What to do.
    pub(crate) advice: &'static str,
    /// How many tags have this condition.
    pub(crate) tags: usize,
}

impl Condition {
    /// The sentence and its reason.
    pub(crate) fn whole(&self) -> String {
        match &self.why {
            Some(why) => format!("{}: {why}.", self.text.trim_end_matches('.')),
            None => self.text.clone(),
        }
    }
}
