//! Leaf's paths: byte by byte what its server answers.

use crate::common::{Answer, GOOD, Server, command};

const TEXT: &str = "text/plain;charset=UTF-8";
const JSON: &str = "application/json;charset=UTF-8";

/// A server on Leaf's table with the row of its README.
fn leaf(options: &[&str]) -> Server {
    let server = Server::start(&[]);
    let tables = "CREATE TABLE leaf_alloc (
            biz_tag VARCHAR(128) NOT NULL PRIMARY KEY, max_id BIGINT NOT NULL DEFAULT 1,
            step INT NOT NULL, description VARCHAR(256),
            update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
        INSERT INTO leaf_alloc (biz_tag, max_id, step, description)
            VALUES ('leaf-segment-test', 1, 2000, 'Test leaf Segment Mode Get Id'),
                   ('<script>', 1, 2000, NULL), ('last', 9223372036854775806, 1000, NULL);";
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch(tables).unwrap();
    let folder = server.stop();
    Server::start_on(folder, &[&["--table=leaf"], options].concat())
}

/// Spring's error, after its time.
fn error(answer: &Answer) -> String {
    let timestamp = answer.json()["timestamp"].as_i64().unwrap();
    assert!(timestamp > 1_700_000_000_000, "{timestamp}");
    let begin = format!("{{\"timestamp\":{timestamp},");
    answer.text().strip_prefix(&begin).unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn exception(code: i32, path: &str) -> String {
    format!(
        "\"status\":500,\"error\":\"Internal Server Error\",\"exception\":\
         \"com.sankuai.inf.leaf.server.exception.LeafServerException\",\
         \"message\":\"Result{{id={code}, status=EXCEPTION}}\",\"path\":\"{path}\"}}"
    )
}

#[test]
fn an_id_is_its_digits_and_nothing_else() {
    let server = leaf(&[]);
    let paths = ["", "/", ".json", "/", ";jsessionid=1"];
    for (end, id) in paths.into_iter().zip(1..) {
        let path = format!("/api/segment/get/leaf-segment-test{end}");
        let method = if id % 2 == 0 { "POST" } else { "GET" };
        let answer = server.send(method, &path, &["accept: */*"], "");
        let found = (answer.status, answer.header("content-type"), answer.text().to_owned());
        assert_eq!(found, (200, TEXT, id.to_string()), "{path}");
    }
}

#[test]
fn errors_are_springs() {
    let server = leaf(&[]);
    for (key, code) in [("nobody", -2), (&"x".repeat(129)[..], -2), ("last", 0)] {
        let path = format!("/api/segment/get/{key}");
        let answer = server.get(&path);
        if code == 0 {
            // The last number there is, and then none.
            assert_eq!(answer.text(), "9223372036854775806");
            let answer = server.get(&path);
            assert_eq!((answer.status, error(&answer)), (500, exception(-3, &path)));
        } else {
            assert_eq!((answer.status, answer.header("content-type")), (500, JSON));
            assert_eq!(error(&answer), exception(code, &path));
        }
    }
    let none = server.get("/api/segment/get/.b");
    assert_eq!(none.status, 500);
    assert!(none.text().contains("exception.NoKeyException\",\"message\":\"Key is none\""));
    let browser = ["accept: text/html,application/xhtml+xml"];
    let page = server.send("GET", "/api/segment/get/nobody", &browser, "");
    assert_eq!((page.status, page.header("content-type")), (500, "text/html;charset=UTF-8"));
    assert!(page.text().starts_with("<html><body><h1>Whitelabel Error Page</h1>"));
    assert!(page.text().ends_with("<div>Result{id=-2, status=EXCEPTION}</div></body></html>"));
    assert_eq!(server.get("/api/segment/get/").status, 404);
}

#[test]
fn snowflakes_are_twitters() {
    let server = Server::start(&["--leaf-snowflake"]);
    let mut last = 0;
    for _ in 0..20 {
        let answer = server.get("/api/snowflake/get/anything");
        assert_eq!((answer.status, answer.header("content-type")), (200, TEXT));
        let id: u64 = answer.text().parse().unwrap();
        assert!(id > last);
        last = id;
    }
    let answer = server.get(&format!("/decodeSnowflakeId?snowflakeId={last}"));
    assert_eq!((answer.status, answer.header("content-type")), (200, JSON));
    let ms = (last >> 22) + 1_288_834_974_657;
    let time = jiff::Timestamp::from_millisecond(ms.try_into().unwrap()).unwrap();
    let expected = format!(
        "{{\"timestamp\":\"{ms}({})\",\"sequenceId\":\"{}\",\"workerId\":\"{}\"}}",
        time.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S%.3f"),
        last & 0xfff,
        last >> 12 & 0x3ff
    );
    assert_eq!(answer.text(), expected);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert!(u128::from(ms) <= now.as_millis() && u128::from(ms) + 60_000 > now.as_millis());
}

/// The worker id of a snowflake of `server`.
fn snowflakes_worker(server: &Server) -> u64 {
    let id: u64 = server.get("/api/snowflake/get/x").text().parse().unwrap();
    id >> 12 & 0x3ff
}

/// Their files do not know of each other.
#[test]
fn machines_with_a_part_each_have_other_snowflakes() {
    let of_part = |part: &str, options: &[&str]| {
        let partition = format!("--partition={part}");
        let server = Server::start(&[&["--leaf-snowflake", &partition], options].concat());
        snowflakes_worker(&server)
    };
    assert_eq!((of_part("0/2", &[]), of_part("1/2", &[])), (1, 512));
    let twitter = ["--preset=twitter", "--lease=10m"];
    let (one, other) = (of_part("0/2", &twitter), of_part("1/2", &twitter));
    assert!(one < 512 && other >= 512, "{one} {other}");
    assert_eq!(of_part("1/2", &["--leaf-worker-ids=7-9"]), 7);
    assert_eq!(of_part("1/2", &["--leaf-db=other.db"]), 512);
}

/// The store remembers the layout, so a start need not name it again.
#[test]
fn snowflakes_stay_in_the_registry_of_uids_of_the_same_layout() {
    let twitter = ["--preset=twitter", "--lease=10m", "--leaf-snowflake"];
    let folder = Server::start(&twitter).stop();
    let server = Server::start_on(folder, &twitter[1..]);
    assert!(!server.folder().join("ids.leaf.db").exists());
    let worker: u64 = server.worker().parse().unwrap();
    assert_ne!(worker, snowflakes_worker(&server));
    let file = server.file();
    let folder = server.stop();
    let check = |options: &[&str]| {
        let mut command = command(folder.path());
        let done = command.arg("--check").args(options).output().unwrap();
        (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
    };
    assert_eq!(check(&twitter[1..]), (Some(0), GOOD.to_owned()), "{}", file.display());
    let (code, said) = check(&["--leaf-snowflake", "--leaf-worker-ids=512-1023"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("have the same layout and registry"), "{said}");
}

/// Another service may still have its worker id from there.
#[test]
fn snowflakes_do_not_leave_the_registry_that_gave_their_worker_ids() {
    let beside = Server::start(&["--uids=false", "--leaf-snowflake"]);
    assert_eq!(snowflakes_worker(&beside), 1);
    let start = |options: &[&str]| {
        let mut command = command(beside.folder());
        let options = [&["--preset=twitter", "--leaf-snowflake", "--check"], options].concat();
        let done = command.args(options).output().unwrap();
        (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
    };
    let (code, said) = start(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("ids.leaf.db has given the worker ids of the snowflakes"), "{said}");
    assert_eq!(start(&["--leaf-db=ids.leaf.db"]).0, Some(0));
}

/// With a later epoch they would be those that were given as long ago.
#[test]
fn snowflakes_keep_their_epoch() {
    let options = ["--preset=twitter", "--leaf-snowflake"];
    let other = ["--preset=twitter", "--leaf-snowflake", "--leaf-epoch=2020-01-01"];
    // Where none were given before, any epoch will do.
    drop(Server::start_on(Server::start(&other).stop(), &other));
    let folder = Server::start(&options).stop();
    let check = |options: &[&str]| {
        let mut command = command(folder.path());
        let done = command.arg("--check").args(options).output().unwrap();
        (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
    };
    assert_eq!(check(&options), (Some(0), GOOD.to_owned()));
    let (code, said) = check(&other);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("has the layout of the snowflakes with another epoch"), "{said}");
    assert_eq!(check(&[&other[..], &["--leaf-db=ids.leaf.db"]].concat()).0, Some(0));
}

#[test]
fn what_cannot_be_decoded_is_said_in_leafs_words() {
    let server = Server::start(&[]);
    for text in ["abc", "", "1.5", "9223372036854775808", "0x10"] {
        let answer = server.get(&format!("/decodeSnowflakeId?snowflakeId={text}"));
        let expected = "{\"errorMsg\":\"snowflake Id反解析发生异常!\"}";
        assert_eq!((answer.status, answer.text()), (200, expected), "{text}");
    }
    for (id, timestamp, sequence, worker) in [
        ("0", "1288834974657(2010-11-04 01:42:54.657)", "0", "0"),
        ("-1", "1288834974656(2010-11-04 01:42:54.656)", "4095", "1023"),
    ] {
        let decoded = format!(
            "{{\"timestamp\":\"{timestamp}\",\"sequenceId\":\"{sequence}\",\
             \"workerId\":\"{worker}\"}}"
        );
        let answer = server.get(&format!("/decodeSnowflakeId?snowflakeId={id}"));
        assert_eq!(answer.text(), decoded);
    }
    let absent = server.get("/decodeSnowflakeId");
    assert_eq!(absent.status, 400);
    assert!(error(&absent).starts_with(
        "\"status\":400,\"error\":\"Bad Request\",\"exception\":\
         \"org.springframework.web.bind.MissingServletRequestParameterException\",\
         \"message\":\"Required String parameter 'snowflakeId' is not present\""
    ));
}

#[test]
fn pages_escape_what_they_show() {
    let server = leaf(&[]);
    assert_eq!(server.get("/api/segment/get/%3Cscript%3E").text(), "1");
    assert_eq!(server.get("/api/segment/get/leaf-segment-test").text(), "1");
    let db = server.get("/db");
    assert_eq!((db.status, db.header("content-type")), (200, "text/html;charset=UTF-8"));
    assert!(db.header("content-security-policy").contains("default-src 'none'"));
    let text = db.text();
    assert!(text.contains("<tr><th>tag</th><th>max</th><th>step</th><th>update</th></tr>"));
    assert!(text.contains("<tr><td>leaf-segment-test</td><td>2001</td><td>2000</td>"), "{text}");
    assert!(text.contains("<td>&lt;script&gt;</td>") && !text.contains("<script>"), "{text}");
    let cache = server.get("/cache");
    let head = "<tr><th>name</th><th>init</th><th>next</th><th>pos</th><th>value0</th>\
                <th>max0</th><th>step0</th><th>value1</th><th>max1</th><th>step1</th></tr>";
    assert!(cache.text().contains(head), "{}", cache.text());
    let row = "<tr><td>leaf-segment-test</td><td>true</td><td>false</td><td>0</td><td>2</td>\
               <td>2001</td><td>2000</td><td>0</td><td>0</td><td>0</td></tr>";
    assert!(cache.text().contains(row), "{}", cache.text());
}

#[test]
fn what_is_off_is_not_there() {
    let server = Server::start(&["--leaf-segment=false"]);
    for path in
        ["/api/segment/get/a", "/cache", "/db", "/api/snowflake/get/a", "/decodeSnowflakeId"]
    {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}
