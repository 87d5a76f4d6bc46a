//! Each cause for which nothing is given that the library knows, and one that nobody knows: what
//! the page, `/v1/status`, `/readyz`, `/metrics`, the alerts and the log say of it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod errors;
mod service;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use errors::{
    registry_errors, segment_errors, series_errors, storage_errors, variant_names, variants,
};
use service::{LEASE, SERIES, SNOWFLAKES, Service, TAG, UIDS};
use uidring::{Layout, Rule, TakeError};
use uidring_args::with_causes;

use crate::app::health::Observer;
use crate::app::series::SeriesFailure;
use crate::stats::trouble::{Cause, Trouble};

#[test]
fn no_cause_that_the_library_knows_is_left_out() {
    let source = include_str!("../../../src/registry/error.rs");
    let errors = registry_errors().into_iter().map(|fault| fault());
    assert_eq!(variant_names(errors), variants(source, "RegistryError"));
    let source = include_str!("../../../src/segment/error.rs");
    assert_eq!(variant_names(segment_errors()), variants(source, "SegmentError"));
    let source = include_str!("../../../src/backend/storage_error.rs");
    assert_eq!(variant_names(storage_errors()), variants(source, "StorageError"));
    // Of series, what a client does wrong and what the next request mends is no trouble.
    let source = include_str!("../../../src/series/error/mod.rs");
    let all = variants(source, "SeriesError");
    let of_clients = [
        "BadChange",
        "BadName",
        "BadRequest",
        "Changed",
        "Closed",
        "Definition",
        "Differs",
        "Format",
        "Full",
        "Gapless",
        "Loading",
        "NotClosable",
        "NotGapless",
        "OtherDatabase",
        "Scope",
    ];
    let of_clients: BTreeSet<String> = of_clients.map(str::to_owned).into();
    assert_eq!(&(&variant_names(series_errors()) | &of_clients), &all);
}

/// Tries each of these in a thread of its own, as a thread remembers the tags of its service.
/// Returns how many they are.
fn each<T: Send>(causes: Vec<T>, check: impl Fn(Service, T) + Sync) -> usize {
    let count = causes.len();
    thread::scope(|scope| {
        for cause in causes {
            scope.spawn(|| check(Service::start(), cause));
        }
    });
    count
}

/// Until the lease ends, UIDs are given from memory, and the views say until when; then none are.
#[test]
fn uids_that_end_are_told_everywhere_for_each_cause() {
    let count = each(registry_errors(), |mut service, fault| {
        assert_eq!(service.get("/v1/uids").0, 200);
        assert_eq!(service.json()["generators"][0]["state"], "ok");
        service.log_changes();
        let why = with_causes(&fault());
        *service.registry.0.lock().unwrap() = Some(fault);
        service.clock.advance(Duration::from_secs(LEASE * 3 / 5));
        let states = |service: &Service, state: &str| {
            let status = service.json();
            let generators = status["generators"].as_array().unwrap();
            generators.iter().all(|generator| generator["state"] == state)
        };
        service.wait_for("from memory", |service| states(service, "from-memory"));
        assert_eq!(service.get("/v1/uids").0, 200, "{why}");
        service.assert_told(UIDS, "from-memory", &why);
        assert!(service.json()["generators"][0]["lease_until"].is_string());
        assert_eq!(service.get("/readyz").0, 200);
        service.clock.advance(Duration::from_secs(LEASE));
        let spent = |service: &Service| service.get("/v1/uids?n=100000").0 != 200;
        service.wait_for("spent", spent);
        service.wait_for("empty", |service| states(service, "empty"));
        for thing in [UIDS, SNOWFLAKES] {
            service.observer = Observer::new();
            service.assert_told(thing, "empty", &why);
        }
        // Nothing else was asked for.
        let (code, refusal) = service.get("/readyz");
        assert_eq!(code, 503, "{refusal}");
        // As long as numbers are given that clients ask for, it is ready.
        assert_eq!(service.get("/v1/tags/orders/ids").0, 200);
        assert_eq!(service.get("/readyz").0, 200);
        service.assert_alerts(&["UidringNoUids"]);
        *service.registry.0.lock().unwrap() = None;
        service.wait_for("mended", |service| service.get("/v1/uids").0 == 200);
        service.wait_for("well", |service| service.json()["health"]["level"] == "ok");
    });
    assert!(count >= 20, "{count}");
}

/// A rule that does not hold ends the generators, whatever they have in memory.
#[test]
fn uids_that_a_broken_rule_ends_are_told_everywhere() {
    let mut service = Service::start();
    assert_eq!(service.get("/v1/uids").0, 200);
    service.log_changes();
    service.registry.forget();
    service.clock.advance(Duration::from_secs(LEASE * 3 / 5));
    service.wait_for("ended", |service| service.get("/v1/uids").0 == 500);
    let obstacle = |index| service.app.generators().nth(index).unwrap().1.status().obstacle;
    service.wait_for("both ended", |_| (0..2).all(|index| obstacle(index).is_some()));
    let why = obstacle(0).unwrap();
    assert_eq!(why, TakeError::BrokenRule { rule: Rule::ReservationKept });
    for thing in [UIDS, SNOWFLAKES] {
        service.observer = Observer::new();
        service.assert_told(thing, "empty", &why.to_string());
    }
    service.assert_alerts(&["UidringNoUids"]);
}

/// The clock is a cause that no registry tells.
#[test]
fn uids_that_the_clock_ends_are_told_everywhere() {
    let is_over: fn(TakeError) -> bool = |error| matches!(error, TakeError::TimeExhausted { .. });
    let is_back: fn(TakeError) -> bool = |error| matches!(error, TakeError::LeadLimit { .. });
    let causes = vec![
        (Layout::DEFAULT.expires_at(), is_over),
        (Layout::DEFAULT.epoch() + Duration::from_secs(1), is_back),
    ];
    each(causes, |mut service, (time, is_expected)| {
        assert_eq!(service.get("/v1/uids").0, 200);
        service.log_changes();
        service.clock.set(time);
        for (index, thing) in [UIDS, SNOWFLAKES].into_iter().enumerate() {
            let uids = |service: &Service| service.app.generators().nth(index).unwrap().1.clone();
            service.wait_for("spent", |service| {
                let _ = service.get("/v1/uids?n=100000");
                let obstacle = uids(service).status().obstacle;
                obstacle.is_some_and(is_expected)
            });
            let why = uids(&service).status().obstacle.unwrap();
            // How long it takes is counted in milliseconds.
            let why = match why {
                TakeError::LeadLimit { .. } => {
                    service.json()["generators"][index]["problem"].as_str().unwrap().to_owned()
                }
                why => why.to_string(),
            };
            service.observer = Observer::new();
            service.assert_told(thing, "empty", &why);
        }
        service.assert_alerts(&["UidringNoUids"]);
    });
}

#[test]
fn a_tag_that_ends_is_told_everywhere_for_each_cause() {
    let count = each(segment_errors(), |mut service, error| {
        assert_eq!(service.get("/v1/tags/orders/ids").0, 200);
        service.log_changes();
        let why = Trouble::of(&error).text;
        let state = |service: &Service| service.json()["tags"][0]["state"].clone();
        let is_of_row = Trouble::of(&error).cause == Cause::WentBack;
        let fault = error.clone();
        service.source.0.lock().unwrap().1 = Some(Arc::new(move || fault.clone()));
        let from_memory = if is_of_row { "went-back" } else { "from-memory" };
        service.wait_for("from memory", |service| {
            // Until the loader loads ahead.
            assert_eq!(service.get("/v1/tags/orders/ids").0, 200, "{why}");
            state(service) == from_memory
        });
        service.assert_told(TAG, from_memory, &why);
        assert_eq!(service.get("/readyz").0, 200);
        service.wait_for("spent", |service| service.get("/v1/tags/orders/ids").0 != 200);
        let empty = if is_of_row { "went-back" } else { "empty" };
        service.wait_for("empty", |service| state(service) == empty);
        service.observer = Observer::new();
        service.assert_told(TAG, empty, &why);
        // What is wrong with one row alone leaves the service ready.
        let is_of_row = Trouble::of(&error).cause.is_of_row();
        assert_eq!(service.get("/readyz").0, if is_of_row { 200 } else { 503 }, "{why}");
        let alert = if empty == "empty" { "UidringTagEmpty" } else { "UidringRowWentBack" };
        service.assert_alerts(&[alert]);
    });
    assert!(count >= 20, "{count}");
}

#[test]
fn a_series_that_gives_nothing_is_told_everywhere_for_each_cause() {
    let count = each(series_errors(), |mut service, error| {
        let used = service.app.series.find("invoices").unwrap();
        service.log_changes();
        let trouble = SeriesFailure::Error(error).trouble().unwrap();
        let why = trouble.text.clone();
        let state = if trouble.cause == Cause::WentBack { "went-back" } else { "empty" };
        service.app.watch.demand.client_asked();
        used.takes.record(0, Some(trouble));
        service.assert_told(SERIES, state, &why);
        service.assert_alerts(&["UidringSeriesFail"]);
    });
    assert!(count >= 30, "{count}");
}
