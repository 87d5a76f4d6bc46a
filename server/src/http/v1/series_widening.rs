//! More digits for the number of a series.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;
use uidring_args::present_definition;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::series::SeriesFailure;
use crate::http::bearer::bearer;
use crate::http::body;
use crate::http::describe::Problems;
use crate::http::numbers::run_blocking;
use crate::http::problem::{Details, Problem};
use crate::http::series_problem::bad_pattern;
use crate::http::v1::NamePath;
use crate::http::v1::series::{problem, series_name};
use crate::http::v1::series_rows::SeriesRow;
use crate::routes::Route;
use crate::security::access::Permission;

/// A series with a wider number.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WiderSeries {
    /// The present pattern, in which only the number has more digits, such as
    /// `SO{yyyy}{MM}{dd}-{n:7}`.
    pattern: String,
}

/// Gives the number of a series more digits, at once: the way on where a period has given all its
/// numbers.
///
/// The numbers count on, old ones are still read, and all instances learn of it by themselves. A
/// request that is repeated changes nothing more. `uidring series change` changes anything else, a
/// later day on.
#[utoipa::path(
    post, path = Route::SeriesWidening.text(), operation_id = "widenSeries", tag = "Series",
    params(("name" = String, Path, description = "The name of a series",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$")),
    request_body = WiderSeries,
    responses(
        (status = 200, description = "Its numbers are written so from now on", body = SeriesRow),
        (status = 409, description = "More than the number would be another",
            body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn widen(
    State(app): State<&'static App>,
    path: NamePath,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SeriesRow>, Problem> {
    let name = series_name(path)?;
    app.access.check(bearer(&headers), Permission::Admin)?;
    let title = "the body does not say how wide the number is";
    let asked: WiderSeries = body::json(app, &headers, body, title, "has pattern").await?;
    let widen = move || {
        let series = app.series.open()?;
        let series_of_name = series.get(&name)?;
        let (record, present) = (series_of_name.record()?, series_of_name.pattern());
        let new = match present_definition(&record, &present).clone().with_pattern(&asked.pattern) {
            // As an earlier try has left it.
            Ok(new) if *new.pattern() == present => return Ok(Ok(record)),
            Ok(new) => new,
            Err(error) => return Ok(Err(bad_pattern(&error, &asked.pattern))),
        };
        Ok::<_, SeriesFailure>(Ok(series.widen(&name, new)?))
    };
    let record = run_blocking(&app.calls, widen).await?;
    let record = record.map_err(|error| problem(app, &headers, error))??;
    Ok(Json(SeriesRow::of(&record, None)))
}
