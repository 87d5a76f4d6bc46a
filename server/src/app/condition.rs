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
    /// No UIDs can be given.
    UidsEmpty,
    /// UIDs are given until the reserved ticks end.
    UidsFromMemory,
    /// Rows gave the same numbers again.
    RowsWentBack,
    /// Tags have no numbers in memory, and loads fail.
    TagsEmpty,
    /// Tags still have numbers in memory, but loads fail.
    TagsFail,
    /// Numbers of series cannot be taken.
    SeriesFail,
    /// Numbers of series are given from memory, and no further ones can be loaded.
    SeriesFromMemory,
    /// Series that were not used before give nothing.
    NewSeriesFail,
    /// Periods of series have given all their numbers.
    SeriesFull,
    /// Few numbers are left in periods of series.
    SeriesNearlyFull,
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
    pub(crate) const ALL: [Kind; 20] = [
        Kind::Ending,
        Kind::NotStarted,
        Kind::NothingToGive,
        Kind::DatabaseAway,
        Kind::LoadsFail,
        Kind::UidsEmpty,
        Kind::UidsFromMemory,
        Kind::RowsWentBack,
        Kind::TagsEmpty,
        Kind::TagsFail,
        Kind::SeriesFail,
        Kind::SeriesFromMemory,
        Kind::NewSeriesFail,
        Kind::SeriesFull,
        Kind::SeriesNearlyFull,
        Kind::Generator,
        Kind::Panicked,
        Kind::LogLost,
        Kind::ReloadFails,
        Kind::Certificate,
    ];

    /// The name of the kind in JSON.
    pub(crate) fn json_name(self) -> &'static str {
        match self {
            Kind::Ending => "ending",
            Kind::NotStarted => "not-started",
            Kind::NothingToGive => "nothing-to-give",
            Kind::DatabaseAway => "database-away",
            Kind::LoadsFail => "loads-fail",
            Kind::UidsEmpty => "uids-empty",
            Kind::UidsFromMemory => "uids-from-memory",
            Kind::RowsWentBack => "rows-went-back",
            Kind::TagsEmpty => "tags-empty",
            Kind::TagsFail => "tags-fail",
            Kind::SeriesFail => "series-fail",
            Kind::SeriesFromMemory => "series-from-memory",
            Kind::NewSeriesFail => "new-series-fail",
            Kind::SeriesFull => "series-full",
            Kind::SeriesNearlyFull => "series-nearly-full",
            Kind::Generator => "generator",
            Kind::Panicked => "panicked",
            Kind::LogLost => "log-lost",
            Kind::ReloadFails => "reload-fails",
            Kind::Certificate => "certificate",
        }
    }

    /// The alert of `deploy/alerts.yml` for it, if there is one.
    pub(crate) fn alert(self) -> Option<&'static str> {
        Some(match self {
            Kind::Ending | Kind::Generator => return None,
            Kind::NotStarted | Kind::NothingToGive => "UidringNotReady",
            Kind::DatabaseAway | Kind::LoadsFail => "UidringDatabaseAway",
            Kind::UidsEmpty => "UidringNoUids",
            Kind::UidsFromMemory => "UidringUidsEnd",
            Kind::RowsWentBack => "UidringRowWentBack",
            Kind::TagsEmpty => "UidringTagEmpty",
            Kind::TagsFail => "UidringLoadsFail",
            Kind::SeriesFail => "UidringSeriesFail",
            Kind::SeriesFromMemory => "UidringSeriesFromMemory",
            Kind::NewSeriesFail => "UidringNewSeriesFail",
            Kind::SeriesFull => "UidringSeriesFull",
            Kind::SeriesNearlyFull => "UidringSeriesNearlyFull",
            Kind::Panicked => "UidringPanicked",
            Kind::LogLost => "UidringLogLost",
            Kind::ReloadFails => "UidringReloadFails",
            Kind::Certificate => "UidringCertificateEnds",
        })
    }

    /// What it becomes if nobody acts.
    pub(crate) fn worse(self) -> Option<Kind> {
        match self {
            Kind::UidsFromMemory => Some(Kind::UidsEmpty),
            Kind::TagsFail => Some(Kind::TagsEmpty),
            Kind::SeriesFromMemory => Some(Kind::SeriesFail),
            Kind::SeriesNearlyFull => Some(Kind::SeriesFull),
            _ => None,
        }
    }

    /// Whether the tables of the page have its reasons and advice.
    pub(crate) fn is_in_table(self) -> bool {
        matches!(
            self,
            Kind::RowsWentBack
                | Kind::TagsEmpty
                | Kind::TagsFail
                | Kind::SeriesFail
                | Kind::SeriesFromMemory
                | Kind::SeriesFull
                | Kind::SeriesNearlyFull
        )
    }

    /// Whether it tells what is given, and is logged when it begins and ends. The others are logged
    /// where they happen.
    pub(crate) fn is_of_supply(self) -> bool {
        matches!(
            self,
            Kind::LoadsFail
                | Kind::UidsEmpty
                | Kind::UidsFromMemory
                | Kind::RowsWentBack
                | Kind::TagsEmpty
                | Kind::TagsFail
                | Kind::SeriesFail
                | Kind::SeriesFromMemory
                | Kind::NewSeriesFail
                | Kind::SeriesFull
                | Kind::SeriesNearlyFull
        )
    }
}

/// One condition.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Condition {
    pub(crate) kind: Kind,
    pub(crate) level: Level,
    /// A sentence for administrators.
    pub(crate) text: String,
    /// The message of the database or of another program.
    pub(crate) why: Option<String>,
    /// What to do.
    pub(crate) advice: &'static str,
    /// The alert for it, which docs/operations/alerts.md explains.
    pub(crate) alert: Option<&'static str>,
    /// How many tags have this condition.
    pub(crate) tags: usize,
}

impl Condition {
    /// A condition that is worth a warning.
    pub(crate) fn warning(kind: Kind, text: String, advice: &'static str) -> Condition {
        let (level, alert) = (Level::Warning, kind.alert());
        Condition { kind, level, text, why: None, advice, alert, tags: 0 }
    }

    /// The same, with another alert than that of its kind.
    pub(crate) fn with_alert(self, alert: &'static str) -> Condition {
        Condition { alert: Some(alert), ..self }
    }

    /// The same, with the reason.
    pub(crate) fn with_reason(self, why: impl Into<String>) -> Condition {
        Condition { why: Some(why.into()), ..self }
    }

    /// The sentence and its reason.
    pub(crate) fn sentence(&self) -> String {
        match &self.why {
            Some(why) => format!("{}: {why}.", self.text.trim_end_matches('.')),
            None => self.text.clone(),
        }
    }
}
