//! Several servers, of which some are away.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use uidring::segment::{SegmentSource, Segments};
use uidring::{SegmentFailure, TakeError};

use super::server::{answer, json};
use super::*;

/// Two servers of tinyid on one database.
fn pair() -> [Server; 2] {
    let row = Arc::new(Row(AtomicU64::new(0), 10, 1, 0));
    [Arc::clone(&row), row].map(|row| Server::start(move |_| ok(&row.next())))
}

fn of(servers: &[Server]) -> HttpSegments {
    HttpSegments::new(servers.iter().map(Server::url), TOKEN).tinyid()
}

#[test]
fn servers_are_asked_by_turns() {
    let servers = pair();
    let source = of(&servers);
    let firsts: Vec<u64> = (0..6).map(|_| source.load("orders", None).unwrap().first).collect();
    assert_eq!(firsts, [1, 11, 21, 31, 41, 51]);
    assert_eq!(servers.map(|server| server.lines().len()), [3, 3]);
}

#[test]
fn another_is_asked_when_one_is_away_and_it_is_left_out() {
    let gone = Server::start(|_| ok("")).url();
    for what in ["gone", "silent", "failing", "redirecting"] {
        let bad = Server::start(move |_| match what {
            "silent" => Reply::Silence(Vec::new()),
            "failing" => answer("500 Internal Server Error", "", ""),
            _ => answer("302 Found", "Location: /\r\n", ""),
        });
        let good = Server::start(tinyid(0, 10, 1, 0));
        let away = if what == "gone" { gone.clone() } else { bad.url() };
        let source = HttpSegments::new([away, good.url()], TOKEN).tinyid().with_timeout(SHORT * 2);
        for load in 0..6 {
            let segment = source.load("orders", None).unwrap();
            assert_eq!(segment.first, load * 10 + 1, "{what}");
        }
        assert_eq!(good.lines().len(), 6, "{what}");
    }
}

#[test]
fn a_server_is_left_alone_for_as_long_as_it_asks() {
    let busy = Server::start(|_| answer("503 Service Unavailable", "Retry-After: 60\r\n", ""));
    let good = Server::start(tinyid(0, 10, 1, 0));
    let source = HttpSegments::new([busy.url(), good.url()], TOKEN).tinyid();
    for load in 0..10 {
        source.load("orders", None).unwrap();
        if load == 5 {
            // One that does not say for how long is asked again after a second.
            thread::sleep(Duration::from_millis(1200));
        }
    }
    assert_eq!((busy.lines().len(), good.lines().len()), (1, 10));
    // If there is no other, it is asked all the same.
    let source = HttpSegments::new([busy.url()], TOKEN).tinyid();
    for _ in 0..3 {
        text(source.load("orders", None));
    }
    assert_eq!(busy.lines().len(), 4);
}

#[test]
fn what_all_would_say_is_asked_of_one() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let servers = [0, 1].map(|_| Server::start(move |_| answer(status, "", "no")));
        let error = text(of(&servers).load("orders", None));
        assert!(error.contains("it refuses the token"), "{error}");
        assert_eq!(servers.iter().map(|server| server.lines().len()).sum::<usize>(), 1);
    }
    let servers = [0, 1].map(|_| Server::start(|_| ok("1,2,30,0,0")));
    let error = text(of(&servers).load("orders", None));
    assert!(error.contains("its delta is 0"), "{error}");
    assert_eq!(servers.iter().map(|server| server.lines().len()).sum::<usize>(), 1);
}

/// One that answers in JSON, and is no server of numbers.
#[test]
fn another_is_asked_where_one_is_no_server_of_numbers() {
    for body in ["{\"status\":\"ok\"}", "{\"tag\":\"b\",\"first\":1,\"count\":9,\"delta\":1}"] {
        let servers = [
            Server::start(move |_| json("200 OK", body)),
            Server::start(|_| json("200 OK", SEGMENT)),
        ];
        let source = HttpSegments::new(servers.iter().map(Server::url), TOKEN);
        for _ in 0..4 {
            assert_eq!(source.load("orders", None).unwrap().first, 1001);
        }
    }
}

#[test]
fn no_time_limit_is_too_long() {
    let server = Server::start(|_| json("200 OK", SEGMENT));
    let source = source(&server).with_timeout(Duration::MAX);
    assert_eq!(source.load("orders", None).unwrap().first, 1001);
}

#[test]
fn what_is_transient_is_told_before_what_is_not() {
    for turn in 0..2 {
        let lost = Server::start(|_| not_found());
        let busy = Server::start(|_| answer("503 Service Unavailable", "", ""));
        let mut urls = [lost.url(), busy.url()];
        urls.rotate_left(turn);
        let error = HttpSegments::new(urls, TOKEN).load("orders", None).unwrap_err();
        assert!(error.is_transient(), "{error}");
    }
}

#[test]
fn databases_behind_the_servers_are_told_apart_by_the_remainder() {
    let servers = [Server::start(tinyid(0, 20, 2, 0)), Server::start(tinyid(1000, 20, 2, 1))];
    let segments = Segments::builder().source(of(&servers)).build().unwrap();
    let tag = segments.tag("orders").unwrap();
    let all: BTreeSet<u64> = (0..500).map(|_| tag.take().unwrap().get()).collect();
    assert_eq!(all.len(), 500, "none came twice");
    for remainder in [0, 1] {
        assert!(all.iter().any(|number| number % 2 == remainder), "from both databases");
    }
    assert_eq!(tag.status().failures, 0);
}

/// Each counts by itself, so that both would give the same numbers.
#[test]
fn servers_that_share_no_database_are_found_out() {
    for begin in [0, 1_000_000] {
        let servers = [Server::start(tinyid(0, 10, 1, 0)), Server::start(tinyid(begin, 10, 1, 0))];
        let segments = Segments::builder().source(of(&servers)).build().unwrap();
        let tag = segments.tag("orders").unwrap();
        let mut all = BTreeSet::new();
        let error = loop {
            match tag.take() {
                Ok(id) => assert!(all.insert(id), "{id} came twice"),
                Err(error) => break error,
            }
        };
        assert_eq!(error, TakeError::SegmentExhausted { cause: SegmentFailure::WentBack });
        assert!(all.len() <= 20, "{begin}: {} were taken", all.len());
    }
}

#[test]
fn takes_fail_while_all_are_away_and_go_on_when_one_is_back() {
    let row = Arc::new(Row(AtomicU64::new(0), 10, 1, 0));
    let handler = |row: &Arc<Row>| {
        let row = Arc::clone(row);
        move |_: &Request| ok(&row.next())
    };
    let server = Server::start(handler(&row));
    let address = server.address();
    let source = of(std::slice::from_ref(&server)).with_timeout(SHORT);
    let builder = Segments::builder().source(source).max_wait(SHORT);
    let segments = builder.build().unwrap();
    let tag = segments.tag("orders").unwrap();
    assert_eq!(tag.take().unwrap().get(), 1);
    drop(server);
    let mut last = 1;
    let error = loop {
        match tag.take() {
            Ok(id) => {
                assert!(id.get() > last);
                last = id.get();
            }
            Err(error) => break error,
        }
    };
    assert_eq!(error, TakeError::SegmentExhausted { cause: SegmentFailure::Unreachable });
    let _back = Server::start_at(address, handler(&row));
    let next = loop {
        match tag.take() {
            Ok(id) => break id.get(),
            Err(error) => {
                let away = TakeError::SegmentExhausted { cause: SegmentFailure::Unreachable };
                assert_eq!(error, away, "it goes on by itself");
            }
        }
    };
    assert!(next > last, "{next} after {last}");
}
