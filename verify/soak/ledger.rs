//! [`Ledger`]: which ids have been taken, in memory that does not grow.

use std::sync::{Mutex, PoisonError};

/// How many tags numbers are taken of.
pub const TAGS: usize = 10;
/// Ids of a block differ only in so many of their low bits.
pub const BLOCK_BITS: u32 = 15;
/// The bits of a UID above these.
pub const WORKER_BITS: u32 = 3;
/// How many worker ids there are: those of a generator and a visitor, and one that was lost.
pub const WORKERS: usize = 3;
const WORDS: usize = 1 << (BLOCK_BITS - 6);

/// A bit for each id of the latest blocks.
///
/// A block has a place that it shares with blocks that are far from it. A later block takes the
/// place of an earlier one, so that no id may come that is older than the window.
#[derive(Debug)]
pub struct Ledger {
    places: Box<[Mutex<Block>]>,
}

#[derive(Debug)]
struct Block {
    number: u64,
    bits: [u64; WORDS],
}

impl Ledger {
    /// A ledger whose window has so many blocks. All of its memory is used from the start.
    pub fn new(window: usize) -> Ledger {
        let block = || Mutex::new(Block { number: 0, bits: [0; WORDS] });
        Ledger { places: (0..window).map(|_| block()).collect() }
    }

    /// Notes ids of which block `block` has the positions `positions`.
    ///
    /// # Errors
    /// One was there before, or it is too old to say.
    pub fn note(&self, block: u64, positions: impl Iterator<Item = u64>) -> Result<(), String> {
        let place = block % self.places.len() as u64;
        #[allow(clippy::cast_possible_truncation)] // it is below the length
        let mut found = self.places[place as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if found.number < block {
            found.bits.fill(0);
            found.number = block;
        }
        if found.number > block {
            return Err(format!(
                "an id of block {block} came after one of block {}: too late to be checked",
                found.number
            ));
        }
        for position in positions {
            #[allow(clippy::cast_possible_truncation)] // it is within a block
            let (word, bit) = (position as usize / 64, 1 << (position % 64));
            if found.bits[word] & bit != 0 {
                return Err(format!("id {position} of block {block} came twice"));
            }
            found.bits[word] |= bit;
        }
        Ok(())
    }
}

/// The ids of one database: UIDs of a few worker ids, and the numbers of its tags.
#[derive(Debug)]
pub struct Ids {
    uids: [Ledger; WORKERS],
    numbers: [Ledger; TAGS],
}

impl Ids {
    pub fn new() -> Ids {
        Ids {
            // Eight seconds of each worker id. A UID is at most one second old, and then a thread
            // has it for as long as the system does not let it run.
            uids: std::array::from_fn(|_| Ledger::new(8192)),
            // 134 million numbers of each tag. Those of a visitor come after those that this
            // process has in memory, and a thread may have to wait while others take millions.
            numbers: std::array::from_fn(|_| Ledger::new(4096)),
        }
    }

    /// Notes UIDs of the layout `layout`, of which those of one block stand side by side.
    ///
    /// # Errors
    /// As [`Ledger::note`].
    pub fn note_uids(&self, uids: &[u64]) -> Result<(), String> {
        by_blocks(uids, |block, positions| {
            let worker = worker_of(block << BLOCK_BITS);
            let ledger = self.uids.get(worker.wrapping_sub(1));
            let ledger = ledger.ok_or_else(|| format!("there is no worker id {worker}"))?;
            let noted = ledger.note(block >> WORKER_BITS, positions);
            noted.map_err(|error| format!("UIDs of worker id {worker}: {error}"))
        })
    }

    /// Notes numbers of a tag.
    ///
    /// # Errors
    /// As [`Ledger::note`].
    pub fn note_numbers(&self, tag: usize, numbers: &[u64]) -> Result<(), String> {
        by_blocks(numbers, |block, positions| {
            let noted = self.numbers[tag].note(block, positions);
            noted.map_err(|error| format!("numbers of tag {tag}: {error}"))
        })
    }
}

/// The positions in `ids` of each block whose ids stand side by side.
fn by_blocks(
    ids: &[u64],
    mut note: impl FnMut(u64, &mut dyn Iterator<Item = u64>) -> Result<(), String>,
) -> Result<(), String> {
    let block = |id: &u64| id >> BLOCK_BITS;
    for run in ids.chunk_by(|one, next| block(one) == block(next)) {
        note(block(&run[0]), &mut run.iter().map(|id| id % (1 << BLOCK_BITS)))?;
    }
    Ok(())
}

/// The worker id of a UID.
#[allow(clippy::cast_possible_truncation)] // it is small
pub fn worker_of(uid: u64) -> usize {
    (uid >> BLOCK_BITS) as usize % (1 << WORKER_BITS)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BITS, Ids, WORKER_BITS};

    #[test]
    fn a_number_comes_once() {
        let (ids, block) = (Ids::new(), |number: u64| number << BLOCK_BITS);
        assert_eq!(ids.note_numbers(2, &[1, 3, block(1), block(1) + 3]), Ok(()));
        assert_eq!(ids.note_numbers(2, &[2, block(1) + 1]), Ok(()));
        assert_eq!(ids.note_numbers(3, &[2, block(1) + 1]), Ok(()));
        let twice = ids.note_numbers(2, &[4, 3]);
        assert_eq!(twice, Err("numbers of tag 2: id 3 of block 0 came twice".to_owned()));
        // This block has the place of block 1.
        assert_eq!(ids.note_numbers(2, &[block(4097) + 3]), Ok(()));
        let late = ids.note_numbers(2, &[block(1) + 9]);
        assert!(late.is_err_and(|error| error.contains("too late")));
    }

    #[test]
    fn a_uid_comes_once() {
        let ids = Ids::new();
        let uid = |tick: u64, worker: u64, sequence: u64| {
            (tick << WORKER_BITS | worker) << BLOCK_BITS | sequence
        };
        let all = [uid(9, 1, 0), uid(9, 1, 5), uid(9, 2, 0), uid(9, 2, 5), uid(10, 1, 0)];
        assert_eq!(ids.note_uids(&all), Ok(()));
        for one in all {
            assert!(ids.note_uids(&[one]).is_err_and(|error| error.contains("twice")));
        }
        assert!(ids.note_uids(&[uid(9, 4, 0)]).is_err());
    }
}
