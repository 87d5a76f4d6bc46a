//! The table of forms in docs/numbers.md: each row is written and read back.

use uidring::series::{SeriesDefinition, Unit};

const PAGE: &str = include_str!("../../docs/numbers.md");

#[test]
fn each_form_of_the_table_is_written_and_read_back() {
    let (_, section) = PAGE.split_once("## Forms of many countries").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .map(|line| line.trim_matches('|').split(" |").map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let date = "2026-11-24".parse().unwrap();
    for row in rows {
        let [who, text, pattern, unit, first_day] = row.as_slice() else { panic!("{row:?}") };
        let (text, pattern) = (text.trim_matches('`'), pattern.trim_matches('`'));
        let mut definition = SeriesDefinition::new(pattern).unwrap();
        let first_day = first_day.split_once('-');
        let first_day =
            first_day.map(|(month, day)| (month.parse().unwrap(), day.parse().unwrap()));
        if let Some((month, day)) = first_day {
            definition = definition.fiscal_year_from(month, day);
        }
        if !unit.is_empty() {
            definition = definition.restart(Unit::from_name(unit, first_day).unwrap());
        }
        definition.check().unwrap_or_else(|error| panic!("{who}: {error}"));
        let pattern = definition.pattern();
        assert_eq!(pattern.format(date, None, 42).unwrap(), text, "{who}");
        let parsed = pattern.parse(text).unwrap();
        assert_eq!((parsed.value(), parsed.period()), (42, pattern.unit().period(date)), "{who}");
        assert_eq!(parsed.shown(), pattern.shown().period(date), "{who}");
    }
}
