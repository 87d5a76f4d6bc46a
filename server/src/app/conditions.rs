//! The conditions of the service at one moment: what is not given as it should be, as `supply`
//! says, and what else an operator should act on.

use std::time::{Duration, SystemTime};

use uidring::UidGenerator;
use uidring_args::visible;

use crate::app::App;
use crate::app::condition::{Condition, Kind, Level};
use crate::app::refusal::Refusal;
use crate::app::series::SeriesState;
use crate::app::supply::{self, Supply, title};
use crate::app::tags::TagState;
use crate::process::{output, threads};
use crate::security::tls::Tls;
use crate::stats::trouble::{Cause, Trouble};
use crate::text::{clock, rfc3339};

/// How long a panic or a lost log line stays a condition.
const PANIC_SHOWN: Duration = Duration::from_secs(3600);
const LOSS_SHOWN: Duration = Duration::from_secs(600);
/// The most tags that one sentence names.
const MAX_NAMES: usize = 3;

/// All conditions, the worst first.
pub(crate) fn current(
    app: &App,
    refusal: Option<Refusal>,
    tags: &[TagState],
    series: &[SeriesState],
) -> Vec<Condition> {
    let mut conditions: Vec<Condition> =
        refusal.map(|refusal| refused(app, refusal)).into_iter().collect();
    // A start that is not over gives nothing yet, and an end nothing more.
    let is_running = app.has_started() && !app.is_ending();
    let generators: Vec<(&str, Supply)> = supply::generators(app)
        .filter(|_| is_running)
        .map(|uids| (uids.kind, uids.supply(app)))
        .collect();
    // In this order: a start that ends in between has asked the database.
    if let Some(trouble) = app.has_started().then(|| app.database_trouble()).flatten() {
        let of_tags = tags.iter().any(TagState::is_out);
        let of_series = series.iter().map(|series| &series.supply);
        let others = generators.iter().map(|(_, supply)| supply).chain(of_series);
        let is_any_out = of_tags || others.into_iter().any(Supply::is_out);
        let text = if is_any_out { "The database is away." } else { "Ids come from memory." };
        let advice = trouble.cause.advice();
        let away = Condition::warning(Kind::DatabaseAway, text.to_owned(), advice);
        conditions.push(away.with_reason(trouble.text));
    } else if let Some(trouble) = app.watch.loads.trouble() {
        let text = "The database gives no numbers.".to_owned();
        let fails = Condition::warning(Kind::LoadsFail, text, trouble.cause.advice());
        conditions.push(fails.with_reason(trouble.text));
    }
    conditions.extend(generators.iter().filter_map(|(kind, supply)| of_supply(kind, supply)));
    conditions.extend(of_tags(tags));
    conditions.extend(of_series(series));
    if let Some(trouble) = app.series.first_uses() {
        let text = "Series that were not used here before give nothing.".to_owned();
        let fail = Condition::warning(Kind::NewSeriesFail, text, trouble.cause.advice());
        conditions.push(fail.with_reason(trouble.text));
    }
    for (kind, uids) in app.generators() {
        let is_out = generators.iter().any(|(other, supply)| *other == kind && supply.is_out());
        conditions.extend(of_generator(kind, uids, is_out));
    }
    conditions.extend(of_process(app));
    conditions
}

fn refused(app: &App, refusal: Refusal) -> Condition {
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
    let warning = Condition::warning(kind, text.to_owned(), advice);
    Condition { level: Level::Down, why, ..warning }
}

/// The condition of a generator whose UIDs end or have ended.
fn of_supply(kind: &str, supply: &Supply) -> Option<Condition> {
    let (title, why) = (title(kind), supply.why()?);
    let (kind, text) = match supply.until() {
        _ if supply.is_out() => (Kind::UidsEmpty, format!("{title} cannot be given.")),
        Some(until) => {
            let until = rfc3339(until);
            (Kind::UidsFromMemory, format!("{title} end at {}.", clock(&until)))
        }
        None => (Kind::UidsFromMemory, format!("{title} come from memory.")),
    };
    Some(Condition::warning(kind, text, why.cause.advice()).with_reason(why.text.as_str()))
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

/// The conditions of the series, the worst first.
fn of_series(series: &[SeriesState]) -> Vec<Condition> {
    let of_supply = |kind, text, is_so: fn(&SeriesState) -> bool| {
        let found = series.iter().filter(|series| is_so(series));
        let found = found.filter_map(|series| Some((&*series.name, series.supply.why()?)));
        let (names, troubles): (Vec<&str>, Vec<&Trouble>) = found.unzip();
        let condition = in_trouble(kind, text, &names, &troubles)?;
        // The worst, if one has gone back.
        let went_back = troubles.iter().find(|trouble| trouble.cause == Cause::WentBack);
        let worst = went_back.or(troubles.first())?;
        Some(Condition { advice: worst.cause.series_advice(), ..condition })
    };
    let of_periods = |kind, text: &str, periods: Vec<&str>| {
        let names = names(&periods);
        let (is_any, advice) = (!periods.is_empty(), Cause::RanOut.series_advice());
        is_any.then(|| Condition::warning(kind, format!("{text} {names}."), advice))
    };
    let full = series.iter().flat_map(|series| &series.full).map(String::as_str).collect();
    let nearly = series.iter().flat_map(|series| &series.nearly_full).map(String::as_str);
    let text = "There are no numbers of the series";
    let conditions = [
        of_supply(Kind::SeriesFail, text, |series| series.supply.is_out()),
        of_supply(
            Kind::SeriesFromMemory,
            "No further numbers can be loaded of the series",
            |series| series.supply.is_from_memory() && !series.is_shared,
        ),
        of_periods(Kind::SeriesFull, "All numbers are given of the series", full),
        of_periods(
            Kind::SeriesNearlyFull,
            "80 % of all numbers, or more, are given of the series",
            nearly.collect(),
        ),
    ];
    conditions.into_iter().flatten().collect()
}

/// The condition of the things with these names, each of which has one of the troubles. `None` if
/// there are none.
fn in_trouble(kind: Kind, text: &str, all: &[&str], troubles: &[&Trouble]) -> Option<Condition> {
    let trouble = troubles.first()?;
    // All may have one cause, which is then named once.
    let is_one = troubles.iter().all(|other| other.cause == trouble.cause);
    let why = if is_one { trouble.text.as_str() } else { "for several reasons" };
    let text = format!("{text} {}.", names(all));
    Some(Condition::warning(kind, text, trouble.cause.advice()).with_reason(why))
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

/// What an operator should act on before the UIDs of a generator end, or `is_out` if they have.
fn of_generator(kind: &str, uids: &UidGenerator, is_out: bool) -> Vec<Condition> {
    let status = uids.status();
    let mut conditions = Vec::new();
    let mut add = |alert, text: String, advice| {
        let text = format!("{}: {text}.", title(kind));
        conditions.push(Condition::warning(Kind::Generator, text, advice).with_alert(alert));
    };
    if status.filler.to_string() != "running" {
        let text = format!("the thread that fills the ring is {}", status.filler);
        add("UidringFillerDown", text, "Takes go on, but slower. Look at the log.");
    }
    if status.at_lead_limit && !is_out {
        let advice = if status.exact_time {
            "It was set back: look at what sets it."
        } else {
            Cause::Clock.advice()
        };
        add("UidringAtLeadLimit", "takes wait for the clock".to_owned(), advice);
    }
    if let Some(jump) = status.refused_jump {
        let text = format!("the clock jumped {} s ahead, which is not followed", jump.as_secs());
        add("UidringClockJumped", text, "Look at what sets the clock.");
    }
    if let Some(skew_ms) = status.large_clock_skew_ms() {
        let side = if skew_ms > 0 { "ahead of" } else { "behind" };
        let seconds = skew_ms.unsigned_abs() / 1000;
        let text = format!("this machine's clock is {seconds} s {side} that of its database");
        add("UidringClockSkewed", text, "No id comes twice. Set the one that is wrong.");
    }
    conditions
}

/// The conditions of the process.
fn of_process(app: &App) -> Vec<Condition> {
    let is_recent = |time: Option<SystemTime>, within| {
        time.is_some_and(|time| time.elapsed().is_ok_and(|ago| ago < within))
    };
    let mut conditions = Vec::new();
    let mut add = |kind, text, advice| conditions.push(Condition::warning(kind, text, advice));
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
    for (what, reading) in app.watch.readings.outcomes() {
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
