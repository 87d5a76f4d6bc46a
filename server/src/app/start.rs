//! The start: waits until the database answers, starts what needs it, and then probes it regularly.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use uidring::registry::RegistryAdmin as _;
use uidring::segment::{SegmentSource, Segments};
use uidring::store::StoreRegistry;
use uidring::{Builder, Layout, UidGenerator};
use uidring_args::{Db, RegistryConfig, Table, try_build_on, with_causes, with_registry};

use crate::app::reload::TokenTable;
use crate::app::{App, DenseNumbers};
use crate::config::db::{self, Mode, StoreFailure};
use crate::config::listen::ListenAddress;
use crate::config::options::{CheckedOptions, Options};
use crate::process::end::{EndSender, fail};
use crate::process::threads::{self, Panicked, caught};
use crate::process::{output, supervisor};
use crate::security::tls::Tls;
use crate::stats::grants::{Grants, RecordedRegistry};
use crate::stats::loads::{RecordedSource, Use};
use crate::stats::trouble::{Cause, Trouble};

/// The first pause between two tries while the database is away.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The interval of probes.
const PROBE: Duration = Duration::from_secs(2);

/// The addresses on which the service listens.
pub(crate) struct Addresses {
    pub(crate) http: ListenAddress,
    /// That of the Redis protocol, if it is enabled.
    pub(crate) resp: Option<ListenAddress>,
}

/// Starts what needs the database, and watches the database.
pub(crate) struct Starter {
    app: &'static App,
    db: Db,
    layout: Option<Layout>,
    /// The tokens of tinyid's table, until they have been read for the first time.
    tokens: Option<TokenTable>,
    /// The registry that probes ask.
    registry: Option<StoreRegistry>,
    addresses: Addresses,
    is_announced: bool,
}

/// Starts the thread of the starter.
pub(crate) fn begin(mut starter: Starter, end: &EndSender) -> Result<(), String> {
    let ending = end.clone();
    let run = move || {
        starter.run(&ending);
        Ok(())
    };
    threads::begin("uidring-start", end, run).map(drop)
}

impl Starter {
    pub(crate) fn new(
        app: &'static App,
        db: Db,
        layout: Option<Layout>,
        tokens: Option<TokenTable>,
        addresses: Addresses,
    ) -> Starter {
        let is_announced = false;
        Starter { app, db, layout, tokens, registry: None, addresses, is_announced }
    }

    fn run(&mut self, end: &EndSender) {
        let mut pause = SHORTEST_PAUSE;
        while !self.app.is_ending() {
            let unusable = match self.caught(Starter::start) {
                // The error is permanent, so waiting cannot help.
                Err(unusable) if !self.is_announced && !unusable.is_transient => {
                    fail(end, unusable.problem);
                    return;
                }
                result => result.err(),
            };
            // From here on, no error of the database ends the program.
            if !std::mem::replace(&mut self.is_announced, true) {
                self.app.end_first_try();
                announce(self.app, &self.addresses);
            }
            let is_complete = unusable.is_none();
            // Before the service is ready: a start has asked the database, and the first probe may
            // take its time.
            self.log_change(unusable);
            if is_complete {
                break;
            }
            // Probe even if the start is incomplete: another database may be away for long, and the
            // ids that are already available do not need it.
            if self.app.gives_something() {
                self.app.set_started();
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.app.set_started();
        while !self.app.is_ending() {
            let begun = Instant::now();
            let trouble = self.caught(Starter::probe).err();
            // A database that gave numbers meanwhile is busy, and not away. The service's own loads
            // may be what keeps the probe waiting.
            let is_busy = |trouble: &StoreFailure| {
                matches!(trouble.cause, Cause::Away | Cause::Locked)
                    && self.app.watch.loads.has_succeeded_since(begun)
            };
            let trouble = trouble.filter(|trouble| !is_busy(trouble));
            if trouble.is_none() {
                self.app.watch.loads.database_answered();
                self.app.series.database_answered();
            }
            self.log_change(trouble);
            thread::sleep(PROBE);
        }
    }

    /// The result of `call`. A panic becomes an error.
    fn caught(
        &mut self,
        call: impl FnOnce(&mut Starter) -> Result<(), StoreFailure>,
    ) -> Result<(), StoreFailure> {
        caught(|| call(self)).unwrap_or_else(|Panicked| {
            let problem = format!("a call to the database {} panicked", self.db);
            Err(StoreFailure::for_now(problem))
        })
    }

    /// Logs each change of the database's state once.
    fn log_change(&self, unusable: Option<StoreFailure>) {
        let trouble = unusable.map(|StoreFailure { cause, problem, .. }| Trouble {
            cause,
            text: problem,
            at: Instant::now(),
        });
        // What the clock shows is another time at each try, and is told once.
        let is_of_clock =
            |trouble: &Option<Trouble>| trouble.as_ref().is_some_and(Trouble::is_of_clock);
        if is_of_clock(&trouble) && is_of_clock(&self.app.database_trouble()) {
            return;
        }
        let before = self.app.set_trouble(trouble.clone());
        match (trouble, before) {
            (Some(now), before) if before.as_ref().is_none_or(|before| before.text != now.text) => {
                let what = if now.is_of_clock() {
                    "waiting until the clock is set"
                } else {
                    "the database cannot be used"
                };
                tracing::warn!(problem = now.text, "{what}");
                supervisor::status(&format!("{what}: {}", now.text));
            }
            (None, Some(before)) => {
                if !before.is_of_clock() {
                    tracing::info!("the database answers");
                }
                supervisor::status(&listens(&place(self.app, &self.addresses.http)));
            }
            _ => {}
        }
    }

    /// Starts everything that has not started yet.
    fn start(&mut self) -> Result<(), StoreFailure> {
        let app = self.app;
        // A failure is an error: until the tokens are read, no client has a valid one.
        if let Some(tokens) = &self.tokens {
            tokens.read(app)?;
            self.tokens = None;
        }
        // Each starts independently, because they may have different databases and tables. The UIDs
        // come last: they may use a worker id up, which a start that fails must not do each time.
        let mut first_trouble = Ok(());
        for start in [Starter::start_tags, Starter::start_snowflakes, Starter::start_uids] {
            match start(self) {
                // Return at the first error: the program has not announced its address yet, and an
                // operator waits for that line.
                Err(unusable) if !self.is_announced => return Err(unusable),
                result => first_trouble = first_trouble.and(result),
            }
        }
        first_trouble?;
        if app.options.uids {
            self.registry =
                Some(db::existing_registry(&self.db, &app.options.generator.registry_config())?);
        } else if app.options.table == Table::Own {
            // In the same store as the tags. To look at one tag there means to list all of them.
            self.registry = Some(db::existing_registry(&self.db, &RegistryConfig::default())?);
        }
        Ok(())
    }

    fn start_uids(&self) -> Result<(), StoreFailure> {
        if self.app.options.uids && self.app.uids().is_err() {
            self.app.set_uids(self.uids()?);
            self.app.past.set_db(self.db.clone());
        }
        Ok(())
    }

    fn start_tags(&self) -> Result<(), StoreFailure> {
        if self.app.tags().is_err() {
            self.app.set_tags(self.tags()?);
            // They are in the same database, whatever table has the tags.
            self.app.series.set_db(self.db.clone());
            self.app.loans.set_db(self.db.clone());
        }
        Ok(())
    }

    fn start_snowflakes(&self) -> Result<(), StoreFailure> {
        if self.app.snowflakes().is_ok() {
            return Ok(());
        }
        let (options, layouts) = (&self.app.options, (self.layout, self.app.leaf_layout));
        let grants = Some(&self.app.watch.snowflake_grants);
        if let Some(started) = snowflakes(options, &self.db, layouts, grants)? {
            self.app.set_snowflakes(started.generator()?);
        }
        Ok(())
    }

    fn uids(&self) -> Result<UidGenerator, StoreFailure> {
        let grants = Some(&self.app.watch.uid_grants);
        uids(&self.app.options, &self.db, self.layout, grants)?.generator()
    }

    fn tags(&self) -> Result<DenseNumbers, StoreFailure> {
        let table = self.app.options.table;
        let store = db::source(&self.db, table, Mode::Start)?;
        let source: Arc<dyn SegmentSource> = Arc::new(store.clone());
        let recorded =
            |of| RecordedSource { source: Arc::clone(&source), loads: &self.app.watch.loads, of };
        let most = self.app.options.limits.max_in_memory.unwrap_or(u64::MAX);
        let builder = Segments::builder().source(recorded(Use::Here)).loads(self.app.loads);
        let builder = builder.max_in_memory(most);
        match builder.build() {
            Ok(segments) => {
                Ok(DenseNumbers { segments, source: Arc::new(recorded(Use::Client)), store })
            }
            Err(error) => Err(StoreFailure::for_now(with_causes(&error))),
        }
    }

    /// Checks whether the database answers.
    fn probe(&mut self) -> Result<(), StoreFailure> {
        match (&self.registry, self.app.tags()) {
            // Reading the registry is cheap: one row.
            (Some(registry), _) => {
                registry.layout()?;
            }
            (None, Ok(tags)) => db::check_table(&tags.store, self.app.options.table)?,
            (None, Err(_)) => {}
        }
        self.app.loans.look();
        Ok(())
    }
}

/// Where the service answers over HTTP.
fn place(app: &App, http: &ListenAddress) -> String {
    match http {
        ListenAddress::Tcp(address) if app.tls.is_some() => format!("https://{address}"),
        ListenAddress::Tcp(address) => format!("http://{address}"),
        socket => socket.to_string(),
    }
}

/// What the service does where nothing troubles it.
fn listens(place: &str) -> String {
    format!("listens on {place}")
}

/// Announces the addresses of the service.
fn announce(app: &App, Addresses { http, resp }: &Addresses) {
    let place = place(app, http);
    let path = if app.options.uids { "/v1/uids?n=3" } else { "/v1/tags" };
    let uses = if let ListenAddress::Unix(socket) = http {
        let socket = socket.display();
        format!(
            "the page:  behind a proxy\n\
             try:       curl --unix-socket '{socket}' 'http://localhost{path}'\n"
        )
    } else {
        format!("the page:  {place}/\ntry:       curl '{place}{path}'\n")
    };
    let of_redis = match resp {
        None => String::new(),
        Some(address @ ListenAddress::Unix(_)) => format!("for Redis' clients: {address}\n"),
        Some(address) => {
            let scheme = if app.tls.is_some() { "rediss" } else { "redis" };
            format!("for Redis' clients: {scheme}://{address}\n")
        }
    };
    output::print(format!("uidring-server listens on {place}\n{uses}{of_redis}"));
    supervisor::ready(&listens(&place));
    if let Some(trouble) = app.tls.as_ref().and_then(Tls::trouble) {
        tracing::warn!("{trouble}");
    }
    let open =
        [Some(http), resp.as_ref()].into_iter().flatten().find(|one| !one.ip().is_loopback());
    if let Some(address) = open.filter(|_| app.access.is_open()) {
        tracing::warn!(
            %address,
            "NO TOKENS ARE SET, and the address can be reached from other machines: anybody there \
             can take ids and create tags and series; set --tokens, or listen on 127.0.0.1"
        );
    }
}

/// Does what a start does, in its order, up to the writing. Returns a sentence for each store that
/// is new.
pub(crate) fn dry_run(
    options: &Options,
    checked: &CheckedOptions,
) -> Result<Vec<String>, StoreFailure> {
    let CheckedOptions { db, layout, leaf_layout, .. } = checked;
    if options.has_token_table() {
        db::tokens(db)?;
    }
    let mut new = Vec::new();
    let ids = |db: &Db| {
        format!(
            "no worker id was ever taken from {db}: if programs had another store, their ids \
             would come again"
        )
    };
    let tags = db::source(db, options.table, Mode::Check)?;
    let of_leaf = snowflakes(options, db, (*layout, *leaf_layout), None)?;
    if options.uids {
        if uids(options, db, *layout, None)?.is_new {
            new.push(ids(db));
        }
    } else if options.table == Table::Own && tags.tags()?.is_empty() {
        new.push(format!("{db} has no tags"));
    }
    // Both may be one.
    new.extend(of_leaf.filter(|of_leaf| of_leaf.is_new).map(|of_leaf| ids(&of_leaf.db)));
    new.dedup();
    Ok(new)
}

/// A generator that was started, or tried out.
struct StartedGenerator {
    /// `None` after a trial.
    uids: Option<UidGenerator>,
    db: Db,
    /// Whether nobody had taken a worker id from its store before.
    is_new: bool,
}

impl StartedGenerator {
    fn generator(self) -> Result<UidGenerator, StoreFailure> {
        self.uids
            .ok_or_else(|| StoreFailure::for_now("the generator was only tried out".to_owned()))
    }
}

/// The generator of the UIDs. It is tried out where no grants are to be noted.
fn uids(
    options: &Options,
    db: &Db,
    layout: Option<Layout>,
    grants: Option<&'static Grants>,
) -> Result<StartedGenerator, StoreFailure> {
    let mut builder = builder();
    if options.generator.exact_time {
        builder = builder.exact_time();
    }
    build(builder, db, &options.generator.registry_config(), layout, grants)
}

/// The generator of Leaf's snowflakes, if they are enabled. Each snowflake has the time of its
/// take.
fn snowflakes(
    options: &Options,
    db: &Db,
    (layout, of_leaf): (Option<Layout>, Layout),
    grants: Option<&'static Grants>,
) -> Result<Option<StartedGenerator>, StoreFailure> {
    let Some(leaf) = options.find_leaf_registry(db, layout, of_leaf)? else { return Ok(None) };
    build(builder().exact_time(), &leaf.db, &leaf.config, Some(of_leaf), grants).map(Some)
}

fn build(
    builder: Builder,
    db: &Db,
    config: &RegistryConfig,
    layout: Option<Layout>,
    grants: Option<&'static Grants>,
) -> Result<StartedGenerator, StoreFailure> {
    let mode = if grants.is_some() { Mode::Start } else { Mode::Check };
    let registry = db::registry(db, config, mode)?;
    let is_new = db::is_new(&registry, config)?;
    // A build takes its worker id before it starts its thread. Where no thread can be started, each
    // of the tries to come would use an id up.
    let thread = thread::Builder::new().spawn(|| ());
    thread.map_err(|error| StoreFailure::for_now(format!("cannot start a thread: {error}")))?;
    let uids = if let Some(grants) = grants {
        Some(with_registry(builder, RecordedRegistry { registry, grants }, layout).build()?)
    } else {
        try_build_on(builder, registry, layout)?;
        None
    };
    Ok(StartedGenerator { uids, db: db.clone(), is_new })
}

fn builder() -> Builder {
    // No deadline here, because the service itself waits and reports the reason.
    UidGenerator::builder().start_deadline(Duration::ZERO)
}
