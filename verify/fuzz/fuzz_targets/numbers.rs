//! The text forms of UIDs and numbers. What is accepted is exactly what the documentation names,
//! and it prints itself back.

#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use serde_json::{Deserializer, Value};
use uidring::segment::Number;
use uidring::{Base32, Uid};
use uidring_fuzz::round_trip;

const LARGEST: u64 = i64::MAX as u64;
const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The number that decimal digits write, if it is in bounds.
fn decimal(text: &str) -> Option<u64> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = text.parse().ok().filter(|_| is_decimal)?;
    (1..=LARGEST).contains(&number).then_some(number)
}

/// The number that 13 characters of Crockford's base32 write.
fn base32(text: &str) -> Option<u64> {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() != 13 {
        return None;
    }
    let mut number = 0_u128;
    for character in characters {
        let digit = match character {
            'o' | 'O' => 0,
            'i' | 'I' | 'l' | 'L' => 1,
            other => DIGITS.find(other.to_ascii_uppercase())?,
        };
        number = number * 32 + digit as u128;
    }
    u64::try_from(number).ok().filter(|number| (1..=LARGEST).contains(number))
}

fn check<T>(text: &str)
where
    T: Copy + Debug + Display + Into<u64> + FromStr<Err: Debug> + PartialEq + Read,
{
    let parsed: Option<T> = text.parse().ok();
    assert_eq!(parsed.map(Into::into), decimal(text));
    if let Some(value) = parsed {
        assert_eq!(round_trip(value), text.trim_start_matches('0'));
    }
    // A string, or an integer that JavaScript cannot have rounded.
    let json: Option<Value> = serde_json::from_str(text).ok();
    let small = |value: &Value| value.as_u64().filter(|number| (1..1 << 53).contains(number));
    let expected = json.as_ref().and_then(|json| match json {
        Value::String(text) => decimal(text),
        other => small(other),
    });
    let read: Option<T> = T::read(text);
    assert_eq!(read.map(Into::into), expected, "{text:?}");
    if let Some(value) = read {
        assert_eq!(value.written(), format!("\"{value}\""));
        assert_eq!(T::read(&value.written()), read);
    }
    let exact = json.as_ref().and_then(Value::as_u64).filter(|n| (1..=LARGEST).contains(n));
    assert_eq!(T::read_number(text).map(Into::into), exact, "{text:?}");
}

/// What both have of serde.
trait Read: Sized {
    fn read(text: &str) -> Option<Self>;
    fn read_number(text: &str) -> Option<Self>;
    fn written(&self) -> String;
}

macro_rules! read {
    ($Id:ident) => {
        impl Read for $Id {
            fn read(text: &str) -> Option<$Id> {
                serde_json::from_str(text).ok()
            }

            fn read_number(text: &str) -> Option<$Id> {
                let mut json = Deserializer::from_str(text);
                let value: $Id = uidring::serde::number::deserialize(&mut json).ok()?;
                json.end().ok()?;
                Some(value)
            }

            fn written(&self) -> String {
                serde_json::to_string(self).unwrap()
            }
        }
    };
}

read!(Uid);
read!(Number);

fuzz_target!(|text: &str| {
    check::<Uid>(text);
    check::<Number>(text);
    let parsed = Uid::from_base32(text).ok();
    assert_eq!(parsed.map(Uid::get), base32(text), "{text:?}");
    if let Some(uid) = parsed {
        let printed: Base32 = text.parse().unwrap();
        let canonical = text.to_ascii_uppercase().replace('O', "0").replace(['I', 'L'], "1");
        assert_eq!((printed.as_str(), Uid::from(printed)), (canonical.as_str(), uid));
        assert_eq!(round_trip(uid).parse::<Uid>(), Ok(uid));
        if let Some(next) = Uid::new(uid.get() + 1) {
            assert!(uid.base32().as_str() < next.base32().as_str());
        }
    }
});
