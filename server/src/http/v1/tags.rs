//! Tags and their dense numbers. `http::fast_path` answers nearly all requests for one number.

use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uidring::segment::{Tag, TagRecord};
use utoipa::ToSchema;

use crate::app::App;
use crate::config::limits::MAX_SEGMENT;
use crate::http::bearer::bearer;
use crate::http::body::{self, Number};
use crate::http::describe::{Problems, number_or_text};
use crate::http::numbers::{self, blocking, one_list};
use crate::http::problem::{Details, Problem};
use crate::http::v1::{NamePath, created, name_in, visible};
use crate::http::{ids, negotiate, params};
use crate::routes::Route;
use crate::security::access::Permission;

/// The tag in the path, if the client may take from it.
fn allowed(app: &App, path: NamePath, headers: &HeaderMap) -> Result<String, Problem> {
    let tag = tag_name(app, path)?;
    app.access.check(bearer(headers), Permission::Tag(&tag))?;
    Ok(tag)
}

/// The tag in the path.
fn tag_name(app: &App, path: NamePath) -> Result<String, Problem> {
    let bad = |tag: &str, detail: &str| {
        Problem::bad_request("bad-tag", "there can be no such tag here").detail(detail).value(tag)
    };
    let tag = name_in(path, bad)?;
    numbers::check_tag(app.options.table, &tag)?;
    Ok(tag)
}

/// Takes numbers of a tag, as JSON, one per line, or eight bytes each, little-endian.
#[utoipa::path(
    get, path = Route::TagIds.text(), operation_id = "takeNumbers", tag = "Dense numbers",
    params(
        ("tag" = String, Path, description = "The name of a tag", min_length = 1, max_length = 128,
            pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"),
        ("n" = Option<u32>, Query, description = "How many; 1 unless it says otherwise",
            minimum = 1, maximum = 100_000),
    ),
    responses(
        (status = 200, description = "The numbers, in ascending order", content(
            (Ids = "application/json"),
            (String = "text/plain"),
            (Vec<u8> = "application/octet-stream"),
        )),
        Problems,
    ),
)]
pub(crate) async fn take(
    State(app): State<&'static App>,
    path: NamePath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tag = allowed(app, path, &headers)?;
    let count = params::count(query.as_deref())?;
    let form = negotiate::form(&headers)?;
    let numbers = numbers::take_many(app, &tag, count).await?;
    app.counters().numbers.add(count as u64);
    Ok(ids::response(form, &ids::NUMBERS, numbers))
}

/// Numbers of a tag.
#[derive(ToSchema)]
#[allow(dead_code)] // it describes what is written without it
pub(crate) struct Ids {
    ids: Vec<String>,
}

/// A segment: the numbers `first`, `first + delta` and so on, which the client hands out itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClientSegment {
    tag: String,
    first: String,
    count: String,
    delta: String,
    /// The step of the tag: the number of ids in a segment by default, and at most.
    step: String,
    max_step: Option<String>,
}

/// Takes a segment, for a client that hands out its numbers itself.
#[utoipa::path(
    post, path = Route::TagSegments.text(), operation_id = "takeSegment", tag = "Dense numbers",
    params(
        ("tag" = String, Path, description = "The name of a tag", min_length = 1, max_length = 128,
            pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"),
        ("size" = Option<u64>, Query, description = "How many numbers; the row's step if absent",
            minimum = 1, maximum = 1_000_000_000),
    ),
    responses(
        (status = 200, description = "The numbers are the client's", body = ClientSegment),
        Problems,
    ),
)]
pub(crate) async fn segment(
    State(app): State<&'static App>,
    path: NamePath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Json<ClientSegment>, Problem> {
    let tag = allowed(app, path, &headers)?;
    let size = size(query.as_deref())?;
    let segment = numbers::load(app, &tag, size).await?;
    app.counters().segment(segment.count);
    Ok(Json(ClientSegment {
        tag,
        first: segment.first.to_string(),
        count: segment.count.to_string(),
        delta: segment.delta.to_string(),
        step: segment.step.to_string(),
        max_step: segment.max_step.map(|step| step.to_string()),
    }))
}

/// The parameter `size`, if the query has it.
fn size(query: Option<&str>) -> Result<Option<u64>, Problem> {
    let Some(text) = params::only(query.unwrap_or_default(), "size")? else { return Ok(None) };
    match params::number(&text, MAX_SEGMENT) {
        None => Err(Problem::bad_request("bad-size", "a segment cannot have this size")
            .detail(format!("size is a whole number from 1 to {MAX_SEGMENT}"))
            .value(&text)),
        size => Ok(size),
    }
}

/// The row of a tag.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagRow {
    tag: String,
    next: String,
    /// How many numbers a process takes at a time, at least. `CosId` keeps none: this is the
    /// service's own.
    step: String,
    max_step: Option<String>,
    delta: String,
    description: Option<String>,
    updated: Option<String>,
}

impl From<TagRecord> for TagRow {
    fn from(record: TagRecord) -> TagRow {
        let updated = record.updated.and_then(|time| Timestamp::try_from(time).ok());
        TagRow {
            tag: record.tag,
            next: record.next.to_string(),
            step: record.step.to_string(),
            max_step: record.max_step.map(|step| step.to_string()),
            delta: record.delta.to_string(),
            description: record.description,
            updated: updated.map(|time| time.to_string()),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TagRows {
    tags: Vec<TagRow>,
}

/// Lists the tags that the client may take from.
#[utoipa::path(
    get, path = Route::Tags.text(), operation_id = "listTags", tag = "Dense numbers",
    params(("last" = Option<u64>, Query, description = "Only so many, those changed last first; \
        all of them, in their order, if absent", minimum = 1, maximum = 100_000)),
    responses((status = 200, description = "The tags", body = TagRows), Problems),
)]
pub(crate) async fn list(
    State(app): State<&'static App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = params::last(query.as_deref())?;
    let (is_visible, is_all) = visible(app, &headers)?;
    let source = app.tags()?.source.clone();
    let read = move || match last {
        None => source.tags(),
        // The newest of all may be none of those that the client sees.
        Some(last) => Ok(source.newest_tags(if is_all { last } else { usize::MAX })?.0),
    };
    let (records, _turn) = one_list(app, read).await??;
    let shown = records.into_iter().filter(|record| is_visible(Permission::Tag(&record.tag)));
    let shown = shown.take(last.unwrap_or(usize::MAX));
    Ok(Json(TagRows { tags: shown.map(TagRow::from).collect() }).into_response())
}

/// The definition of a new tag.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTag {
    #[schema(schema_with = number_or_text, required = false)]
    first: Option<Number>,
    /// Refused for `CosId`'s counters, each program of which has its own.
    #[schema(schema_with = number_or_text, required = false)]
    step: Option<Number>,
    /// The largest segment. By default `step` if that is given, otherwise unlimited.
    #[schema(schema_with = number_or_text, required = false)]
    max_step: Option<Number>,
    description: Option<String>,
}

impl NewTag {
    fn tag(self) -> Result<Tag, Problem> {
        let mut tag = Tag::new();
        if let Some(first) = self.first {
            tag = tag.first(first.value("first")?);
        }
        if let Some(max_step) = self.max_step {
            tag = tag.max_step(max_step.value("max_step")?);
        }
        if let Some(step) = self.step {
            tag = tag.step(step.value("step")?);
        }
        match self.description {
            Some(description) => Ok(tag.description(description)),
            None => Ok(tag),
        }
    }
}

/// Creates a tag, or returns the existing one.
#[utoipa::path(
    put, path = Route::Tag.text(), operation_id = "createTag", tag = "Dense numbers",
    params(("tag" = String, Path, description = "The name of a tag",
            min_length = 1, max_length = 128,
            pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")),
    request_body = NewTag,
    responses(
        (status = 200, description = "It was there already", body = TagRow),
        (status = 201, description = "It is new", body = TagRow,
            headers(("Location" = String, description = "Where its numbers are"))),
        (status = 409, description = "A tag of this name is there, and is another",
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
    let tag = tag_name(app, path)?;
    app.access.check(bearer(&headers), Permission::Admin)?;
    let fields = "has first, step, max_step and description, or is {}";
    let title = "the body does not describe a tag";
    let new: NewTag = body::json(app, &headers, body, title, fields).await?;
    let (table, dense) = (app.options.table, app.tags()?);
    table.check_step(&tag, new.step.is_some())?;
    let (new, source, store) = (new.tag()?, dense.source.clone(), dense.store.clone());
    let (was_there, record) = blocking(&app.calls, move || {
        let was_there = table.find(&store, &tag)?.is_some();
        Ok((was_there, source.create(&tag, &new)?))
    })
    .await?;
    let name =
        percent_encoding::utf8_percent_encode(&record.tag, percent_encoding::NON_ALPHANUMERIC);
    let place = format!("/v1/tags/{name}/ids");
    Ok(created(was_there, TagRow::from(record), place))
}
