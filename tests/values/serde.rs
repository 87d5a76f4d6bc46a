//! What a user relies on of a [`Uid`] and a [`Number`] in JSON and in binary formats.

use proptest::prelude::*;
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{Impossible, Serialize, Serializer};
use uidring::Uid;
use uidring::segment::Number;

const LARGEST: u64 = i64::MAX as u64;

fn uid(value: u64) -> Uid {
    Uid::try_from(value).unwrap()
}

#[test]
fn json_has_a_string_because_javascript_loses_digits() {
    assert_eq!(
        serde_json::to_string(&uid(180_363_646_902_239_241)).unwrap(),
        r#""180363646902239241""#
    );
    assert_eq!(
        serde_json::to_string(&[Some(Uid::MIN), None, Some(Uid::MAX)]).unwrap(),
        r#"["1",null,"9223372036854775807"]"#
    );
}

#[test]
fn json_may_have_a_number_as_well() {
    for value in [1, 1058, (1 << 53) - 1] {
        for text in [value.to_string(), format!("\"{value}\"")] {
            assert_eq!(serde_json::from_str::<Uid>(&text).unwrap().get(), value, "{text}");
            assert_eq!(serde_json::from_str::<Number>(&text).unwrap().get(), value, "{text}");
        }
    }
    assert_eq!(serde_json::from_str::<Option<Uid>>("null").unwrap(), None);
    assert_eq!(serde_json::from_str::<Option<Number>>("null").unwrap(), None);
}

/// What JavaScript makes of an id, without a word: `JSON.stringify(242839701478721329)`.
#[test]
fn a_number_in_json_that_may_have_been_rounded_is_refused() {
    // From 2^53 on, two integers in a row are one in JavaScript: 2^53 may have been 2^53 + 1.
    for rounded in ["242839701478721340", "9007199254740992", "9223372036854775807"] {
        let error = serde_json::from_str::<Uid>(rounded).unwrap_err().to_string();
        let reason = format!(
            "{rounded} may have been rounded, as JavaScript does with integers from 2^53 on: send \
             a UID of that size as a string, or read the field with `uidring::serde::text` where \
             the format takes each text of digits for an integer, as CSV does, or with \
             `uidring::serde::number` if all of its writers have 64-bit integers"
        );
        assert!(error.starts_with(&reason), "{error}");
        let tree: serde_json::Value = serde_json::from_str(rounded).unwrap();
        assert!(serde_json::from_value::<Uid>(tree).is_err(), "{rounded}");
        assert!(serde_json::from_str::<Vec<Option<Uid>>>(&format!("[{rounded}]")).is_err());
        let error = serde_json::from_str::<Number>(rounded).unwrap_err().to_string();
        assert!(error.contains("send a dense number of that size as a string"), "{error}");
        // Where that is what the field has, and no other form.
        let mut json = serde_json::Deserializer::from_str(rounded);
        let read: Uid = uidring::serde::number::deserialize(&mut json).unwrap();
        assert_eq!(read.to_string(), rounded);
    }
    // A signed one, as in TOML.
    let signed = |value: i64| {
        let integer: serde::de::value::I64Deserializer<Error> = value.into_deserializer();
        Uid::deserialize(integer)
    };
    assert_eq!(signed(7), Ok(uid(7)));
    assert!(signed(1 << 53).unwrap_err().to_string().contains("may have been rounded"));
    assert!(signed(-1).unwrap_err().to_string().contains("-1 is not a UID"));
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Invoice {
    #[serde(with = "uidring::serde::number")]
    number: Number,
    #[serde(default, with = "uidring::serde::number::option")]
    replaces: Option<Number>,
}

#[test]
fn a_number_of_a_tag_has_the_forms_of_a_uid_but_base32() {
    let number = Number::new(1058).unwrap();
    assert_eq!(serde_json::to_string(&number).unwrap(), r#""1058""#);
    assert_eq!(number.serialize(Binary(())), Ok(1058));
    assert_eq!(Number::MAX.serialize(Binary(())), Ok(LARGEST));
    assert_eq!(Number::deserialize(Binary(LARGEST)), Ok(Number::MAX));
    let error = Number::deserialize(Binary(0)).unwrap_err().to_string();
    assert_eq!(error, "0 is not a dense number: a dense number is in 1..=9223372036854775807");
    let error = serde_json::from_str::<Number>("true").unwrap_err().to_string();
    assert!(error.contains("expected a dense number, a whole number in 1..="), "{error}");

    let invoice = Invoice { number, replaces: Some(Number::MAX) };
    let json = r#"{"number":1058,"replaces":9223372036854775807}"#;
    assert_eq!(serde_json::to_string(&invoice).unwrap(), json);
    assert_eq!(serde_json::from_str::<Invoice>(json).unwrap(), invoice);
    let json = r#"{"number":1058}"#;
    assert_eq!(serde_json::from_str::<Invoice>(json).unwrap(), Invoice { number, replaces: None });
}

#[test]
fn json_of_anything_else_is_refused_and_the_error_says_why() {
    let refused = |text| serde_json::from_str::<Uid>(text).unwrap_err().to_string();
    for (text, reason) in [
        ("0", "0 is not a UID: a UID is in 1..=9223372036854775807"),
        ("-1", "-1 is not a UID: a UID is in 1..=9223372036854775807"),
        (
            "9223372036854775808",
            "9223372036854775808 is not a UID: a UID is in 1..=9223372036854775807",
        ),
        (r#""0""#, "the number is out of range: a UID is in 1..=9223372036854775807"),
        (
            r#""9223372036854775808""#,
            "the number is out of range: a UID is in 1..=9223372036854775807",
        ),
        (r#""""#, "an empty text is not a UID"),
        (r#"" 7""#, "character 1 of a UID cannot be ' '"),
        (r#""05067S0001009""#, "character 6 of a UID cannot be 'S'"),
        (
            "7.0",
            "expected a UID, a whole number in 1..=9223372036854775807, as a decimal string or an \
             integer",
        ),
        ("1e3", "expected a UID"),
        ("18446744073709551616", "expected a UID"),
        ("true", "expected a UID"),
        ("null", "expected a UID"),
        ("[1]", "expected a UID"),
    ] {
        let error = refused(text);
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn binary_formats_have_an_integer() {
    assert_eq!(uid(42).serialize(Binary(())), Ok(42));
    assert_eq!(Uid::MAX.serialize(Binary(())), Ok(LARGEST));
    assert_eq!(Uid::deserialize(Binary(42)), Ok(uid(42)));
    let refused = |value| Uid::deserialize(Binary(value)).unwrap_err().to_string();
    assert_eq!(refused(0), "0 is not a UID: a UID is in 1..=9223372036854775807");
    assert_eq!(
        refused(LARGEST + 1),
        "9223372036854775808 is not a UID: a UID is in 1..=9223372036854775807"
    );
}

#[test]
fn a_field_may_be_a_number_in_json() {
    use uidring::serde::number;

    let written = |uid| {
        let mut json = Vec::new();
        number::serialize(&uid, &mut serde_json::Serializer::new(&mut json)).unwrap();
        String::from_utf8(json).unwrap()
    };
    assert_eq!([written(Uid::MIN), written(Uid::MAX)], ["1", "9223372036854775807"]);
    let read = |text| -> Result<Uid, _> {
        number::deserialize(&mut serde_json::Deserializer::from_str(text))
    };
    assert_eq!(read("180363646902239241").unwrap(), uid(180_363_646_902_239_241));
    for (text, reason) in [
        ("0", "0 is not a UID: a UID is in 1..=9223372036854775807"),
        ("-1", "-1 is not a UID: a UID is in 1..=9223372036854775807"),
        (r#""1""#, "expected a UID, a whole number in 1..=9223372036854775807, as an integer"),
        ("1.0", "as an integer"),
        ("null", "as an integer"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    assert_eq!(number::serialize(&uid(42), Binary(())), Ok(42));
    assert_eq!(number::deserialize(Binary(42)), Ok(uid(42)));
}

/// Where a format has texts alone, or brings an integer that nobody has rounded.
#[test]
fn a_field_may_be_a_text_in_every_format() {
    use serde::de::value::{
        BytesDeserializer, I64Deserializer, I128Deserializer, StrDeserializer, U64Deserializer,
        U128Deserializer,
    };
    use uidring::serde::{masked, text};

    let mut json = Vec::new();
    text::serialize(&Uid::MAX, &mut serde_json::Serializer::new(&mut json)).unwrap();
    assert_eq!(json, br#""9223372036854775807""#);
    let read = |text| -> Result<Uid, _> {
        text::deserialize(&mut serde_json::Deserializer::from_str(text))
    };
    assert_eq!(read(r#""9223372036854775807""#).unwrap(), Uid::MAX);
    for (text, reason) in [
        ("1", "expected a UID, a whole number in 1..=9223372036854775807, as a decimal string"),
        ("180363646902239240", "expected a UID"),
        (r#""0""#, "the number is out of range: a UID is in 1..="),
        (r#""""#, "an empty text is not a UID"),
        ("null", "expected a UID"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }

    let exact: [Result<Uid, Error>; 6] = [
        text::deserialize(U64Deserializer::new(LARGEST)),
        text::deserialize(I64Deserializer::new(i64::MAX)),
        text::deserialize(U128Deserializer::new(LARGEST.into())),
        text::deserialize(I128Deserializer::new(LARGEST.into())),
        text::deserialize(StrDeserializer::new("9223372036854775807")),
        text::deserialize(BytesDeserializer::new(b"9223372036854775807")),
    ];
    assert!(exact.iter().all(|read| *read == Ok(Uid::MAX)), "{exact:?}");
    let refused: [Result<Uid, Error>; 6] = [
        text::deserialize(U64Deserializer::new(LARGEST + 1)),
        text::deserialize(I64Deserializer::new(-1)),
        text::deserialize(U128Deserializer::new(1 << 64)),
        text::deserialize(I128Deserializer::new(-(1 << 64))),
        text::deserialize(StrDeserializer::new("+1")),
        text::deserialize(BytesDeserializer::new(b"\xff1")),
    ];
    assert!(refused.iter().all(Result::is_err), "{refused:?}");
    let number: Number = text::deserialize(U64Deserializer::<Error>::new(LARGEST)).unwrap();
    assert_eq!(number, Number::MAX);

    let masked: Result<u64, Error> = masked::text::deserialize(U64Deserializer::new(LARGEST));
    assert_eq!(masked, Ok(LARGEST));
    let mut json = Vec::new();
    masked::text::serialize(&7, &mut serde_json::Serializer::new(&mut json)).unwrap();
    assert_eq!(json, br#""7""#);
    assert!(masked::text::serialize(&0, &mut serde_json::Serializer::new(&mut json)).is_err());
    let option =
        |text| text::option::deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
    assert_eq!([option("null"), option(r#""7""#)], [None, Some(uid(7))]);
}

#[test]
fn a_field_may_be_base32() {
    use uidring::serde::base32;

    let mut json = Vec::new();
    base32::serialize(&Uid::MAX, &mut serde_json::Serializer::new(&mut json)).unwrap();
    assert_eq!(json, br#""7ZZZZZZZZZZZZ""#);
    let read = |text| base32::deserialize(&mut serde_json::Deserializer::from_str(text));
    assert_eq!(read(r#""o5o67soooioo9""#).unwrap(), uid(180_363_646_902_239_241));
    for (text, reason) in [
        (r#""1""#, "a UID in base32 has 13 characters, not 1"),
        (r#""8000000000000""#, "the number is out of range: a UID is in 1..="),
        ("1", "expected a UID as 13 characters of Crockford's base32"),
        ("null", "expected a UID as 13 characters of Crockford's base32"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_field_of_either_form_may_be_empty() {
    use uidring::serde::{base32, number};

    for (uid, as_number, as_base32) in
        [(None, "null", "null"), (Some(uid(42)), "42", r#""000000000001A""#)]
    {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        number::option::serialize(&uid, &mut serde_json::Serializer::new(&mut first)).unwrap();
        base32::option::serialize(&uid, &mut serde_json::Serializer::new(&mut second)).unwrap();
        assert_eq!((first.as_slice(), second.as_slice()), (as_number.as_ref(), as_base32.as_ref()));
        let mut json = serde_json::Deserializer::from_str(as_number);
        assert_eq!(number::option::deserialize(&mut json).unwrap(), uid);
        let mut json = serde_json::Deserializer::from_str(as_base32);
        assert_eq!(base32::option::deserialize(&mut json).unwrap(), uid);
    }
    let zero: Result<Option<Uid>, _> =
        number::option::deserialize(&mut serde_json::Deserializer::from_str("0"));
    assert!(zero.unwrap_err().to_string().contains("0 is not a UID"));
}

proptest! {
    #[test]
    fn each_form_reads_back(
        value in prop_oneof![1..=LARGEST, 1..1000_u64, LARGEST - 1000..=LARGEST],
    ) {
        let uid = uid(value);
        let json = serde_json::to_string(&uid).unwrap();
        prop_assert_eq!(&json, &format!("\"{value}\""));
        prop_assert_eq!(serde_json::from_str::<Uid>(&json).unwrap(), uid);
        let tree = serde_json::to_value(uid).unwrap();
        prop_assert_eq!(serde_json::from_value::<Uid>(tree).unwrap(), uid);
        prop_assert_eq!(Uid::deserialize(Binary(uid.serialize(Binary(())).unwrap())), Ok(uid));
    }
}

/// The smallest binary format: it writes and reads one unsigned integer, and does not say what
/// comes.
struct Binary<T>(T);

impl<'de> Deserializer<'de> for Binary<u64> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_u64(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("it does not say what comes"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

macro_rules! refuse {
    ($($method:ident $(<$generic:ident>)? ($($argument:ty),*) -> $ok:ty;)*) => {
        $(fn $method $(<$generic: ?Sized + Serialize>)? (
            self,
            $(_: $argument),*
        ) -> Result<$ok, Error> {
            Err(serde::ser::Error::custom(stringify!($method)))
        })*
    };
}

type Never = Impossible<u64, Error>;

impl Serializer for Binary<()> {
    type Ok = u64;
    type Error = Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_u64(self, value: u64) -> Result<u64, Error> {
        Ok(value)
    }

    refuse! {
        serialize_bool(bool) -> u64;
        serialize_i8(i8) -> u64;
        serialize_i16(i16) -> u64;
        serialize_i32(i32) -> u64;
        serialize_i64(i64) -> u64;
        serialize_u8(u8) -> u64;
        serialize_u16(u16) -> u64;
        serialize_u32(u32) -> u64;
        serialize_f32(f32) -> u64;
        serialize_f64(f64) -> u64;
        serialize_char(char) -> u64;
        serialize_str(&str) -> u64;
        serialize_bytes(&[u8]) -> u64;
        serialize_none() -> u64;
        serialize_some<T>(&T) -> u64;
        serialize_unit() -> u64;
        serialize_unit_struct(&'static str) -> u64;
        serialize_unit_variant(&'static str, u32, &'static str) -> u64;
        serialize_newtype_struct<T>(&'static str, &T) -> u64;
        serialize_newtype_variant<T>(&'static str, u32, &'static str, &T) -> u64;
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct(&'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }
}
