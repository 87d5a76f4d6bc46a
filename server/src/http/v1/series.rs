//! Series, and the numbers that people see.

use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::Value;
use uidring::series::{SeriesDefinition, SeriesDefinitionError, SeriesError, SeriesRecord, Unit};
use uidring_args::first_day;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::series::SeriesFailure;
use crate::config::limits::{MAX_COUNTERS, MAX_IDS};
use crate::http::bearer::bearer;
use crate::http::body::{self, Number};
use crate::http::describe::{Problems, number_or_text};
use crate::http::idempotency::Repeatable;
use crate::http::numbers::{acquire_permit, one_list, run_blocking};
use crate::http::problem::{Details, Problem};
use crate::http::series_numbers::{self, GivenNumbers, Wanted};
use crate::http::series_problem;
use crate::http::v1::series_rows::{SeriesRow, SeriesRows};
use crate::http::v1::{NamePath, created, name_in, visible};
use crate::http::{negotiate, params};
use crate::routes::Route;
use crate::security::access::Permission;

/// The series in the path.
pub(super) fn series_name(path: NamePath) -> Result<String, Problem> {
    let name = name_in(path, series_numbers::bad_name)?;
    series_numbers::check_name(&name)?;
    Ok(name)
}

/// The problem that `error` is for this client.
pub(super) fn problem(app: &App, headers: &HeaderMap, error: impl Into<SeriesFailure>) -> Problem {
    series_problem::for_client(app, bearer(headers), error.into())
}

/// What to take. All of it is optional.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedNumbers {
    /// What counts by itself within the series, such as a shop.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$")]
    scope: Option<String>,
    /// The day of the document, if it is not today.
    #[schema(format = Date)]
    date: Option<String>,
    /// How many; 1 unless it says otherwise.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 100_000)]
    n: Option<Value>,
}

impl WantedNumbers {
    fn read(self) -> Result<Wanted, Problem> {
        let mut wanted = Wanted::read(self.scope, self.date.as_deref())?;
        if let Some(value) = self.n {
            wanted.count = count(&value)?;
        }
        Ok(wanted)
    }
}

/// How many numbers the body asks for.
fn count(value: &Value) -> Result<usize, Problem> {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let count = params::number(&text, MAX_IDS).and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| {
        Problem::bad_request("bad-count", "n is not a number of numbers that can be given")
            .detail(format!("n is a whole number from 1 to {MAX_IDS}"))
            .value(&text)
    })
}

/// Takes numbers of a series, as JSON, or one per line.
///
/// All of them are of one period, in ascending order. There are fewer than `n` only where the
/// period has no more that fit the pattern. A request that is repeated with the same
/// `Idempotency-Key` within a day gets the same answer.
#[utoipa::path(
    post, path = Route::SeriesNumbers.text(), operation_id = "takeSeriesNumbers", tag = "Series",
    params(
        ("name" = String, Path, description = "The name of a series",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$"),
        ("Idempotency-Key" = Option<String>, Header, description = "What a request that is \
            repeated has in common with the first one, such as a random UUID. It belongs to the \
            client's token and to the series, and n is 1000 at most",
            min_length = 1, max_length = 255),
    ),
    request_body = WantedNumbers,
    responses(
        (status = 200, description = "They are the client's; as text, one is on each line",
            content((GivenNumbers = "application/json"), (String = "text/plain"))),
        (status = 409, description = "The series is gapless, or its period is closed or has given \
            all numbers that fit", body = Details, content_type = "application/problem+json"),
        (status = 422, description = "Another request had this Idempotency-Key",
            body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn take(
    State(app): State<&'static App>,
    path: NamePath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let name = series_name(path)?;
    app.access.check(bearer(&headers), Permission::Series(&name))?;
    let form = negotiate::form_of_texts(&headers)?;
    let title = "the body does not say which numbers to take";
    let fields = "has scope, date and n, or is {}";
    let wanted: WantedNumbers = body::json(app, &headers, body, title, fields).await?;
    let wanted = wanted.read()?;
    let repeatable = Repeatable::of(&headers, &wanted)?;
    let room = series_numbers::AnswerMemory::reserve(app, wanted.count).await?;
    let problem = |error| problem(app, &headers, error);
    let series = series_numbers::find(app, name).await?.map_err(problem)?;
    let Some(repeatable) = repeatable else {
        let numbers = series_numbers::take(app, &series, wanted).await?.map_err(problem)?;
        app.counters().series_numbers.add(numbers.len() as u64);
        return Ok(room.answer(form, numbers));
    };
    let (known, request) = (series.generator.clone(), repeatable.request.clone());
    let recalled = run_blocking(&app.calls, move || known.recall(&request)).await?;
    if let Some(remembered) = recalled.map_err(|error| problem(error.into()))? {
        return repeatable.answer(form, remembered);
    }
    let numbers = series_numbers::take(app, &series, wanted).await?.map_err(problem)?;
    app.counters().series_numbers.add(numbers.len() as u64);
    let body = series_numbers::body(numbers);
    let (request, asked) = (repeatable.request.clone(), repeatable.asked.clone());
    let remember = move || series.generator.remember(&request, &asked, &body);
    let remembered =
        run_blocking(&app.calls, remember).await?.map_err(|error| problem(error.into()))?;
    repeatable.answer(form, remembered)
}

/// Lists the series that the client may take from.
#[utoipa::path(
    get, path = Route::AllSeries.text(), operation_id = "listSeries", tag = "Series",
    params(("last" = Option<u64>, Query, description = "Only so many, the newest first; all of \
        them, in their order, if absent", minimum = 1, maximum = 100_000)),
    responses((status = 200, description = "The series", body = SeriesRows), Problems),
)]
pub(crate) async fn list(
    State(app): State<&'static App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = params::last(query.as_deref())?;
    let (is_visible, is_all) = visible(app, &headers)?;
    let read = move || {
        let series = app.series.open()?;
        Ok::<_, SeriesFailure>(match last {
            None => series.list()?,
            // The newest of all may be none of those that the client sees.
            Some(last) => series.newest(if is_all { last } else { usize::MAX })?.0,
        })
    };
    let listed = one_list(app, read).await?;
    let (records, _turn) = listed.map_err(|error| problem(app, &headers, error))?;
    let shown = records.iter().filter(|record| is_visible(Permission::Series(&record.name)));
    let shown = shown.take(last.unwrap_or(usize::MAX));
    let series = shown.map(|record| SeriesRow::of(record, None)).collect();
    Ok(Json(SeriesRows { series }).into_response())
}

/// Shows a series, and to administrators, with the parameter `counters`, what it has counted.
#[utoipa::path(
    get, path = Route::OneSeries.text(), operation_id = "showSeries", tag = "Series",
    params(
        ("name" = String, Path, description = "The name of a series",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$"),
        ("counters" = Option<String>, Query, allow_reserved, description = "Adds the counters of \
            all scopes and periods. It has no value, or true, and is for administrators"),
    ),
    responses(
        (status = 200, description = "What it is", body = SeriesRow),
        (status = 422, description = "The series has more than 10,000 counters, and they were \
            asked for", body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn show(
    State(app): State<&'static App>,
    path: NamePath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Json<SeriesRow>, Problem> {
    let name = series_name(path)?;
    let token = bearer(&headers);
    if app.access.check(token, Permission::Admin).is_err() {
        app.access.check(token, Permission::Series(&name))?;
    }
    let counters_turn = if has_counters(query.as_deref())? {
        app.access.check(token, Permission::Admin)?;
        Some(acquire_permit(&app.counter_reads).await?)
    } else {
        None
    };
    let read = move || {
        let series = app.series.find(&name)?.generator;
        // The permit is held until the call ends, even if its client has disconnected.
        // One more tells whether there are too many.
        let read = |_| series.counters_up_to(MAX_COUNTERS + 1);
        let counters = counters_turn.as_ref().map(read).transpose()?;
        if counters.as_ref().is_some_and(|counters| counters.len() > MAX_COUNTERS) {
            return Ok(Err(too_many_counters(&name)));
        }
        Ok::<_, SeriesFailure>(Ok(SeriesRow::of(&series.record()?, counters)))
    };
    let row = run_blocking(&app.calls, read).await?;
    row.map_err(|error| problem(app, &headers, error))?.map(Json)
}

fn too_many_counters(name: &str) -> Problem {
    let title = "the series has too many counters for an answer";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too-many-counters", title).detail(format!(
        "it has more than {MAX_COUNTERS}, and an answer shows no more: `uidring series list \
         {name}` shows all of them, and `uidring series prune {name}` removes those of closed \
         periods"
    ))
}

/// Whether the query asks for the counters.
fn has_counters(query: Option<&str>) -> Result<bool, Problem> {
    match params::only(query.unwrap_or_default(), "counters")?.as_deref() {
        None => Ok(false),
        Some("" | "true") => Ok(true),
        Some(text) => {
            Err(Problem::bad_request("bad-counters", "counters has a value that is none")
                .detail("write ?counters to see the counters, or leave it out")
                .value(text))
        }
    }
}

/// The definition of a new series. Where it is there already, what is left out is as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSeries {
    /// How its numbers are written, such as `SO{yyyy}{MM}{dd}-{n:6}`.
    pattern: String,
    /// The name of the zone in which its days begin, such as `Europe/Berlin`; UTC by default.
    time_zone: Option<String>,
    /// Whether its numbers are counted in the transactions that use them, and not here.
    gapless: Option<bool>,
    /// With what the number begins anew: `day`, `week`, `month`, `quarter`, `year`, `fiscal-year`
    /// or `never`; the finest period that the pattern shows by default.
    restart: Option<String>,
    /// The month and the day that fiscal years begin with, for a pattern with `{fy}`.
    #[schema(example = "04-06")]
    fiscal_year_from: Option<String>,
    /// How many numbers a process takes at once, at most 10^9; 100 by default.
    #[schema(schema_with = number_or_text, required = false)]
    step: Option<Number>,
    /// The first number of each period; 1 by default.
    #[schema(schema_with = number_or_text, required = false)]
    first: Option<Number>,
}

/// What was asked for, with its numbers read.
#[derive(Clone)]
struct RequestedSeries {
    definition: SeriesDefinition,
    time_zone: Option<String>,
    gapless: Option<bool>,
    restart: Option<String>,
    fiscal_year_from: Option<(u8, u8)>,
    step: Option<u64>,
    first: Option<u64>,
}

impl NewSeries {
    fn read(self) -> Result<RequestedSeries, Problem> {
        let NewSeries { pattern, time_zone, gapless, restart, fiscal_year_from, step, first } =
            self;
        let definition = SeriesDefinition::new(&pattern)
            .map_err(|error| series_problem::bad_pattern(&error, &pattern))?;
        let step = step.map(|step| step.value("step")).transpose()?;
        let first = first.map(|first| first.value("first")).transpose()?;
        let first_day = fiscal_year_from.map(|text| {
            first_day(&text).map_err(|detail| {
                Problem::bad_request("bad-definition", "there can be no such series")
                    .detail(detail)
                    .value(&text)
            })
        });
        Ok(RequestedSeries {
            definition,
            time_zone,
            gapless,
            restart,
            fiscal_year_from: first_day.transpose()?,
            step,
            first,
        })
    }
}

impl RequestedSeries {
    /// The definition, in which what was left out is as it is `there`.
    fn definition(
        self,
        there: Option<&SeriesRecord>,
    ) -> Result<SeriesDefinition, SeriesDefinitionError> {
        let there = there.map(|there| &there.newest().definition);
        let mut definition = self.definition;
        let its_zone = || there.map(|there| there.time_zone_name().to_owned());
        if let Some(zone) = self.time_zone.or_else(its_zone) {
            definition = definition.time_zone(&zone);
        }
        if self.gapless.or_else(|| there.map(SeriesDefinition::is_gapless)) == Some(true) {
            definition = definition.gapless();
        }
        let its_first_day = || there.and_then(SeriesDefinition::fiscal_first_day);
        let first_day = self.fiscal_year_from.or_else(its_first_day);
        if let Some((month, day)) = first_day {
            definition = definition.fiscal_year_from(month, day);
        }
        let is_same = |there: &&SeriesDefinition| {
            there.pattern().to_string() == definition.pattern().to_string()
        };
        let its_unit = there.filter(is_same).map(|there| there.pattern().unit().name());
        if let Some(unit) = self.restart.as_deref().or(its_unit) {
            definition = definition.restart(Unit::from_name(unit, first_day)?);
        }
        if let Some(step) = self.step.or_else(|| there.map(SeriesDefinition::step_size)) {
            definition = definition.step(step);
        }
        if let Some(first) = self.first.or_else(|| there.map(SeriesDefinition::first_number)) {
            definition = definition.first(first);
        }
        Ok(definition)
    }
}

/// Creates a series, or returns the existing one.
#[utoipa::path(
    put, path = Route::OneSeries.text(), operation_id = "createSeries", tag = "Series",
    params(("name" = String, Path, description = "The name of a series",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$")),
    request_body = NewSeries,
    responses(
        (status = 200, description = "It was there already", body = SeriesRow),
        (status = 201, description = "It is new", body = SeriesRow,
            headers(("Location" = String, description = "Where its numbers are"))),
        (status = 409, description = "A series of this name is there, and is another",
            body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn create(
    State(app): State<&'static App>,
    path: NamePath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let name = series_name(path)?;
    app.access.check(bearer(&headers), Permission::Admin)?;
    let title = "the body does not describe a series";
    let fields = "has pattern, and may have time_zone, gapless, restart, fiscal_year_from, step \
                  and first";
    let new: NewSeries = body::json(app, &headers, body, title, fields).await?;
    let asked = new.read()?;
    let create = move || {
        let series = app.series.open()?;
        let there = match series.get(&name) {
            Ok(there) => Some(there.record()?),
            Err(SeriesError::NoSuchSeries { .. }) => None,
            Err(error) => return Err(SeriesFailure::from(error)),
        };
        let asked = asked.definition(there.as_ref()).map_err(SeriesError::Definition)?;
        let record = series.create(&name, asked)?.record()?;
        Ok((there.is_some(), record))
    };
    let result = run_blocking(&app.calls, create).await?;
    let (was_there, record) = result.map_err(|error| problem(app, &headers, error))?;
    // A name needs no escapes.
    let place = format!("/v1/series/{}/numbers", record.name);
    Ok(created(was_there, SeriesRow::of(&record, None), place))
}
