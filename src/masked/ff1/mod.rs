//! FF1, the format-preserving encryption of NIST [SP
//! 800-38G](https://doi.org/10.6028/NIST.SP.800-38G), for binary numbers of one width: radix 2, an
//! empty tweak, AES-128.
//!
//! A step number in a comment is that of the standard's algorithms 7 and 8. With at most 64 bits
//! and no tweak, the standard's Q is a single block, and so are R and S. P is the same for each
//! number, so its encryption, with which the CBC-MAC of each round begins, is worked out once. The
//! tests compare this with the crate `fpe`, which works as the standard is written, and takes 65
//! times as long.

use std::array;

use aes::cipher::consts::U16;
use aes::cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, KeyInit,
};
use aes::{Aes128Enc, Block};
use zeroize::Zeroize;

/// The permutation of the numbers of `BITS` bits that a key selects.
#[derive(Clone)]
pub(super) struct Ff1<const BITS: u32> {
    aes: Aes128Enc,
    /// P, encrypted.
    head: u128,
}

impl<const BITS: u32> Ff1<BITS> {
    pub(super) fn new(key: &[u8; 16]) -> Ff1<BITS> {
        const { assert!(2 <= BITS && BITS <= 64, "Q has to be a single block") };
        let aes = Aes128Enc::new(key.into());
        // Step 5. The halves have fewer bits than a byte has values.
        let [.., u] = Rounds::<BITS, 1>::LEFT.to_be_bytes();
        let [n1, n2, n3, n4] = BITS.to_be_bytes();
        let mut block = Block::from([1, 2, 1, 0, 0, 2, 10, u, n1, n2, n3, n4, 0, 0, 0, 0]);
        aes.encrypt_block(&mut block);
        let head = u128::from_be_bytes(block.into());
        block.as_mut_slice().zeroize();
        Ff1 { aes, head }
    }

    /// Encrypts `N` numbers at once. The rounds of one number wait for one another, but those of
    /// several do not, so the processor works on several at a time.
    #[inline]
    pub(super) fn encrypt<const N: usize>(&self, mut numbers: [u64; N]) -> [u64; N] {
        self.run(&mut numbers, false);
        numbers
    }

    /// Decrypts what [`encrypt`](Ff1::encrypt) has encrypted.
    #[inline]
    pub(super) fn decrypt<const N: usize>(&self, mut numbers: [u64; N]) -> [u64; N] {
        self.run(&mut numbers, true);
        numbers
    }

    #[inline]
    fn run<const N: usize>(&self, numbers: &mut [u64; N], backwards: bool) {
        let rounds: Rounds<'_, BITS, N> = Rounds { head: self.head, numbers, backwards };
        self.aes.encrypt_with_backend(rounds);
    }

    /// As [`encrypt`](Ff1::encrypt), as a permutation of the numbers from 1.
    ///
    /// Where one is encrypted as 0, 0 is encrypted in its place ("cycle walking"). That is another
    /// number, because no two have the same encryption, and no other number comes to it in this
    /// way, because only one is encrypted as 0.
    #[inline]
    pub(super) fn encrypt_nonzero<const N: usize>(&self, numbers: [u64; N]) -> [u64; N] {
        self.encrypt(numbers).map(|number| if number == 0 { self.encrypt([0])[0] } else { number })
    }

    /// Decrypts what [`encrypt_nonzero`](Ff1::encrypt_nonzero) has encrypted.
    #[inline]
    pub(super) fn decrypt_nonzero<const N: usize>(&self, numbers: [u64; N]) -> [u64; N] {
        self.decrypt(numbers).map(|number| if number == 0 { self.decrypt([0])[0] } else { number })
    }
}

impl<const BITS: u32> Drop for Ff1<BITS> {
    fn drop(&mut self) {
        // The cipher overwrites its keys itself.
        self.head.zeroize();
    }
}

/// The ten rounds. They are one call of the cipher, so that it looks once, and not in each round,
/// for the processor's instructions, and so that they are compiled with these instructions. That
/// saves two thirds of the time.
struct Rounds<'a, const BITS: u32, const N: usize> {
    head: u128,
    numbers: &'a mut [u64; N],
    backwards: bool,
}

impl<const BITS: u32, const N: usize> Rounds<'_, BITS, N> {
    /// The bits of the left half and of the right one: u and v, step 1.
    const LEFT: u32 = BITS / 2;
    const RIGHT: u32 = BITS - BITS / 2;
    const LEFT_MASK: u64 = u64::MAX >> (64 - Self::LEFT);
    const RIGHT_MASK: u64 = u64::MAX >> (64 - Self::RIGHT);
    /// Where the number of the round stands in Q: before the `b` bytes of a half, step 3.
    const ROUND_SHIFT: u32 = 8 * Self::RIGHT.div_ceil(8);
}

impl<const BITS: u32, const N: usize> BlockSizeUser for Rounds<'_, BITS, N> {
    type BlockSize = U16;
}

impl<const BITS: u32, const N: usize> BlockCipherEncClosure for Rounds<'_, BITS, N> {
    // Only what is inlined is compiled with the processor's instructions for AES.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        // Steps 6i to 6iv: y for the halves that this round leaves as they are.
        let y = |round: u32, halves: [u64; N]| -> [u64; N] {
            let mut blocks: [Block; N] = halves.map(|half| {
                let q = u128::from(round) << Self::ROUND_SHIFT | u128::from(half);
                Block::from((self.head ^ q).to_be_bytes())
            });
            for block in &mut blocks {
                backend.encrypt_block(InOut::from(block));
            }
            // S is the first eight bytes of R: d = 8, because b is at most 4.
            blocks.map(|block| (u128::from_be_bytes(block.into()) >> 64) as u64)
        };
        // Step 2.
        let mut left = self.numbers.map(|number| number >> Self::RIGHT);
        let mut right = self.numbers.map(|number| number & Self::RIGHT_MASK);
        // Steps 6v to 6ix. The standard swaps the halves in each round; two rounds at a time need
        // no swap.
        if self.backwards {
            for round in (0..10).step_by(2).rev() {
                let y_right = y(round + 1, left);
                right = array::from_fn(|at| right[at].wrapping_sub(y_right[at]) & Self::RIGHT_MASK);
                let y_left = y(round, right);
                left = array::from_fn(|at| left[at].wrapping_sub(y_left[at]) & Self::LEFT_MASK);
            }
        } else {
            for round in (0..10).step_by(2) {
                let y_left = y(round, right);
                left = array::from_fn(|at| left[at].wrapping_add(y_left[at]) & Self::LEFT_MASK);
                let y_right = y(round + 1, left);
                right = array::from_fn(|at| right[at].wrapping_add(y_right[at]) & Self::RIGHT_MASK);
            }
        }
        // Step 7.
        *self.numbers = array::from_fn(|at| left[at] << Self::RIGHT | right[at]);
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::unwrap_used)]
mod tests;
