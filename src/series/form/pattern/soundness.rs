//! Which patterns can be read back, and why.
//!
//! A text is taken apart in one way only:
//!
//! * All items but `{scope}` and `{n}` without a width make as many bytes each time. If only one of
//!   these two is there, it has the bytes that are left.
//! * If both are there, all items on one side of `{n}` have fixed widths, so that one end of it is
//!   known. At the other end, [`number`] sees to it, is a literal, and not a digit of it. So `{n}`
//!   is all the digits from its known end on, and the scope has the bytes that are left.
//!
//! The parts say what the text was made from:
//!
//! * A number with a width has all its digits, and one without has no zeros in front.
//! * [`dates`] sees to it that the fields of a date name one period, and that each of them is the
//!   same on all days of it.
//! * A check depends on what is before it alone.

use super::super::error::PatternError;
use super::super::period::Unit;
use super::fields::Field;
use super::items::{Item, Placed};

/// Whether the pattern can be read back. Gives the unit of its periods.
pub fn check(items: &[Placed]) -> Result<Unit, PatternError> {
    once(items)?;
    number(items)?;
    scope(items)?;
    check_digits(items)?;
    dates(items)
}

/// Each thing is there once at most, and the number is.
fn once(items: &[Placed]) -> Result<(), PatternError> {
    for (index, placed) in items.iter().enumerate() {
        let is_same = |before: &&Placed| match (&before.item, &placed.item) {
            (Item::Literal(_), Item::Literal(_)) => false,
            (Item::Date(before), Item::Date(field)) => before == field,
            (before, item) => std::mem::discriminant(before) == std::mem::discriminant(item),
        };
        if let Some(before) = items[..index].iter().find(is_same) {
            let what = match placed.item {
                Item::Number { .. } => "{n}".to_owned(),
                Item::Check(_) => "a check".to_owned(),
                Item::Date(field) => format!("{{{}}}", field.name()),
                _ => "{scope}".to_owned(),
            };
            let reason =
                format!("there is {what} at byte {} already: leave this one out", before.at);
            return Err(PatternError::new(placed.at, reason));
        }
    }
    if find(items, |item| matches!(item, Item::Number { .. })).is_none() {
        let end = items.last().map_or(0, |last| last.end);
        return Err(PatternError::new(end, "a pattern needs a number: add {n:6}"));
    }
    Ok(())
}

/// The index of the first item of a kind.
fn find(items: &[Placed], is_it: impl Fn(&Item) -> bool) -> Option<usize> {
    items.iter().position(|placed| is_it(&placed.item))
}

/// The character of a literal that touches the item at `index`, before it and behind it.
///
/// `Ok(None)` is an end of the pattern, and an error is the place of a field.
fn touching(items: &[Placed], index: usize) -> [Result<Option<(char, usize)>, usize>; 2] {
    let before = index.checked_sub(1).map(|before| &items[before]);
    let before = before.map(|placed| match &placed.item {
        Item::Literal(text) => Ok(text.chars().next_back().map(|c| (c, placed.end - 1))),
        _ => Err(placed.at),
    });
    let behind = items.get(index + 1).map(|placed| match &placed.item {
        Item::Literal(text) => Ok(text.chars().next().map(|c| (c, placed.at))),
        _ => Err(placed.at),
    });
    [before.unwrap_or(Ok(None)), behind.unwrap_or(Ok(None))]
}

/// A number without a width touches nothing that may be a digit.
fn number(items: &[Placed]) -> Result<(), PatternError> {
    let Some(index) = find(items, |item| matches!(item, Item::Number { width: None })) else {
        return Ok(());
    };
    // The digits of a check are as many each time, and are read as the last ones.
    let is_checked = matches!(items.get(index + 1), Some(Placed { item: Item::Check(_), .. }));
    let [before, _] = touching(items, index);
    let [_, behind] = touching(items, if is_checked { index + 1 } else { index });
    for side in [before, behind] {
        let what = match side {
            Ok(Some((c, _))) if c.is_ascii_digit() => format!("the digit {c}"),
            Err(_) => "a field".to_owned(),
            Ok(_) => continue,
        };
        let reason = format!(
            "{{n}} has as many digits as it needs, so nobody can tell where it ends beside {what}: \
             give it a width, such as {{n:6}}, or put a sign such as - between"
        );
        return Err(PatternError::new(items[index].at, reason));
    }
    Ok(())
}

/// A scope touches nothing that may be a part of it to the eye.
fn scope(items: &[Placed]) -> Result<(), PatternError> {
    let Some(index) = find(items, |item| *item == Item::Scope) else { return Ok(()) };
    for side in touching(items, index) {
        let what = match side {
            Ok(Some((c, _))) if c.is_ascii_alphanumeric() => format!("{c:?}"),
            Err(_) => "a field".to_owned(),
            Ok(_) => continue,
        };
        let reason = format!(
            "a scope can have letters and digits, so nobody can tell where it ends beside {what}: \
             put a sign such as - or / between"
        );
        return Err(PatternError::new(items[index].at, reason));
    }
    Ok(())
}

/// A check comes after all that it protects.
fn check_digits(items: &[Placed]) -> Result<(), PatternError> {
    let Some(index) = find(items, |item| matches!(item, Item::Check(_))) else { return Ok(()) };
    let behind = items[index..].iter().skip(1);
    match behind.into_iter().find(|placed| !matches!(placed.item, Item::Literal(_))) {
        Some(field) => {
            let reason = "a check is computed over what is before it, and would not protect this \
                          field: put the check behind all fields";
            Err(PatternError::new(field.at, reason))
        }
        None => Ok(()),
    }
}

/// The fields of a date name a period, and belong to it.
fn dates(items: &[Placed]) -> Result<Unit, PatternError> {
    let place = |field: Field| find(items, |item| *item == Item::Date(field)).map(|i| items[i].at);
    let has = |fields: &[Field]| fields.iter().any(|&field| place(field).is_some());
    let years = [Field::Year, Field::ShortYear];
    let unit = if has(&[Field::Day, Field::DayOfYear]) {
        Unit::Day
    } else if has(&[Field::Week, Field::WeekYear]) {
        Unit::Week
    } else if has(&[Field::Month]) {
        Unit::Month
    } else if has(&[Field::Quarter]) {
        Unit::Quarter
    } else if has(&years) {
        Unit::Year
    } else if has(&[Field::FiscalYear]) {
        Unit::FiscalYear { first_month: 1 }
    } else {
        Unit::Ever
    };
    let has_year = has(&years);
    let has_month = has(&[Field::Month]) && (has_year || has(&[Field::FiscalYear]));
    let is_named = |field: Field| match field {
        Field::Year | Field::ShortYear | Field::FiscalYear => true,
        Field::Quarter | Field::DayOfYear => has_year,
        Field::Month => has_year || has(&[Field::FiscalYear]),
        Field::Day => has_month || has_year && has(&[Field::DayOfYear]),
        Field::WeekYear => has(&[Field::Week]),
        Field::Week => has(&[Field::WeekYear]),
    };
    let fields = || {
        items.iter().filter_map(|placed| match placed.item {
            Item::Date(field) => Some((field, placed.at)),
            _ => None,
        })
    };
    if let Some((field, at)) = fields().find(|&(field, _)| !is_named(field)) {
        return Err(PatternError::new(at, needs(field)));
    }
    if let Some((field, at)) = fields().find(|&(field, _)| !field.is_fixed_in(unit)) {
        let reason = format!(
            "{{{}}} changes within a {}, and the number begins anew with it: leave the field out, \
             or add {{MM}} and {{dd}}",
            field.name(),
            name(unit)
        );
        return Err(PatternError::new(at, reason));
    }
    Ok(unit)
}

/// What a field says too little without.
fn needs(field: Field) -> &'static str {
    match field {
        Field::Day => "{dd} needs the month and the year: add {MM}, and {yyyy}, {yy} or {fy}",
        Field::DayOfYear => "{DDD} needs the year: add {yyyy} or {yy}",
        Field::Week => "{ww} needs the year of the week: add {GGGG}",
        Field::WeekYear => "{GGGG} is the year of a week: add {ww}, or use {yyyy} for the year",
        Field::Quarter => "{q} needs the calendar year: add {yyyy} or {yy}",
        _ => "{MM} needs the year: add {yyyy}, {yy} or {fy}",
    }
}

fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Day => "day",
        Unit::Week => "week",
        Unit::Month => "month",
        Unit::Quarter => "quarter",
        Unit::Year => "year",
        Unit::FiscalYear { .. } => "fiscal year",
        Unit::Ever => "series",
    }
}
