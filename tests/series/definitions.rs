//! What a series is, and what is refused when it is created.

use std::process::Command;
use std::{env, fs};

use uidring::series::SeriesDefinition;

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
    assert_eq!(orders.fiscal_first_month(), None);
}

#[test]
fn what_is_set_is_told() {
    let invoices = definition("{fy}-{n:5}")
        .time_zone("Asia/Shanghai")
        .gapless()
        .fiscal_year(4)
        .step(10)
        .first(1001);
    assert_eq!(invoices.check(), Ok(()));
    assert_eq!((invoices.time_zone_name(), invoices.is_gapless()), ("Asia/Shanghai", true));
    assert_eq!((invoices.step_size(), invoices.first_number()), (10, 1001));
    assert_eq!(invoices.fiscal_first_month(), Some(4));
    assert_eq!(invoices, invoices.clone());
    assert_ne!(invoices, invoices.clone().fiscal_year(5));
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
fn a_fiscal_year_needs_its_month_and_its_field() {
    assert_eq!(
        refused(&definition("{fy}-{n:3}")),
        "the pattern has {fy}, and nothing says when a fiscal year begins: set fiscal_year to the \
         first month, 1 to 12"
    );
    assert_eq!(
        refused(&definition("{yyyy}-{n:3}").fiscal_year(4)),
        "fiscal_year is set, and the pattern has no {fy}: use {fy}, or do not set it"
    );
    for month in [0, 13, 255] {
        assert_eq!(
            refused(&definition("{fy}-{n:3}").fiscal_year(month)),
            format!("a fiscal year cannot begin with month {month}: use 1 to 12")
        );
    }
    for month in 1..=12 {
        assert_eq!(definition("{fy}{MM}-{n:3}").fiscal_year(month).check(), Ok(()));
    }
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
