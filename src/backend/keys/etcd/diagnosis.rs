//! What etcd's errors mean.

use serde_json::Value;
use ureq::http::StatusCode;

use super::http::Reply;
use crate::backend::address::password_file::CHECK_PASSWORD;
use crate::backend::keys::Error;
use crate::backend::server_message;

/// What a server says instead of an answer.
#[derive(Debug)]
pub enum ReplyError {
    /// The token is not one, or not any more. Nothing was done.
    Token(String),
    /// The cluster has no users.
    NoUsers,
    /// Another server may do it. Nothing was done.
    TryNext(Error),
    /// No answer of etcd came, as where the connection is closed without a word. It may have been
    /// done, or may still be.
    NoReply(Error),
    /// It may have been done, or may still be.
    Unknown(Error),
    /// No server will do it. Nothing was done, but for [`Error::Full`], after which that is
    /// unknown.
    Final(Error),
}

/// What the message means.
#[derive(Clone, Copy)]
enum ErrorKind {
    Token,
    NoUsers,
    TryNext(&'static str),
    Later(&'static str),
    NoReply(&'static str),
    Denied,
    Full,
    Unusable(&'static str),
}

const BUSY: &str =
    "see that a majority of its members runs, can reach one another, and is not overloaded";

/// The messages, by <https://pkg.go.dev/go.etcd.io/etcd/api/v3/v3rpc/rpctypes>. Those that are not
/// here are told apart by their codes.
const MESSAGES: &[(&str, ErrorKind)] = &[
    ("invalid auth token", ErrorKind::Token),
    ("revision of auth store is old", ErrorKind::Token),
    ("revision in header is old", ErrorKind::Token),
    ("user name is empty", ErrorKind::Token),
    ("authentication is not enabled", ErrorKind::NoUsers),
    ("authentication failed", ErrorKind::Unusable(CHECK_PASSWORD)),
    ("permission denied", ErrorKind::Denied),
    ("database space exceeded", ErrorKind::Full),
    ("corrupt cluster", ErrorKind::Unusable(CORRUPT)),
    ("not supported for learner", ErrorKind::TryNext(LEARNER)),
    (
        "too many operations",
        ErrorKind::Unusable("start its members with a larger --max-txn-ops than they have"),
    ),
    (
        "request is too large",
        ErrorKind::Unusable("start its members with a larger --max-request-bytes than they have"),
    ),
];

pub const CORRUPT: &str = "its alarm CORRUPT says that its members do not have the same data; \
                           replace the members that are wrong, and run etcdctl alarm disarm";
pub const LEARNER: &str = "it is a learner, which takes no part in decisions; name members that \
                           vote in the address, or run etcdctl member promote";

/// The JSON of an answer, or what the server says instead.
pub fn parse_reply(reply: &Reply, secrets: &[&str]) -> Result<Value, ReplyError> {
    let Reply { status, text, .. } = reply;
    let json: Option<Value> = serde_json::from_str(text).ok().filter(Value::is_object);
    if *status == StatusCode::OK {
        let malformed = || {
            ReplyError::Unknown(Error::problem(
                "what it answers is not JSON; see the \
                                                          address",
            ))
        };
        return json.ok_or_else(malformed);
    }
    let message_of = |text: &str| {
        format!("{}: {}", status.as_u16(), server_message::sanitize(text, secrets, "(a secret)"))
    };
    // Gateways of 3.4 and 3.5 have both members.
    let message =
        json.as_ref().and_then(|json| json["message"].as_str().or(json["error"].as_str()));
    let Some((json, message)) = json.as_ref().zip(message) else {
        return Err(not_etcd(*status, &message_of(text)));
    };
    let cause = || message_of(message).into();
    let unusable =
        |problem: &str| Error::Unusable { problem: problem.to_owned(), source: Some(cause()) };
    let unreachable =
        |problem: &str| Error::Unreachable { problem: problem.to_owned(), source: Some(cause()) };
    let found = MESSAGES.iter().find(|(known, _)| message.contains(known));
    let code = json["code"].as_i64();
    let kind = found.map_or_else(|| kind_of_code(code, message), |(_, kind)| *kind);
    Err(match kind {
        ErrorKind::Token => ReplyError::Token(message_of(message)),
        ErrorKind::NoUsers => ReplyError::NoUsers,
        ErrorKind::TryNext(problem) => ReplyError::TryNext(unreachable(problem)),
        ErrorKind::Later(problem) => ReplyError::Unknown(unreachable(problem)),
        ErrorKind::NoReply(problem) => ReplyError::NoReply(unreachable(problem)),
        ErrorKind::Denied => ReplyError::Final(Error::Denied(cause())),
        ErrorKind::Full => ReplyError::Final(Error::Full(
            format!(
                "{}; compact and defragment it, or raise its --quota-backend-bytes, and then run \
                 etcdctl alarm disarm",
                message_of(message)
            )
            .into(),
        )),
        ErrorKind::Unusable(problem) => ReplyError::Final(unusable(problem)),
    })
}

/// What a code of gRPC means, whatever else the message says.
fn kind_of_code(code: Option<i64>, message: &str) -> ErrorKind {
    match code {
        // INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, OUT_OF_RANGE: it was looked at, and not
        // made.
        Some(3 | 5 | 9 | 11) => ErrorKind::Unusable("see what it says"),
        Some(7) => ErrorKind::Denied,
        Some(12) => ErrorKind::Unusable("see that it is etcd 3.4 or later"),
        Some(16) => ErrorKind::Token,
        _ if message.starts_with("etcdserver: ") => ErrorKind::Later(BUSY),
        // The gateway has got no answer itself, as where "transport is closing".
        _ => ErrorKind::NoReply(BUSY),
    }
}

/// What something else than etcd means, such as a proxy.
fn not_etcd(status: StatusCode, message: &str) -> ReplyError {
    let because = |problem: &str| Error::Unusable {
        problem: problem.to_owned(),
        source: Some(message.into()),
    };
    if status.is_server_error() {
        let problem = "it does not serve this call for now".to_owned();
        // A proxy says so, too, where the server behind it closes the connection.
        return ReplyError::NoReply(Error::Unreachable { problem, source: Some(message.into()) });
    }
    ReplyError::TryNext(match status.as_u16() {
        300..=399 => because(
            "it answers with a redirect, which is not followed; give the address that it leads to",
        ),
        404 | 405 => because(
            "it has no gateway for JSON; see that the port is one of --listen-client-urls, such as \
             2379, and not one for the other members, for metrics or of a grpc-proxy, and that it \
             is etcd 3.4 or later, without --enable-grpc-gateway=false",
        ),
        _ => because("it is not etcd that answers; see the address"),
    })
}
