//! The chart: for each generator a bar for one thread and one for two, on a logarithmic scale. Its
//! colours follow the reader's choice of light or dark.

use std::fmt::Write;

use crate::measure::{Result, figure};
use crate::row::Row;
use crate::rows;

const WIDTH: f64 = 860.0;
/// Where the bars begin and end.
const LEFT: f64 = 250.0;
const RIGHT: f64 = 790.0;
const TOP: f64 = 92.0;
const LINE: f64 = 30.0;
const BAR: f64 = 10.0;
/// Millions a second, at the two ends of the scale.
const LEAST: f64 = 1.0;
const MOST: f64 = 10_000.0;

const STYLE: &str = "\
svg { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; }
.paper { fill: #ffffff; } text { fill: #1f2328; } .dim { fill: #59636e; } .grid { stroke: #d1d9e0; }
.ours { fill: #0969da; } .limit { fill: #8c959f; } .peer { fill: #d4a72c; } \
.second { opacity: .55; }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117; } text { fill: #f0f6fc; } .dim { fill: #9198a1; } .grid { stroke: #3d444d; }
.ours { fill: #4493f8; } .limit { fill: #656c76; } .peer { fill: #d29922; }
}";

/// What is drawn, in this order; the rest is in the tables.
const SHOWN: [(&str, &str); 6] = [
    ("one id a call, any thread", "uidring take"),
    ("", "bare fetch_add"),
    ("a thread's own", rows::LOCAL),
    ("", "thread's counter, blocks of 1,024"),
    ("1,024 ids a call", rows::FILL),
    ("", "fetch_add and consecutive numbers, 1,024 at once"),
];

/// Other generators, each under the kind of take that it is compared with.
fn others(rows: &[Row], limit: &str) -> Vec<&'static str> {
    let is_peer =
        |row: &&Row| row.limit == limit && row.name != limit && !row.name.starts_with("uidring");
    rows.iter()
        .filter(is_peer)
        .map(|row| row.name)
        .filter(|name| *name != "SystemTime::now for each id")
        .collect()
}

pub fn svg(rows: &[Row], columns: &[(usize, Vec<Option<Result>>)]) -> String {
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for pair in SHOWN.chunks(2) {
        lines.extend(pair);
        let mut peers = others(rows, pair[1].1);
        peers.sort_by(|a, b| rate(rows, columns, 1, b).total_cmp(&rate(rows, columns, 1, a)));
        lines.extend(peers.into_iter().map(|name| ("", name)));
    }
    let mut y = TOP;
    let mut bars = String::new();
    for (heading, name) in lines {
        if !heading.is_empty() {
            y += 14.0;
            writeln!(bars, "<text x=\"16\" y=\"{y}\" font-weight=\"600\">{heading}</text>")
                .unwrap();
            y += 12.0;
        }
        let row = rows.iter().find(|row| row.name == name).unwrap();
        let (short, class) = match name {
            _ if name.starts_with("uidring") => (name.split(',').next().unwrap_or(name), "ours"),
            _ if SHOWN.iter().any(|(_, shown)| *shown == name) => {
                (name.split(',').next().unwrap_or(name), "limit")
            }
            _ => (name.strip_suffix(", 1,024 at once").unwrap_or(name), "peer"),
        };
        let short = short.replace("fetch_add and ", "");
        writeln!(
            bars,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{short}</text>",
            LEFT - 10.0,
            y + 14.0
        )
        .unwrap();
        for (place, threads) in [1, 2].into_iter().enumerate() {
            let millions = rate(rows, columns, threads, name);
            #[allow(clippy::cast_precision_loss)] // 0 or 1
            let top = y + place as f64 * (BAR + 1.0);
            let width = (x(millions) - LEFT).max(1.0);
            let second = if place == 1 { " second" } else { "" };
            writeln!(
                bars,
                "<rect class=\"{class}{second}\" x=\"{LEFT}\" y=\"{top}\" width=\"{width:.1}\" \
                 height=\"{BAR}\"/>"
            )
            .unwrap();
        }
        let rule = row.throttled.map(|rule| format!(" ({rule})")).unwrap_or_default();
        let figure = format!("{}{rule}", figure(rate(rows, columns, 1, name)));
        let end = x(rate(rows, columns, 1, name)).max(x(rate(rows, columns, 2, name)));
        writeln!(
            bars,
            "<text class=\"dim\" x=\"{:.1}\" y=\"{}\">{figure}</text>",
            end + 6.0,
            y + 14.0
        )
        .unwrap();
        y += LINE;
    }
    let height = y + 34.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Millions of ids a second, uidring and others\">\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
         <text x=\"16\" y=\"30\" font-size=\"17\" font-weight=\"600\">\
         Millions of ids a second</text>\n\
         <text class=\"dim\" x=\"16\" y=\"52\">\
         upper bar, and the number: one thread; lower bar: two threads; \
         each line is ten times the one before it</text>\n"
    );
    let mut mark = LEAST;
    while mark <= MOST {
        let (x, label) = (x(mark), mark);
        writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x}\" y1=\"78\" x2=\"{x}\" y2=\"{}\"/>",
            height - 20.0
        )
        .unwrap();
        writeln!(
            svg,
            "<text class=\"dim\" x=\"{x}\" y=\"72\" text-anchor=\"middle\">{label}</text>"
        )
        .unwrap();
        mark *= 10.0;
    }
    svg + &bars + "</svg>\n"
}

fn x(millions: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * ((millions / LEAST).log10() / (MOST / LEAST).log10()).clamp(0.0, 1.0)
}

/// 0 where it was not measured.
fn rate(rows: &[Row], columns: &[(usize, Vec<Option<Result>>)], threads: usize, name: &str) -> f64 {
    let index = rows.iter().position(|row| row.name == name);
    let column = columns.iter().find(|(of, _)| *of == threads);
    index
        .zip(column)
        .and_then(|(index, (_, column))| column[index].as_ref())
        .map_or(0.0, |result| result.millions)
}
