//! The texts of numbers, and what is not one.

use uidring::series::{FormatError, Parsed, Pattern, ScopeError, SeriesDefinition, valid_scope};

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap()
}

fn told(parsed: &Parsed) -> (String, Option<&str>, u64) {
    (parsed.period().to_string(), parsed.scope(), parsed.value())
}

#[test]
fn a_number_is_written_and_read_back() {
    for (text, date, scope, number, expected, period) in [
        ("SO{yyyy}{MM}{dd}-{n:6}", "2026-11-24", None, 42, "SO20261124-000042", "2026-11-24"),
        ("{yyyy}-{n:5}{check:damm}", "2026-11-24", None, 42, "2026-000425", "2026"),
        ("{yy}{DDD}{n:3}", "2028-12-31", None, 7, "28366007", "2028-12-31"),
        ("{GGGG}W{ww}/{n}", "2027-01-01", None, 1, "2026W53/1", "2026-W53"),
        ("{yyyy}Q{q}.{n:2}", "2026-11-24", None, 99, "2026Q4.99", "2026-Q4"),
        ("{fy}-{n:2}", "2026-11-24", None, 1, "2026-01", "FY2026-01"),
        ("{scope}-{n}", "2026-11-24", Some("a-1"), 2, "a-1-2", "ever"),
        ("{n}-{scope}", "2026-11-24", Some("1-a"), 2, "2-1-a", "ever"),
        ("{{{n}}}", "2026-11-24", None, 0, "{0}", "ever"),
        ("{n}", "2026-11-24", None, i64::MAX as u64, "9223372036854775807", "ever"),
        ("{n:18}", "2026-11-24", None, 10_u64.pow(18) - 1, "999999999999999999", "ever"),
        ("C-{n:4+}", "2026-11-24", None, 42, "C-0042", "ever"),
        ("C-{n:4+}", "2026-11-24", None, 0, "C-0000", "ever"),
        ("C-{n:4+}", "2026-11-24", None, 10_000, "C-10000", "ever"),
        ("{n:4+}{check:damm}", "2026-11-24", None, 57, "00577", "ever"),
        ("{n:18+}", "2026-11-24", None, i64::MAX as u64, "9223372036854775807", "ever"),
        ("订单-{yyyy}-{n:4}号", "2026-11-24", None, 7, "订单-2026-0007号", "2026"),
        ("ΤΠΥ {n}", "2026-11-24", None, 7, "ΤΠΥ 7", "ever"),
        ("№{n}/{scope}", "2026-11-24", Some("a"), 7, "№7/a", "ever"),
    ] {
        let pattern = pattern(text);
        let written = pattern.format(date.parse().unwrap(), scope, number).unwrap();
        assert_eq!(written, expected, "{text}");
        let read = pattern.parse(expected).unwrap();
        assert_eq!(told(&read), (period.to_owned(), scope, number), "{text}");
    }
}

#[test]
fn check_digits_are_those_of_all_before_them() {
    let written =
        |text, scope| pattern(text).format("2026-11-24".parse().unwrap(), scope, 794).unwrap();
    // ISO 7064: 79444.
    assert_eq!(written("{n}{check:mod97_10}", None), "79444");
    assert_eq!(written("-{n}/{check:mod97_10}", None), "-794/44");
    // Letters count as numbers from 10 to 35, whatever their case, and other signs do not count.
    assert_eq!(written("{scope}/{n}{check:mod97_10}", Some("7.9_4-")), "7.9_4-/79473");
    let upper = written("{scope}/{n}{check:mod97_10}", Some("SHOP"));
    let lower = written("{scope}/{n}{check:mod97_10}", Some("shop"));
    assert_eq!(upper.to_lowercase(), lower);
    // Only digits count, literal ones, too.
    assert_eq!(written("{n}{check:luhn}", None), "7948");
    assert_eq!(written("A{n}-{check:luhn}-7", None), "A794-8-7");
    assert_ne!(written("1-{n}{check:luhn}", None), "1-7948");
    // Of the number alone, wherever it stands before.
    assert_eq!(written("1-{n}-{scope}-{check:luhn:n}", Some("a2")), "1-794-a2-8");
    assert_eq!(written("+++{n:10}{check:mod97}+++", None), "+++000000079418+++");
    assert_eq!(written("(00)106141411{n:8}{check:gs1}", None), "(00)106141411000007947");
    // In front of what it protects.
    assert_eq!(written("RF{check:iso11649}{n}", None), "RF03794");
    assert_eq!(written("RF{check:iso11649} A{n:4}", None), "RF95 A0794");
}

#[test]
fn a_fiscal_year_goes_by_the_calendar_year_in_which_it_begins() {
    let definition = SeriesDefinition::new("{fy}{MM}{dd}-{n:2}").unwrap().fiscal_year_from(10, 1);
    let pattern = definition.pattern();
    for (date, text) in [("2026-10-01", "20261001-01"), ("2027-09-30", "20260930-01")] {
        let date = date.parse().unwrap();
        assert_eq!(pattern.format(date, None, 1).unwrap(), text);
        assert_eq!(pattern.parse(text).unwrap().period().first(), Some(date));
    }
    for (text, date, number) in [
        ("INV/{fy:yy-yy}/{n:5}", "2026-04-01", "INV/26-27/00042"),
        ("INV/{fy:yy-yy}/{n:5}", "2027-03-31", "INV/26-27/00042"),
        ("{fy:yyyy-yy}/{n}", "2026-03-31", "2025-26/42"),
        ("{fy:yyyy-yyyy}/{n}", "2026-11-24", "2026-2027/42"),
        ("{fye}{MM}-{n}", "2026-11-24", "202711-42"),
        ("{fye:yy}-{n}", "2099-03-31", "99-42"),
        ("{fy:yy}-{n}", "2000-04-01", "00-42"),
    ] {
        let definition = SeriesDefinition::new(text).unwrap().fiscal_year_from(4, 1);
        let (pattern, date) = (definition.pattern(), date.parse().unwrap());
        assert_eq!(pattern.format(date, None, 42).unwrap(), number);
        assert_eq!(pattern.parse(number).unwrap().period(), pattern.unit().period(date), "{text}");
    }
    for (text, number, at, reason) in [
        (
            "{fy:yy-yy}/{n}",
            "26-28/42",
            3,
            "{fye:yy} cannot be 28: the other fields say another date",
        ),
        (
            "{fy:yy-yy}/{n}",
            "99-00/42",
            3,
            "{fye:yy} cannot be 00: the other fields say another date",
        ),
        ("{fye:yy}/{n}", "00/42", 0, "{fye:yy} cannot be 00: there is no such date"),
        ("{fye}/{n}", "0000/42", 0, "{fye} cannot be 0000: there is no such date"),
    ] {
        let definition = SeriesDefinition::new(text).unwrap().fiscal_year_from(4, 1);
        let error = definition.pattern().parse(number).expect_err(number);
        assert_eq!((error.at(), error.reason()), (at, reason), "{number} of {text}");
    }
    let definition = SeriesDefinition::new("{fy}-{n:2}").unwrap().fiscal_year_from(4, 1);
    let parsed = definition.pattern().parse("2026-07").unwrap();
    assert_eq!(parsed.period().to_string(), "FY2026-04");
}

#[test]
fn a_number_that_does_not_fit_is_not_written() {
    let date = "2026-11-24".parse().unwrap();
    let error = |text: &str, date, scope, number| {
        pattern(text).format(date, scope, number).unwrap_err().to_string()
    };
    assert_eq!(
        error("{n:3}", date, None, 1000),
        "the number 1000 does not fit the pattern: 999 is the largest"
    );
    assert_eq!(
        error("{n}", date, None, 1 << 63),
        "the number 9223372036854775808 does not fit the pattern: 9223372036854775807 is the \
         largest"
    );
    assert_eq!(
        error("{yy}-{n}", "2100-01-01".parse().unwrap(), None, 1),
        "the pattern cannot show the date 2100-01-01: it can show those from 2000-01-01 to \
         2099-12-31"
    );
    assert_eq!(
        error("{n}", "0000-12-31".parse().unwrap(), None, 1),
        "the pattern cannot show the date 0000-12-31: it can show those from 0001-01-01 to \
         9999-12-31"
    );
    assert_eq!(
        error("{scope}-{n}", date, None, 1),
        "the pattern has a {scope}, and no scope is given: give one"
    );
    assert_eq!(
        error("{n}", date, Some("a"), 1),
        "the pattern has no {scope} in which the scope \"a\" could be seen: give none"
    );
    let empty = pattern("{scope}-{n}").format(date, Some(""), 1).unwrap_err();
    assert_eq!(empty, FormatError::Scope(ScopeError::Empty));
}

#[test]
fn a_scope_has_1_to_64_characters_that_a_text_can_show() {
    for scope in ["a", "shop-7", "A_b.c-9", &"x".repeat(64)] {
        assert_eq!(valid_scope(scope), Ok(()));
    }
    for (scope, error) in [
        ("", "a scope cannot be empty: it has 1 to 64 characters"),
        (&"x".repeat(65), "a scope cannot have 65 characters: it has at most 64"),
        (
            "Köln",
            "the scope \"Köln\" has 'ö' at byte 1: use letters and digits of ASCII, '-', '_' and \
             '.'",
        ),
        (
            "a/b",
            "the scope \"a/b\" has '/' at byte 1: use letters and digits of ASCII, '-', '_' and \
             '.'",
        ),
    ] {
        assert_eq!(valid_scope(scope).unwrap_err().to_string(), error);
    }
}

#[test]
fn what_is_no_number_is_refused_with_the_place() {
    for (text, number, at, reason) in [
        ("SO{yyyy}-{n:3}", "", 0, "the text ends where 'S' is expected"),
        ("SO{yyyy}-{n:3}", "So2026-001", 1, "there is 'o' where 'O' is expected"),
        ("SO{yyyy}-{n:3}", "SO2O26-001", 3, "there is 'O' where a digit of {yyyy} is expected"),
        ("SO{yyyy}-{n:3}", "SO2026-01", 9, "the text ends where a digit of {n} is expected"),
        ("SO{yyyy}-{n:3}", "SO2026-0001", 10, "there is '1' where the end is expected"),
        ("SO{yyyy}-{n:3}", "SO2026-001é", 10, "there is 'é' where the end is expected"),
        ("SO{yyyy}-{n:3}", "SO٢٠٢٦-001", 2, "there is '٢' where a digit of {yyyy} is expected"),
        ("{n}", "", 0, "the text ends where a digit of {n} is expected"),
        ("{n}", "-1", 0, "there is '-' where a digit of {n} is expected"),
        ("{n}", "+1", 0, "there is '+' where a digit of {n} is expected"),
        ("{n}", "007", 0, "the number has a zero in front"),
        ("{n:4+}", "00123", 0, "the number has a zero in front and more than 4 digits"),
        ("{n:4+}", "123", 3, "the text ends where a digit of {n} is expected"),
        ("订单{n:2}", "订車01", 3, "there is '車' where '单' is expected"),
        ("RF{check:iso11649}{n}", "RF18539007547035", 2, "the check digits are wrong"),
        ("{n}", "00", 0, "the number has a zero in front"),
        ("{n}", "9223372036854775808", 0, "the number is above 2^63-1"),
        ("{n}", "99999999999999999999999", 0, "the number is above 2^63-1"),
        ("{yyyy}-{n}", "0000-1", 0, "{yyyy} cannot be 0000: there is no such date"),
        ("{yyyy}{MM}{dd}-{n}", "20260229-1", 6, "{dd} cannot be 29: there is no such date"),
        ("{yyyy}{MM}-{n}", "202613-1", 4, "{MM} cannot be 13: there is no such date"),
        ("{yyyy}{q}-{n}", "20265-1", 4, "{q} cannot be 5: there is no such date"),
        ("{yyyy}{q}-{n}", "20260-1", 4, "{q} cannot be 0: there is no such date"),
        ("{yyyy}{DDD}-{n}", "2026366-1", 4, "{DDD} cannot be 366: there is no such date"),
        ("{yyyy}{DDD}-{n}", "2026000-1", 4, "{DDD} cannot be 000: there is no such date"),
        ("{GGGG}{ww}-{n}", "202553-1", 4, "{ww} cannot be 53: there is no such date"),
        ("{GGGG}{ww}-{n}", "000001-1", 4, "{ww} cannot be 01: there is no such date"),
        ("{yyyy}{MM}{q}-{n}", "2026113-1", 6, "{q} cannot be 3: the other fields say another date"),
        ("{yyyy}{yy}-{n}", "202625-1", 4, "{yy} cannot be 25: the other fields say another date"),
        ("{yyyy}{yy}-{n}", "309090-1", 4, "{yy} cannot be 90: the other fields say another date"),
        ("{scope}/{n}", "/1", 0, "there is '/' where a character of the scope is expected"),
        ("{scope}/{n}", "a b/1", 1, "there is ' ' where a character of the scope is expected"),
        ("{n:2}{check:luhn}", "180", 2, "the check digit is wrong"),
        ("{n:2}{check:mod97_10}", "1800", 2, "the check digits are wrong"),
        ("{n:2}{check:luhn}", "18", 2, "the text ends where a digit of {check} is expected"),
    ] {
        let error = pattern(text).parse(number).expect_err(number);
        assert_eq!((error.at(), error.reason()), (at, reason), "{number} of {text}");
        assert_eq!(error.to_string(), format!("at byte {at} of the number: {reason}"));
    }
    let long = "x".repeat(65) + "/1";
    let error = pattern("{scope}/{n}").parse(&long).unwrap_err();
    assert_eq!(error.to_string(), "at byte 0 of the number: the scope has more than 64 characters");
}
