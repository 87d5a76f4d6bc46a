//! Check characters.
//!
//! Luhn (ISO/IEC 7812-1), Damm, MOD 11,10 and MOD 97-10 of ISO 7064, the check digit of GS1, the
//! reference of creditors (ISO 11649), and the rest by 97, as banks of Belgium have it. Each finds
//! every wrong digit. Damm's and the rest by 97 find every swap of two neighbours as well, and MOD
//! 97-10 every one but for three of a letter and a digit. The others find most of them.

/// A way to compute check characters, which are digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Check {
    /// One digit, over the decimal digits.
    Luhn,
    /// One digit, over the decimal digits.
    Damm,
    /// One digit, over the decimal digits.
    Mod11_10,
    /// Two digits, over the decimal digits and letters. A letter counts as the two digits of
    /// 10 to 35, whatever its case, as in an IBAN.
    Mod97_10,
    /// One digit, over the decimal digits: of a GTIN, an SSCC, a GLN.
    Gs1,
    /// Two digits, over the decimal digits: 97 in place of 0.
    Mod97,
    /// Two digits in front of what they are over: digits and letters, as in `Mod97_10`.
    Iso11649,
}

impl Check {
    pub const ALL: [Check; 7] = [
        Check::Luhn,
        Check::Damm,
        Check::Mod11_10,
        Check::Mod97_10,
        Check::Gs1,
        Check::Mod97,
        Check::Iso11649,
    ];

    /// The name in a pattern.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Luhn => "luhn",
            Check::Damm => "damm",
            Check::Mod11_10 => "mod11_10",
            Check::Mod97_10 => "mod97_10",
            Check::Gs1 => "gs1",
            Check::Mod97 => "mod97",
            Check::Iso11649 => "iso11649",
        }
    }

    /// How many digits it has.
    pub const fn width(self) -> usize {
        match self {
            Check::Luhn | Check::Damm | Check::Mod11_10 | Check::Gs1 => 1,
            Check::Mod97_10 | Check::Mod97 | Check::Iso11649 => 2,
        }
    }

    /// Whether it is computed over what is behind it, and not over what is before it.
    pub const fn is_in_front(self) -> bool {
        matches!(self, Check::Iso11649)
    }

    /// The check digits of a text, as a number below 10, or below 100.
    pub fn of(self, text: &[u8]) -> u8 {
        match self {
            Check::Luhn => luhn(text),
            Check::Damm => damm(text),
            Check::Mod11_10 => mod11_10(text),
            Check::Mod97_10 => mod97_10(text.iter()),
            Check::Gs1 => gs1(text),
            Check::Mod97 => mod97(text),
            // The two letters that every such reference begins with are checked last.
            Check::Iso11649 => mod97_10(text.iter().chain(b"RF")),
        }
    }
}

/// The values of the decimal digits.
fn digits(text: &[u8]) -> impl DoubleEndedIterator<Item = u8> {
    text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0')
}

fn luhn(text: &[u8]) -> u8 {
    // The check digit will be the last, so doubling begins with the digit before it.
    let sum = digits(text).rev().enumerate().fold(0, |sum, (index, digit)| {
        let doubled = if index % 2 == 0 { digit * 2 } else { digit };
        (sum + doubled / 10 + doubled % 10) % 10
    });
    (10 - sum) % 10
}

/// The quasigroup of order 10 in H. Michael Damm's dissertation, "Total anti-symmetrische
/// Quasigruppen" (2004), page 111. Its diagonal is 0, so the last state is the check digit.
const DAMM: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

fn damm(text: &[u8]) -> u8 {
    digits(text).fold(0, |state, digit| DAMM[usize::from(state)][usize::from(digit)])
}

fn mod11_10(text: &[u8]) -> u8 {
    let product = digits(text).fold(10, |product, digit| {
        let sum = (product + digit) % 10;
        let sum = if sum == 0 { 10 } else { sum };
        sum * 2 % 11
    });
    (11 - product) % 10
}

fn gs1(text: &[u8]) -> u8 {
    // Weights of 3 and 1 in turn, so that the digit before the check digit has 3.
    let sum = digits(text).rev().enumerate().fold(0, |sum, (index, digit)| {
        let weight = if index % 2 == 0 { 3 } else { 1 };
        (sum + digit * weight) % 10
    });
    (10 - sum) % 10
}

fn mod97(text: &[u8]) -> u8 {
    let rest = digits(text).fold(0, |rest, digit| (rest * 10 + u16::from(digit)) % 97);
    u8::try_from(if rest == 0 { 97 } else { rest }).unwrap_or(0)
}

fn mod97_10<'a>(text: impl Iterator<Item = &'a u8>) -> u8 {
    let rest = text.fold(0_u64, |rest, byte| {
        // Seldom, as a division takes as long as all else here.
        let rest = if rest < 1 << 56 { rest } else { rest % 97 };
        match byte {
            b'0'..=b'9' => rest * 10 + u64::from(byte - b'0'),
            b'A'..=b'Z' => rest * 100 + u64::from(byte - b'A') + 10,
            b'a'..=b'z' => rest * 100 + u64::from(byte - b'a') + 10,
            _ => rest,
        }
    });
    // With two digits behind it, the whole is to leave 1.
    u8::try_from(98 - rest % 97 * 100 % 97).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a text, with the check digits at its end, is one that a reader takes for right.
    fn is_right(check: Check, text: &[u8]) -> bool {
        let (text, digits) = text.split_at(text.len() - check.width());
        let digits = digits.iter().fold(0, |number, digit| number * 10 + digit - b'0');
        check.of(text) == digits
    }

    /// The texts of all numbers of one to four digits, with their check digits.
    fn checked(check: Check) -> impl Iterator<Item = Vec<u8>> {
        let numbers = (1..=4).flat_map(|width| {
            (0..10_u32.pow(width))
                .map(move |number| format!("{number:0width$}", width = width as usize))
        });
        numbers.map(move |number| {
            let (digits, width) = (check.of(number.as_bytes()), check.width());
            format!("{number}{digits:0width$}").into_bytes()
        })
    }

    #[test]
    fn each_check_finds_every_wrong_digit() {
        for check in Check::ALL {
            for text in checked(check) {
                assert!(is_right(check, &text));
                for at in 0..text.len() {
                    let mut wrong = text.clone();
                    for digit in (b'0'..=b'9').filter(|digit| *digit != text[at]) {
                        wrong[at] = digit;
                        assert!(!is_right(check, &wrong), "{check:?} of {text:?}: {wrong:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn some_checks_find_every_swap_of_digits() {
        for check in [Check::Damm, Check::Mod97_10, Check::Mod97, Check::Iso11649] {
            for text in checked(check) {
                for at in 1..text.len() {
                    let mut wrong = text.clone();
                    wrong.swap(at - 1, at);
                    assert!(wrong == text || !is_right(check, &wrong), "{check:?} of {text:?}");
                }
            }
        }
    }

    #[test]
    fn the_others_miss_some_swaps() {
        for (check, text, swapped) in [
            (Check::Luhn, "091", "901"),
            (Check::Mod11_10, "560", "650"),
            (Check::Gs1, "055", "505"),
        ] {
            assert!(is_right(check, text.as_bytes()) && is_right(check, swapped.as_bytes()));
        }
    }

    #[test]
    fn mod_97_10_finds_every_wrong_letter() {
        for at in 0..3 {
            for letter in (b'A'..=b'Z').filter(|letter| *letter != b"SOX"[at]) {
                let mut wrong = *b"SOX42";
                wrong[at] = letter;
                assert_ne!(Check::Mod97_10.of(&wrong), Check::Mod97_10.of(b"SOX42"));
            }
        }
    }

    #[test]
    fn mod_97_10_misses_three_swaps_of_a_letter_and_a_digit() {
        let mut missed = Vec::new();
        for letter in 'A'..='Z' {
            for digit in '0'..='9' {
                let [text, swapped] = [format!("{letter}{digit}"), format!("{digit}{letter}")];
                let [one, other] =
                    [&text, &swapped].map(|text| Check::Mod97_10.of(text.as_bytes()));
                if one == other {
                    missed.push(text);
                }
            }
        }
        assert_eq!(missed, ["B1", "M2", "X3"]);
    }

    fn assert_vectors(check: Check, vectors: &[(&str, u8)]) {
        for &(text, digits) in vectors {
            assert_eq!(check.of(text.as_bytes()), digits, "{check:?} of {text}");
        }
    }

    #[test]
    fn luhn_has_the_published_digits() {
        // The example of ISO/IEC 7812-1, annex B, and card numbers that are published for tests.
        assert_vectors(
            Check::Luhn,
            &[
                ("7992739871", 3),
                ("411111111111111", 1),
                ("37828224631000", 5),
                ("555555555555444", 4),
            ],
        );
    }

    #[test]
    fn damm_has_the_published_digits() {
        assert_vectors(Check::Damm, &[("572", 4), ("43881234567", 9), ("", 0)]);
    }

    #[test]
    fn mod_11_10_has_the_published_digits() {
        // ISO 7064; numbers of tax payers of Germany and Croatia that are published for tests.
        assert_vectors(
            Check::Mod11_10,
            &[("0794", 5), ("79462", 3), ("8609574271", 9), ("3339200596", 1)],
        );
    }

    #[test]
    fn mod_97_10_has_the_published_digits() {
        // ISO 7064; LEIs (ISO 17442); and an IBAN (ISO 13616) in the order in which it is checked.
        assert_vectors(
            Check::Mod97_10,
            &[
                ("794", 44),
                ("5493001KJTIIGC8Y1R", 12),
                ("F50EOCWSQFAUVO9Q8Z", 97),
                ("WEST12345698765432GB", 82),
                ("west 1234 5698 7654 32 gb", 82),
            ],
        );
    }

    #[test]
    fn gs1_has_the_published_digits() {
        // A GTIN-8, a GTIN-12, a GTIN-13, an SSCC and a GLN that are published as examples.
        assert_vectors(
            Check::Gs1,
            &[
                ("9638507", 4),
                ("03600029145", 2),
                ("400638133393", 1),
                ("10614141192837465", 7),
                ("061414100001", 2),
            ],
        );
    }

    #[test]
    fn iso_11649_has_the_published_digits() {
        // References that are published as examples.
        assert_vectors(
            Check::Iso11649,
            &[("539007547034", 18), ("2348 231", 71), ("G72UUR", 45), ("18K5", 65)],
        );
    }

    #[test]
    fn the_rest_by_97_has_the_published_digits() {
        // Structured communications that banks of Belgium publish as examples.
        assert_vectors(Check::Mod97, &[("0909337554", 93), ("+++010/8068/171", 83), ("97", 97)]);
    }
}
