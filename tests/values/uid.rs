//! What a user relies on of [`Uid`]: its range, its order, its text forms, its size.

use std::num::NonZeroU64;
use std::str::FromStr;

use proptest::prelude::*;
use uidring::{Base32, ParseUidError, TakeError, Uid};

const LARGEST: u64 = i64::MAX as u64;

fn uid(value: u64) -> Uid {
    Uid::try_from(value).unwrap()
}

fn any_uid() -> impl Strategy<Value = Uid> {
    // Any number of bits, so that short UIDs come up as often as long ones.
    (0..63u32, any::<u64>()).prop_map(|(shift, value)| uid(((value & LARGEST) >> shift).max(1)))
}

#[test]
fn a_uid_and_what_may_hold_one_are_small() {
    assert_eq!(size_of::<Uid>(), 8);
    assert_eq!(size_of::<Option<Uid>>(), 8);
    assert_eq!(size_of::<Result<Uid, TakeError>>(), 16);
}

#[test]
fn no_loss_of_meaning_only_1_to_the_largest_positive_64_bit_number_is_a_uid() {
    for value in [1, 2, LARGEST - 1, LARGEST] {
        assert_eq!(uid(value).get(), value);
        assert_eq!(u64::from(uid(value)), value);
        assert_eq!(Uid::try_from(i64::from(uid(value))), Ok(uid(value)));
    }
    assert_eq!((Uid::MIN.get(), Uid::MAX.get()), (1, LARGEST));
    assert_eq!(i64::from(Uid::MAX), i64::MAX);
    assert_eq!(NonZeroU64::from(Uid::MAX).get(), LARGEST);

    let refused = |error: Result<Uid, uidring::UidRangeError>| error.unwrap_err().to_string();
    assert_eq!(
        refused(Uid::try_from(0_u64)),
        "0 is not a UID: a UID is in 1..=9223372036854775807"
    );
    assert_eq!(
        refused(Uid::try_from(0_i64)),
        "0 is not a UID: a UID is in 1..=9223372036854775807"
    );
    assert_eq!(
        refused(Uid::try_from(-1_i64)),
        "-1 is not a UID: a UID is in 1..=9223372036854775807"
    );
    assert_eq!(
        refused(Uid::try_from(i64::MIN)),
        "-9223372036854775808 is not a UID: a UID is in 1..=9223372036854775807"
    );
    assert_eq!(
        refused(Uid::try_from(LARGEST + 1)),
        "9223372036854775808 is not a UID: a UID is in 1..=9223372036854775807"
    );
    assert_eq!(
        refused(Uid::try_from(u64::MAX)),
        "18446744073709551615 is not a UID: a UID is in 1..=9223372036854775807"
    );
}

#[test]
fn decimal_reads_digits_and_nothing_else() {
    assert_eq!("1".parse(), Ok(Uid::MIN));
    assert_eq!("9223372036854775807".parse(), Ok(Uid::MAX));
    assert_eq!("00000000000000000000000000000042".parse(), Ok(uid(42)));

    let refused = |text: &str| text.parse::<Uid>().unwrap_err().to_string();
    assert_eq!(refused(""), "an empty text is not a UID");
    assert_eq!(refused("+5"), "character 1 of a UID cannot be '+'");
    assert_eq!(refused("-5"), "character 1 of a UID cannot be '-'");
    assert_eq!(refused(" 5"), "character 1 of a UID cannot be ' '");
    assert_eq!(refused("5\n"), r"character 2 of a UID cannot be '\n'");
    assert_eq!(refused("1_000"), "character 2 of a UID cannot be '_'");
    assert_eq!(refused("12é4"), "character 3 of a UID cannot be 'é'");
    assert_eq!(refused("٣"), "character 1 of a UID cannot be '٣'");
    for text in
        ["0", "000", "9223372036854775808", "18446744073709551616", "99999999999999999999999999"]
    {
        assert_eq!(
            refused(text),
            "the number is out of range: a UID is in 1..=9223372036854775807",
            "{text}"
        );
    }
}

#[test]
fn base32_is_crockfords_in_13_characters() {
    assert_eq!(Uid::MIN.base32().as_str(), "0000000000001");
    assert_eq!(uid(31).base32().as_str(), "000000000000Z");
    assert_eq!(uid(32).base32().as_str(), "0000000000010");
    assert_eq!(uid(180_363_646_902_239_241).base32().as_str(), "05067S0001009");
    assert_eq!(Uid::MAX.base32().as_str(), "7ZZZZZZZZZZZZ");
    // The alphabet in order: 32 digits, of which I, L, O and U are none.
    let alphabet: String =
        (0..32).map(|digit| uid(32 + digit).base32().to_string().pop().unwrap()).collect();
    assert_eq!(alphabet, "0123456789ABCDEFGHJKMNPQRSTVWXYZ");
}

#[test]
fn base32_reads_what_people_write() {
    let written = uid(180_363_646_902_239_241);
    for text in [
        "05067S0001009",
        "05067s0001009",
        "O5O67SOOO1OO9",
        "o5o67sooo1oo9",
        "05067S000I009",
        "05067s000i009",
        "05067S000L009",
        "O5o67s0O0l0o9",
    ] {
        assert_eq!(Uid::from_base32(text), Ok(written), "{text}");
    }
}

#[test]
fn base32_refuses_the_rest() {
    let refused = |text: &str| Uid::from_base32(text).unwrap_err().to_string();
    assert_eq!(refused(""), "a UID in base32 has 13 characters, not 0");
    assert_eq!(refused("5067S0001009"), "a UID in base32 has 13 characters, not 12");
    assert_eq!(refused("005067S0001009"), "a UID in base32 has 13 characters, not 14");
    // Characters, not bytes.
    assert_eq!(refused("éé"), "a UID in base32 has 13 characters, not 2");
    assert_eq!(refused("05067S000100é"), "character 13 of a UID cannot be 'é'");
    assert_eq!(refused("05067S000100U"), "character 13 of a UID cannot be 'U'");
    assert_eq!(refused("u5067S0001009"), "character 1 of a UID cannot be 'u'");
    assert_eq!(refused("0506-7S000100"), "character 5 of a UID cannot be '-'");
    // 0; 2^63; 2^64; all 65 bits.
    for text in ["0000000000000", "8000000000000", "G000000000000", "ZZZZZZZZZZZZZ"] {
        assert_eq!(
            refused(text),
            "the number is out of range: a UID is in 1..=9223372036854775807",
            "{text}"
        );
    }
}

#[test]
fn texts_obey_the_width_they_are_given() {
    assert_eq!(format!("[{:>5}|{:<5}|{:05}]", uid(42), uid(42), uid(42)), "[   42|42   |00042]");
    assert_eq!(format!("[{:>15}]", uid(42).base32()), "[  000000000001A]");
    assert_eq!(format!("{:?} {:?}", uid(42), uid(42).base32()), "Uid(42) Base32(000000000001A)");
}

#[test]
fn parse_errors_say_where() {
    assert_eq!(Uid::from_str("12x"), Err(ParseUidError::Character { character: 'x', index: 2 }));
    assert_eq!(Uid::from_base32("12"), Err(ParseUidError::Length { found: 2 }));
    assert_eq!(Uid::from_str(""), Err(ParseUidError::Empty));
    assert_eq!(Uid::from_str("0"), Err(ParseUidError::Range));
}

proptest! {
    #[test]
    fn numbers_in_range_and_no_others_are_uids(value in any::<u64>()) {
        prop_assert_eq!(Uid::try_from(value).is_ok(), (1..=LARGEST).contains(&value));
        let signed = value.cast_signed();
        prop_assert_eq!(Uid::try_from(signed).is_ok(), signed >= 1);
        prop_assert_eq!(Uid::new(value), Uid::try_from(value).ok());
        if let Some(nonzero) = NonZeroU64::new(value) {
            prop_assert_eq!(Uid::try_from(nonzero), Uid::try_from(value));
        }
    }

    #[test]
    fn each_form_reads_back(uid in any_uid()) {
        let base32 = uid.base32();
        prop_assert_eq!(uid.to_string(), uid.get().to_string());
        prop_assert_eq!(uid.to_string().parse(), Ok(uid));
        prop_assert_eq!(Uid::try_from(u64::from(uid)), Ok(uid));
        prop_assert_eq!(Uid::try_from(i64::from(uid)), Ok(uid));
        prop_assert_eq!(base32.as_str().len(), 13);
        prop_assert_eq!(base32.to_string(), base32.as_str());
        prop_assert_eq!((Base32::from(uid), Uid::from(base32)), (base32, uid));
        for text in [
            base32.to_string(),
            base32.as_str().to_lowercase(),
            base32.as_str().replace('0', "O").replace('1', "l"),
        ] {
            prop_assert_eq!(Uid::from_base32(&text), Ok(uid), "{}", text);
            prop_assert_eq!(text.parse::<Base32>(), Ok(base32), "{}", text);
        }
    }

    #[test]
    fn uids_and_their_base32_texts_sort_as_the_numbers(a in any_uid(), b in any_uid()) {
        prop_assert_eq!(a.cmp(&b), a.get().cmp(&b.get()));
        prop_assert_eq!(a.base32().as_str().cmp(b.base32().as_str()), a.cmp(&b));
        prop_assert_eq!(a.base32().cmp(&b.base32()), a.cmp(&b));
    }

    #[test]
    fn any_text_is_a_uid_or_an_error(text in "[0-9]{0,21}|[0-9A-Za-z]{13}|\\PC{0,16}") {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text
            .parse::<u128>()
            .ok()
            .filter(|_| digits)
            .filter(|value| (1..=LARGEST.into()).contains(value));
        prop_assert_eq!(text.parse::<Uid>().ok().map(|uid| u128::from(uid.get())), number);
        // What is read as base32 is written as the same text, but for the spellings that people are
        // forgiven.
        if let Ok(uid) = Uid::from_base32(&text) {
            let spelt = text.to_ascii_uppercase().replace('O', "0").replace(['I', 'L'], "1");
            prop_assert_eq!(uid.base32().to_string(), spelt);
        }
    }
}
