//! The plan in JSON.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;
use uidring::Layout;

use crate::plan::candidates::Candidate;
use crate::plan::headroom::headroom;
use crate::plan::sizing::{FieldWidths, Needs, YEAR_MS};
use crate::plan::trade_offs::{TradeOffs, listed, trade_offs};
use crate::quantity::{millis, saturating_u64};
use crate::times::Times;

/// The plan in JSON.
#[derive(Debug, Serialize)]
pub struct Report {
    fits: bool,
    needs: MinimumBits,
    recommended: Option<Row>,
    others: Vec<Row>,
    /// What to reduce where nothing fits: each would be enough.
    instead: Vec<String>,
    /// When the old ids pass those of the recommended layout, if that is soon.
    old_ids_pass_in_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct MinimumBits {
    bits: u32,
    #[serde(flatten)]
    least: FieldWidths,
    until: Option<String>,
    starts: u64,
    average_per_second: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    fits: bool,
    #[serde(flatten)]
    split: FieldWidths,
    epoch: Option<String>,
    expires: Option<String>,
    worker_ids: u64,
    worker_ids_needed: u64,
    worker_ids_per_peak: u64,
    uids_per_second: u64,
    peak_borrows_ms: u64,
    /// How long a peak may last; null for ever.
    peak_may_last_ms: Option<u64>,
    rust: String,
    flags: String,
    /// The call of each binding.
    bindings: BTreeMap<&'static str, String>,
}

impl Report {
    /// Of these candidates, the recommended one first; of none where nothing fits.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a rate with three decimals
    pub fn of(needs: &Needs, candidates: &[Candidate], now: SystemTime) -> Report {
        let least = candidates
            .first()
            .map_or_else(|| needs.smallest(), |first| needs.least(first.split.tick_ms));
        let until = now.checked_add(millis(u128::from(needs.years) * YEAR_MS));
        let mut rows = candidates.iter().map(|candidate| row(candidate, needs));
        let instead = match candidates {
            [] => match trade_offs(needs) {
                TradeOffs::AnyOf(ways) => ways.iter().map(|way| listed(way)).collect(),
                TradeOffs::AllOf(changes) => vec![listed(&changes)],
            },
            _ => Vec::new(),
        };
        Report {
            fits: !candidates.is_empty(),
            needs: MinimumBits {
                bits: least.bits(),
                least,
                until: until.and_then(|until| Times::of(&Layout::DEFAULT).rfc3339(until)),
                starts: saturating_u64(needs.starts()),
                average_per_second: needs.average().thousandths as f64 / 1000.0,
            },
            recommended: rows.next(),
            others: rows.collect(),
            instead,
            old_ids_pass_in_ms: candidates
                .first()
                .and_then(|first| headroom(needs.above, &first.layout, now))
                .map(|headroom| saturating_u64(headroom.lasts.as_millis())),
        }
    }
}

fn row(candidate: &Candidate, needs: &Needs) -> Row {
    let Candidate { name, split, layout } = candidate;
    let times = Times::of(layout);
    Row {
        name,
        fits: needs.fits(*split),
        split: *split,
        epoch: times.rfc3339(layout.epoch()),
        expires: times.rfc3339(layout.expires_at()),
        worker_ids: layout.max_worker(),
        worker_ids_needed: saturating_u64(needs.ids(*split)),
        worker_ids_per_peak: saturating_u64(needs.ids_per_peak(*split)),
        uids_per_second: split.uids_per_second(),
        peak_borrows_ms: saturating_u64(needs.borrowed_ms(*split)),
        peak_may_last_ms: needs.peak_lasts_ms(*split).map(saturating_u64),
        rust: candidate.rust().concat(),
        flags: candidate.flags(),
        bindings: candidate.bindings().into(),
    }
}
