//! `/openapi.json` describes the paths that there are, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Answer, Server, folder, request};

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "head", "options", "patch"];

fn description(server: &Server) -> Value {
    let answer = server.get("/openapi.json");
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    answer.json()
}

/// The paths of a description, each with its methods.
fn paths(description: &Value) -> Vec<(String, Vec<&'static str>)> {
    let paths = description["paths"].as_object().unwrap().iter();
    let methods = |item: &Value| METHODS.into_iter().filter(|one| !item[one].is_null()).collect();
    paths.map(|(path, item)| (path.clone(), methods(item))).collect()
}

/// A request for the path, with something in place of its parameter.
fn ask(server: &Server, method: &str, path: &str) -> Answer {
    let path = path.replace("{uid}", "1").replace("{tag}", "orders").replace("{key}", "orders");
    let path = path.replace("{name}", "orders");
    server.send(&method.to_ascii_uppercase(), &path, &[], "")
}

fn is_no_route(answer: &Answer) -> bool {
    answer.status == 405
        || (answer.status == 404 && answer.json()["type"] == "urn:uidring:problem:no-such-path")
}

#[test]
fn each_path_of_the_description_is_a_route_with_its_methods() {
    let server = Server::start(&["--leaf-snowflake"]);
    server.put("orders", "{}");
    let description = description(&server);
    let paths = paths(&description);
    assert!(paths.len() >= 20, "{paths:?}");
    for (path, methods) in &paths {
        assert!(!methods.is_empty(), "{path}");
        // Leaf's and tinyid's take any method.
        let takes_any = !path.starts_with("/v1/") && path.len() > 1 && !is_for_operators(path);
        for method in METHODS {
            // What `get` answers, `head` does without a body, which is not read here.
            if method == "head" {
                continue;
            }
            let answer = ask(&server, method, path);
            let is_described = methods.contains(&method);
            assert_eq!(is_no_route(&answer), !is_described && !takes_any, "{method} {path}");
            if answer.status == 405 {
                let allowed = answer.header("allow").to_ascii_lowercase();
                // Where it is there, it does what `get` does.
                let allowed: BTreeSet<&str> = allowed.split(',').filter(|&m| m != "head").collect();
                assert_eq!(allowed, methods.iter().copied().collect(), "{method} {path}");
            }
        }
    }
}

fn is_for_operators(path: &str) -> bool {
    ["/livez", "/readyz", "/metrics", "/openapi.json"].contains(&path)
}

/// The files of the service's paths.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The paths of the router: those of the table, with Spring's slash at the end, and the files of
/// the page.
fn routes() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let table = fs::read_to_string(source.join("routes.rs")).unwrap();
    let table = table.split_once("\ntable! {\n").unwrap().1.split_once("\n}").unwrap().0;
    let mut routes = BTreeSet::new();
    for row in table.lines() {
        let words: Vec<&str> = row.trim_end_matches(';').split_whitespace().collect();
        let [_, path, group, _] = words[..] else { panic!("{row}") };
        let path = path.trim_matches('"');
        if !["Always", "Uids"].contains(&group) {
            routes.insert(format!("{path}/"));
        }
        routes.insert(path.to_owned());
    }
    assert!(routes.remove("/page/{file}"));
    let files = fs::read_dir(source.join("http/operators/page")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    routes.extend(files.map(|file| format!("/page/{file}")));
    routes
}

#[test]
fn each_route_is_in_the_description() {
    let server = Server::start(&["--leaf-snowflake"]);
    let described: BTreeSet<String> =
        paths(&description(&server)).into_iter().map(|(path, _)| path).collect();
    let mut routes = routes();
    // The parts of the page, and Spring's slash at the end.
    routes.retain(|route| !route.starts_with("/page/") && (route == "/" || !route.ends_with('/')));
    assert_eq!(routes, described);
}

#[test]
fn no_cache_may_keep_an_answer() {
    let folder = folder();
    let token = "[[token]]\ntoken = '0123456789abcdef'\nadmin = true\ntags = ['*']";
    fs::write(folder.path().join("tokens.toml"), token).unwrap();
    let with_tokens = Server::start_on(folder, &["--tokens=tokens.toml", "--leaf-snowflake"]);
    let open = Server::start(&["--leaf-snowflake"]);
    open.put("orders", "{}");
    let mut servers = vec![&open, &with_tokens];
    // Nothing listens there, so it is never ready.
    let away = ["--db=postgres://somebody@127.0.0.1:1/ids", "--leaf-snowflake=false"];
    let waiting =
        cfg!(feature = "postgres").then(|| Server::launch(crate::common::folder(), &away));
    servers.extend(&waiting);
    let mut statuses = BTreeSet::new();
    let mut paths: Vec<String> = routes().into_iter().collect();
    assert!(paths.len() >= 32, "{paths:?}");
    let queries = ["/v1/uids?n=1000", "/v1/uids?n=0", "/tinyid/id/nextId?bizType=orders"];
    paths.extend(["/nowhere", "/v1/uids/x"].into_iter().chain(queries).map(str::to_owned));
    let all = METHODS.into_iter().filter(|&method| method != "head").chain(["trace", "brew"]);
    for (path, method) in paths.iter().flat_map(|path| all.clone().map(move |one| (path, one))) {
        for &server in &servers {
            // The second one of a kind may take the fast path.
            for _ in 0..2 {
                let answer = ask(server, method, path);
                let kept: Vec<_> =
                    answer.headers.iter().filter(|(name, _)| name == "cache-control").collect();
                let is_so = matches!(&kept[..], [(_, value)] if value == "no-store");
                assert!(is_so, "{method} {path}: {answer:?}");
                statuses.insert(answer.status);
            }
        }
        // What `get` answers, `head` does without a body.
        let mut stream = BufReader::new(open.connect());
        let head = request("HEAD", &path.replace(['{', '}'], ""), &[], "");
        stream.get_mut().write_all(head.as_bytes()).unwrap();
        let head: String = stream.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n");
        assert!(head.contains("\ncache-control: no-store\n"), "HEAD {path}: {head}");
    }
    let of_waiting: &[u16] = if waiting.is_some() { &[500, 503] } else { &[] };
    for status in [200, 400, 401, 404, 405, 415].iter().chain(of_waiting) {
        assert!(statuses.contains(status), "{statuses:?}");
    }
}

#[test]
fn what_is_off_is_not_described() {
    let server = Server::start(&["--tinyid", "false", "--leaf-segment", "false"]);
    for (path, _) in paths(&description(&server)) {
        assert!(!path.starts_with("/tinyid") && !path.starts_with("/api"), "{path}");
        assert!(!["/db", "/cache", "/decodeSnowflakeId"].contains(&path.as_str()), "{path}");
    }
}

#[test]
fn what_is_referred_to_is_there() {
    let server = Server::start(&[]);
    let description = description(&server);
    let text = description.to_string();
    let references: Vec<&str> =
        text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(references.len() > 20, "{references:?}");
    for reference in references {
        assert!(description.pointer(reference).is_some(), "{reference}");
    }
    let ids = text.split("\"operationId\":\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let (all, distinct) = (ids.clone().count(), ids.collect::<BTreeSet<_>>().len());
    assert_eq!(all, distinct);
}

#[test]
fn no_two_descriptions_have_one_name() {
    let mut names = BTreeSet::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http")) {
        let Ok(text) = fs::read_to_string(file) else { continue };
        for rest in text.split("ToSchema)]").skip(1) {
            let words =
                rest.split_whitespace().skip_while(|word| !["struct", "enum"].contains(word));
            let name = words.skip(1).find_map(|word| word.split(['<', '{']).next()).unwrap();
            assert!(names.insert(name.to_owned()), "{name} is described twice");
        }
    }
    assert!(names.len() > 10, "{names:?}");
}
