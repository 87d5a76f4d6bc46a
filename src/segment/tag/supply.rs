//! [`Supply`]: the numbers of a tag that takers cannot see yet, and the threads that wait for
//! numbers.
//!
//! ```text
//!             backlog           threads that wait, in order of arrival
//!   load ──▶ ┌───────┐  serve   ┌───┬───┬───┐
//!            │ 31..40│ ───────▶ │ 1 │ 1 │ 5 │ ◀─ join ── a taker that finds no number
//!            └───┬───┘          └───┴───┴───┘
//!                │ replenish, if nobody waits
//!                ▼
//!             chain ── fetch_add ──▶ takers
//! ```
//!
//! A waiting thread holds no ticket, so it may leave at any time, and nothing is lost with it. New
//! numbers go to the waiting threads, in order. What is left is appended to the chain. While
//! threads wait, the chain is closed, so that no other taker is served before them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::ring::chain::{Found, ReadyRange, SegmentChain};
use crate::segment::tag::claim::Claim;
use crate::sync::thread;

/// Decides under one lock which thread gets which numbers, when the chain alone cannot.
#[derive(Debug, Default)]
pub struct Supply {
    /// Numbers that are not in the chain: the first number and the count of each run. They come
    /// after all that is in the chain. Empty while a thread waits.
    backlog: VecDeque<(u64, u64)>,
    /// The waiting threads by their positions in line, and those that have been served but have not
    /// woken yet.
    waiting: BTreeMap<u64, Waiting>,
    /// The position of the last thread that was served. All before it have been served, too.
    last_served: u64,
    /// Void tickets whose holders have not yet dropped them.
    void: u64,
    /// In a closed chain, the end of the last tickets with numbers that were handed out.
    handed_out: u64,
    /// Whether the loader knows that a number is needed. The loader clears this when it has nothing
    /// planned that would bring one.
    pub is_requested: bool,
}

/// A waiting thread.
#[derive(Debug)]
struct Waiting {
    thread: thread::Thread,
    /// How many numbers it wants.
    count: u64,
    /// The numbers that it has been served.
    claim: Option<Claim>,
}

impl Supply {
    /// Puts loaded numbers into the backlog.
    pub fn add(&mut self, number: u64, count: u64, delta: u64) {
        match self.backlog.back_mut() {
            Some((first, known)) if first.wrapping_add(known.wrapping_mul(delta)) == number => {
                *known += count;
            }
            _ => self.backlog.push_back((number, count)),
        }
    }

    /// How many numbers are in the backlog.
    pub fn in_backlog(&self) -> u64 {
        self.backlog.iter().map(|(_, count)| count).sum()
    }

    /// How many numbers nobody has claimed.
    pub fn left(&self, chain: &SegmentChain) -> u64 {
        self.in_backlog() + chain.end().saturating_sub(chain.cursor.position())
    }

    /// How many numbers the waiting threads want.
    pub fn wanted(&self) -> u64 {
        self.waiting.range(self.last_served + 1..).map(|(_, waiting)| waiting.count).sum()
    }

    /// How many of them are wanted by threads that want many.
    pub fn wanted_at_once(&self) -> u64 {
        let waiting = self.waiting.range(self.last_served + 1..);
        waiting.map(|(_, waiting)| waiting.count).filter(|count| *count > 1).sum()
    }

    /// Serves the waiting threads, appends what there is room for, and opens or closes the chain as
    /// needed. Returns whether takers can claim numbers from the chain. In a closed chain, every
    /// number has been claimed.
    pub fn open(&mut self, chain: &SegmentChain) -> bool {
        self.serve(chain);
        self.append(chain, SegmentChain::has_room);
        if !chain.cursor.is_closed() && chain.cursor.position() < chain.end() {
            return true;
        }
        self.close(chain, |chain| chain.cursor.close());
        // Read again, because takers may have claimed tickets until the chain was closed.
        if chain.cursor.position() < chain.end() {
            chain.cursor.open();
            return true;
        }
        // Takers have added to the cursor.
        chain.cursor.reset_closed_cursor();
        false
    }

    /// Closes the chain for good. The remaining numbers stay where they are.
    pub fn end(&mut self, chain: &SegmentChain) {
        self.close(chain, |chain| chain.cursor.shut_down());
    }

    fn close(&mut self, chain: &SegmentChain, close: impl Fn(&SegmentChain)) {
        let was_closed = chain.cursor.is_closed();
        close(chain);
        if !was_closed {
            let void = chain.cursor.position().saturating_sub(chain.end());
            self.void += void;
            self.handed_out = chain.cursor.position() - void;
        }
    }

    /// Appends the backlog even if takers have claimed tickets and not yet looked them up. Such
    /// tickets may be lost.
    pub fn append_without_patience(&mut self, chain: &SegmentChain) {
        self.append(chain, SegmentChain::has_claimed_room);
    }

    /// Whether takers that have not looked up their tickets keep the backlog out of the chain.
    pub fn is_held_up(&self, chain: &SegmentChain) -> bool {
        !self.backlog.is_empty() && !chain.has_room() && chain.has_claimed_room()
    }

    fn append(&mut self, chain: &SegmentChain, has_room: impl Fn(&SegmentChain) -> bool) {
        while has_room(chain)
            && let Some((number, count)) = self.backlog.pop_front()
        {
            chain.append(number, count);
        }
        if self.backlog.is_empty() {
            // Frees the memory, so that an idle tag keeps none.
            self.backlog = VecDeque::new();
        }
    }

    /// Drops `count` tickets that have no number. A void ticket costs nothing, any other one is
    /// lost.
    pub fn drop_tickets(&mut self, chain: &SegmentChain, count: u64) {
        // A void ticket looks like one whose segment was overwritten. But each void ticket is
        // dropped here once, so the sum is right in the end.
        let void = count.min(self.void);
        self.void -= void;
        chain.cursor.lose(count - void);
    }

    /// Hands out the next numbers of a closed chain, at most `count`. If the chain is closed for
    /// good, there are none.
    pub fn hand_out(&mut self, chain: &SegmentChain, count: u64) -> Option<Claim> {
        if chain.cursor.ended().is_some() {
            return None;
        }
        self.append(chain, SegmentChain::has_room);
        let next = chain.cursor.position();
        // The holder uses the first of these numbers, so the front may advance to it.
        let (count, origin) = if let (Found::Ready(range), _) = chain.resolve(next) {
            (count.min(range.end - next), range.origin)
        } else {
            // The chain has no room for these numbers, so they get tickets that belong to no
            // segment.
            let (number, left) = self.backlog.front_mut()?;
            let (count, origin) = (count.min(*left), chain.origin(next, *number));
            *number = chain.number(next + count, origin);
            *left -= count;
            if *left == 0 {
                self.backlog.pop_front();
            }
            (count, origin)
        };
        let next = chain.cursor.claim_closed(count);
        let end = next + count;
        self.handed_out = end;
        Some(Claim { next, end, range: Some(ReadyRange { end, origin }) })
    }

    /// Takes back tickets of one segment that their holder does not use. If others have got later
    /// numbers, the tickets are lost.
    pub fn take_back(&mut self, chain: &SegmentChain, tickets: Range<u64>, origin: u64) {
        let count = tickets.end - tickets.start;
        let is_in_the_chain = matches!(chain.find(tickets.start), Found::Ready(_));
        let is_closed = chain.cursor.is_closed();
        let is_last = is_closed && self.handed_out == tickets.end;
        // A chain that has got room while numbers were handed out is closed until the next taker
        // comes, although it has numbers. Those of `tickets` come before them.
        let has_more = chain.cursor.position() < chain.end();
        if is_in_the_chain && (!is_closed || is_last && has_more) {
            self.handed_out = tickets.start;
            chain.cursor.give_back(tickets);
        } else if is_last {
            self.backlog.push_front((chain.number(tickets.start, origin), count));
            self.handed_out = tickets.start;
        } else {
            chain.cursor.lose(count);
        }
    }

    /// Registers the calling thread, which wants `count` numbers. The chain is closed and the
    /// backlog empty. Returns the thread's position in line.
    pub fn join(&mut self, count: u64) -> u64 {
        let last = self.waiting.last_key_value().map_or(0, |(position, _)| *position);
        let position = last.max(self.last_served) + 1;
        let waiting = Waiting { thread: thread::current(), count, claim: None };
        self.waiting.insert(position, waiting);
        position
    }

    /// Returns the numbers that the thread at this position has been served, if any, and removes it
    /// from the line.
    pub fn served(&mut self, position: u64) -> Option<Claim> {
        (position <= self.last_served).then(|| self.leave(position)).flatten()
    }

    /// Removes the thread at this position from the line. Returns the numbers that it has been
    /// served.
    pub fn leave(&mut self, position: u64) -> Option<Claim> {
        self.waiting.remove(&position)?.claim
    }

    /// Serves the waiting threads, in order, and wakes them. If there are fewer numbers than a
    /// thread wants, it gets those and comes back for the rest.
    fn serve(&mut self, chain: &SegmentChain) {
        while let Some((&position, waiting)) = self.waiting.range(self.last_served + 1..).next() {
            let Some(claim) = self.hand_out(chain, waiting.count) else { return };
            self.last_served = position;
            if let Some(waiting) = self.waiting.get_mut(&position) {
                waiting.claim = Some(claim);
                waiting.thread.unpark();
            }
        }
    }

    /// Wakes all waiting threads, so that they check again.
    pub fn wake_all(&self) {
        self.waiting.values().for_each(|waiting| waiting.thread.unpark());
    }
}
