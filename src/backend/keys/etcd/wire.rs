//! What etcd's gateway is asked, and what its answers say.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::backend::keys::{Action, Change, Entry, Version};

/// What is asked.
pub struct Request {
    pub path: &'static str,
    pub body: String,
    /// Whether it may change anything. If no answer comes, it is unknown whether it did.
    pub is_write: bool,
}

/// Whose an answer is, and how far its cluster had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub cluster: u64,
    pub member: u64,
    pub revision: u64,
    /// The term of the last entry that the member had applied. Zero if there was none since its
    /// start.
    pub term: u64,
}

/// What is wrong with an answer.
pub type Malformed = &'static str;

const NOT_ETCD: Malformed = "its answer is not one of etcd";

impl Request {
    /// Reads `keys`, together.
    pub fn read(keys: &[String]) -> Request {
        let ranges = keys.iter().map(|key| json!({"request_range": {"key": encoded(key)}}));
        let body = json!({"success": ranges.collect::<Vec<_>>()});
        Request { path: "/v3/kv/txn", body: body.to_string(), is_write: false }
    }

    /// Reads at most `limit` keys that begin with `folder`, which ends with a slash, from the one
    /// after `last`.
    pub fn list(folder: &str, last: Option<&str>, limit: usize) -> Request {
        let from = last.map_or_else(|| folder.to_owned(), |last| format!("{last}\0"));
        let body = json!({
            "key": encoded(&from),
            "range_end": encoded(&end_of(folder)),
            "limit": limit.to_string(),
        });
        Request { path: "/v3/kv/range", body: body.to_string(), is_write: false }
    }

    /// Counts the keys that begin with `folder`, which ends with a slash.
    pub fn count(folder: &str) -> Request {
        let body = json!({
            "key": encoded(folder), "range_end": encoded(&end_of(folder)), "count_only": true,
        });
        Request { path: "/v3/kv/range", body: body.to_string(), is_write: false }
    }

    /// Makes the `changes` of keys, which are named in full.
    pub fn commit<'a>(changes: impl Iterator<Item = (String, &'a Change<'a>)>) -> Request {
        let (mut compare, mut success) = (Vec::new(), Vec::new());
        for (key, change) in changes {
            let key = encoded(&key);
            compare.push(match change.version {
                Some(Version::Number(revision)) => json!({
                    "key": key, "target": "MOD", "result": "EQUAL",
                    "mod_revision": revision.to_string(),
                }),
                // No key of etcd has another kind of version.
                Some(Version::Value(value)) => json!({
                    "key": key, "target": "VALUE", "result": "EQUAL", "value": encoded(value),
                }),
                None => json!({
                    "key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0",
                }),
            });
            match change.action {
                Action::Check => {}
                Action::Write(value) => {
                    success.push(json!({"request_put": {"key": key, "value": encoded(value)}}));
                }
                Action::Remove => success.push(json!({"request_delete_range": {"key": key}})),
            }
        }
        let body = json!({"compare": compare, "success": success});
        Request { path: "/v3/kv/txn", body: body.to_string(), is_write: true }
    }

    /// Removes `key`, which is not there. That changes no revision, and is written to the logs of
    /// the members as each transaction is. It may be sent again.
    pub fn nothing(key: &str) -> Request {
        let body = json!({"success": [{"request_delete_range": {"key": encoded(key)}}]});
        Request { path: "/v3/kv/txn", body: body.to_string(), is_write: false }
    }

    pub fn token(user: &str, password: &str) -> Request {
        let body = json!({"name": user, "password": password}).to_string();
        Request { path: "/v3/auth/authenticate", body, is_write: false }
    }

    pub fn status() -> Request {
        let body = "{}".to_owned();
        Request { path: "/v3/maintenance/status", body, is_write: false }
    }

    pub fn members() -> Request {
        Request { path: "/v3/cluster/member/list", body: "{}".to_owned(), is_write: false }
    }
}

impl Header {
    pub fn of(answer: &Value) -> Result<Header, Malformed> {
        let header = &answer["header"];
        let number = |name: &str| number(&header[name]);
        let header = Header {
            cluster: number("cluster_id")?,
            member: number("member_id")?,
            revision: number("revision")?,
            term: number("raft_term")?,
        };
        if header.cluster == 0 { Err(NOT_ETCD) } else { Ok(header) }
    }
}

/// What comes after all keys that begin with `folder`: it ends with the character after the slash.
fn end_of(folder: &str) -> String {
    format!("{}0", folder.trim_end_matches('/'))
}

/// What the answer to [`Request::read`] says of `keys`.
pub fn values(answer: &Value, keys: &[String]) -> Result<Vec<Option<Entry>>, Malformed> {
    let responses = answer["responses"].as_array().ok_or(NOT_ETCD)?;
    if responses.len() != keys.len() {
        return Err("its answer has another number of keys than it was asked for");
    }
    let value = |(response, key): (&Value, &String)| {
        let mut found = entries(&response["response_range"])?;
        match (found.pop(), found.pop()) {
            (None, _) => Ok(None),
            (Some((name, entry)), None) if name == *key => Ok(Some(entry)),
            _ => Err("its answer has other keys than it was asked for"),
        }
    };
    responses.iter().zip(keys).map(value).collect()
}

/// The keys in the answer to [`Request::list`], in full, in their order; and whether there are
/// more.
pub fn page(answer: &Value) -> Result<(Vec<(String, Entry)>, bool), Malformed> {
    let found = entries(answer)?;
    let is_more = answer["more"].as_bool().unwrap_or(false);
    Ok((found, is_more))
}

fn entries(range: &Value) -> Result<Vec<(String, Entry)>, Malformed> {
    let Some(pairs) = range.get("kvs") else {
        // What is empty is left out.
        return if range.is_object() { Ok(Vec::new()) } else { Err(NOT_ETCD) };
    };
    let entry = |pair: &Value| {
        let key = decoded(&pair["key"]).ok_or("it has a key that is no text")?;
        let value = match &pair["value"] {
            Value::Null => Some(String::new()),
            value => decoded(value),
        };
        let value = value.ok_or("it has a value that is no text")?;
        let revision = number(&pair["mod_revision"])?;
        let revision = i64::try_from(revision).ok().filter(|revision| *revision > 0);
        let version = Version::Number(revision.ok_or("it has a key without mod_revision")?);
        Ok((key, Entry { value, version }))
    };
    pairs.as_array().ok_or(NOT_ETCD)?.iter().map(entry).collect()
}

/// Numbers of 64 bits are texts in the gateway's JSON. Zero is left out.
pub fn number(value: &Value) -> Result<u64, Malformed> {
    let number = match value {
        Value::Null => Some(0),
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    };
    number.ok_or("its answer has a number that is none")
}

fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

fn decoded(value: &Value) -> Option<String> {
    String::from_utf8(STANDARD.decode(value.as_str()?).ok()?).ok()
}
