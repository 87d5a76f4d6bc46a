//! Numbers of tags over HTTP, as programs meet them: servers that answer, that answer wrongly, and
//! that do not answer.

#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/causes.rs"]
mod causes;
#[cfg(all(feature = "contract", feature = "sqlite"))]
mod contract;
mod protocols;
mod server;
mod several;
mod tls;
mod wrong;

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use uidring::segment::{HttpSegments, SegmentError};

use causes::with_causes;
use server::{Reply, Request, Server, not_found, ok};

/// No error may say it.
const TOKEN: &str = "0f673adf80504e2eaa552f5d791b644c";

/// The segment of a service for the tag `orders`.
const SEGMENT: &str = r#"{"tag":"orders","first":"1001","count":"1000","delta":"1"}"#;

fn text<T: Debug>(result: Result<T, SegmentError>) -> String {
    let error = result.unwrap_err();
    let text = with_causes(&error);
    for text in [&text, &format!("{error:?}")] {
        assert!(!text.contains(TOKEN), "the token is secret: {text}");
    }
    text
}

fn source(server: &Server) -> HttpSegments {
    HttpSegments::new([server.url()], TOKEN)
}

/// For a server that never answers: nobody waits for the default of five.
const SHORT: Duration = Duration::from_secs(1);

/// A row of tinyid's: where it is, its step, delta and remainder.
struct Row(AtomicU64, u64, u64, u64);

impl Row {
    /// The next segment, as tinyid's server answers.
    fn next(&self) -> String {
        let Row(end, step, delta, remainder) = self;
        let current = end.fetch_add(*step, Ordering::SeqCst);
        format!("{current},{},{},{delta},{remainder}", current + step / 5, current + step)
    }
}

/// A server of tinyid's with this row for all tags.
fn tinyid(end: u64, step: u64, delta: u64, remainder: u64) -> impl Fn(&Request) -> Reply {
    let row = Row(AtomicU64::new(end), step, delta, remainder);
    move |request| if request.is_tinyid() { ok(&row.next()) } else { not_found() }
}
