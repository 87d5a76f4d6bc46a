//! What a user relies on of masked and opaque UIDs: nothing is lost, nothing can be made up, and
//! the forms never change.

use std::collections::HashSet;

use proptest::prelude::*;
use uidring::masked::{Key, KeyIdError, Masked, Opaque, OpaqueError, OpaqueText, ParseKeyError};
use uidring::{Uid, UidRangeError};

#[path = "../common/size.rs"]
mod size;
use size::size;

const LARGEST: u64 = i64::MAX as u64;
const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn uid(value: u64) -> Uid {
    Uid::try_from(value).unwrap()
}

/// Numbers that look random, from a seed: the steps of `SplitMix64`.
fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    })
}

fn any_uid() -> impl Strategy<Value = Uid> {
    (0..63u32, any::<u64>()).prop_map(|(shift, value)| uid(((value & LARGEST) >> shift).max(1)))
}

fn any_key() -> impl Strategy<Value = Key> {
    any::<[u8; 32]>().prop_map(Key::from)
}

/// Worked out by a program in Python, with the AES of OpenSSL, from RFC 5869 and SP 800-38G. Ids
/// that are in addresses and mails must mean the same for ever.
#[test]
fn the_forms_never_change() {
    let mut bytes = [0; 32];
    for (byte, value) in bytes.iter_mut().zip(0..) {
        *byte = value;
    }
    let key = Key::from(bytes);
    let masked = Masked::new(&key);
    let orders = Opaque::new(&key, "ord");
    let fourth = Opaque::with_key_id(&key, "ord", 3).unwrap();
    let no_prefix = Opaque::new(&key, "");
    for (value, number, text, by_key_3, without_prefix) in [
        (
            1,
            5_574_203_478_500_287_918,
            "ord_2AGJ28VW0K2B5H5TSYABNJ67B8",
            "ord_Y4BJPJNEC0RV9NV0Y0SZMQMPNM",
            "_1NYQMGRFTMDANBQ6HV4PYXY8FR",
        ),
        (
            2,
            5_091_903_804_046_051_836,
            "ord_68YW24Y9CNH4XRKYF4ZRQTGK37",
            "ord_XR1PV42VFVAXKYS8D048DMNGNF",
            "_678RWBPSBDVFF255TEXVAKRKXN",
        ),
        (
            180_363_646_902_239_241,
            7_248_484_344_334_211_842,
            "ord_5H7WY7KKXFH1JCEMMC78CF0N9T",
            "ord_VS04FC4Y3KBNBWR4Y5ABVRX5GQ",
            "_3XKVSEQYMZFKW1H0D9S5YYPGRZ",
        ),
        (
            LARGEST,
            7_323_706_059_825_432_508,
            "ord_3ESVCDC43K88N1PPNEY2B5P9BJ",
            "ord_SBT1FN8281K12CN4JDQ22EK48J",
            "_69B2929HQF90GKC178HRNRH9GT",
        ),
    ] {
        let uid = uid(value);
        assert_eq!((masked.mask(uid), masked.unmask(number)), (number, Ok(uid)));
        for (opaque, text) in [(&orders, text), (&fourth, by_key_3), (&no_prefix, without_prefix)] {
            assert_eq!(opaque.encode(uid).to_string(), text);
            assert_eq!(opaque.decode(text), Ok(uid));
        }
    }
}

proptest! {
    #[test]
    fn what_is_masked_is_unmasked_and_the_other_way_round(key in any_key(), uid in any_uid()) {
        let masked = Masked::new(&key);
        let public = masked.mask(uid);
        prop_assert!((1..=LARGEST).contains(&public));
        prop_assert_eq!(masked.unmask(public), Ok(uid));
        // Each number in the range is the mask of a UID.
        prop_assert_eq!(masked.mask(masked.unmask(uid.get()).unwrap()), uid.get());
    }

    #[test]
    fn many_are_masked_as_each_of_them_is(key in any_key(),
        uids in prop::collection::vec(any_uid(), 0..70)) {
        let masked = Masked::new(&key);
        let one_by_one: Vec<u64> = uids.iter().map(|&uid| masked.mask(uid)).collect();
        prop_assert_eq!(masked.mask_all(&uids), one_by_one);
    }

    #[test]
    fn an_opaque_id_is_the_prefix_and_26_characters_that_mean_the_uid(
        key in any_key(),
        uid in any_uid(),
        id in 0..4u8,
        prefix in "\\PC{0,12}",
    ) {
        let opaque = Opaque::with_key_id(&key, &prefix, id).unwrap();
        let text = opaque.encode(uid);
        let digits = text.digits();
        prop_assert_eq!(text.to_string(), format!("{prefix}_{digits}"));
        prop_assert_eq!(digits.len(), 26);
        prop_assert!(digits.chars().all(|digit| DIGITS.contains(digit)));
        prop_assert_eq!(opaque.decode(&text.to_string()), Ok(uid));
    }

    #[test]
    fn no_text_makes_decode_panic(text in "\\PC*", digits in "[0-9A-Z]{24,28}") {
        let opaque = Opaque::new(&Key::from([7; 32]), "ord");
        let with_prefix = [format!("ord_{text}"), format!("ord_{digits}")];
        for text in [text.clone(), format!("{text}ord_{digits}")].iter().chain(&with_prefix) {
            prop_assert!(opaque.decode(text).is_err(), "{}", text);
        }
    }
}

/// A million in `.ci/run`.
#[test]
fn uids_at_random_come_back_and_no_two_of_them_have_one_masked_form() {
    let masked = Masked::new(&Key::from([7; 32]));
    let count = size(1_000_000, 100_000);
    let uids: Vec<Uid> =
        numbers(1).map(|number| uid((number & LARGEST).max(1))).take(count).collect();
    let public = masked.mask_all(&uids);
    for (&uid, &public) in uids.iter().zip(&public) {
        assert_eq!(masked.unmask(public), Ok(uid));
    }
    let different: HashSet<Uid> = uids.into_iter().collect();
    let different_public: HashSet<u64> = public.into_iter().collect();
    assert_eq!(different_public.len(), different.len());
}

/// A million in `.ci/run`.
#[test]
fn no_made_up_opaque_id_is_accepted() {
    let opaque = Opaque::new(&Key::from([7; 32]), "ord");
    let digits = DIGITS.as_bytes();
    let mut text = *b"ord_00000000000000000000000000";
    let mut numbers = numbers(3);
    for _ in 0..size(1_000_000, 100_000) {
        let [mut high, mut low] = [numbers.next().unwrap(), numbers.next().unwrap()];
        for at in 0..13 {
            text[4 + at] = digits[(high & 31) as usize];
            text[17 + at] = digits[(low & 31) as usize];
            (high, low) = (high >> 5, low >> 5);
        }
        // Of key 0, which there is.
        text[4] = digits[(numbers.next().unwrap() & 7) as usize];
        let text = str::from_utf8(&text).unwrap();
        assert_eq!(opaque.decode(text), Err(OpaqueError::Forged), "{text}");
    }
}

#[test]
fn an_opaque_id_with_another_character_anywhere_is_refused() {
    let key = Key::from([7; 32]);
    // The same key under each id, which nobody should have: texts are bound to the id all the same.
    let opaque =
        (1..4).fold(Opaque::new(&key, "ord"), |opaque, id| opaque.accept(id, &key).unwrap());
    for value in numbers(4).take(20) {
        let text = opaque.encode(uid((value & LARGEST).max(1))).to_string();
        for at in 0..text.len() {
            for other in (0..128_u8).map(char::from).chain(['é', 'Ａ']) {
                if text[at..].starts_with(other) {
                    continue;
                }
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                assert!(opaque.decode(&changed).is_err(), "{changed} for {text}");
            }
            let shorter = format!("{}{}", &text[..at], &text[at + 1..]);
            let longer = format!("{}0{}", &text[..at], &text[at..]);
            assert!(opaque.decode(&shorter).is_err() && opaque.decode(&longer).is_err());
        }
        assert!(opaque.decode(&format!("{text}0")).is_err());
        assert!(opaque.decode(&format!(" {text}")).is_err());
    }
}

#[test]
fn each_uid_has_one_opaque_text_so_other_ways_to_write_it_are_refused() {
    let opaque = Opaque::new(&Key::from([7; 32]), "ord");
    let text = opaque.encode(uid(180_363_646_902_239_241)).to_string();
    assert_eq!(text, "ord_2WT7HHAKF4D7JRCWEJQB45DC14");
    for other in [
        "ord_2wt7hhakf4d7jrcwejqb45dc14",
        "ord_2WT7HHAKF4D7JRCWEJQB45DCI4",
        "ord_2WT7HHAKF4D7JRCWEJQB45DCl4",
        "ORD_2WT7HHAKF4D7JRCWEJQB45DC14",
        "ord-2WT7HHAKF4D7JRCWEJQB45DC14",
        "ord_2WT7HHAKF4D7JRCWEJQB45DC14\n",
    ] {
        assert!(opaque.decode(other).is_err(), "{other}");
    }
}

#[test]
fn masked_forms_of_neighbours_have_nothing_in_common() {
    let masked = Masked::new(&Key::from([7; 32]));
    let pairs = 10_000;
    let mut changed = [0; 64];
    for value in numbers(5).take(pairs) {
        let (one, other) = (uid(value & LARGEST & !1 | 2), uid(value & LARGEST & !1 | 3));
        let difference = masked.mask(one) ^ masked.mask(other);
        for (bit, changed) in changed.iter_mut().enumerate() {
            *changed += difference >> bit & 1;
        }
    }
    assert_eq!(changed[63], 0);
    // Each bit changes in half of them. Six standard deviations are 300.
    for (bit, &changed) in changed[..63].iter().enumerate() {
        assert!((4700..5300).contains(&changed), "bit {bit} changed {changed} times of {pairs}");
    }
}

#[test]
fn another_key_and_another_prefix_give_other_forms() {
    let [one, two] = [1, 2].map(|byte| Key::from([byte; 32]));
    assert_ne!(Masked::new(&one).mask(Uid::MIN), Masked::new(&two).mask(Uid::MIN));
    let orders = Opaque::new(&one, "ord");
    let customers = Opaque::new(&one, "cus");
    let (order, customer) = (orders.encode(Uid::MIN), customers.encode(Uid::MIN));
    assert_ne!(order.digits(), customer.digits());
    // An order is no customer, whatever its prefix says.
    let disguised = format!("cus_{}", order.digits());
    assert_eq!(customers.decode(&disguised), Err(OpaqueError::Forged));
    assert_eq!(Opaque::new(&two, "ord").decode(&order.to_string()), Err(OpaqueError::Forged));
    // Prefixes that begin alike are told apart.
    let longer = Opaque::new(&one, "ord_x");
    assert!(orders.decode(&longer.encode(Uid::MIN).to_string()).is_err());
    assert!(longer.decode(&order.to_string()).is_err());
}

#[test]
fn a_key_is_changed_without_a_moment_in_which_an_id_is_refused() {
    let [old, new] = [1, 2].map(|byte| Key::from([byte; 32]));
    let steps = [
        Opaque::new(&old, "ord"),
        Opaque::new(&old, "ord").accept(1, &new).unwrap(),
        Opaque::with_key_id(&new, "ord", 1).unwrap().accept(0, &old).unwrap(),
    ];
    let last = Opaque::with_key_id(&new, "ord", 1).unwrap();
    // Processes are at most one step apart, and accept each other's ids.
    for (one, other) in steps.iter().zip(&steps[1..]) {
        let texts = [one, other].map(|opaque| opaque.encode(Uid::MAX).to_string());
        for text in texts {
            assert_eq!([one.decode(&text), other.decode(&text)], [Ok(Uid::MAX), Ok(Uid::MAX)]);
        }
    }
    let first = steps[0].encode(Uid::MAX).to_string();
    assert_eq!(steps[2].decode(&first), Ok(Uid::MAX));
    assert_eq!(last.decode(&first), Err(OpaqueError::UnknownKey { id: 0 }));
    assert_eq!(last.decode(&steps[2].encode(Uid::MAX).to_string()), Ok(Uid::MAX));
}

#[test]
fn key_ids_are_0_to_3_and_each_is_given_once() {
    let key = Key::from([7; 32]);
    for id in 4..=u8::MAX {
        let error = KeyIdError::Range { id };
        assert_eq!(Opaque::with_key_id(&key, "ord", id).unwrap_err(), error);
        assert_eq!(Opaque::new(&key, "ord").accept(id, &key).unwrap_err(), error);
    }
    let opaque = Opaque::with_key_id(&key, "ord", 2).unwrap();
    assert_eq!(opaque.clone().accept(2, &key).unwrap_err(), KeyIdError::Taken { id: 2 });
    let opaque = opaque.accept(0, &key).unwrap();
    assert_eq!(opaque.accept(0, &key).unwrap_err(), KeyIdError::Taken { id: 0 });
}

#[test]
fn only_a_number_out_of_range_cannot_be_unmasked() {
    let masked = Masked::new(&Key::from([7; 32]));
    let refused = |number| masked.unmask(number).map_err(|error: UidRangeError| error.to_string());
    for number in [0, LARGEST + 1, u64::MAX] {
        let error = format!("{number} is not a UID: a UID is in 1..=9223372036854775807");
        assert_eq!(refused(number), Err(error));
    }
    assert!(refused(1).is_ok() && refused(LARGEST).is_ok());
}

#[test]
fn a_key_is_64_hexadecimal_digits() {
    let digits = "00ff0203040506070809".to_owned() + "aB".repeat(22).as_str();
    let key: Key = digits.parse().unwrap();
    let mut bytes = [0xab; 32];
    bytes[..10].copy_from_slice(&[0, 255, 2, 3, 4, 5, 6, 7, 8, 9]);
    let same = |one: &Key, other: &Key| {
        Masked::new(one).mask(Uid::MIN) == Masked::new(other).mask(Uid::MIN)
    };
    assert!(same(&key, &Key::from(bytes)));

    let refused = |text: &str| text.parse::<Key>().unwrap_err();
    assert_eq!(refused(""), ParseKeyError::Length { found: 0 });
    assert_eq!(refused(&digits[1..]), ParseKeyError::Length { found: 63 });
    assert_eq!(refused(&format!("{digits}0")), ParseKeyError::Length { found: 65 });
    assert_eq!(refused(&format!("{digits}\n")), ParseKeyError::Character { index: 64 });
    assert_eq!(refused("0x12"), ParseKeyError::Character { index: 1 });
    assert_eq!(
        refused("12 34").to_string(),
        "character 3 of the key is not a hexadecimal digit: make one with `openssl rand -hex 32`"
    );
    assert_eq!(
        refused("1234").to_string(),
        "a key has 64 hexadecimal digits, not 4: make one with `openssl rand -hex 32`"
    );
}

#[test]
fn no_secret_is_shown() {
    let key: Key = "4d".repeat(32).parse().unwrap();
    let opaque = Opaque::new(&key, "ord").accept(2, &Key::from([3; 32])).unwrap();
    let shown = format!("{key:?} {:?} {opaque:?}", Masked::new(&key));
    assert_eq!(
        shown,
        r#"Key(..) Masked(..) Opaque { prefix: "ord", key_id: 0, accepts: [2], .. }"#
    );
    let nearly = "4d".repeat(31);
    let error = nearly.parse::<Key>().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("4d"));
}

#[test]
fn errors_say_what_is_wrong_with_a_text() {
    let opaque = Opaque::new(&Key::from([7; 32]), "ord");
    let refused = |text: &str| opaque.decode(text).unwrap_err().to_string();
    assert_eq!(refused(""), r#"the id does not begin with "ord_""#);
    assert_eq!(refused("cus_2WT7HHAKF4D7JRCWEJQB45DC14"), refused(""));
    assert_eq!(refused("ord_"), "the id has 0 characters behind its prefix, not 26");
    assert_eq!(
        refused("ord_2WT7HHAKF4D7JRCWEJQB45DC1"),
        "the id has 25 characters behind its prefix, not 26"
    );
    assert_eq!(
        refused("ord_2wT7HHAKF4D7JRCWEJQB45DC14"),
        "character 6 of the id cannot be 'w': its characters are 0 to 9 and A to Z without I, L, O \
         and U"
    );
    assert_eq!(
        refused("ord_VWT7HHAKF4D7JRCWEJQB45DC14"),
        "the id was made with key 3, which is not accepted here"
    );
    assert_eq!(
        refused("ord_2WT7HHAKF4D7JRCWEJQB45DC15"),
        "the id was made up or changed, or made with another key"
    );
    let [range, taken] = [KeyIdError::Range { id: 4 }, KeyIdError::Taken { id: 1 }];
    assert_eq!(range.to_string(), "4 cannot be the id of a key: ids are 0 to 3");
    assert_eq!(taken.to_string(), "two keys have the id 1: give each an id of its own");
}

fn is_shared<T: Send + Sync + Clone + 'static>() {}

#[test]
fn keys_and_texts_are_small_and_threads_share_what_masks() {
    assert_eq!(size_of::<Key>(), 32);
    assert_eq!(size_of::<OpaqueText>(), 16 + 26 + 6);
    is_shared::<Masked>();
    is_shared::<Opaque>();
}

#[cfg(feature = "serde")]
mod in_json {
    use serde::{Deserialize, Serialize};
    use uidring::Uid;
    use uidring::masked::{Key, Masked, Opaque};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Order {
        #[serde(with = "uidring::serde::masked")]
        id: u64,
        #[serde(default, with = "uidring::serde::masked::option")]
        invoice: Option<u64>,
    }

    #[test]
    fn a_masked_uid_is_a_string_because_javascript_loses_digits() {
        let masked = Masked::new(&Key::from([7; 32]));
        let uid: Uid = "180363646902239241".parse().unwrap();
        let order = Order { id: masked.mask(uid), invoice: None };
        let json = r#"{"id":"745761543731117368","invoice":null}"#;
        assert_eq!(serde_json::to_string(&order).unwrap(), json);
        let read: Order = serde_json::from_str(json).unwrap();
        assert_eq!(read, order);
        assert_eq!(masked.unmask(read.id), Ok(uid));
        let read: Order = serde_json::from_str(r#"{"id":5,"invoice":"7"}"#).unwrap();
        assert_eq!(read, Order { id: 5, invoice: Some(7) });
        for wrong in [r#"{"id":745761543731117368}"#, r#"{"id":"0"}"#, r#"{"id":-1}"#] {
            assert!(serde_json::from_str::<Order>(wrong).is_err(), "{wrong}");
        }
        let nothing = Order { id: 0, invoice: None };
        assert!(serde_json::to_string(&nothing).is_err());
    }

    #[test]
    fn an_opaque_id_is_a_string() {
        let opaque = Opaque::new(&Key::from([7; 32]), "ord");
        let json = serde_json::to_string(&[opaque.encode(Uid::MIN)]).unwrap();
        assert_eq!(json, r#"["ord_5EKEPHNJ4FF5YVQBY72TKED7P7"]"#);
        let [text]: [String; 1] = serde_json::from_str(&json).unwrap();
        assert_eq!(opaque.decode(&text), Ok(Uid::MIN));
    }
}
