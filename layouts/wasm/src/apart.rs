//! Takes an id apart.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use uidring::Layout;
use uidring_layouts::{Doubt, Format, Id, Preset, Record};

use crate::request::{Problem, Request};
use crate::strings::in_strings;

#[derive(Serialize)]
struct Apart {
    /// As `uidring parse --json` prints it.
    record: Record,
    /// The format by which it was read.
    format: String,
    doubt: Option<Doubt>,
    /// What it says by each preset.
    presets: Vec<ByPreset>,
}

#[derive(Serialize)]
struct ByPreset {
    name: &'static str,
    record: Record,
    doubt: Option<Doubt>,
}

pub(crate) fn answer(request: &Request) -> Result<Value, Problem> {
    let now = request.now()?;
    let chosen =
        request.layout()?.format().map_err(|error| Problem::of("layout", error.to_string()))?;
    let base32 = request.get("base32").is_some();
    let id =
        |text: &str| Id::read(text, base32, chosen.as_ref()).map_err(|error| error.to_string());
    let id = request.parsed("id", id)?.ok_or_else(|| Problem::of("id", String::new()))?;
    let format = chosen.unwrap_or(Layout::DEFAULT.into());
    in_strings(&Apart {
        record: Record::of(id, &format, now),
        format: format.to_string(),
        doubt: Doubt::of(id, &format, now),
        presets: Preset::ALL.map(|preset| by_preset(preset, id, now)).into(),
    })
}

fn by_preset(preset: Preset, id: Id, now: SystemTime) -> ByPreset {
    let format = preset.format();
    let record = Record::of(id, &format, now);
    ByPreset { name: preset.name(), record, doubt: Doubt::of(id, &format, now) }
}

#[derive(Serialize)]
pub(crate) struct Named {
    name: &'static str,
    format: String,
}

/// The layouts that are known by a name.
pub(crate) fn presets() -> Vec<Named> {
    let named = |preset: Preset| {
        let format: Format = preset.format();
        Named { name: preset.name(), format: format.to_string() }
    };
    Preset::ALL.into_iter().map(named).collect()
}
