//! Whether the service is ready.
//!
//! **Ready** means: the service has started, is not ending, and can give at least one of the things
//! that clients asked for in the last minute, even if only from memory. So a database that is away
//! does not make the service unready while memory lasts. Nor does a fault in the row of a tag, even
//! if nobody asked for anything else. Both are the same for all instances, so a load balancer that
//! removed all of them would cause an outage.
//!
//! While the database is away, the last minute with requests counts, however long ago it was. The
//! service notices by itself when the database is back, because it keeps loading. In all other
//! cases only a request can show whether the cause is gone, so what no client asked for in the last
//! minute does not count.

use crate::app::App;
use crate::app::supply::{self, Supply};
use crate::app::tags::{self, TagState};
use crate::stats::trouble::{Cause, Trouble};

/// Why the service is not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Ending,
    NotStarted(Cause),
    NothingToGive(Cause),
}

impl Refusal {
    /// The reason in words that anybody may read.
    pub(crate) fn sentence(self) -> String {
        match self {
            Refusal::Ending => "the service is ending".to_owned(),
            Refusal::NotStarted(cause) => {
                format!("the service has not started yet: {}", cause.sentence())
            }
            Refusal::NothingToGive(cause) => {
                format!("nothing of what was asked for can be given: {}", cause.sentence())
            }
        }
    }
}

/// Why the service is not ready, if it is not.
pub(crate) fn refusal(app: &App) -> Option<Refusal> {
    let refusal = refusal_by_last_look(app);
    if !matches!(refusal, Some(Refusal::NothingToGive(_))) {
        return refusal;
    }
    // A failed take is recorded at once, a successful one only when the counters are compared.
    app.watch.demand.recent(&app.used_tags(), app.generators());
    refusal_by_last_look(app)
}

fn refusal_by_last_look(app: &App) -> Option<Refusal> {
    if app.is_ending() {
        return Some(Refusal::Ending);
    }
    let database = app.database_trouble();
    if !app.has_started() {
        return Some(Refusal::NotStarted(database.map_or(Cause::NotAsked, |found| found.cause)));
    }
    let loads = app.watch.loads.trouble();
    let is_away = |trouble: &Option<Trouble>| {
        trouble.as_ref().is_some_and(|found| matches!(found.cause, Cause::Away | Cause::Locked))
    };
    let window = app.watch.demand.window(is_away(&database) || is_away(&loads))?;
    let mut cause = None;
    let mut refused = |found: Option<Cause>| {
        cause = cause.or(found.filter(|cause| !cause.is_of_row()));
        found.is_some()
    };
    let is_out = window.generators.iter().all(|kind| {
        let supply = supply::generators(app).find(|uids| uids.kind == *kind);
        let supply = supply.map_or(Supply::Giving, |uids| uids.supply(app));
        refused(supply.why().filter(|_| supply.is_out()).map(|why| why.cause))
    }) && window.tags.iter().all(|name| {
        let state = tags::tag(app, name).filter(TagState::is_out);
        refused(state.and_then(|state| state.trouble).map(|trouble| trouble.cause))
    }) && app.watch.loads.asked_since(window.since).into_iter().all(&mut refused)
        && app.series.asked_since(window.since).into_iter().all(&mut refused)
        && (!window.has_first_uses || refused(loads.as_ref().map(|trouble| trouble.cause)));
    cause.filter(|_| is_out).map(Refusal::NothingToGive)
}
