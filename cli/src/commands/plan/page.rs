//! The page of `uidring plan`: the recommended layout and the others, or why there is none.

use std::fmt::{self, Write as _};
use std::iter;
use std::time::SystemTime;

use anstyle::Style;
use indicatif::HumanCount;
use uidring::Layout;
use uidring_layouts::plan::{
    BITS, Candidate, Change, FieldWidths, Needs, TradeOffs, YEAR_MS, headroom, listed, trade_offs,
};
use uidring_layouts::quantity::{Quantity, millis, rounded, saturating_u64};

use crate::text::picture;
use crate::text::table::{Column, Table};
use crate::text::words::{self, counted};
use crate::text::{
    self, BOLD, DIM, GREEN, RED, SEQUENCE, TIME, Times, WORKER, YELLOW, lines, paint, paragraph,
    row, unfolded_row,
};

/// The page, where there is a layout. `is_enough` says whether [`Layout::DEFAULT`] is one.
pub(crate) fn page(
    needs: &Needs,
    candidates: &[Candidate],
    is_enough: bool,
    now: SystemTime,
) -> String {
    let Some(first) = candidates.first() else { return String::new() };
    let recommended = paint(GREEN.bold(), "Recommended:");
    let enough = "The default layout is enough as well, and needs no option.";
    format!(
        "{}\n{}{}{}\n{}\n{}\n{}\n{}{}",
        lines(&needs_in_words(needs)),
        lines(&format!("{recommended} {}", paint(BOLD, first.layout))),
        if is_enough { paragraph(enough) } else { String::new() },
        exceeding(needs, &first.layout, now),
        picture(&first.layout, text::columns()),
        explained(needs, first, now),
        compared(needs, candidates, now),
        rust(first),
        others(first),
    )
}

/// The width of the names of languages.
const NAME: usize = 7;

/// The calls, placed below the heading if they do not fit beside it.
fn rust(candidate: &Candidate) -> String {
    let calls = candidate.rust();
    let beside = row::<NAME>("Rust", DIM, calls.join(&format!("\n{:1$}", "", NAME + 2)));
    if beside.lines().count() == calls.len() {
        return beside;
    }
    let calls = format!("  {}\n", calls.join("\n  "));
    paint(DIM, "Rust") + "\n" + &text::folded(&calls, text::columns(), 2)
}

/// The same layout for each binding, and for a run of the tool.
fn others(candidate: &Candidate) -> String {
    let bindings = candidate.bindings().map(|(name, call)| row::<NAME>(name, DIM, call));
    let flags = candidate.flags();
    let words = ["uidring", "take"].into_iter().chain(flags.split(' '));
    let words: Vec<String> = words.map(str::to_owned).collect();
    let tool = paint(DIM, format_args!("{:NAME$} ", "Tool"));
    bindings.concat() + &text::command(&tool, &words, text::columns())
}

/// The cost of exceeding the UIDs in use.
fn exceeding(needs: &Needs, layout: &Layout, now: SystemTime) -> String {
    if needs.above == 0 {
        return String::new();
    }
    let mut text = format!("All its UIDs exceed {}.", needs.above);
    let earlier = ms_between(layout.epoch(), now).saturating_sub(needs.age_ms.into());
    if earlier > 0 {
        let earlier = words::span(millis(earlier));
        let _ = write!(
            text,
            " For that, its time field begins {earlier} earlier, and so it ends {earlier} earlier. \
             That date is only where the time is counted from: no UID will have a time before now."
        );
    }
    paragraph(&text) + &passed(needs, layout, now)
}

/// When the old ids pass those of the layout, if that is soon.
fn passed(needs: &Needs, layout: &Layout, now: SystemTime) -> String {
    let Some(found) = headroom(needs.above, layout, now) else { return String::new() };
    let preset = found.preset.name();
    let grow = if found.is_known {
        format!("With the layout of `--preset {preset}`, they")
    } else {
        format!("If they grow as fast as those of `--preset {preset}`, they")
    };
    let when = match found.lasts.as_secs() {
        0 => "may have passed these UIDs by now".to_owned(),
        _ => format!("pass these UIDs in {}", words::span(found.lasts)),
    };
    let mut text = format!(
        "Until their generator stops, the old ids grow as well. {grow} {when}. Plan with the \
         largest id that there can be when it stops"
    );
    if let Some(later) = found.later {
        let _ = write!(text, ", in 30 days --above {later}");
    }
    text.push('.');
    paint(YELLOW, paragraph(&text))
}

/// The numbers on the command line, in words.
fn needs_in_words(needs: &Needs) -> String {
    let Needs { years, nodes, restarts_per_day, rate, peak, peak_for, peaks_per_day, .. } = needs;
    let nodes = if *nodes == 1 {
        "One node".to_owned()
    } else {
        format!("Each of {} nodes", HumanCount(*nodes))
    };
    let mut text = format!("{nodes} takes {} a second", rate.of("UID"));
    if peak > rate {
        let often = if *peaks_per_day == Quantity::whole(1) {
            "once".to_owned()
        } else {
            format!("{peaks_per_day} times")
        };
        let _ = write!(text, ", and {peak} in a peak of {}, {often} a day", words::span(*peak_for));
    }
    let years = if *years == 1 { "year".to_owned() } else { counted(*years, "year") };
    let _ = match restarts_per_day {
        Quantity { thousandths: 0 } => write!(text, ".\nIt never restarts,"),
        Quantity { thousandths: 1000 } => write!(text, ".\nIt restarts once a day,"),
        often => write!(text, ".\nIt restarts {often} times a day,"),
    };
    text + &format!(" for the next {years}.")
}

/// What each field of the recommended layout offers, and what is needed.
fn explained(needs: &Needs, candidate: &Candidate, now: SystemTime) -> String {
    let Candidate { split, layout, .. } = candidate;
    let expires = layout.expires_at();
    let mut table = Table::new(
        [
            Column::text("", Style::new()),
            Column::text("THERE IS", Style::new()),
            Column::text("NEEDED", Style::new()),
            Column::number("ROOM", Style::new()),
        ]
        .map(Column::painted),
    );
    let years = |ms: u128| format!("{:.1} years", ratio(ms, YEAR_MS));
    table.row([
        paint(TIME, "time"),
        format!("until {}: {}", date(expires), years(ms_between(now, expires))),
        years(u128::from(needs.years) * YEAR_MS),
        painted_ratio(ratio(ms_between(now, expires), u128::from(needs.years) * YEAR_MS)),
    ]);
    let in_peaks = needs.ids_in_peaks(*split);
    let peaks = if in_peaks == 0 {
        String::new()
    } else {
        format!(" + {} in peaks", HumanCount(saturating_u64(in_peaks)))
    };
    table.row([
        paint(WORKER, "worker"),
        format!("{} ids", HumanCount(layout.max_worker())),
        format!("{}{peaks}", counted(saturating_u64(needs.starts()), "start")),
        painted_ratio(ratio(layout.max_worker().into(), needs.ids(*split))),
    ]);
    let average = rounded_up(needs.average());
    let capacity = split.uids_per_second();
    table.row([
        paint(SEQUENCE, "sequence"),
        format!("{} a second", HumanCount(capacity)),
        if needs.peak > needs.rate { format!("{average} on average") } else { average },
        painted_ratio(ratio(u128::from(capacity) * 1000, needs.average().thousandths.into())),
    ]);
    if needs.peak > needs.rate {
        let length = words::span(needs.peak_for);
        let [there, needed, room] = match needs.peak_lasts_ms(*split) {
            None => ["any length".to_owned(), format!("{length}, borrows nothing"), String::new()],
            Some(ms) => [
                format!("up to {}", words::span(millis(ms))),
                format!("{length}, borrows {}", words::span(millis(needs.borrowed_ms(*split)))),
                peak_room(ratio(ms, needs.peak_for.as_millis())),
            ],
        };
        table.row(["peak".to_owned(), there, needed, room]);
    }
    table.to_string()
}

/// The table of all candidates.
fn compared(needs: &Needs, candidates: &[Candidate], now: SystemTime) -> String {
    let mut table = Table::new(
        [
            Column::text("", Style::new()),
            Column::text("LAYOUT", Style::new()),
            Column::number("TICK", DIM),
            Column::text("LASTS", Style::new()),
            Column::text("STARTS", Style::new()),
            Column::text("A SECOND", Style::new()),
            Column::text("PEAK UP TO", Style::new()),
        ]
        .map(Column::painted),
    );
    for candidate in candidates {
        let Candidate { name, split, layout } = candidate;
        let fits = needs.fits(*split);
        let name = match (*name, fits) {
            ("recommended", _) => paint(GREEN.bold(), format_args!("▶ {name}")),
            (_, true) => format!("✔ {name}"),
            (_, false) => paint(RED, format_args!("✘ {name}")),
        };
        let expires = layout.expires_at();
        let end = u128::from(needs.years) * YEAR_MS;
        let left = ms_between(now, expires);
        let lasts = if needs.time_fits(*split) {
            words::span(millis(left))
        } else {
            short(words::span(millis(end.saturating_sub(left))))
        };
        let ids = layout.max_worker();
        let missing = saturating_u64(needs.ids(*split)).saturating_sub(ids);
        let starts = if needs.ids_fit(*split) {
            HumanCount(ids).to_string()
        } else {
            short(HumanCount(missing))
        };
        let capacity = split.uids_per_second();
        let missing = needs.average().thousandths.div_ceil(1000).saturating_sub(capacity);
        let rate = if needs.rate_fits(*split) {
            HumanCount(capacity).to_string()
        } else {
            short(HumanCount(missing))
        };
        table.row([
            name,
            widths(*split),
            tick(split.tick_ms),
            lasts,
            starts,
            rate,
            peak(needs, *split),
        ]);
    }
    let mut legend = "A SECOND: of each node, before it borrows.".to_owned();
    if needs.peak > needs.rate {
        let _ = write!(
            legend,
            "\nPEAK UP TO: until a lead of {} is used up",
            words::span(needs.max_lead)
        );
        let costs = candidates.iter().any(|candidate| needs.ids_per_peak(candidate.split) > 0);
        legend +=
            if costs { "; + ids: worker ids that the rest of the peak uses up." } else { "." };
    }
    table.to_string() + &paint(DIM, lines(&legend))
}

/// How long a peak may last, and what it costs if it lasts longer.
fn peak(needs: &Needs, split: FieldWidths) -> String {
    if needs.peak == needs.rate && needs.rate_fits(split) {
        return String::new();
    }
    match (needs.peak_lasts_ms(split), needs.ids_per_peak(split)) {
        (None, _) => "any length".to_owned(),
        (Some(ms), 0) => words::span(millis(ms)),
        (Some(ms), ids) => {
            let ids = counted(saturating_u64(ids), "id");
            paint(YELLOW, format_args!("{} + {ids}", words::span(millis(ms))))
        }
    }
}

/// A rate without the decimals that do not matter.
fn rounded_up(rate: Quantity) -> String {
    if rate < Quantity::whole(10) {
        rate.to_string()
    } else {
        HumanCount(rate.thousandths.div_ceil(1000)).to_string()
    }
}

/// How much is missing, in red.
fn short(missing: impl fmt::Display) -> String {
    paint(RED, format_args!("{missing} short"))
}

fn tick(ms: u64) -> String {
    if ms == 1000 { "1 s".to_owned() } else { format!("{ms} ms") }
}

/// The widths of the fields, as `--layout` takes them.
fn widths(split: FieldWidths) -> String {
    let FieldWidths { time_bits, worker_bits, sequence_bits, .. } = split;
    let fields = [(TIME, time_bits), (WORKER, worker_bits), (SEQUENCE, sequence_bits)];
    fields.map(|(style, width)| paint(style, width)).join(",")
}

/// `number`, and a line that fills the rest of `signs` characters.
fn with_rule(number: u32, signs: usize) -> String {
    number.to_string().chars().chain(iter::repeat('━')).take(signs).collect()
}

/// A ratio with a colour: red below 1, yellow slightly above.
fn painted_ratio(ratio: f64) -> String {
    let style = if ratio < 1.0 {
        RED
    } else if ratio < 1.1 {
        YELLOW
    } else {
        GREEN
    };
    paint(style, times(ratio))
}

/// Like [`room`] without red: a peak that lasts too long costs worker ids, but is no failure.
fn peak_room(ratio: f64) -> String {
    paint(if ratio < 1.1 { YELLOW } else { GREEN }, times(ratio))
}

fn times(ratio: f64) -> String {
    // Rounded down, so that what is too little never shows as 1.0.
    if ratio < 10.0 {
        format!("{:.1}×", (ratio * 10.0).floor() / 10.0)
    } else {
        format!("{}×", HumanCount(rounded(ratio.floor())))
    }
}

#[allow(clippy::cast_precision_loss)] // two digits are shown
fn ratio(have: u128, need: u128) -> f64 {
    have as f64 / need.max(1) as f64
}

fn ms_between(from: SystemTime, to: SystemTime) -> u128 {
    to.duration_since(from).unwrap_or_default().as_millis()
}

fn date(time: SystemTime) -> String {
    match Times::of(&Layout::DEFAULT).rfc3339(time) {
        Some(text) => text.split('T').next().unwrap_or_default().to_owned(),
        None => "after the year 9999".to_owned(),
    }
}

/// Why no layout exceeds the ids in use.
pub(crate) fn nothing_exceeds(needs: &Needs) -> String {
    format!(
        "no layout that lasts for {} exceeds {}: too few numbers are left above it; ask for fewer \
         --years, or give the old rows new ids",
        counted(needs.years, "year"),
        needs.above
    )
}

/// Why nothing fits, and what to reduce.
pub(crate) fn refusal(needs: &Needs) -> String {
    let least = needs.smallest();
    let FieldWidths { time_bits, worker_bits, sequence_bits, tick_ms } = least;
    let over = least.bits().saturating_sub(BITS);
    let mut text = format!(
        "this needs at least {} bits, and a UID has {BITS}: {over} too many\n\n",
        least.bits()
    );
    if text::error_columns() >= 80 {
        let ruler = format!("┌ {BITS} bits ");
        let ruler = format!("{ruler}{}┐", "─".repeat(BITS as usize - ruler.chars().count() - 1));
        let _ = writeln!(text, "  {}", paint(DIM, ruler));
        let _ = writeln!(text, "  {}\n", wide_bar(least));
    }
    let span = format!(
        "{} and the time since the epoch, ticks of {}",
        counted(needs.years, "year"),
        tick(tick_ms)
    );
    let peaks = match needs.ids_in_peaks(least) {
        0 => String::new(),
        ids => format!(" and {} in peaks", counted(saturating_u64(ids), "new id")),
    };
    let starts = counted(saturating_u64(needs.starts()), "start") + &peaks;
    for (name, style, bits, why) in [
        ("time", TIME, time_bits, span),
        ("worker", WORKER, worker_bits, starts),
        (
            "sequence",
            SEQUENCE,
            sequence_bits,
            format!("{} UIDs a second on average, likewise", rounded_up(needs.average())),
        ),
    ] {
        let why = format_args!("{bits:>2} bits for {why}");
        let row = format!("  {}", unfolded_row::<8>(name, style, why));
        text += &text::folded(&row, text::error_columns(), 10);
    }
    let singly = |changes: &[Change]| changes.iter().map(Change::to_string).collect();
    let (which, ways): (_, Vec<String>) = match trade_offs(needs) {
        TradeOffs::AnyOf(ways) if ways.len() > 1 => {
            (" any one of these", ways.iter().map(|way| listed(way)).collect())
        }
        TradeOffs::AllOf(changes) if changes.len() > 1 => {
            (" all of these together", singly(&changes))
        }
        TradeOffs::AnyOf(ways) => ("", ways.iter().map(|way| listed(way)).collect()),
        TradeOffs::AllOf(changes) => ("", singly(&changes)),
    };
    let _ = write!(text, "\n  It fits with{which}:");
    for way in ways {
        let _ = write!(text, "\n    {way}");
    }
    text
}

/// One character a bit. Bits that do not fit are crosses at the end, where the line has room.
fn wide_bar(split: FieldWidths) -> String {
    let mut text = String::new();
    let mut at = 0;
    for (style, bits) in
        [(TIME, split.time_bits), (WORKER, split.worker_bits), (SEQUENCE, split.sequence_bits)]
    {
        let inside = BITS.saturating_sub(at).min(bits) as usize;
        // Each field is followed by a gap, except the one that reaches the last bit.
        let signs = if inside < bits as usize { inside } else { inside.saturating_sub(1) };
        let gap = if inside < bits as usize { "" } else { " " };
        text += &(paint(style, with_rule(bits, signs)) + gap);
        at += bits;
    }
    text + &paint(RED, "╳".repeat((at.saturating_sub(BITS) as usize).min(15)))
}
