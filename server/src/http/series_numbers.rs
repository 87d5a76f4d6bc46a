//! Takes numbers of series without blocking the thread's other requests.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use uidring::series::{Date, SeriesError, SeriesGenerator, SeriesNumber, valid_scope};
use utoipa::ToSchema;

use crate::app::App;
use crate::app::in_flight::{Reservation, SLICE};
use crate::app::series::{SeriesFailure, UsedSeries};
use crate::http::ids;
use crate::http::negotiate::Form;
use crate::http::numbers::run_blocking;
use crate::http::problem::Problem;
use crate::http::slices::{WHOLE, generated};
use crate::http::take_failure::TakeFailure;
use crate::stats::trouble::{Cause, Trouble};

/// What a number takes in memory, in bytes: twice its text, and its value.
const EACH: usize = 128;
/// An answer with so many is sent as a whole, and needs no room: what is refused for want of it
/// must not have taken any.
const FEW: usize = 64;
/// More than the longest text of a pattern and its value take in an answer, in bytes.
const LONGEST: usize = 400;
const _: () = assert!(FEW * LONGEST <= WHOLE);

/// Which numbers a request asks for.
pub(crate) struct Wanted {
    pub(crate) scope: Option<String>,
    pub(crate) date: Option<Date>,
    pub(crate) count: usize,
}

impl Wanted {
    /// One number of this scope and date, if they are given.
    pub(crate) fn read(scope: Option<String>, date: Option<&str>) -> Result<Wanted, Problem> {
        if let Some(scope) = &scope {
            valid_scope(scope).map_err(|error| {
                Problem::bad_request("bad-scope", "there can be no such scope")
                    .detail(error.to_string())
                    .value(scope)
            })?;
        }
        let date = date.map(|text| {
            text.parse::<Date>().map_err(|error| {
                Problem::bad_request("bad-date", "the date is none")
                    .detail(error.to_string())
                    .value(text)
            })
        });
        Ok(Wanted { scope, date: date.transpose()?, count: 1 })
    }
}

/// The problem of a name that no series can have.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    let allowed = "a name is 1 to 64 characters: letters and digits of ASCII, '-', '_' and '.'";
    valid_scope(name).map_err(|_| bad_name(name, allowed))
}

/// The problem of a name that no series can have, with what is allowed.
pub(crate) fn bad_name(name: &str, detail: &str) -> Problem {
    let title = "there can be no such series";
    Problem::bad_request("bad-series", title).detail(detail).value(name)
}

/// The series of this name.
pub(crate) async fn find(
    app: &'static App,
    name: String,
) -> Result<Result<UsedSeries, SeriesFailure>, TakeFailure> {
    match app.series.used(&name) {
        Some(used) => Ok(Ok(used)),
        None => run_blocking(&app.first_uses, move || app.series.find(&name)).await,
    }
}

/// Takes the next numbers of a series, all of one period. If the client disconnects, those already
/// taken are lost.
pub(crate) async fn take(
    app: &'static App,
    series: &UsedSeries,
    wanted: Wanted,
) -> Result<Result<Vec<SeriesNumber>, SeriesFailure>, TakeFailure> {
    app.watch.demand.client_asked();
    let taken = take_of(app, &series.generator, wanted).await;
    match &taken {
        Ok(Ok(numbers)) => series.takes.record(numbers.len() as u64, None),
        Ok(Err(none)) => series.takes.record(0, none.trouble()),
        Err(TakeFailure::Busy) => series.takes.record(0, Some(Trouble::of_cause(Cause::Late))),
        Err(_) => {}
    }
    taken
}

async fn take_of(
    app: &'static App,
    series: &SeriesGenerator,
    wanted: Wanted,
) -> Result<Result<Vec<SeriesNumber>, SeriesFailure>, TakeFailure> {
    let Wanted { scope, date, count } = wanted;
    let series = scope.map_or_else(|| series.clone(), |scope| series.scope(&scope));
    if let Some(date) = date {
        let of_date = move || match count {
            // From memory, where it is the present period.
            1 => series.take_for(date).map(|number| vec![number]),
            count => series.take_n_for(date, count as u64),
        };
        return Ok(run_blocking(&app.calls, of_date).await?.map_err(SeriesFailure::from));
    }
    let numbers = match series.try_take_batch(count) {
        Ok(numbers) if numbers.len() == count => return Ok(Ok(numbers)),
        Ok(numbers) => numbers,
        // Nothing is in memory, or not now. What was full a moment ago may have been widened.
        Err(
            SeriesError::Loading { .. }
            | SeriesError::Changed { .. }
            | SeriesError::Full { .. }
            | SeriesError::Take(_)
            | SeriesError::Storage(_)
            | SeriesError::Load(_),
        ) => Vec::new(),
        Err(error) => return Ok(Err(error.into())),
    };
    let rest = move || series.rest_of(numbers, count);
    Ok(run_blocking(&app.calls, rest).await?.map_err(SeriesFailure::from))
}

/// Numbers of a series, all of one period.
#[derive(Deserialize, Serialize, ToSchema)]
pub(crate) struct GivenNumbers {
    /// As people see them.
    numbers: Vec<String>,
    /// What was counted, for each of them.
    values: Vec<String>,
    /// The day, week, month, quarter or year in which they were counted, or `ever`.
    period: String,
}

/// The body of an answer with these numbers.
pub(crate) fn body(numbers: Vec<SeriesNumber>) -> String {
    let period = numbers.first().map_or_else(String::new, |first| first.period().to_string());
    let values = numbers.iter().map(|number| number.value().to_string()).collect();
    let numbers = numbers.into_iter().map(SeriesNumber::into_string).collect();
    // Texts can always be serialized.
    serde_json::to_string(&GivenNumbers { numbers, values, period }).unwrap_or_default()
}

/// The body in this form, of which `body` is that in JSON, with its media type.
pub(crate) fn in_form(form: Form, body: String) -> (&'static str, String) {
    if form != Form::Lines {
        return ("application/json", body);
    }
    // It is what `body` has written.
    let given = serde_json::from_str::<GivenNumbers>(&body);
    let lines = given.map_or_else(|_| String::new(), |given| lines(given.numbers.into_iter()));
    (ids::TEXT, lines)
}

/// One number a line.
fn lines(numbers: impl Iterator<Item = String>) -> String {
    numbers.fold(String::new(), |mut lines, number| {
        lines += &number;
        lines.push('\n');
        lines
    })
}

/// The memory of an answer.
pub(crate) struct AnswerMemory(Option<Reservation>);

impl AnswerMemory {
    /// Waits until there is room for an answer with `count` numbers. No number is taken before.
    pub(crate) async fn reserve(
        app: &'static App,
        count: usize,
    ) -> Result<AnswerMemory, TakeFailure> {
        if count <= FEW {
            return Ok(AnswerMemory(None));
        }
        let reservation = app.in_flight.reserve(EACH * count).await.ok_or(TakeFailure::Full)?;
        Ok(AnswerMemory(Some(reservation)))
    }

    /// The reserved memory, if some is needed.
    pub(crate) fn reservation(self) -> Option<Reservation> {
        self.0
    }

    /// The answer with these numbers.
    pub(crate) fn answer(self, form: Form, numbers: Vec<SeriesNumber>) -> Response {
        let (kind, body) = match form {
            Form::Lines => (ids::TEXT, lines(numbers.into_iter().map(SeriesNumber::into_string))),
            _ => ("application/json", body(numbers)),
        };
        let body = body.into_bytes();
        let Some(mut reservation) = self.0.filter(|_| body.len() > WHOLE) else {
            return ids::answer(kind, body);
        };
        reservation.shrink(body.len());
        let (length, mut at) = (body.len(), 0);
        let make = move |out: &mut Vec<u8>| {
            let end = body.len().min(at + SLICE);
            out.extend_from_slice(&body[at..end]);
            at = end;
        };
        let mut answer = generated(make, length, Some(reservation));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        answer
    }
}
