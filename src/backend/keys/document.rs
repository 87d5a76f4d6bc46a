//! The JSON documents that keys hold.

use serde_json::{Map, Value};

use super::Error;

/// The version of the documents. It stands in each of them, as `version`.
const VERSION: i64 = 1;

/// A JSON object whose members are integers, texts, booleans or null, readable with the store's own
/// tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Document(Map<String, Value>);

impl Document {
    /// A document with nothing but its version.
    pub fn new() -> Document {
        Document(Map::from_iter([("version".to_owned(), Value::from(VERSION))]))
    }

    /// Reads the document at `key`.
    pub fn parse(key: &str, text: &str) -> Result<Document, Error> {
        let Ok(Value::Object(members)) = serde_json::from_str(text) else {
            return Err(Error::problem(format!("its key {key} is not a JSON object; {BACK}")));
        };
        let document = Document(members);
        match document.int("version") {
            Some(VERSION) => Ok(document),
            Some(version) => Err(Error::other_version(version, VERSION)),
            None => Err(document.invalid_field(key, "version")),
        }
    }

    /// The document with the member `name`, in place of one that it may have.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Document {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The integer `name`, if it is one.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.as_i64()
    }

    /// The integer `name` of the document at `key`, which is not below 0.
    pub fn number(&self, key: &str, name: &str) -> Result<u64, Error> {
        let number = self.int(name).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.invalid_field(key, name))
    }

    /// The text `name`, if it is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Whether the member `name` is not there, or null.
    pub fn lacks(&self, name: &str) -> bool {
        self.0.get(name).is_none_or(Value::is_null)
    }

    /// The error of a document at `key` whose member `name` is not as it must be.
    pub fn invalid_field(&self, key: &str, name: &str) -> Error {
        let found = self.0.get(name).map_or_else(|| "not there".to_owned(), Value::to_string);
        Error::problem(format!("in its key {key} the member {name} is {found}; {BACK}"))
    }

    pub fn to_text(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}

const BACK: &str = "put back what was there, or give it a folder of its own";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Document;

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let document = Document::new()
            .with("a", i64::MAX)
            .with("b", "ü\n\"")
            .with("c", true)
            .with("d", None::<i64>);
        let read = Document::parse("k", &document.to_text()).unwrap();
        assert_eq!(read, document);
        assert_eq!((read.int("a"), read.text("b")), (Some(i64::MAX), Some("ü\n\"")));
        assert!(read.lacks("d") && read.lacks("e") && !read.lacks("c"));
    }

    #[test]
    fn what_is_no_document_of_this_version_is_refused() {
        let refused = |text: &str| format!("{:?}", Document::parse("layout", text).unwrap_err());
        for text in ["", "7", "[]", "{", "null", "\"{}\""] {
            assert!(refused(text).contains("its key layout is not a JSON object"), "{text}");
        }
        assert!(refused("{}").contains("the member version is not there"));
        assert!(refused("{\"version\":\"1\"}").contains("the member version is \\\"1\\\""));
        assert!(refused("{\"version\":2}").contains("version 2, and this uidring knows version 1"));
        let document = Document::new().with("n", -1).with("x", 1.5);
        for (name, found) in [("n", "-1"), ("x", "1.5"), ("y", "not there")] {
            let error = format!("{:?}", document.number("layout", name).unwrap_err());
            assert!(error.contains(&format!("the member {name} is {found}")), "{error}");
        }
    }
}
