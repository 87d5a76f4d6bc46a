//! The health of the service: one model, shown by `/readyz`, the page, `/v1/status` and `/metrics`.
//! Its changes are logged.
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

use std::time::{Duration, SystemTime};

use serde::Serialize;
use uidring::UidGenerator;
use uidring_args::visible;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::condition::{Condition, Kind, Level};
use crate::app::series::SeriesState;
use crate::app::tags::{self, TagState};
use crate::process::{output, threads};
use crate::security::tls::Tls;
use crate::stats::trouble::{Cause, Trouble};
use crate::text::rfc3339;

/// How long a panic or a lost log line stays a condition.
const PANIC_SHOWN: Duration = Duration::from_secs(3600);
const LOSS_SHOWN: Duration = Duration::from_secs(600);
/// The most tags that one sentence names.
const MAX_NAMES: usize = 3;

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
    app.watch.asked.look(&app.used_tags(), app.generators());
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
    let window = app.watch.asked.window(is_away(&database) || is_away(&loads))?;
    let mut cause = None;
    let mut refused = |found: Option<Cause>| {
        cause = cause.or(found.filter(|cause| !cause.is_of_row()));
        found.is_some()
    };
    let is_out = window.generators.iter().all(|kind| {
        let uids = app.generators().find(|(name, _)| name == kind);
        let gives = uids.is_none_or(|(_, uids)| uids.status().available > 0);
        refused((!gives && app.watch.asked.has_failed(kind)).then_some(Cause::NoUids))
    }) && window.tags.iter().all(|name| {
        let state = tags::tag(app, name).filter(TagState::is_out);
        refused(state.and_then(|state| state.trouble).map(|trouble| trouble.cause))
    }) && app.watch.loads.asked_since(window.since).into_iter().all(&mut refused)
        && app.series.asked_since(window.since).into_iter().all(&mut refused)
        && (!window.has_first_uses || refused(loads.as_ref().map(|trouble| trouble.cause)));
    cause.filter(|_| is_out).map(Refusal::NothingToGive)
}

/// Compares the health with that of a second ago, and logs each change.
#[derive(Debug)]
pub(crate) struct Observer {
    before: Option<Refusal>,
}

impl Observer {
    pub(crate) fn new() -> Observer {
        Observer { before: Some(Refusal::NotStarted(Cause::NotAsked)) }
    }

    pub(crate) fn look(&mut self, app: &App) {
        app.watch.asked.look(&app.used_tags(), app.generators());
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
    }
}

impl Health {
    pub(crate) fn of(app: &App, tags: &[TagState], series: &[SeriesState]) -> Health {
        let refusal = refusal(app);
        let mut conditions = Vec::new();
        if let Some(refusal) = refusal {
            conditions.push(refused(app, refusal));
        }
        let of_tags = of_tags(tags);
        // In this order: a start that ends in between has asked the database.
        if let Some(trouble) = app.has_started().then(|| app.database_trouble()).flatten() {
            conditions.push(away(&trouble, &of_tags));
        } else if let Some(trouble) = app.watch.loads.trouble() {
            conditions.push(Condition {
                kind: Kind::LoadsFail,
                level: Level::Warning,
                text: "The database gives no numbers.".to_owned(),
                advice: trouble.cause.advice(),
                why: Some(trouble.text),
                tags: 0,
            });
        }
        conditions.extend(of_tags);
        conditions.extend(of_series(series));
        for (kind, uids) in app.generators() {
            conditions.extend(troubles(kind, uids));
        }
        conditions.extend(of_process(app));
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
        if is_told(index, &condition.why) { condition.text.clone() } else { condition.whole() }
    });
    let sentences: Vec<String> = sentences.collect();
    if sentences.is_empty() { "All is well.".to_owned() } else { sentences.join(" ") }
}

fn refused(app: &App, refusal: Refusal) -> Condition {
    let level = Level::Down;
    let (kind, text, why, advice) = match refusal {
        Refusal::Ending => (Kind::Ending, "The service is ending.", None, ""),
        Refusal::NotStarted(cause) => {
            let trouble = app.database_trouble();
            let why = trouble.map_or_else(|| cause.sentence().to_owned(), |trouble| trouble.text);
            (Kind::NotStarted, "There are no ids yet.", Some(why), cause.advice())
        }
        Refusal::NothingToGive(cause) => {
            let text = "Nothing of what was asked for can be given.";
            (Kind::NothingToGive, text, None, cause.advice())
        }
    };
    Condition { kind, level, text: text.to_owned(), why, advice, tags: 0 }
}

/// The condition of a database that does not answer the probe.
fn away(trouble: &Trouble, of_tags: &[Condition]) -> Condition {
    let is_out = of_tags.iter().any(|condition| condition.kind == Kind::TagsEmpty);
    let text = if is_out { "The database is away." } else { "Ids come from memory." };
    Condition {
        kind: Kind::DatabaseAway,
        level: Level::Warning,
        text: text.to_owned(),
        why: Some(trouble.text.clone()),
        advice: trouble.cause.advice(),
        tags: 0,
    }
}

/// The conditions of the tags, the worst first.
fn of_tags(tags: &[TagState]) -> Vec<Condition> {
    let kinds = [
        (Kind::RowsWentBack, "The row went back of"),
        (Kind::TagsEmpty, "There are no numbers of"),
        (Kind::TagsFail, "Loads fail for"),
    ];
    let of_kind = |(kind, text): (Kind, &str)| {
        let found = tags.iter().filter(|tag| tag.kind() == Some(kind));
        let found = found.filter_map(|tag| Some((&*tag.name, tag.trouble.as_ref()?)));
        let (names, troubles): (Vec<&str>, Vec<&Trouble>) = found.unzip();
        let condition = in_trouble(kind, text, &names, &troubles)?;
        Some(Condition { tags: names.len(), ..condition })
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// The condition of the series whose numbers cannot be taken.
fn of_series(series: &[SeriesState]) -> Option<Condition> {
    let found =
        series.iter().filter_map(|series| Some((&*series.name, series.takes.trouble.as_ref()?)));
    let (names, troubles): (Vec<&str>, Vec<&Trouble>) = found.unzip();
    let condition =
        in_trouble(Kind::SeriesFail, "There are no numbers of the series", &names, &troubles)?;
    let went_back = troubles.iter().any(|trouble| trouble.cause == Cause::WentBack);
    let advice = if went_back { STOP_ALL } else { condition.advice };
    Some(Condition { advice, ..condition })
}

/// What to do where the counter of a series went back.
const STOP_ALL: &str = "Others may give its numbers again, and UIDs too: stop all programs, and \
                        raise the counters and the worker ids before they start.";

/// The condition of the things with these names, each of which has one of the troubles. `None` if
/// there are none.
fn in_trouble(kind: Kind, text: &str, all: &[&str], troubles: &[&Trouble]) -> Option<Condition> {
    let trouble = troubles.first()?;
    // All may have one cause, which is then named once.
    let is_one = troubles.iter().all(|other| other.cause == trouble.cause);
    let why = if is_one { trouble.text.as_str() } else { "for several reasons" };
    Some(Condition {
        kind,
        level: Level::Warning,
        text: format!("{text} {}.", names(all)),
        why: Some(why.to_owned()),
        advice: trouble.cause.advice(),
        tags: 0,
    })
}

/// The first of these names, and how many more there are.
fn names(all: &[&str]) -> String {
    let names: Vec<String> =
        all.iter().take(MAX_NAMES).map(|name| visible(name).into_owned()).collect();
    let more = match all.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.join(", "))
}

/// The conditions of a generator.
fn troubles(kind: &str, uids: &UidGenerator) -> Vec<Condition> {
    let status = uids.status();
    let mut troubles = Vec::new();
    if status.filler.to_string() != "running" {
        let text = format!("the thread that fills the ring is {}", status.filler);
        troubles.push((text, "Takes go on, but slower. Look at the log."));
    }
    if status.at_lead_limit {
        let advice = if status.exact_time {
            "It was set back: look at what sets it."
        } else {
            "See whether it was set back. If not, more UIDs were taken than the layout has: take \
             them from more instances, or choose a layout with a longer sequence."
        };
        troubles.push(("takes wait for the clock".to_owned(), advice));
    }
    if let Some(jump) = status.refused_jump {
        let text = format!("the clock jumped {} s ahead, which is not followed", jump.as_secs());
        troubles.push((text, "Look at what sets the clock."));
    }
    if let Some(skew_ms) = status.clock_skew_ms.filter(|ms| ms.unsigned_abs() > 60_000) {
        let side = if skew_ms > 0 { "ahead of" } else { "behind" };
        let seconds = skew_ms.unsigned_abs() / 1000;
        let text = format!("this machine's clock is {seconds} s {side} that of its database");
        troubles.push((text, "No id comes twice. Set the one that is wrong."));
    }
    let condition = |(text, advice)| Condition {
        kind: Kind::Generator,
        level: Level::Warning,
        text: format!("{}: {text}.", title(kind)),
        why: None,
        advice,
        tags: 0,
    };
    troubles.into_iter().map(condition).collect()
}

/// The conditions of the process.
fn of_process(app: &App) -> Vec<Condition> {
    let is_recent = |time: Option<SystemTime>, within| {
        time.is_some_and(|time| time.elapsed().is_ok_and(|ago| ago < within))
    };
    let mut conditions = Vec::new();
    let mut add = |kind, text, advice| {
        let (level, why) = (Level::Warning, None);
        conditions.push(Condition { kind, level, text, why, advice, tags: 0 });
    };
    let panics = threads::panics();
    if is_recent(panics.last, PANIC_SHOWN) {
        let last = panics.last.map(rfc3339).unwrap_or_default();
        let count = panics.count;
        let text = format!(
            "A thread panicked, and started again: {count} in all, the last at {last}. The log \
             says where."
        );
        add(Kind::Panicked, text, "That is a fault of the service: report it.");
    }
    if is_recent(output::last_lost(), LOSS_SHOWN) {
        let lost = output::lost();
        let text = format!("The log cannot be written, or not so fast: {lost} lines are lost.");
        add(Kind::LogLost, text, "See that its disk has room, and that who reads it keeps up.");
    }
    for (what, reading) in app.watch.readings.all() {
        if let Some(problem) = reading.problem {
            let text = format!("It cannot read {} again: {problem}.", what.name());
            add(Kind::ReloadFails, text, "Mend it. Until then what was read last is in force.");
        }
    }
    if let Some(trouble) = app.tls.as_ref().and_then(Tls::trouble) {
        let text = format!("TLS: {trouble}.");
        add(Kind::Certificate, text, "Renew it in its file, which is read each minute.");
    }
    conditions
}

/// The name of a generator on the page and in the log.
pub(crate) fn title(kind: &str) -> &'static str {
    match kind {
        "snowflakes" => "Leaf's snowflakes",
        _ => "UIDs",
    }
}
