//! What is there for tests of programs.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use uidring_bindings::{Close, Kind, Open, Parts, PastUids, Source, Uids};

/// 2026-11-30T12:00:00Z, worker 7, sequence 41 in the default layout.
const FIRST: u64 = 247_513_811_307_782_185;
const TIME: (&str, &str) = ("test_time", "2026-11-30T12:00:00Z");

#[test]
fn the_first_id_is_the_one_that_a_test_sets() {
    for _ in 0..2 {
        let uids = Uids::fixed(7, &[TIME, ("test_sequence", "41")]).unwrap();
        assert_eq!(uids.take().unwrap(), FIRST);
        assert_eq!(uids.take().unwrap(), FIRST + 1);
        let mut many = vec![0; 20_000];
        uids.fill(&mut many).unwrap();
        let next = (0..).map(|index| {
            // After 8,192 ids comes the next second.
            let sequence = 43 + index;
            FIRST - 41 + sequence % 8192 + ((sequence / 8192) << 33)
        });
        assert!(many.iter().copied().eq(next.take(20_000)));
        uids.close().unwrap();
    }
    let uids = Uids::fixed(9, &[TIME, ("preset", "twitter")]).unwrap();
    let parts = uids.parts(uids.take().unwrap()).unwrap();
    assert_eq!(parts, Parts { unix_ms: 1_796_040_000_000, worker: 9, sequence: 0 });
}

#[test]
fn what_a_clock_that_stands_still_cannot_do_is_refused() {
    for (options, said) in [
        (&[TIME, ("test_sequence", "8192")][..], "a sequence of 13 bits ends at 8191"),
        (&[TIME, ("exact_time", "true")], "leave out state and exact_time"),
        (&[TIME, ("state", "uidring.state")], "leave out state and exact_time"),
        (&[("test_sequence", "1")], "test_time"),
        (&[("only_for_tests", "true")], "are about a store"),
    ] {
        let error = Uids::fixed(7, options).unwrap_err();
        assert_eq!(error.kind, Kind::InvalidArgument);
        assert!(error.message.contains(said), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("uidring.db");
    let file = file.to_str().unwrap();
    for error in [Uids::open(file, &[TIME]).err(), PastUids::open(file, &[TIME]).err()] {
        assert!(error.unwrap().message.contains("a store would keep that time"));
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    // A file forgets nothing, so that it is all the same.
    Uids::open(file, &[("only_for_tests", "true")]).unwrap();
}

#[test]
fn a_server_that_may_forget_is_taken_in_the_address_of_each_client() {
    // Nothing listens there. What the address says was read before.
    for address in [
        "postgres://127.0.0.1:1/ids",
        "jdbc:postgresql://127.0.0.1:1/ids?loggerLevel=OFF",
        "mysql://127.0.0.1:1/ids",
        "jdbc:mariadb://127.0.0.1:1/ids",
        "redis://127.0.0.1:1",
        "etcd://127.0.0.1:1",
    ] {
        let options = [("only_for_tests", "true"), ("start_deadline", "0s"), ("timeout", "100ms")];
        let error = Uids::open(address, &options).unwrap_err();
        let is_known = !address.starts_with("etcd");
        let kind = if is_known { Kind::Unavailable } else { Kind::InvalidArgument };
        assert_eq!(error.kind, kind, "{address}: {error}");
        assert_eq!(error.message.contains("only_for_tests"), !is_known, "{address}: {error}");
    }
}
