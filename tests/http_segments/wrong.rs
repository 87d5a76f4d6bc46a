//! Servers that answer wrongly, or not to the end.

use uidring::segment::SegmentSource;

use super::server::{answer, json, problem};
use super::*;

/// The error of a load from a server with this answer.
fn error(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> SegmentError {
    let server = Server::start(handler);
    let error = source(&server).with_timeout(SHORT).load("orders", Some(7)).unwrap_err();
    text::<()>(Err(error.clone()));
    error
}

/// Answers of tinyid that are no segment are no segment, and give no numbers.
#[test]
fn what_is_no_segment_of_tinyid_is_refused() {
    let huge = "9".repeat(400);
    let huge = format!("{huge},1,{huge},1,0");
    for (body, problem) in [
        ("1,2,30,1", "five numbers are expected, and it has 4"),
        ("1,2,30,1,0,7", "five numbers are expected, and it has 6"),
        ("1", "five numbers are expected, and it has 1"),
        ("1,2,30,1,", "its remainder is no whole number"),
        ("1,2,30,1,0 ", "its remainder is no whole number"),
        ("1, 2,30,1,0", "its loadingId is no whole number"),
        (" 1,2,30,1,0", "its currentId is no whole number"),
        ("1,2,30,1,0\n\n1", "its remainder is no whole number"),
        ("1,nonsense,30,1,0", "its loadingId is no whole number"),
        ("1,,30,1,0", "its loadingId is no whole number"),
        ("1,2,9223372036854775808,1,0", "its maxId is no whole number from -9223372036854775808"),
        (&huge, "its currentId is no whole number"),
        ("1,2,30,2147483648,0", "its delta is no whole number from -2147483648 to 2147483647"),
        ("+1,2,30,1,0", "its currentId is no whole number"),
        ("1e0,2,30,1,0", "its currentId is no whole number"),
        ("<html>please log in</html>", "five numbers are expected, and it has 1"),
        ("null", "five numbers are expected, and it has 1"),
        ("{\"code\":6}", "five numbers are expected, and it has 1"),
        ("-5,2,30,1,0", "a segment of it begins after -5, and numbers begin at 1"),
        ("30,2,29,1,0", "a segment of it ends at 29 and begins after 30; see its step"),
        ("30,2,30,1,0", "a segment of it ends at 30 and begins after 30; see its step"),
        ("1,2,30,0,0", "its delta is 0; set it to 1 or more"),
        ("1,2,30,-1,0", "its delta is -1; set it to 1 or more"),
        ("1,2,30,2,2", "its remainder is 2 and its delta 2, and no number leaves that remainder"),
        ("1,2,30,2,-1", "its remainder is -1 and its delta 2, and no number leaves that remainder"),
    ] {
        let body = body.to_owned();
        let reply = body.clone();
        let error =
            error(move |request| if request.is_tinyid() { ok(&reply) } else { not_found() });
        let said = with_causes(&error);
        assert!(said.contains(problem), "{body:?}: {said}");
        assert!(said.chars().count() < 600, "it is not endless: {said}");
        assert!(!error.is_transient(), "{body:?}: {error}");
    }
    for body in ["1,2,30,1,0\r\n", "1,2,30,1,0\n", "1,-9,30,1,0", "01,2,030,1,00"] {
        let server =
            Server::start(move |request| if request.is_tinyid() { ok(body) } else { not_found() });
        let segment = source(&server).load("orders", None).unwrap();
        assert_eq!((segment.first, segment.count), (2, 29), "{body:?}");
    }
}

#[test]
fn what_is_no_segment_of_the_service_is_refused() {
    for (body, problem) in [
        ("{", "its answer is not one of uidring-server's (200: {)"),
        ("{}", "its answer is not one of uidring-server's (200: {})"),
        (r#"{"first":"1","count":"10"}"#, "not one of uidring-server's (200: {\""),
        (r#"{"first":"0","count":"10","delta":"1"}"#, "the server gives 0 as its first"),
        (r#"{"first":"1","count":"-1","delta":"1"}"#, "not one of uidring-server's"),
        (r#"{"first":"1","count":"10","delta":0.5}"#, "not one of uidring-server's"),
        (
            r#"{"first":"9223372036854775807","count":"2","delta":"1"}"#,
            "2 numbers from 9223372036854775807 on, 1 apart, do not lie in 1..=9223372036854775807",
        ),
        (
            r#"{"tag":"invoices","first":"1","count":"2","delta":"1"}"#,
            "not one of uidring-server's",
        ),
    ] {
        let error = error(move |_| json("200 OK", body));
        let said = with_causes(&error);
        assert!(said.contains(problem), "{body:?}: {said}");
        assert!(!error.is_transient(), "{body:?}: {error}");
    }
}

#[test]
fn what_is_no_server_of_numbers_is_told() {
    let token = format!("Location: http://127.0.0.1:1/?token={TOKEN}\r\n");
    let echo = format!("bad token {TOKEN}\u{7}\r\n{}", "x".repeat(2000));
    for (reply, problem, is_transient) in [
        (
            answer("302 Found", &token, ""),
            "it answers with a redirect (302), which is not followed; give the address that it \
             leads to",
            false,
        ),
        (
            answer("307 Temporary Redirect", &token, ""),
            "it answers with a redirect (307), which is not followed",
            false,
        ),
        (
            answer("404 Not Found", "", "nothing here"),
            "it answers neither as uidring-server nor as tinyid (404: nothing here); see the \
             address",
            false,
        ),
        (answer("405 Method Not Allowed", "", ""), "nor as tinyid (405); see the address", false),
        (
            answer("401 Unauthorized", "", &echo),
            "it refuses the token (401: bad token (the token) xxxx",
            false,
        ),
        (ok("<html>hello</html>"), "it has 1", false),
        (answer("500 Internal Server Error", "", "oops"), "for now (500: oops)", true),
        (answer("503 Service Unavailable", "Retry-After: soon\r\n", ""), "for now (503)", true),
        (answer("429 Too Many Requests", "", ""), "does not serve this call for now (429)", true),
        (problem("502 Bad Gateway", "{}"), "for now (502: {})", true),
        (problem("404 Not Found", "{}"), "it refuses the call (404: {})", false),
        (problem("503 Service Unavailable", "oops"), "for now (503: oops)", true),
        (
            Reply::Silence(b"220 mail.example.com ESMTP\r\n".to_vec()),
            "what it answers is not HTTP",
            false,
        ),
        (Reply::Bytes(Vec::new()), "see that the server runs and can be reached from here", true),
        (
            Reply::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n1,2,30,1".to_vec()),
            "see that the server runs and can be reached from here",
            true,
        ),
        (
            Reply::Bytes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1,".to_vec()),
            "see that the server runs and can be reached from here",
            true,
        ),
        (Reply::Silence(Vec::new()), "it did not answer for", true),
        (Reply::Silence(b"HTTP/1.1 200 OK\r\n".to_vec()), "it did not answer for", true),
        (
            Reply::Silence(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n1,2,30,".to_vec()),
            "it did not answer for",
            true,
        ),
        (
            Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), b"1,2,30,1,0".repeat(5000)),
            "its answer has more than 65536 bytes; see the address",
            false,
        ),
        (
            Reply::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-More: and more\r\n".repeat(500)),
            "what it answers is not HTTP",
            false,
        ),
        (
            Reply::Endless(b"HTTP/1.1 200 OK\r\nX-Long: ".to_vec(), b"and more".repeat(500)),
            "what it answers is not HTTP",
            false,
        ),
    ] {
        let error = error(move |_| match &reply {
            Reply::Bytes(bytes) => Reply::Bytes(bytes.clone()),
            Reply::Endless(head, rest) => Reply::Endless(head.clone(), rest.clone()),
            Reply::Silence(bytes) => Reply::Silence(bytes.clone()),
        });
        let said = with_causes(&error);
        assert!(said.contains(problem), "{problem:?} is expected: {said}");
        assert!(said.chars().count() < 500 && !said.contains('\u{7}'), "{said}");
        assert_eq!(error.is_transient(), is_transient, "{said}");
    }
}
