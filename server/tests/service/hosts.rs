//! Hosts that the service answers for, and pages of others.

use std::fs;

use crate::common::{Answer, Server, folder, in_browser};

const JSON: &str = "content-type: application/json";

/// The answer to a request for this host.
fn ask(server: &Server, method: &str, path: &str, host: &str, headers: &[&str]) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for header in headers {
        text.extend([*header, "\r\n"]);
    }
    if method == "PUT" {
        return server.raw(text + "content-length: 2\r\n\r\n{}");
    }
    server.raw(text + "\r\n")
}

fn statuses(server: &Server, hosts: &[&str]) -> Vec<u16> {
    hosts.iter().map(|host| ask(server, "GET", "/v1/uids", host, &[]).status).collect()
}

/// The next number of `orders`, which the question takes.
fn next(server: &Server) -> String {
    server.get("/v1/tags/orders/ids").json()["ids"][0].as_str().unwrap().to_owned()
}

#[test]
fn without_tokens_other_hosts_are_refused() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    let port = server.address.port();
    let with_port = format!("127.0.0.1:{port}");
    let own = ["localhost", "127.0.0.1", "[::1]", &with_port, "localhost:9", "LOCALHOST"];
    assert_eq!(statuses(&server, &own), [200; 6]);
    let others =
        ["evil.example", &format!("evil.example:{port}"), "10.0.0.1", "localhost.evil", ""];
    for host in others {
        for (method, path) in [
            ("GET", "/v1/tags/orders/ids"),
            ("GET", "/v1/tags/orders/ids?n=1000"),
            ("POST", "/v1/tags/orders/segments"),
            ("PUT", "/v1/tags/stolen"),
            ("GET", "/api/segment/get/orders"),
            ("GET", "/tinyid/id/nextIdSimple?bizType=orders"),
            ("GET", "/v1/status"),
            ("GET", "/"),
            ("GET", "/nowhere"),
        ] {
            let answer = ask(&server, method, path, host, &[JSON]);
            assert_eq!(answer.status, 421, "{method} {path} {host:?}: {answer:?}");
            let problem = answer.json();
            assert_eq!(problem["type"], "urn:uidring:problem:other-host");
            assert_eq!(problem["value"], host);
            assert!(problem["detail"].as_str().unwrap().contains("--host"), "{problem}");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
    }
    assert_eq!(next(&server), "1");
    assert_eq!(server.get("/v1/tags").json()["tags"].as_array().unwrap().len(), 1);
    server.wait_for("told of", || server.log().contains("see --host"));
    let told = || server.log().matches("see --host").count();
    server.wait_for("told", || told() > 0);
    assert_eq!(told(), 1, "{}", server.log());
}

#[test]
fn hosts_are_named_by_an_option_a_variable_or_a_file() {
    let hosts = ["ids.example.com", "IDS.example.com:443", "ids", "evil.example", "localhost"];
    let server = Server::start(&["--host=ids.example.com", "--host=ids"]);
    assert_eq!(statuses(&server, &hosts), [200, 200, 200, 421, 200]);
    let variable = [("UIDRING_SERVER_HOST", "ids.example.com,ids")];
    let server = Server::launch_with(folder(), &[], &variable);
    server.wait_until_ready();
    assert_eq!(statuses(&server, &hosts), [200, 200, 200, 421, 200]);
    let folder = folder();
    fs::write(folder.path().join("o.toml"), "host = ['ids.example.com', 'ids']").unwrap();
    let server = Server::start_on(folder, &["--config=o.toml"]);
    assert_eq!(statuses(&server, &hosts), [200, 200, 200, 421, 200]);
    let server = Server::start(&["--host=*"]);
    assert_eq!(statuses(&server, &hosts), [200; 5]);
}

#[test]
fn an_address_that_others_reach_is_asked_for_by_any_address() {
    let server = Server::start(&["--listen=0.0.0.0:0"]);
    // Probes ask for the address of a pod, and people for that of the machine before it.
    let hosts = ["10.1.2.3:8080", "[fd00::1]", "127.0.0.1", "localhost", "evil.example"];
    assert_eq!(statuses(&server, &hosts), [200, 200, 200, 200, 421]);
}

#[test]
fn with_tokens_each_host_is_good_unless_some_are_named() {
    let token = "[[token]]\ntoken = '0123456789abcdef'\nadmin = true\ntags = ['*']";
    let status = |options: &[&str]| {
        let folder = folder();
        fs::write(folder.path().join("tokens.toml"), token).unwrap();
        let server = Server::start_on(folder, &[&["--tokens=tokens.toml"], options].concat());
        let header = "authorization: Bearer 0123456789abcdef";
        ask(&server, "GET", "/v1/uids", "ids.example.com", &[header]).status
    };
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&["--host=other.example.com"]), 421);
}

#[test]
fn pages_of_others_change_nothing() {
    let server = Server::start(&["--leaf-snowflake", "--host=ids.example.com"]);
    server.put("orders", "{}");
    let own = format!("127.0.0.1:{}", server.address.port());
    let paths = [
        ("GET", "/v1/uids"),
        ("GET", "/v1/tags/orders/ids"),
        ("GET", "/v1/tags/orders/ids?n=10"),
        ("POST", "/v1/tags/orders/segments"),
        ("PUT", "/v1/tags/stolen"),
        ("GET", "/api/segment/get/orders"),
        ("POST", "/api/segment/get/orders"),
        ("GET", "/api/snowflake/get/orders"),
        ("GET", "/tinyid/id/nextId?bizType=orders"),
        ("POST", "/tinyid/id/nextIdSimple?bizType=orders"),
        ("GET", "/tinyid/id/nextSegmentId?bizType=orders"),
        ("GET", "/tinyid/id/nextSegmentIdSimple?bizType=orders"),
    ];
    let browser = "user-agent: Mozilla/5.0";
    let language = "accept-language: en";
    for headers in [
        &["origin: https://evil.example"][..],
        &["origin: null"],
        // Another program on this machine has another port.
        &["origin: http://127.0.0.1:3"],
        &["sec-fetch-site: cross-site"],
        &["sec-fetch-site: same-site", "origin: https://ids.example.com"],
        &["sec-fetch-site: cross-site", "origin: https://evil.example"],
        // An image, over http.
        &[browser, language],
    ] {
        for (method, path) in paths {
            let answer = ask(&server, method, path, &own, &[&[JSON], headers].concat());
            assert_eq!(answer.status, 403, "{method} {path} {headers:?}: {answer:?}");
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains("--host") || detail.contains("https"), "{detail}");
        }
        // Other sites may link to paths that change nothing.
        for path in ["/", "/v1/status", "/livez", "/readyz", "/metrics", "/cache", "/v1/tags"] {
            let answer = ask(&server, "GET", path, &own, headers);
            assert_eq!(answer.status, 200, "{path} {headers:?}: {answer:?}");
        }
    }
    assert_eq!(next(&server), "1");
    assert_eq!(server.get("/v1/tags").json()["tags"].as_array().unwrap().len(), 1);
    // Its own pages may, and those of a host that is named, and what is no browser.
    let own_origin = format!("origin: http://{own}");
    for headers in [
        &[own_origin.as_str()][..],
        &["origin: https://ids.example.com"],
        &["sec-fetch-site: same-origin", "origin: https://proxy.example"],
        &["sec-fetch-site: none", browser, language],
        &[browser],
        &[language],
        &[],
    ] {
        for (method, path) in paths {
            let answer = ask(&server, method, path, &own, &[&[JSON], headers].concat());
            assert!([200, 201].contains(&answer.status), "{method} {path} {headers:?}: {answer:?}");
        }
    }
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_a_name_that_is_made_to_lead_here_gets_nothing() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    in_browser(&server, "rebound");
    assert_eq!(next(&server), "1");
    assert_eq!(server.get("/v1/tags").json()["tags"].as_array().unwrap().len(), 1);
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_the_page_of_somebody_else_takes_nothing() {
    let server = Server::start(&["--host=ids.test"]);
    server.put("orders", "{}");
    in_browser(&server, "foreign");
    assert_eq!(next(&server), "1");
    assert_eq!(server.get("/v1/tags").json()["tags"].as_array().unwrap().len(), 1);
}
