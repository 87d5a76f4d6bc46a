//! Layouts: their arithmetic, and their text on a command line.

#![no_main]

use std::ops::Bound;
use std::time::{Duration, SystemTime};

use clap::{Args, Command, FromArgMatches};
use jiff::Timestamp;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use uidring::{FieldOrder, Layout, Uid};
use uidring_args::LayoutArgs;
use uidring_fuzz::{number, unsigned};

fuzz_target!(|data: &[u8]| {
    let _ = check(&mut Unstructured::new(data));
});

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let Some(layout) = layout(input)? else { return Ok(()) };
    let widths = [layout.time_bits(), layout.worker_bits(), layout.sequence_bits()];
    assert!(widths[0] >= 20 && widths.iter().all(|&bits| bits >= 1));
    assert!(widths.iter().sum::<u32>() <= 63);
    as_text(layout);
    ends(layout);
    let fields = [unsigned(input)?, unsigned(input)?, unsigned(input)?];
    let most = [layout.max_tick(), layout.max_worker(), layout.max_sequence()];
    composed(layout, fields, most);
    let within = [0, 1, 2].map(|index| fields[index].min(most[index]));
    composed(layout, within, most);
    let Some(uid) = Uid::new(unsigned(input)?) else { return Ok(()) };
    told(layout, uid);
    let range = (bound(input, layout)?, bound(input, layout)?);
    ranges(layout, uid, range);
    Ok(())
}

fn layout(input: &mut Unstructured<'_>) -> Result<Option<Layout>> {
    let known = [
        Layout::DEFAULT,
        Layout::UID_GENERATOR,
        Layout::UID_GENERATOR_STARTER,
        Layout::TWITTER,
        Layout::SHARDING_SPHERE,
        Layout::SEATA,
        Layout::JS_SAFE,
        Layout::DISCORD,
        Layout::INSTAGRAM,
        Layout::TSID,
    ];
    let mut layout = match known.get(input.int_in_range(0..=19)?) {
        Some(&known) => known,
        None => {
            let mut bits = || input.int_in_range(0..=64);
            match Layout::new(bits()?, bits()?, bits()?) {
                Ok(layout) => layout,
                Err(_) => return Ok(None),
            }
        }
    };
    if input.arbitrary()? {
        layout = layout.with_order(FieldOrder::WorkerFirst);
    }
    if input.arbitrary()? {
        let tick = Duration::from_millis(input.int_in_range(0..=1001)?);
        match layout.with_tick(tick) {
            Ok(found) => layout = found,
            Err(_) => assert!(tick.is_zero() || tick > Duration::from_secs(1)),
        }
    }
    if input.arbitrary()? {
        if let Some(epoch) = time(number(input)?) {
            layout = layout.with_epoch(epoch).unwrap_or(layout);
        }
    }
    Ok(Some(layout))
}

/// So many milliseconds after 1970.
fn time(ms: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(ms.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    if ms < 0 { epoch.checked_sub(distance) } else { epoch.checked_add(distance) }
}

/// The options that name the layout are read as the layout.
fn as_text(layout: Layout) {
    let Ok(epoch) = Timestamp::try_from(layout.epoch()) else { return };
    let order = match layout.order() {
        FieldOrder::TimeFirst => "time-first",
        FieldOrder::WorkerFirst => "worker-first",
    };
    let (time, worker, sequence) =
        (layout.time_bits(), layout.worker_bits(), layout.sequence_bits());
    let arguments = [
        "test".to_owned(),
        format!("--layout={time},{worker},{sequence}"),
        format!("--order={order}"),
        format!("--tick={}ms", layout.tick().as_millis()),
        format!("--epoch={epoch}"),
    ];
    let command = LayoutArgs::augment_args(Command::new("test"));
    let matches = command.try_get_matches_from(&arguments).unwrap();
    let read = LayoutArgs::from_arg_matches(&matches).unwrap();
    assert_eq!(read.requested().unwrap(), Some(layout), "{arguments:?}");
}

/// The last tick is the last.
fn ends(layout: Layout) {
    let last = layout.max_tick();
    let begin = layout.time_of(last).unwrap();
    assert_eq!(layout.tick_at(begin), Some(last));
    assert_eq!(layout.time_of(0), Some(layout.epoch()));
    assert_eq!(layout.tick_at(layout.epoch() - Duration::from_nanos(1)), None);
    let end = layout.expires_at();
    if end > begin {
        assert_eq!(
            (end.duration_since(begin).ok(), layout.tick_at(end)),
            (Some(layout.tick()), None)
        );
    }
}

/// Fields that fit make a UID, and the UID says them.
fn composed(layout: Layout, [tick, worker, sequence]: [u64; 3], most: [u64; 3]) {
    let fits = tick <= most[0] && worker <= most[1] && sequence <= most[2];
    let is_zero = tick == 0 && worker == 0 && sequence == 0;
    let Some(uid) = layout.compose(tick, worker, sequence) else {
        assert!(!fits || is_zero);
        return;
    };
    assert!(fits && !is_zero && layout.contains(uid));
    let parts = layout.parts(uid);
    assert_eq!((parts.worker, parts.sequence), (worker, sequence));
    assert_eq!(layout.tick_at(parts.time), Some(tick));
    assert_eq!(layout.time_of(tick), Some(parts.time));
}

/// What a UID says makes the UID again.
fn told(layout: Layout, uid: Uid) {
    let parts = layout.parts(uid);
    let tick = layout.tick_at(parts.time);
    let again = tick.and_then(|tick| layout.compose(tick, parts.worker, parts.sequence));
    assert_eq!(again, layout.contains(uid).then_some(uid));
}

fn bound(input: &mut Unstructured<'_>, layout: Layout) -> Result<Bound<SystemTime>> {
    let ticks = u32::try_from(unsigned(input)? & 0xffff_ffff).unwrap_or(0);
    let near = Duration::from_nanos(input.int_in_range(0..=2_000_000_000)?);
    let after = layout.epoch().checked_add(layout.tick() * ticks).and_then(|t| t.checked_add(near));
    Ok(match (input.int_in_range(0..=2)?, after) {
        (0, Some(time)) => Bound::Included(time),
        (1, Some(time)) => Bound::Excluded(time),
        _ => Bound::Unbounded,
    })
}

/// A range of times has the UIDs of these times, and no others where the time is on top.
fn ranges(layout: Layout, uid: Uid, times: (Bound<SystemTime>, Bound<SystemTime>)) {
    let inside = [times.0, times.1];
    let uids = layout.uids_in(times);
    for edge in [*uids.start(), *uids.end()].into_iter().filter(|_| !uids.is_empty()) {
        assert!(is_in(layout.parts(edge).time, inside), "{edge} of {layout}");
    }
    if !layout.contains(uid) {
        return;
    }
    let parts = layout.parts(uid);
    let (is_found, is_meant) = (uids.contains(&uid), is_in(parts.time, inside));
    let of_worker = layout.uids_of(parts.worker, times).contains(&uid);
    match layout.order() {
        FieldOrder::TimeFirst => assert_eq!(is_found, is_meant, "{uid} of {layout}"),
        FieldOrder::WorkerFirst => assert_eq!(of_worker, is_meant, "{uid} of {layout}"),
    }
    assert!(is_found >= is_meant && of_worker >= is_meant);
    if layout.order() == FieldOrder::TimeFirst {
        assert!(layout.min_uid(parts.time).is_some_and(|least| least <= uid));
        assert!(layout.max_uid(parts.time).is_some_and(|most| most >= uid));
    }
}

fn is_in(time: SystemTime, [from, to]: [Bound<SystemTime>; 2]) -> bool {
    let is_after = match from {
        Bound::Included(from) => time >= from,
        Bound::Excluded(from) => time > from,
        Bound::Unbounded => true,
    };
    is_after
        && match to {
            Bound::Included(to) => time <= to,
            Bound::Excluded(to) => time < to,
            Bound::Unbounded => true,
        }
}
