//! tinyid's paths: byte by byte what its server answers, and what its client sends.

use std::io::{BufReader, Write};

use crate::common::{Answer, Server};

pub(crate) const TABLES: &str = "
    CREATE TABLE tiny_id_info (
        id INTEGER PRIMARY KEY AUTOINCREMENT, biz_type VARCHAR(63) NOT NULL UNIQUE,
        begin_id BIGINT NOT NULL DEFAULT 0, max_id BIGINT NOT NULL DEFAULT 0, step INT DEFAULT 0,
        delta INT NOT NULL DEFAULT 1, remainder INT NOT NULL DEFAULT 0,
        create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01',
        update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01', version BIGINT NOT NULL DEFAULT 0);
    CREATE TABLE tiny_id_token (
        id INTEGER PRIMARY KEY AUTOINCREMENT, token VARCHAR(255) NOT NULL DEFAULT '',
        biz_type VARCHAR(63) NOT NULL DEFAULT '', remark VARCHAR(255) NOT NULL DEFAULT '',
        create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01',
        update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01');
    INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, version)
        VALUES ('test', 1, 1, 100000, 1, 0, 1), ('test_odd', 1, 1, 100000, 2, 1, 3);
    INSERT INTO tiny_id_token (token, biz_type)
        VALUES ('0f673adf80504e2eaa552f5d791b644c', 'test'),
               ('0f673adf80504e2eaa552f5d791b644c', 'test_odd'),
               ('0f673adf80504e2eaa552f5d791b644c', 'gone'),
               ('another', 'test_odd'), ('starred', '*'), ('starred', 'test*');";
pub(crate) const TOKEN: &str = "0f673adf80504e2eaa552f5d791b644c";

/// A server on tinyid's tables with the rows of its sample.
fn tinyid() -> Server {
    tinyid_with(&[])
}

fn tinyid_with(options: &[&str]) -> Server {
    // It makes the registry's tables, beside which tinyid's are put.
    let server = Server::start(&[]);
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch(TABLES).unwrap();
    let folder = server.stop();
    Server::start_on(folder, &[&["--table=tinyid"], options].concat())
}

fn ask(server: &Server, path: &str, query: &str) -> Answer {
    server.get(&format!("/tinyid/id/{path}?{query}&token={TOKEN}"))
}

#[test]
fn an_administrator_needs_no_file_beside_the_table() {
    let server = tinyid_with(&["--admin-token=0123456789abcdef-admin"]);
    let admin = "authorization: Bearer 0123456789abcdef-admin";
    for path in ["/", "/v1/status", "/metrics", "/db"] {
        assert_eq!(server.send("GET", path, &[admin], "").status, 200, "{path}");
        let other = format!("authorization: Bearer {TOKEN}");
        assert_eq!(server.send("GET", path, &[&other], "").status, 403, "{path}");
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    // The tokens of the table are still valid.
    assert_eq!(ask(&server, "nextIdSimple", "bizType=test").text(), "2");
    assert_eq!(server.get("/tinyid/id/nextIdSimple?bizType=test").text(), "");
    assert!(!server.log().contains("0123456789abcdef"), "{}", server.log());
}

const JSON: &str = "application/json;charset=UTF-8";
const TEXT: &str = "text/plain;charset=UTF-8";

#[test]
fn ids_are_answered_as_tinyid_does() {
    let server = tinyid();
    for (path, query, kind, body) in [
        ("nextId", "bizType=test", JSON, r#"{"data":[2],"code":200,"message":""}"#),
        ("nextIdSimple", "bizType=test", TEXT, "3"),
        ("nextIdSimple", "bizType=test&batchSize=3", TEXT, "4,5,6"),
        ("nextId", "bizType=test&batchSize=2", JSON, r#"{"data":[7,8],"code":200,"message":""}"#),
        (
            "nextId",
            "bizType=test_odd&batchSize=3",
            JSON,
            r#"{"data":[3,5,7],"code":200,"message":""}"#,
        ),
        ("nextId", "bizType=test&batchSize=0", JSON, r#"{"data":[],"code":200,"message":""}"#),
        ("nextId", "bizType=test&batchSize=-1", JSON, r#"{"data":[],"code":200,"message":""}"#),
        ("nextIdSimple", "bizType=test&batchSize=0", TEXT, ""),
        ("nextIdSimple", "bizType=test&batchSize=", TEXT, "9"),
        (
            "nextId",
            "bizType=gone",
            JSON,
            "{\"data\":null,\"code\":6,\"message\":\
             \"error query segmentId: can not find biztype:gone\"}",
        ),
        (
            "nextSegmentId",
            "bizType=gone",
            JSON,
            r#"{"data":null,"code":6,"message":"can not find biztype:gone"}"#,
        ),
        ("nextIdSimple", "bizType=gone", TEXT, ""),
        ("nextSegmentIdSimple", "bizType=gone", TEXT, ""),
        ("nextId", "bizType=", JSON, r#"{"data":null,"code":5,"message":"token is error"}"#),
        ("nextId", "x=1", JSON, r#"{"data":null,"code":5,"message":"token is error"}"#),
    ] {
        let answer = ask(&server, path, query);
        let found = (answer.status, answer.header("content-type"), answer.text());
        assert_eq!(found, (200, kind, body), "{path}?{query}");
    }
    // As many as there may be, whatever is asked for.
    let many = ask(&server, "nextIdSimple", "bizType=test&batchSize=2147483647");
    assert_eq!(many.text().split(',').count(), 100_000);
}

#[test]
fn a_trailing_slash_is_ignored() {
    let server = tinyid();
    for (path, body) in [
        ("nextId/", r#"{"data":[2],"code":200,"message":""}"#),
        ("nextIdSimple/", "3"),
        ("nextSegmentIdSimple/", "100001,120001,200001,1,0"),
    ] {
        assert_eq!(ask(&server, path, "bizType=test").text(), body, "{path}");
    }
    assert_eq!(ask(&server, "nextSegmentId/", "bizType=test").json()["code"], 200);
    assert_eq!(ask(&server, "nextId//", "bizType=test").status, 404);
}

#[test]
fn a_token_is_for_its_tags() {
    let server = tinyid();
    let error = r#"{"data":null,"code":5,"message":"token is error"}"#;
    for query in [
        "bizType=test&token=another",
        "bizType=test&token=",
        "bizType=test",
        "bizType=test&token=0f673adf80504e2eaa552f5d791b644",
        "bizType=*&token=another",
        "bizType=TEST&token=0f673adf80504e2eaa552f5d791b644c",
        // To tinyid, a star is a character as any other.
        "bizType=test&token=starred",
    ] {
        for path in ["nextId", "nextSegmentId"] {
            let answer = server.get(&format!("/tinyid/id/{path}?{query}"));
            assert_eq!((answer.status, answer.text()), (200, error), "{path}?{query}");
        }
        for path in ["nextIdSimple", "nextSegmentIdSimple"] {
            let answer = server.get(&format!("/tinyid/id/{path}?{query}"));
            assert_eq!((answer.status, answer.text()), (200, ""), "{path}?{query}");
        }
    }
    let odd = server.get("/tinyid/id/nextIdSimple?bizType=test_odd&token=another");
    assert_eq!(odd.text(), "3");
    let header = ["authorization: Bearer another"];
    let odd = server.send("GET", "/tinyid/id/nextIdSimple?bizType=test_odd", &header, "");
    assert_eq!(odd.text(), "5");
}

#[test]
fn tokens_of_the_table_are_read_again() {
    let server = tinyid_with(&["--token-refresh=50ms"]);
    let ask = || server.get("/tinyid/id/nextIdSimple?bizType=test&token=another").text().to_owned();
    assert_eq!(ask(), "");
    let file = rusqlite::Connection::open(server.file()).unwrap();
    let add = "INSERT INTO tiny_id_token (token, biz_type) VALUES ('another', 'test')";
    file.execute(add, []).unwrap();
    server.wait_for("allowed", || !ask().is_empty());
    // If the table cannot be read, the tokens read before stay valid.
    file.execute("ALTER TABLE tiny_id_token RENAME TO away", []).unwrap();
    server.wait_for("told of", || server.log().contains("the tokens of the table stay as"));
    assert_ne!(ask(), "");
    file.execute("ALTER TABLE away RENAME TO tiny_id_token", []).unwrap();
    file.execute("DELETE FROM tiny_id_token", []).unwrap();
    server.wait_for("refused", || ask().is_empty());
}

#[test]
fn each_call_takes_a_segment_from_the_database() {
    let server = tinyid();
    let first = ask(&server, "nextSegmentId", "bizType=test");
    assert_eq!(
        first.text(),
        "{\"data\":{\"maxId\":100001,\"loadingId\":20001,\"currentId\":1,\"delta\":1,\
         \"remainder\":0},\"code\":200,\"message\":\"\"}"
    );
    let second = ask(&server, "nextSegmentIdSimple", "bizType=test");
    assert_eq!(second.text(), "100001,120001,200001,1,0");
    let odd = ask(&server, "nextSegmentIdSimple", "bizType=test_odd");
    assert_eq!(odd.text(), "1,20001,100001,2,1");
    // As tinyid's server has it: the numbers below the remainder's first one are not skipped.
    let file = rusqlite::Connection::open(server.file()).unwrap();
    let row = "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder)
        VALUES ('gone', 1, 10, 7, 5, 2)";
    file.execute(row, []).unwrap();
    let odd = ask(&server, "nextSegmentIdSimple", "bizType=gone");
    assert_eq!(odd.text(), "10,11,17,5,2");
}

#[test]
fn the_java_client_is_answered() {
    let server = tinyid();
    // As HttpURLConnection sends it, on one connection.
    let path = format!("/tinyid/id/nextSegmentIdSimple?token={TOKEN}&bizType=test");
    let request = format!(
        "POST {path} HTTP/1.1\r\nUser-Agent: Java/1.8.0_392\r\nHost: {}\r\n\
         Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2\r\n\
         Connection: keep-alive\r\nContent-type: application/x-www-form-urlencoded\r\n\
         Content-Length: 0\r\n\r\n",
        server.address
    );
    let mut stream = server.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut last = 1;
    for _ in 0..3 {
        stream.write_all(request.as_bytes()).unwrap();
        let answer = Answer::read(&mut reader);
        assert_eq!(answer.status, 200);
        // As its SegmentId is made: five numbers, the first of which is where it goes on.
        let numbers: Vec<i64> =
            answer.text().split(',').map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers, [last, last + 20_000, last + 100_000, 1, 0]);
        last = numbers[2];
    }
}

#[test]
fn parameters_may_be_in_a_form() {
    let server = tinyid();
    let form = ["content-type: application/x-www-form-urlencoded; charset=UTF-8"];
    let body = format!("bizType=test&token={TOKEN}&batchSize=2");
    let answer = server.send("POST", "/tinyid/id/nextIdSimple", &form, &body);
    assert_eq!(answer.text(), "2,3");
    // The query goes before the form.
    let answer = server.send("PUT", "/tinyid/id/nextIdSimple?batchSize=1", &form, &body);
    assert_eq!(answer.text(), "4");
    let answer =
        server.send("POST", "/tinyid/id/nextIdSimple", &["content-type: text/plain"], &body);
    assert_eq!(answer.text(), "");
}

#[test]
fn a_number_that_is_none_is_springs_error() {
    let server = tinyid();
    let answer = ask(&server, "nextId", "bizType=test&batchSize=x%22");
    assert_eq!((answer.status, answer.header("content-type")), (400, JSON));
    let timestamp = answer.json()["timestamp"].as_i64().unwrap();
    assert!(timestamp > 1_700_000_000_000);
    assert_eq!(
        answer.text(),
        format!(
            "{{\"timestamp\":{timestamp},\"status\":400,\"error\":\"Bad Request\",\"exception\":\
             \"org.springframework.web.method.annotation.MethodArgumentTypeMismatchException\",\
             \"message\":\"Failed to convert value of type 'java.lang.String' to required type \
             'java.lang.Integer'; nested exception is java.lang.NumberFormatException: For input \
             string: \\\"x\\\"\\\"\",\"path\":\"/tinyid/id/nextId\"}}"
        )
    );
}

#[test]
fn what_is_off_is_not_there() {
    let server = Server::start(&["--tinyid=false"]);
    for path in ["nextId", "nextIdSimple", "nextSegmentId", "nextSegmentIdSimple"] {
        let answer = server.get(&format!("/tinyid/id/{path}?bizType=test&token=x"));
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[cfg(feature = "postgres")]
#[test]
fn tokens_are_read_again_while_another_start_fails() {
    let folder = tinyid().stop();
    // Nothing listens there.
    let away = "--leaf-db=postgres://nobody@127.0.0.1:1/ids";
    let options = ["--table=tinyid", "--token-refresh=50ms", "--leaf-snowflake", away];
    let server = Server::launch(folder, &options);
    let take = || ask(&server, "nextIdSimple", "bizType=test").text().to_owned();
    server.wait_for("started", || !take().is_empty());
    server.wait_for("refused", || server.log().contains("127.0.0.1:1"));
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch("UPDATE tiny_id_token SET token = 'new'").unwrap();
    server.wait_for("revoked", || take().is_empty());
    let new = server.get("/tinyid/id/nextIdSimple?bizType=test&token=new");
    assert!(!new.text().is_empty(), "{new:?}");
}
