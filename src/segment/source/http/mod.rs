//! [`HttpSegments`]: numbers of tags from servers, over HTTP.

mod address;
mod client;
mod service;
mod tinyid;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use self::address::Address;
use self::client::{Client, Server, ServerError};
use crate::backend::StorageError;
use crate::backend::call::Deadline;
use crate::segment::source::round_robin::{RoundRobin, more_informative};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{AtomicU8, Ordering};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Numbers of tags from servers, for programs that may not reach the database: from
/// `uidring-server`, or from servers of tinyid, whose Java client this replaces.
///
/// ```no_run
/// use uidring::segment::{HttpSegments, Segments};
///
/// let servers = ["http://a.example.com:9999", "http://b.example.com:9999"];
/// let source = HttpSegments::new(servers, "0f673adf80504e2eaa552f5d791b644c");
/// let segments = Segments::builder().source(source).build()?;
/// let id = segments.tag("orders")?.take()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each load is a call to one of the servers, in rotation. Takes go on from memory, as with every
/// source. A server that does not answer, or is temporarily unavailable, is skipped for a second to
/// a minute, and another one is asked within the same load. Errors that every server would return
/// are final: there is no such tag, or the token may not use it.
///
/// # The two protocols
///
/// A server is first asked as `uidring-server`: `POST /v1/tags/{tag}/segments`, with the token in a
/// header. If it does not answer in this protocol, it is asked as tinyid: `POST
/// /tinyid/id/nextSegmentIdSimple`, with the token in the query, where tinyid expects it. Once a
/// server has given numbers in tinyid's protocol, only that is used for it.
/// [`tinyid`](HttpSegments::tinyid) selects it from the beginning. A server that has once answered
/// as `uidring-server` is not asked as tinyid until the process restarts.
/// [`service`](HttpSegments::service) rules that out from the beginning, so that a token is never
/// sent in a query, where proxies may log it.
///
/// tinyid gives one step of the row per call. With high demand, several are loaded in a row, so a
/// larger step means fewer calls.
///
/// # Guarantees
///
/// * No number is given twice, provided that the servers count each number once. If an answer is
///   lost, its numbers are lost, too, so asking again is safe.
/// * Numbers of a tag increase. If the servers have several databases that interleave (tinyid's
///   `delta` and `remainder`), the numbers of each remainder increase. A segment that does not lie
///   above the one before is an error. So a process that asks two servers without a common database
///   detects that they would give the same numbers.
/// * The numbers left at the end of a process are lost: neither protocol takes numbers back.
///
/// # Cost
///
/// Each call opens a connection and closes it. Redirects are not followed, proxies are not used,
/// and answers are limited in time and length. The token appears in no error and no event. The HTTP
/// client, [ureq](https://docs.rs/ureq), has its own debugging output: at the level `trace` of the
/// crate `log` it includes the token, so leave that off.
pub struct HttpSegments {
    client: Result<Client, &'static str>,
    servers: Vec<Place>,
    rotation: RoundRobin,
    timeout: Duration,
}

/// One of the servers.
#[derive(Debug)]
struct Place {
    /// The address, or what is wrong with it.
    address: Result<Address, &'static str>,
    /// The [`Protocol`] in which it has answered, or 0.
    protocol: AtomicU8,
}

#[derive(Clone, Copy, Debug)]
enum Protocol {
    Service = 1,
    TinyId,
}

impl Place {
    fn speaks(&self, protocol: Protocol) -> bool {
        // ORDERING: a hint, as others may learn of it at the same time.
        self.protocol.load(Ordering::Relaxed) == protocol as u8
    }

    fn note(&self, protocol: Protocol) {
        // ORDERING: see `speaks`.
        self.protocol.store(protocol as u8, Ordering::Relaxed);
    }

    /// What the server has answered in the protocol of `uidring-server`. `None` where it may be one
    /// of tinyid. One that has answered in it before is not: a proxy has answered in its place.
    fn of_service<T>(
        &self,
        server: &Server<'_>,
        ask: impl FnOnce() -> Result<Option<T>, ServerError>,
    ) -> Result<Option<T>, ServerError> {
        if self.speaks(Protocol::TinyId) {
            return Ok(None);
        }
        match ask()? {
            None if self.speaks(Protocol::Service) => Err(server.unexpected(
                "its answer is not one of uidring-server's; see what has answered in its place"
                    .to_owned(),
            )),
            None => Ok(None),
            answer => {
                self.note(Protocol::Service);
                Ok(answer)
            }
        }
    }
}

impl HttpSegments {
    /// The tags of the servers at these addresses, with this token. An empty token is not sent.
    /// Nothing is sent yet. An invalid address is an error of the first call.
    ///
    /// An address is `http://host:port` or `https://host:port`, with an optional path under which
    /// the server answers. All servers must give numbers of the same tags, from the same database.
    #[must_use]
    pub fn new<A: AsRef<str>>(
        servers: impl IntoIterator<Item = A>,
        token: impl AsRef<str>,
    ) -> HttpSegments {
        let place =
            |server: A| Place { address: Address::of(server.as_ref()), protocol: AtomicU8::new(0) };
        let servers: Vec<Place> = servers.into_iter().map(place).collect();
        HttpSegments {
            client: Client::new(token.as_ref()),
            rotation: RoundRobin::of(servers.len()),
            servers,
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Uses only tinyid's protocol, for servers of tinyid or compatible ones.
    #[must_use]
    pub fn tinyid(self) -> HttpSegments {
        self.servers.iter().for_each(|place| place.note(Protocol::TinyId));
        self
    }

    /// Uses only the protocol of `uidring-server`, so that the token is sent in no query.
    #[must_use]
    pub fn service(self) -> HttpSegments {
        self.servers.iter().for_each(|place| place.note(Protocol::Service));
        self
    }

    /// Sets the time limit of a call over all servers: five seconds unless set. The remaining time
    /// is divided equally among the servers that are still to be asked.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> HttpSegments {
        self.timeout = timeout;
        self
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, in place of Mozilla's list:
    /// for servers with certificates of one's own.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] if the file cannot be read or contains no certificate.
    pub fn with_root_certificate(
        mut self,
        path: impl AsRef<Path>,
    ) -> Result<HttpSegments, SegmentError> {
        if let Ok(client) = &mut self.client {
            let trusted = client.trust(path.as_ref());
            trusted.map_err(|problem| open(&self.name(), problem))?;
        }
        Ok(self)
    }

    /// Asks one server after another, in rotation, until one answers.
    fn ask<T>(
        &self,
        question: impl Fn(&Place, &Server<'_>) -> Result<T, ServerError>,
    ) -> Result<T, SegmentError> {
        let refuse = |problem: &str| open(&self.name(), problem.to_owned());
        let client = self.client.as_ref().map_err(|problem| refuse(problem))?;
        if let Some(problem) = self.servers.iter().find_map(|place| place.address.as_ref().err()) {
            return Err(refuse(problem));
        }
        let deadline = Deadline::after(self.timeout);
        let order = self.rotation.next();
        let mut failure = None;
        for (asked, &index) in order.iter().enumerate() {
            let place = &self.servers[index];
            let Ok(address) = &place.address else { continue };
            let left = deadline.left();
            if left.is_zero() && failure.is_some() {
                break;
            }
            let others = u32::try_from(order.len() - asked).unwrap_or(u32::MAX);
            let deadline = Deadline::after(left / others);
            match question(place, &Server { client, address, deadline }) {
                Ok(answer) => {
                    self.rotation.answered(index);
                    return Ok(answer);
                }
                Err(ServerError { error, is_final: true, .. }) => {
                    self.rotation.answered(index);
                    return Err(error);
                }
                Err(ServerError { error, pause, .. }) => {
                    self.rotation.failed(index, pause);
                    failure = Some(more_informative(failure, error));
                }
            }
        }
        Err(failure.unwrap_or_else(|| {
            open("no server", "HttpSegments was given none; give it one or more")
        }))
    }
}

fn open(store: &str, problem: impl Into<String>) -> SegmentError {
    StorageError::unusable(format!("the tags in {store}"), problem).into()
}

fn bad_tag(tag: &str, problem: &str) -> SegmentError {
    SegmentError::BadTag { tag: tag.to_owned(), problem: problem.to_owned() }
}

/// The error for an operation that tinyid's servers do not have.
fn not_of_tinyid(server: &Server<'_>, what: &str) -> ServerError {
    server.refused(format!(
        "servers of tinyid {what}; where its database can be reached, `uidring tags` with \
         --table tinyid does"
    ))
}

impl SegmentSource for HttpSegments {
    fn name(&self) -> String {
        let names = self.servers.iter().map(|place| match &place.address {
            Ok(address) => address.to_string(),
            // The text may contain a password.
            Err(_) => "(an address)".to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.ask(|place, server| {
            if tag.is_empty() {
                return Err(server.no_such_tag(tag));
            }
            // tinyid's protocol has the tag in the query, so this applies only to paths.
            if !place.speaks(Protocol::TinyId)
                && let Some(problem) = service::unnameable(tag)
            {
                return Err(ServerError::last(bad_tag(tag, problem)));
            }
            if let Some(segment) = place.of_service(server, || service::load(server, tag, count))? {
                return Ok(segment);
            }
            let segment = tinyid::load(server, tag)?;
            // A proxy may have refused the path of any other tag.
            if address::encoded(tag) == tag {
                place.note(Protocol::TinyId);
            }
            Ok(segment)
        })
    }

    /// Neither protocol takes numbers back.
    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    /// Lists all tags of `uidring-server`. Servers of tinyid cannot list them.
    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.ask(|place, server| {
            let tags = place.of_service(server, || service::tags(server))?;
            tags.ok_or_else(|| not_of_tinyid(server, "do not list their tags"))
        })
    }

    /// Creates `tag` in `uidring-server`, if the token permits it. In tinyid, an operator inserts
    /// the row.
    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        if let Some(problem) = service::unnameable(tag) {
            return Err(bad_tag(tag, problem));
        }
        self.ask(|place, server| {
            let record = place.of_service(server, || service::create(server, tag, new))?;
            record.ok_or_else(|| not_of_tinyid(server, "create no tags"))
        })
    }
}

impl fmt::Debug for HttpSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpSegments").field(&self.name()).finish()
    }
}
