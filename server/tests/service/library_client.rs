//! The client in the library, `HttpSegments`, against this server.

use std::collections::HashSet;
use std::time::Duration;

use uidring::segment::{HttpSegments, Number, SegmentError, Segments, Tag};
use uidring::{SegmentFailure, TakeError};

use crate::common::{Server, folder};

fn address(server: &Server) -> String {
    format!("http://{}", server.address)
}

fn segments(source: HttpSegments) -> Segments {
    Segments::builder().source(source).max_wait(crate::common::FOREVER).build().unwrap()
}

/// One that asks `server` in the service's own way.
fn client(server: &Server) -> Segments {
    segments(HttpSegments::new([address(server)], ""))
}

fn fill(segments: &Segments, tag: &str, count: usize) -> Vec<u64> {
    let mut buffer = vec![Number::MIN; count];
    segments.tag(tag).unwrap().fill(&mut buffer).unwrap();
    buffer.iter().map(|number| number.get()).collect()
}

#[test]
fn numbers_are_dense_and_none_comes_twice() {
    let server = Server::start(&[]);
    let (one, other) = (client(&server), client(&server));
    one.create("orders", Tag::new().first(5).step(100).description("of the shop")).unwrap();
    assert_eq!(fill(&one, "orders", 10_000), (5..10_005).collect::<Vec<_>>());
    let others = fill(&other, "orders", 10_000);
    assert!(others[0] >= 10_005, "{}", others[0]);
    let all: HashSet<u64> = fill(&one, "orders", 10_000).into_iter().chain(others).collect();
    assert_eq!(all.len(), 20_000);

    let [record] = &other.tags().unwrap()[..] else { panic!("one tag") };
    assert_eq!((record.tag.as_str(), record.step, record.delta), ("orders", 100, 1));
    assert_eq!(record.description.as_deref(), Some("of the shop"));
    assert!(record.next >= 20_005 && record.updated.is_some(), "{record:?}");
}

#[test]
fn a_segment_tells_the_steps_of_its_row() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"step": 7, "max_step": 20}"#);
    let json = server.send("POST", "/v1/tags/orders/segments?size=12", &[], "").json();
    assert_eq!(
        json,
        serde_json::json!({
            "tag": "orders", "first": "1", "count": "12", "delta": "1", "step": "7",
            "max_step": "20",
        })
    );
}

#[test]
fn what_the_server_refuses_is_told_as_it_is() {
    let server = Server::start(&[]);
    let segments = client(&server);
    let error = segments.tag("nobody").unwrap_err();
    assert!(matches!(&error, SegmentError::NoSuchTag { tag, .. } if tag == "nobody"), "{error}");

    let last = Number::MAX.get();
    segments.create("short", Tag::new().first(last - 2)).unwrap();
    let short = segments.tag("short").unwrap();
    assert_eq!([(); 3].map(|()| short.take().unwrap().get()), [last - 2, last - 1, last]);
    let ran_out = TakeError::SegmentExhausted { cause: SegmentFailure::RanOut };
    assert_eq!(short.take(), Err(ran_out));

    segments.create("orders", Tag::new()).unwrap();
    fill(&segments, "orders", 10);
    let error = segments.create("orders", Tag::new().first(1_000_000)).unwrap_err();
    let SegmentError::Behind { next, first, .. } = error else { panic!("{error}") };
    assert!(next > 10 && next < first && first == 1_000_000, "{next}");
    let error = segments.create("orders", Tag::new().step(500)).unwrap_err();
    let SegmentError::Differs { field, there, asked, .. } = error else { panic!("{error}") };
    assert_eq!((field, there.as_deref(), &*asked), ("step", Some("1000"), "500"));
    let error = segments.create("orders", Tag::new().description("of all")).unwrap_err();
    assert!(error.to_string().contains("its description is not set"), "{error}");
}

#[test]
fn a_token_is_needed_where_the_server_wants_one() {
    let folder = folder();
    let tokens = "[[token]]\ntoken = \"of-the-orders-0123\"\ntags = [\"orders\"]\n";
    std::fs::write(folder.path().join("tokens.toml"), tokens).unwrap();
    let file = folder.path().join("ids.db");
    let own = uidring::segment::SqliteSegments::open(&file).unwrap();
    Segments::builder().source(own).build().unwrap().create("orders", Tag::new()).unwrap();
    let server = Server::start_on(folder, &["--tokens=tokens.toml"]);
    let with = |token| segments(HttpSegments::new([address(&server)], token));
    assert_eq!(fill(&with("of-the-orders-0123"), "orders", 3), [1, 2, 3]);
    for token in ["", "of-others-0123456"] {
        let error = with(token).tag("orders").unwrap_err().to_string();
        assert!(error.contains("refuses the token"), "{error}");
        assert!(token.is_empty() || !error.contains(token), "{error}");
    }
}

#[test]
fn another_server_is_asked_when_one_is_gone() {
    let one = Server::start(&[]);
    let file = format!("--db={}", one.file().display());
    let mut other = Server::start(&[&file]);
    let source = HttpSegments::new([address(&one), address(&other)], "");
    let segments = segments(source.with_timeout(Duration::from_secs(10)));
    segments.create("orders", Tag::new().step(10).max_step(10)).unwrap();
    let mut all: HashSet<u64> = fill(&segments, "orders", 500).into_iter().collect();
    other.kill();
    all.extend(fill(&segments, "orders", 500));
    assert_eq!(all.len(), 1000);
}
