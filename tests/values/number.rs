//! What a user relies on of a [`Number`]: its range, its order, its one text form, its size. Its
//! code is that of `Uid`, whose tests go further.

use std::num::NonZeroU64;

use proptest::prelude::*;
use uidring::TakeError;
use uidring::segment::{Number, NumberRangeError, ParseNumberError};

const LARGEST: u64 = i64::MAX as u64;

#[test]
fn a_number_and_what_may_hold_one_are_small() {
    assert_eq!(size_of::<Number>(), 8);
    assert_eq!(size_of::<Option<Number>>(), 8);
    assert_eq!(size_of::<Result<Number, TakeError>>(), 16);
}

#[test]
fn only_1_to_the_largest_positive_64_bit_number_is_a_number() {
    assert_eq!((Number::MIN.get(), Number::MAX.get()), (1, LARGEST));
    assert_eq!(Number::new(0), None);
    assert_eq!(Number::new(LARGEST + 1), None);
    let refused = |result: Result<Number, NumberRangeError>| result.unwrap_err().to_string();
    for (error, value) in [
        (refused(Number::try_from(0_u64)), "0"),
        (refused(Number::try_from(-1_i64)), "-1"),
        (refused(Number::try_from(LARGEST + 1)), "9223372036854775808"),
        (refused(Number::try_from(NonZeroU64::MAX)), "18446744073709551615"),
    ] {
        let reason = "is not a dense number: a dense number is in 1..=9223372036854775807";
        assert_eq!(error, format!("{value} {reason}"));
    }
}

#[test]
fn a_text_is_read_if_it_is_digits_alone() {
    assert_eq!("1058".parse::<Number>().unwrap().get(), 1058);
    assert_eq!(format!("{0} {0:>6} {0:?}", Number::MIN), "1      1 Number(1)");
    for (text, error, reason) in [
        ("", ParseNumberError::Empty, "an empty text is not a dense number"),
        (
            "10 58",
            ParseNumberError::Character { character: ' ', index: 2 },
            "character 3 of a dense number cannot be ' '",
        ),
        (
            "0000000000Z12",
            ParseNumberError::Character { character: 'Z', index: 10 },
            "character 11 of a dense number cannot be 'Z'",
        ),
        (
            "0",
            ParseNumberError::Range,
            "the number is out of range: a dense number is in 1..=9223372036854775807",
        ),
        (
            "9223372036854775808",
            ParseNumberError::Range,
            "the number is out of range: a dense number is in 1..=9223372036854775807",
        ),
    ] {
        assert_eq!(text.parse::<Number>(), Err(error), "{text}");
        assert_eq!(error.to_string(), reason);
    }
}

proptest! {
    #[test]
    fn each_form_leads_back(a in 1..=LARGEST, b in 1..=LARGEST) {
        let (one, other) = (Number::new(a).unwrap(), Number::new(b).unwrap());
        prop_assert_eq!(one.cmp(&other), a.cmp(&b));
        prop_assert_eq!(one.to_string().parse(), Ok(one));
        prop_assert_eq!(Number::try_from(u64::from(one)), Ok(one));
        prop_assert_eq!(Number::try_from(i64::from(one)), Ok(one));
        prop_assert_eq!(Number::try_from(NonZeroU64::from(one)), Ok(one));
    }
}
