//! [`Timing`]: what the two kinds of generator do differently.
//!
//! * [`Ahead`](crate::engine::ahead::Ahead): blocks are published ahead of the takers, at ticks
//!   from a window around the clock.
//! * [`Exact`](crate::engine::exact::Exact): the tick of each UID is the clock's at the take.
//!
//! All else is common to both, and the engine calls a kind by `by_kind` alone.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::engine::{Engine, TakeError};
use crate::registry::Lease;
use crate::ring::Block;
use crate::ring::window::Window;
use crate::uid::Uid;

/// How the ticks of UIDs follow the clock.
pub trait Timing {
    /// Makes the generator ready for its first take.
    fn start(&self, engine: &Engine, lease: &Lease);

    /// The window of `lease`.
    fn window(&self, engine: &Engine, lease: &Lease, now_ms: i64) -> Window;

    /// Sets the window to what the lease in use and the clock allow.
    fn move_window(&self, engine: &Engine, lease: &Lease, now_ms: i64);

    /// The base of `block`, if the ring holds it or, in exact time, if its tick is reserved.
    fn base_of_block(&self, engine: &Engine, block: u64) -> Option<NonZeroU64>;

    /// The base of the block published last or, in exact time, of the tick of the next ticket.
    fn newest(&self, engine: &Engine) -> u64;

    /// The tick of the next UID, and the last one that is published.
    fn oldest_and_newest(&self, engine: &Engine, now_ms: i64) -> (u64, u64);

    /// The tick of the next ticket. If takers wait with tickets of unpublished blocks, the tick
    /// that is published next.
    fn next_tick(&self, engine: &Engine) -> u64;

    /// The tick that `ticket` waits for.
    fn awaited_tick(&self, engine: &Engine, ticket: u64, now_ms: i64) -> u64;

    /// The number of UIDs that takes can get now.
    fn at_hand(&self, engine: &Engine) -> u64;

    /// The number of UIDs that have been published and not claimed, even if the ring is closed.
    fn available(&self, engine: &Engine) -> u64;

    /// How many UIDs of published blocks nobody got because they had become stale.
    fn skipped(&self, engine: &Engine) -> u64;

    /// The UID of `ticket` if that is the first thing to try. Otherwise the ticket is still the
    /// caller's.
    fn take_at_once(&self, engine: &Engine, ticket: u64) -> Option<Uid>;

    /// The state of the block of `ticket`, which the caller holds.
    fn resolve(&self, engine: &Engine, ticket: u64) -> Block;

    /// Waits for the block of `ticket`, which the caller holds, or fails.
    fn wait_for_block(&self, engine: &Engine, ticket: u64) -> Result<Block, TakeError>;

    /// Takes the next UID, which is not in the ready range, or fails at once.
    fn try_take(&self, engine: &Engine) -> Result<Uid, TakeError>;

    /// Counts claimed tickets that their holder cannot use: their block was overwritten or, in
    /// exact time, their tick is past.
    fn drop_tickets(&self, engine: &Engine, count: u64);

    /// Whether the next ticket has a UID that may be handed out, or is past.
    fn is_cursor_due(&self, engine: &Engine, now_ms: i64) -> bool;

    /// Whether a taker that waits for `ticket` needs the filler.
    fn is_filler_needed(&self, engine: &Engine, ticket: u64, now_ms: i64) -> bool;

    /// Whether takers allow `ticket` by themselves once the clock has come to its tick.
    fn is_allowed_by_takers(&self, engine: &Engine, ticket: u64, now_ms: i64) -> bool;

    /// How long a taker that waits for `ticket` sleeps at most. It waits because of `error`.
    fn taker_pause(&self, engine: &Engine, ticket: u64, error: TakeError, now_ms: i64) -> Duration;

    /// The most tickets of a claim whose UIDs are handed out one by one.
    fn longest_held_claim(&self, engine: &Engine) -> u64;

    /// How many of these tickets are looked up at once.
    fn longest_held_span(&self, engine: &Engine) -> u64;

    /// The ticket below which waiting threads are woken when the end of the UIDs that can be taken
    /// has changed.
    fn wake_end(&self, engine: &Engine) -> u64;

    /// Called when the first task in line waits.
    #[cfg(feature = "async")]
    fn first_task_waits(&self, engine: &Engine);
}
