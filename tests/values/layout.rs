//! What a user relies on of [`Layout`]: which UID says what, for every layout there can be.

use std::ops::{Bound, RangeBounds};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use uidring::clock::ManualClock;
use uidring::registry::FixedWorker;
use uidring::{Builder, FieldOrder, Layout, LayoutError, Parts, Uid, UidGenerator};

/// Milliseconds since 1970, before it if negative.
fn at_ms(ms: i64) -> SystemTime {
    checked_at_ms(ms).unwrap()
}

/// `None` for a time that the platform cannot tell.
fn checked_at_ms(ms: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(ms.unsigned_abs());
    if ms < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

/// What a clock of the platform tells apart.
const INSTANT: Duration = Duration::from_nanos(if cfg!(windows) { 100 } else { 1 });

fn seconds(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// When `tick` begins, by the definition: so many ticks after the epoch.
fn begin_of(layout: &Layout, tick: u64) -> SystemTime {
    let ms = u128::from(tick) * layout.tick().as_millis();
    let (whole, rest) = (u64::try_from(ms / 1000).unwrap(), u64::try_from(ms % 1000).unwrap());
    layout.epoch() + Duration::from_secs(whole) + Duration::from_millis(rest)
}

fn builder(layout: Layout, now: SystemTime) -> Builder {
    UidGenerator::builder()
        .registry(FixedWorker::new(1))
        .layout(layout)
        .clock(ManualClock::new(now))
}

fn build_error(layout: Layout, now: SystemTime) -> String {
    builder(layout, now).start_deadline(Duration::ZERO).build().unwrap_err().to_string()
}

// All layouts that there are: any widths, ticks and epochs.

fn widths() -> impl Strategy<Value = (u32, u32, u32)> {
    let worker = |time: u32| (Just(time), 1..=62 - time);
    let sequence = |(time, worker): (u32, u32)| (Just(time), Just(worker), 1..=63 - time - worker);
    (20..=61_u32).prop_flat_map(worker).prop_flat_map(sequence)
}

/// How far from 1970 epochs and clocks may be.
const FARTHEST_MS: i64 = 1_000_000_000_000_000_000;

fn epoch_ms() -> impl Strategy<Value = i64> {
    prop_oneof![
        1_000_000_000_000..2_000_000_000_000_i64, // as they are in practice
        -1_000_000_000_000..1_000_000_000_000_i64, // on both sides of 1970
        (-1_000_000_000..1_000_000_000_i64).prop_map(|s| s * 1000), // whole seconds
        -FARTHEST_MS..=FARTHEST_MS,               // as far away as can be
        prop_oneof![Just(-FARTHEST_MS), Just(FARTHEST_MS)],
    ]
}

fn layouts() -> impl Strategy<Value = Layout> {
    let tick = prop_oneof![Just(1), Just(10), Just(1000), 1..=1000_u64];
    let order = prop_oneof![Just(FieldOrder::TimeFirst), Just(FieldOrder::WorkerFirst)];
    let layout = |((time, worker, sequence), order, epoch, tick)| {
        let layout = Layout::new(time, worker, sequence).unwrap().with_order(order);
        let layout = layout.with_tick(Duration::from_millis(tick)).unwrap();
        let layout = layout.with_epoch(checked_at_ms(epoch)?).unwrap();
        (cfg!(unix) || layout.try_parts(Uid::MAX).is_ok()).then_some(layout)
    };
    // Unix can tell the times of them all.
    (widths(), order, epoch_ms(), tick).prop_filter_map("beyond the times of this platform", layout)
}

/// A value of a field: its ends come up often.
fn values(max: u64) -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(max), Just(max - 1), 0..=max]
}

fn fields(layout: Layout) -> impl Strategy<Value = (u64, u64, u64)> {
    (values(layout.max_tick()), values(layout.max_worker()), values(layout.max_sequence()))
}

fn layout_and_fields() -> impl Strategy<Value = (Layout, (u64, u64, u64))> {
    layouts().prop_flat_map(|layout| (Just(layout), fields(layout)))
}

/// A layout, some fields, and a time in, before or after the layout, seldom at the beginning of a
/// tick.
fn layout_fields_and_time() -> impl Strategy<Value = (Layout, (u64, u64, u64), SystemTime)> {
    layout_and_fields().prop_flat_map(|(layout, fields)| {
        let tick = values(layout.max_tick()).prop_map(move |tick| begin_of(&layout, tick));
        let near = |from: SystemTime| (Just(from), 0..2_000_000_000_u64, any::<bool>());
        let time = prop_oneof![tick, Just(layout.expires_at()), Just(begin_of(&layout, fields.0))]
            .prop_flat_map(near)
            .prop_map(|(from, ns, later)| {
                let ns = Duration::from_nanos(ns);
                if later { from + ns } else { from - ns }
            });
        (Just(layout), Just(fields), time)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_loss_of_meaning_parts_are_what_was_composed(
        (layout, (tick, worker, sequence)) in layout_and_fields(),
    ) {
        let Some(uid) = layout.compose(tick, worker, sequence) else {
            // The only fields in range that make no UID would make 0.
            prop_assert_eq!((tick, worker, sequence), (0, 0, 0));
            return Ok(());
        };
        prop_assert!(i64::from(uid) > 0);
        prop_assert!(layout.contains(uid));
        let time = begin_of(&layout, tick);
        prop_assert_eq!(layout.parts(uid), Parts { time, worker, sequence });
        prop_assert_eq!(layout.try_parts(uid), Ok(Parts { time, worker, sequence }));
        // And back again.
        prop_assert_eq!(layout.tick_at(time), Some(tick));
        prop_assert_eq!(layout.time_of(tick), Some(time));
    }

    #[test]
    fn a_tick_is_what_contains_a_time((layout, _, time) in layout_fields_and_time()) {
        match layout.tick_at(time) {
            Some(tick) => {
                let begin = layout.time_of(tick).unwrap();
                prop_assert!(begin <= time && time < begin + layout.tick());
            }
            None => prop_assert!(time < layout.epoch() || layout.expires_at() <= time),
        }
        prop_assert_eq!(layout.time_of(layout.max_tick() + 1), None);
        prop_assert_eq!(layout.time_of(u64::MAX), None);
    }

    #[test]
    fn uids_sort_by_their_fields_in_the_order_of_the_layout(
        (layout, a, b) in
            layouts().prop_flat_map(|layout| (Just(layout), fields(layout), fields(layout))),
    ) {
        let uid = |(tick, worker, sequence)| layout.compose(tick, worker, sequence);
        let fields = |(tick, worker, sequence)| match layout.order() {
            FieldOrder::TimeFirst => (tick, worker, sequence),
            FieldOrder::WorkerFirst => (worker, tick, sequence),
        };
        // `None`, for all zeros, comes before every UID, as it should.
        prop_assert_eq!(uid(a).cmp(&uid(b)), fields(a).cmp(&fields(b)));
    }

    #[test]
    fn no_loss_of_meaning_what_does_not_fit_is_refused(
        (layout, (tick, worker, sequence)) in layout_and_fields(),
        excess in prop_oneof![Just(1), Just(u64::MAX), any::<u64>()],
    ) {
        let too_much = |max: u64| max.saturating_add(excess.max(1));
        prop_assert_eq!(layout.compose(too_much(layout.max_tick()), worker, sequence), None);
        prop_assert_eq!(layout.compose(tick, too_much(layout.max_worker()), sequence), None);
        prop_assert_eq!(layout.compose(tick, worker, too_much(layout.max_sequence())), None);
    }

    #[test]
    fn fields_are_as_wide_as_asked_and_no_wider((time, worker, sequence) in widths()) {
        let layout = Layout::new(time, worker, sequence).unwrap();
        prop_assert_eq!(
            (layout.time_bits(), layout.worker_bits(), layout.sequence_bits()),
            (time, worker, sequence)
        );
        let max = |bits: u32| 2_u64.pow(bits) - 1;
        prop_assert_eq!(
            (layout.max_tick(), layout.max_worker(), layout.max_sequence()),
            (max(time), max(worker), max(sequence))
        );
        // The largest UID has every bit of the three fields.
        let largest = layout
            .compose(layout.max_tick(), layout.max_worker(), layout.max_sequence())
            .unwrap();
        prop_assert_eq!(largest.get(), max(time + worker + sequence));
        prop_assert_eq!(largest == Uid::MAX, time + worker + sequence == 63);
        // And one with a bit above them is not of this layout.
        if let Ok(above) = Uid::try_from(largest.get() + 1) {
            prop_assert!(!layout.contains(above));
            prop_assert_eq!(layout.parts(above).time, layout.expires_at());
            let layout = layout.with_order(FieldOrder::WorkerFirst);
            prop_assert!(!layout.contains(above));
            prop_assert_eq!(layout.parts(above).worker, layout.max_worker() + 1);
        }
    }

    #[test]
    fn the_end_is_one_tick_after_the_last_begins(layout in layouts()) {
        prop_assert_eq!(layout.expires_at(), begin_of(&layout, layout.max_tick()) + layout.tick());
    }

    /// A range of time is a range of the key: `min_uid` and `max_uid` cut where the times in the
    /// UIDs say.
    #[test]
    fn true_time_min_and_max_uid_cut_exactly(
        (layout, (tick, worker, sequence), time) in layout_fields_and_time(),
    ) {
        let Some(uid) = layout.compose(tick, worker, sequence) else { return Ok(()) };
        let begin = layout.parts(uid).time;
        let end = begin + layout.tick();
        let is_exact = layout.order() == FieldOrder::TimeFirst;
        match layout.min_uid(time) {
            Some(min) if is_exact => prop_assert_eq!(uid < min, end <= time, "{}: {}", layout, min),
            // With the worker on top, all UIDs of the tick and later are there, and more.
            Some(min) => prop_assert!(uid >= min || end <= time, "{}: {}", layout, min),
            None => prop_assert!(layout.expires_at() <= time),
        }
        match layout.max_uid(time) {
            Some(max) if is_exact => prop_assert_eq!(uid > max, begin > time, "{}", layout),
            Some(max) => prop_assert!(uid <= max || begin > time, "{}", layout),
            None => prop_assert!(time < layout.epoch()),
        }
    }

    /// A UID is in a range exactly if its time is.
    #[test]
    fn true_time_uids_in_cuts_exactly(
        (layout, (tick, worker, sequence), from) in layout_fields_and_time(),
        (from_kind, to_kind, ms, ns) in (0..3, 0..3, 0..3_000_u64, 0..2_000_000_u64),
    ) {
        let Some(uid) = layout.compose(tick, worker, sequence) else { return Ok(()) };
        let to = from + Duration::from_millis(ms) + Duration::from_nanos(ns);
        let bound = |kind, time| match kind {
            0 => Bound::Included(time),
            1 => Bound::Excluded(time),
            _ => Bound::Unbounded,
        };
        for to in [to, from, from - Duration::from_millis(1), layout.parts(uid).time] {
            let times = (bound(from_kind, from), bound(to_kind, to));
            let is_in = RangeBounds::contains(&times, &layout.parts(uid).time);
            let (all, own) = (layout.uids_in(times), layout.uids_of(worker, times));
            let (exact, wider) = match layout.order() {
                FieldOrder::TimeFirst => (all, own),
                FieldOrder::WorkerFirst => (own, all),
            };
            prop_assert_eq!(exact.contains(&uid), is_in, "{}, {:?}", layout, times);
            prop_assert!(wider.contains(&uid) || !is_in, "{}, {:?}", layout, times);
            for uids in [&exact, &wider] {
                // Its ends are UIDs of the layout, unless it is empty.
                prop_assert!(uids.is_empty() || layout.contains(*uids.end()));
            }
            // Where there is no such tick, there is no such UID of any worker.
            prop_assert_eq!(exact.is_empty(), wider.is_empty());
            prop_assert!(layout.uids_of(layout.max_worker() + 1, times).is_empty());
        }
    }
}

#[test]
fn min_and_max_uid_at_the_ends_and_within_a_tick() {
    let layout = Layout::new(30, 20, 13).unwrap().with_epoch(seconds(1_800_000_000)).unwrap();
    let (ns, epoch, end) = (INSTANT, layout.epoch(), layout.expires_at());
    let of = |tick, worker, sequence| layout.compose(tick, worker, sequence);
    let last = |tick| of(tick, layout.max_worker(), layout.max_sequence());

    // Before the epoch: every UID is later.
    assert_eq!((layout.min_uid(epoch - ns), layout.max_uid(epoch - ns)), (Some(Uid::MIN), None));
    assert_eq!(
        (layout.min_uid(SystemTime::UNIX_EPOCH), layout.max_uid(SystemTime::UNIX_EPOCH)),
        (Some(Uid::MIN), None)
    );
    // Tick 0, whose smallest would be 0.
    assert_eq!((layout.min_uid(epoch), layout.max_uid(epoch)), (Some(Uid::MIN), last(0)));
    // The beginning, the middle and the end of a tick.
    for within in [Duration::ZERO, Duration::from_millis(500), Duration::new(0, 999_999_999)] {
        let time = epoch + Duration::from_secs(77) + within;
        assert_eq!(
            (layout.min_uid(time), layout.max_uid(time)),
            (of(77, 0, 0), last(77)),
            "{within:?}"
        );
    }
    // The last tick, and after it: every UID is earlier.
    assert_eq!(
        (layout.min_uid(end - ns), layout.max_uid(end - ns)),
        (of(layout.max_tick(), 0, 0), Some(Uid::MAX))
    );
    for time in [end, end + ns, end + Duration::from_secs(1 << 35)] {
        assert_eq!((layout.min_uid(time), layout.max_uid(time)), (None, Some(Uid::MAX)));
    }
}

#[test]
fn the_default_is_30_20_13_in_seconds_from_2026() {
    let layout = Layout::DEFAULT;
    assert_eq!(layout, Layout::default());
    assert_eq!(layout, Layout::new(30, 20, 13).unwrap());
    assert_eq!((layout.time_bits(), layout.worker_bits(), layout.sequence_bits()), (30, 20, 13));
    assert_eq!(layout.tick(), Duration::from_secs(1));
    assert_eq!(layout.epoch(), seconds(1_767_225_600));
    assert_eq!(layout.expires_at(), seconds(1_767_225_600 + (1 << 30)));
    assert_eq!(layout.to_string(), "30 | 20 | 13 in seconds from 2026-01-01T00:00:00Z");
    assert_eq!(format!("{layout:?}"), "Layout(30 | 20 | 13 in seconds from 2026-01-01T00:00:00Z)");
    // Seen from the outside, as the error that a generator gives at the end.
    assert_eq!(
        build_error(layout, layout.expires_at()),
        "the layout's time field ended at 2060-01-10T13:37:04Z: choose a later epoch or more time \
         bits"
    );
}

#[test]
fn a_published_uid_of_uid_generator_is_read() {
    // 2016-09-19T16:00:00Z, midnight in Beijing.
    let layout = Layout::new(29, 21, 13).unwrap().with_epoch(seconds(1_474_300_800)).unwrap();
    let uid: Uid = "180363646902239241".parse().unwrap();
    let parts = layout.parts(uid);
    assert_eq!(parts.time, seconds(1_484_799_346)); // 2017-01-19T04:15:46Z
    assert_eq!((parts.worker, parts.sequence), (4, 9));
    assert_eq!(layout.compose(1_484_799_346 - 1_474_300_800, 4, 9), Some(uid));
    assert_eq!(layout.to_string(), "29 | 21 | 13 in seconds from 2016-09-19T16:00:00Z");
}

/// Ids that Leaf, Seata and `ShardingSphere` made, and ids by their rules.
#[test]
fn presets_read_the_ids_of_the_originals() {
    for (layout, epoch_ms, ids) in [
        (
            Layout::TWITTER,
            1_288_834_974_657,
            &[(4_198_401, 1, 1, 1), (1_256_557_484_213_448_722, 299_586_649_945, 619, 18)][..],
        ),
        (
            Layout::SHARDING_SPHERE,
            1_477_958_400_000,
            // With readings of its clock 0, 1, 1, 2, ... after the epoch.
            &[(4_194_305, 1, 0, 1), (4_194_306, 1, 0, 2), (8_388_608, 2, 0, 0)],
        ),
        (
            Layout::SEATA,
            1_588_435_200_000,
            &[(4_096_001, 1000, 0, 1), (9_007_199_258_836_993, 1000, 1, 1)],
        ),
        (Layout::JS_SAFE, 1_767_225_600_000, &[((1 << 53) - 1, (1 << 31) - 1, 1023, 4095)]),
        (
            Layout::UID_GENERATOR_STARTER,
            1_550_592_000_000,
            &[(724_775_731_840, 86_400, 5, 0), ((1 << 53) - 1, (1 << 30) - 1, 65_535, 127)],
        ),
        // Of Discord's documentation, and by Instagram's formula for its user 31341.
        (Layout::DISCORD, 1_420_070_400_000, &[(175_928_847_299_117_063, 41_944_705_796, 32, 7)]),
        (
            Layout::INSTAGRAM,
            1_314_220_021_721,
            &[(1_387_263_000 << 23 | 1341 << 10 | 0x389, 1_387_263_000, 1341, 905)],
        ),
        // 01226N0640J7Q, an id of tsid-creator's.
        (Layout::TSID, 1_577_836_800_000, &[(38_358_284_406_638_839, 9_145_327_665, 4, 2295)]),
    ] {
        assert_eq!(layout.epoch(), at_ms(epoch_ms), "{layout}");
        for &(id, tick, worker, sequence) in ids {
            let uid = Uid::new(id).unwrap();
            assert_eq!(layout.compose(tick, worker, sequence), Some(uid), "{layout}");
            let parts = layout.parts(uid);
            assert_eq!(layout.tick_at(parts.time), Some(tick), "{layout}");
            assert_eq!((parts.worker, parts.sequence), (worker, sequence), "{layout}");
        }
    }
    // What they print for the id of Leaf above, and where each ends.
    let leaf = Layout::TWITTER.parts(1_256_557_484_213_448_722_u64.try_into().unwrap());
    assert_eq!(leaf.time, at_ms(1_588_421_624_602));
    for (layout, text, end) in [
        (
            Layout::TWITTER,
            "41 | 10 | 12 in milliseconds from 2010-11-04T01:42:54.657Z",
            "2080-07-10T17:30:30.209Z",
        ),
        (
            Layout::SHARDING_SPHERE,
            "41 | 10 | 12 in milliseconds from 2016-11-01T00:00:00Z",
            "2086-07-08T15:47:35.552Z",
        ),
        (
            Layout::SEATA,
            "41 | 10 | 12 in milliseconds from 2020-05-02T16:00:00Z, worker first",
            "2090-01-07T07:47:35.552Z",
        ),
        (
            Layout::JS_SAFE,
            "31 | 10 | 12 in seconds from 2026-01-01T00:00:00Z",
            "2094-01-19T03:14:08Z",
        ),
        (
            Layout::DISCORD,
            "41 | 10 | 12 in milliseconds from 2015-01-01T00:00:00Z",
            "2084-09-06T15:47:35.552Z",
        ),
        (
            Layout::INSTAGRAM,
            "40 | 13 | 10 in milliseconds from 2011-08-24T21:07:01.721Z",
            "2046-06-27T17:00:49.497Z",
        ),
        (
            Layout::TSID,
            "41 | 10 | 12 in milliseconds from 2020-01-01T00:00:00Z",
            "2089-09-06T15:47:35.552Z",
        ),
        (
            Layout::UID_GENERATOR_STARTER,
            "30 | 16 | 7 in seconds from 2019-02-19T16:00:00Z",
            "2053-02-28T05:37:04Z",
        ),
    ] {
        assert_eq!(layout.to_string(), text);
        let end: jiff::Timestamp = end.parse().unwrap();
        assert_eq!(layout.expires_at(), SystemTime::from(end), "{layout}");
    }
}

#[test]
fn uid_generators_vectors() {
    let composed = Layout::UID_GENERATOR.compose(1, 1, 1).unwrap();
    assert_eq!(composed.get(), 34_359_746_561);

    // UidGenerator lets an oversized worker bleed into the time: 94,489,313,280 for both of these.
    let layout = Layout::new(30, 18, 15).unwrap();
    assert_eq!(layout.compose(11, 1, 0).map(Uid::get), Some(94_489_313_280));
    assert_eq!(layout.compose(10, (1 << 18) + 1, 0), None);
}

#[test]
fn time_exhausted_uid_generators_layout_ended_in_2024_and_a_build_says_so() {
    let ended = "the layout's time field ended at 2024-11-20T13:24:16Z: choose a later epoch or \
        more time bits";
    let layout = Layout::UID_GENERATOR;
    assert_eq!(layout.expires_at(), seconds(1_463_673_600 + (1 << 28)));
    let today = UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout).build();
    assert_eq!(today.unwrap_err().to_string(), ended);
    // The last instant will do, the next will not.
    assert_eq!(build_error(layout, layout.expires_at()), ended);
    let uids = builder(layout, layout.expires_at() - INSTANT).build().unwrap();
    assert_eq!(
        layout.parts(uids.take().unwrap()).time,
        layout.expires_at() - Duration::from_secs(1)
    );
}

#[test]
fn an_epoch_in_the_future_is_refused_with_both_dates() {
    let layout = Layout::DEFAULT.with_epoch(seconds(4_102_444_800)).unwrap();
    assert_eq!(
        build_error(layout, seconds(1_800_000_000)),
        "the layout begins at 2100-01-01T00:00:00Z, and the clock shows 2027-01-15T08:00:00Z: set \
         the clock, or choose an earlier epoch"
    );
    let uids = builder(layout, layout.epoch()).build().unwrap();
    assert_eq!(layout.parts(uids.take().unwrap()).time, layout.epoch());
}

/// A machine whose clock has no battery starts before the network has set it.
#[test]
fn a_build_waits_until_the_clock_is_set() {
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let builder = || {
        let builder = UidGenerator::builder().registry(FixedWorker::new(1));
        builder.clock(clock.clone())
    };
    let error = builder().start_deadline(Duration::from_millis(1)).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the layout begins at 2026-01-01T00:00:00Z, and the clock shows 1970-01-01T00:00:00Z: the \
         clock is wrong; set it, or start the program when the network has set it"
    );
    std::thread::scope(|scope| {
        let start = || builder().start_deadline(Duration::from_secs(600)).build().unwrap();
        let waiting = scope.spawn(start);
        std::thread::sleep(Duration::from_millis(300));
        assert!(!waiting.is_finished());
        let now = seconds(1_800_000_000);
        clock.set(now);
        let uid = waiting.join().unwrap().take().unwrap();
        assert_eq!(Layout::DEFAULT.parts(uid).time, now);
    });
}

#[test]
fn the_widest_fields_work() {
    for (time, worker, sequence) in [(61, 1, 1), (20, 1, 42), (20, 42, 1)] {
        let layout = Layout::new(time, worker, sequence).unwrap();
        let first = layout.compose(0, 0, 1).unwrap();
        let last =
            layout.compose(layout.max_tick(), layout.max_worker(), layout.max_sequence()).unwrap();
        assert_eq!((first, last), (Uid::MIN, Uid::MAX), "{layout}");
        let end = layout.expires_at() - layout.tick();
        assert!(layout.try_parts(last).is_ok_and(|parts| parts.time == end) || cfg!(windows));

        let uids = builder(layout, layout.epoch() + Duration::from_secs(5)).build().unwrap();
        let taken: Vec<Parts> = (0..100).map(|_| layout.parts(uids.take().unwrap())).collect();
        assert!(taken.is_sorted_by(|a, b| (a.time, a.sequence) < (b.time, b.sequence)), "{layout}");
        assert!(
            taken.iter().all(|parts| parts.worker == 1 && parts.sequence <= layout.max_sequence()),
            "{layout}"
        );
        assert_eq!(taken[0].time, layout.epoch() + Duration::from_secs(5), "{layout}");
    }
}

#[test]
fn no_loss_of_meaning_widths_that_make_no_layout_are_refused() {
    let refused =
        |time, worker, sequence| Layout::new(time, worker, sequence).unwrap_err().to_string();
    assert_eq!(
        refused(19, 20, 13),
        "the time field cannot have 19 bits: it has at least 20 and at most 63"
    );
    assert_eq!(
        refused(0, 20, 13),
        "the time field cannot have 0 bits: it has at least 20 and at most 63"
    );
    assert_eq!(
        refused(30, 0, 13),
        "the worker field cannot have 0 bits: it has at least 1 and at most 63"
    );
    assert_eq!(
        refused(30, 20, 0),
        "the sequence field cannot have 0 bits: it has at least 1 and at most 63"
    );
    assert_eq!(
        refused(30, 64, 13),
        "the worker field cannot have 64 bits: it has at least 1 and at most 63"
    );
    assert_eq!(
        refused(30, 20, 14),
        "30 + 20 + 14 bits are 64, more than the 63 of a positive 64-bit number"
    );
    assert_eq!(
        refused(63, 63, 63),
        "63 + 63 + 63 bits are 189, more than the 63 of a positive 64-bit number"
    );
    assert_eq!(
        refused(u32::MAX, u32::MAX, u32::MAX),
        "the time field cannot have 4294967295 bits: it has at least 20 and at most 63"
    );
    // 2^32 + 20 + ... wraps to a sum that fits.
    assert!(matches!(
        Layout::new(20, 1, u32::MAX),
        Err(LayoutError::Width { field: "sequence", bits: u32::MAX, .. })
    ));
}

#[test]
fn ticks_are_whole_milliseconds_up_to_a_second() {
    for ms in [1, 10, 999, 1000] {
        let tick = Duration::from_millis(ms);
        assert_eq!(Layout::DEFAULT.with_tick(tick).unwrap().tick(), tick);
    }
    let refused = |tick| Layout::DEFAULT.with_tick(tick).unwrap_err().to_string();
    let rule = "it is a whole number of milliseconds from 1 to 1000";
    assert_eq!(refused(Duration::ZERO), format!("a tick cannot be 0 ms: {rule}"));
    assert_eq!(refused(Duration::from_micros(1500)), format!("a tick cannot be 1.5 ms: {rule}"));
    assert_eq!(
        refused(Duration::from_nanos(999_999_999)),
        format!("a tick cannot be 999.999999 ms: {rule}")
    );
    assert_eq!(refused(Duration::from_millis(1001)), format!("a tick cannot be 1001 ms: {rule}"));
    // 65,537 ms, which is 1 in 16 bits.
    assert_eq!(
        refused(Duration::from_millis(65_537)),
        format!("a tick cannot be 65537 ms: {rule}")
    );
    assert!(matches!(
        Layout::DEFAULT.with_tick(Duration::MAX),
        Err(LayoutError::Tick { tick: Duration::MAX })
    ));

    let ms = Layout::new(41, 10, 12).unwrap().with_tick(Duration::from_millis(1)).unwrap();
    assert_eq!(ms.to_string(), "41 | 10 | 12 in milliseconds from 2026-01-01T00:00:00Z");
    let tens = ms.with_tick(Duration::from_millis(10)).unwrap();
    assert_eq!(tens.to_string(), "41 | 10 | 12 in ticks of 10 ms from 2026-01-01T00:00:00Z");
}

#[test]
fn epochs_are_whole_milliseconds() {
    let far: &[i64] = if cfg!(unix) { &[-FARTHEST_MS, FARTHEST_MS] } else { &[] };
    for &ms in [-1, 0, 1, -11_644_473_600_000, 253_402_300_799_999].iter().chain(far) {
        assert_eq!(Layout::DEFAULT.with_epoch(at_ms(ms)).unwrap().epoch(), at_ms(ms));
    }
    let refused = |epoch| Layout::DEFAULT.with_epoch(epoch).unwrap_err().to_string();
    let rule = "it is a whole number of milliseconds, at most 10^15 s (31 million years) before \
        or after 1970";
    let half = seconds(1_767_225_600) + Duration::from_micros(500);
    assert_eq!(refused(half), format!("the epoch cannot be 2026-01-01T00:00:00.0005Z: {rule}"));
    let before_1970 = SystemTime::UNIX_EPOCH - Duration::from_millis(1_500) + INSTANT;
    let digits = if cfg!(windows) { "5000001" } else { "500000001" };
    assert_eq!(
        refused(before_1970),
        format!("the epoch cannot be 1969-12-31T23:59:58.{digits}Z: {rule}")
    );
    #[cfg(unix)]
    assert_eq!(
        refused(seconds(i64::MAX.unsigned_abs())),
        format!("the epoch cannot be Unix time 9223372036854775807: {rule}")
    );
}

/// Which layouts there are is the same everywhere. Where times end, a UID has a time or has none.
#[test]
fn a_layout_may_last_longer_than_the_times_of_the_platform() {
    let ms = Duration::from_millis(1);
    for (time, worker, sequence) in [(41, 10, 12), (61, 1, 1), (20, 22, 21)] {
        let layout = Layout::new(time, worker, sequence).unwrap();
        for layout in [layout, layout.with_order(FieldOrder::WorkerFirst)] {
            assert_eq!(layout.with_tick(ms).unwrap().with_tick(layout.tick()), Ok(layout));
            assert_eq!(layout.with_epoch(at_ms(1)).unwrap().epoch(), at_ms(1));
            let [first, last] =
                [0, layout.max_tick()].map(|tick| layout.compose(tick, 1, 1).unwrap());
            assert_eq!(layout.try_parts(first), Ok(layout.parts(first)));
            assert_eq!(layout.parts(first).time, layout.epoch());
            let parts = layout.parts(last);
            assert_eq!((parts.worker, parts.sequence), (1, 1));
            assert!(parts.time <= layout.expires_at() && layout.epoch() < parts.time);
            assert_eq!(layout.time_of(layout.max_tick()).is_some(), layout.try_parts(last).is_ok());
            if cfg!(unix) || time == 20 {
                assert_eq!(layout.try_parts(last), Ok(parts));
                assert_eq!(layout.time_of(layout.max_tick()), Some(parts.time));
            } else {
                let error = layout.try_parts(last).unwrap_err().to_string();
                let seconds = layout.max_tick() + 1_767_225_600;
                assert!(error.starts_with(&format!("the UID's time is {seconds} s from 1970")));
                assert_eq!(parts.time.checked_add(Duration::from_secs(1)), None);
            }
        }
    }
}

/// At both ends of the epochs and clocks that are allowed, and just beyond.
#[test]
fn true_time_a_uid_is_of_the_clocks_time_or_its_layout_or_clock_is_refused() {
    let times =
        [-FARTHEST_MS, -FARTHEST_MS + 1, -1, 0, 1_800_000_000_000, FARTHEST_MS - 1, FARTHEST_MS];
    for tick in [1, 10, 1000] {
        let layout = Layout::new(61, 1, 1).unwrap().with_tick(Duration::from_millis(tick)).unwrap();
        for epoch in times.iter().filter_map(|&ms| checked_at_ms(ms)) {
            let layout = layout.with_epoch(epoch).unwrap();
            for now in times.iter().filter_map(|&ms| checked_at_ms(ms)).filter(|&now| now >= epoch)
            {
                let uid = builder(layout, now).build().unwrap().take().unwrap();
                let time = layout.parts(uid).time;
                assert!(time <= now && now < time + layout.tick(), "{layout} at {now:?}: {time:?}");
            }
        }
    }
    for beyond in [-FARTHEST_MS - 1, -(1 << 52) * 1000, FARTHEST_MS + 1, i64::MIN, i64::MAX] {
        let Some(beyond) = checked_at_ms(beyond) else { continue };
        let layout = Layout::new(61, 1, 1).unwrap();
        assert_eq!(layout.with_epoch(beyond), Err(LayoutError::Epoch { epoch: beyond }));
        let refused = builder(layout, beyond).build().unwrap_err().to_string();
        assert!(
            refused.ends_with(
                "more than 10^15 s (31 million years) before or after 1970: set the clock"
            ),
            "{refused}"
        );
    }
}

#[test]
fn times_before_1970_are_told() {
    let layout = Layout::new(40, 10, 13).unwrap().with_epoch(at_ms(-1_500)).unwrap();
    assert_eq!(layout.to_string(), "40 | 10 | 13 in seconds from 1969-12-31T23:59:58.5Z");
    let uid = |tick| layout.compose(tick, 1, 1).unwrap();
    assert_eq!(
        [0, 1, 2].map(|tick| layout.parts(uid(tick)).time),
        [at_ms(-1500), at_ms(-500), at_ms(500)]
    );
    assert_eq!(layout.min_uid(at_ms(-501)), Some(Uid::MIN));
    assert_eq!(layout.min_uid(at_ms(-500)), layout.compose(1, 0, 0));
    assert_eq!(layout.max_uid(at_ms(-1501)), None);
}
