//! One series in the list of `/v1/status` and of the page.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::series::SeriesState;
use crate::http::operators::tag_line::rounded;
use crate::stats::rates::{TagCount, TagRate};

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
    /// Why the last request failed, if it failed because of the database.
    pub(crate) problem: Option<String>,
    /// What to do about it.
    pub(crate) advice: Option<&'static str>,
}

impl SeriesLine {
    pub(crate) fn of(
        SeriesState { name, scopes, takes }: SeriesState,
        rate: impl Fn(&str, TagCount) -> TagRate,
    ) -> SeriesLine {
        let count = TagCount { here: takes.taken, to_clients: 0 };
        SeriesLine {
            per_second: rounded(rate(&name, count).all),
            series: name,
            scopes,
            taken: takes.taken,
            failures: takes.failures,
            advice: takes.trouble.as_ref().map(|trouble| trouble.cause.advice()),
            problem: takes.trouble.map(|trouble| trouble.text),
        }
    }
}
