//! Numbers of tags from servers, over HTTP.

mod address;
mod client;
mod service;
mod tinyid;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use self::address::Address;
use self::client::{Client, Server, Trouble};
use crate::clock::Stopwatch;
use crate::segment::source::turns::{Turns, telling};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{AtomicBool, Ordering};

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
/// Each load is a call to one of the servers, by turns; takes go on from memory, as with every
/// source. A server that does not answer, or says that it does not serve for now, is left out for a
/// while, from a second to a minute, and another one is asked within the same load. What all
/// servers would say is final: that there is no such tag, or that the token may not use it.
///
/// # The two protocols
///
/// A server is asked as `uidring-server` first: `POST /v1/tags/{tag}/segments`, with the token in a
/// header. What does not answer so is asked as tinyid: `POST /tinyid/id/nextSegmentIdSimple`, with
/// the token in the query, which is where tinyid reads it. A server that gave numbers in this way
/// is asked in this way alone from then on. [`tinyid`](HttpSegments::tinyid) says so from the
/// beginning.
///
/// tinyid gives a step of the row at a time. Where demand is high, several are loaded one after the
/// other, so a larger step means fewer calls.
///
/// # Guarantees
///
/// * No number is given twice, as far as the servers count each number once. An answer that is lost
///   takes its numbers with it, so asking again is safe.
/// * Numbers of a tag increase, or, where the servers have several databases that interleave
///   (tinyid's `delta` and `remainder`), those of each remainder do. A segment that does not lie
///   behind the one before is an error. So servers that do not share a database, and would give
///   numbers twice, are found out by a process that asks both.
/// * What is left at the end of a process is lost: neither protocol takes numbers back.
///
/// # Cost
///
/// Each call makes a connection; none is held in between. Redirects are not followed, proxies are
/// not used, and answers are limited in time and length. The token is in no error and in no event.
/// The client, [ureq](https://docs.rs/ureq), has debugging output of its own: at the level `trace`
/// of the crate `log` it tells what it sends, token included, so leave that off.
pub struct HttpSegments {
    client: Result<Client, &'static str>,
    servers: Vec<Place>,
    turns: Turns,
    timeout: Duration,
}

/// One of the servers.
#[derive(Debug)]
struct Place {
    /// What is wrong with the address, if anything.
    address: Result<Address, &'static str>,
    /// Whether it gave numbers as tinyid does.
    is_tinyid: AtomicBool,
}

impl Place {
    fn is_tinyid(&self) -> bool {
        // ORDERING: a hint, which the next answer corrects.
        self.is_tinyid.load(Ordering::Relaxed)
    }

    fn set_tinyid(&self) {
        // ORDERING: see `is_tinyid`.
        self.is_tinyid.store(true, Ordering::Relaxed);
    }
}

impl HttpSegments {
    /// The tags that the servers at these addresses have, for whom `token` may use them. An empty
    /// token is not sent. Nothing is asked yet; an address that is none is an error of the first
    /// call.
    ///
    /// An address is `http://host:port` or `https://host:port`, and may have a path, below which
    /// the server answers. All servers give numbers of the same tags, from the same database.
    #[must_use]
    pub fn new<A: AsRef<str>>(
        servers: impl IntoIterator<Item = A>,
        token: impl AsRef<str>,
    ) -> HttpSegments {
        let place = |server: A| Place {
            address: Address::of(server.as_ref()),
            is_tinyid: AtomicBool::new(false),
        };
        let servers: Vec<Place> = servers.into_iter().map(place).collect();
        HttpSegments {
            client: Client::new(token.as_ref()),
            turns: Turns::of(servers.len()),
            servers,
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Says that these are servers of tinyid, or speak its protocol: they are asked in no other
    /// way.
    #[must_use]
    pub fn tinyid(self) -> HttpSegments {
        self.servers.iter().for_each(Place::set_tinyid);
        self
    }

    /// Sets how long a call may take, all servers together: five seconds unless set. Of what is
    /// left of it, each server that is still to be asked has an equal share.
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
    /// [`SegmentError::Open`] when the file cannot be read or holds no certificate.
    pub fn with_root_certificate(
        mut self,
        path: impl AsRef<Path>,
    ) -> Result<HttpSegments, SegmentError> {
        if let Ok(client) = &mut self.client {
            let trusted = client.trust(path.as_ref());
            trusted.map_err(|problem| open(self.name(), problem))?;
        }
        Ok(self)
    }

    /// Asks one server after the other, by turns, until one answers.
    fn ask<T>(
        &self,
        question: impl Fn(&Place, &Server<'_>) -> Result<T, Trouble>,
    ) -> Result<T, SegmentError> {
        let refuse = |problem: &str| open(self.name(), problem.to_owned());
        let client = self.client.as_ref().map_err(|problem| refuse(problem))?;
        if let Some(problem) = self.servers.iter().find_map(|place| place.address.as_ref().err()) {
            return Err(refuse(problem));
        }
        let since = Stopwatch::start();
        let order = self.turns.next();
        let mut failure = None;
        for (asked, &index) in order.iter().enumerate() {
            let place = &self.servers[index];
            let Ok(address) = &place.address else { continue };
            let left = self.timeout.saturating_sub(since.elapsed());
            if left.is_zero() && failure.is_some() {
                break;
            }
            let others = u32::try_from(order.len() - asked).unwrap_or(u32::MAX);
            let timeout = left / others;
            match question(place, &Server { client, address, since: Stopwatch::start(), timeout }) {
                Ok(answer) => {
                    self.turns.answered(index);
                    return Ok(answer);
                }
                Err(Trouble { error, is_final: true, .. }) => {
                    self.turns.answered(index);
                    return Err(error);
                }
                Err(Trouble { error, pause, .. }) => {
                    self.turns.failed(index, pause);
                    failure = Some(telling(failure, error));
                }
            }
        }
        Err(failure.unwrap_or_else(|| {
            open("no server".to_owned(), "HttpSegments was given none; give it one or more")
        }))
    }
}

fn open(place: String, problem: impl Into<String>) -> SegmentError {
    SegmentError::Open { place, problem: problem.into(), source: None }
}

fn bad_tag(tag: &str, problem: &str) -> SegmentError {
    SegmentError::BadTag { tag: tag.to_owned(), problem: problem.to_owned() }
}

/// The error of what tinyid's servers do not do.
fn not_of_tinyid(server: &Server<'_>, what: &str) -> Trouble {
    server.refused(format!(
        "servers of tinyid {what}; where its database can be reached, `uidring tags` with \
         --table tinyid does"
    ))
}

impl SegmentSource for HttpSegments {
    fn name(&self) -> String {
        let names = self.servers.iter().map(|place| match &place.address {
            Ok(address) => address.to_string(),
            // There may be a password in it.
            Err(_) => "(an address)".to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.ask(|place, server| {
            if tag.is_empty() {
                return Err(server.no_such_tag(tag));
            }
            // tinyid has the tag in the query.
            if !place.is_tinyid()
                && let Some(problem) = service::unnameable(tag)
            {
                return Err(Trouble::last(bad_tag(tag, problem)));
            }
            if !place.is_tinyid()
                && let Some(segment) = service::load(server, tag, count)?
            {
                return Ok(segment);
            }
            let segment = tinyid::load(server, tag)?;
            place.set_tinyid();
            Ok(segment)
        })
    }

    /// Neither protocol takes numbers back.
    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    /// All tags, from `uidring-server`. Servers of tinyid do not tell them.
    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.ask(|place, server| {
            let tags = if place.is_tinyid() { None } else { service::tags(server)? };
            tags.ok_or_else(|| not_of_tinyid(server, "do not list their tags"))
        })
    }

    /// Creates `tag` in `uidring-server`, if the token may. In tinyid, an operator inserts the row.
    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        if let Some(problem) = service::unnameable(tag) {
            return Err(bad_tag(tag, problem));
        }
        self.ask(|place, server| {
            let record = if place.is_tinyid() { None } else { service::create(server, tag, new)? };
            record.ok_or_else(|| not_of_tinyid(server, "create no tags"))
        })
    }
}

impl fmt::Debug for HttpSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpSegments").field(&self.name()).finish()
    }
}
