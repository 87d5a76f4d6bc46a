//! Worker ids that are lent, for generators that clients have already.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uidring::lend::Loan;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::loans::LoanFailure;
use crate::http::bearer::bearer;
use crate::http::describe::Problems;
use crate::http::idempotency::key_of;
use crate::http::loans::{self, KnownLoan, PoolRow, WantedLoan};
use crate::http::numbers::one_list;
use crate::http::problem::{Details, Problem};
use crate::http::v1::{NamePath, visible};
use crate::http::{body, params};
use crate::routes::Route;
use crate::security::access::Permission;

/// What only the holder of a loan has.
const LOAN_SECRET: HeaderName = HeaderName::from_static("loan-secret");

/// The loan that a client asks for. Only the pool is needed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLoan {
    /// The first loan of a name makes the pool.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$")]
    pool: String,
    /// How many bits the ids of the pool have, as long as it exists; 10 by default.
    #[schema(minimum = 1, maximum = 22)]
    bits: Option<u32>,
    /// How long the id is held that is not renewed; 600 by default.
    #[schema(minimum = 1, maximum = 2_592_000)]
    lease_seconds: Option<u64>,
    /// How long nobody has the id after that: as long as clocks may differ; 600 by default.
    #[schema(minimum = 1, maximum = 2_592_000)]
    rest_seconds: Option<u64>,
    /// What the clock shows that the client makes ids by; the service's clock by default.
    #[schema(format = DateTime)]
    clock: Option<String>,
    /// Where the client runs, for those who look for a holder.
    #[schema(max_length = 255)]
    host: Option<String>,
}

impl NewLoan {
    fn read(self) -> Result<WantedLoan, Problem> {
        Ok(WantedLoan {
            pool: self.pool,
            bits: self.bits,
            lease: self.lease_seconds.map(Duration::from_secs),
            rest: self.rest_seconds.map(Duration::from_secs),
            clock: self.clock.as_deref().map(loans::clock).transpose()?,
            host: self.host,
        })
    }
}

/// A worker id that is the client's until the end of the lease.
#[derive(Serialize, ToSchema)]
pub(crate) struct LentId {
    pool: String,
    /// From 1 on.
    #[schema(minimum = 1, maximum = 4_194_303)]
    id: u64,
    /// By this the loan is renewed and returned, as the header Loan-Secret.
    secret: String,
    /// The client makes no id after so many seconds, counted from before it sent the request, by a
    /// clock that counts while the machine sleeps.
    lease_seconds: u64,
    rest_seconds: u64,
}

/// Lends a worker id.
///
/// A request that is repeated with the same `Idempotency-Key` gets the same id, renewed, as long as
/// the loan lasts. Renew it at each third of the lease, and stop making ids before its end.
#[utoipa::path(
    post, path = Route::Pools.text(), operation_id = "lendWorkerId", tag = "Lent worker ids",
    params(("Idempotency-Key" = Option<String>, Header, description = "What a request that is \
        repeated has in common with the first one, such as a random UUID. It belongs to the \
        client's token", min_length = 1, max_length = 255)),
    request_body = NewLoan,
    responses(
        (status = 201, description = "The id is the client's", body = LentId,
            headers(("Location" = String, description = "Where it is renewed and returned"))),
        (status = 409, description = "All ids of the pool are held or rest, or the pool has other \
            bits, or the client's clock is behind that of the last holder",
            body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn lend(
    State(app): State<&'static App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let title = "the body does not say which worker id to lend";
    let fields = "has pool, and may have bits, lease_seconds, rest_seconds, clock and host";
    let new: NewLoan = body::json(app, &headers, body, title, fields).await?;
    let token = bearer(&headers);
    app.access.check(token, Permission::Pool(&new.pool))?;
    let (pool, key) = (new.pool.clone(), key_of(&headers)?);
    let (grant, rest) = loans::lend(app, new.read()?, token, key.as_deref()).await?;
    // A name needs no escapes.
    let place = format!("/v1/workers/{pool}/{}", grant.id);
    let lent = LentId {
        pool,
        id: grant.id,
        secret: grant.secret,
        lease_seconds: grant.lease.as_secs(),
        rest_seconds: rest.as_secs(),
    };
    Ok((StatusCode::CREATED, [(LOCATION, place)], Json(lent)).into_response())
}

type LoanPath = Result<Path<(String, String)>, PathRejection>;

/// The loan that a request is about.
fn known(
    app: &App,
    path: LoanPath,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<KnownLoan, Problem> {
    let Path((pool, id)) = path?;
    app.access.check(bearer(headers), Permission::Pool(&pool))?;
    let id = loans::id(&id)?;
    let secret = headers.get(LOAN_SECRET).and_then(|value| value.to_str().ok());
    let secret = secret.ok_or_else(|| {
        Problem::bad_request("no-secret", "the secret of the loan is needed")
            .detail("send it as the header Loan-Secret, as it was in the answer that lent the id")
    })?;
    let clock = params::only(query.unwrap_or_default(), "clock")?;
    let clock = clock.as_deref().map(loans::clock).transpose()?;
    Ok(KnownLoan { pool, id, secret: secret.to_owned(), clock })
}

/// Renews a loan: it lasts for another lease from now on.
#[utoipa::path(
    put, path = Route::Loan.text(), operation_id = "renewWorkerId", tag = "Lent worker ids",
    params(
        ("pool" = String, Path, description = "The name of a pool",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$"),
        ("id" = u32, Path, description = "The worker id", minimum = 1, maximum = 4_194_303),
        ("Loan-Secret" = String, Header, description = "The secret of the loan"),
        ("clock" = Option<String>, Query, description = "What the clock shows that the client \
            makes ids by, in RFC 3339; the service's clock by default"),
    ),
    responses(
        (status = 204, description = "It is renewed"),
        (status = 410, description = "The loan is over: make no more ids with it",
            body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn renew(
    State(app): State<&'static App>,
    path: LoanPath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    loans::renew(app, known(app, path, query.as_deref(), &headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns a worker id, with which the client makes no more ids. It rests before it is lent again.
#[utoipa::path(
    delete, path = Route::Loan.text(), operation_id = "returnWorkerId", tag = "Lent worker ids",
    params(
        ("pool" = String, Path, description = "The name of a pool",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$"),
        ("id" = u32, Path, description = "The worker id", minimum = 1, maximum = 4_194_303),
        ("Loan-Secret" = String, Header, description = "The secret of the loan"),
        ("clock" = Option<String>, Query, description = "What the clock shows that the client \
            made ids by, in RFC 3339; the service's clock by default"),
    ),
    responses(
        (status = 204, description = "It is returned, now or before"),
        (status = 410, description = "Another has the id",
            body = Details, content_type = "application/problem+json"),
        Problems,
    ),
)]
pub(crate) async fn give_back(
    State(app): State<&'static App>,
    path: LoanPath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    loans::give_back(app, known(app, path, query.as_deref(), &headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PoolRows {
    pools: Vec<PoolRow>,
}

/// Lists the pools that the client may lend from.
#[utoipa::path(
    get, path = Route::Pools.text(), operation_id = "listPools", tag = "Lent worker ids",
    responses((status = 200, description = "The pools", body = PoolRows), Problems),
)]
pub(crate) async fn list(
    State(app): State<&'static App>,
    headers: HeaderMap,
) -> Result<Json<PoolRows>, Problem> {
    let (is_visible, _) = visible(app, &headers)?;
    let (records, _turn) = one_list(app, || app.loans.pools()).await?.map_err(loans::problem)?;
    let shown = records.into_iter().filter(|record| is_visible(Permission::Pool(&record.name)));
    Ok(Json(PoolRows { pools: shown.map(PoolRow::from).collect() }))
}

/// The last loan of an id.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoanRow {
    id: u64,
    /// `held`, `resting` or `free`.
    state: &'static str,
    host: String,
    since: Option<String>,
    /// When the lease ends that is not renewed, or when it ended.
    until: Option<String>,
    /// From when on the id may be lent to others.
    rests_until: Option<String>,
}

impl From<Loan> for LoanRow {
    fn from(loan: Loan) -> LoanRow {
        let text = |time: SystemTime| Timestamp::try_from(time).ok().map(|time| time.to_string());
        LoanRow {
            id: loan.id,
            state: loan.state.as_str(),
            since: text(loan.since),
            until: text(loan.until),
            rests_until: text(loan.rests_until),
            host: loan.host,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct LoanRows {
    pool: String,
    bits: u32,
    loans: Vec<LoanRow>,
}

/// Lists the last loan of each id of a pool, for administrators.
#[utoipa::path(
    get, path = Route::Pool.text(), operation_id = "listLoans", tag = "Lent worker ids",
    params(
        ("pool" = String, Path, description = "The name of a pool",
            min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]*$"),
        ("last" = Option<u64>, Query, description = "Only so many, lent last first; all of them, \
            by their ids, if absent", minimum = 1, maximum = 100_000),
    ),
    responses((status = 200, description = "The loans", body = LoanRows), Problems),
)]
pub(crate) async fn show(
    State(app): State<&'static App>,
    path: NamePath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Json<LoanRows>, Problem> {
    let Path(name) = path?;
    app.access.check(bearer(&headers), Permission::Admin)?;
    let last = params::last(query.as_deref())?;
    let read = move || {
        let pool = app.loans.find(&name)?;
        let mut loans = pool.loans().map_err(LoanFailure::from)?;
        if let Some(last) = last {
            loans.sort_by_key(|loan| std::cmp::Reverse(loan.since));
            loans.truncate(last);
        }
        Ok((pool, loans))
    };
    let ((pool, loans), _turn) = one_list(app, read).await?.map_err(loans::problem)?;
    let rows = loans.into_iter().map(LoanRow::from).collect();
    Ok(Json(LoanRows { pool: pool.name().to_owned(), bits: pool.bits(), loans: rows }))
}
