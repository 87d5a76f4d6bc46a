//! The texts of opaque ids, of keys, and of files of keys. An id is accepted only as it was
//! written, whatever is wrong is told by the rules of the documentation, and no key is shown.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use uidring::Uid;
use uidring::masked::{Key, Masked, Opaque, OpaqueError};
use uidring_args::KeyFile;

const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const PREFIX: &str = "ord_";
const LARGEST: u64 = i64::MAX as u64;

/// Two keys, of the ids 0 and 2. The stored inputs have ids of both.
static KEYS: LazyLock<[Opaque; 2]> = LazyLock::new(|| {
    let [one, two] = [7, 8].map(|byte| Key::from([byte; 32]));
    [
        Opaque::new(&one, "ord").accept(2, &two).unwrap(),
        Opaque::with_key_id(&two, "ord", 2).unwrap(),
    ]
});
static MASKED: LazyLock<Masked> = LazyLock::new(|| Masked::new(&Key::from([7; 32])));

/// What is wrong with a text as far as it can be seen without a key. The key id if nothing is.
fn seen(text: &str) -> Result<u8, OpaqueError> {
    let Some(digits) = text.strip_prefix(PREFIX) else {
        return Err(OpaqueError::Prefix { expected: "ord".to_owned() });
    };
    let digits: Vec<char> = digits.chars().collect();
    if digits.len() != 26 {
        return Err(OpaqueError::Length { found: digits.len() });
    }
    for (index, &character) in digits.iter().enumerate() {
        if !DIGITS.contains(character) {
            return Err(OpaqueError::Character { character, index: PREFIX.len() + index });
        }
    }
    let id = DIGITS.find(digits[0]).unwrap() / 8;
    Ok(u8::try_from(id).unwrap())
}

fn check_text(text: &str) {
    let [opaque, by_2] = &*KEYS;
    match (opaque.decode(text), seen(text)) {
        (Ok(uid), Ok(id)) => {
            let made_by = if id == 0 { opaque } else { by_2 };
            assert_eq!(made_by.encode(uid).to_string(), text);
        }
        (Err(OpaqueError::Forged), Ok(0 | 2)) => {}
        (Err(OpaqueError::UnknownKey { id: told }), Ok(id @ (1 | 3))) => assert_eq!(told, id),
        (found, seen) => assert_eq!(found.map(|_| 0), seen, "{text:?}"),
    }
}

/// Writes ids of the UID that the input begins with, and changes them as the rest says.
fn check_ids(input: &str) {
    let mut bytes = [0; 8];
    for (byte, of_input) in bytes.iter_mut().zip(input.bytes()) {
        *byte = of_input;
    }
    let uid = Uid::new((u64::from_le_bytes(bytes) & LARGEST).max(1)).unwrap();
    assert_eq!(MASKED.unmask(MASKED.mask(uid)), Ok(uid));
    assert_eq!(MASKED.mask(MASKED.unmask(uid.get()).unwrap()), uid.get());

    let [opaque, by_2] = &*KEYS;
    for made_by in [opaque, by_2] {
        let text = made_by.encode(uid).to_string();
        assert_eq!(opaque.decode(&text), Ok(uid));
        for (at, other) in input.bytes().zip(input.chars().skip(1)).take(16) {
            let at = usize::from(at) % text.len();
            let known = char::from(text.as_bytes()[at]);
            for other in [other, known.to_ascii_lowercase(), known.to_ascii_uppercase()] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                assert!(changed == text || opaque.decode(&changed).is_err(), "{changed}");
                check_text(&changed);
            }
        }
    }
}

fn check_keys(text: &str) {
    let is_key = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert_eq!(text.parse::<Key>().is_ok(), is_key);
    let problem = match text.parse::<KeyFile>() {
        Ok(keys) => format!("{keys:?}"),
        Err(problem) => problem,
    };
    for word in text.split_whitespace().filter(|word| word.len() >= 32) {
        assert!(!problem.contains(word), "{problem}");
    }
}

fuzz_target!(|text: &str| {
    check_text(text);
    check_ids(text);
    check_keys(text);
});
