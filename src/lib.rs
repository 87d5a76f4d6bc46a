//! Unique, positive, time-ordered 64-bit ids, taken at the speed of one atomic add.
//!
//! ```no_run
//! # #[cfg(feature = "sqlite")] {
//! use uidring::{Store, UidGenerator};
//!
//! let store = Store::open("/srv/uidring.db")?; // or "postgres://…" or "mysql://…"
//! let uids = UidGenerator::builder().registry(store.registry()?).build()?;
//! let uid = uids.take()?; // from any thread
//! let parts = uids.layout().parts(uid);
//! assert_eq!(parts.worker, uids.worker_id());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a UID is made
//!
//! ```text
//!      once per start             once per block                      each take
//!
//!   registry ─ worker id ─▶┐
//!                        filler ─ window, blocks ─▶ ring ─ base | offset ─▶ generator ─▶ Uid
//!   clock ──── now ───────▶┘ ▲                       ▲                          │
//!                            │                       └─ missing blocks ──┐      │ once per range
//!                            └───── "half of it is used up" ────────── engine ◀─┘
//! ```
//!
//! A [`registry`] assigns a *worker id*, and never the same tick of it twice. The UIDs of one
//! worker's tick are consecutive and form a *block*, so the *ring* holds only the first UID of each
//! of the next few blocks. A take adds one to a shared counter; the result says which block, and
//! which UID in it. The *filler*, a background thread, puts new blocks into the ring when half of
//! it is used up, ahead of the [`clock`] if need be, and drops those that have become stale.
//!
//! [`Layout`] shows how the bits of a UID are split into time, worker id and sequence.
//!
//! # Which module do I need
//!
//! | for | take | from | feature |
//! |---|---|---|---|
//! | a primary key | a [`Uid`] | [`UidGenerator`] | |
//! | a small number | a dense number of a tag | [`segment`] | |
//! | a number that people see | a number of a series | `uidring::series` | `series` |
//! | an id in an address | an opaque id, a masked UID | `uidring::masked` | `masked` |
//! | worker ids, and where all this is kept | a [`Store`] | its address | that of the server |
//! | a worker id for another generator | one that is lent | `uidring::lend` | `lend` |
//! | worker ids without a store | a number of your own | [`registry::FixedWorker`] | |
//! | ids in queries and JSON | the same types | [`integrations`] | that of the crate |
//!
//! `docs/choosing.md` in the repository has the decisions, also for other languages.
//!
//! # Where to look
//!
//! * [`UidGenerator`]: `take`, `try_take`, `fill`, `take_n`, `local`, and what they guarantee.
//!   [`install`] makes one process-wide.
//! * [`Builder`]: what can be set. [`Layout`]: the widths of the fields, and ranges of time as
//!   ranges of UIDs.
//! * [`Store`]: opens worker ids and dense numbers by one address.
//! * [`registry`]: where worker ids come from. Without a registry there is no generator.
//! * [`Status`]: what a generator is doing, for operators.
//! * [`segment`]: numbers without time in them, small and with few gaps.
//! * [`integrations`]: ids in the queries and rows of sqlx, SeaORM, diesel and others.
//! * [`which_number`]: which number is for what: keys, orders, invoices, addresses, tickets.
//! * [`design`]: how it works inside, why it is right, and what happens when.
//!
//! # Features
//!
//! * `sqlite` (on by default): `SqliteRegistry` and `SqliteSegments`. SQLite is compiled in.
//! * `postgres`, `mysql`: `PostgresRegistry`, `MySqlRegistry`, `PostgresSegments` and
//!   `MySqlSegments`, for many machines, with TLS.
//! * `http`: `HttpSegments`, dense numbers from a server, for programs that may not reach the
//!   database. With TLS.
//! * `contract`: `registry::contract` and `segment::contract`, the tests that every registry and
//!   every source of segments must pass, for their authors.
//! * `series`: numbers that people see, such as `SO20261124-000042`, see `uidring::series`.
//! * `serde`: a [`Uid`] is a string in JSON, because JavaScript needs that, and an integer in
//!   binary formats, and so is a [`segment::Number`]. `uidring::serde` says which form a field
//!   needs in which other format, such as CSV, XML, configuration and BSON.
//! * `masked`: UIDs for addresses and mails, in a form that tells nothing, see
//!   `uidring::masked`.
//! * `async`: `take_async`, `build_async` and `shutdown_async` of a generator, and the same of
//!   segments, for any runtime.
//! * `tracing`: one event for each change of state, see [Events](#events).
//! * `metrics`: the gauges and counters of a [`Status`], and those of segments, see
//!   [Metrics](#metrics).
//! * `sqlx-0_8`, `sqlx-0_9` (`sqlx-0_8-postgres` and `sqlx-0_9-postgres` with arrays), `sea-orm-1`,
//!   `sea-orm-2`, `diesel-2` (`diesel-2-mysql` with unsigned columns), `rusqlite`,
//!   `postgres-types-0_2`, `mysql-common-0_37`, `schemars-1`, `utoipa-5`, `utoipa-6`,
//!   `bson-2`, `bson-3`, `arbitrary-1`: a [`Uid`] or a [`segment::Number`] where these crates
//!   take ids, see [`integrations`]. sqlx 0.9 and SeaORM 2 need Rust 1.94.
//!
//! # Limits
//!
//! Where worker ids come from:
//!
//! * **A registry must not go back in time.** If an old copy of it is restored, a copy is used on a
//!   second machine, or a replica that lacks the last commits is promoted, worker ids are given
//!   again. If only an old copy is left, do what the schema files say, or step by step what stands
//!   in `docs/operations/restore.md`.
//! * **A SQLite file serves the processes of one machine**, from a local disk. A container has a
//!   file system of its own: put the file on a volume of the machine's disk, which its programs
//!   share. A file on a network file system is refused, unless its address permits that: see
//!   [`store`]. Machines that share a registry need a server. Machines without a server need a file
//!   each, with [`partition`](registry::SqliteRegistry::partition).
//! * **A server must keep what it has committed.** [`PostgresRegistry`](registry::PostgresRegistry)
//!   and [`MySqlRegistry`](registry::MySqlRegistry) say which settings and tables they refuse, and
//!   on which servers they were tried.
//! * **Tables must not be dropped while anybody uses them.** A process that runs never creates a
//!   table, so a table that is gone is missing until it is back. But where all of them are gone, a
//!   process that starts cannot know that there were any, and begins at 1.
//! * **Every start uses up a worker id**, and so does reaching the lead limit under
//!   [`LeadLimit::NewWorker`], the default with a `max_lead` of an hour or more.
//!   [`max_new_workers`](Builder::max_new_workers) limits how many are used up in an hour. The
//!   default layout has 1,048,575. [Leased](registry::SqliteRegistry::leased) ids come back.
//! * **A generator on a lease needs its registry now and then.** If it is cut off, it goes on for
//!   as long as its reservation lasts: at least half of the lease's duration, at the layout's rate.
//! * **You must keep your own numbers apart.** A [`FixedWorker`](registry::FixedWorker) cannot see
//!   who else uses its number. It sees only a second generator of the same state file, under any
//!   name. Without a state file, a restart must come after the last tick that the previous run
//!   used.
//!
//! The order and the time of UIDs:
//!
//! * **Order holds within one worker id.** UIDs of two processes sort by their tick, then by
//!   worker. When a generator takes on another worker id, at its lead limit or because it has lost
//!   its lease, the order starts anew. [`fill`](UidGenerator::fill) and local takers claim many
//!   UIDs at once: the UIDs of each caller increase.
//! * **A burst makes UIDs of the future.** Above 8,192 UIDs a second the time in them runs ahead of
//!   the clock, by up to one day. A day's lead is 708 million UIDs. If you take more for long,
//!   choose a wider sequence (`uidring plan`) or another policy. Even an idle generator has the
//!   next ticks in its ring: 64 by default.
//! * **The bounds on lag and lead hold up to the lateness of the filler.** It reads the clock once
//!   a second; with shorter ticks, twice within [`max_lag`](Builder::max_lag) if that is more
//!   often. If the machine does not let it run, UIDs are older by that delay. If the clock is set
//!   back, UIDs are ahead of it by up to [`max_lead`](Builder::max_lead) and the length of the step
//!   until the filler reads it.
//! * **The time in a UID is not a measurement.** It is a whole tick, within these two bounds.
//! * **At the end of the time field takes fail**, in 2060 by default. Ids of a later epoch need a
//!   table or a layout of their own.
//!
//! UIDs themselves:
//!
//! * **They are not secrets.** Anyone who knows one can guess others, and can read from it when and
//!   by which worker it was made. Where others see them, give out masked ones (feature `masked`).
//! * **Some are never used.** A generator that ends leaves those in its ring. A local taker leaves
//!   the rest of a claim when it ends, or when the claim has become stale. The UIDs of blocks that
//!   are stale, or too far ahead of a clock set back, are [skipped](Status::skipped). Tickets are
//!   [lost](Status::lost) in two cases: a taker was stopped until the whole ring had gone by, or a
//!   take failed and gave its ticket back when others had already taken later ones.
//!
//! Copies of a process:
//!
//! * **A forked child must build its own generator**, see [forks](UidGenerator#forks). On Unix
//!   every take from the parent's copy fails with [`TakeError::Forked`].
//! * **A machine or a process must not be resumed twice from one snapshot**, such as one of CRIU,
//!   while a generator runs in it: both copies would hand out the same UIDs, because nothing tells
//!   them apart. End the generator before the snapshot, and build another afterwards. A copy whose
//!   programs are started anew is safe with a server's registry.
//!
//! # Events
//!
//! With the feature `tracing`, a generator tells each change of its state once, with the target
//! `uidring`. The name of an event is its kind, and stays; the message is for people.
//!
//! | name | level | fields | what to do |
//! |---|---|---|---|
//! | `started` | info | `worker`, `kind`, `registry`, `layout`, `time`, `reserved_until` | none |
//! | `stopped` | info | `worker`, `taken` | nothing |
//! | `new_store` | warn | `store` | see that no other store is meant, as in another folder |
//! | `only_for_tests` | warn | `store` | outside of tests, take it out of the address |
//! | `registry_unreachable` | warn | `worker`, `waited`, `error` | see that the registry runs |
//! | `lease_running_out` | warn | `worker`, `left` | the same, within `left` |
//! | `lease_exhausted` | error | `worker` | the same, at once: takes fail or wait |
//! | `recovered` | info | `worker`, `reserved_until` | nothing |
//! | `lease_lost` | warn | `worker` | lease for longer, unless the process stood still |
//! | `rule_broken` | error | `worker`, `rule`, `found`, `bound` | raise the ids, restart, report |
//! | `worker_id_changed` | info | `worker`, `before` | widen the sequence if it comes often |
//! | `worker_id_added` | info | `worker`, `workers` | nothing: a tick of the past was full |
//! | `no_new_worker` | warn | `error` | see that the registry runs and has ids left |
//! | `new_workers_used_up` | warn | `most`, `period` | widen the sequence, or take fewer UIDs |
//! | `not_released` | warn | `worker`, `error` | nothing: the id is free when its lease expires |
//! | `lead_limit` | warn | `lead`, `policy` | widen the sequence, or see to the clock |
//! | `clock_back` | warn | `by` | see who sets the clock back |
//! | `clock_forward` | warn | `by` | see whether the clock was wrong before |
//! | `clock_skew` | warn | `by`, `side` | set this machine's clock, or that of the registry |
//! | `clocks_agree` | info | | nothing |
//! | `waits_for_clock` | warn | `epoch`, `clock`, `left` | set the clock |
//! | `jump_refused` | error | `by` | set the clock, or restart with a longer `max_forward_jump` |
//! | `time_ends` | warn | `expires_at` | plan the move to another layout within the year |
//! | `filler_panicked` | error | | mend the clock or registry that the program gave |
//! | `stale_blocks_dropped` | debug | `blocks` | nothing: nobody wanted these UIDs |
//!
//! A lent worker id tells these, with the field `pool` where it is lent. `metrics` has the gauges
//! `uidring_pool_held_ids`, `uidring_pool_resting_ids` and `uidring_pool_free_ids`, as of the last
//! [`counts`](lend::WorkerPool::counts), and the counter
//! `uidring_pool_renewal_failures_total`, each with the labels `pool` and `store`.
//!
//! | name | level | fields | what to do |
//! |---|---|---|---|
//! | `worker_lent` | info | `worker`, `pool`, `store` | nothing |
//! | `worker_renewed` | debug | `worker` | nothing |
//! | `worker_renewed_again` | info | `worker` | nothing |
//! | `worker_not_renewed` | warn | `worker`, `left`, `error` | see that the store runs |
//! | `worker_about_to_be_lost` | error | `worker`, `left`, `error` | the same, within `left` |
//! | `worker_lost` | error | `worker` | start the process anew, which lends another |
//! | `worker_returned` | info | `worker` | nothing |
//! | `worker_not_returned` | warn | `worker`, `error` | nothing: its lease ends by itself |
//!
//! [`Segments`](segment::Segments) tell the state of their source and of each tag in the same way.
//! The field `source` is the [name](segment::SegmentSource::name) of the source, with a number
//! behind it while another `Segments` of this process has that name. A tag tells its troubles once
//! it has had numbers: before, whoever asks for it gets the error. Each trouble is told once until
//! `tag_recovered`, however often loads fail. While the source is away, it tells that once for all
//! tags. Subscribers are called on a thread of their own, one event after the other, and no load
//! waits for them. They may use the segments.
//!
//! | name | level | fields | what to do |
//! |---|---|---|---|
//! | `segments_started` | info | `source` | nothing |
//! | `segments_stopped` | info | `source`, `taken`, `tags`, `left`, `given_back` | see below |
//! | `not_given_back` | warn | `source`, `numbers`, `error` | nothing: these numbers are lost |
//! | `source_unreachable` | warn | `source`, `tag`, `error` | see that the source runs |
//! | `source_recovered` | info | `source`, `away` | nothing |
//! | `source_panicked` | error | `source`, `tag`, `error` | mend the source that the program gave |
//! | `no_load_thread` | warn | `source`, `error` | let the process have more threads |
//! | `tag_slow` | warn | `source`, `tag`, `waited` | see what keeps the source busy |
//! | `tag_locked` | warn | `source`, `tag`, `error` | see who holds the row |
//! | `tag_gone` | error | `source`, `tag`, `error` | create it again, above its last number |
//! | `tag_nearly_full` | warn | `source`, `tag`, `last`, `largest` | plan for more, see below |
//! | `tag_ran_out` | error | `source`, `tag`, `error` | go on with another tag |
//! | `tag_went_back` | error | `source`, `tag`, `error` | what the error says |
//! | `tag_delta_changed` | error | `source`, `tag`, `error` | restart to use the new distance |
//! | `tag_bad_row` | error | `source`, `tag`, `error` | mend the row |
//! | `tag_failed` | error | `source`, `tag`, `error` | what the error says |
//! | `tag_recovered` | info | `source`, `tag`, `failing` | nothing |
//! | `numbers_lost` | info | `source`, `tag`, `numbers` | nothing: they are left out |
//!
//! `tag_nearly_full` comes when 80 % of the numbers that a tag can give have been loaded.
//! `tag_slow` says that a load has been under way for a second while the tag has no numbers left,
//! so that takes wait or fail. It is over when a load succeeds sooner. `numbers_lost` comes at most
//! once a minute for a tag, and at the end. `segments_stopped` tells how many numbers were `left`
//! in memory, of how many `tags`, and how many of them were `given_back`. The others are lost:
//! those of `not_given_back`, and those of rows from which others have loaded since.
//!
//! Series (`series::Series`) tell these as well, of each period of each scope: with the fields
//! `series`, `period` and `scope`, which is empty if none was named, in place of `tag`, and with
//! `series_` in place of `tag_` in their names. Two are others:
//!
//! | name | level | fields beside these | what to do |
//! |---|---|---|---|
//! | `series_nearly_full` | warn | `source`, `last`, `largest` | widen it: `Series::widen` |
//! | `series_full` | error | `source`, `error` | the same: takes fail |
//!
//! `series_full` is told once, when a take finds that all numbers that fit the pattern have been
//! given, and once more in each process that finds it.
//!
//! # Metrics
//!
//! With the feature `metrics`, the filler keeps these up to date, at least once a second. The label
//! `generator` is the first worker id of the generator, and `registry` is the
//! [name](registry::WorkerRegistry::name) of its registry. The counters of generators that have
//! both in common add up. Install the program's recorder before the generator is built.
//!
//! | gauge | shows |
//! |---|---|
//! | `uidring_worker_id` | [`Status::worker_id`] |
//! | `uidring_worker_ids`, `uidring_worker_ids_left` | as in [`Status`]; infinite for `None` |
//! | `uidring_lead_seconds`, `uidring_lag_seconds` | [`Status::lead`], [`Status::lag`] |
//! | `uidring_available_uids` | [`Status::available`] |
//! | `uidring_giving_uids` | 1 if there is no [`Status::obstacle`] |
//! | `uidring_reserved_until_timestamp_seconds` | [`Status::reserved_until`]; infinite for `None` |
//! | `uidring_at_lead_limit`, `uidring_at_worker_limit` | 1 if the generator is at the limit |
//! | `uidring_refused_jump_seconds` | [`Status::refused_jump`], or 0 |
//! | `uidring_clock_skew_seconds` | [`Status::clock_skew_ms`], or 0 |
//! | `uidring_filler_running` | 1 if [`Status::filler`] is `Running` |
//! | `uidring_expires_timestamp_seconds` | [`Status::expires_at`] |
//!
//! | counter | counts |
//! |---|---|
//! | `uidring_taken_uids_total` | [`Status::taken`] |
//! | `uidring_lost_uids_total`, `uidring_skipped_uids_total` | UIDs that nobody gets |
//! | `uidring_new_workers_total` | [`Status::new_workers`] |
//! | `uidring_filler_blocks_total`, `uidring_taker_blocks_total` | blocks published by whom |
//!
//! A [`PastGenerator`] has the same labels. Its metrics are brought up to date by each take: the
//! counters `uidring_past_taken_uids_total` and `uidring_past_workers_total`, the worker ids that
//! it has used up, and the gauges `uidring_past_ticks`, the ticks that it remembers, and
//! `uidring_past_broken`, 1 if it has ended because a rule did not hold.
//!
//! The metrics of [`Segments`](segment::Segments) have the label `source`, as their events have the
//! field. They show the sums of all tags, and are kept up to date each second, of more than 2,000
//! tags 2,000 at a time. A tag has metrics of its own, with the label `tag` as well, if the program
//! names it with `segment::Builder::measured_tags`. The first hundred tags that fail for a reason
//! of their own have them, too.
//!
//! | gauge | shows |
//! |---|---|
//! | `uidring_loader_running` | 1 until the loader has ended |
//! | `uidring_source_up` | 0 while the source is away |
//! | `uidring_source_tags` | tags that this process has used |
//! | `uidring_source_failing_tags` | tags that fail or wait for a reason of their own |
//! | `uidring_source_in_memory_numbers` | numbers that can be taken without a load |
//! | `uidring_source_longest_wait_seconds` | the longest wait of a take |
//! | `uidring_tag_failing` | 1 if [`failing_for`](segment::SegmentStatus) is set |
//! | `uidring_tag_in_memory_numbers` | `in_memory` there |
//! | `uidring_tag_seconds_until_empty` | `empty_in` there, or infinity |
//! | `uidring_tag_segment_numbers` | `segment` there |
//! | `uidring_tag_load_seconds` | `load_time` there |
//! | `uidring_tag_longest_wait_seconds` | `longest_wait` there |
//!
//! | counter | counts |
//! |---|---|
//! | `uidring_source_taken_numbers_total`, `uidring_tag_taken_numbers_total` | numbers taken |
//! | `uidring_source_loaded_numbers_total` | numbers loaded |
//! | `uidring_source_lost_numbers_total`, `uidring_tag_lost_numbers_total` | what nobody gets |
//! | `uidring_source_given_back_numbers_total` | numbers given back |
//! | `uidring_source_nearly_full_tags_total` | tags that came to 80 % of what they can give |
//! | `uidring_source_loads_total`, `uidring_tag_loads_total` | loads that succeeded |
//! | `uidring_source_load_failures_total`, `uidring_tag_load_failures_total` | those that failed |
//! | `uidring_source_waits_total`, `uidring_tag_waits_total` | takes that waited for a load |
//!
//! The histogram `uidring_source_load_duration_seconds` has the times of all loads.
//!
//! Those of series have `uidring_series_` in place of `uidring_tag_` in their names, and the labels
//! `series`, `period` and `scope` in place of `tag`. They have two more gauges, of the periods that
//! are neither over nor closed, as far as the process knows: `uidring_source_full_series` counts
//! the scopes that have given all numbers that fit the pattern, and
//! `uidring_source_nearly_full_series` those that have given 80 % of them, and not all.

#![cfg_attr(docsrs, feature(doc_cfg))]
// The models and the scenarios use modules from outside that are not documented for users.
#![cfg_attr(
    any(uidring_loom, uidring_shuttle),
    allow(clippy::missing_errors_doc, clippy::missing_panics_doc, clippy::must_use_candidate)
)]
#![cfg_attr(any(uidring_loom, uidring_shuttle), allow(missing_docs, missing_debug_implementations))]

mod backend;
mod engine;
mod filler;
mod generator;
mod layout;
mod number;
mod ring;
#[cfg(all(test, not(any(uidring_loom, uidring_shuttle))))]
mod simulation;
mod support;
mod sync;
mod uid;

pub mod clock;
pub mod integrations;
#[cfg(all(feature = "_store", feature = "lend"))]
pub mod lend;
#[cfg(feature = "masked")]
pub mod masked;
pub mod registry;
pub mod segment;
#[cfg(feature = "serde")]
pub mod serde;
#[cfg(feature = "series")]
pub mod series;
pub mod store;

#[cfg(doc)]
#[doc = include_str!("../docs/design/README.md")]
pub mod design {
    #[doc = include_str!("../docs/design/promises.md")]
    pub mod promises {}
    #[doc = include_str!("../docs/design/words.md")]
    pub mod words {}
    #[doc = include_str!("../docs/design/take.md")]
    pub mod take {}
    #[doc = include_str!("../docs/design/publishing.md")]
    pub mod publishing {}
    #[doc = include_str!("../docs/design/time.md")]
    pub mod time {}
    #[doc = include_str!("../docs/design/exact-time.md")]
    pub mod exact_time {}
    #[doc = include_str!("../docs/design/leases.md")]
    pub mod leases {}
    #[doc = include_str!("../docs/design/checks.md")]
    pub mod checks {}
    #[doc = include_str!("../docs/design/stores.md")]
    pub mod stores {}
    #[doc = include_str!("../docs/design/segments.md")]
    pub mod segments {}
    #[doc = include_str!("../docs/design/series.md")]
    pub mod series {}
    #[doc = include_str!("../docs/design/masked.md")]
    pub mod masked {}
    #[doc = include_str!("../docs/design/service.md")]
    pub mod service {}
    #[doc = include_str!("../docs/design/events.md")]
    pub mod events {}
    #[doc = include_str!("../docs/design/map.md")]
    pub mod map {}
    #[doc = include_str!("../docs/design/decisions.md")]
    pub mod decisions {}
}
#[cfg(all(doc, any(not(doctest), feature = "series")))]
#[doc = include_str!("../docs/numbers.md")]
pub mod which_number {}
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
mod readme {}
#[cfg(all(doctest, feature = "sqlite"))]
mod migration {
    #[doc = include_str!("../docs/migration/uid-generator.md")]
    mod uid_generator {}
    #[doc = include_str!("../docs/migration/leaf.md")]
    mod leaf {}
    #[doc = include_str!("../docs/migration/segments.md")]
    mod segments {}
    #[doc = include_str!("../docs/migration/cosid.md")]
    mod cosid {}
}
#[cfg(doctest)]
#[doc = include_str!("../docs/testing.md")]
mod testing {}
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../docs/comparison.md")]
mod comparison {}

pub use engine::claim::ClaimedSpan;
pub use engine::filler_signal::FillerState;
pub use engine::limits::LeadLimit;
pub use engine::status::Status;
pub use engine::{FillError, SegmentFailure, TakeError};
pub use generator::builder::Builder;
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
pub use generator::installed::take_local;
pub use generator::installed::{get_or_try_init, install, installed, take};
pub use generator::local::LocalTaker;
pub use generator::past::{PastGenerator, PastStatus, TakeAtError, TakeTimesError};
pub use generator::take_n::TakeN;
pub use generator::{BuildError, InstallError, ShutdownError, UidGenerator};
pub use layout::{FieldOrder, Layout, LayoutError, Parts, TimeRangeError};
#[cfg(feature = "masked")]
pub use masked::{Masked, Opaque};
pub use registry::RegistryError;
pub use store::{RegistryOptions, StorageError, Store, Table};
pub use support::rule::{BrokenRule, Rule};
pub use uid::{Base32, ParseUidError, Uid, UidRangeError};

/// For the tool, the service and the bindings, which are built on this library.
#[doc(hidden)]
pub use support::audience::Audience;

#[cfg(uidring_loom)]
#[doc(hidden)]
pub mod model {
    //! The types that the loom models use.
    pub use crate::ring::chain::{Found, SegmentChain, Unclaimed};
    pub use crate::ring::codec::TickCodec;
    pub use crate::ring::window::Window;
    pub use crate::ring::{Block, Ring, is_closed};
    pub use crate::segment::tag::engine::TagEngine;
    pub use crate::segment::tag::request_list::RequestList;
    pub use crate::sync::Counter;

    use crate::filler::Filler;
    use crate::generator::builder::Builder;
    use crate::generator::{BuildError, UidGenerator};
    use crate::sync::Arc;

    /// The ring of a generator.
    pub fn ring(uids: &UidGenerator) -> &Ring {
        &uids.engine().ring
    }

    /// A generator whose filler never runs.
    pub fn without_filler(builder: Builder) -> Result<UidGenerator, BuildError> {
        let (engine, _, _) = builder.assemble(fastrand::Rng::with_seed(7))?;
        Ok(UidGenerator::new(Arc::clone(&engine), Filler::without_thread(engine)))
    }

    /// Continues with the ticks of another lease, as the filler does.
    pub fn take_on(uids: &UidGenerator, window: Window) {
        uids.engine().ring.window().take_on(window);
        uids.engine().waiters.wake_all();
    }

    /// A list of requests that wakes nobody.
    pub fn request_list() -> Arc<RequestList> {
        Arc::new(RequestList::new().0)
    }
}

#[cfg(uidring_shuttle)]
#[doc(hidden)]
pub mod scenario {
    //! The time of a scenario of shuttle. It stands still until the scenario lets some pass.

    use std::time::Duration;

    /// The time since the execution began.
    pub fn time() -> Duration {
        crate::sync::time()
    }

    /// Lets time pass, and wakes the threads that slept only for so long.
    pub fn pass(length: Duration) {
        crate::sync::pass(length);
    }

    /// Sleeps until so much time has passed.
    pub fn sleep(length: Duration) {
        crate::sync::sleep(length);
    }

    /// How long it takes until a thread wakes that sleeps for a limited time.
    pub fn next_timeout() -> Option<Duration> {
        crate::sync::next_timeout()
    }
}
