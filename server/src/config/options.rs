//! All that can be set: on the command line, by a variable, or in a file, under one name.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Parser};
use uidring::Layout;
use uidring::masked::Masked;
use uidring_args::{
    Db, KeyFile, LayoutArgs, RegistryConfig, Table, WorkerIdArgs, length, time, worker_ids,
};

use crate::config::db;
use crate::config::limits::Limits;
use crate::config::listen::{ListenAddress, UnixMode};
use crate::config::shared;
use crate::routes::{Group, Route};
use crate::security::access::Tokens;
use crate::security::secret::Secret;
use crate::security::tls::Tls;

/// UIDs, dense numbers and numbers of series, for programs in any language.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "uidring-server",
    // Also where the program's file is uidring-server.exe.
    bin_name = "uidring-server",
    version,
    max_term_width = 80,
    args_override_self = true,
    mut_args = shared::with_variable,
    after_help = "\
Each option has a variable, UIDRING_SERVER_MAX_BODY for --max-body, and a key
in the file of --config, max-body. The command line goes before a variable,
and a variable before the file. max_body, max.body, maxBody and MAX_BODY are
the same name."
)]
pub(crate) struct Options {
    /// A TOML file with options: its keys are the long names
    #[arg(long, value_name = "FILE", env = "UIDRING_SERVER_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// Check and end: `options` for the options and the files that they name,
    /// `all` also whether a start with the databases would succeed. Nothing is
    /// made. Ends with 0; with 2 where the options are wrong, with 1 where a
    /// start would end with an error, and with 3 where a database is away, for
    /// which a start would wait
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true,
        default_missing_value = "all")]
    pub(crate) check: Option<Check>,

    /// Print a file of options, a manual page, or completions for a shell, and
    /// end
    #[arg(long, value_name = "WHAT")]
    pub(crate) generate: Option<Generate>,

    /// The address and port to listen on, where port 0 takes a free one, the
    /// path of a Unix socket, as `unix:/run/uidring/http.sock`, or a socket that
    /// systemd hands over, by its `FileDescriptorName=`, as `systemd:http`
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080",
        env = "UIDRING_SERVER_LISTEN"
    )]
    pub(crate) listen: ListenAddress,

    /// Also answer clients of Redis, in its protocol, at this address and port,
    /// as 127.0.0.1:6380, on a Unix socket, or on one from systemd
    #[arg(long, value_name = "ADDRESS", env = "UIDRING_SERVER_RESP_LISTEN")]
    pub(crate) resp_listen: Option<ListenAddress>,

    /// The permissions of Unix sockets, as chmod has them
    #[arg(long, value_name = "MODE", default_value = "0660", env = "UIDRING_SERVER_UNIX_MODE")]
    pub(crate) unix_mode: UnixMode,

    /// The store of worker ids, tags and series: a SQLite file, or the address of a
    /// server, postgres://.., mysql://.., etcd://.., zookeeper://.. or redis://..
    /// [default: one file for each user and machine, uidring/uidring.db in the
    /// user's state folder, as for the tool uidring]
    #[arg(long, value_name = "FILE|URL", env = "UIDRING_SERVER_DB", hide_env_values = true,
        value_parser = Db::parser())]
    pub(crate) db: Option<Db>,

    /// The table that dense numbers come from
    #[arg(long, value_name = "TABLE", default_value = "own", env = "UIDRING_SERVER_TABLE")]
    pub(crate) table: Table,

    /// Whether there are time-ordered ids, which need uidring's own tables or keys
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set,
        env = "UIDRING_SERVER_UIDS")]
    pub(crate) uids: bool,

    /// What this instance is called on its page [default: the name of the host]
    #[arg(long, value_name = "NAME", env = "UIDRING_SERVER_NAME")]
    name: Option<String>,

    /// How the log on stderr is written
    #[arg(long, value_name = "FORMAT", default_value = "text", env = "UIDRING_SERVER_LOG")]
    pub(crate) log: Log,

    #[command(flatten)]
    pub(crate) paths: Paths,

    #[command(flatten)]
    pub(crate) security: Security,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// What `--check` checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Check {
    All,
    Options,
}

/// What `--generate` prints.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Generate {
    /// A file of options, with all of them explained and none of them set
    Config,
    /// A manual page
    Man,
    /// Completions for a shell
    Bash,
    Fish,
    Zsh,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Log {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// Which paths of other servers are enabled.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Paths of other servers")]
pub(crate) struct Paths {
    /// Whether Leaf's path /api/segment/get/KEY is there, with /cache and /db
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set,
        env = "UIDRING_SERVER_LEAF_SEGMENT")]
    pub(crate) leaf_segment: bool,

    /// Whether Leaf's path /api/snowflake/get/KEY is there. It has a worker id
    /// of its own, below 1024
    #[arg(long, value_name = "BOOL", default_value_t = false, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_missing_value = "true",
        env = "UIDRING_SERVER_LEAF_SNOWFLAKE")]
    pub(crate) leaf_snowflake: bool,

    /// Take only the worker ids A to B for Leaf's snowflakes, and leave the
    /// others to Leaf's own servers. Needed on machines with a file each and
    /// --worker-ids; the part of --partition also holds for the snowflakes
    #[arg(long, value_name = "A-B", env = "UIDRING_SERVER_LEAF_WORKER_IDS",
        value_parser = worker_ids)]
    pub(crate) leaf_worker_ids: Option<RangeInclusive<u64>>,

    /// When the ids of Leaf's snowflakes begin: RFC 3339, or a date
    /// [default: Leaf's own, 2010-11-04T01:42:54.657Z]
    #[arg(long, value_name = "TIME", env = "UIDRING_SERVER_LEAF_EPOCH",
        value_parser = time)]
    pub(crate) leaf_epoch: Option<std::time::SystemTime>,

    /// The registry of the worker ids of Leaf's snowflakes, as a registry has
    /// one layout [default: that of --db if its layout is theirs, as with
    /// --preset twitter, else the file beside it with the ending .leaf.db]
    #[arg(long, value_name = "FILE|URL", env = "UIDRING_SERVER_LEAF_DB", hide_env_values = true,
        value_parser = Db::parser())]
    pub(crate) leaf_db: Option<Db>,

    /// Whether tinyid's paths are there, /tinyid/id/nextId and the others
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set,
        env = "UIDRING_SERVER_TINYID")]
    pub(crate) tinyid: bool,
}

/// Access control.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Security")]
pub(crate) struct Security {
    /// A TOML file of tokens. To change it, write another and rename it
    #[arg(long, value_name = "FILE", env = "UIDRING_SERVER_TOKENS")]
    pub(crate) tokens: Option<PathBuf>,

    /// The token of an administrator, beside those of --tokens and of tinyid's
    /// table. Other users of the machine see a command line, but no variable
    #[arg(long, value_name = "TOKEN", env = "UIDRING_SERVER_ADMIN_TOKEN",
        hide_env_values = true, value_parser = Secret::parser())]
    pub(crate) admin_token: Option<Secret>,

    /// Whether the tokens in tinyid's table `tiny_id_token` count [default: true
    /// with --table tinyid]
    #[arg(long, value_name = "BOOL", action = ArgAction::Set,
        env = "UIDRING_SERVER_TOKEN_TABLE")]
    pub(crate) token_table: Option<bool>,

    /// How often the tokens and the certificate are read again, 50ms at least,
    /// and at once after SIGHUP. Where that fails, they stay
    #[arg(long, value_name = "LENGTH", default_value = "60s",
        env = "UIDRING_SERVER_TOKEN_REFRESH", value_parser = token_refresh)]
    pub(crate) token_refresh: Duration,

    /// Answer for this host, too, beside localhost and the addresses that it
    /// listens on: the name in the URL of clients, or `*` for all. Without
    /// tokens others are refused, because any web page can make a name of its
    /// own lead here. May be repeated; several are separated by commas
    #[arg(long, value_name = "NAME", env = "UIDRING_SERVER_HOST", value_delimiter = ',',
        action = ArgAction::Append, value_parser = host)]
    pub(crate) host: Vec<String>,

    /// The certificate for TLS, with its chain, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "UIDRING_SERVER_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", env = "UIDRING_SERVER_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,
}

/// How time-ordered ids are made.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Time-ordered ids")]
pub(crate) struct GeneratorOptions {
    /// Give each UID the time of its take, neither older nor ahead
    #[arg(long, value_name = "BOOL", default_value_t = false, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_missing_value = "true",
        env = "UIDRING_SERVER_EXACT_TIME")]
    pub(crate) exact_time: bool,

    /// Give the UIDs of /v1 masked, and read them masked, with the key in this
    /// file: 64 hexadecimal digits, as `openssl rand -hex 32` prints them. Then
    /// they tell neither time nor worker, and they are in no order. All that
    /// give and read them need the same key. The paths of Leaf are as before
    #[arg(long, value_name = "FILE", env = "UIDRING_SERVER_MASK_KEY")]
    mask_key: Option<PathBuf>,

    #[command(flatten)]
    worker_ids: WorkerIdArgs,

    /// Take worker ids from the table `WORKER_NODE` of Baidu's `UidGenerator`, on
    /// the MySQL server of --db, as Java programs do at the same time. The
    /// layout must be theirs
    #[arg(long, value_name = "BOOL", default_value_t = false, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_missing_value = "true",
        env = "UIDRING_SERVER_UID_GENERATOR")]
    uid_generator: bool,
}

impl GeneratorOptions {
    pub(crate) fn registry_config(&self) -> RegistryConfig {
        self.worker_ids.registry_config(self.uid_generator)
    }

    /// Checks whether `db` and `layout` fit `UidGenerator`'s table.
    fn check(&self, db: &Db, layout: Option<Layout>) -> Result<(), &'static str> {
        if !self.uid_generator {
            return Ok(());
        }
        if self.worker_ids.is_asked() {
            return Err(
                "ids of the table WORKER_NODE can neither be leased nor limited; leave out \
                        --lease, --partition and --worker-ids",
            );
        }
        if !db::is_of(db, "mysql") {
            return Err("the table WORKER_NODE is on a MySQL or MariaDB server; name it with \
                        --db mysql://..");
        }
        if layout.is_none() {
            return Err(
                "the table WORKER_NODE does not know the layout of its UIDs; name that of \
                        the other programs, with --layout and --epoch",
            );
        }
        Ok(())
    }
}

/// The files and values that [`Options::check`] has read.
pub(crate) struct CheckedOptions {
    pub(crate) db: Db,
    pub(crate) layout: Option<Layout>,
    /// That of Leaf's snowflakes.
    pub(crate) leaf_layout: Layout,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) tls: Option<Tls>,
    pub(crate) masked: Option<Masked>,
}

impl Options {
    /// The store of worker ids, tags and series.
    pub(crate) fn db(&self) -> Result<Db, String> {
        self.db.clone().map_or_else(Db::of_user, Ok)
    }

    /// Checks what clap cannot check, and reads the files that the options name.
    pub(crate) fn check(&self) -> Result<CheckedOptions, String> {
        let about = |option: &str, problem: String| format!("--{option}: {problem}");
        let db = self.db()?;
        db::check(&db).map_err(|problem| about("db", problem))?;
        if self.table == Table::CosId && !db::is_of(&db, "redis") {
            let problem = "CosId's counters are in Redis; name the server with --db redis://..";
            return Err(about("table", problem.to_owned()));
        }
        let layout = self.layout.requested().map_err(|error| about("layout", error.to_string()))?;
        let of_uid_generator = self.generator.check(&db, layout);
        of_uid_generator.map_err(|problem| about("uid-generator", problem.to_owned()))?;
        let leaf_layout = match self.paths.leaf_epoch {
            None => Layout::TWITTER,
            Some(epoch) => Layout::TWITTER
                .with_epoch(epoch)
                .map_err(|error| about("leaf-epoch", error.to_string()))?,
        };
        let Security { tokens, admin_token, tls_cert, tls_key, .. } = &self.security;
        let tokens = tokens.as_deref().map(Tokens::read).transpose();
        let tls = match (tls_cert, tls_key) {
            (Some(cert), Some(key)) => Some(Tls::open(cert, key)?),
            _ => None,
        };
        let tokens = tokens.map_err(|problem| about("tokens", problem))?;
        let keys = self.generator.mask_key.as_deref().map(KeyFile::read).transpose();
        let masked = keys.map_err(|problem| about("mask-key", problem))?.map(|keys| keys.masked());
        let fits = admin_token.as_ref().map_or(Ok(()), Secret::check);
        fits.map_err(|problem| about("admin-token", problem))?;
        self.leaf_registry(&db, layout, leaf_layout)?;
        Ok(CheckedOptions { db, layout, leaf_layout, tokens, tls, masked })
    }

    /// Whether the path is enabled.
    pub(crate) fn has(&self, route: Route) -> bool {
        let paths = &self.paths;
        match route.group() {
            Group::Always => true,
            Group::Uids => self.uids,
            Group::LeafSegment => paths.leaf_segment,
            Group::LeafSnowflake => paths.leaf_snowflake,
            Group::Leaf => paths.leaf_segment || paths.leaf_snowflake,
            Group::TinyId => paths.tinyid,
        }
    }

    /// The display name of this instance.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| gethostname::gethostname().to_string_lossy().into())
    }

    /// Whether no tokens are configured, so that every request is permitted.
    pub(crate) fn is_open(&self) -> bool {
        let Security { tokens, admin_token, .. } = &self.security;
        tokens.is_none() && admin_token.is_none() && !self.has_token_table()
    }

    /// Whether the tokens in tinyid's table are used.
    pub(crate) fn has_token_table(&self) -> bool {
        self.security.token_table.unwrap_or(self.table == Table::TinyId)
    }
}

fn token_refresh(text: &str) -> Result<Duration, String> {
    match length(text)? {
        short if short < Duration::from_millis(50) => {
            Err("tokens are read again every 50ms at most, as reading takes its time".to_owned())
        }
        length => Ok(length),
    }
}

fn host(text: &str) -> Result<String, String> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let ip = text.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    match ip {
        Ok(std::net::IpAddr::V6(ip)) => Ok(format!("[{ip}]")),
        _ if text == "*" || (!text.is_empty() && text.bytes().all(is_of_name)) => {
            Ok(text.to_owned())
        }
        _ => {
            Err("a host is a name such as ids.example.com, without a scheme and a port".to_owned())
        }
    }
}
