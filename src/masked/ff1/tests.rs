use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, FlexibleNumeralString};
use proptest::prelude::*;

use super::Ff1;

/// Samples 1 to 9 of NIST for FF1: the bits of the key, the radix, the tweak, and the digits before
/// and after. FF1samples.pdf among its "examples with intermediate values":
/// <https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values>
const NIST: [(usize, u32, &str, &str, &str); 9] = [
    (128, 10, "", "0123456789", "2433477484"),
    (128, 10, "9876543210", "0123456789", "6124200773"),
    (128, 36, "7777pqrs777", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (192, 10, "", "0123456789", "2830668132"),
    (192, 10, "9876543210", "0123456789", "2496655549"),
    (192, 36, "7777pqrs777", "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (256, 10, "", "0123456789", "6657667009"),
    (256, 10, "9876543210", "0123456789", "1001623463"),
    (256, 36, "7777pqrs777", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
];
/// The key of the samples; the shorter ones are its beginning.
const NIST_KEY: u128 = 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C;
const NIST_KEY_END: u128 = 0xEF43_59D8_D580_AA4F_7F03_6D6F_04FC_6A94;

fn encrypt_by_fpe(key: &[u8], radix: u32, tweak: &[u8], digits: Vec<u16>) -> Vec<u16> {
    let digits = FlexibleNumeralString::from(digits);
    let encrypted = match key.len() {
        16 => FF1::<Aes128>::new(key, radix).unwrap().encrypt(tweak, &digits),
        24 => FF1::<Aes192>::new(key, radix).unwrap().encrypt(tweak, &digits),
        _ => FF1::<Aes256>::new(key, radix).unwrap().encrypt(tweak, &digits),
    };
    encrypted.unwrap().into()
}

#[test]
fn the_implementation_that_ours_is_compared_with_passes_the_samples_of_the_standard() {
    let key = [NIST_KEY.to_be_bytes(), NIST_KEY_END.to_be_bytes()].concat();
    let values = |text: &str| -> Vec<u16> {
        text.chars().map(|digit| digit.to_digit(36).unwrap() as u16).collect()
    };
    for (bits, radix, tweak, before, after) in NIST {
        let found = encrypt_by_fpe(&key[..bits / 8], radix, tweak.as_bytes(), values(before));
        assert_eq!(found, values(after), "AES-{bits}, radix {radix}, tweak {tweak:?}");
    }
}

/// Compares the encryption of a number of `BITS` bits with that of the crate `fpe`.
fn compare<const BITS: u32>(key: &[u8; 16], number: u64) {
    let number = number >> (64 - BITS);
    let digits = (0..BITS).rev().map(|bit| (number >> bit & 1) as u16).collect();
    let expected = encrypt_by_fpe(key, 2, &[], digits);
    let expected = expected.iter().fold(0, |sum, &bit| sum << 1 | u64::from(bit));
    let ff1 = Ff1::<BITS>::new(key);
    assert_eq!(ff1.encrypt([number]), [expected], "{BITS} bits of {number}");
    assert_eq!(ff1.decrypt([expected]), [number], "{BITS} bits of {number}");
}

proptest! {
    // All ways in which halves can be uneven, and fill bytes or not. NIST allows no fewer bits.
    #[test]
    fn each_width_is_encrypted_as_the_standard_says(key: [u8; 16], number: u64) {
        compare::<20>(&key, number);
        compare::<21>(&key, number);
        compare::<31>(&key, number);
        compare::<32>(&key, number);
        compare::<33>(&key, number);
        compare::<47>(&key, number);
        compare::<48>(&key, number);
        compare::<49>(&key, number);
        compare::<62>(&key, number);
        compare::<63>(&key, number);
        compare::<64>(&key, number);
    }

    #[test]
    fn numbers_are_encrypted_together_as_one_by_one(key: [u8; 16], numbers: [u64; 16]) {
        let numbers = numbers.map(|number| number >> 1);
        let ff1 = Ff1::<63>::new(&key);
        let one_by_one = numbers.map(|number| ff1.encrypt([number])[0]);
        prop_assert_eq!(ff1.encrypt(numbers), one_by_one);
        prop_assert_eq!(ff1.decrypt(one_by_one), numbers);
    }
}

/// Encrypts all numbers of `BITS` bits, and all but 0, and counts the results.
fn count<const BITS: u32>(key: u8) {
    let ff1 = Ff1::<BITS>::new(&[key; 16]);
    let all = 1_usize << BITS;
    let (mut seen, mut seen_nonzero) = (vec![0; all], vec![0; all]);
    for number in 0..all as u64 {
        let [encrypted] = ff1.encrypt([number]);
        assert_eq!(ff1.decrypt([encrypted]), [number], "{BITS} bits");
        seen[encrypted as usize] += 1;
        if number > 0 {
            let [encrypted] = ff1.encrypt_nonzero([number]);
            assert_eq!(ff1.decrypt_nonzero([encrypted]), [number], "{BITS} bits");
            seen_nonzero[encrypted as usize] += 1;
        }
    }
    assert!(seen.iter().all(|&times| times == 1), "{BITS} bits");
    assert_eq!(seen_nonzero[0], 0, "{BITS} bits");
    assert!(seen_nonzero[1..].iter().all(|&times| times == 1), "{BITS} bits");
}

#[test]
fn each_number_of_a_small_width_has_an_encryption_of_its_own_and_none_but_0_becomes_0() {
    for key in 0..8 {
        count::<2>(key);
        count::<3>(key);
        count::<8>(key);
        count::<13>(key);
    }
    count::<16>(8);
}
