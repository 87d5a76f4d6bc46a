//! Spans of UIDs that a program claims to hand them out itself.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use uidring::clock::ManualClock;
use uidring::registry::FixedWorker;
use uidring::{Builder, ClaimedSpan, Layout, LeadLimit, TakeError, UidGenerator};

fn now() -> SystemTime {
    Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000)
}

fn builder() -> (Builder, ManualClock) {
    let clock = ManualClock::new(now());
    (UidGenerator::builder().registry(FixedWorker::new(1)).clock(clock.clone()), clock)
}

/// Whether the last UID of a span may still be given.
fn is_good(uids: &UidGenerator, span: ClaimedSpan) -> bool {
    span.end - 1 < uids.claims_end().load(Ordering::Relaxed)
}

#[test]
fn unique_and_ordered_spans_follow_all_that_was_taken_before() {
    let uids = builder().0.build().unwrap();
    let mut last = 0;
    for count in (0..3000).step_by(7) {
        let span = uids.try_claim(count).unwrap();
        assert!(last < span.first.get(), "{span:?} after {last}");
        assert!((1..=u64::from(count.max(1))).contains(&span.length), "{span:?} for {count}");
        assert!(is_good(&uids, span));
        let layout = uids.layout();
        let ends =
            [0, span.length - 1].map(|offset| (span.first.get() + offset).try_into().unwrap());
        let [from, to] = ends.map(|uid| layout.parts(uid));
        assert_eq!((from.time, from.worker), (to.time, to.worker), "they are of one tick");
        assert_eq!(from.sequence + span.length - 1, to.sequence);
        last = uids.take().unwrap().get();
        assert!(span.first.get() + span.length - 1 < last, "{last} after {span:?}");
    }
}

#[test]
fn nothing_wasted_by_spans() {
    let uids = builder().0.build().unwrap();
    let mut next = uids.take().unwrap().get() + 1;
    let layout = *uids.layout();
    for _ in 0..10_000 {
        let span = uids.try_claim(999).unwrap();
        let parts = layout.parts(span.first);
        assert!(next == span.first.get() || parts.sequence == 0, "{span:?}, not {next}");
        next = span.first.get() + span.length;
    }
    let status = uids.status();
    assert_eq!((status.lost, status.skipped), (0, 0), "{status}");
}

#[test]
fn true_time_a_span_expires_when_it_is_too_old_and_with_its_generator() {
    let (builder, clock) = builder();
    let uids = builder.build().unwrap();
    let span = uids.try_claim(100).unwrap();
    let wait_until_bad = |span| {
        while is_good(&uids, span) {
            std::thread::yield_now();
        }
    };
    clock.advance(Duration::from_secs(10));
    wait_until_bad(span);
    // Some are left of the tick before, until the window has moved.
    let later = uids.try_claim(100).unwrap();
    assert_eq!(span.end - later.end, 65_536);
    uids.clone().shutdown().unwrap();
    assert!(!is_good(&uids, later));
    assert_eq!(uids.try_claim(1), Err(TakeError::ShutDown));
}

#[test]
fn a_claim_that_would_have_to_wait_fails() {
    let (builder, _) = builder();
    let uids = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Wait).build().unwrap();
    let mut count = 0;
    let error = loop {
        match uids.try_claim(1000) {
            Ok(span) => count += span.length,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, TakeError::LeadLimit { .. }), "{error}");
    assert!((1..=2 * 8192).contains(&count), "{count} UIDs of a tick or two");
}

#[test]
fn in_exact_time_a_span_has_one_uid() {
    let uids = builder().0.exact_time().build().unwrap();
    let spans = [1000; 3].map(|count| uids.try_claim(count).unwrap());
    assert_eq!(spans.map(|span| span.length), [1; 3]);
    assert!(spans.is_sorted_by(|a, b| a.first < b.first));
}
