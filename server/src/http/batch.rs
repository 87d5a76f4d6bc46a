//! The ids of one answer in compressed form. Most ids follow one another at the same distance, so a
//! few bytes hold many. This matters because an answer may wait long for a client that does not
//! read.

use crate::app::App;
use crate::app::in_flight::Reservation;
use crate::http::take_failure::TakeFailure;

/// Up to this many ids, an answer reserves no memory.
pub(crate) const FEW: usize = 1024;

/// The most bytes of an id of one generator, in the worst case, in which takers alternate: one for
/// the distance, one for the repetitions.
pub(crate) const BYTES_PER_ID: usize = 2;
/// The most bytes of an id where any may follow any.
pub(crate) const BYTES_PER_ID_OF_ANY: usize = 11;

/// Ids in the order in which they were taken, as runs: a distance to the id before, and how often
/// it repeats.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    last: u64,
    run: Run,
    count: usize,
    /// The reserved memory of the answer.
    reservation: Option<Reservation>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    distance: u64,
    times: u64,
}

impl Batch {
    /// A batch for `count` ids of so many bytes each at most. Waits until its memory is reserved,
    /// and takes no ids before.
    pub(crate) async fn with_room(
        app: &'static App,
        count: usize,
        bytes_per_id: usize,
    ) -> Result<Batch, TakeFailure> {
        if count <= FEW {
            return Ok(Batch::default());
        }
        let reservation = app.in_flight.reserve(bytes_per_id * count).await;
        let reservation = reservation.ok_or(TakeFailure::Full)?;
        Ok(Batch { reservation: Some(reservation), ..Batch::default() })
    }

    pub(crate) fn push(&mut self, id: u64) {
        let distance = id.wrapping_sub(self.last);
        if distance != self.run.distance {
            self.end_run();
            self.run.distance = distance;
        }
        self.run.times += 1;
        self.last = id;
        self.count += 1;
    }

    fn end_run(&mut self) {
        if self.run.times > 0 {
            write(&mut self.bytes, self.run.distance);
            write(&mut self.bytes, self.run.times);
            self.run.times = 0;
        }
    }

    /// Ends the batch when all ids are in it.
    pub(crate) fn finish(mut self) -> Ids {
        self.end_run();
        if let Some(reservation) = &mut self.reservation {
            self.bytes.shrink_to_fit();
            reservation.shrink(self.bytes.len());
        }
        let Batch { bytes, count, reservation, .. } = self;
        Ids { bytes, place: Cursor::default(), left: count, reservation }
    }
}

/// An iterator over the ids of a batch.
#[derive(Debug)]
pub(crate) struct Ids {
    bytes: Vec<u8>,
    place: Cursor,
    left: usize,
    reservation: Option<Reservation>,
}

/// Where a reader of a batch is.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    at: usize,
    last: u64,
    run: Run,
}

impl Cursor {
    fn next(&mut self, bytes: &[u8]) -> Option<u64> {
        if self.run.times == 0 {
            if self.at == bytes.len() {
                return None;
            }
            self.run = Run::read(bytes, &mut self.at);
        }
        self.run.times -= 1;
        self.last = self.last.wrapping_add(self.run.distance);
        Some(self.last)
    }
}

impl Ids {
    /// The total number of digits of all ids.
    pub(crate) fn digits(&self) -> usize {
        let (mut at, mut last, mut sum) = (0, 0_u64, 0);
        while at < self.bytes.len() {
            let run = Run::read(&self.bytes, &mut at);
            let first = last.wrapping_add(run.distance);
            let end = last.wrapping_add(run.distance.wrapping_mul(run.times));
            // If the first and the last id of a run have the same number of digits, so do all
            // between them. Runs may also descend.
            let times = usize::try_from(run.times).unwrap_or(usize::MAX);
            sum += if digits(first) == digits(end) && run.distance < 1 << 32 {
                digits(first) * times
            } else {
                (1..=run.times)
                    .map(|index| digits(last.wrapping_add(run.distance.wrapping_mul(index))))
                    .sum()
            };
            last = end;
        }
        sum
    }

    /// All ids, without taking them out.
    pub(crate) fn peek_all(&self) -> impl Iterator<Item = u64> {
        let mut place = Cursor::default();
        std::iter::from_fn(move || place.next(&self.bytes))
    }

    /// Takes the reserved memory, which the answer holds until it is sent.
    pub(crate) fn reservation(&mut self) -> Option<Reservation> {
        self.reservation.take()
    }
}

impl Iterator for Ids {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let id = self.place.next(&self.bytes)?;
        self.left -= 1;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Ids {}

impl Run {
    fn read(bytes: &[u8], at: &mut usize) -> Run {
        Run { distance: read(bytes, at), times: read(bytes, at) }
    }
}

/// The number of digits.
pub(crate) fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Writes a variable-length number: seven bits per byte, the lowest first. The last byte is below
/// 128.
fn write(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 128);
    }
}

fn read(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return number;
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn batch(ids: &[u64]) -> Ids {
        let mut batch = Batch::default();
        for &id in ids {
            batch.push(id);
        }
        batch.finish()
    }

    fn check(ids: &[u64]) {
        let batch = batch(ids);
        assert_eq!(batch.len(), ids.len());
        let digits: usize = ids.iter().map(|id| id.to_string().len()).sum();
        assert_eq!(batch.digits(), digits, "{ids:?}");
        assert_eq!(batch.collect::<Vec<_>>(), ids);
    }

    #[test]
    fn ids_that_follow_one_another_need_few_bytes() {
        let dense: Vec<u64> = (1..=100_000).collect();
        check(&dense);
        assert!(batch(&dense).bytes.len() <= 8, "{}", batch(&dense).bytes.len());
        // As if two takers alternated at random.
        let shared: Vec<u64> = (1..=100_000).filter(|number| number % 3 != 0).collect();
        check(&shared);
        assert!(batch(&shared).bytes.len() <= 2 * shared.len());
        // UIDs of several ticks.
        let tick = |tick: u64| (0..8192).map(move |index| (tick << 33) + index);
        let uids: Vec<u64> = (20_000..20_010).flat_map(tick).collect();
        check(&uids);
        assert!(batch(&uids).bytes.len() < 200, "{}", batch(&uids).bytes.len());
    }

    proptest! {
        #[test]
        fn any_ids_come_back_as_they_were(ids in prop::collection::vec(1..u64::MAX >> 1, 0..50)) {
            check(&ids);
        }

        #[test]
        fn ids_near_one_another_do_too(
            first in 1..=u64::MAX >> 2,
            steps in prop::collection::vec(0..12_u64, 0..200),
        ) {
            let ids: Vec<u64> = steps
                .iter()
                .scan(first, |id, step| { *id += step; Some(*id) })
                .collect();
            check(&ids);
        }
    }
}
