//! The requests of both protocols, and the meaning of correct answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use uidring::segment::{Segment, SegmentSource, Segments, Tag};

use super::server::{json, problem};
use super::*;

fn numbers(segment: &Segment) -> (u64, u64, u64) {
    (segment.first, segment.count, segment.delta)
}

#[test]
fn a_server_of_tinyid_is_found_out_and_then_asked_as_such_alone() {
    let server = Server::start(tinyid(1, 100, 2, 1));
    let source = source(&server);
    let segment = source.load("orders", None).unwrap();
    assert_eq!(numbers(&segment), (3, 50, 2));
    assert_eq!((segment.row_end, segment.database), (101, 1));
    assert_eq!((segment.step, segment.max_step), (50, Some(50)));
    // It gives its step, whatever is wished.
    assert_eq!(numbers(&source.load("orders", Some(1000)).unwrap()), (103, 50, 2));
    let ask = format!("POST /tinyid/id/nextSegmentIdSimple?token={TOKEN}&bizType=orders");
    assert_eq!(server.lines(), ["POST /v1/tags/orders/segments", &ask, &ask]);
    let requests = server.requests();
    let has = |index: usize, header: &str| requests[index].headers.iter().any(|h| h == header);
    assert!(has(1, "content-length: 0"), "{:?}", requests[1]);
    assert!(!requests[1].headers.iter().any(|header| header.contains(TOKEN)), "once is enough");
}

#[test]
fn a_server_that_is_said_to_be_tinyids_is_asked_in_no_other_way() {
    let server = Server::start(tinyid(0, 10, 1, 0));
    let source = source(&server).tinyid();
    assert_eq!(numbers(&source.load("orders", None).unwrap()), (1, 10, 1));
    assert_eq!(server.lines().len(), 1);
    for error in [text(source.tags()), text(source.create("orders", &Tag::new()))] {
        assert!(error.contains("servers of tinyid"), "{error}");
        assert!(error.ends_with("`uidring tags` with --table tinyid does"), "{error}");
    }
    assert!(!source.give_back("orders", &source.load("orders", None).unwrap()).unwrap());
    assert_eq!(server.lines().len(), 2);
}

/// The token is in no query, whatever answers.
#[test]
fn a_server_that_is_said_to_be_a_service_is_asked_in_no_other_way() {
    let server = Server::start(tinyid(0, 10, 1, 0));
    let source = source(&server).service();
    for error in [text(source.load("orders", None)), text(source.tags())] {
        assert!(error.contains("see what has answered in its place"), "{error}");
    }
    assert!(!server.lines().iter().any(|line| line.contains(TOKEN)), "{:?}", server.lines());
}

#[test]
fn a_service_gets_the_wish_and_the_token_in_a_header() {
    let server = Server::start(|_| json("200 OK", SEGMENT));
    let source = source(&server);
    for count in [None, Some(5000), Some(0), Some(u64::MAX)] {
        assert_eq!(numbers(&source.load("orders", count).unwrap()), (1001, 1000, 1));
    }
    let path = "POST /v1/tags/orders/segments";
    assert_eq!(
        server.lines(),
        ["", "?size=5000", "?size=1", "?size=1000000000"].map(|query| format!("{path}{query}"))
    );
    for request in server.requests() {
        assert!(request.headers.contains(&format!("authorization: Bearer {TOKEN}")), "{request:?}");
    }
    // Without a token there is no header.
    HttpSegments::new([server.url()], "").load("orders", None).unwrap();
    let last = server.requests().pop().unwrap();
    assert!(!last.headers.iter().any(|header| header.starts_with("authorization")), "{last:?}");
}

/// A proxy answers in its place for a while. Its token goes into no address.
#[test]
fn a_service_is_not_taken_for_tinyids_server_later() {
    let is_away = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&is_away);
    let server = Server::start(move |request| match answers.load(Ordering::Relaxed) {
        false => json("200 OK", SEGMENT),
        true if request.is_tinyid() => ok("1,2,30,1,0"),
        true => not_found(),
    });
    let source = source(&server);
    source.load("orders", None).unwrap();
    is_away.store(true, Ordering::Relaxed);
    let error = text(source.load("orders", None));
    assert!(error.contains("see what has answered in its place"), "{error}");
    assert!(source.tags().is_err());
    assert!(!server.lines().iter().any(|line| line.contains("tinyid")), "{:?}", server.lines());
    is_away.store(false, Ordering::Relaxed);
    source.load("orders", None).unwrap();
}

/// Some proxies refuse a path with an encoded slash, and the service has tinyid's paths, too.
#[test]
fn a_tag_that_a_proxy_refuses_says_nothing_of_the_others() {
    let server = Server::start(|request| match &*request.line {
        line if line.contains("%2Fb/segments") => not_found(),
        _ if request.is_tinyid() => ok("1,2,30,1,0"),
        _ => json("200 OK", SEGMENT),
    });
    let source = source(&server);
    assert_eq!(numbers(&source.load("a/b", None).unwrap()), (2, 29, 1));
    assert_eq!(numbers(&source.load("orders", None).unwrap()), (1001, 1000, 1));
}

#[test]
fn tags_tokens_and_paths_are_encoded() {
    let server = Server::start(tinyid(0, 10, 1, 0));
    let url = server.url() + "/below/";
    let source = HttpSegments::new([url], "s&e=c r/et");
    text(source.load("a b/c?\u{e9}&x=#%", None));
    let tag = "a%20b%2Fc%3F%C3%A9%26x%3D%23%25";
    assert_eq!(
        server.lines(),
        [
            format!("POST /below/v1/tags/{tag}/segments"),
            format!(
                "POST /below/tinyid/id/nextSegmentIdSimple?token=s%26e%3Dc%20r%2Fet&bizType={tag}"
            ),
        ]
    );
}

#[test]
fn segments_of_tinyid_without_a_number_are_passed_over() {
    // Every third number, and a step of one.
    let server = Server::start(tinyid(0, 1, 3, 2));
    let source = source(&server).tinyid();
    for first in [2, 5, 8] {
        assert_eq!(numbers(&source.load("orders", None).unwrap()), (first, 1, 3));
    }
    let server = Server::start(tinyid(0, 1, 1000, 999));
    let error = text(super::source(&server).load("orders", None));
    assert!(error.ends_with("far below its delta; set a larger step"), "{error}");
}

#[test]
fn why_tinyid_answers_with_nothing_is_asked() {
    for (reason, expected) in [
        (
            r#"{"data":null,"code":5,"message":"token is error"}"#,
            "cannot use the tags in {}: it refuses the token (code 5: token is error); give it one \
             that may use the tag \"orders\"",
        ),
        (
            r#"{"data":null,"code":6,"message":"can not find biztype:orders"}"#,
            "{} has no tag \"orders\"; create it first, and if it was there before, with a first \
             number above all that were given",
        ),
        (
            r#"{"data":null,"code":6,"message":"get next segmentId conflict"}"#,
            "cannot reach the tags in {}: it has no segment for now (code 6: get next segmentId \
             conflict); see its log",
        ),
        (
            "",
            "cannot reach the tags in {}: it answers with nothing, as tinyid does if it refuses \
             the token or the tag, or cannot reach its database; see its log",
        ),
    ] {
        let server = Server::start(move |request| {
            let is_long = request.line.starts_with("POST /tinyid/id/nextSegmentId?");
            if is_long { json("200 OK", reason) } else { ok("") }
        });
        let error = source(&server).tinyid().load("orders", None);
        assert_eq!(text(error), expected.replace("{}", &server.url()));
    }
    // Meanwhile it may have one.
    let found = r#"{"data":{"maxId":20,"loadingId":12,"currentId":10,"delta":1,"remainder":0},
                    "code":200,"message":""}"#;
    let server = Server::start(
        move |request| {
            if request.is_tinyid() { ok("") } else { json("200 OK", found) }
        },
    );
    let segment = source(&server).tinyid().load("orders", None).unwrap();
    assert_eq!(numbers(&segment), (11, 10, 1));
}

#[test]
fn tags_are_created_and_listed_by_a_service() {
    let record = r#"{"tag":"orders","next":"5000","step":"70","max_step":"900","delta":"1",
                     "description":"of the \"shop\"","updated":"2026-01-02T03:04:05Z"}"#;
    let server = Server::start(move |request| match request.line.as_str() {
        "GET /v1/tags" => json("200 OK", &format!("{{\"tags\":[{record}]}}")),
        _ => json("201 Created", record),
    });
    let source = source(&server);
    let new = Tag::new().first(5000).step(70).max_step(900).description("of the \"shop\"");
    let created = source.create("orders", &new).unwrap();
    assert_eq!((created.next, created.step, created.max_step), (5000, 70, Some(900)));
    assert_eq!(source.tags().unwrap(), [created]);
    let request = &server.requests()[0];
    assert_eq!(request.line, "PUT /v1/tags/orders");
    assert!(request.headers.contains(&"content-type: application/json".to_owned()));
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    let expected = serde_json::json!({
        "first": "5000", "step": "70", "max_step": "900", "description": "of the \"shop\"",
    });
    assert_eq!(body, expected);
}

#[test]
fn what_a_service_refuses_is_told() {
    for (status, kind, more, expected) in [
        (
            "404 Not Found",
            "no-such-tag",
            r#""detail":"create it with PUT /v1/tags/TAG""#,
            "{} has no tag \"orders\"; create it first, and if it was there before, with a first \
             number above all that were given",
        ),
        (
            "400 Bad Request",
            "bad-tag",
            r#""detail":"a tag has 1 to 63 characters""#,
            "{} has no tag \"orders\"; create it first, and if it was there before, with a first \
             number above all that were given",
        ),
        (
            "401 Unauthorized",
            "unknown-token",
            r#""title":"the token is not known""#,
            "cannot use the tags in {}: it refuses the token (401: the token is not known); give \
             it one that may use the tag \"orders\"",
        ),
        (
            "403 Forbidden",
            "not-allowed",
            r#""detail":"this token may not use orders""#,
            "cannot use the tags in {}: it refuses the token (403: this token may not use \
             orders); give it one that may use the tag \"orders\"",
        ),
        (
            "410 Gone",
            "ran-out",
            r#""title":"ran out","last":"900""#,
            "the tag \"orders\" in {} has no numbers left: 900 was the last; go on with another \
             tag",
        ),
        (
            "500 Internal Server Error",
            "no-ids-any-more",
            r#""detail":"the row of the tag cannot be used""#,
            "cannot use the tags in {}: it gives none any more (500: the row of the tag cannot be \
             used)",
        ),
        (
            "503 Service Unavailable",
            "not-ready",
            r#""detail":"the database has not answered yet""#,
            "cannot reach the tags in {}: it does not serve this call for now (503: the database \
             has not answered yet)",
        ),
        (
            "404 Not Found",
            "no-such-path",
            r#""title":"there is no such path""#,
            "cannot use the tags in {}: it does not know what is asked (404: there is no such \
             path); see the address",
        ),
        (
            "400 Bad Request",
            "bad-size",
            r#""title":"a segment cannot have this size""#,
            "cannot use the tags in {}: it refuses the call (400: a segment cannot have this size)",
        ),
    ] {
        let body = format!("{{\"type\":\"urn:uidring:problem:{kind}\",{more}}}");
        let server = Server::start(move |_| problem(status, &body));
        let error = source(&server).load("orders", None);
        assert_eq!(text(error), expected.replace("{}", &server.url()));
        assert_eq!(server.lines().len(), 1, "that is its answer");
    }
}

#[test]
fn why_a_service_creates_no_tag_is_told() {
    let behind = r#"{"type":"urn:uidring:problem:behind","value":"9""#;
    let record = r#"{"tag":"orders","next":"7","step":"10","delta":"1"}"#;
    for behind in [format!("{behind},\"next\":\"7\"}}"), format!("{behind}}}")] {
        // What the answer does not tell is in the list.
        let server = Server::start(move |request| match request.line.as_str() {
            "GET /v1/tags" => json("200 OK", &format!("{{\"tags\":[{record}]}}")),
            _ => problem("409 Conflict", &behind),
        });
        assert_eq!(
            text(source(&server).create("orders", &Tag::new().first(9))),
            format!(
                "{} has the tag \"orders\" already, and its next number is 7, below the first one \
                 asked for, 9; use it as it is, or set its next number",
                server.url()
            )
        );
    }
    let bad = r#"{"type":"urn:uidring:problem:bad-tag","detail":"it is bad"}"#;
    let server = Server::start(move |_| problem("400 Bad Request", bad));
    assert_eq!(
        text(source(&server).create("orders", &Tag::new())),
        "the tag \"orders\" cannot be used: it is bad"
    );
    assert!(text(source(&server).create("", &Tag::new())).ends_with("it has no characters"));
    assert!(text(source(&server).load("", None)).contains("has no tag \"\""));
}

#[test]
fn a_tag_that_is_not_the_one_asked_for_is_not_taken_as_created() {
    for (record, expected) in [
        (r#"{"tag":"orders","next":"7","step":"9","delta":"1"}"#, "its next number is 7, below"),
        (r#"{"tag":"others","next":"9","step":"9","delta":"1"}"#, "is not one of uidring-server's"),
        (r#"{"tag":"orders","next":"0","step":"9","delta":"1"}"#, "is not one of uidring-server's"),
    ] {
        let server = Server::start(move |_| json("201 Created", record));
        let error = text(source(&server).create("orders", &Tag::new().first(9)));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn takes_go_on_through_many_segments() {
    let server = Server::start(tinyid(0, 100, 1, 0));
    let segments = Segments::builder().source(source(&server)).build().unwrap();
    let tag = segments.tag("orders").unwrap();
    for expected in 1..=5000 {
        assert_eq!(tag.take().unwrap().get(), expected);
    }
    segments.shutdown().unwrap();
}

#[test]
fn addresses_and_tokens_that_cannot_be_are_refused() {
    for (servers, token, expected) in [
        (
            vec!["a:9999"],
            TOKEN,
            "cannot use the tags in (an address): it is not an address such as \
             http://ids.example.com:9999",
        ),
        (
            vec!["http://a", "http://me:secret@b"],
            TOKEN,
            "cannot use the tags in http://a, (an address): it names a user; give the token \
             beside the addresses",
        ),
        (
            vec!["http://a"],
            "a\nb",
            "cannot use the tags in http://a: the token has characters that no header can hold; \
             give it without spaces at its ends and without line breaks",
        ),
        (
            vec![],
            TOKEN,
            "cannot use the tags in no server: HttpSegments was given none; give it one or more",
        ),
    ] {
        let source = HttpSegments::new(servers, token);
        assert_eq!(text(source.load("orders", None)), expected);
    }
    let shown = format!("{:?}", HttpSegments::new(["http://me:secret@a", "http://b"], TOKEN));
    assert_eq!(shown, "HttpSegments(\"(an address), http://b\")");
    let nowhere = HttpSegments::new(["http://no-such-host.invalid:9999"], TOKEN);
    let error = text(nowhere.load("orders", None));
    assert!(error.contains("see that the server runs and can be reached from here"), "{error}");
}

/// Proxies and clients take the parts `.` and `..` out of a path, also where they are encoded.
#[test]
fn a_tag_that_means_a_folder_in_a_path_is_refused_and_tinyid_has_it_in_the_query() {
    let server = Server::start(|_| json("200 OK", SEGMENT));
    for tag in [".", ".."] {
        let problem =
            format!("the tag {tag:?} cannot be used: in an address its name means a folder");
        for error in
            [text(source(&server).load(tag, None)), text(source(&server).create(tag, &Tag::new()))]
        {
            assert!(error.starts_with(&problem), "{error}");
        }
    }
    assert!(server.lines().is_empty(), "nothing is asked: {:?}", server.lines());
    let server = Server::start(tinyid(0, 10, 1, 0));
    let segment = source(&server).tinyid().load("..", None).unwrap();
    assert_eq!(numbers(&segment), (1, 10, 1));
    let ask = format!("POST /tinyid/id/nextSegmentIdSimple?token={TOKEN}&bizType=..");
    assert_eq!(server.lines(), [ask]);
}

/// A service that knows no other answer says that all is well.
#[test]
fn a_tag_that_is_there_with_another_step_is_refused_whatever_the_service_says() {
    let row = r#"{"tag":"orders","next":"1","step":"20","delta":"1","max_step":null}"#;
    let server = Server::start(|_| json("200 OK", row));
    let source = source(&server);
    assert_eq!(source.create("orders", &Tag::new()).unwrap().step, 20);
    let error = text(source.create("orders", &Tag::new().step(30)));
    assert!(error.contains("its step is 20, and 30 was asked for"), "{error}");
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [r#"{"first":"1"}"#, r#"{"first":"1","step":"30"}"#]);
}
