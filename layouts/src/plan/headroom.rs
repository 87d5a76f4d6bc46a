//! How long the old ids stay below the new ones, while their generator still makes some.

use std::time::{Duration, SystemTime};

use uidring::{FieldOrder, Layout, Uid};

use crate::preset::Preset;

/// Below this much, it is told: a change of generators may take so long.
const ENOUGH: Duration = Duration::from_secs(30 * 24 * 3600);
/// The largest id of a table is hardly older than this.
const RECENT: Duration = Duration::from_secs(2 * 365 * 24 * 3600);
/// Dense numbers are small: in a layout, they are of the first moments of its time.
const DENSE: u64 = 1 << 53;

/// The old ids will pass the new ones soon.
#[derive(Clone, Copy, Debug)]
pub struct Headroom {
    /// When, if their generator goes on; zero if they may have by now.
    pub lasts: Duration,
    /// The layout of the old ids, or the one whose ids grow as fast as theirs may.
    pub preset: Preset,
    /// Whether they are of that layout.
    pub is_known: bool,
    /// The largest old id that there can be in 30 days.
    pub later: Option<u64>,
}

/// `None` where the old ids, of which `above` is the largest, stay below those of `layout` for long
/// enough.
#[must_use]
pub fn headroom(above: u64, layout: &Layout, now: SystemTime) -> Option<Headroom> {
    let uid = Uid::new(above)?;
    let known = || {
        let layouts = Preset::ALL.into_iter().filter_map(|preset| Some((preset, preset.layout()?)));
        layouts.filter(|(_, layout)| is_of(uid, *layout, now))
    };
    let of_known = known().filter_map(|(preset, old)| {
        let at = |time| old.max_uid(time).map(|last| last.get().max(above));
        passing(at(now)?, &old, layout, now).map(|lasts| Headroom {
            lasts,
            preset,
            is_known: true,
            later: at(now + ENOUGH),
        })
    });
    let soonest = of_known.min_by_key(|headroom| headroom.lasts);
    let guess = || {
        let old = Layout::TWITTER;
        let lasts = passing(above, &old, layout, now)?;
        let later = above.checked_add(rate(&old).checked_mul(ENOUGH.as_secs())?);
        Some(Headroom { lasts, preset: Preset::Twitter, is_known: false, later })
    };
    let found = if known().next().is_some() || above < DENSE { soonest } else { guess() };
    found.filter(|headroom| headroom.lasts < ENOUGH)
}

/// Whether `uid` may be the latest id of a generator with this layout.
fn is_of(uid: Uid, layout: Layout, now: SystemTime) -> bool {
    let Ok(parts) = layout.try_parts(uid) else { return false };
    let age = parts.time.duration_since(layout.epoch()).unwrap_or_default();
    layout.order() == FieldOrder::TimeFirst
        && layout.contains(uid)
        && age > ENOUGH
        && parts.time <= now
        && now.duration_since(parts.time).is_ok_and(|since| since < RECENT)
}

/// How long it takes until ids that are at `largest` now, and grow as those of `old`, pass those of
/// `new`. `None` if they never do.
fn passing(largest: u64, old: &Layout, new: &Layout, now: SystemTime) -> Option<Duration> {
    let room = new.min_uid(now)?.get().saturating_sub(largest);
    if room == 0 {
        return Some(Duration::ZERO);
    }
    let closer = rate(old).checked_sub(rate(new)).filter(|closer| *closer > 0)?;
    Some(Duration::from_secs(room / closer))
}

/// By how much ids grow in a second, with the time on top.
fn rate(layout: &Layout) -> u64 {
    let ms = u64::try_from(layout.tick().as_millis()).unwrap_or(1000).max(1);
    1000 * (1 << (layout.worker_bits() + layout.sequence_bits())) / ms
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_651_200) // 2026-11-26
    }

    /// A layout whose present UIDs begin so long after `above`, in its own ticks.
    fn beyond(above: u64, by: Duration) -> Layout {
        let layout = Layout::new(35, 15, 13).unwrap();
        let ticks = (above >> 28) + by.as_secs();
        layout.with_epoch(now().checked_sub(Duration::from_secs(ticks)).unwrap()).unwrap()
    }

    #[test]
    fn ids_that_grow_faster_pass_soon() {
        // Twitter's grow by 2^22 a millisecond, which is 15.6 times as fast.
        let latest = Layout::TWITTER.max_uid(now()).unwrap().get();
        let found = headroom(latest, &beyond(latest, DAY), now()).unwrap();
        assert_eq!((found.preset, found.is_known), (Preset::Twitter, true));
        let minutes = found.lasts.as_secs() / 60;
        assert!((95..105).contains(&minutes), "{minutes}");
        let later = Layout::TWITTER.max_uid(now() + ENOUGH).unwrap().get();
        assert_eq!(found.later, Some(later));
        assert!(headroom(later, &beyond(later, DAY), now()).is_none_or(|found| !found.is_known));
        // One of a year ago, from a generator that goes on.
        let old = Layout::TWITTER.max_uid(now() - 365 * DAY).unwrap().get();
        assert_eq!(headroom(old, &beyond(old, DAY), now()).unwrap().lasts, Duration::ZERO);
        assert!(headroom(latest, &beyond(latest, 500 * DAY), now()).is_none());
    }

    #[cfg(unix)] // the layout begins before 1601, with which the times of Windows begin
    #[test]
    fn unknown_ids_are_taken_for_snowflakes_unless_they_are_small() {
        let unknown = 7_000_000_000_000_000_000;
        let found = headroom(unknown, &beyond(unknown, DAY), now()).unwrap();
        assert!(!found.is_known && found.lasts < DAY, "{:?}", found.lasts);
        assert_eq!(found.later, Some(unknown + 4_194_304_000 * 30 * 24 * 3600));
        for dense in [1, 90_000_000_000, 9_000_000_000_000] {
            assert!(headroom(dense, &Layout::DEFAULT, now()).is_none(), "{dense}");
        }
    }
}
