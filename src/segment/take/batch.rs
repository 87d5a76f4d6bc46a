//! [`Batch`]: numbers of a tag that were claimed together, and may still go back.

use std::ops::Range;

use crate::engine::TakeError;
use crate::segment::tag::claim::Numbers;
use crate::segment::take::local::Handle;

/// The next numbers of a tag, as many takes of one thread would have got them. Whoever has it uses
/// them all, or gives them back.
pub(crate) struct Batch {
    handle: Handle,
    /// The tickets, the number of ticket 0, and the numbers.
    parts: Vec<(Range<u64>, u64, Numbers)>,
    /// `TagEngine::claims_end` before the first claim.
    end: u64,
}

impl Batch {
    /// Claims `count` numbers, and waits for those that are not in memory. If it ends with an
    /// error, there are fewer.
    pub fn take(handle: &Handle, count: u64) -> (Batch, Option<TakeError>) {
        let tag = &handle.tag.engine;
        let mut batch = Batch { handle: handle.clone(), parts: Vec::new(), end: tag.claims_end() };
        let mut left = count;
        while left > 0 {
            let mut claim = match tag.claim(left) {
                Ok(claim) => claim,
                Err(error) => return (batch, Some(error)),
            };
            while let Some(numbers) = tag.next_numbers(&mut claim) {
                let tickets = claim.next - numbers.count..claim.next;
                let origin = tag.chain.origin(tickets.start, numbers.first.get());
                left -= numbers.count;
                batch.parts.push((tickets, origin, numbers));
            }
        }
        (batch, None)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|(.., numbers)| numbers.len()).sum()
    }

    /// The numbers, which ascend.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.parts.iter().flat_map(|(.., numbers)| {
            let Numbers { first, count, delta } = *numbers;
            (0..count).map(move |index| first.get() + index * delta)
        })
    }

    /// Gives the numbers back, as far as nobody has got later ones. The others are lost.
    pub fn give_back(self) {
        let tag = &self.handle.tag.engine;
        // In a forked process they are the parent's, and what was given up is counted already.
        if tag.claims_end() == self.end && tag.chain.cursor.ended().is_none() {
            let parts = self.parts.into_iter().rev();
            tag.give_back(parts.map(|(tickets, origin, _)| (tickets, origin)));
        }
    }
}
