//! The database: waiting until it answers, and seeing whether it still does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use uidring::registry::{RegistryAdmin, RegistryError};
use uidring::segment::{SegmentSource, Segments};
use uidring::store::StoreRegistry;
use uidring::{Builder, Layout, UidGenerator};
use uidring_args::{Db, with_causes};

use crate::app::reload::TokenTable;
use crate::app::{App, Tags};
use crate::config::db::{self, Unusable};
use crate::config::options::Leaf;
use crate::process::end::{EndSender, fail};
use crate::process::output;
use crate::process::threads::{self, Panicked, caught};
use crate::security::tls::Tls;
use crate::stats::loads::{Noted, Use};
use crate::stats::trouble::Trouble;

/// Between tries, while the database is away.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often the database is asked whether it is there.
const PROBE: Duration = Duration::from_secs(2);

/// Brings to life what needs the database, and watches it.
pub(crate) struct Starter {
    app: &'static App,
    db: Db,
    layout: Option<Layout>,
    leaf: Leaf,
    /// The tokens of tinyid's table, until they have been read.
    tokens: Option<TokenTable>,
    /// For probes.
    registry: Option<StoreRegistry>,
    /// Where it listens, and whether people have been told.
    address: SocketAddr,
    is_announced: bool,
}

/// Begins, on a thread of its own.
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
        leaf: Leaf,
        tokens: Option<TokenTable>,
        address: SocketAddr,
    ) -> Starter {
        let is_announced = false;
        Starter { app, db, layout, leaf, tokens, registry: None, address, is_announced }
    }

    fn run(&mut self, end: &EndSender) {
        let mut pause = SHORTEST_PAUSE;
        while !self.app.is_ending() {
            match self.caught(Starter::start) {
                // Waiting cannot help.
                Err(unusable) if !self.is_announced && !unusable.is_transient => {
                    fail(end, unusable.problem);
                    return;
                }
                result => {
                    // From now on nothing that the database says ends it.
                    if !std::mem::replace(&mut self.is_announced, true) {
                        announce(self.app, self.address);
                    }
                    match result {
                        Ok(()) => break,
                        Err(unusable) => self.note(Some(unusable)),
                    }
                    // Another database may be away for long, and these ids do not need it.
                    if self.app.gives_something() {
                        self.app.set_started();
                    }
                }
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.app.set_started();
        while !self.app.is_ending() {
            let trouble = self.caught(Starter::probe).err();
            if trouble.is_none() {
                self.app.watch.loads.database_answered();
            }
            self.note(trouble);
            thread::sleep(PROBE);
        }
    }

    /// The result of `call`, also where it panics.
    fn caught(
        &mut self,
        call: impl FnOnce(&mut Starter) -> Result<(), Unusable>,
    ) -> Result<(), Unusable> {
        caught(|| call(self)).unwrap_or_else(|Panicked| {
            let problem = format!("a call to the database {} panicked", self.db);
            Err(Unusable::for_now(problem))
        })
    }

    /// Logs each change once.
    fn note(&self, unusable: Option<Unusable>) {
        let trouble = unusable.map(|Unusable { cause, problem, .. }| Trouble {
            cause,
            text: problem,
            at: Instant::now(),
        });
        let before = self.app.set_trouble(trouble.clone());
        match (trouble, before) {
            (Some(now), before) if before.as_ref().is_none_or(|before| before.text != now.text) => {
                tracing::warn!(problem = now.text, "the database cannot be used");
            }
            (None, Some(_)) => tracing::info!("the database answers"),
            _ => {}
        }
    }

    /// Starts what has not started yet.
    fn start(&mut self) -> Result<(), Unusable> {
        let app = self.app;
        // Whether they can be read at all. Until they are, nobody has one.
        if let Some(tokens) = &self.tokens {
            tokens.read(app)?;
            self.tokens = None;
        }
        // One may start where another does not: they may have different databases and tables.
        let mut first_trouble = Ok(());
        for start in [Starter::start_uids, Starter::start_tags, Starter::start_snowflakes] {
            match start(self) {
                // The first try ends here, too: people wait for the line that it listens.
                Err(unusable) if !self.is_announced => return Err(unusable),
                result => first_trouble = first_trouble.and(result),
            }
        }
        first_trouble?;
        if app.options.uids {
            self.registry = Some(db::existing_registry(&self.db, &app.options.generator.terms())?);
        }
        Ok(())
    }

    fn start_uids(&self) -> Result<(), Unusable> {
        if self.app.options.uids && self.app.uids().is_err() {
            self.app.set_uids(self.uids()?);
        }
        Ok(())
    }

    fn start_tags(&self) -> Result<(), Unusable> {
        if self.app.tags().is_err() {
            self.app.set_tags(self.tags()?);
        }
        Ok(())
    }

    fn start_snowflakes(&self) -> Result<(), Unusable> {
        if let Some(db) = &self.leaf.db
            && self.app.snowflakes().is_err()
        {
            self.app.set_snowflakes(snowflakes(db, &self.leaf)?);
        }
        Ok(())
    }

    fn uids(&self) -> Result<UidGenerator, Unusable> {
        let options = &self.app.options.generator;
        let registry = db::registry(&self.db, &options.terms())?;
        // A registry serves one layout, which is used unless another is asked for.
        let layout = match self.layout {
            Some(layout) => layout,
            None => registry.layout()?.unwrap_or_default(),
        };
        let mut builder = builder(registry, layout);
        if options.exact_time {
            builder = builder.exact_time();
        }
        Ok(builder.build()?)
    }

    fn tags(&self) -> Result<Tags, Unusable> {
        let source: Arc<dyn SegmentSource> =
            Arc::new(db::source(&self.db, self.app.options.table)?);
        let noted = |of| Noted { source: Arc::clone(&source), loads: &self.app.watch.loads, of };
        // Whether it answers, and has the table.
        source.tags()?;
        let builder = Segments::builder().source(noted(Use::Here)).loads(self.app.loads);
        match builder.build() {
            Ok(segments) => Ok(Tags { segments, source: Arc::new(noted(Use::Client)) }),
            Err(error) => Err(Unusable::for_now(with_causes(&error))),
        }
    }

    /// Whether the database answers.
    fn probe(&mut self) -> Result<(), Unusable> {
        match (&self.registry, self.app.tags()) {
            // It has one row.
            (Some(registry), _) => {
                registry.layout()?;
                read_lease(self.app, registry)?;
            }
            (None, Ok(tags)) => drop(tags.source.tags()?),
            (None, Err(_)) => {}
        }
        Ok(())
    }
}

/// Reads until when the worker id is leased, if it is, now and then. Waits for the database.
fn read_lease(app: &App, registry: &dyn RegistryAdmin) -> Result<(), RegistryError> {
    let is_leased = app.options.generator.terms().lease.is_some();
    let Ok(uids) = app.uids() else { return Ok(()) };
    if is_leased && app.watch.lease_is_due() {
        let worker = uids.worker_id();
        let row = registry.workers()?.into_iter().find(|row| row.id == worker);
        app.watch.set_lease_until(row.and_then(|row| row.lease).map(|lease| lease.until));
    }
    Ok(())
}

/// Tells people where the service is.
fn announce(app: &App, address: SocketAddr) {
    let scheme = if app.tls.is_some() { "https" } else { "http" };
    let base = format!("{scheme}://{address}");
    let path = if app.options.uids { "/v1/uids?n=3" } else { "/v1/tags" };
    output::say(format!(
        "uidring-server listens on {base}\n\
         the page:  {base}/\n\
         try:       curl '{base}{path}'\n"
    ));
    if let Some(trouble) = app.tls.as_ref().and_then(Tls::trouble) {
        tracing::warn!("{trouble}");
    }
    if !address.ip().is_loopback() && app.access.is_open() {
        tracing::warn!(
            %address,
            "NO TOKENS ARE SET, and the address can be reached from other machines: anybody there \
             can take ids and create tags; set --tokens, or listen on 127.0.0.1"
        );
    }
}

/// Leaf's snowflakes: each has the time of its take.
fn snowflakes(db: &Db, leaf: &Leaf) -> Result<UidGenerator, Unusable> {
    let registry = db::registry(db, &leaf.terms())?;
    Ok(builder(registry, leaf.layout).exact_time().build()?)
}

fn builder(registry: StoreRegistry, layout: Layout) -> Builder {
    // The service waits by itself, and says what for.
    UidGenerator::builder().registry(registry).layout(layout).start_deadline(Duration::ZERO)
}
