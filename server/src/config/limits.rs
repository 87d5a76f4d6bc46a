//! Limits of connections and requests: options and constants.

use std::time::Duration;

use uidring_args::{length, quantity, some_length};

/// How many requests may call the database at once, and how many may wait for the first numbers of
/// a tag. Further requests queue.
pub(crate) const CALLS: usize = 16;
/// The most ids of one request.
pub(crate) const MAX_IDS: u64 = 100_000;
/// The most tags, or series, that are shown as the newest.
pub(crate) const MAX_NEWEST: u64 = 100_000;
/// The most counters of a series that are shown.
pub(crate) const MAX_COUNTERS: usize = 10_000;
/// The most numbers of one segment.
pub(crate) const MAX_SEGMENT: u64 = 1_000_000_000;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Threads that answer requests [default: one for each core]
    #[arg(long, value_name = "N", env = "UIDRING_SERVER_THREADS",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Connections at once, fewer where the system allows too few open files.
    /// Those above are answered with 503, or an error in the Redis protocol, and
    /// closed
    #[arg(long, value_name = "N", default_value_t = 20_000,
        env = "UIDRING_SERVER_MAX_CONNECTIONS",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: u32,

    /// The most numbers of a tag, or of a scope of a series, in memory: how many a
    /// kill loses at most. A larger step of the tag goes first. What clients have
    /// taken as segments is theirs [default: as many as the demand of 15 minutes]
    #[arg(long, value_name = "N", env = "UIDRING_SERVER_MAX_IN_MEMORY",
        value_parser = in_memory)]
    pub(crate) max_in_memory: Option<u64>,

    /// The largest head of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16_384,
        env = "UIDRING_SERVER_MAX_HEADER",
        value_parser = clap::value_parser!(u32).range(8192..=1_048_576))]
    pub(crate) max_header: u32,

    /// The largest body of a request, and the largest command in the Redis
    /// protocol, in bytes. A form for tinyid has 4096 at most, and so has a
    /// command before AUTH where tokens are set
    #[arg(long, value_name = "BYTES", default_value_t = 65_536,
        env = "UIDRING_SERVER_MAX_BODY",
        value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub(crate) max_body: u32,

    /// The memory for answers above 32 KiB that are being sent, in bytes. If
    /// there is no room, a request for ids waits for up to 5 s and then gets 503;
    /// others get it at once. The page and the metrics do not count
    #[arg(long, value_name = "BYTES", default_value_t = 67_108_864,
        env = "UIDRING_SERVER_MAX_ANSWER_MEMORY",
        value_parser = clap::value_parser!(u64).range(1_048_576..=1_099_511_627_776))]
    pub(crate) max_answer_memory: u64,

    /// How long a connection may take to send the head of its next request, or
    /// its next command in the Redis protocol, idle time included, before it is
    /// closed
    #[arg(long, value_name = "LENGTH", default_value = "60s",
        env = "UIDRING_SERVER_HEADER_TIMEOUT", value_parser = some_length)]
    pub(crate) header_timeout: Duration,

    /// How long a request may take to send its body
    #[arg(long, value_name = "LENGTH", default_value = "10s",
        env = "UIDRING_SERVER_BODY_TIMEOUT", value_parser = some_length)]
    pub(crate) body_timeout: Duration,

    /// How long a client that does not keep up may take to read an answer
    /// before it is cut off
    #[arg(long, value_name = "LENGTH", default_value = "20s",
        env = "UIDRING_SERVER_WRITE_TIMEOUT", value_parser = some_length)]
    pub(crate) write_timeout: Duration,

    /// How long to go on answering what has been asked after SIGTERM
    #[arg(long, value_name = "LENGTH", default_value = "10s",
        env = "UIDRING_SERVER_GRACE", value_parser = length)]
    pub(crate) grace: Duration,
}

fn in_memory(text: &str) -> Result<u64, String> {
    quantity::count_of(text, "numbers in memory", 1..=u64::MAX)
}

impl Limits {
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => threads.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
