//! Requests that are wrong, each with its status and what it is told.

use crate::common::{Answer, Server, request};

/// One wrong request: method, path, headers, body; then the status, the kind of problem, and the
/// value that was wrong.
type Case<'a> = (&'a str, &'a str, &'a [&'a str], &'a str, u16, &'a str, Option<&'a str>);

const JSON: &[&str] = &["content-type: application/json"];

#[rustfmt::skip] // one a line, as far as that goes
const CASES: &[Case<'_>] = &[
    // Paths.
    ("GET", "/nope", &[], "", 404, "no-such-path", Some("/nope")),
    ("GET", "//", &[], "", 404, "no-such-path", Some("//")),
    ("GET", "/v1", &[], "", 404, "no-such-path", Some("/v1")),
    ("GET", "/v1/", &[], "", 404, "no-such-path", Some("/v1/")),
    ("GET", "/v1/uids/", &[], "", 404, "no-such-path", Some("/v1/uids/")),
    ("GET", "/v1/uids/1/2", &[], "", 404, "no-such-path", Some("/v1/uids/1/2")),
    ("GET", "/V1/uids", &[], "", 404, "no-such-path", Some("/V1/uids")),
    ("GET", "/v1/tags/../uids", &[], "", 404, "no-such-path", Some("/v1/tags/../uids")),
    ("GET", "/v1%2Fuids", &[], "", 404, "no-such-path", Some("/v1%2Fuids")),
    ("GET", "/nope?token=secret", &[], "", 404, "no-such-path", Some("/nope")),
    // Methods.
    ("POST", "/v1/uids", &[], "", 415, "no-such-type", Some("")),
    ("POST", "/v1/uids", JSON, "{}", 400, "bad-body", None),
    ("POST", "/v1/uids", JSON, r#"{"times":[]}"#, 400, "bad-count", Some("0")),
    ("POST", "/v1/uids", JSON, r#"{"times":["noon"]}"#, 400, "bad-time", Some("noon")),
    ("POST", "/v1/uids", JSON, r#"{"times":["2020-01-01"]}"#, 400, "no-id-of-time", None),
    ("POST", "/v1/uids", JSON, r#"{"times":["9999-01-01"]}"#, 400, "no-id-of-time", None),
    ("PUT", "/v1/uids", &[], "", 405, "no-such-method", Some("PUT")),
    ("DELETE", "/v1/uids/1", &[], "", 405, "no-such-method", Some("DELETE")),
    ("PATCH", "/v1/tags/orders", JSON, "{}", 405, "no-such-method", Some("PATCH")),
    ("GET", "/v1/tags/orders", &[], "", 405, "no-such-method", Some("GET")),
    ("DELETE", "/v1/tags/orders", &[], "", 405, "no-such-method", Some("DELETE")),
    ("GET", "/v1/tags/orders/segments", &[], "", 405, "no-such-method", Some("GET")),
    ("POST", "/v1/tags/orders/ids", &[], "", 405, "no-such-method", Some("POST")),
    ("POST", "/v1/tags", JSON, "{}", 405, "no-such-method", Some("POST")),
    ("OPTIONS", "/v1/uids", &[], "", 405, "no-such-method", Some("OPTIONS")),
    ("TRACE", "/v1/uids", &[], "", 405, "no-such-method", Some("TRACE")),
    ("get", "/v1/uids", &[], "", 405, "no-such-method", Some("get")),
    ("POST", "/livez", &[], "", 405, "no-such-method", Some("POST")),
    ("POST", "/readyz", &[], "", 405, "no-such-method", Some("POST")),
    // Counts.
    ("GET", "/v1/uids?n=0", &[], "", 400, "bad-count", Some("0")),
    ("GET", "/v1/uids?n=-1", &[], "", 400, "bad-count", Some("-1")),
    ("GET", "/v1/uids?n=100001", &[], "", 400, "bad-count", Some("100001")),
    ("GET", "/v1/uids?n=18446744073709551616", &[], "",
        400, "bad-count", Some("18446744073709551616")),
    ("GET", "/v1/uids?n=1.5", &[], "", 400, "bad-count", Some("1.5")),
    ("GET", "/v1/uids?n=1e3", &[], "", 400, "bad-count", Some("1e3")),
    ("GET", "/v1/uids?n=0x10", &[], "", 400, "bad-count", Some("0x10")),
    ("GET", "/v1/uids?n=%2B1", &[], "", 400, "bad-count", Some("+1")),
    ("GET", "/v1/uids?n=%20" , &[], "", 400, "bad-count", Some(" ")),
    ("GET", "/v1/uids?n=%D9%A3", &[], "", 400, "bad-count", Some("٣")),
    ("GET", "/v1/uids?n=%FF", &[], "", 400, "bad-count", Some("\u{fffd}")),
    ("GET", "/v1/uids?n=", &[], "", 400, "bad-count", Some("")),
    ("GET", "/v1/uids?n", &[], "", 400, "bad-count", Some("")),
    ("GET", "/v1/uids?count=3", &[], "", 400, "no-such-parameter", Some("count")),
    ("GET", "/v1/uids?N=3", &[], "", 400, "no-such-parameter", Some("N")),
    ("GET", "/v1/uids?n=3&x=1", &[], "", 400, "no-such-parameter", Some("x")),
    ("GET", "/v1/uids?n=3&n=3", &[], "", 400, "parameter-twice", Some("n")),
    ("GET", "/v1/uids?n=3&token=x", &[], "", 400, "no-such-parameter", Some("token")),
    ("GET", "/v1/tags/orders/ids?n=0", &[], "", 400, "bad-count", Some("0")),
    ("GET", "/v1/tags/orders/ids?n=100001", &[], "", 400, "bad-count", Some("100001")),
    ("POST", "/v1/tags/orders/segments?size=0", &[], "", 400, "bad-size", Some("0")),
    ("POST", "/v1/tags/orders/segments?size=1000000001", &[], "",
        400, "bad-size", Some("1000000001")),
    ("POST", "/v1/tags/orders/segments?size=x", &[], "", 400, "bad-size", Some("x")),
    ("POST", "/v1/tags/orders/segments?size=1&size=2", &[], "",
        400, "parameter-twice", Some("size")),
    ("POST", "/v1/tags/orders/segments?n=1", &[], "", 400, "no-such-parameter", Some("n")),
    ("GET", "/v1/status?limit=0", &[], "", 400, "bad-parameter", Some("0")),
    ("GET", "/v1/status?limit=5001", &[], "", 400, "bad-parameter", Some("5001")),
    ("GET", "/v1/status?offset=-1", &[], "", 400, "bad-parameter", Some("-1")),
    ("GET", "/v1/status?sort=name", &[], "", 400, "bad-parameter", Some("name")),
    ("GET", "/v1/status?tag=a&tag=b", &[], "", 400, "parameter-twice", Some("tag")),
    ("GET", "/v1/status?tags=a", &[], "", 400, "no-such-parameter", Some("tags")),
    ("GET", "/?order=tag", &[], "", 400, "no-such-parameter", Some("order")),
    // Forms.
    ("GET", "/v1/uids", &["accept: text/html"], "", 406, "no-such-form", Some("text/html")),
    ("GET", "/v1/uids", &["accept: application/xml, image/*"], "",
        406, "no-such-form", Some("application/xml, image/*")),
    ("GET", "/v1/uids", &["accept: application/json;q=0"], "",
        406, "no-such-form", Some("application/json;q=0")),
    ("GET", "/v1/uids", &["accept: */*;q=0"], "", 406, "no-such-form", Some("*/*;q=0")),
    ("GET", "/v1/uids", &["accept:"], "", 406, "no-such-form", Some("")),
    ("GET", "/v1/tags/orders/ids", &["accept: text/csv"], "",
        406, "no-such-form", Some("text/csv")),
    // UIDs.
    ("GET", "/v1/uids/0", &[], "", 400, "bad-uid", Some("0")),
    ("GET", "/v1/uids/-1", &[], "", 400, "bad-uid", Some("-1")),
    ("GET", "/v1/uids/9223372036854775808", &[], "", 400, "bad-uid", Some("9223372036854775808")),
    ("GET", "/v1/uids/abc", &[], "", 400, "bad-uid", Some("abc")),
    ("GET", "/v1/uids/1%00", &[], "", 400, "bad-uid", Some("1\0")),
    ("GET", "/v1/uids/%FF", &[], "", 400, "bad-path", None),
    // Tags.
    ("GET", "/v1/tags/nobody/ids", &[], "", 404, "no-such-tag", Some("nobody")),
    ("GET", "/v1/tags/ORDERS/ids", &[], "", 404, "no-such-tag", Some("ORDERS")),
    ("GET", "/v1/tags/orders%20/ids", &[], "", 404, "no-such-tag", Some("orders ")),
    ("GET", "/v1/tags/'%20OR%201=1/ids", &[], "", 404, "no-such-tag", Some("' OR 1=1")),
    ("POST", "/v1/tags/nobody/segments", &[], "", 404, "no-such-tag", Some("nobody")),
    ("GET", "/v1/tags/a%00b/ids", &[], "", 400, "bad-tag", Some("a\0b")),
    ("GET", "/v1/tags/a%0Ab/ids", &[], "", 400, "bad-tag", Some("a\nb")),
    ("GET", "/v1/tags/%FF/ids", &[], "", 400, "bad-path", None),
    ("PUT", "/v1/tags/a%7Fb", JSON, "{}", 400, "bad-tag", Some("a\u{7f}b")),
    // Pages of others.
    ("POST", "/v1/tags/orders/segments", &["sec-fetch-site: cross-site"], "",
        403, "other-site", None),
    ("GET", "/v1/tags/orders/ids", &["sec-fetch-site: cross-site"], "", 403, "other-site", None),
    ("GET", "/api/segment/get/orders", &["sec-fetch-site: cross-site"], "",
        403, "other-site", None),
    ("GET", "/tinyid/id/nextSegmentIdSimple?bizType=orders", &["sec-fetch-site: cross-site"], "",
        403, "other-site", None),
    ("PUT", "/v1/tags/new", &["sec-fetch-site: same-site", JSON[0]], "{}", 403, "other-site", None),
    // Bodies.
    ("PUT", "/v1/tags/new", &[], "{}", 415, "no-such-type", Some("")),
    ("PUT", "/v1/tags/new", &["content-type: text/plain"], "{}",
        415, "no-such-type", Some("text/plain")),
    ("PUT", "/v1/tags/new", &["content-type: application/x-www-form-urlencoded"], "a=1",
        415, "no-such-type", Some("application/x-www-form-urlencoded")),
    ("PUT", "/v1/tags/new", &["content-type: application/json", "content-encoding: gzip"], "{}",
        415, "no-such-type", Some("gzip")),
    ("PUT", "/v1/tags/new", JSON, "", 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, "{", 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, "[]", 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, "[5,10,null,null]", 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, "null", 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, "{} {}", 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, r#"{"fist":1}"#, 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, r#"{"first":1,"first":2}"#, 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, r#"{"first":-1}"#, 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, r#"{"first":1.5}"#, 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, r#"{"description":7}"#, 400, "bad-body", None),
    ("PUT", "/v1/tags/new", JSON, r#"{"first":0}"#, 400, "bad-number", Some("0")),
    ("PUT", "/v1/tags/new", JSON, r#"{"first":"0"}"#, 400, "bad-number", Some("0")),
    ("PUT", "/v1/tags/new", JSON, r#"{"first":9223372036854775808}"#,
        400, "bad-number", Some("9223372036854775808")),
    ("PUT", "/v1/tags/new", JSON, r#"{"step":"0"}"#, 400, "bad-number", Some("0")),
    ("PUT", "/v1/tags/new", JSON, r#"{"step":" 1"}"#, 400, "bad-number", Some(" 1")),
    ("PUT", "/v1/tags/new", JSON, r#"{"max_step":"x"}"#, 400, "bad-number", Some("x")),
    ("PUT", "/v1/tags/new", JSON, r#"{"step":10,"max_step":5}"#, 400, "bad-tag", Some("new")),
    ("PUT", "/v1/tags/new", JSON, r#"{"description":"a\u0000b"}"#, 400, "bad-tag", Some("new")),
    ("PUT", "/v1/tags/orders", JSON, r#"{"first":1000000}"#, 409, "behind", Some("1000000")),
    ("PUT", "/v1/tags/orders", JSON, r#"{"step":7}"#, 409, "differs", Some("7")),
    // JavaScript sends this for 9007199254740993.
    ("PUT", "/v1/tags/new", JSON, r#"{"first":9007199254740992}"#,
        400, "bad-number", Some("9007199254740992")),
    ("PUT", "/v1/tags/%2E", JSON, "{}", 400, "bad-tag", Some(".")),
    ("POST", "/v1/tags/%2e%2E/segments", &[], "", 400, "bad-tag", Some("..")),
];

fn check(
    answer: &Answer,
    case: &dyn std::fmt::Debug,
    status: u16,
    kind: &str,
    value: Option<&str>,
) {
    assert_eq!(answer.status, status, "{case:?}: {answer:?}");
    assert_eq!(answer.header("content-type"), "application/problem+json", "{case:?}");
    let json = answer.json();
    assert_eq!(json["type"], format!("urn:uidring:problem:{kind}"), "{case:?}");
    assert_eq!(json["status"], status, "{case:?}");
    assert_eq!(json["value"].as_str(), value, "{case:?}");
    assert!(json["title"].as_str().is_some_and(|title| !title.is_empty()), "{case:?}");
    assert_eq!(answer.header("allow").is_empty(), status != 405, "{case:?}: {answer:?}");
}

#[test]
fn each_is_told_what_is_wrong() {
    let server = Server::start(&[]);
    assert_eq!(server.put("orders", "{}").status, 201);
    assert!(CASES.len() > 60, "{}", CASES.len());
    for case in CASES {
        let &(method, path, headers, body, status, kind, value) = case;
        check(&server.send(method, path, headers, body), case, status, kind, value);
    }
    // None of them used anything up.
    assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["1"]}"#);
    assert_eq!(server.get("/v1/tags").json()["tags"].as_array().unwrap().len(), 1);
}

/// A tag that is there is not changed by asking for another one.
#[test]
fn a_tag_that_is_there_and_is_another_is_a_conflict() {
    let server = Server::start(&[]);
    let asked = r#"{"first":5,"step":10,"max_step":50,"description":"of the shop"}"#;
    assert_eq!(server.put("orders", asked).status, 201);
    for same in [asked, "{}", r#"{"step":"10"}"#, r#"{"max_step":50}"#] {
        assert_eq!(server.put("orders", same).status, 200, "{same}");
    }
    for (body, field) in [
        (r#"{"step":20}"#, "step"),
        (r#"{"max_step":60}"#, "max_step"),
        (r#"{"description":"of the store"}"#, "description"),
    ] {
        let answer = server.put("orders", body);
        assert_eq!((answer.status, &answer.json()["field"]), (409, &field.into()), "{answer:?}");
        assert!(!answer.text().contains("ids.db"), "{answer:?}");
    }
    assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["5"]}"#);
}

#[test]
fn a_request_names_one_host() {
    let server = Server::start(&[]);
    let ask = |version: &str, hosts: &str| {
        let text = format!("GET /v1/uids HTTP/{version}\r\nconnection: close\r\n{hosts}\r\n");
        server.raw(text)
    };
    for hosts in ["", "host: a\r\nhost: a\r\n", "host: a\r\nhost: b\r\n"] {
        check(&ask("1.1", hosts), &hosts, 400, "bad-host", None);
    }
    assert_eq!(ask("1.1", "host: localhost\r\n").status, 200);
    // Such a client need not know of it, and must not say it twice either.
    assert_eq!(ask("1.0", "").status, 200);
    assert_eq!(ask("1.0", "host: localhost\r\n").status, 200);
    check(&ask("1.0", "host: a\r\nhost: b\r\n"), &"1.0", 400, "bad-host", None);
}

/// Whatever method a client tries, it is told the same list, and what the list has is there.
#[test]
fn a_path_has_one_list_of_methods() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    let allowed = |method: &str, path: &str| {
        let answer = server.send(method, path, &[], "");
        (answer.status, answer.header("allow").to_owned())
    };
    for (path, list) in [
        ("/v1/uids", "GET,POST"),
        ("/v1/uids/1", "GET,HEAD"),
        ("/v1/tags", "GET,HEAD"),
        ("/v1/tags/orders", "PUT"),
        ("/v1/tags/orders/ids", "GET"),
        ("/v1/tags/orders/segments", "POST"),
        ("/v1/series", "GET,HEAD"),
        ("/v1/series/orders/numbers", "POST"),
        ("/readyz", "GET,HEAD"),
        ("/", "GET,HEAD"),
    ] {
        for method in ["OPTIONS", "DELETE", "PATCH"] {
            assert_eq!(allowed(method, path), (405, list.to_owned()), "{method} {path}");
        }
        let head = server.head(path);
        assert_eq!(head.status == 200, list.contains("HEAD"), "{path}: {head:?}");
        assert!(head.status == 200 || head.header("allow") == list, "{path}: {head:?}");
    }
    // Spring's paths take any method, but for this one.
    let path = "/api/segment/get/orders";
    for path in [path, "/tinyid/id/nextIdSimple?bizType=orders", "/tinyid/id/nextId/"] {
        assert_eq!(
            allowed("OPTIONS", path),
            (200, "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS".into())
        );
    }
    assert_eq!(server.get(path).text(), "1", "no id was used up");
}

#[test]
fn tags_have_a_length() {
    let server = Server::start(&[]);
    let longest = "ü".repeat(128);
    assert_eq!(server.put(&escaped(&longest), "{}").status, 201);
    let longer = "ü".repeat(129);
    for (method, path) in [
        ("PUT", format!("/v1/tags/{}", escaped(&longer))),
        ("GET", format!("/v1/tags/{}/ids", escaped(&longer))),
        ("POST", format!("/v1/tags/{}/segments", escaped(&longer))),
    ] {
        let answer = server.send(method, &path, JSON, "");
        check(&answer, &path, 400, "bad-tag", Some(&longer));
        let detail = answer.json()["detail"].to_string();
        assert!(detail.contains("1 to 128 characters"), "{detail}");
    }
}

fn escaped(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[test]
fn a_value_is_repeated_in_part() {
    let server = Server::start(&[]);
    let answer = server.get(&format!("/v1/uids?n={}", "7".repeat(5000)));
    check(&answer, &"a long number", 400, "bad-count", Some(&"7".repeat(200)));
}

#[test]
fn bodies_have_a_size() {
    let server = Server::start(&["--max-body=100"]);
    let fits = format!("{{\"description\":\"{}\"}}", "x".repeat(50));
    assert_eq!(server.put("orders", &fits).status, 201);
    let large = format!("{{\"description\":\"{}\"}}", "x".repeat(100));
    let answer = server.put("orders", &large);
    check(&answer, &"announced", 413, "large-body", None);
    // Announced, and never sent.
    let head = "PUT /v1/tags/a HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let answer = server.raw(format!("{head}content-length: 1000000000\r\n\r\n"));
    check(&answer, &"not sent", 413, "large-body", None);
    let chunk = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    let answer = server.raw(format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}"));
    check(&answer, &"in chunks", 413, "large-body", None);
    let form = ["content-type: application/x-www-form-urlencoded"];
    let answer = server.send("POST", "/tinyid/id/nextId", &form, &"x=y&".repeat(100));
    check(&answer, &"a form", 413, "large-body", None);
    // Its token is known when it has been read.
    let server = Server::start(&[]);
    let answer = server.send("POST", "/tinyid/id/nextId", &form, &"x=y&".repeat(1024));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = server.send("POST", "/tinyid/id/nextId", &form, &"x=y&".repeat(1025));
    check(&answer, &"a form", 413, "large-body", None);
    assert_eq!(answer.json()["detail"], "a body has at most 4096 bytes");
}

/// What is not HTTP is refused before it is anybody's request.
#[test]
fn what_is_malformed_is_refused() {
    let server = Server::start(&["--max-header=8192"]);
    server.put("orders", "{}");
    let long = "x".repeat(9000);
    for (bytes, status) in [
        ("GARBAGE\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/3.0\r\n\r\n".to_owned(), 400),
        ("GET  /v1/uids HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /v1/u ids HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /v1/uids HTTP/1.1\r\nbad header\r\n\r\n".to_owned(), 400),
        ("GET /v1/uids HTTP/1.1\r\nname : x\r\n\r\n".to_owned(), 400),
        ("GET /v1/uids HTTP/1.1\r\nname: a\0b\r\n\r\n".to_owned(), 400),
        ("GET /v1/uids HTTP/1.1\r\n folded: x\r\n\r\n".to_owned(), 400),
        (request("GET", &format!("/{long}"), &[], ""), 431),
        (request("GET", "/", &[&format!("x: {long}")], ""), 431),
        (request("PUT", "/v1/tags/a", &["content-length: -1"], ""), 400),
        (request("PUT", "/v1/tags/a", &["content-length: 1", "content-length: 2"], ""), 400),
        (request("PUT", "/v1/tags/a", &["content-length: 0x2"], "{}"), 400),
        (request("PUT", "/v1/tags/a", &["transfer-encoding: gzip"], ""), 400),
        (request("PUT", "/v1/tags/a", &["transfer-encoding: chunked, gzip"], ""), 400),
    ] {
        let begin = &bytes[..bytes.len().min(100)];
        // The answer is lost where the connection is reset by what was not read.
        let answer = (0..100).find_map(|_| server.try_raw(&bytes));
        let answer = answer.unwrap_or_else(|| panic!("no answer to {begin:?}"));
        assert_eq!(answer.status, status, "{begin:?}");
    }
    // Broken within its body.
    let head = "PUT /v1/tags/a HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                transfer-encoding: chunked\r\n\r\n";
    let answer = server.raw(format!("{head}zz\r\n{{}}\r\n0\r\n\r\n"));
    check(&answer, &"a bad chunk", 400, "broken-body", None);
    assert_eq!(server.get("/v1/tags").json()["tags"].as_array().unwrap().len(), 1);
    // It still lives.
    assert_eq!(server.get("/v1/uids").status, 200);
}

#[test]
fn a_path_that_is_off_names_its_option() {
    let server = Server::start(&["--uids=false", "--tinyid=false", "--leaf-segment=false"]);
    for (path, option) in [
        ("/v1/uids", Some("--uids=true")),
        ("/v1/uids/7", Some("--uids=true")),
        ("/api/segment/get/orders", Some("--leaf-segment=true")),
        ("/api/snowflake/get/orders/", Some("--leaf-snowflake=true")),
        ("/decodeSnowflakeId?snowflakeId=7", Some("--leaf-segment=true or --leaf-snowflake=true")),
        ("/tinyid/id/nextId?bizType=orders", Some("--tinyid=true")),
        ("/nope", None),
        ("/page/nope.css", None),
    ] {
        let answer = server.get(path);
        let (status, json) = (answer.status, answer.json());
        assert_eq!((status, &json["type"]), (404, &"urn:uidring:problem:no-such-path".into()));
        let detail = option.map(|option| format!("this path is off: {option} turns it on"));
        assert_eq!(json["detail"].as_str(), detail.as_deref(), "{path}");
    }
}
