//! What a series is, and what is refused when it is created.

use std::process::Command;
use std::{env, fs};

use uidring::series::{SeriesDefinition, Unit};

fn definition(pattern: &str) -> SeriesDefinition {
    SeriesDefinition::new(pattern).unwrap()
}

fn refused(definition: &SeriesDefinition) -> String {
    definition.check().unwrap_err().to_string()
}

#[test]
fn what_is_not_set_is_as_documented() {
    let orders = definition("SO{yyyy}{MM}{dd}-{n:6}");
    assert_eq!(orders.check(), Ok(()));
    assert_eq!(orders.pattern().to_string(), "SO{yyyy}{MM}{dd}-{n:6}");
    assert_eq!((orders.time_zone_name(), orders.is_gapless()), ("UTC", false));
    assert_eq!((orders.step_size(), orders.first_number()), (100, 1));
    assert_eq!(orders.fiscal_first_day(), None);
    assert_eq!((orders.pattern().shown(), orders.pattern().unit()), (Unit::Day, Unit::Day));
}

#[test]
fn what_is_set_is_told() {
    let invoices = definition("{fy}-{n:5}")
        .time_zone("Asia/Shanghai")
        .gapless()
        .fiscal_year_from(4, 6)
        .step(10)
        .first(1001);
    assert_eq!(invoices.check(), Ok(()));
    assert_eq!((invoices.time_zone_name(), invoices.is_gapless()), ("Asia/Shanghai", true));
    assert_eq!((invoices.step_size(), invoices.first_number()), (10, 1001));
    assert_eq!(invoices.fiscal_first_day(), Some((4, 6)));
    assert_eq!(invoices, invoices.clone());
    assert_ne!(invoices, invoices.clone().fiscal_year_from(4, 5));
    assert_ne!(invoices, invoices.clone().restart(Unit::Ever));
}

#[test]
fn a_bad_pattern_is_told_with_the_place() {
    let error = SeriesDefinition::new("{ww}-{n:4}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "at byte 0 of the pattern: {ww} needs the year of the week: add {GGGG}"
    );
}

#[test]
fn values_out_of_range_are_refused() {
    let orders = definition("{n:3}");
    assert_eq!(
        refused(&orders.clone().step(0)),
        "a process cannot take 0 numbers at once: use 1 to 1000000000"
    );
    assert_eq!(
        refused(&orders.clone().step(1_000_000_001)),
        "a process cannot take 1000000001 numbers at once: use 1 to 1000000000"
    );
    for first in [0, 1000, u64::MAX] {
        assert_eq!(
            refused(&orders.clone().first(first)),
            format!("the first number cannot be {first}: use 1 to 999")
        );
    }
    assert_eq!(orders.step(1_000_000_000).first(999).check(), Ok(()));
}

#[test]
fn a_fiscal_year_needs_its_first_day_and_its_field() {
    assert_eq!(
        refused(&definition("{fy}-{n:3}")),
        "nothing says when a fiscal year begins: set fiscal_year_from to its first day, such as \
         04-06"
    );
    assert_eq!(
        refused(&definition("{yyyy}-{n:3}").fiscal_year_from(4, 1)),
        "fiscal_year_from is set, and nothing goes by fiscal years: use {fy}, or restart with the \
         fiscal year, or do not set it"
    );
    for (month, day) in [(0, 1), (13, 1), (255, 255), (4, 0), (4, 31), (2, 30)] {
        assert_eq!(
            refused(&definition("{fy}-{n:3}").fiscal_year_from(month, day)),
            format!(
                "a fiscal year cannot begin on {month:02}-{day:02}, as there is no such day: name \
                 the month and the day, such as 04-06"
            )
        );
    }
    assert_eq!(
        refused(&definition("{fy}-{n:3}").fiscal_year_from(2, 29)),
        "a fiscal year cannot begin on 02-29, as most years have no such day: use 02-28 or 03-01"
    );
    for month in 1..=12 {
        assert_eq!(definition("{fy}{MM}-{n:3}").fiscal_year_from(month, 1).check(), Ok(()));
        assert_eq!(definition("{fy}{MM}{dd}-{n:3}").fiscal_year_from(month, 28).check(), Ok(()));
    }
}

/// British fiscal years.
const FROM_6_APRIL: Unit = Unit::FiscalYear { first_month: 4, first_day: 6 };
const FROM_APRIL: Unit = Unit::FiscalYear { first_month: 4, first_day: 1 };

#[test]
fn a_number_may_begin_anew_with_what_the_shown_period_lies_in() {
    for (pattern, unit) in [
        ("{yy}{MM}-{n:4}", Unit::Quarter),
        ("{yy}{MM}-{n:4}", Unit::Year),
        ("{yy}{MM}-{n:4}", FROM_APRIL),
        ("{yyyy}{MM}{dd}-{n:4}", Unit::Week),
        ("{yyyy}{MM}{dd}-{n:4}", FROM_6_APRIL),
        ("{fy}{MM}{dd}-{n:4}", FROM_6_APRIL),
        ("{yyyy}{q}-{n:4}", FROM_APRIL),
        ("{yyyy}-{n:4}", Unit::Ever),
        ("{GGGG}W{ww}-{n:4}", Unit::Ever),
        ("{n:4}", Unit::Ever),
    ] {
        let definition = definition(pattern).restart(unit);
        assert_eq!(definition.check(), Ok(()), "{pattern} {unit:?}");
        assert_eq!(definition.pattern().unit(), unit, "{pattern}");
    }
    // The same, whatever is said first.
    let one = definition("{fy}{MM}{dd}-{n}").restart(Unit::Year).fiscal_year_from(4, 6);
    assert_eq!(one, definition("{fy}{MM}{dd}-{n}").fiscal_year_from(4, 6).restart(Unit::Year));
    let one = definition("{fy}{MM}{dd}-{n}").restart(FROM_APRIL).fiscal_year_from(4, 6);
    assert_eq!(one, definition("{fy}{MM}{dd}-{n}").restart(FROM_6_APRIL));
}

#[test]
fn where_two_numbers_could_have_one_text_is_told_with_the_place() {
    let year_of_weeks = "a fiscal year of 52 or 53 weeks begins on another day each year, so no \
                         field and no counter knows it: let the program name the year, as the \
                         {scope}, or show {dd} and {MM} in place of the week";
    let week_of_two_years = format!(
        "a week can lie in two years, in each of which the number begins anew, so two numbers \
         would have one text; {year_of_weeks}"
    );
    for (pattern, unit, at, reason) in [
        (
            "{yyyy}-{n:4}",
            Unit::Month,
            0,
            "the number begins anew with each month, and {yyyy} does not say which one it is, so \
             two numbers would have one text: show it by {yyyy}{MM}",
        ),
        (
            "A{n:4}",
            Unit::Year,
            1,
            "the number begins anew with each year, and nothing says which one it is, so two \
             numbers would have one text: add {yyyy}",
        ),
        (
            "A{n:4}",
            FROM_6_APRIL,
            1,
            "the number begins anew with each fiscal year from 04-06 on, and nothing says which \
             one it is, so two numbers would have one text: add {fy}",
        ),
        (
            "{yyyy}{MM}-{n:4}",
            FROM_6_APRIL,
            6,
            "the month of {MM} can lie in two of those with which the number begins anew, each \
             fiscal year from 04-06 on, so two numbers would have one text: show {yyyy}{MM}{dd} in \
             place of it",
        ),
        (
            "{yyyy}-{n:4}",
            FROM_APRIL,
            0,
            "the year of {yyyy} can lie in two of those with which the number begins anew, each \
             fiscal year from 04-01 on, so two numbers would have one text: show {fy} in place of \
             it",
        ),
        (
            "{fy}{MM}-{n:4}",
            FROM_6_APRIL,
            0,
            "a fiscal year that begins on 04-06 changes within a month, so two months would have \
             one text: add {dd}, or leave out {MM}",
        ),
        ("{GGGG}W{ww}-{n:4}", Unit::Year, 7, &week_of_two_years),
        ("{GGGG}W{ww}-{n:4}", FROM_6_APRIL, 7, &week_of_two_years),
    ] {
        let error = refused(&definition(pattern).restart(unit));
        assert_eq!(error, format!("at byte {at} of the pattern: {reason}"), "{pattern}");
    }
    for (pattern, at) in [("{fy}W{ww}-{n:4}", 5), ("{fy}/{GGGG}W{ww}-{n:4}", 5)] {
        let error = SeriesDefinition::new(pattern).unwrap_err();
        assert_eq!((error.at(), error.reason()), (at, year_of_weeks), "{pattern}");
    }
}

#[test]
fn the_rest_cannot_begin_anew_so() {
    for (pattern, unit) in [
        ("{yyyy}{q}-{n:4}", Unit::FiscalYear { first_month: 2, first_day: 1 }),
        ("{yyyy}{q}-{n:4}", Unit::Month),
        ("{yyyy}{MM}-{n:4}", Unit::Week),
        ("{yyyy}{MM}-{n:4}", Unit::Day),
        ("{GGGG}{ww}-{n:4}", Unit::Month),
        ("{GGGG}{ww}-{n:4}", Unit::Day),
        ("{fy}-{n:4}", Unit::Year),
        ("{fye}-{n:4}", Unit::Quarter),
    ] {
        let mut definition = definition(pattern).restart(unit);
        if pattern.contains("{fy") {
            definition = definition.fiscal_year_from(4, 1);
        }
        let error = refused(&definition);
        assert!(error.contains("would have one text"), "{pattern} {unit:?}: {error}");
    }
}

#[test]
fn units_have_names() {
    for name in ["day", "week", "month", "quarter", "year", "fiscal-year", "never"] {
        let unit = Unit::from_name(name, Some((4, 6))).unwrap();
        assert_eq!(unit.name(), name);
    }
    assert_eq!(
        Unit::from_name("yearly", None).unwrap_err().to_string(),
        "a number cannot begin anew with \"yearly\": use day, week, month, quarter, year, \
         fiscal-year or never"
    );
    let error = Unit::from_name("fiscal-year", None).unwrap_err().to_string();
    assert!(error.starts_with("nothing says when a fiscal year begins"), "{error}");
}

#[test]
fn only_zones_that_all_machines_have_are_known() {
    for name in ["UTC", "Asia/Shanghai", "asia/shanghai", "Etc/GMT+5", "US/Eastern", "EST5EDT"] {
        assert_eq!(definition("{n}").time_zone(name).check(), Ok(()), "{name}");
    }
    for name in [
        "",
        "Asia",
        "Asia/",
        "Mars/Olympus",
        "Etc/Unknown",
        "localtime",
        "posixrules",
        "posix/Europe/Berlin",
        "right/Europe/Berlin",
        "../../etc/localtime",
        "/usr/share/zoneinfo/Europe/Berlin",
        "CET-1CEST",
        "UTC\0",
    ] {
        let error = refused(&definition("{n}").time_zone(name));
        assert!(error.starts_with(&format!("there is no time zone {name:?}: ")), "{error}");
    }
    assert_eq!(
        refused(&definition("{n}").time_zone("Europe/Berln")),
        "there is no time zone \"Europe/Berln\": did you mean \"Europe/Berlin\"?"
    );
    assert_eq!(
        refused(&definition("{n}").time_zone("Mars/Olympus")),
        "there is no time zone \"Mars/Olympus\": use a name like \"Europe/Berlin\" or \"UTC\""
    );
}

/// A zone whose clocks never change, in the format of RFC 9636.
fn zone_file() -> Vec<u8> {
    let counts = [0, 0, 0, 0, 1, 4].map(u32::to_be_bytes).concat();
    let offset = 3600_i32.to_be_bytes();
    [b"TZif".as_slice(), &[0; 16], &counts, &offset, &[0, 0], b"ABC\0"].concat()
}

#[test]
fn zones_come_from_the_system_and_those_that_it_lacks_from_the_library() {
    const NAME: &str =
        "definitions::zones_come_from_the_system_and_those_that_it_lacks_from_the_library";
    const ZONES: &str = "UIDRING_TEST_ZONES";
    // The database is found once in a process.
    if let Ok(zones) = env::var(ZONES) {
        for zone in zones.split(' ') {
            assert_eq!(definition("{n}").time_zone(zone).check(), Ok(()), "{zone}");
        }
        return;
    }
    let (empty, some) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(some.path().join("Test")).unwrap();
    fs::write(some.path().join("Test/Zone"), zone_file()).unwrap();
    for (system, zones) in
        [(&empty, "Asia/Shanghai US/Eastern UTC"), (&some, "Test/Zone Asia/Shanghai US/Eastern")]
    {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]);
        let output = command.env("TZDIR", system.path()).env(ZONES, zones).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed"), "{text}");
    }
}
