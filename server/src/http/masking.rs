//! The UIDs of an answer, masked while they are written. An answer that waits to be sent holds them
//! as they were taken: masked, they could not be held in a few bytes.

use uidring::Uid;
use uidring::masked::Masked;

use crate::app::in_flight::Reservation;
use crate::http::batch::{Ids, digits};
use crate::http::ids::Listed;

/// How many are masked at a time, which takes less time than one by one.
const AT_ONCE: usize = 64;

/// An iterator over the masked forms of a batch of UIDs.
pub(crate) struct MaskedIds {
    uids: Ids,
    masked: &'static Masked,
    /// The next of them, in reverse.
    ready: Vec<u64>,
}

impl MaskedIds {
    pub(crate) fn new(uids: Ids, masked: &'static Masked) -> MaskedIds {
        MaskedIds { uids, masked, ready: Vec::new() }
    }
}

/// Masks the next UIDs of an iterator.
fn mask(masked: &Masked, uids: &mut impl Iterator<Item = u64>) -> Vec<u64> {
    let uids: Vec<Uid> = uids.take(AT_ONCE).filter_map(Uid::new).collect();
    masked.mask_all(&uids)
}

impl Listed for MaskedIds {
    fn digits(&self) -> usize {
        let mut all = self.uids.peek_all();
        let mut sum = 0;
        loop {
            let masked = mask(self.masked, &mut all);
            if masked.is_empty() {
                return sum;
            }
            sum += masked.into_iter().map(digits).sum::<usize>();
        }
    }

    fn reservation(&mut self) -> Option<Reservation> {
        self.uids.reservation()
    }
}

impl Iterator for MaskedIds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.ready.is_empty() {
            self.ready = mask(self.masked, &mut self.uids);
            self.ready.reverse();
        }
        self.ready.pop()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.ready.len() + self.uids.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for MaskedIds {}

#[cfg(test)]
mod tests {
    use uidring::masked::Key;

    use super::*;
    use crate::http::batch::Batch;

    #[test]
    fn masked_ids_are_those_of_the_batch_in_its_order() {
        let masked: &'static Masked = Box::leak(Box::new(Masked::new(&Key::from([7; 32]))));
        for count in [0, 1, 63, 64, 65, 1_000] {
            let uids: Vec<Uid> = (0..count).filter_map(|at| Uid::new(95 + 7 * at)).collect();
            let mut batch = Batch::default();
            for uid in &uids {
                batch.push(uid.get());
            }
            let mut ids = MaskedIds::new(batch.finish(), masked);
            let expected: Vec<u64> = uids.iter().map(|&uid| masked.mask(uid)).collect();
            let digits: usize = expected.iter().map(|id| id.to_string().len()).sum();
            assert_eq!((ids.digits(), ids.len()), (digits, uids.len()));
            for (at, &expected) in expected.iter().enumerate() {
                assert_eq!((ids.len(), ids.next()), (uids.len() - at, Some(expected)));
            }
            assert_eq!(ids.next(), None);
        }
    }
}
