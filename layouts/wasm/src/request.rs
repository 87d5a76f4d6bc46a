//! What a page asks.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use uidring::FieldOrder;
use uidring_layouts::{LayoutChoice, Preset, tick, time, widths};

/// A request: the texts of its fields. An empty one is as none.
pub(crate) struct Request(BTreeMap<String, String>);

/// What is wrong with a request.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// The field with the text that is wrong.
    field: String,
    text: String,
}

impl Problem {
    pub(crate) fn of(field: &str, text: String) -> Problem {
        Problem { field: field.to_owned(), text }
    }
}

impl Request {
    pub(crate) fn read(json: &str) -> Result<Request, Problem> {
        serde_json::from_str(json)
            .map(Request)
            .map_err(|error| Problem::of("ask", format!("a request is an object: {error}")))
    }

    pub(crate) fn ask(&self) -> &str {
        self.get("ask").unwrap_or_default()
    }

    /// The text of a field without the spaces around it.
    pub(crate) fn get(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// The value of a field that has a text.
    pub(crate) fn parsed<T>(
        &self,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Problem> {
        let parsed = self.get(field).map(parse).transpose();
        parsed.map_err(|text| Problem::of(field, text))
    }

    /// The present time: the page knows it, the module does not.
    pub(crate) fn now(&self) -> Result<SystemTime, Problem> {
        let ms = self.parsed("now_ms", |text| {
            text.parse().map_err(|_| "the time is in milliseconds since 1970".to_owned())
        })?;
        Ok(SystemTime::UNIX_EPOCH + Duration::from_millis(ms.unwrap_or(0)))
    }

    /// The layout that is named.
    pub(crate) fn layout(&self) -> Result<LayoutChoice, Problem> {
        let preset = |name: &str| {
            Preset::named(name).ok_or_else(|| format!("no layout has the name {name:?}"))
        };
        let order = |text: &str| match text {
            "time-first" => Ok(FieldOrder::TimeFirst),
            "worker-first" => Ok(FieldOrder::WorkerFirst),
            _ => Err("the order is time-first or worker-first".to_owned()),
        };
        Ok(LayoutChoice {
            preset: self.parsed("preset", preset)?,
            widths: self.parsed("layout", widths)?,
            order: self.parsed("order", order)?,
            epoch: self.parsed("epoch", time)?,
            tick: self.parsed("tick", tick)?,
        })
    }
}
