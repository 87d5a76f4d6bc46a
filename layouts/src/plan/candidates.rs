//! The layouts that are compared.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use uidring::{Layout, LayoutError};

use crate::plan::sizing::{BITS, DAY_MS, FieldWidths, Needs};
use crate::quantity::{grouped, millis, saturating_u64};
use crate::times::Times;

/// A layout to compare.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What sets it apart.
    pub name: &'static str,
    /// Its widths.
    pub split: FieldWidths,
    /// The same with its epoch.
    pub layout: Layout,
}

impl Candidate {
    /// The calls to paste into a program, each to be followed by the next.
    #[must_use]
    pub fn rust(&self) -> Vec<String> {
        let FieldWidths { time_bits, worker_bits, sequence_bits, tick_ms } = self.split;
        let mut calls = vec![format!("Layout::new({time_bits}, {worker_bits}, {sequence_bits})?")];
        if tick_ms != 1000 {
            calls.push(format!(".with_tick(Duration::from_millis({tick_ms}))?"));
        }
        let (sign, distance) = match self.layout.epoch().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => ('+', since),
            Err(before) => ('-', before.duration()),
        };
        let ms = distance.as_millis();
        let (unit, number) =
            if ms.is_multiple_of(1000) { ("secs", ms / 1000) } else { ("millis", ms) };
        let number = grouped(saturating_u64(number)).replace(',', "_");
        calls.push(format!(".with_epoch(UNIX_EPOCH {sign} Duration::from_{unit}({number}))?"));
        calls
    }

    /// The same for this tool.
    #[must_use]
    pub fn flags(&self) -> String {
        let flags = self.options().map(|(name, value)| format!("--{name} {value}"));
        flags.collect::<Vec<_>>().join(" ")
    }

    /// The call of each binding, by the name of its language.
    #[must_use]
    pub fn bindings(&self) -> [(&'static str, String); 4] {
        let list = |write: fn(&str, &str) -> String| {
            let options = self.options().map(|(name, value)| write(name, &value));
            options.collect::<Vec<_>>().join(", ")
        };
        let java = list(|name, value| format!("\"{name}={value}\""));
        let python = list(|name, value| format!("{name}=\"{value}\""));
        let node = list(|name, value| format!("{name}: '{value}'"));
        let go = list(|name, value| format!("uidring.With(\"{name}\", \"{value}\")"));
        [
            ("Java", format!("UidGenerator.open(address, {java})")),
            ("Python", format!("UidGenerator.open(address, {python})")),
            ("Node.js", format!("UidGenerator.open(address, {{ {node} }})")),
            ("Go", format!("uidring.Open(ctx, address, {go})")),
        ]
    }

    /// The options that make this layout, and their values.
    fn options(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        let FieldWidths { time_bits, worker_bits, sequence_bits, tick_ms } = self.split;
        let epoch = Times::of(&self.layout).utc(self.layout.epoch());
        let day = epoch
            .strip_suffix("T00:00:00Z")
            .or(epoch.strip_suffix("T00:00:00.000Z"))
            .unwrap_or(&epoch);
        let layout = ("layout", format!("{time_bits},{worker_bits},{sequence_bits}"));
        let tick = (tick_ms != 1000).then(|| ("tick", format!("{tick_ms}ms")));
        [Some(layout), tick, Some(("epoch", day.to_owned()))].into_iter().flatten()
    }
}

/// The recommended layout, then others worth considering, then the well-known ones.
pub(crate) fn candidates(
    needs: &Needs,
    recommended: FieldWidths,
    epoch: SystemTime,
    now: SystemTime,
) -> Result<Vec<Candidate>, LayoutError> {
    let least = needs.least(recommended.tick_ms);
    let spare = BITS - least.bits();
    let mut splits = vec![
        ("recommended", recommended),
        ("longest", FieldWidths { time_bits: least.time_bits + spare, ..least }),
        ("most starts", FieldWidths { worker_bits: least.worker_bits + spare, ..least }),
        ("highest rate", FieldWidths { sequence_bits: least.sequence_bits + spare, ..least }),
    ];
    splits.extend([("finer ticks", 100), ("milliseconds", 1)].into_iter().filter_map(
        |(name, tick_ms)| needs.with_widest_margins(tick_ms).map(|split| (name, split)),
    ));
    splits.push(("the default", FieldWidths::of(&Layout::DEFAULT)));
    splits.push(("UidGenerator", FieldWidths::of(&Layout::UID_GENERATOR)));
    let mut candidates: Vec<Candidate> = Vec::new();
    for (name, split) in splits {
        let is_new = candidates.iter().all(|seen| seen.split != split);
        if is_new && needs.is_young(split.time_bits, split.tick_ms) {
            let layout = Layout::new(split.time_bits, split.worker_bits, split.sequence_bits)?
                .with_tick(Duration::from_millis(split.tick_ms))?
                .with_epoch(epoch.min(epoch_above(needs, split, now)))?;
            candidates.push(Candidate { name, split, layout });
        }
    }
    Ok(candidates)
}

/// A midnight from which on the present tick exceeds the UIDs in use.
fn epoch_above(needs: &Needs, split: FieldWidths, now: SystemTime) -> SystemTime {
    let Some(age_ms) = needs.least_age_ms(split.time_bits, split.tick_ms) else { return now };
    // Also before 1970: ids of other layouts may be large.
    let latest = Timestamp::try_from(now).map_or(0, Timestamp::as_millisecond);
    let latest = i128::from(latest) - i128::try_from(age_ms).unwrap_or(i128::MAX / 2);
    let day = i128::from(saturating_u64(DAY_MS));
    let midnight = latest.div_euclid(day) * day;
    let distance = millis(midnight.unsigned_abs());
    if midnight < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance).unwrap_or(now)
    } else {
        SystemTime::UNIX_EPOCH + distance
    }
}
