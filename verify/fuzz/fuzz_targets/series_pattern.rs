//! Patterns of numbers that people see, and texts that may be numbers of them.
//!
//! The lines of an input are a pattern, a scope, a text, a date, a number, the day with which
//! fiscal years begin, and what the number begins anew with. What is missing is something ordinary.

#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use uidring::series::{Date, Pattern, Period, SeriesDefinition, Unit, valid_scope};
use uidring_fuzz::rest;

fuzz_target!(|data: &[u8]| {
    let input = rest(&Unstructured::new(data));
    let mut lines = input.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let (pattern, scope, text) = (line(), line(), line());
    let (date, number, first_day, unit) = (line(), line(), line(), line());
    period(text);
    period(date);
    let mut definition = match SeriesDefinition::new(pattern) {
        Ok(definition) => definition,
        Err(error) => return assert!(pattern.is_char_boundary(error.at()), "{error}"),
    };
    let first_day = first_day.split_once('-');
    let first_day =
        first_day.and_then(|(month, day)| Some((month.parse().ok()?, day.parse().ok()?)));
    let first_day: (u8, u8) = first_day.unwrap_or((4, 1));
    if pattern.contains("{fy") {
        definition = definition.fiscal_year_from(first_day.0, first_day.1);
    }
    if let Ok(unit) = Unit::from_name(unit, Some(first_day)) {
        definition = definition.restart(unit);
    }
    assert_eq!(definition.pattern().to_string(), pattern);
    if definition.check().is_err() {
        return;
    }
    let number = number.parse().unwrap_or(42);
    let date = date.parse().ok().or_else(|| Date::new(2026, 11, 24));
    let pattern = definition.pattern();
    if let Some(written) = written(pattern, scope, date, number) {
        near(pattern, &written, text);
    }
    read(pattern, text);
});

/// What is a period or a date is written as it was read.
fn period(text: &str) {
    if let Ok(period) = text.parse::<Period>() {
        assert_eq!(period.to_string(), text);
        let first = period.first().map(|first| period.unit().period(first));
        assert_eq!(first.unwrap_or(period), period);
    }
    if let Ok(date) = text.parse::<Date>() {
        assert_eq!(date.to_string(), text);
    }
}

/// A number that is written says what it was made from, and one that does not fit is not written.
fn written(pattern: &Pattern, scope: &str, date: Option<Date>, number: u64) -> Option<String> {
    let date = date?;
    let shown = pattern.has_scope().then_some(scope);
    let fits = number <= pattern.largest()
        && pattern.dates().contains(&date)
        && shown.is_none_or(|scope| valid_scope(scope).is_ok());
    let text = pattern.format(date, shown, number);
    assert_eq!(text.is_ok(), fits, "{text:?} of {pattern}");
    let text = text.ok()?;
    let parsed = pattern.parse(&text).unwrap();
    assert_eq!(parsed.value(), number, "{text} of {pattern}");
    assert_eq!(parsed.scope(), shown, "{text} of {pattern}");
    assert_eq!(parsed.period(), pattern.unit().period(date), "{text} of {pattern}");
    assert_eq!(parsed.shown(), pattern.shown().period(date), "{text} of {pattern}");
    Some(text)
}

/// Reads texts that differ in little from a number.
fn near(pattern: &Pattern, written: &str, other: &str) {
    for (at, _) in written.char_indices().chain([(written.len(), '\0')]) {
        let (before, behind) = written.split_at(at);
        let character = other.chars().nth(at).unwrap_or('0');
        read(pattern, &format!("{before}{character}{behind}"));
        let mut behind = behind.chars();
        behind.next();
        read(pattern, &format!("{before}{}", behind.as_str()));
    }
}

/// The day so many days later.
fn later(date: Date, days: i64) -> Option<Date> {
    let civil: jiff::civil::Date = date.to_string().parse().ok()?;
    civil.checked_add(jiff::Span::new().days(days)).ok()?.to_string().parse().ok()
}

/// What is read is the text of what it says.
fn read(pattern: &Pattern, text: &str) {
    let parsed = match pattern.parse(text) {
        Ok(parsed) => parsed,
        Err(error) => return assert!(text.is_char_boundary(error.at()), "{error}"),
    };
    let first = parsed.shown().first().filter(|first| pattern.dates().contains(first));
    // A fiscal year may begin before the first date that can be shown.
    let date = first.unwrap_or(*pattern.dates().start());
    assert_eq!(pattern.shown().period(date), parsed.shown());
    // The number of one text was counted in one period.
    for days in [-7, -1, 1, 7] {
        let Some(other) = later(date, days).filter(|other| pattern.dates().contains(other)) else {
            continue;
        };
        if pattern.format(other, parsed.scope(), parsed.value()).as_deref() == Ok(text) {
            assert_eq!(pattern.unit().period(other), parsed.period(), "{text} of {pattern}");
        }
    }
    let again = pattern.format(date, parsed.scope(), parsed.value());
    assert_eq!(again.as_deref(), Ok(text), "{pattern}");
}
