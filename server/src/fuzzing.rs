//! What the fuzz targets call: the service without its sockets and threads, and what reads its
//! files. It is built for them alone, with `--cfg fuzzing`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use uidring::segment::Segments;
use uidring::{Layout, UidGenerator};

use crate::app::{self, App, DenseNumbers};
use crate::config::db;
use crate::config::limits::CALLS;
use crate::config::open_files::Plan;
use crate::config::options::Options;
use crate::config::options_file::{self, Refusal};
use crate::http;
use crate::process::threads::one_threaded;
use crate::resp::{codec, connection};
use crate::security::access::{Access, Permission, Tokens};
use crate::stats::counters::sum;

/// How much may be on its way between a client and the service.
const ON_ITS_WAY: usize = 64 << 10;

/// A service that has started, with the thread that made it as its only one.
pub struct Service {
    app: &'static App,
    http: http::Service,
    runtime: Runtime,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// The service with the options of this command line, which name a file of ids.
    ///
    /// # Errors
    ///
    /// What is wrong with the options or the file.
    pub fn start(args: &[&str]) -> Result<Service, String> {
        let options = read(args)?;
        let checked = options.check()?;
        let files = Plan::make(1, 1, options.limits.max_connections)?;
        let access = Access::new(options.is_open(), options.security.admin_token.clone());
        access.set_file(checked.tokens.unwrap_or_default());
        let app = App::new(options, files, access, None, checked.leaf_layout, checked.masked);
        let app: &'static App = Box::leak(Box::new(app));
        app::enter_thread(0);
        let problem = |unusable: db::StoreFailure| unusable.problem;
        let registry =
            db::registry(&checked.db, &app.options.generator.registry_config(), db::Mode::Start);
        let builder = UidGenerator::builder().registry(registry.map_err(problem)?);
        app.set_uids(builder.build().map_err(|error| error.to_string())?);
        let source =
            db::source(&checked.db, app.options.table, db::Mode::Start).map_err(problem)?;
        let segments = Segments::builder().source(source.clone()).loads(app.loads);
        let segments = segments.build().map_err(|error| error.to_string())?;
        app.set_tags(DenseNumbers { segments, source: Arc::new(source.clone()), store: source });
        app.series.set_db(checked.db.clone());
        app.loans.set_db(checked.db.clone());
        let _ = app.set_trouble(None);
        app.set_started();
        Ok(Service { app, http: http::Service::new(app), runtime: one_threaded(CALLS)? })
    }

    /// What a connection answers that is sent `bytes` and then closed.
    #[must_use]
    pub fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        let limits = &self.app.options.limits;
        self.runtime.block_on(async {
            let (client, server) = tokio::io::duplex(ON_ITS_WAY);
            let mut builder = http1::Builder::new();
            let connection = builder
                .timer(TokioTimer::new())
                .header_read_timeout(limits.header_timeout)
                .writev(false)
                // All that it was sent is answered, also where nothing follows.
                .half_close(true)
                .max_buf_size(limits.max_header as usize)
                .serve_connection(TokioIo::new(server), self.http.clone());
            let (mut answers, mut requests) = tokio::io::split(client);
            let send = async {
                let _ = requests.write_all(bytes).await;
                let _ = requests.shutdown().await;
            };
            let mut answer = Vec::new();
            let (_, (), _) = tokio::join!(connection, send, answers.read_to_end(&mut answer));
            answer
        })
    }

    /// What a connection of the Redis protocol answers that is sent `bytes` and then closed.
    #[must_use]
    pub fn answer_resp(&self, bytes: &[u8]) -> Vec<u8> {
        self.runtime.block_on(async {
            let (client, server) = tokio::io::duplex(ON_ITS_WAY);
            let (_end, ended) = tokio::sync::watch::channel(None);
            let serve = connection::serve(self.app, server, ended);
            let (mut answers, mut requests) = tokio::io::split(client);
            let send = async {
                let _ = requests.write_all(bytes).await;
                let _ = requests.shutdown().await;
            };
            let mut answer = Vec::new();
            let ((), (), _) = tokio::join!(serve, send, answers.read_to_end(&mut answer));
            answer
        })
    }

    /// How many ids, numbers and segments were given.
    #[must_use]
    pub fn ids_given(&self) -> u64 {
        let counters = &self.app.counters;
        sum(counters, |of| &of.uids)
            + sum(counters, |of| &of.numbers)
            + sum(counters, |of| &of.segments)
    }
}

fn read(args: &[&str]) -> Result<Options, String> {
    let args = std::iter::once("uidring-server").chain(args.iter().copied()).map(OsString::from);
    options_file::read(args).map_err(|refusal| match refusal {
        Refusal::Clap(error) => error.to_string(),
        Refusal::File(problem) => problem,
    })
}

/// The options of this command line and of the file that it names, as `Debug` shows them.
///
/// # Errors
///
/// What is wrong with them, as a user reads it.
pub fn options(args: &[&str]) -> Result<String, String> {
    read(args).map(|options| format!("{options:?}"))
}

/// Checks the layout of the options of this command line, and of the file that it names.
///
/// # Errors
///
/// What is wrong with them, as a user reads it.
pub fn layout(args: &[&str]) -> Result<Option<Layout>, String> {
    read(args)?.layout.requested().map_err(|error| error.to_string())
}

/// Who may do what by the file of tokens at `path`.
pub struct Rules(Access);

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rules").finish()
    }
}

impl Rules {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a user reads it.
    pub fn read(path: &Path) -> Result<Rules, String> {
        let access = Access::new(false, None);
        access.set_file(Tokens::read(path)?);
        Ok(Rules(access))
    }

    /// Whether whoever has this token may take from the tag.
    #[must_use]
    pub fn may_take(&self, token: Option<&str>, tag: &str) -> bool {
        self.0.check(token.map(str::as_bytes), Permission::Tag(tag)).is_ok()
    }

    /// Whether whoever has this token may take UIDs, read the metrics, and do all.
    #[must_use]
    pub fn permissions(&self, token: Option<&str>) -> [bool; 3] {
        [Permission::Uids, Permission::Metrics, Permission::Admin]
            .map(|permission| self.0.check(token.map(str::as_bytes), permission).is_ok())
    }
}

/// The commands of the Redis protocol in `bytes`, each as its arguments, and what is wrong behind
/// them. The bytes arrive in pieces that end at `cuts`, and a command has `most` of them at most.
#[must_use]
pub fn commands(bytes: &[u8], most: usize, cuts: &[usize]) -> (Vec<Vec<Vec<u8>>>, Option<String>) {
    let (commands, error) = codec::commands(bytes, most, cuts.iter().copied());
    (commands, error.map(|error| error.text()))
}

/// A command as clients of Redis write it.
#[must_use]
pub fn command(arguments: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec::encode(&mut bytes, arguments);
    bytes
}
