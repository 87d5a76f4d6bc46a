//! Which patterns there are, and which are refused, with the place and the reason.

use uidring::series::{Pattern, SeriesDefinition, Unit};

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Each of these is refused at that byte, for a reason with those words in it.
fn assert_refused(patterns: &[(&str, usize, &str)]) {
    for &(text, at, reason) in patterns {
        let error = text.parse::<Pattern>().expect_err(text);
        assert!(error.reason().contains(reason), "{text}: {error}");
        assert_eq!(error.at(), at, "{text}: {error}");
        assert_eq!(error.to_string(), format!("at byte {at} of the pattern: {}", error.reason()));
    }
}

#[test]
fn the_fields_say_when_a_series_begins_anew() {
    for (text, unit) in [
        ("{n}", Unit::Ever),
        ("K-{n:8}", Unit::Ever),
        ("SO{yyyy}{MM}{dd}-{n:6}", Unit::Day),
        ("{yy}{DDD}{n:4}", Unit::Day),
        ("{fy}/{MM}{dd}/{n:4}", Unit::Day),
        ("{GGGG}-W{ww}-{n:4}", Unit::Week),
        ("{yyyy}{MM}{n:4}", Unit::Month),
        ("{fy}-{MM}-{n:4}", Unit::Month),
        ("{yyyy}Q{q}-{n:4}", Unit::Quarter),
        ("{yy}-{n:4}", Unit::Year),
        ("{fy}-{n:4}", Unit::FiscalYear { first_month: 1, first_day: 1 }),
        ("{fye:yy}-{n:4}", Unit::FiscalYear { first_month: 1, first_day: 1 }),
        ("INV/{fy:yy-yy}/{n:4}", Unit::FiscalYear { first_month: 1, first_day: 1 }),
        ("{fy:yyyy-yy}/{MM}/{n:4}", Unit::Month),
    ] {
        assert_eq!(pattern(text).unit(), unit, "{text}");
    }
}

#[test]
fn fields_that_say_the_same_date_may_stand_together() {
    for (text, unit) in [
        ("{yyyy}{MM}{dd}/{DDD}/{GGGG}{ww}/{q}/{yy}/{fy}/{n:4}", Unit::Day),
        ("{fy}{yyyy}{MM}{n:4}", Unit::Month),
        ("{yyyy}Q{q}M{MM}-{n:4}", Unit::Month),
        ("{yyyy}{yy}-{n:4}", Unit::Year),
        ("{yyyy}{dd}{DDD}-{n:4}", Unit::Day),
    ] {
        assert_eq!(pattern(text).unit(), unit, "{text}");
    }
}

#[test]
fn a_pattern_tells_what_fits() {
    let six = pattern("{scope}/{n:6}");
    assert_eq!((six.largest(), six.width(), six.has_scope()), (999_999, Some(6), true));
    let any = pattern("A-{n}");
    assert_eq!((any.largest(), any.width(), any.has_scope()), (i64::MAX as u64, None, false));
    let least = pattern("A-{n:4+}");
    assert_eq!((least.largest(), least.width()), (any.largest(), None));
    assert_eq!(pattern("{n:18}").largest(), 999_999_999_999_999_999);
    assert_eq!(pattern("{n:1}").largest(), 9);
    let dates = |text| {
        let dates = pattern(text).dates();
        (dates.start().to_string(), dates.end().to_string())
    };
    assert_eq!(dates("{yyyy}-{n}"), ("0001-01-01".into(), "9999-12-31".into()));
    assert_eq!(dates("{yy}-{n}"), ("2000-01-01".into(), "2099-12-31".into()));
    let fiscal = |text: &str, month| {
        let definition = SeriesDefinition::new(text).unwrap().fiscal_year_from(month, 1);
        let dates = definition.pattern().dates();
        (dates.start().to_string(), dates.end().to_string())
    };
    for (text, month, first, last) in [
        ("{fy}-{n}", 4, "0001-01-01", "9999-12-31"),
        ("{fy:yy}-{n}", 4, "2000-04-01", "2099-12-31"),
        ("{fye}-{n}", 4, "0001-01-01", "9999-03-31"),
        ("{fye}-{n}", 1, "0001-01-01", "9999-12-31"),
        ("{fy:yy-yy}-{n}", 4, "2000-04-01", "2099-03-31"),
        ("{fy:yy-yy}-{n}", 1, "2000-01-01", "2099-12-31"),
    ] {
        assert_eq!(fiscal(text, month), (first.to_owned(), last.to_owned()), "{text} {month}");
    }
}

#[test]
fn a_pattern_shows_the_text_that_it_was_made_from() {
    for text in ["SO{yyyy}{MM}{dd}-{n:6}", "{{{n}}}", "a }}{{{{ {n:1}{check:mod97_10}"] {
        assert_eq!(pattern(text).to_string(), text);
        assert_eq!(format!("{:?}", pattern(text)), format!("Pattern({text:?})"));
        assert_eq!(pattern(text), pattern(text));
    }
    assert_ne!(pattern("{n:1}"), pattern("{n:2}"));
}

#[test]
fn a_week_or_a_part_of_a_year_needs_its_year() {
    assert_refused(&[
        ("{ww}-{n:4}", 0, "{ww} needs the year of the week: add {GGGG}"),
        ("{yyyy}-{ww}-{n:4}", 7, "{ww} needs the year of the week: add {GGGG}"),
        ("{GGGG}-{n:4}", 0, "{GGGG} is the year of a week: add {ww}, or use {yyyy} for the year"),
        ("{MM}-{n:4}", 0, "{MM} needs the year: add {yyyy}, {yy} or {fy}"),
        ("Q{q}-{n:4}", 1, "{q} needs the calendar year: add {yyyy} or {yy}"),
        ("{fy}Q{q}-{n:4}", 5, "{q} needs the calendar year"),
        ("{DDD}-{n:4}", 0, "{DDD} needs the year: add {yyyy} or {yy}"),
        ("{fy}{DDD}-{n:4}", 4, "{DDD} needs the year"),
        ("{dd}-{n:4}", 0, "{dd} needs the month and the year"),
        ("{yyyy}{dd}-{n:4}", 6, "{dd} needs the month and the year"),
        ("{MM}{dd}-{n:4}", 0, "{MM} needs the year"),
        ("{dd}.{MM}.-{n:4}", 0, "{dd} needs the month and the year"),
        ("{GGGG}{ww}{dd}-{n:4}", 10, "{dd} needs the month and the year"),
        ("{yyyy}{MM}{dd}{ww}-{n:4}", 14, "{ww} needs the year of the week"),
    ]);
}

#[test]
fn a_field_that_changes_within_the_period_is_refused() {
    assert_refused(&[
        ("{yyyy}-{GGGG}W{ww}-{n:4}", 0, "{yyyy} changes within a week"),
        ("{GGGG}W{ww}-{yy}-{n:4}", 12, "{yy} changes within a week"),
        ("{GGGG}W{ww}{yyyy}{MM}-{n:4}", 11, "{yyyy} changes within a week"),
        ("{fy}{GGGG}W{ww}-{n:4}", 4, "a fiscal year of 52 or 53 weeks begins on another day"),
        ("{yyyy}{fy}-{n:4}", 6, "{fy} changes within a year"),
        ("{yyyy}{q}{fy}-{n:4}", 9, "{fy} changes within a quarter"),
    ]);
}

#[test]
fn a_number_without_a_width_touches_no_digit() {
    let reason = "{n} has as many digits as it needs, so nobody can tell where it ends beside";
    assert_refused(&[
        ("{yy}{n}", 4, &format!("{reason} a field")),
        ("{n}{yy}", 0, reason),
        ("{n}0", 0, &format!("{reason} the digit 0")),
        ("A7{n}", 2, &format!("{reason} the digit 7")),
        ("{scope}{n}", 7, reason),
        ("{n}{scope}", 0, reason),
        ("{n}{check:luhn}5", 0, reason),
        ("{yy}{n:4+}", 4, reason),
        ("{n:4+}7", 0, reason),
    ]);
    for text in ["{n}", "A{n}B", "{yy}-{n}", "{n}{check:luhn}", "{n}{check:damm}-5", "{n}/{yy}"] {
        assert_eq!(pattern(text).width(), None, "{text}");
    }
}

#[test]
fn a_scope_touches_nothing_that_may_be_a_part_of_it() {
    let reason = "a scope can have letters and digits, so nobody can tell where it ends beside";
    assert_refused(&[
        ("{scope}{n:4}", 0, &format!("{reason} a field")),
        ("{n:4}{scope}", 5, reason),
        ("{yyyy}{scope}/{n:4}", 6, reason),
        ("{n:4}-{scope}{check:damm}", 6, reason),
        ("S{scope}-{n:4}", 1, &format!("{reason} 'S'")),
        ("{scope}7-{n:4}", 0, &format!("{reason} '7'")),
    ]);
    for text in ["{scope}-{n:4}", "{scope}-{n}", "{n}-{scope}", "A-{scope}.{n}", "({scope})({n})"] {
        assert!(pattern(text).has_scope(), "{text}");
    }
}

#[test]
fn each_thing_is_there_once() {
    assert_refused(&[
        ("{n:3}{n:3}", 5, "there is {n} at byte 0 already: leave this one out"),
        ("{n}-{n:3}", 4, "there is {n} at byte 0 already"),
        ("{scope}-{scope}-{n}", 8, "there is {scope} at byte 0 already"),
        ("{n}{check:luhn}{check:damm}", 15, "there is a check at byte 3 already"),
        ("{yyyy}{yyyy}-{n}", 6, "there is {yyyy} at byte 0 already"),
        ("SO-{yyyy}", 9, "a pattern needs a number: add {n:6}"),
        ("SO", 2, "a pattern needs a number"),
    ]);
}

#[test]
fn a_check_protects_all_fields() {
    assert_refused(&[
        ("{check:luhn}-{n:4}", 13, "would not protect this field"),
        ("{n:4}{check:luhn}-{yyyy}", 18, "would not protect this field"),
        ("{n:4}{check:luhn}-{scope}", 18, "would not protect this field"),
    ]);
    for text in ["{n:4}{check:luhn}", "{n:4}-{check:damm}/A", "{scope}-{n}-{check:mod97_10}"] {
        pattern(text);
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let long = "-".repeat(125) + "{n}";
    assert_eq!(pattern(&long).to_string(), long);
    assert_refused(&[
        ("", 0, "a pattern cannot be empty"),
        (&format!("{long}-"), 128, "a pattern cannot have 129 characters: it has at most 128"),
        ("a\n{n}", 1, "a pattern cannot have '\\n': it cannot be printed, or is not seen"),
        ("{n}\u{7f}", 3, "a pattern cannot have '\\u{7f}'"),
        (" {n}", 0, "cannot begin or end with a space"),
        ("{n} ", 3, "cannot begin or end with a space"),
        ("{n", 0, "this brace is not closed"),
        ("{n}}", 3, "this brace closes nothing"),
        ("a}{n}", 1, "this brace closes nothing"),
        ("{n:0}", 0, "\"0\" is not the width of a number: use 1 to 18, without a zero in front"),
        ("{n:19}", 0, "\"19\" is not the width of a number"),
        ("{n:06}", 0, "\"06\" is not the width of a number"),
        ("{n:}", 0, "\"\" is not the width of a number"),
        ("{n:+6}", 0, "\"+6\" is not the width of a number"),
        ("{n:6++}", 0, "\"6++\" is not the width of a number"),
        ("{n:+}", 0, "\"+\" is not the width of a number"),
        ("{n:19+}", 0, "\"19+\" is not the width of a number"),
        ("{n:1+}", 0, "each number has at least one digit: write {n}"),
        ("{n:99999999999}", 0, "\"99999999999\" is not the width of a number"),
        (
            "{}{n}",
            0,
            "there is no field {}: there are {n} {n:6} {n:4+} {scope} {check:damm} {yyyy} {yy} ",
        ),
        ("{yyyy:4}{n}", 0, "{yyyy} has a width of its own: leave out \":4\""),
        ("{scope:4}-{n}", 0, "{scope} is as long as the scope: leave out \":4\""),
        ("{fy:yyyy}-{n}", 0, "a fiscal year is not written {fy:yyyy}: there are {fy} {fy:yy} "),
        (
            "A{fye:yy-yy}-{n}",
            1,
            "a fiscal year is not written {fye:yy-yy}: there are {fy} {fy:yy} ",
        ),
        ("{fy}{fy:yyyy-yy}-{n}", 4, "there is {fy} at byte 0 already"),
        ("{n}{check}", 3, "there is no check \"\": there are luhn, damm, mod11_10, mod97_10"),
        ("{n}{check:crc}", 3, "there is no check \"crc\": there are luhn, damm"),
        (
            "{n}{check:damm:m}",
            3,
            "a check cannot be over \"m\": write {check:damm} for all that is",
        ),
        ("RF{check:iso11649:n}{n}", 2, "iso11649 is computed over all that is behind it"),
    ]);
}

#[test]
fn a_character_that_could_be_taken_for_another_is_refused() {
    let second = "this text has a second spelling";
    assert_refused(&[
        ("A\u{a0}{n}", 1, "a pattern cannot have '\\u{a0}': it cannot be printed, or is not seen"),
        ("A\u{200b}{n}", 1, "is not seen"),
        ("A\u{ad}{n}", 1, "is not seen"),
        ("A\u{fe0f}{n}", 1, "is not seen"),
        ("A\u{3164}{n}", 1, "is not seen"),
        ("A\u{e000}{n}", 1, "is not seen"),
        ("A\u{202e}{n}", 1, "is not seen"),
        ("٤{n}", 0, "it looks like a number: use the digits 0 to 9"),
        ("N²-{n}", 1, "it looks like a number"),
        ("Ⅳ-{n}", 0, "it looks like a number"),
        ("Ａ{n}", 0, "it looks like 'A': write that one"),
        ("A–{n}", 1, "it looks like '-': write that one"),
        ("A−{n}", 1, "it looks like '-'"),
        ("A\u{37e}{n}", 1, "it looks like ';'"),
        ("فاتورة-{n}", 0, "it is written from right to left"),
        ("Re\u{301}-{n}", 1, second),
        ("\u{212b}{n}", 0, second),
        ("{n}\u{301}", 3, "'\\u{301}' is a mark on the character before it"),
        ("订单{scope}-{n}", 6, "nobody can tell where it ends beside '单'"),
    ]);
    let first = "订单".to_owned() + &"é".repeat(123) + "{n}";
    assert_eq!(pattern(&first).to_string(), first);
    let error = (first + "é").parse::<Pattern>().unwrap_err();
    assert_eq!(error.reason(), "a pattern cannot have 129 characters: it has at most 128");
}

#[test]
fn a_reference_of_creditors_begins_with_its_check() {
    let begins = "a reference of ISO 11649 begins with RF and the check";
    let long = "has at most 21 digits and letters behind the check";
    assert_refused(&[
        ("{check:iso11649}{n:9}", 0, begins),
        ("R{check:iso11649}{n:9}", 1, begins),
        ("{yyyy}RF{check:iso11649}{n:9}", 8, begins),
        ("{n:9}{check:iso11649}", 5, begins),
        ("RF{check:iso11649}-{scope}-{n:9}", 19, "a scope can have more"),
        ("RF{check:iso11649}{yyyy}{n:18}", 2, &format!("{long}, and this one can have 22")),
        ("RF{check:iso11649}AB-C{n}", 2, long),
        ("{check:damm:n}-{n:4}", 15, "a check of the number stands behind it"),
    ]);
    for text in ["RF{check:iso11649}{n}", "Ref. RF{check:iso11649} A-{yyyy}-{n:16}"] {
        assert_eq!(pattern(text).to_string(), text);
    }
}

#[test]
fn an_unknown_field_may_be_a_known_one() {
    for (written, meant) in [
        ("YYYY", "yyyy"),
        ("mm", "MM"),
        ("DD", "dd"),
        ("scop", "scope"),
        ("N", "n"),
        ("chek:damm", "check:damm"),
        ("gggg", "GGGG"),
    ] {
        let error = format!("{{{written}}}-{{n}}").parse::<Pattern>().unwrap_err();
        let expected = format!("there is no field {{{written}}}: did you mean {{{meant}}}?");
        assert_eq!(error.reason(), expected);
    }
}
