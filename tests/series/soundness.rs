//! Whatever is accepted as a pattern is read back, for all patterns that its grammar can make.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use uidring::series::{Date, Pattern, SeriesDefinition, Unit};

use crate::dates::dates;

const DATE_FIELDS: [&str; 15] = [
    "{yyyy}",
    "{yy}",
    "{MM}",
    "{dd}",
    "{DDD}",
    "{GGGG}",
    "{ww}",
    "{q}",
    "{fy}",
    "{fy:yy}",
    "{fye}",
    "{fye:yy}",
    "{fy:yyyy-yy}",
    "{fy:yyyy-yyyy}",
    "{fy:yy-yy}",
];
/// Sets of fields that say a date.
const DATES: [&[&str]; 22] = [
    &[],
    &["{yyyy}"],
    &["{yy}"],
    &["{yyyy}", "{MM}"],
    &["{yy}", "{MM}", "{q}"],
    &["{yyyy}", "{q}"],
    &["{yyyy}", "{MM}", "{dd}"],
    &["{yy}", "{MM}", "{dd}"],
    &["{yy}", "{DDD}"],
    &["{GGGG}", "{ww}"],
    &["{fy}"],
    &["{fy}", "{MM}"],
    &["{fy}", "{MM}", "{dd}"],
    &["{fy:yy}"],
    &["{fye}"],
    &["{fye:yy}"],
    &["{fye:yy}", "{MM}"],
    &["{fy:yyyy-yy}"],
    &["{fy:yyyy-yyyy}", "{MM}", "{dd}"],
    &["{fy:yy-yy}"],
    &["{fy:yy-yy}", "{yyyy}", "{MM}"],
    &["{yyyy}", "{MM}", "{dd}", "{GGGG}", "{ww}", "{DDD}", "{fy}", "{q}", "{yy}"],
];
const CHECKS: [&str; 9] = [
    "{check:luhn}",
    "{check:damm}",
    "{check:mod11_10}",
    "{check:mod97_10}",
    "{check:gs1}",
    "{check:mod97}",
    "{check:damm:n}",
    "{check:mod97:n}",
    "RF{check:iso11649}",
];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => Just("{n}".to_owned()),
        2 => (1..=18).prop_map(|width| format!("{{n:{width}}}")),
        1 => (2..=18).prop_map(|width| format!("{{n:{width}+}}")),
    ]
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["-", "/", ".", "_", "--", "#"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["号", "№", "é", "Τ-", "๐", "\u{301}", "e"])
            .prop_map(str::to_owned),
        1 => "[0-9A-Za-z]{1,2}",
        1 => prop::sample::select(vec!["{{", "}}", "1-", "-1", " - "]).prop_map(str::to_owned),
    ]
}

/// Any items in any order: most of these patterns are refused.
fn wild() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        3 => literal(),
        3 => prop::sample::select(&DATE_FIELDS).prop_map(str::to_owned),
        2 => number(),
        1 => Just("{scope}".to_owned()),
        1 => prop::sample::select(&CHECKS).prop_map(str::to_owned),
    ];
    prop::collection::vec(item, 1..9).prop_map(|items| items.concat())
}

/// What makes sense in any order, mostly with something between: most of these are accepted.
fn tame() -> impl Strategy<Value = String> {
    let parts = (prop::sample::select(&DATES), number(), any::<bool>());
    let parts = parts.prop_map(|(date, number, has_scope)| {
        let mut parts: Vec<String> = date.iter().map(|&field| field.to_owned()).collect();
        parts.push(number);
        parts.extend(has_scope.then(|| "{scope}".to_owned()));
        parts
    });
    let check = prop::option::of(prop::sample::select(&CHECKS));
    let between = prop::collection::vec(prop::option::weighted(0.7, literal()), 12);
    (parts.prop_shuffle(), between, check).prop_map(|(parts, between, check)| {
        let mut between = between.into_iter().map(Option::unwrap_or_default);
        let mut pattern = between.next().unwrap_or_default();
        for part in parts {
            pattern += &part;
            pattern += &between.next().unwrap_or_default();
        }
        match check {
            Some(check) if check.starts_with("RF") => check.to_owned() + &pattern,
            check => pattern + check.unwrap_or_default(),
        }
    })
}

const UNITS: [&str; 7] = ["day", "week", "month", "quarter", "year", "fiscal-year", "never"];

/// A pattern that is accepted, by its text, the day with which fiscal years begin, and what the
/// number begins anew with.
fn patterns() -> impl Strategy<Value = Pattern> {
    let text = prop_oneof![1 => wild(), 3 => tame()];
    let first_day = (1_u8..=12, prop_oneof![Just(1_u8), 1_u8..=31]);
    let unit = prop::option::of(prop::sample::select(&UNITS));
    (text, first_day, unit).prop_filter_map("refused", |(text, (month, day), unit)| {
        accepted(&text, (month, day), unit)
    })
}

fn accepted(text: &str, first_day: (u8, u8), unit: Option<&str>) -> Option<Pattern> {
    let mut definition = SeriesDefinition::new(text).ok()?;
    if text.contains("{fy") {
        definition = definition.fiscal_year_from(first_day.0, first_day.1);
    }
    if let Some(unit) = unit {
        definition = definition.restart(Unit::from_name(unit, Some(first_day)).ok()?);
    }
    definition.check().ok()?;
    Some(definition.pattern().clone())
}

fn scopes() -> impl Strategy<Value = String> {
    prop_oneof!["[0-9a-c._-]{1,4}", "[0-9-]{1,3}", "[0-9A-Za-z._-]{60,64}"]
}

/// Numbers of which many are parts of others.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..120_u64,
        (0..19_u32, 0..3_u64).prop_map(|(digits, more)| 10_u64.pow(digits) + more),
        (1..19_u32).prop_map(|digits| (10_u64.pow(digits) - 1) / 9),
        any::<u64>().prop_map(|number| number >> 1),
    ]
}

/// What a number is made from, as far as the pattern shows it.
type Parts = (Date, Option<String>, u64);

/// Parts that fit the pattern.
fn fitting(pattern: &Pattern, (date, scope, number): (Date, String, u64)) -> Parts {
    let date = within(date, pattern.dates());
    let number = if number > pattern.largest() { number % pattern.largest() } else { number };
    (date, pattern.has_scope().then_some(scope), number)
}

/// The same day in a year of the range.
fn within(date: Date, range: RangeInclusive<Date>) -> Date {
    let (first, last) = (range.start().year(), range.end().year());
    let year = first + date.year() % (last - first + 1);
    Date::new(year, date.month(), date.day().min(28)).unwrap().clamp(*range.start(), *range.end())
}

fn written(pattern: &Pattern, (date, scope, number): &Parts) -> String {
    pattern.format(*date, scope.as_deref(), *number).unwrap()
}

/// A change of a text: a place, what to put there, and how.
type Edit = (usize, char, u8);

fn edits() -> impl Strategy<Value = Edit> {
    let characters: Vec<char> = "0123456789abc./_ é-".chars().collect();
    (any::<usize>(), prop::sample::select(characters), 0_u8..4)
}

fn edit(text: &str, (at, with, kind): Edit) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = at % characters.len();
    match kind {
        0 => characters[at] = with,
        1 => characters.insert(at, with),
        2 => drop(characters.remove(at)),
        _ => characters.swap(at, 0),
    }
    characters.into_iter().collect()
}

/// The same number on each day of more than two years, by all that says a date, and all that a
/// number may begin anew with.
#[test]
fn what_is_shown_tells_with_what_the_number_began_anew() {
    let first: jiff::civil::Date = "2026-11-20".parse().unwrap();
    let days = (0..800).map(|days| first.checked_add(jiff::Span::new().days(days)).unwrap());
    let days: Vec<Date> = days.map(|day| day.to_string().parse().unwrap()).collect();
    let first_days = [(1, 1), (2, 1), (4, 1), (4, 6), (12, 31)];
    let mut accepted_patterns = 0;
    for fields in DATES {
        let text = format!("{}-{{n}}", fields.join("/"));
        let is_fiscal = text.contains("{fy");
        for unit in UNITS {
            let is_fiscal = is_fiscal || unit == "fiscal-year";
            for first_day in &first_days[..if is_fiscal { first_days.len() } else { 1 }] {
                let Some(pattern) = accepted(&text, *first_day, Some(unit)) else { continue };
                accepted_patterns += 1;
                let mut periods = BTreeMap::new();
                for day in &days {
                    let text = pattern.format(*day, None, 42).unwrap();
                    let period = pattern.unit().period(*day);
                    let known = *periods.entry(text).or_insert(period);
                    assert_eq!(known, period, "{pattern} on {day}, anew each {unit}");
                }
                for (text, period) in periods {
                    assert_eq!(pattern.parse(&text).unwrap().period(), period, "{pattern}: {text}");
                }
            }
        }
    }
    assert!(accepted_patterns > 100, "{accepted_patterns}");
}

#[test]
fn half_of_the_tame_patterns_are_accepted() {
    // Else the properties here would look at little.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut accepted = 0;
    for _ in 0..1000 {
        let text = tame().new_tree(&mut runner).unwrap().current();
        accepted += usize::from(text.parse::<Pattern>().is_ok());
    }
    assert!(accepted >= 300, "{accepted} of 1000");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_number_is_read_back(pattern in patterns(), parts in (dates(), scopes(), numbers())) {
        let parts = fitting(&pattern, parts);
        let text = written(&pattern, &parts);
        let parsed = pattern.parse(&text).map_err(|error| {
            TestCaseError::fail(format!("{text} of {pattern}: {error}"))
        })?;
        let (date, scope, number) = parts;
        prop_assert_eq!(parsed.value(), number, "{} of {}", text, pattern);
        prop_assert_eq!(parsed.period(), pattern.unit().period(date), "{} of {}", text, pattern);
        prop_assert_eq!(parsed.shown(), pattern.shown().period(date), "{} of {}", text, pattern);
        prop_assert_eq!(parsed.scope(), scope.as_deref(), "{} of {}", text, pattern);
    }

    #[test]
    fn two_numbers_never_have_one_text(
        pattern in patterns(),
        one in (dates(), scopes(), numbers()),
        other in (dates(), scopes(), numbers()),
        is_same in any::<[bool; 3]>(),
    ) {
        // Mostly they differ in little.
        let other = (
            if is_same[0] { one.0 } else { other.0 },
            if is_same[1] { one.1.clone() } else { other.1 },
            if is_same[2] { one.2 } else { other.2 },
        );
        let (one, other) = (fitting(&pattern, one), fitting(&pattern, other));
        let meaning = |unit: Unit, (date, scope, number): &Parts| {
            (unit.period(*date), scope.clone(), *number)
        };
        let is_one_text = written(&pattern, &one) == written(&pattern, &other);
        let is_same = |unit| meaning(unit, &one) == meaning(unit, &other);
        prop_assert_eq!(
            is_one_text, is_same(pattern.shown()),
            "{:?} and {:?} of {}", one, other, pattern
        );
        prop_assert!(
            !is_one_text || is_same(pattern.unit()),
            "{:?} and {:?} of {}, anew each {:?}", one, other, pattern, pattern.unit()
        );
    }

    #[test]
    fn what_is_read_is_written_as_it_was(
        pattern in patterns(),
        parts in (dates(), scopes(), numbers()),
        edits in prop::collection::vec(edits(), 1..4),
    ) {
        let text = written(&pattern, &fitting(&pattern, parts));
        let text = edits.into_iter().fold(text, |text, change| {
            if text.is_empty() { text } else { edit(&text, change) }
        });
        if let Ok(parsed) = pattern.parse(&text) {
            let first = parsed.shown().first().filter(|first| pattern.dates().contains(first));
            // A fiscal year may begin before the first date that can be shown.
            let date = first.unwrap_or(*pattern.dates().start());
            prop_assert_eq!(pattern.shown().period(date), parsed.shown());
            prop_assert_eq!(pattern.unit().period(date), parsed.period());
            let again = pattern.format(date, parsed.scope(), parsed.value());
            prop_assert_eq!(again.as_deref(), Ok(&*text), "{}", pattern);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(
        pattern in patterns(),
        text in "\\PC{0,20}",
        wild in wild(),
    ) {
        if let Err(error) = pattern.parse(&text) {
            prop_assert!(text.is_char_boundary(error.at()));
        }
        for text in [text, wild] {
            match text.parse::<Pattern>() {
                Ok(pattern) => prop_assert_eq!(pattern.to_string(), text),
                Err(error) => prop_assert!(text.is_char_boundary(error.at())),
            }
        }
    }
}
