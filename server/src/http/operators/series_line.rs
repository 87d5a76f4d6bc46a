//! One series in the list of `/v1/status` and of the page.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::series::SeriesState;
use crate::http::operators::tag_line::rounded;
use crate::stats::rates::{TagCount, TagRate};
use crate::stats::trouble::Cause;
use crate::text::rfc3339;

/// The most periods that are named.
const MOST_PERIODS: usize = 10;

#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct SeriesLine {
    #[schema(value_type = String)]
    pub(crate) series: Box<str>,
    /// The average rate of numbers handed out over the last 10 to 20 seconds.
    pub(crate) per_second: f64,
    /// The scopes whose numbers are in memory, or were lately.
    pub(crate) scopes: usize,
    /// Numbers handed out.
    pub(crate) taken: u64,
    /// Requests that failed because of the database.
    pub(crate) failures: u64,
    /// `ok`; `from-memory` if no further numbers can be loaded; `empty` if none are given;
    /// `went-back` if the counter gave the same numbers again; `full` if a period has given all its
    /// numbers, and `nearly-full` if it has given 80 % of them.
    pub(crate) state: &'static str,
    /// Whether it fails only because the database is away for all.
    #[serde(skip)]
    pub(crate) is_shared: bool,
    /// Until when there are numbers in memory at this rate, if no further ones can be loaded.
    pub(crate) until: Option<String>,
    /// The periods that have given all their numbers, ten at most.
    pub(crate) full: Vec<String>,
    /// The periods that have given 80 % of their numbers, ten at most.
    pub(crate) nearly_full: Vec<String>,
    /// Why no further numbers can be loaded, or none are given.
    pub(crate) problem: Option<String>,
    /// What to do about it.
    pub(crate) advice: Option<&'static str>,
}

impl SeriesLine {
    pub(crate) fn of(of: SeriesState, rate: impl Fn(&str, TagCount) -> TagRate) -> SeriesLine {
        let state = of.state_name();
        let SeriesState { name, scopes, takes, supply, is_shared, full, nearly_full, .. } = of;
        let count = TagCount { here: takes.taken, to_clients: 0 };
        SeriesLine {
            per_second: rounded(rate(&name, count).all),
            series: name,
            scopes,
            taken: takes.taken,
            failures: takes.failures,
            state,
            is_shared,
            until: supply.until().map(rfc3339),
            full: full.into_iter().take(MOST_PERIODS).collect(),
            nearly_full: nearly_full.into_iter().take(MOST_PERIODS).collect(),
            advice: match supply.why() {
                Some(why) => Some(why.cause.series_advice()),
                None => (state != "ok").then(|| Cause::RanOut.series_advice()),
            },
            problem: supply.why().map(|why| why.text.clone()),
        }
    }
}
