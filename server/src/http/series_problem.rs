//! Why a series gives no numbers, as problem details. The texts do not name the database, because
//! any client may read them.

use axum::http::StatusCode;
use uidring::TakeError;
use uidring::segment::SegmentError;
use uidring::series::{FormatError, PatternError, ScopeError, SeriesDefinitionError, SeriesError};
use uidring_args::first_day_text;

use crate::app::App;
use crate::app::series::SeriesFailure;
use crate::http::problem::{Problem, broken, for_now};
use crate::security::access::Permission;

/// The problem of this error for the client with this token.
pub(crate) fn for_client(app: &App, token: Option<&[u8]>, none: SeriesFailure) -> Problem {
    let is_admin = app.access.check(token, Permission::Admin).is_ok();
    of(none, |name| is_admin || app.access.check(token, Permission::Series(name)).is_ok())
}

/// The problem of a pattern that there cannot be.
pub(crate) fn bad_pattern(error: &PatternError, pattern: &str) -> Problem {
    let problem = Problem::bad_request("bad-pattern", "there can be no such pattern");
    problem.detail(error.to_string()).value(pattern)
}

/// The problem of this error. Only names that the client `may_see` are in it.
fn of(none: SeriesFailure, may_see: impl Fn(&str) -> bool) -> Problem {
    match none {
        SeriesFailure::NotReady(none) => none.into(),
        SeriesFailure::NotHere => {
            let title = "this service has no series";
            Problem::new(StatusCode::NOT_FOUND, "no-series-here", title).detail(
                "series are in a SQLite file, or in a database of PostgreSQL, MySQL or MariaDB: \
                 start the service with --db and one of these",
            )
        }
        SeriesFailure::Error(SeriesError::NoSuchSeries { series, alike, .. }) => {
            let alike = alike.iter().find(|alike| may_see(alike));
            let detail = match alike {
                Some(alike) => format!("did you mean {alike:?}? If it is new, create it"),
                None => "create it with PUT /v1/series/NAME; if it was there before, its counters \
                         first have to be raised above all that were given, as they begin anew"
                    .to_owned(),
            };
            let title = "there is no such series";
            Problem::new(StatusCode::NOT_FOUND, "no-such-series", title)
                .detail(detail)
                .value(&series)
        }
        SeriesFailure::Error(error) => of_error(error),
    }
}

fn of_error(error: SeriesError) -> Problem {
    let detail = error.to_string();
    let bad = |kind: &str, title| Problem::bad_request(kind, title).detail(detail.clone());
    let conflict =
        |kind: &str, title| Problem::new(StatusCode::CONFLICT, kind, title).detail(detail.clone());
    match error {
        SeriesError::BadName { series, .. } => {
            bad("bad-series", "there can be no such series").value(&series)
        }
        SeriesError::Definition(error) => {
            let problem = bad("bad-definition", "there can be no such series");
            match value(&error) {
                Some(value) => problem.value(&value),
                None => problem,
            }
        }
        SeriesError::Scope(error) | SeriesError::Format(FormatError::Scope(error)) => {
            let problem = bad("bad-scope", "there can be no such scope");
            match &error {
                ScopeError::Character { scope, .. } => problem.value(scope),
                _ => problem,
            }
        }
        SeriesError::Format(FormatError::NoScope) => bad("no-scope", "a scope is needed"),
        SeriesError::Format(FormatError::ScopeNotShown { scope }) => {
            bad("bad-scope", "there can be no such scope").value(&scope)
        }
        SeriesError::Format(FormatError::Date { date, .. }) => {
            bad("bad-date", "the series has no numbers of this date").value(&date.to_string())
        }
        SeriesError::Gapless { series } => {
            let title = "the series is gapless";
            Problem::new(StatusCode::CONFLICT, "gapless", title)
                .detail(
                    "each of its numbers is counted in the transaction that stores the document, \
                     by take_in of the library or next_in of a binding, so that none is missing; \
                     an answer that is lost would leave a gap",
                )
                .value(&series)
        }
        SeriesError::Closed { period, .. } => {
            conflict("closed", "the period is closed").value(&period.to_string())
        }
        SeriesError::Full { series, period, .. } => {
            let title = "the period has given all its numbers";
            Problem::new(StatusCode::CONFLICT, "full", title)
                .detail(format!(
                    "{detail}: POST /v1/series/{series}/widen, or `uidring series change {series} \
                     PATTERN --from now`"
                ))
                .value(&period.to_string())
        }
        SeriesError::BadChange { series, .. } => {
            let title = "the series cannot be changed so";
            Problem::new(StatusCode::CONFLICT, "bad-change", title)
                .detail(format!("{detail}: `uidring series change {series} PATTERN --from DATE`"))
        }
        SeriesError::Differs { field, there, asked, .. } => {
            let title = "the series is there, and is another";
            Problem::new(StatusCode::CONFLICT, "differs", title)
                .detail(format!(
                    "its {field} is {there}, and {asked} was asked for; {}",
                    if matches!(field, "pattern" | "restart") {
                        "`uidring series change` changes it from a later day on, and where only \
                         its number is wider, POST /v1/series/NAME/widen does at once"
                    } else {
                        "leave it out to use the series as it is"
                    }
                ))
                .field(field)
                .value(&asked)
        }
        SeriesError::Changed { .. } | SeriesError::Loading { .. } => for_now(detail),
        SeriesError::WentBack { series, period, first, last, .. } => broken(format!(
            "the numbers of {period} of the series {series:?} went back: it gives {first} after \
             {last}; raise its counter, and after the restore of an old copy the worker ids too, \
             above all that were given, and restart the service"
        )),
        SeriesError::Clock { .. } => broken(detail),
        SeriesError::Take(TakeError::ShutDown) => for_now("the service is ending".to_owned()),
        SeriesError::Take(error) => error.into(),
        SeriesError::Load(error) => error.into(),
        SeriesError::Storage(error) => SegmentError::Storage(error).into(),
        _ => broken("the service's log and page say why".to_owned()),
    }
}

/// What is wrong in a definition.
fn value(error: &SeriesDefinitionError) -> Option<String> {
    match error {
        SeriesDefinitionError::TimeZone { name, .. } | SeriesDefinitionError::Unit { name } => {
            Some(name.clone())
        }
        SeriesDefinitionError::FirstDay { month, day } => Some(first_day_text((*month, *day))),
        SeriesDefinitionError::Step { step, .. } => Some(step.to_string()),
        SeriesDefinitionError::First { first, .. } => Some(first.to_string()),
        _ => None,
    }
}
