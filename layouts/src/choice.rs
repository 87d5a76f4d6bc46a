//! A layout that is named by options.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use uidring::{FieldOrder, Layout, LayoutError};

use crate::format::Format;
use crate::length::length;
use crate::preset::Preset;

/// The options that name a layout. Those left out are those of [`Layout::DEFAULT`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LayoutChoice {
    /// A layout that is known by a name.
    pub preset: Option<Preset>,
    /// The widths of the fields, as [`widths`] reads them.
    pub widths: Option<Layout>,
    /// Which field is on top.
    pub order: Option<FieldOrder>,
    /// When the time field begins.
    pub epoch: Option<SystemTime>,
    /// What the time field counts.
    pub tick: Option<Duration>,
}

/// The options name no layout that a generator can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongChoice {
    /// There is no such layout.
    Layout(LayoutError),
    /// Ids of this preset can be read alone.
    NotGenerated(Preset),
}

impl LayoutChoice {
    /// Whether any option was given.
    #[must_use]
    pub fn is_any(&self) -> bool {
        let LayoutChoice { preset, widths, order, epoch, tick } = self;
        preset.is_some() || widths.is_some() || order.is_some() || epoch.is_some() || tick.is_some()
    }

    /// The format asked for; `None` if no option was given.
    ///
    /// # Errors
    /// There is no such layout.
    pub fn format(&self) -> Result<Option<Format>, LayoutError> {
        let &LayoutChoice { preset, widths, order, epoch, tick } = self;
        let named = preset.map(Preset::format).or(widths.map(Format::from));
        if !self.is_any() {
            return Ok(None);
        }
        let asked = named.unwrap_or(Layout::DEFAULT.into());
        asked
            .with(|mut layout| {
                // In other formats the time is always on top.
                if let (Some(order), Some(_)) = (order, asked.layout()) {
                    layout = layout.with_order(order);
                }
                if let Some(tick) = tick {
                    layout = layout.with_tick(tick)?;
                }
                if let Some(epoch) = epoch {
                    layout = layout.with_epoch(epoch)?;
                }
                Ok(layout)
            })
            .map(Some)
    }

    /// The layout asked for, for a generator; `None` if no option was given.
    ///
    /// # Errors
    /// There is no such layout, or no generator can have it.
    pub fn layout(&self) -> Result<Option<Layout>, WrongChoice> {
        let Some(format) = self.format().map_err(WrongChoice::Layout)? else { return Ok(None) };
        match (format.layout(), self.preset) {
            (None, Some(preset)) => Err(WrongChoice::NotGenerated(preset)),
            (layout, _) => Ok(layout),
        }
    }
}

impl fmt::Display for WrongChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongChoice::Layout(error) => error.fmt(f),
            WrongChoice::NotGenerated(preset) => write!(
                f,
                "no generator makes ids of the preset {}: `uidring parse` alone reads them",
                preset.name()
            ),
        }
    }
}

impl Error for WrongChoice {}

/// Reads the widths of time, worker and sequence in bits, such as 29,21,13.
///
/// # Errors
/// The text is not three widths, or they do not fit.
pub fn widths(text: &str) -> Result<Layout, String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_wide = |word: &&&str| is_number(word) && word.len() > 9;
    if words.len() == 3
        && words.iter().all(is_number)
        && let Some(wide) = words.iter().find(is_wide)
    {
        return Err(format!("a field of {wide} bits is too wide: a UID has 63 in all"));
    }
    let widths: Option<Vec<u32>> = words.iter().map(|width| width.parse().ok()).collect();
    match widths.unwrap_or_default()[..] {
        [time, worker, sequence] => {
            Layout::new(time, worker, sequence).map_err(|error| error.to_string())
        }
        _ => Err("a layout is three widths in bits, such as 29,21,13; a layout with a name is \
                  chosen by --preset"
            .to_owned()),
    }
}

/// Reads what the time field counts, such as 1s or 10ms.
///
/// # Errors
/// The text is no length of time.
pub fn tick(text: &str) -> Result<Duration, String> {
    length(text).map_err(|_| "a tick is a length from 1ms to 1s, such as 10ms".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{LayoutChoice, tick, widths};
    use crate::preset::Preset;
    use std::time::{Duration, SystemTime};
    use uidring::Layout;

    #[test]
    fn layouts_have_three_widths() {
        let expected = Layout::new(29, 21, 13).map_err(|error| error.to_string());
        assert_eq!(widths("29,21,13"), expected);
        for wrong in ["", "29,21", "29,21,13,1", "29,21,x", "-29,21,13", "leaf"] {
            assert!(widths(wrong).unwrap_err().contains("three widths"), "{wrong}");
        }
        assert!(widths("40,20,13").unwrap_err().contains("73"));
    }

    #[test]
    fn a_tick_has_a_unit() {
        assert_eq!(tick("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(tick("10ms"), Ok(Duration::from_millis(10)));
        for wrong in ["", "1", "s", "ms", "-1s"] {
            assert!(tick(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_no_generator_makes_is_read_with_another_epoch() {
        let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        let choice = LayoutChoice {
            preset: Some(Preset::Sonyflake),
            epoch: Some(epoch),
            ..LayoutChoice::default()
        };
        let text = "39 | 8 | 16 in ticks of 10 ms from 2020-09-13T12:26:40Z, sequence above worker";
        assert_eq!(choice.format().unwrap().unwrap().to_string(), text);
        let refused = "no generator makes ids of the preset sonyflake: `uidring parse` alone reads \
                       them";
        assert_eq!(choice.layout().unwrap_err().to_string(), refused);
        assert_eq!(LayoutChoice::default().layout(), Ok(None));
    }
}
