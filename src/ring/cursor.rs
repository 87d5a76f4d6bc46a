//! [`Cursor`]: the next ticket, and what closes and opens a ring.
//!
//! A ring hands out tickets by one atomic add. Closing sets the top bit of the cursor, so that the
//! same add yields no ticket, and open rings pay nothing for it. The ring of blocks and the chain
//! of segments share this.

use std::ops::Range;

use crate::support::rule::Rule;
use crate::sync::Counter;
use crate::sync::{AtomicU8, AtomicU64, Mutex, MutexGuard, Ordering, lock};

/// Set in the cursor while the ring is closed, and therefore in each ticket claimed meanwhile. No
/// real ticket is this large (see [`Cursor`]).
const CLOSED: u64 = 1 << 63;
/// Set in the cursor of a closed ring once claims have added half of what would open it again.
const HALFWAY: u64 = 1 << 62;
/// In place of a ticket.
const OPEN: u64 = u64::MAX;

/// Whether `ticket` was claimed while the ring was closed, and so is not a ticket at all.
pub fn is_closed(ticket: u64) -> bool {
    ticket & CLOSED != 0
}

/// The next ticket of a ring. It is kept on cache lines of its own, as every taker writes it.
///
/// It stays below 2^63, whatever the ring. Takers claim the tickets of numbers that are there and,
/// beyond those, one claim for each thread: those who wait with it, or those who find it void, once
/// for each load. No two tickets have the same number, and there are fewer than 2^63 numbers; the
/// field `cursor` of [`Ring`](crate::ring::Ring) counts those of blocks. While the ring is closed,
/// takers undo what claims add.
#[derive(Debug)]
#[repr(C)]
pub struct Cursor {
    /// The next ticket. The only word that every taker writes. It comes first, so that whoever
    /// holds a cursor knows how far away it is.
    next: AtomicU64,
    /// Tickets that were dropped because what they stood for was overwritten, or were given back
    /// too late. Written by takers.
    lost: Counter,
    /// Tickets that the cursor was moved past, so that no taker got them. Written by the filler
    /// and, in exact time, by takers.
    skipped: Counter,
    /// Where the cursor continues when the ring is opened. The lock is taken to close the ring, to
    /// open it and to move the cursor, but never by a take from an open ring.
    resume: Mutex<Resume>,
    /// An [`Ended`] by its number, or 0. Once set, it only becomes a later end.
    ended: AtomicU8,
    /// The ticket in `resume` while the ring is closed, else [`OPEN`]. Written under the lock. A
    /// child process, which may find the lock taken, reads it.
    closed_at: AtomicU64,
}

/// Why a ring is closed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The generator was shut down. Written under the lock of `resume`.
    ShutDown,
    /// The ring is a copy made by `fork`, from which nobody may take. Written in the child process
    /// while it has one thread.
    Forked,
    /// An id could have been given twice. Written under the lock of `resume`.
    BrokenRule(Rule),
}

const SHUT_DOWN: u8 = 1;
const FORKED: u8 = 2;
/// Added to the number of a rule.
const BROKEN_RULE: u8 = 2;

/// Where a closed ring continues.
#[derive(Debug, Default)]
struct Resume {
    /// The next ticket.
    ticket: u64,
    /// Tickets before `ticket` that were given back while later ones are still held.
    given_back: Vec<Range<u64>>,
}

impl Cursor {
    /// A cursor whose first ticket is `ticket`.
    pub fn new(ticket: u64) -> Cursor {
        Cursor {
            next: AtomicU64::new(ticket),
            lost: Counter::default(),
            skipped: Counter::default(),
            resume: Mutex::default(),
            ended: AtomicU8::new(0),
            closed_at: AtomicU64::new(OPEN),
        }
    }

    /// Claims `count` tickets and returns the first.
    #[inline]
    pub fn claim(&self, count: u64) -> u64 {
        // ORDERING: the counter alone makes tickets distinct and ordered. Access to what
        // a ticket stands for is ordered by the slot that holds it.
        self.next.fetch_add(count, Ordering::Relaxed)
    }

    /// The next ticket, or one of a closed ring.
    pub fn next(&self) -> u64 {
        // ORDERING: as in `claim`; whoever claims by this value checks it again.
        self.next.load(Ordering::Relaxed)
    }

    /// Claims `count` tickets from `ticket` on if that is the next one, else returns what is. It
    /// may also fail without a reason.
    pub fn claim_exactly(&self, ticket: u64, count: u64) -> Result<(), u64> {
        // ORDERING: as in `claim`; the swap checks that the ticket is still the next one.
        self.next
            .compare_exchange_weak(ticket, ticket + count, Ordering::Relaxed, Ordering::Relaxed)
            .map(drop)
    }

    /// Whether the ring is closed.
    pub fn is_closed(&self) -> bool {
        // ORDERING: a thread that acts on this takes the lock first.
        is_closed(self.next.load(Ordering::Relaxed))
    }

    /// Closes the ring: from now on claims yield no tickets and consume nothing.
    pub fn close(&self) {
        drop(self.close_and_hold());
    }

    /// Closes the ring. Nobody can open it while the result is held.
    fn close_and_hold(&self) -> MutexGuard<'_, Resume> {
        let mut resume = lock(&self.resume);
        // ORDERING: as in `claim`; the lock orders this change among those of its kind.
        let cursor = self.next.fetch_or(CLOSED, Ordering::Relaxed);
        if !is_closed(cursor) {
            self.resume_at(&mut resume, cursor);
        }
        resume
    }

    /// Lets a closed ring continue with `ticket`.
    fn resume_at(&self, resume: &mut Resume, ticket: u64) {
        resume.ticket = ticket;
        // ORDERING: the one reader is in a child process, which has a copy of this memory.
        self.closed_at.store(ticket, Ordering::Relaxed);
    }

    /// Gives back tickets that their holder does not use, so that they can be claimed again.
    ///
    /// A ticket can be claimed again only when nobody holds a later one. In an open ring that must
    /// be true at once. In a closed ring it becomes true when all later tickets have been given
    /// back too. If it is still not true when the ring is opened, the ticket is lost, because
    /// handing it out after later ones would break the order.
    ///
    /// A ticket that advanced the front is never given back, so the cursor stays past the start of
    /// the front.
    pub fn give_back(&self, tickets: Range<u64>) {
        let mut resume = lock(&self.resume);
        // ORDERING: as in `claim`; the lock prevents others from closing or opening the ring
        // meanwhile. The next taker that claims these tickets needs to see nothing that their
        // holder did.
        if is_closed(self.next.load(Ordering::Relaxed)) {
            resume.given_back.push(tickets);
            let mut ticket = resume.ticket;
            let given_back = &mut resume.given_back;
            while let Some(last) = given_back.iter().position(|tickets| tickets.end == ticket) {
                ticket = given_back.swap_remove(last).start;
            }
            self.resume_at(&mut resume, ticket);
        } else if self
            .next
            .compare_exchange(tickets.end, tickets.start, Ordering::Relaxed, Ordering::Relaxed)
            .is_err()
        {
            self.lose(tickets.end - tickets.start);
        }
    }

    /// Keeps a closed ring closed, although claims add to its cursor: their sum would overflow the
    /// top bit some day. Whoever has claimed `ticket` from a closed ring calls this before anything
    /// else. Once claims have added 2^62, it undoes that. The rest has room for a claim of 2^41
    /// tickets, the largest of any layout, by each of two million threads.
    pub fn keep_closed(&self, ticket: u64) {
        // At the end that is done already, and in a forked process no lock may be taken.
        if ticket & HALFWAY != 0 && self.ended().is_none() {
            self.reset_closed_cursor();
        }
    }

    /// Undoes what claims have added to the cursor of a closed ring.
    pub fn reset_closed_cursor(&self) {
        let resume = lock(&self.resume);
        // ORDERING: as in `open`.
        if is_closed(self.next.load(Ordering::Relaxed)) {
            self.next.store(CLOSED | resume.ticket, Ordering::Relaxed);
        }
    }

    /// Closes the ring for good: no ticket is claimed from now on.
    pub fn shut_down(&self) {
        self.end(SHUT_DOWN);
    }

    /// Closes the ring for good, because this rule does not hold.
    pub fn break_rule(&self, rule: Rule) {
        if self.ended().is_none() {
            self.end(BROKEN_RULE + rule as u8);
        }
    }

    fn end(&self, ended: u8) {
        let resume = self.close_and_hold();
        // ORDERING: Release, pairs with `ended`: a thread that sees this resets the cursor only
        // after `close_and_hold` has read where it was. `open` reads it under the lock.
        self.ended.store(ended, Ordering::Release);
        drop(resume);
    }

    /// Closes the ring for good, in a child process that `fork` has just created.
    ///
    /// This never waits for the lock, and neither does any later operation in the child: the lock
    /// may be held by a thread that does not exist there.
    #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
    pub fn abandon(&self) {
        // ORDERING: the child has one thread.
        let before = self.ended.swap(FORKED, Ordering::Relaxed);
        if before == FORKED {
            return;
        }
        // ORDERING: as above.
        let before = self.next.fetch_or(CLOSED, Ordering::Relaxed);
        // ORDERING: as above. A thread that had just closed the ring may not have said where.
        if !is_closed(before) || self.closed_at.load(Ordering::Relaxed) == OPEN {
            self.closed_at.store(before & !CLOSED, Ordering::Relaxed);
        }
    }

    /// Why the ring is closed for good, if it is. Each claim from such a ring ends up here, so this
    /// resets the cursor.
    pub fn ended(&self) -> Option<Ended> {
        // ORDERING: Acquire, pairs with `shut_down`: the store below comes after the `fetch_or`
        // that reads the cursor. If it came first, the position at the shutdown would be lost.
        // After a fork, `ended` is written before a second thread exists that could read it. A
        // thread that misses a shutdown finds the ring closed, and waits; the lock of the waiters
        // orders that before it is woken, or after the store.
        let ended = match self.ended.load(Ordering::Acquire) {
            0 => return None,
            SHUT_DOWN => Ended::ShutDown,
            FORKED => Ended::Forked,
            rule => Ended::BrokenRule(Rule::of_number(rule - BROKEN_RULE)),
        };
        // ORDERING: Relaxed, since a ticket from here says only that the ring is closed.
        self.next.store(CLOSED, Ordering::Relaxed);
        Some(ended)
    }

    /// Claims `count` tickets of a closed ring, from which takers get none, and returns the first.
    pub fn claim_closed(&self, count: u64) -> u64 {
        let mut resume = lock(&self.resume);
        let first = resume.ticket;
        self.resume_at(&mut resume, first + count);
        first
    }

    /// Opens the ring where it was closed, unless it is closed for good.
    pub fn open(&self) {
        let mut resume = lock(&self.resume);
        if self.ended().is_some() {
            return;
        }
        // ORDERING: as in `claim`. While the ring is closed and the lock is held, others only add
        // to the cursor. A store would do instead of the swap, but loom could not tell which of
        // those adds come before it.
        if is_closed(self.next.load(Ordering::Relaxed)) {
            self.next.swap(resume.ticket, Ordering::Relaxed);
            // ORDERING: as in `resume_at`.
            self.closed_at.store(OPEN, Ordering::Relaxed);
            let left = resume.given_back.drain(..).map(|tickets| tickets.end - tickets.start);
            self.lose(left.sum());
        }
    }

    /// Moves the cursor forward to `ticket` unless it is there already or further on. Returns
    /// whether it moved. Called by the filler.
    pub fn skip_to(&self, ticket: u64) -> bool {
        let mut resume = lock(&self.resume);
        // ORDERING: as in `claim`. Nobody holds the skipped tickets: a taker gets a ticket only by
        // its own add.
        let mut from = self.next.load(Ordering::Relaxed);
        if is_closed(from) {
            from = resume.ticket;
            self.resume_at(&mut resume, from.max(ticket));
        } else {
            while from < ticket {
                match self.next.compare_exchange_weak(
                    from,
                    ticket,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => break,
                    Err(now) => from = now,
                }
            }
        }
        self.skipped.add(ticket.saturating_sub(from));
        from < ticket
    }

    /// Moves the cursor of an open ring forward to the ticket `first`, and on by an offset that
    /// `place` chooses by the cursor, unless it is at `first` already or further on. The filler is
    /// not needed for that, so this takes no lock.
    pub fn advance_to(&self, first: u64, place: impl Fn(u64) -> u64) {
        // ORDERING: as in `claim`. Nobody holds the skipped tickets. A closed cursor is past every
        // ticket, so this leaves it alone.
        let mut from = self.next.load(Ordering::Relaxed);
        while from < first {
            let to = first + place(from);
            // Counted before, so that nobody takes them for tickets that were claimed. ORDERING:
            // Release, pairs with `position`.
            self.skipped.add(to - from);
            match self.next.compare_exchange_weak(from, to, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => {
                    self.skipped.take_back(to - from);
                    from = now;
                }
            }
        }
    }

    /// Counts `count` claimed tickets as skipped.
    pub fn skip(&self, count: u64) {
        self.skipped.add(count);
    }

    /// The next ticket, also while the ring is closed.
    pub fn position(&self) -> u64 {
        // ORDERING: Acquire, pairs with `advance_to`: a thread that sees the cursor moved on sees
        // the tickets counted as skipped.
        let cursor = self.next.load(Ordering::Acquire);
        if !is_closed(cursor) {
            cursor
        } else if self.ended() == Some(Ended::Forked) {
            // ORDERING: as in `ended`.
            self.closed_at.load(Ordering::Relaxed)
        } else {
            lock(&self.resume).ticket
        }
    }

    /// Counts `count` tickets that nobody will use.
    pub fn lose(&self, count: u64) {
        self.lost.add(count);
    }

    /// The number of tickets lost so far.
    pub fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// The number of tickets skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped.get()
    }
}
