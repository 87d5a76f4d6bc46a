//! The health of the service: one model, shown by `/readyz`, the page, `/v1/status` and `/metrics`.
//! It follows from what is given, as `supply` says, and its changes are logged.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::condition::{Condition, Kind, Level};
use crate::app::conditions;
use crate::app::refusal::{Refusal, refusal};
use crate::app::series::SeriesState;
use crate::app::tags::{self, TagState};
use crate::stats::trouble::Cause;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    pub(crate) level: Level,
    /// Whether `/readyz` answers 200.
    pub(crate) ready: bool,
    /// All conditions in a few sentences.
    pub(crate) text: String,
    /// Sorted, the worst first.
    pub(crate) conditions: Vec<Condition>,
}

/// Compares the health with that of a second ago, and logs each change.
#[derive(Debug)]
pub(crate) struct Observer {
    before: Option<Refusal>,
    /// The conditions of what is given that were logged last.
    logged: BTreeMap<&'static str, LoggedCondition>,
}

impl Observer {
    pub(crate) fn new() -> Observer {
        let before = Some(Refusal::NotStarted(Cause::NotAsked));
        Observer { before, logged: BTreeMap::new() }
    }

    pub(crate) fn log_changes(&mut self, app: &App) {
        app.watch.demand.recent(&app.used_tags(), app.generators());
        let now = refusal(app);
        let kind = |refusal: &Option<Refusal>| refusal.as_ref().map(std::mem::discriminant);
        let is_new = kind(&now) != kind(&self.before);
        self.before = now;
        match now {
            None if is_new => tracing::info!("ready"),
            Some(Refusal::NothingToGive(_)) if is_new => {
                tracing::error!(why = now.map(Refusal::sentence), "not ready");
            }
            _ => {}
        }
        if app.has_started() && !app.is_ending() {
            self.tell(&Health::now(app).conditions);
        }
    }

    /// Logs what has begun, has another reason now, or is over.
    fn tell(&mut self, conditions: &[Condition]) {
        let of_supply = conditions.iter().filter(|condition| condition.kind.is_of_supply());
        let mut logged = BTreeMap::new();
        for Condition { kind, text, why, advice, .. } in of_supply {
            let text = text.trim_end_matches('.').to_owned();
            let before = self.logged.get(kind.json_name());
            if before.is_none_or(|before| before.why != *why) {
                match (kind, why) {
                    (
                        Kind::UidsEmpty | Kind::RowsWentBack | Kind::TagsEmpty | Kind::SeriesFail,
                        why,
                    ) => tracing::error!(why, advice, "{text}"),
                    (_, why) => tracing::warn!(why, advice, "{text}"),
                }
            }
            logged
                .insert(kind.json_name(), LoggedCondition { kind: *kind, text, why: why.clone() });
        }
        for over in self.logged.values().filter(|over| !logged.contains_key(over.kind.json_name()))
        {
            // It may have become worse, which is no end.
            if over.kind.worse().is_none_or(|worse| !logged.contains_key(worse.json_name())) {
                tracing::info!("no longer: {}", over.text);
            }
        }
        self.logged = logged;
    }
}

/// A condition that was logged.
#[derive(Debug)]
struct LoggedCondition {
    kind: Kind,
    text: String,
    why: Option<String>,
}

impl Health {
    /// The health at this moment.
    pub(crate) fn now(app: &App) -> Health {
        Health::of(app, &tags::states(app), &app.series_states())
    }

    pub(crate) fn of(app: &App, tags: &[TagState], series: &[SeriesState]) -> Health {
        let refusal = refusal(app);
        let conditions = conditions::current(app, refusal, tags, series);
        let level = conditions.iter().map(|condition| condition.level).max().unwrap_or(Level::Ok);
        let text = sentences(&conditions);
        Health { level, ready: refusal.is_none(), text, conditions }
    }

    /// Whether a condition says why no tag gets numbers from the database.
    pub(crate) fn tells_of_source(&self) -> bool {
        [Kind::NotStarted, Kind::DatabaseAway, Kind::LoadsFail].iter().any(|&kind| self.has(kind))
    }

    /// Whether there is a condition of this kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.conditions.iter().any(|condition| condition.kind == kind)
    }
}

/// All conditions as sentences. A reason that several conditions share appears once.
fn sentences(conditions: &[Condition]) -> String {
    let is_told = |index: usize, why: &Option<String>| {
        conditions[..index].iter().any(|before| before.why == *why)
    };
    let sentences = conditions.iter().enumerate().map(|(index, condition)| {
        if is_told(index, &condition.why) { condition.text.clone() } else { condition.sentence() }
    });
    let sentences: Vec<String> = sentences.collect();
    if sentences.is_empty() { "All is well.".to_owned() } else { sentences.join(" ") }
}
