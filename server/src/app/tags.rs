//! The state of each tag that this process has loaded numbers of.

use std::collections::HashMap;

use uidring::segment::SegmentStatus;

use crate::app::App;
use crate::app::condition::Kind;
use crate::app::supply::{Supply, in_time};
use crate::stats::loads::TagLoads;
use crate::stats::rates::TagCount;
use crate::stats::trouble::{Cause, Trouble};

/// A tag that this process has loaded numbers of.
#[derive(Debug)]
pub(crate) struct TagState {
    pub(crate) name: Box<str>,
    /// The status of the library's generator, if this process hands numbers out itself.
    pub(crate) status: Option<SegmentStatus>,
    pub(crate) loads: TagLoads,
    /// Why loads fail, if they do.
    pub(crate) trouble: Option<Trouble>,
    /// Why no tag gets numbers from the database, while there are some of this one in memory.
    shared: Option<Trouble>,
}

impl TagState {
    pub(crate) fn count(&self) -> TagCount {
        let here = self.status.as_ref().map_or(0, |status| status.taken);
        TagCount { here, to_clients: self.loads.to_clients }
    }

    /// `source` is the problem that stops loads for all tags. `has_failed` says whether a take has
    /// failed since the last success.
    fn new(
        name: Box<str>,
        status: Option<SegmentStatus>,
        loads: TagLoads,
        source: Option<&Trouble>,
        has_failed: bool,
    ) -> TagState {
        // The library may reject a loaded segment. Only its own status shows that.
        let refused = status.as_ref().and_then(|status| status.last_failure.as_deref());
        let refused = refused.map(Trouble::of).filter(|trouble| trouble.cause.is_of_row());
        let is_empty = status.as_ref().is_some_and(|status| status.in_memory == 0);
        let late = (is_empty && has_failed).then(|| Trouble::of_cause(Cause::Late));
        let trouble = loads.trouble.clone().or(refused);
        let (source, shared) = if is_empty { (source, None) } else { (None, source) };
        let trouble = trouble.or_else(|| source.cloned()).or(late);
        let shared = shared.filter(|_| trouble.is_none() && status.is_some()).cloned();
        TagState { name, status, loads, trouble, shared }
    }

    /// Whether numbers of the tag are given.
    pub(crate) fn supply(&self) -> Supply {
        let left = self.status.as_ref().filter(|status| status.in_memory > 0);
        match (self.trouble.clone().or_else(|| self.shared.clone()), left) {
            (None, _) => Supply::Giving,
            (Some(why), Some(status)) => {
                Supply::FromMemory { until: in_time(status.empty_in), why }
            }
            (Some(why), None) => Supply::NotGiving(why),
        }
    }

    /// Whether takes fail.
    pub(crate) fn is_out(&self) -> bool {
        let is_empty = self.status.as_ref().is_none_or(|status| status.in_memory == 0);
        is_empty && self.trouble.is_some()
    }

    /// The condition of the tag, if it has one.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self.trouble.as_ref()?.cause {
            Cause::WentBack => Some(Kind::RowsWentBack),
            _ if self.is_out() => Some(Kind::TagsEmpty),
            _ => Some(Kind::TagsFail),
        }
    }

    /// The state of the tag in one word.
    pub(crate) fn state_name(&self) -> &'static str {
        match self.kind() {
            Some(Kind::RowsWentBack) => "went-back",
            _ => self.supply().state_name(),
        }
    }
}

/// Why loads fail for all tags.
fn source(app: &App) -> Option<Trouble> {
    app.watch.loads.trouble().or_else(|| app.database_trouble())
}

/// All tags, sorted.
pub(crate) fn states(app: &App) -> Vec<TagState> {
    let (mut tags, source) = (app.watch.loads.tags(), source(app));
    let failed = app.watch.demand.failed_tags();
    let used = app.used_tags().into_iter().map(|tag| {
        let (name, loads) = (tag.tag(), tags.remove(tag.tag()).unwrap_or_default());
        let has_failed = failed.contains(name);
        TagState::new(name.into(), Some(tag.status()), loads, source.as_ref(), has_failed)
    });
    let mut states: Vec<TagState> = used.collect();
    let others = tags.into_iter();
    states.extend(others.map(|(name, loads)| TagState::new(name, None, loads, None, false)));
    states.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    states
}

/// One tag that this process hands numbers out of.
pub(crate) fn tag(app: &App, name: &str) -> Option<TagState> {
    let status = app.used_tag(name)?.status();
    let loads = app.watch.loads.tag(name).unwrap_or_default();
    let has_failed = app.watch.demand.has_tag_failed(name);
    Some(TagState::new(name.into(), Some(status), loads, source(app).as_ref(), has_failed))
}

/// How many numbers of each tag were given out.
pub(crate) fn counts(app: &App) -> HashMap<Box<str>, TagCount> {
    let to_clients = app.watch.loads.to_clients().into_iter();
    let mut counts: HashMap<Box<str>, TagCount> =
        to_clients.map(|(tag, to_clients)| (tag, TagCount { here: 0, to_clients })).collect();
    for tag in app.used_tags() {
        counts.entry(tag.tag().into()).or_default().here = tag.status().taken;
    }
    counts
}
