//! The table in `uidring::serde` of forms and formats: each cell is tried, and each row is told.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::io::Cursor;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uidring::Uid;
use uidring::segment::Number;

const LARGE: u64 = 180_363_646_902_239_241;
const MASKED: u64 = 745_761_543_731_117_368;

/// A row of each form, and the enums and structs that have one inside.
macro_rules! forms {
    ($(
        $module:ident,
        [$with:literal, $option:literal, $masked:literal, $masked_option:literal];
    )*) => { $(
        mod $module {
            use super::*;

            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            pub struct Row {
                #[serde(with = $with)]
                pub id: Uid,
                #[serde(with = $with)]
                pub customer: Number,
                #[serde(with = $masked)]
                pub masked: u64,
            }

            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            pub struct Sparse {
                #[serde(default, with = $option)]
                pub id: Option<Uid>,
                #[serde(default, with = $option)]
                pub customer: Option<Number>,
                #[serde(default, with = $masked_option)]
                pub masked: Option<u64>,
            }

            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(tag = "kind")]
            pub enum Tagged {
                Made(Row),
                Moved { #[serde(with = $with)] to: Uid },
            }

            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(untagged)]
            pub enum Untagged {
                Other { other: bool },
                Made(Row),
            }

            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            pub struct Flattened {
                pub paid: bool,
                #[serde(flatten)]
                pub row: Row,
            }

            impl Form for Row {
                type Sparse = Sparse;
                type Tagged = Tagged;
                type Untagged = Untagged;
                type Flattened = Flattened;

                fn rows() -> Vec<Row> {
                    [(LARGE, 7, MASKED), (1, LARGE, 1), (i64::MAX as u64, i64::MAX as u64, 9)]
                        .map(|(id, customer, masked)| Row {
                            id: Uid::new(id).unwrap(),
                            customer: Number::new(customer).unwrap(),
                            masked,
                        })
                        .into()
                }

                fn sparse(self) -> [Sparse; 2] {
                    let (id, customer) = (Some(self.id), Some(self.customer));
                    let none = Sparse { id: None, customer: None, masked: None };
                    [Sparse { id, customer, masked: Some(self.masked) }, none]
                }

                fn inside(self) -> ([Tagged; 2], Untagged, Flattened) {
                    let tagged = [Tagged::Made(self.clone()), Tagged::Moved { to: self.id }];
                    let flattened = Flattened { paid: true, row: self.clone() };
                    (tagged, Untagged::Made(self), flattened)
                }

                fn digits(&self) -> [u64; 3] {
                    [self.id.get(), self.customer.get(), self.masked]
                }
            }
        }
    )* };
}

/// The form of a field without `with`, by the same name.
mod plain {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(id: &T, to: S) -> Result<S::Ok, S::Error> {
        id.serialize(to)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        T::deserialize(from)
    }
}

forms! {
    none, ["plain", "plain", "uidring::serde::masked", "uidring::serde::masked::option"];
    text, [
        "uidring::serde::text", "uidring::serde::text::option", "uidring::serde::masked::text",
        "uidring::serde::masked::text::option"
    ];
    number, ["uidring::serde::number", "uidring::serde::number::option", "plain", "plain"];
}

trait Form: Debug + Clone + PartialEq + Serialize + DeserializeOwned {
    type Sparse: Debug + PartialEq + Serialize + DeserializeOwned;
    type Tagged: Debug + PartialEq + Serialize + DeserializeOwned;
    type Untagged: Debug + PartialEq + Serialize + DeserializeOwned;
    type Flattened: Debug + PartialEq + Serialize + DeserializeOwned;

    fn rows() -> Vec<Self>;
    fn sparse(self) -> [Self::Sparse; 2];
    fn inside(self) -> ([Self::Tagged; 2], Self::Untagged, Self::Flattened);
    fn digits(&self) -> [u64; 3];
}

/// What a format makes of a value, for the eye: whether an id is written as a string.
type Written = Vec<u8>;

trait Format {
    fn write<T: Serialize>(&self, value: &T) -> Result<Written, String>;
    fn read<T: DeserializeOwned>(&self, written: &[u8]) -> Result<T, String>;

    /// Whether it has a value that is not there.
    fn has_none(&self) -> bool {
        true
    }

    /// Whether structs can be in structs, and enums be told apart.
    fn has_inside(&self) -> bool {
        false
    }
}

fn told<T>(result: Result<T, impl Display>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn text(written: &[u8]) -> &str {
    str::from_utf8(written).unwrap()
}

macro_rules! format {
    ($($Name:ident $(, $has:ident = $is:literal)*: $write:expr, $read:expr;)*) => { $(
        struct $Name;

        impl Format for $Name {
            fn write<T: Serialize>(&self, value: &T) -> Result<Written, String> {
                let write: fn(&T) -> Result<Written, String> = $write;
                write(value)
            }

            fn read<T: DeserializeOwned>(&self, written: &[u8]) -> Result<T, String> {
                let read: fn(&[u8]) -> Result<T, String> = $read;
                read(written)
            }

            $(fn $has(&self) -> bool {
                $is
            })*
        }
    )* };
}

format! {
    Json, has_inside = true:
        |value| told(serde_json::to_vec(value)), |bytes| told(serde_json::from_slice(bytes));
    JsonTree, has_inside = true:
        |value| told(serde_json::to_value(value).map(|tree| tree.to_string().into_bytes())),
        |bytes| told(serde_json::from_slice(bytes).and_then(serde_json::from_value::<T>));
    Yaml, has_inside = true:
        |value| told(serde_yaml_ng::to_string(value).map(String::into_bytes)),
        |bytes| told(serde_yaml_ng::from_slice(bytes));
    // TOML leaves out what is not there, and serializes no `None` in a map.
    Toml, has_inside = true:
        |value| told(toml::to_string(value).map(String::into_bytes)),
        |bytes| told(toml::from_str(text(bytes)));
    Ron:
        |value| told(ron::to_string(value).map(String::into_bytes)),
        |bytes| told(ron::from_str(text(bytes)));
    // Nothing is a text of no characters there.
    Query, has_none = false:
        |value| told(serde_urlencoded::to_string(value).map(String::into_bytes)),
        |bytes| told(serde_urlencoded::from_bytes(bytes));
    Csv:
        |value| {
            let mut writer = csv::Writer::from_writer(Vec::new());
            told(writer.serialize(value))?;
            told(writer.into_inner())
        },
        |bytes| told(csv::Reader::from_reader(bytes).deserialize().next().unwrap());
    // Nothing is an empty element.
    QuickXml, has_none = false:
        |value| told(quick_xml::se::to_string_with_root("order", value).map(String::into_bytes)),
        |bytes| told(quick_xml::de::from_str(text(bytes)));
    SerdeXmlRs, has_none = false:
        |value| told(serde_xml_rs::SerdeXml::default().to_string(&value).map(String::into_bytes)),
        |bytes| told(serde_xml_rs::from_str(text(bytes)));
    BsonVec, has_inside = true:
        |value| told(bson::serialize_to_vec(value)),
        |bytes| told(bson::deserialize_from_slice(bytes));
    MessagePack, has_inside = true:
        |value| told(rmp_serde::to_vec_named(value)), |bytes| told(rmp_serde::from_slice(bytes));
    Cbor, has_inside = true:
        |value| {
            let mut written = Vec::new();
            told(ciborium::into_writer(value, &mut written)).map(|()| written)
        },
        |bytes| told(ciborium::from_reader(Cursor::new(bytes)));
    Postcard:
        |value| told(postcard::to_stdvec(value)), |bytes| told(postcard::from_bytes(bytes));
    Bincode:
        |value| told(bincode::serde::encode_to_vec(value, bincode::config::standard())),
        |bytes| {
            let read = bincode::serde::decode_from_slice(bytes, bincode::config::standard());
            told(read).map(|(value, _)| value)
        };
}

/// What a program writes itself where a format has no writer: the fields in decimal.
type Fields = HashMap<String, String>;

fn fields<F: Form>(row: &F) -> Fields {
    let names = ["id", "customer", "masked"].map(str::to_owned);
    names.into_iter().zip(row.digits().map(|number| number.to_string())).collect()
}

/// Whether the form reads all rows, with whatever of the others the format has.
fn round_trip<F: Form>(format: &impl Format) -> Result<(), String> {
    fn back<T: Debug + PartialEq + Serialize + DeserializeOwned>(
        format: &impl Format,
        value: &T,
    ) -> Result<(), String> {
        let written = format.write(value)?;
        let read: T = format.read(&written)?;
        assert_eq!(&read, value);
        Ok(())
    }
    for row in F::rows() {
        back(format, &row)?;
        let [some, none] = row.clone().sparse();
        back(format, &some)?;
        if format.has_none() {
            back(format, &none)?;
        }
    }
    Ok(())
}

/// The same inside of enums and structs.
fn inside<F: Form>(format: &impl Format) -> Result<(), String> {
    assert!(format.has_inside());
    for row in F::rows() {
        let (tagged, untagged, flattened) = row.inside();
        let check = |same: bool| if same { Ok(()) } else { Err("another value".to_owned()) };
        for tagged in tagged {
            check(format.read::<F::Tagged>(&format.write(&tagged)?)? == tagged)?;
        }
        check(format.read::<F::Untagged>(&format.write(&untagged)?)? == untagged)?;
        check(format.read::<F::Flattened>(&format.write(&flattened)?)? == flattened)?;
    }
    Ok(())
}

/// The row of the table in the library's documentation, without its marks.
fn row_of(name: &str) -> [String; 3] {
    let source = include_str!("../../src/serde/mod.rs");
    let begin = std::format!("//! | {name} | ");
    let line = source.lines().find_map(|line| line.strip_prefix(&begin));
    let cells = line.unwrap_or_else(|| panic!("no row {name}")).trim_end_matches(" |");
    let cells: Vec<String> = cells.split(" | ").map(str::to_owned).collect();
    cells.try_into().unwrap()
}

/// How an id is written: as a string where its digits are in the bytes between the quotes of a text
/// format, or at all in a binary one.
fn is_string<F: Form>(format: &impl Format, is_binary: bool) -> bool {
    let row = &F::rows()[0];
    let written = format.write(row).unwrap();
    let digits = row.digits()[0].to_string();
    let quoted = [std::format!("\"{digits}\""), std::format!("'{digits}'")];
    let has = |text: &str| written.windows(text.len()).any(|part| part == text.as_bytes());
    if is_binary { has(&digits) } else { quoted.iter().any(|quoted| has(quoted)) }
}

/// Holds what a format does with the three forms against its row.
fn check(name: &str, outcomes: [Result<(), String>; 3], are_strings: Option<[bool; 3]>) {
    let row = row_of(name);
    for (index, (outcome, cell)) in outcomes.iter().zip(&row).enumerate() {
        let says = cell.starts_with('✓');
        assert_eq!(outcome.is_ok(), says, "{name}, form {index}: {cell} {outcome:?}");
        if let Some(are_strings) = are_strings.filter(|_| says) {
            assert_eq!(cell.ends_with("string"), are_strings[index], "{name}, form {index}");
        }
    }
}

macro_rules! each {
    ($trip:ident, $format:expr) => {
        [$trip::<none::Row>($format), $trip::<text::Row>($format), $trip::<number::Row>($format)]
    };
}

fn strings(format: &impl Format, is_binary: bool) -> [bool; 3] {
    [
        is_string::<none::Row>(format, is_binary),
        is_string::<text::Row>(format, is_binary),
        is_string::<number::Row>(format, is_binary),
    ]
}

#[test]
fn texts_that_quote() {
    check("JSON", each!(round_trip, &Json), Some(strings(&Json, false)));
    check("JSON", each!(round_trip, &JsonTree), Some(strings(&JsonTree, false)));
    let tagged = "JSON: tagged, untagged, flattened";
    check(tagged, each!(inside, &Json), Some(strings(&Json, false)));
    check(tagged, each!(inside, &JsonTree), None);
    check("YAML", each!(round_trip, &Yaml), Some(strings(&Yaml, false)));
    check("TOML", each!(round_trip, &Toml), Some(strings(&Toml, false)));
    check("RON", each!(round_trip, &Ron), Some(strings(&Ron, false)));
}

#[test]
fn texts_that_do_not() {
    check("URL-encoded forms, queries", each!(round_trip, &Query), None);
    check("CSV", each!(round_trip, &Csv), None);
    check("XML: quick-xml", each!(round_trip, &QuickXml), None);
    check("XML: serde-xml-rs", each!(round_trip, &SerdeXmlRs), None);
}

#[test]
fn binary_formats() {
    let packed = "`MessagePack`, CBOR";
    check(packed, each!(round_trip, &MessagePack), Some(strings(&MessagePack, true)));
    check(packed, each!(round_trip, &Cbor), Some(strings(&Cbor, true)));
    let tagged = "`MessagePack`, CBOR: tagged, untagged, flattened";
    check(tagged, each!(inside, &MessagePack), Some(strings(&MessagePack, true)));
    check(tagged, each!(inside, &Cbor), Some(strings(&Cbor, true)));
    let compact = "postcard, bincode";
    check(compact, each!(round_trip, &Postcard), Some(strings(&Postcard, true)));
    check(compact, each!(round_trip, &Bincode), Some(strings(&Bincode, true)));
}

/// In both of its ways, and what the one writes is what the other looks for.
#[test]
fn bson_has_one_form_where_the_field_says_which() {
    fn is_found<F: Form>() -> Result<(), String> {
        round_trip::<F>(&BsonVec)?;
        inside::<F>(&BsonVec)?;
        for row in F::rows() {
            let stored = told(bson::serialize_to_vec(&row))?;
            let filter = told(bson::serialize_to_document(&row))?;
            assert_eq!(bson::deserialize_from_document::<F>(filter.clone()).unwrap(), row);
            let stored: bson::Document = told(bson::deserialize_from_slice(&stored))?;
            if stored != filter {
                return Err(std::format!("{stored} is not {filter}"));
            }
        }
        Ok(())
    }
    check(
        "BSON, `MongoDB`",
        [is_found::<none::Row>(), is_found::<text::Row>(), is_found::<number::Row>()],
        Some(strings(&BsonVec, true)),
    );
}

/// As the driver of MongoDB is asked for rows, with either version of bson.
#[test]
fn a_filter_of_bson_finds_what_the_form_number_has_stored() {
    let row = &number::Row::rows()[0];
    let stored = bson::serialize_to_document(row).unwrap();
    let filter = bson::doc! { "id": row.id, "customer": row.customer };
    assert!(filter.iter().all(|(name, value)| stored.get(name) == Some(value)), "{stored}");
    let stored = bson_2::to_document(row).unwrap();
    let filter = bson_2::doc! { "id": row.id, "customer": row.customer };
    assert!(filter.iter().all(|(name, value)| stored.get(name) == Some(value)), "{stored}");
    let stored = bson_2::to_vec(row).unwrap();
    assert_eq!(bson_2::from_slice::<number::Row>(&stored).unwrap(), *row);
    assert_eq!(bson::Bson::from(None::<Uid>), bson::Bson::Null);
}

fn texts<F: Form>(read: impl Fn(Fields) -> Result<F, String>) -> Result<(), String> {
    for row in F::rows() {
        let found = read(fields(&row))?;
        assert_eq!(found, row);
    }
    Ok(())
}

macro_rules! each_text {
    ($read:ident) => {
        [texts($read::<none::Row>), texts($read::<text::Row>), texts($read::<number::Row>)]
    };
}

#[test]
fn configuration() {
    fn from_envy<T: DeserializeOwned>(fields: Fields) -> Result<T, String> {
        told(envy::from_iter(fields))
    }
    fn from_config<T: DeserializeOwned>(fields: Fields) -> Result<T, String> {
        let source = config::Environment::default().try_parsing(true).source(Some(fields));
        let built = config::Config::builder().add_source(source).build();
        told(built.and_then(|all| all.try_deserialize()))
    }
    #[allow(clippy::result_large_err)] // figment's own
    fn from_figment<T: DeserializeOwned>(fields: Fields) -> Result<T, String> {
        let mut read = Err(String::new());
        figment::Jail::expect_with(|jail| {
            for (name, value) in &fields {
                jail.set_env(std::format!("ORDERS_{name}"), value);
            }
            let env = figment::providers::Env::prefixed("ORDERS_");
            read = told(figment::Figment::from(env).extract());
            Ok(())
        });
        read
    }
    check("envy", each_text!(from_envy), None);
    check("config, from variables or files", each_text!(from_config), None);
    check("figment, from variables or files", each_text!(from_figment), None);
}

#[test]
fn paths() {
    fn path(fields: &Fields) -> String {
        std::format!("/orders/{}/{}/{}", fields["id"], fields["customer"], fields["masked"])
    }
    fn from_actix<T: DeserializeOwned>(fields: Fields) -> Result<T, String> {
        let mut path = actix_router::Path::new(path(&fields));
        let resource = actix_router::ResourceDef::new("/orders/{id}/{customer}/{masked}");
        assert!(resource.capture_match_info(&mut path));
        told(T::deserialize(actix_router::PathDeserializer::new(&path)))
    }
    fn from_axum<T: DeserializeOwned + Send + Sync + 'static>(fields: Fields) -> Result<T, String> {
        use axum::extract::{FromRequestParts, Path};
        use axum::{Router, body::Body, http::Request, routing::get};
        use std::sync::{Arc, Mutex};
        use tower::ServiceExt;

        let found = Arc::new(Mutex::new(Err("not called".to_owned())));
        let result = found.clone();
        let handler = move |request: Request<Body>| async move {
            let mut parts = request.into_parts().0;
            let read = Path::<T>::from_request_parts(&mut parts, &()).await;
            *result.lock().unwrap() = read.map(|path| path.0).map_err(|e| e.body_text());
        };
        let app: Router = Router::new().route("/orders/{id}/{customer}/{masked}", get(handler));
        let request = Request::get(path(&fields)).body(Body::empty()).unwrap();
        pollster::block_on(app.oneshot(request)).unwrap();
        Arc::into_inner(found).unwrap().into_inner().unwrap()
    }
    check("paths of actix-web", each_text!(from_actix), None);
    check("paths of axum", each_text!(from_axum), None);
}

/// An integer in JSON may have been rounded, whatever the format is that the field is made for.
#[test]
fn the_protection_of_json_stays() {
    let json = std::format!("{{\"id\":{LARGE},\"customer\":\"7\",\"masked\":\"1\"}}");
    let error = serde_json::from_str::<none::Row>(&json).unwrap_err().to_string();
    assert!(error.contains("may have been rounded"), "{error}");
    assert!(error.contains("`uidring::serde::text`"), "{error}");
    let error = serde_json::from_str::<text::Row>(&json).unwrap_err().to_string();
    assert!(error.contains("expected a UID"), "{error}");
    let tree: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(serde_json::from_value::<text::Row>(tree.clone()).is_err());
    assert!(serde_json::from_value::<none::Row>(tree).is_err());
    let tagged = json.replace("{", "{\"kind\":\"Made\",\"paid\":true,");
    assert!(serde_json::from_str::<text::Tagged>(&tagged).is_err());
    assert!(serde_json::from_str::<text::Untagged>(&tagged).is_err());
    assert!(serde_json::from_str::<text::Flattened>(&tagged).is_err());
}
